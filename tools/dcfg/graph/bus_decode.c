#include "tools/dcfg/graph/bus_decode.h"

#include <stdlib.h>
#include <string.h>

#define TOKENS     256u
#define NODES      16384u
#define CELLS      65536u
#define NONE       UINT32_MAX
#define STACK_TOPS 8u
#define NOISE_RUN  5u /* successive chunks that are not taken for others */
#define COST_OVER  3u /* noise more than the best explanation has, at most */

/* Instructions at successive addresses that a token executed. */
struct path_node {
    uint32_t parent; /* NONE: all before was put */
    uint32_t start;
    uint32_t end;
    uint32_t certain; /* address from which on they are certain; end or more: none is */
    uint32_t chunk;   /* number of the chunk that completed them */
    uint32_t time;    /* its time */
    uint32_t skipped; /* number of prefetched chunks before it */
    uint8_t attribute;
};

/* Return addresses, the last one first, shared between tokens: a graph, because a token that comes
 * from two places has the addresses of both. */
struct return_cell {
    uint32_t address;
    uint32_t below; /* NONE: unknown */
    uint32_t other; /* of a fork, which has no address: it is either this or `below` */
    uint32_t references;
    bool fork;
};

enum token_kind {
    TOKEN_SEQUENTIAL, /* executes `at`, for which the chunk `needed` is missing */
    TOKEN_TAKEN,      /* likewise, after a taken branch: prefetched chunks may come before */
    TOKEN_ANYWHERE,   /* has taken a branch to an unknown address */
    TOKEN_DONE        /* was executed */
};

struct token {
    uint32_t at;
    uint32_t needed;  /* chunk address */
    uint32_t current; /* address of the chunk that came last */
    uint32_t ahead;   /* address of the next chunk that may have been prefetched */
    uint32_t tip;     /* path node or NONE */
    uint32_t stack;   /* return cell or NONE */
    uint32_t wrong;   /* address bits of the chunk that was last taken for another one */
    uint8_t kind;
    uint8_t skips;    /* number of prefetched chunks that may still come */
    uint8_t cost;     /* number of chunks taken for another one */
    uint32_t skipped; /* number of prefetched chunks since the last node */
    uint32_t visited; /* offsets in the chunk at which it has entered, a bit each */
    uint8_t streak;   /* of those, the last successive ones */
    bool noisy;       /* the chunk that came was taken for another one */
    bool ready;       /* the chunk has come; `at` can be executed */
};

struct token_list {
    struct token tokens[TOKENS];
    unsigned count;
};

struct bus_decoder {
    struct bus_model model;
    struct bus_code *code;
    bus_decode_put *put;
    void *context;
    struct bus_decode_counts counts;
    struct token_list lists[2]; /* waiting for the next chunk, and ready for it */
    struct path_node nodes[NODES];
    uint32_t node_count;
    uint32_t chain[NODES];
    struct return_cell cells[CELLS];
    uint32_t free_cell;
    uint32_t cell_count;
    uint32_t number; /* of the current chunk */
    struct record chunk;
    uint32_t outside; /* return cell of what left the images; NONE: unknown */
    bool doubted;     /* tokens were dropped: nothing is certain until the next start */
};

struct bus_decoder *bus_decoder_new(const struct bus_model *model, struct bus_code *code,
                                    bus_decode_put *put, void *context, struct bt_error *error)
{
    struct bus_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) {
        bt_fail(error, BT_MEMORY, "no memory to follow a processor");
        return NULL;
    }
    decoder->model = *model;
    decoder->code = code;
    decoder->put = put;
    decoder->context = context;
    decoder->free_cell = NONE;
    decoder->outside = NONE;
    return decoder;
}

void bus_decoder_free(struct bus_decoder *decoder)
{
    free(decoder);
}

struct bus_decode_counts bus_decoder_counts(const struct bus_decoder *decoder)
{
    return decoder->counts;
}

/* --- return addresses --- */

