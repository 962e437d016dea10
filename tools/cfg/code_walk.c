#include "tools/cfg/code_walk.h"

#include "capture/exec/translate/decode.h"
#include "formats/base/grow.h"
#include "formats/base/hash_index.h"

#define ROOT 0u

/* An instruction that the walk has decoded. */
struct step {
    uint64_t address, end;
    uint64_t target; /* of a direct branch inside of the function; see has_target */
    bool has_target;
    bool continues; /* to the next instruction */
    bool has_jumps; /* continues at the targets that the caller knows */
    bool is_open;   /* an indirect jump without such targets */
    bool leaves;    /* as in struct code_node */
    bool is_leader; /* begins a node */
    uint32_t node;
};

struct walking {
    const struct code_walk_settings *settings;
    struct step *steps;
    size_t count, capacity;
    struct hash_index by_address;
    uint64_t *pending; /* addresses that are still to be decoded, and begin nodes */
    size_t pending_count, pending_capacity;
    bool is_cut;
    uint32_t *sources, *targets; /* edges */
    size_t edge_count, source_capacity, target_capacity;
};

static uint32_t find_step(const struct walking *walking, uint64_t address)
{
    struct hash_search search = hash_search(&walking->by_address, hash_number(address));
    while (hash_search_next(&search))
        if (walking->steps[search.number].address == address)
            return search.number;
    return DIGRAPH_NONE;
}

