#include "tools/dcfg/graph/bus_decode.h"

#include "tools/dcfg/graph/bus_bursts.h"
#include "tools/dcfg/graph/bus_paths.h"
#include "tools/dcfg/graph/bus_returns.h"

#include <stdlib.h>
#include <string.h>

#define TOKENS    256u
#define NOISE_RUN 5u  /* successive chunks that are not taken for others, plus 2 for each ahead */
#define COST_OVER 3u  /* noise more than the best explanation has, at most */
#define NOISE_LAG 16u /* number of chunks with noise in which a wrong explanation ends */

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
    uint32_t tip;     /* of its path, or PATH_NONE */
    uint32_t stack;   /* of return addresses */
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
    uint32_t noise_run;
    uint32_t lag; /* number of further chunks that confirm an execution */
    struct bus_decode_counts counts;
    struct token_list lists[2]; /* waiting for the next chunk, and ready for it */
    struct bus_paths paths;
    struct bus_returns returns;
    struct bus_bursts bursts;
    uint32_t outside;     /* return addresses of what left the images */
    struct token pending; /* the only one, if is_pending */
    bool is_pending;      /* its chunk came; what it executes depends on the next chunk */
};

struct bus_decoder *bus_decoder_new(const struct bus_model *model, struct bus_code *code,
                                    bus_path_put *put, void *context, struct bt_error *error)
{
    struct bus_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) {
        bt_fail(error, BT_MEMORY, "no memory to follow a processor");
        return NULL;
    }
    decoder->model = *model;
    decoder->noise_run = NOISE_RUN + 2 * model->ahead;
    decoder->lag = model->ahead + (model->noise ? NOISE_LAG : 0);
    decoder->paths.code = code;
    decoder->paths.put = put;
    decoder->paths.context = context;
    returns_init(&decoder->returns);
    decoder->paths.undecidable =
        model->noise && model->refetch == BUS_REFETCH_SOME && model->ahead > 0;
    decoder->outside = RETURNS_UNKNOWN;
    return decoder;
}

void bus_decoder_free(struct bus_decoder *decoder)
{
    free(decoder);
}

struct bus_decode_counts bus_decoder_counts(const struct bus_decoder *decoder)
{
    struct bus_decode_counts counts = decoder->counts;
    counts.prefetched = decoder->paths.prefetched;
    return counts;
}

/* --- tokens --- */