static uint32_t stack_hold(struct bus_decoder *decoder, uint32_t cell)
{
    if (cell != NONE)
        decoder->cells[cell].references++;
    return cell;
}

static void stack_release(struct bus_decoder *decoder, uint32_t cell)
{
    while (cell != NONE && --decoder->cells[cell].references == 0) {
        uint32_t below = decoder->cells[cell].below;
        if (decoder->cells[cell].fork)
            stack_release(decoder, decoder->cells[cell].other);
        decoder->cells[cell].below = decoder->free_cell;
        decoder->free_cell = cell;
        cell = below;
    }
}

/* A cell; NONE without room: then all is unknown. */
static uint32_t new_cell(struct bus_decoder *decoder)
{
    uint32_t cell = decoder->free_cell;
    if (cell != NONE)
        decoder->free_cell = decoder->cells[cell].below;
    else if (decoder->cell_count < CELLS)
        cell = decoder->cell_count++;
    return cell;
}

/* The stack with an address on top, held. */
static uint32_t stack_push(struct bus_decoder *decoder, uint32_t stack, uint32_t address)
{
    uint32_t cell = new_cell(decoder);
    if (cell != NONE)
        decoder->cells[cell] = (struct return_cell){
            .address = address, .below = stack_hold(decoder, stack), .references = 1};
    return cell;
}

/* Adds the cells that may be on top, at most STACK_TOPS; NONE: an unknown one. */
static unsigned stack_tops(const struct bus_decoder *decoder, uint32_t stack,
                           uint32_t tops[STACK_TOPS], unsigned count)
{
    while (stack != NONE && decoder->cells[stack].fork) {
        count = stack_tops(decoder, decoder->cells[stack].other, tops, count);
        stack = decoder->cells[stack].below;
    }
    if (count < STACK_TOPS)
        tops[count++] = stack;
    return count;
}

static bool stack_equal(const struct bus_decoder *decoder, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a == NONE || b == NONE || decoder->cells[a].fork || decoder->cells[b].fork ||
            decoder->cells[a].address != decoder->cells[b].address)
            return false;
        a = decoder->cells[a].below;
        b = decoder->cells[b].below;
    }
    return true;
}

/* Whether all that a stack may be, another one may be. */
static bool stack_includes(const struct bus_decoder *decoder, uint32_t stack, uint32_t part)
{
    uint32_t tops[STACK_TOPS];
    unsigned count = stack_tops(decoder, stack, tops, 0);
    for (unsigned i = 0; i < count; i++)
        if (stack_equal(decoder, tops[i], part))
            return true;
    return stack_equal(decoder, stack, part);
}

/* The stack that is either; takes both holds. */
static uint32_t stack_either(struct bus_decoder *decoder, uint32_t a, uint32_t b)
{
    uint32_t tops[STACK_TOPS];
    if (stack_includes(decoder, a, b)) {
        stack_release(decoder, b);
        return a;
    }
    if (stack_includes(decoder, b, a)) {
        stack_release(decoder, a);
        return b;
    }
    bool room = stack_tops(decoder, a, tops, 0) + stack_tops(decoder, b, tops, 0) < STACK_TOPS;
    uint32_t cell = room ? new_cell(decoder) : NONE;
    if (cell != NONE) {
        decoder->cells[cell] =
            (struct return_cell){.below = a, .other = b, .fork = true, .references = 1};
    } else {
        stack_release(decoder, a);
        stack_release(decoder, b);
    }
    return cell;
}

/* --- paths --- */

/* Whether nothing is certain: a chunk that comes again, a prefetched one and one with wrong address
 * bits cannot be told apart. */
static bool undecidable(const struct bus_model *model)
{
    return model->noise && model->refetch == BUS_REFETCH_SOME && model->ahead > 0;
}