static int push(struct walking *walking, uint64_t address)
{
    uint64_t *larger = grow_array(walking->pending, &walking->pending_capacity,
                                  walking->pending_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    walking->pending = larger;
    larger[walking->pending_count++] = address;
    return 0;
}

/* --- instructions ------------------------------------------------------------------------------
 */

/* The first known jump of an instruction; jump_count or one of another instruction: it has none. */
static size_t first_jump(const struct code_walk_settings *settings, uint64_t address)
{
    size_t low = 0, high = settings->jump_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (settings->jumps[middle].jump < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_jump_of(const struct code_walk_settings *settings, size_t jump, uint64_t address)
{
    return jump < settings->jump_count && settings->jumps[jump].jump == address;
}

static bool is_inside(const struct code_walk_settings *settings, uint64_t address)
{
    return !settings->is_inside || settings->is_inside(settings->context, address);
}

/* What follows an instruction. */
static struct step describe(const struct walking *walking,
                            const struct decode_instruction *instruction)
{
    const struct code_walk_settings *settings = walking->settings;
    struct step step = {.address = instruction->address,
                        .end = instruction->address + instruction->size};
    switch (instruction->kind) {
    case DECODE_JUMP:
    case DECODE_CONDITIONAL:
        step.target = instruction->target;
        step.has_target = is_inside(settings, step.target);
        step.continues = instruction->kind == DECODE_CONDITIONAL;
        break;
    case DECODE_JUMP_INDIRECT:
    case DECODE_RETURN:
    case DECODE_TRAP:
    case DECODE_REFUSED:
        break;
    default: /* also calls, and what the executor emulates */
        step.continues = true;
        break;
    }
    if (settings->ends_outside)
        step.continues = step.continues && is_inside(settings, step.end);
    const size_t jump = first_jump(settings, step.address);
    step.has_jumps = is_jump_of(settings, jump, step.address);
    step.is_open = instruction->kind == DECODE_JUMP_INDIRECT && !step.has_jumps;
    step.leaves =
        step.is_open || (!step.continues && !step.has_target && !step.has_jumps) ||
        (instruction->kind == DECODE_CONDITIONAL && (!step.has_target || !step.continues)) ||
        (step.has_jumps && settings->jumps[jump].target == CODE_JUMP_OUT);
    return step;
}

/* Adds the instruction at an address. 1: added; 0: there is none; BT_MEMORY. */
static int add_step(struct walking *walking, uint64_t address)
{
    const struct code_walk_settings *settings = walking->settings;
    struct decode_instruction instruction;
    const uint8_t *code = NULL;
    const size_t size = settings->read(settings->context, address, &code);
    walking->is_cut = walking->is_cut || walking->count >= settings->instructions_max;
    if (size == 0 || walking->is_cut)
        return 0;
    decode(&instruction, code, size, address);
    struct step *larger =
        grow_array(walking->steps, &walking->capacity, walking->count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    walking->steps = larger;
    if (hash_index_add(&walking->by_address, hash_number(address), (uint32_t)walking->count) < 0)
        return BT_MEMORY;
    larger[walking->count++] = describe(walking, &instruction);
    return 1;
}

static int push_targets(struct walking *walking, const struct step *step)
{
    const struct code_walk_settings *settings = walking->settings;
    int result = 0;
    if (step->has_target)
        result = push(walking, step->target);
    for (size_t i = first_jump(settings, step->address);
         step->has_jumps && is_jump_of(settings, i, step->address) && result == 0; i++)
        if (settings->jumps[i].target != CODE_JUMP_OUT)
            result = push(walking, settings->jumps[i].target);
    if (step->continues && (step->has_target || step->has_jumps || step->leaves) && result == 0)
        result = push(walking, step->end); /* the next instruction begins a node */
    return result;
}

/* Decodes from an address up to the end of the path, or to instructions that are known. */
static int follow(struct walking *walking, uint64_t address)
{
    for (;;) {
        if (find_step(walking, address) != DIGRAPH_NONE)
            return 0;
        int result = add_step(walking, address);
        if (result <= 0)
            return result;
        const struct step step = walking->steps[walking->count - 1];
        result = push_targets(walking, &step);
        if (result < 0 || !step.continues)
            return result;
        address = step.end;
    }
}

static int discover(struct walking *walking)
{
    const struct code_walk_settings *settings = walking->settings;
    int result = 0;
    for (size_t i = 0; i < settings->entry_count && result == 0; i++)
        result = push(walking, settings->entries[i]);
    while (walking->pending_count > 0 && result == 0) {
        const uint64_t address = walking->pending[--walking->pending_count];
        result = follow(walking, address);
        const uint32_t step = find_step(walking, address);
        if (step != DIGRAPH_NONE)
            walking->steps[step].is_leader = true;
    }
    return result;
}

/* --- nodes and edges ---------------------------------------------------------------------------
 */

static int compare_steps(const void *a, const void *b)
{
    const struct step *left = a, *right = b;
    return (left->address > right->address) - (left->address < right->address);
}

/* Sorts the instructions, and marks where paths meet: an instruction after two others begins a
 * node. */
static int arrange(struct walking *walking)
{
    struct step *steps = walking->steps;
    if (walking->count > 0)
        qsort(steps, walking->count, sizeof *steps, compare_steps);
    hash_index_empty(&walking->by_address);
    for (size_t i = 0; i < walking->count; i++) {
        steps[i].node = DIGRAPH_NONE;
        if (hash_index_add(&walking->by_address, hash_number(steps[i].address), (uint32_t)i) < 0)
            return BT_MEMORY;
    }
    bool *entered = calloc(walking->count + 1, sizeof *entered);
    for (size_t i = 0; entered && i < walking->count; i++) {
        const uint32_t next = steps[i].continues ? find_step(walking, steps[i].end) : DIGRAPH_NONE;
        if (next == DIGRAPH_NONE)
            continue;
        steps[next].is_leader = steps[next].is_leader || entered[next];
        entered[next] = true;
    }
    const int result = entered ? 0 : BT_MEMORY;
    free(entered);
    return result;
}

/* Makes the nodes: from each leader up to the next one. Returns their number, with the root. */
static uint32_t make_nodes(struct walking *walking, struct code_node *nodes)
{
    uint32_t count = ROOT + 1;
    nodes[ROOT] = (struct code_node){.start = 0};
    for (size_t i = 0; i < walking->count; i++) {
        uint32_t at = (uint32_t)i;
        if (!walking->steps[i].is_leader)
            continue;
        nodes[count].start = walking->steps[i].address;
        do {
            struct step *step = &walking->steps[at];
            step->node = count;
            nodes[count].end = step->end;
            nodes[count].is_open = step->is_open;
            nodes[count].leaves = step->leaves;
            at = step->continues ? find_step(walking, step->end) : DIGRAPH_NONE;
        } while (at != DIGRAPH_NONE && !walking->steps[at].is_leader);
        count++;
    }
    return count;
}

static int add_edge(struct walking *walking, uint32_t from, uint64_t to)
{
    const uint32_t step = find_step(walking, to);
    if (step == DIGRAPH_NONE)
        return 0;
    uint32_t *sources = grow_array(walking->sources, &walking->source_capacity,
                                   walking->edge_count + 1, sizeof *sources);
    if (!sources)
        return BT_MEMORY;
    walking->sources = sources;
    uint32_t *targets = grow_array(walking->targets, &walking->target_capacity,
                                   walking->edge_count + 1, sizeof *targets);
    if (!targets)
        return BT_MEMORY;
    walking->targets = targets;
    sources[walking->edge_count] = from;
    targets[walking->edge_count++] = walking->steps[step].node;
    return 0;
}

/* Adds the edges of the last instruction of a node. */
static int add_edges_of(struct walking *walking, const struct step *step)
{
    const struct code_walk_settings *settings = walking->settings;
    const uint32_t next = step->continues ? find_step(walking, step->end) : DIGRAPH_NONE;
    int result = 0;
    if (next != DIGRAPH_NONE && walking->steps[next].is_leader)
        result = add_edge(walking, step->node, step->end);
    if (result == 0 && step->has_target)
        result = add_edge(walking, step->node, step->target);
    for (size_t i = first_jump(settings, step->address);
         step->has_jumps && is_jump_of(settings, i, step->address) && result == 0; i++)
        if (settings->jumps[i].target != CODE_JUMP_OUT)
            result = add_edge(walking, step->node, settings->jumps[i].target);
    return result;
}

static int make_edges(struct walking *walking)
{
    const struct code_walk_settings *settings = walking->settings;
    int result = 0;
    for (size_t i = 0; i < settings->entry_count && result == 0; i++)
        result = add_edge(walking, ROOT, settings->entries[i]);
    for (size_t i = 0; i < walking->count && result == 0; i++)
        result = add_edges_of(walking, &walking->steps[i]);
    return result;
}

/* --- the walk ----------------------------------------------------------------------------------
 */

static int keep_instructions(struct code_walk *walk, const struct walking *walking)
{
    walk->addresses = malloc((walking->count + 1) * sizeof *walk->addresses);
    walk->owners = malloc((walking->count + 1) * sizeof *walk->owners);
    if (!walk->addresses || !walk->owners)
        return BT_MEMORY;
    for (size_t i = 0; i < walking->count; i++) {
        walk->addresses[i] = walking->steps[i].address;
        walk->owners[i] = walking->steps[i].node;
    }
    walk->instruction_count = (uint32_t)walking->count;
    walk->is_cut = walking->is_cut;
    return 0;
}

static int make(struct code_walk *walk, struct walking *walking, struct bt_error *error)
{
    if (discover(walking) < 0 || arrange(walking) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the code of a function");
    walk->nodes = malloc((walking->count + 1) * sizeof *walk->nodes);
    if (!walk->nodes)
        return bt_fail(error, BT_MEMORY, "no memory for the code of a function");
    const uint32_t nodes = make_nodes(walking, walk->nodes);
    if (make_edges(walking) < 0 || keep_instructions(walk, walking) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the code of a function");
    int result = digraph_make(&walk->graph, nodes, walking->sources, walking->targets,
                              walking->edge_count, error);
    if (result == 0)
        result = dominators_find(&walk->dominators, &walk->graph, ROOT, error);
    return result == 0 ? loops_find(&walk->loops, &walk->graph, &walk->dominators, error) : result;
}

int code_walk_make(struct code_walk *walk, const struct code_walk_settings *settings,
                   struct bt_error *error)
{
    struct walking walking = {.settings = settings};
    *walk = (struct code_walk){.nodes = NULL};
    const int result = make(walk, &walking, error);
    free(walking.steps);
    free(walking.pending);
    free(walking.sources);
    free(walking.targets);
    hash_index_clear(&walking.by_address);
    return result;
}

void code_walk_clear(struct code_walk *walk)
{
    free(walk->nodes);
    free(walk->addresses);
    free(walk->owners);
    digraph_clear(&walk->graph);
    dominators_clear(&walk->dominators);
    loops_clear(&walk->loops);
    *walk = (struct code_walk){.nodes = NULL};
}

uint32_t code_walk_find(const struct code_walk *walk, uint64_t address)
{
    uint32_t low = 0, high = walk->instruction_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (walk->addresses[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < walk->instruction_count && walk->addresses[low] == address ? walk->owners[low]
                                                                            : DIGRAPH_NONE;
}