static void drop(struct bus_decoder *decoder, struct token *token)
{
    returns_release(&decoder->returns, token->stack);
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
        paths_doubt(&decoder->paths, kept.tip, token->cost < there->cost ? there->tip : token->tip);
        kept.stack = returns_either(&decoder->returns, there->stack, token->stack);
        *there = kept;
        return;
    }
    if (list->count == TOKENS) {
        struct token dropped = *token;
        drop(decoder, &dropped);
        decoder->paths.doubted = true;
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
    returns_hold(&decoder->returns, token.stack);
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
    uint32_t tops[RETURNS_TOPS];
    unsigned count = returns_tops(&decoder->returns, token->stack, tops, 0);
    for (unsigned i = 0; i < count; i++) {
        struct token next;
        if (tops[i] == RETURNS_UNKNOWN) {
            next = anywhere(decoder, token, end);
            next.stack = RETURNS_UNKNOWN;
        } else {
            next = taken(decoder, token, decoder->returns.cells[tops[i]].address, end);
            next.stack = returns_hold(&decoder->returns, decoder->returns.cells[tops[i]].below);
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
        returns_hold(&decoder->returns, next.stack);
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
        next.stack = returns_push(&decoder->returns, token->stack, end);
        returns_release(&decoder->returns, token->stack);
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

/* The token's path with instructions added. */
static uint32_t add_path(struct bus_decoder *decoder, struct token *token, uint32_t start,
                         uint32_t end)
{
    if (start == end)
        return token->tip;
    uint32_t tip = paths_add(&decoder->paths, token->tip, start, end, token->skipped, token->noisy);
    token->skipped = 0;
    return tip;
}

/* Executes what is complete with the chunk that the token needed. */
static void execute(struct bus_decoder *decoder, struct token_list *waiting, struct token *token)
{
    uint32_t limit = token->needed + decoder->model.chunk;
    uint32_t start = token->at;
    token->ready = false;
    for (;;) {
        const struct bus_instruction *instruction = bus_code_at(decoder->paths.code, token->at);
        if (!instruction) { /* not what was executed */
            drop(decoder, token);
            return;
        }
        uint32_t end = token->at + instruction->size;
        if (end - token->needed > decoder->model.chunk) {
            token->tip = add_path(decoder, token, start, token->at);
            wait_for(decoder, waiting, token, limit);
            return;
        }
        token->at = end;
        bool plain = instruction->branch == IMAGE_PLAIN || instruction->branch == IMAGE_REPEAT;
        if (plain && decoder->model.refetch != BUS_REFETCH_EACH)
            continue;
        token->tip = add_path(decoder, token, start, end);
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

/* `visited` of a token that enters its chunk. */
static uint32_t visited_at(const struct token *token)
{
    uint32_t offset = token->at - token->needed;
    return offset < 32 ? 1u << offset : 0;
}

static void add_ready(struct bus_decoder *decoder, struct token_list *ready,
                      const struct token *token, unsigned cost)
{
    struct token next = *token;
    next.streak = cost ? (uint8_t)(next.streak + 1) : 0;
    if (next.streak == decoder->noise_run)
        return;
    returns_hold(&decoder->returns, next.stack);
    next.cost = (uint8_t)(next.cost + cost);
    next.noisy = cost > 0;
    if (cost > 0)
        next.wrong = decoder->paths.chunk.address ^ next.needed;
    next.current = next.needed;
    next.visited = visited_at(&next);
    next.kind = TOKEN_SEQUENTIAL;
    next.skips = 0;
    next.ahead = 0;
    next.ready = true;
    add_token(decoder, ready, &next);
}

/* The token stays where it is: the chunk that it executes, or prefetched ones, came again. */
static void stay(struct bus_decoder *decoder, struct token_list *ready, const struct token *token)
{
    uint32_t seen = decoder->paths.chunk.address;
    struct token still = *token;
    bool again = seen - token->current <= decoder->model.ahead * decoder->model.chunk;
    if (!again && !is_noise(decoder, seen, token->current))
        return;
    still.cost = (uint8_t)(still.cost + !again);
    if (!again)
        still.wrong = seen ^ token->current;
    still.streak = again ? 0 : (uint8_t)(still.streak + 1);
    if (still.streak == decoder->noise_run)
        return;
    returns_hold(&decoder->returns, still.stack);
    add_token(decoder, ready, &still);
}

/* The tokens that a waiting one becomes with the chunk. */
static void offer(struct bus_decoder *decoder, struct token_list *ready, const struct token *token)
{
    uint32_t seen = decoder->paths.chunk.address;
    if (decoder->model.refetch == BUS_REFETCH_SOME)
        stay(decoder, ready, token);
    if (token->kind == TOKEN_ANYWHERE) {
        uint32_t entries[BUS_ENTRIES];
        unsigned count = bus_code_entries(decoder->paths.code, seen, decoder->model.chunk, entries);
        struct token entered = *token;
        entered.needed = seen;
        for (unsigned i = 0; i < count; i++) {
            entered.at = entries[i];
            add_ready(decoder, ready, &entered, 0);
        }
        if (decoder->model.noise && token->streak + 1u < decoder->noise_run) {
            struct token still = *token;
            returns_hold(&decoder->returns, still.stack);
            /* the address of chunks prefetched after a wrong target is unknown, too */
            still.cost += still.streak == 0 || still.streak > decoder->model.ahead;
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
        returns_hold(&decoder->returns, skipped.stack);
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
    for (unsigned bit = 0; best > 0 && bit < FETCH_NOISE_BITS; bit++)
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
    if (waiting->count > 0)
        result = paths_give_up(&decoder->paths, waiting->tokens[best].tip, error);
    decoder->paths.count = 0;
    drop_all(decoder, waiting);
    return result;
}

/* Tokens at all instructions in the chunk, with that stack. */
static void start(struct bus_decoder *decoder, struct token_list *ready, uint32_t stack)
{
    struct token token = {.kind = TOKEN_ANYWHERE, .tip = PATH_NONE, .stack = stack};
    uint32_t seen = decoder->paths.chunk.address;
    decoder->paths.doubted = false;
    for (uint32_t cell = stack; cell != RETURNS_UNKNOWN && !decoder->returns.cells[cell].fork;
         cell = decoder->returns.cells[cell].below) {
        const struct return_cell *top = &decoder->returns.cells[cell];
        if (top->address - seen >= decoder->model.chunk)
            continue;
        struct token returned = {.kind = TOKEN_TAKEN,
                                 .at = top->address,
                                 .needed = seen,
                                 .tip = PATH_NONE,
                                 .stack = top->below};
        offer(decoder, ready, &returned);
        break;
    }
    offer(decoder, ready, &token);
    returns_release(&decoder->returns, stack);
}

/*
 * The usual case, only quicker: exactly one waiting token can be at the chunk, and at one address.
 * Returns it, or NULL.
 */
static struct token *only_token(const struct bus_decoder *decoder, struct token_list *waiting)
{
    uint32_t seen = decoder->paths.chunk.address;
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

/* Executes the token whose execution was left until the next chunk. */
static void execute_pending(struct bus_decoder *decoder)
{
    if (!decoder->is_pending)
        return;
    decoder->is_pending = false;
    decoder->lists[1].count = 0;
    execute(decoder, &decoder->lists[0], &decoder->pending);
    execute_all(decoder);
}

static int take_only(struct bus_decoder *decoder, struct token_list *waiting, struct token *only,
                     struct bt_error *error)
{
    struct token token = *only;
    int result = paths_decide(&decoder->paths, &token.tip, decoder->lag, error);
    for (unsigned i = 0; i < waiting->count; i++)
        if (&waiting->tokens[i] != only)
            drop(decoder, &waiting->tokens[i]);
    waiting->count = 0;
    token.visited = visited_at(&token);
    token.noisy = false;
    token.current = token.needed;
    decoder->pending = token;
    decoder->is_pending = true;
    if (decoder->lag > 0)
        execute_pending(decoder);
    return result;
}

/* The exit of the pending execution to the chunk; NULL if there is not exactly one, or if more than
 * the code decides on it. */
static const struct burst_exit *find_exit(const struct bus_decoder *decoder,
                                          const struct burst *burst, uint32_t seen)
{
    const struct return_cell *top = returns_top(&decoder->returns, decoder->pending.stack);
    const struct burst_exit *found = NULL;
    uint32_t targets = burst->count - burst->returns;
    for (uint32_t i = 0; i < targets; i++) {
        if (burst->exits[i].needed != seen)
            continue;
        if (found)
            return NULL;
        found = &burst->exits[i];
    }
    if (!burst->returns)
        return found;
    if (!top)
        return NULL;
    uint32_t needed = chunk_of(decoder, top->address);
    if (needed == burst->needed && decoder->model.refetch == BUS_REFETCH_SOME)
        return NULL;
    if (needed != seen)
        return found;
    return found ? NULL : &burst->exits[targets];
}

/*
 * The usual case, without noise and prefetches: the chunk tells how the pending execution ended.
 * False if it does not; then nothing has changed.
 */
static bool leave_burst(struct bus_decoder *decoder, uint32_t seen, int *result,
                        struct bt_error *error)
{
    struct token *pending = &decoder->pending;
    struct bus_returns *returns = &decoder->returns;
    const struct burst *burst = bus_bursts_find(&decoder->bursts, &decoder->model,
                                                decoder->paths.code, pending->at, pending->needed);
    const struct burst_exit *exit = find_exit(decoder, burst, seen);
    if (!exit)
        return false;
    const struct path_node node = {.start = pending->at,
                                   .end = exit->end,
                                   .certain = pending->at,
                                   .time = decoder->paths.chunk.time,
                                   .attribute = decoder->paths.chunk.attribute};
    *result = paths_put_node(&decoder->paths, &node, true, error);
    uint32_t stack = pending->stack;
    pending->at = exit->at;
    if (exit->branch == IMAGE_CALL) {
        pending->stack = returns_push(returns, stack, exit->end);
        returns_release(returns, stack);
    } else if (burst->returns && exit == &burst->exits[burst->count - 1]) {
        pending->at = returns->cells[stack].address;
        pending->stack = returns_hold(returns, returns->cells[stack].below);
        returns_release(returns, stack);
    }
    pending->needed = pending->current = seen;
    pending->visited = visited_at(pending);
    return true;
}

/* Takes a chunk that the waiting tokens explain in several ways, or not at all. */
static int take_any(struct bus_decoder *decoder, struct bt_error *error)
{
    struct token_list *waiting = &decoder->lists[0];
    struct token_list *ready = &decoder->lists[1];
    int result = 0;
    ready->count = 0;
    for (unsigned i = 0; i < waiting->count; i++)
        offer(decoder, ready, &waiting->tokens[i]);
    if (ready->count == 0) {
        uint32_t stack = waiting->count > 0
                             ? returns_hold(&decoder->returns, waiting->tokens[0].stack)
                             : returns_hold(&decoder->returns, decoder->outside);
        decoder->counts.unexplained += waiting->count > 0;
        result = give_up(decoder, waiting, error);
        start(decoder, ready, stack);
    }
    drop_all(decoder, waiting);
    keep_best(decoder, ready);
    if (ready->count == 1) {
        result = paths_decide(&decoder->paths, &ready->tokens[0].tip, decoder->lag, error);
    } else if (decoder->paths.count > PATH_NODES / 2) { /* too long without a decision */
        result = paths_give_up(&decoder->paths, ready->tokens[0].tip, error);
        for (unsigned i = 0; i < ready->count; i++)
            ready->tokens[i].tip = PATH_NONE;
    }
    execute_all(decoder);
    return result;
}

int bus_decoder_take(struct bus_decoder *decoder, const struct record *chunk,
                     struct bt_error *error)
{
    struct token_list *waiting = &decoder->lists[0];
    int result = 0;
    if (chunk->address == decoder->paths.chunk.address &&
        (waiting->count > 0 || decoder->is_pending)) {
        decoder->counts.repeated++;
        if (decoder->model.refetch == BUS_REFETCH_SOME && decoder->model.ahead == 0 &&
            !decoder->model.noise)
            return 0;
    }
    bool left = decoder->is_pending && leave_burst(decoder, chunk->address, &result, error);
    if (!left)
        execute_pending(decoder);
    decoder->paths.number++;
    decoder->paths.chunk = *chunk;
    if (left)
        return result;
    struct token *only = only_token(decoder, waiting);
    return only ? take_only(decoder, waiting, only, error) : take_any(decoder, error);
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
    execute_pending(decoder);
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
    decoder->paths.number++;
    returns_release(&decoder->returns, decoder->outside);
    decoder->outside = returns_hold(&decoder->returns, waiting->tokens[0].stack);
    if (kept == 1 && may_leave(&waiting->tokens[0], chunk_of(decoder, chunk->address)))
        result = paths_decide(&decoder->paths, &waiting->tokens[0].tip, decoder->lag, error);
    return result == 0 ? give_up(decoder, waiting, error) : result;
}

int bus_decoder_break(struct bus_decoder *decoder, struct bt_error *error)
{
    execute_pending(decoder);
    returns_release(&decoder->returns, decoder->outside);
    decoder->outside = RETURNS_UNKNOWN;
    return give_up(decoder, &decoder->lists[0], error);
}