static int put_node(struct bus_decoder *decoder, const struct path_node *node, bool certain,
                    struct bt_error *error)
{
    int result = 0;
    decoder->counts.prefetched += node->skipped;
    certain = certain && !undecidable(&decoder->model);
    for (uint32_t at = node->start; at != node->end && result == 0;) {
        const struct bus_instruction *instruction = bus_code_at(decoder->code, at);
        struct record record = decoder->chunk;
        record.address = at;
        record.size = instruction->size;
        record.time = node->time;
        record.attribute = node->attribute;
        result = decoder->put(decoder->context, &record, !certain || at < node->certain, error);
        at += instruction->size;
    }
    return result;
}

/*
 * Puts a path, the only one there is, and forgets all nodes but those of its last chunks, as many
 * as may have been prefetched: only what follows shows that they were executed. *tip is what is
 * left of it.
 */
static int put_path(struct bus_decoder *decoder, uint32_t *tip, bool certain, uint32_t lag,
                    struct bt_error *error)
{
    uint32_t count = 0;
    uint32_t kept = 0;
    int result = 0;
    if (*tip == NONE) {
        decoder->node_count = 0;
        return 0;
    }
    if (lag == 0 && decoder->nodes[*tip].parent == NONE) { /* the usual case */
        result = put_node(decoder, &decoder->nodes[*tip], certain && !decoder->doubted, error);
        decoder->node_count = 0;
        *tip = NONE;
        return result;
    }
    for (uint32_t at = *tip; at != NONE; at = decoder->nodes[at].parent)
        decoder->chain[count++] = at;
    while (count > 0 && result == 0) {
        struct path_node node = decoder->nodes[decoder->chain[--count]];
        if (kept == 0 && node.chunk + lag < decoder->number) {
            result = put_node(decoder, &node, certain && !decoder->doubted, error);
            continue;
        }
        node.parent = kept > 0 ? kept - 1 : NONE;
        decoder->nodes[kept++] = node;
    }
    decoder->node_count = kept;
    *tip = kept > 0 ? kept - 1 : NONE;
    return result;
}

/* The path with instructions added. */
static uint32_t add_node(struct bus_decoder *decoder, struct token *token, uint32_t start,
                         uint32_t end)
{
    if (start == end)
        return token->tip;
    decoder->nodes[decoder->node_count] = (struct path_node){.parent = token->tip,
                                                             .start = start,
                                                             .end = end,
                                                             .certain = token->noisy ? end : start,
                                                             .chunk = decoder->number,
                                                             .time = decoder->chunk.time,
                                                             .skipped = token->skipped,
                                                             .attribute = decoder->chunk.attribute};
    token->skipped = 0;
    return decoder->node_count++;
}

/* Where the instructions of two nodes, both of which end at the same address, become the same. */
static uint32_t common_part(struct bus_decoder *decoder, const struct path_node *a,
                            const struct path_node *b)
{
    uint32_t at = a->start;
    uint32_t other = b->start;
    while (at != other) {
        uint32_t *behind = at < other ? &at : &other;
        const struct bus_instruction *instruction = bus_code_at(decoder->code, *behind);
        if (*behind >= a->end || !instruction)
            return a->end;
        *behind += instruction->size;
    }
    return at;
}

/* What the two paths do not share is not certain in the first one. */
static void doubt_path(struct bus_decoder *decoder, uint32_t kept, uint32_t other)
{
    struct path_node *nodes = decoder->nodes;
    if (kept != NONE && other != NONE && kept != other && nodes[kept].end == nodes[other].end &&
        nodes[kept].chunk == nodes[other].chunk) {
        uint32_t same = common_part(decoder, &nodes[kept], &nodes[other]);
        if (same > nodes[kept].certain)
            nodes[kept].certain = same;
        if (same < nodes[other].certain && nodes[other].certain > nodes[kept].certain)
            nodes[kept].certain = nodes[other].certain;
        kept = nodes[kept].parent;
        other = nodes[other].parent;
    }
    while (kept != other) {
        if (other == NONE || (kept != NONE && kept > other)) {
            nodes[kept].certain = nodes[kept].end;
            kept = nodes[kept].parent;
        } else {
            other = nodes[other].parent;
        }
    }
}

/* --- tokens --- */

static void drop(struct bus_decoder *decoder, struct token *token)
{
    stack_release(decoder, token->stack);
}

static bool same_place(const struct token *a, const struct token *b)
{
    return a->kind == b->kind && a->current == b->current && a->ready == b->ready &&
           a->at == b->at && a->needed == b->needed && a->skips == b->skips &&
           (a->skips == 0 || a->ahead == b->ahead);
}

/* Adds a token, which the list then owns; one at the same place becomes one with it. */
static void add_token(struct bus_decoder *decoder, struct token_list *list,
                      const struct token *token)
{
    for (unsigned i = 0; i < list->count; i++) {
        struct token *there = &list->tokens[i];
        if (!same_place(there, token))
            continue;
        struct token kept = token->cost < there->cost ? *token : *there;
        doubt_path(decoder, kept.tip, token->cost < there->cost ? there->tip : token->tip);
        kept.stack = stack_either(decoder, there->stack, token->stack);
        *there = kept;
        return;
    }
    if (list->count == TOKENS) {
        struct token dropped = *token;
        drop(decoder, &dropped);
        decoder->counts.pruned += !decoder->doubted;
        decoder->doubted = true;
        return;
    }
    list->tokens[list->count++] = *token;
}

static uint32_t chunk_of(const struct bus_decoder *decoder, uint32_t address)
{
    return address & ~(decoder->model.chunk - 1);
}

/* --- execution --- */

/* A token after a branch to a known address. */
static struct token taken(const struct bus_decoder *decoder, const struct token *from,
                          uint32_t target, uint32_t end)
{
    struct token token = *from;
    token.kind = TOKEN_TAKEN;
    token.at = target;
    token.needed = chunk_of(decoder, target);
    token.ahead = chunk_of(decoder, end - 1) + decoder->model.chunk;
    token.skips = (uint8_t)decoder->model.ahead;
    token.ready = false;
    return token;
}

/* Where equal successive fetches are one visit, a branch to the same chunk needs no fetch: the
 * token executes on at its target, but once. */
static void enter_again(struct bus_decoder *decoder, const struct token *from, uint32_t chunk)
{
    uint32_t offset = from->at - chunk;
    if (decoder->model.refetch != BUS_REFETCH_SOME || offset >= decoder->model.chunk ||
        from->visited >> offset & 1)
        return;
    struct token token = *from;
    token.kind = TOKEN_SEQUENTIAL;
    token.needed = chunk;
    token.visited |= 1u << offset;
    token.ready = true;
    token.skips = 0;
    token.ahead = 0;
    stack_hold(decoder, token.stack);
    add_token(decoder, &decoder->lists[1], &token);
}

static struct token anywhere(const struct bus_decoder *decoder, const struct token *from,
                             uint32_t end)
{
    struct token token = taken(decoder, from, 0, end);
    token.kind = TOKEN_ANYWHERE;
    return token;
}

/* Follows a return to all addresses that may be on top of the stack. */
static void go_back(struct bus_decoder *decoder, struct token_list *waiting, struct token *token,
                    uint32_t end, uint32_t chunk)
{
    uint32_t tops[STACK_TOPS];
    unsigned count = stack_tops(decoder, token->stack, tops, 0);
    for (unsigned i = 0; i < count; i++) {
        struct token next;
        if (tops[i] == NONE) {
            next = anywhere(decoder, token, end);
            next.stack = NONE;
        } else {
            next = taken(decoder, token, decoder->cells[tops[i]].address, end);
            next.stack = stack_hold(decoder, decoder->cells[tops[i]].below);
            enter_again(decoder, &next, chunk);
        }
        add_token(decoder, waiting, &next);
    }
    drop(decoder, token);
}

/* Follows the instruction that ends at `end`. Adds the tokens that leave; true: the next one is
 * executed as well. *token's path includes it; its stack is held for it. */
static bool branch(struct bus_decoder *decoder, struct token_list *waiting, struct token *token,
                   const struct bus_instruction *instruction, uint32_t end)
{
    uint32_t chunk = token->needed;
    struct token next;
    switch (instruction->branch) {
    case IMAGE_CONDITIONAL:
        next = taken(decoder, token, instruction->target, end);
        stack_hold(decoder, next.stack);
        enter_again(decoder, &next, chunk);
        add_token(decoder, waiting, &next);
        return true;
    case IMAGE_JUMP:
        next = taken(decoder, token, instruction->target, end);
        break;
    case IMAGE_INDIRECT_JUMP:
        next = anywhere(decoder, token, end);
        break;
    case IMAGE_CALL:
    case IMAGE_INDIRECT_CALL:
        next = instruction->branch == IMAGE_CALL ? taken(decoder, token, instruction->target, end)
                                                 : anywhere(decoder, token, end);
        next.stack = stack_push(decoder, token->stack, end);
        stack_release(decoder, token->stack);
        break;
    case IMAGE_RETURN:
    case IMAGE_SYSTEM_RETURN:
    case IMAGE_CONTEXT_RETURN:
        go_back(decoder, waiting, token, end, chunk);
        return false;
    default:
        return true;
    }
    if (next.kind == TOKEN_TAKEN)
        enter_again(decoder, &next, chunk);
    add_token(decoder, waiting, &next);
    return false;
}

/* The token waits for the next chunk of the instruction at `at`. */
static void wait_for(struct bus_decoder *decoder, struct token_list *waiting, struct token *token,
                     uint32_t needed)
{
    token->kind = TOKEN_SEQUENTIAL;
    token->needed = needed;
    token->skips = 0;
    token->ahead = 0;
    token->ready = false;
    add_token(decoder, waiting, token);
}

/* Executes what is complete with the chunk that the token needed. */
static void execute(struct bus_decoder *decoder, struct token_list *waiting, struct token *token)
{
    uint32_t limit = token->needed + decoder->model.chunk;
    uint32_t start = token->at;
    token->ready = false;
    for (;;) {
        const struct bus_instruction *instruction = bus_code_at(decoder->code, token->at);
        if (!instruction) { /* not what was executed */
            drop(decoder, token);
            return;
        }
        uint32_t end = token->at + instruction->size;
        if (end - token->needed > decoder->model.chunk) {
            token->tip = add_node(decoder, token, start, token->at);
            wait_for(decoder, waiting, token, limit);
            return;
        }
        token->at = end;
        bool plain = instruction->branch == IMAGE_PLAIN || instruction->branch == IMAGE_REPEAT;
        if (plain && decoder->model.refetch != BUS_REFETCH_EACH)
            continue;
        token->tip = add_node(decoder, token, start, end);
        start = end;
        if (!plain && !branch(decoder, waiting, token, instruction, end))
            return;
        if (decoder->model.refetch == BUS_REFETCH_EACH) {
            struct token next = taken(decoder, token, end, end);
            add_token(decoder, waiting, &next);
            return;
        }
    }
}

/* --- chunks --- */

static bool is_noise(const struct bus_decoder *decoder, uint32_t seen, uint32_t needed)
{
    return decoder->model.noise && seen != needed && __builtin_popcount(seen ^ needed) <= 2;
}

static void add_ready(struct bus_decoder *decoder, struct token_list *ready,
                      const struct token *token, unsigned cost)
{
    struct token next = *token;
    next.streak = cost ? (uint8_t)(next.streak + 1) : 0;
    if (next.streak == NOISE_RUN)
        return;
    stack_hold(decoder, next.stack);
    next.cost = (uint8_t)(next.cost + cost);
    next.noisy = cost > 0;
    if (cost > 0)
        next.wrong = decoder->chunk.address ^ next.needed;
    next.current = next.needed;
    next.visited = next.at - next.needed < 32 ? 1u << (next.at - next.needed) : 0;
    next.kind = TOKEN_SEQUENTIAL;
    next.skips = 0;
    next.ahead = 0;
    next.ready = true;
    add_token(decoder, ready, &next);
}

/* The token stays where it is: the chunk that it executes, or prefetched ones, came again. */
static void stay(struct bus_decoder *decoder, struct token_list *ready, const struct token *token)
{
    uint32_t seen = decoder->chunk.address;
    struct token still = *token;
    bool again = seen - token->current <= decoder->model.ahead * decoder->model.chunk;
    if (!again && !is_noise(decoder, seen, token->current))
        return;
    still.cost = (uint8_t)(still.cost + !again);
    if (!again)
        still.wrong = seen ^ token->current;
    still.streak = again ? 0 : (uint8_t)(still.streak + 1);
    if (still.streak == NOISE_RUN)
        return;
    stack_hold(decoder, still.stack);
    add_token(decoder, ready, &still);
}

/* The tokens that a waiting one becomes with the chunk. */
static void offer(struct bus_decoder *decoder, struct token_list *ready, const struct token *token)
{
    uint32_t seen = decoder->chunk.address;
    if (decoder->model.refetch == BUS_REFETCH_SOME)
        stay(decoder, ready, token);
    if (token->kind == TOKEN_ANYWHERE) {
        uint32_t entries[BUS_ENTRIES];
        unsigned count = bus_code_entries(decoder->code, seen, decoder->model.chunk, entries);
        struct token entered = *token;
        entered.needed = seen;
        for (unsigned i = 0; i < count; i++) {
            entered.at = entries[i];
            add_ready(decoder, ready, &entered, 0);
        }
        if (decoder->model.noise && token->streak + 1u < NOISE_RUN) {
            struct token still = *token;
            stack_hold(decoder, still.stack);
            still.cost++;
            still.wrong = 0;
            still.streak++;
            add_token(decoder, ready, &still);
        }
    } else if (seen == token->needed) {
        add_ready(decoder, ready, token, 0);
    } else if (is_noise(decoder, seen, token->needed)) {
        add_ready(decoder, ready, token, 1);
    }
    if (token->skips > 0 && (seen == token->ahead || is_noise(decoder, seen, token->ahead))) {
        struct token skipped = *token;
        stack_hold(decoder, skipped.stack);
        skipped.skips--;
        skipped.skipped++;
        skipped.ahead += decoder->model.chunk;
        skipped.cost = (uint8_t)(skipped.cost + (seen != token->ahead));
        if (seen != token->ahead)
            skipped.wrong = seen ^ token->ahead;
        add_token(decoder, ready, &skipped);
    }
}

/* Lists without what noise explains much worse than the best; costs count from the best. */
static void keep_best(struct bus_decoder *decoder, struct token_list *list)
{
    unsigned best = 255;
    unsigned kept = 0;
    uint32_t wrong = 0;
    if (!decoder->model.noise || list->count == 0)
        return;
    for (unsigned i = 0; i < list->count; i++)
        if (list->tokens[i].cost < best) {
            best = list->tokens[i].cost;
            wrong = list->tokens[i].wrong;
        }
    for (unsigned i = 0; i < list->count; i++) {
        struct token token = list->tokens[i];
        token.cost = (uint8_t)(token.cost - best);
        if (token.cost <= COST_OVER)
            list->tokens[kept++] = token;
        else
            drop(decoder, &token);
    }
    decoder->counts.noise += best;
    for (unsigned bit = 0; best > 0 && bit < 32; bit++)
        decoder->counts.noise_bits[bit] += wrong >> bit & 1;
    list->count = kept;
}

static void drop_all(struct bus_decoder *decoder, struct token_list *list)
{
    for (unsigned i = 0; i < list->count; i++)
        drop(decoder, &list->tokens[i]);
    list->count = 0;
}

/* Puts the best path as far as it is certain that a chunk followed it; the rest is assumed. */
static int give_up(struct bus_decoder *decoder, struct token_list *waiting, struct bt_error *error)
{
    int result = 0;
    unsigned best = 0;
    for (unsigned i = 1; i < waiting->count; i++)
        if (waiting->tokens[i].cost < waiting->tokens[best].cost)
            best = i;
    if (waiting->count > 0) {
        for (uint32_t tip = waiting->tokens[best].tip; tip != NONE;
             tip = decoder->nodes[tip].parent)
            decoder->nodes[tip].certain = decoder->nodes[tip].end;
        decoder->number += NODES; /* all of it */
        result = put_path(decoder, &waiting->tokens[best].tip, false, 0, error);
    }
    decoder->node_count = 0;
    drop_all(decoder, waiting);
    return result;
}

/* Tokens at all instructions in the chunk, with that stack. */
static void start(struct bus_decoder *decoder, struct token_list *ready, uint32_t stack)
{
    struct token token = {.kind = TOKEN_ANYWHERE, .tip = NONE, .stack = stack};
    uint32_t seen = decoder->chunk.address;
    decoder->doubted = false;
    for (uint32_t cell = stack; cell != NONE && !decoder->cells[cell].fork;
         cell = decoder->cells[cell].below) {
        const struct return_cell *top = &decoder->cells[cell];
        if (top->address - seen >= decoder->model.chunk)
            continue;
        struct token returned = {.kind = TOKEN_TAKEN,
                                 .at = top->address,
                                 .needed = seen,
                                 .tip = NONE,
                                 .stack = top->below};
        offer(decoder, ready, &returned);
        break;
    }
    offer(decoder, ready, &token);
    stack_release(decoder, stack);
}

/*
 * The usual case, only quicker: exactly one waiting token can be at the chunk, and at one address.
 * Returns it, or NULL.
 */
static struct token *only_token(const struct bus_decoder *decoder, struct token_list *waiting)
{
    uint32_t seen = decoder->chunk.address;
    struct token *found = NULL;
    bool some = decoder->model.refetch == BUS_REFETCH_SOME;
    uint32_t staying = decoder->model.ahead * decoder->model.chunk;
    if (decoder->model.noise)
        return NULL;
    for (unsigned i = 0; i < waiting->count; i++) {
        struct token *token = &waiting->tokens[i];
        if (token->kind == TOKEN_ANYWHERE || (token->skips > 0 && token->ahead == seen) ||
            (some && seen - token->current <= staying))
            return NULL;
        if (token->needed != seen)
            continue;
        if (found)
            return NULL;
        found = token;
    }
    return found;
}

/* Executes the tokens that are ready, and those that become ready by it. */
static void execute_all(struct bus_decoder *decoder)
{
    struct token_list *waiting = &decoder->lists[0];
    struct token_list *ready = &decoder->lists[1];
    for (unsigned i = 0; i < ready->count; i++) {
        struct token token = ready->tokens[i];
        ready->tokens[i].kind = TOKEN_DONE;
        if (token.ready)
            execute(decoder, waiting, &token);
        else
            add_token(decoder, waiting, &token);
    }
    ready->count = 0;
}

static int take_only(struct bus_decoder *decoder, struct token_list *waiting, struct token *only,
                     struct bt_error *error)
{
    struct token token = *only;
    int result = put_path(decoder, &token.tip, true, decoder->model.ahead, error);
    for (unsigned i = 0; i < waiting->count; i++)
        if (&waiting->tokens[i] != only)
            drop(decoder, &waiting->tokens[i]);
    waiting->count = 0;
    decoder->lists[1].count = 0;
    token.visited = token.at - token.needed < 32 ? 1u << (token.at - token.needed) : 0;
    token.noisy = false;
    token.current = token.needed;
    execute(decoder, waiting, &token);
    execute_all(decoder);
    return result;
}

int bus_decoder_take(struct bus_decoder *decoder, const struct record *chunk,
                     struct bt_error *error)
{
    struct token_list *waiting = &decoder->lists[0];
    struct token_list *ready = &decoder->lists[1];
    int result = 0;
    if (chunk->address == decoder->chunk.address && waiting->count > 0) {
        decoder->counts.repeated++;
        if (decoder->model.refetch == BUS_REFETCH_SOME && decoder->model.ahead == 0 &&
            !decoder->model.noise)
            return 0;
    }
    decoder->number++;
    decoder->chunk = *chunk;
    struct token *only = only_token(decoder, waiting);
    if (only)
        return take_only(decoder, waiting, only, error);
    ready->count = 0;
    for (unsigned i = 0; i < waiting->count; i++)
        offer(decoder, ready, &waiting->tokens[i]);
    if (ready->count == 0) {
        uint32_t stack = waiting->count > 0 ? stack_hold(decoder, waiting->tokens[0].stack)
                                            : stack_hold(decoder, decoder->outside);
        decoder->counts.unexplained += waiting->count > 0;
        result = give_up(decoder, waiting, error);
        start(decoder, ready, stack);
    }
    drop_all(decoder, waiting);
    keep_best(decoder, ready);
    if (ready->count == 1) {
        result = put_path(decoder, &ready->tokens[0].tip, true, decoder->model.ahead, error);
    } else if (decoder->node_count > NODES / 2) { /* too long without a decision */
        decoder->counts.pruned++;
        result = put_path(decoder, &ready->tokens[0].tip, false, 0, error);
        for (unsigned i = 0; i < ready->count; i++)
            ready->tokens[i].tip = NONE;
    }
    execute_all(decoder);
    return result;
}

bool bus_decoder_expects(const struct bus_decoder *decoder, const struct record *chunk)
{
    const struct token_list *waiting = &decoder->lists[0];
    uint32_t seen = chunk->address;
    for (unsigned i = 0; i < waiting->count; i++) {
        const struct token *token = &waiting->tokens[i];
        if ((token->skips > 0 && (token->ahead == seen || is_noise(decoder, seen, token->ahead))) ||
            (token->kind != TOKEN_ANYWHERE && is_noise(decoder, seen, token->needed)) ||
            (decoder->model.refetch == BUS_REFETCH_SOME && is_noise(decoder, seen, token->current)))
            return true;
    }
    return false;
}

/* Whether a token may have gone to a chunk that is in no image. */
static bool may_leave(const struct token *token, uint32_t seen)
{
    return token->kind == TOKEN_ANYWHERE || token->needed == seen;
}

int bus_decoder_leave(struct bus_decoder *decoder, const struct record *chunk,
                      struct bt_error *error)
{
    struct token_list *waiting = &decoder->lists[0];
    unsigned kept = 0;
    int result = 0;
    if (waiting->count == 0)
        return 0;
    for (unsigned i = 0; i < waiting->count; i++) {
        struct token token = waiting->tokens[i];
        if (may_leave(&token, chunk_of(decoder, chunk->address)))
            waiting->tokens[kept++] = token;
        else if (i + 1 < waiting->count || kept > 0)
            drop(decoder, &token);
        else
            waiting->tokens[kept++] = token; /* none: the last one is as good as any */
    }
    waiting->count = kept;
    decoder->number++;
    stack_release(decoder, decoder->outside);
    decoder->outside = stack_hold(decoder, waiting->tokens[0].stack);
    if (kept == 1 && may_leave(&waiting->tokens[0], chunk_of(decoder, chunk->address)))
        result = put_path(decoder, &waiting->tokens[0].tip, true, decoder->model.ahead, error);
    return result == 0 ? give_up(decoder, waiting, error) : result;
}

int bus_decoder_break(struct bus_decoder *decoder, struct bt_error *error)
{
    stack_release(decoder, decoder->outside);
    decoder->outside = NONE;
    return give_up(decoder, &decoder->lists[0], error);
}
