#include "tools/depend/feed_flow.h"

#include "formats/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define INSTRUCTIONS_MAX 100000u /* of a function */
#define JUMPS_AT_ONCE    8u      /* as long as there are fewer, each makes the walk again */

int feed_flow_init(struct feed_flow *flow)
{
    struct feed_chain *chains =
        grow_array(flow->chains, &flow->chain_capacity, 1, sizeof *flow->chains);
    if (!chains)
        return BT_MEMORY;
    flow->chains = chains;
    chains[FEED_CHAIN_NONE] = (struct feed_chain){.depth = 0};
    flow->chain_count = 1;
    return 0;
}

static void free_function(struct feed_function *function)
{
    if (!function)
        return;
    code_walk_clear(&function->walk);
    hash_index_clear(&function->by_jump);
    free(function->entries);
    free(function->jumps);
    free(function->chains);
    free(function);
}

void feed_flow_clear(struct feed_flow *flow)
{
    for (size_t i = 0; i < flow->number_capacity; i++)
        free_function(flow->by_number[i]);
    free(flow->by_number);
    free(flow->loops);
    free(flow->chains);
    hash_index_clear(&flow->by_loop);
    hash_index_clear(&flow->by_chain);
}

struct feed_function *feed_flow_function(struct feed_flow *flow, uint32_t number)
{
    const size_t before = flow->number_capacity;
    struct feed_function **larger =
        grow_array(flow->by_number, &flow->number_capacity, (size_t)number + 1, sizeof *larger);
    if (!larger)
        return NULL;
    flow->by_number = larger;
    memset(larger + before, 0, (flow->number_capacity - before) * sizeof *larger);
    if (larger[number])
        return larger[number];
    larger[number] = calloc(1, sizeof *larger[number]);
    if (!larger[number])
        return NULL;
    larger[number]->number = number;
    larger[number]->is_detail = flow->is_detail(flow->context, number);
    return larger[number];
}

/* --- the code ----------------------------------------------------------------------------------
 */

size_t feed_flow_read(struct feed_flow *flow, uint64_t address, const uint8_t **code)
{
    return code_window_read(&flow->window, flow->read, flow->context, address, code);
}

struct inside {
    struct feed_flow *flow;
    uint32_t function;
};

static size_t read_inside(void *context, uint64_t address, const uint8_t **code)
{
    return feed_flow_read(((struct inside *)context)->flow, address, code);
}

/* NAME.cold is code of NAME that the compiler has put elsewhere. */
static bool is_cold_part(const struct inside *inside, uint32_t number)
{
    static const char suffix[] = ".cold";
    if (number == FUNCTION_NONE)
        return false;
    const struct function *part = functions_get(inside->flow->functions, number);
    const struct function *whole = functions_get(inside->flow->functions, inside->function);
    const size_t size = strlen(whole->name);
    return part->symbol && whole->symbol && part->module == whole->module &&
           strncmp(part->name, whole->name, size) == 0 &&
           strncmp(part->name + size, suffix, sizeof suffix - 1) == 0;
}

static bool is_inside(void *context, uint64_t address)
{
    const struct inside *inside = context;
    const uint32_t number = functions_at(inside->flow->functions, address, false, inside->function);
    return number == inside->function || is_cold_part(inside, number);
}

/* --- loops -------------------------------------------------------------------------------------
 */

static int number_loop(struct feed_flow *flow, uint32_t function, uint64_t head, uint32_t *number)
{
    const uint32_t hash = hash_pair(function, head);
    struct hash_search search = hash_search(&flow->by_loop, hash);
    while (hash_search_next(&search))
        if (flow->loops[search.number].head == head &&
            flow->loops[search.number].function == function) {
            *number = search.number;
            return 0;
        }
    struct feed_loop *larger =
        grow_array(flow->loops, &flow->loop_capacity, flow->loop_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    flow->loops = larger;
    if (hash_index_add(&flow->by_loop, hash, (uint32_t)flow->loop_count) < 0)
        return BT_MEMORY;
    *number = (uint32_t)flow->loop_count;
    larger[flow->loop_count++] = (struct feed_loop){.function = function, .head = head};
    return 0;
}

static int number_chain(struct feed_flow *flow, uint32_t loop, uint32_t outer, uint32_t *number)
{
    const uint32_t hash = hash_pair(loop, outer);
    struct hash_search search = hash_search(&flow->by_chain, hash);
    while (hash_search_next(&search))
        if (flow->chains[search.number].loop == loop &&
            flow->chains[search.number].outer == outer) {
            *number = search.number;
            return 0;
        }
    struct feed_chain *larger =
        grow_array(flow->chains, &flow->chain_capacity, flow->chain_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    flow->chains = larger;
    if (hash_index_add(&flow->by_chain, hash, (uint32_t)flow->chain_count) < 0)
        return BT_MEMORY;
    *number = (uint32_t)flow->chain_count;
    larger[flow->chain_count++] =
        (struct feed_chain){.loop = loop, .outer = outer, .depth = larger[outer].depth + 1};
    return 0;
}

/* The number of a loop's first instructions after which it may end; 0: it ends elsewhere. */
static uint32_t test_of(const struct code_walk *walk, uint32_t number)
{
    const struct loop *loop = &walk->loops.loops[number];
    const struct code_node *head = &walk->nodes[loop->head];
    uint32_t count = 0;
    bool leaves = head->leaves;
    for (uint32_t i = walk->graph.first_successor[loop->head];
         i < walk->graph.first_successor[loop->head + 1]; i++) {
        uint32_t inner = walk->loops.innermost[walk->graph.successors[i]];
        if (walk->graph.successors[i] == loop->head)
            return 0;
        while (inner != LOOPS_NONE && inner != number)
            inner = walk->loops.loops[inner].parent;
        leaves = leaves || inner == LOOPS_NONE;
    }
    for (uint32_t i = 0; leaves && i < walk->instruction_count; i++)
        count += walk->owners[i] == loop->head;
    return count;
}

/* Numbers the walk's loops. */
static int number_loops(struct feed_flow *flow, struct feed_function *function)
{
    const struct code_walk *walk = &function->walk;
    uint32_t *chains = realloc(function->chains, (walk->loops.count + 1) * sizeof *chains);
    if (!chains)
        return BT_MEMORY;
    function->chains = chains;
    for (uint32_t i = walk->loops.count; i-- > 0;) { /* outer loops come after inner ones */
        const struct loop *loop = &walk->loops.loops[i];
        uint32_t number;
        if (number_loop(flow, function->number, walk->nodes[loop->head].start, &number) < 0 ||
            number_chain(flow, number,
                         loop->parent == LOOPS_NONE ? FEED_CHAIN_NONE : chains[loop->parent],
                         &chains[i]) < 0)
            return BT_MEMORY;
        flow->loops[number].test = test_of(walk, i);
    }
    return 0;
}

/* --- walks -------------------------------------------------------------------------------------
 */

static int compare_jumps(const void *a, const void *b)
{
    const struct code_jump *left = a, *right = b;
    if (left->jump != right->jump)
        return left->jump < right->jump ? -1 : 1;
    return (left->target > right->target) - (left->target < right->target);
}

static int index_jumps(struct feed_function *function)
{
    hash_index_empty(&function->by_jump);
    for (size_t i = 0; i < function->jump_count; i++)
        if (hash_index_add(&function->by_jump,
                           hash_pair(function->jumps[i].jump, function->jumps[i].target),
                           (uint32_t)i) < 0)
            return BT_MEMORY;
    return 0;
}

static int make_walk(struct feed_flow *flow, struct feed_function *function)
{
    struct bt_error error;
    struct inside inside = {.flow = flow, .function = function->number};
    if (function->jump_count > 0)
        qsort(function->jumps, function->jump_count, sizeof *function->jumps, compare_jumps);
    if (index_jumps(function) < 0)
        return BT_MEMORY;
    const struct code_walk_settings settings = {.read = read_inside,
                                                .is_inside = is_inside,
                                                .context = &inside,
                                                .entries = function->entries,
                                                .entry_count = function->entry_count,
                                                .jumps = function->jumps,
                                                .jump_count = function->jump_count,
                                                .instructions_max = INSTRUCTIONS_MAX};
    code_window_forget(&flow->window);
    code_walk_clear(&function->walk);
    int result = code_walk_make(&function->walk, &settings, &error);
    function->version++;
    function->is_outdated = false;
    function->jumps_walked = function->jump_count;
    return result == 0 ? number_loops(flow, function) : result;
}

int feed_flow_reach(struct feed_flow *flow, struct feed_function *function, uint64_t address)
{
    const bool known =
        function->version > 0 && code_walk_find(&function->walk, address) != DIGRAPH_NONE;
    if (known && !function->is_outdated)
        return 0;
    if (known &&
        function->jump_count - function->jumps_walked <
            JUMPS_AT_ONCE + function->jumps_walked / JUMPS_AT_ONCE &&
        function->jumps_walked >= JUMPS_AT_ONCE)
        return 0; /* later, with more of them */
    if (function->is_outdated && make_walk(flow, function) < 0)
        return BT_MEMORY;
    if (function->version > 0 &&
        (code_walk_find(&function->walk, address) != DIGRAPH_NONE || function->walk.is_cut))
        return 0;
    uint64_t *larger = grow_array(function->entries, &function->entry_capacity,
                                  function->entry_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    function->entries = larger;
    larger[function->entry_count++] = address;
    return make_walk(flow, function);
}

int feed_flow_jump(struct feed_flow *flow, struct feed_function *function, uint64_t jump,
                   uint64_t target)
{
    const uint32_t hash = hash_pair(jump, target);
    struct hash_search search = hash_search(&function->by_jump, hash);
    while (hash_search_next(&search))
        if (function->jumps[search.number].jump == jump &&
            function->jumps[search.number].target == target)
            return 0;
    struct code_jump *larger = grow_array(function->jumps, &function->jump_capacity,
                                          function->jump_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    function->jumps = larger;
    if (hash_index_add(&function->by_jump, hash, (uint32_t)function->jump_count) < 0)
        return BT_MEMORY;
    larger[function->jump_count++] = (struct code_jump){.jump = jump, .target = target};
    function->is_outdated = true;
    return feed_flow_reach(flow, function, target);
}

int feed_flow_update(struct feed_flow *flow, struct feed_function *function)
{
    return function->is_outdated ? make_walk(flow, function) : 0;
}

uint32_t feed_flow_chain(const struct feed_function *function, uint64_t address, bool *is_head,
                         bool *begins_node)
{
    const struct code_walk *walk = &function->walk;
    const uint32_t node = code_walk_find(walk, address);
    *is_head = *begins_node = false;
    if (node == DIGRAPH_NONE)
        return FEED_CHAIN_NONE;
    /* a jump whose targets are not known yet does not leave the loop before it is executed */
    const uint32_t loop =
        code_walk_loop(walk, walk->nodes[node].is_open ? walk->dominators.immediate[node] : node);
    *begins_node = walk->nodes[node].start == address;
    *is_head = *begins_node && loop != LOOPS_NONE && walk->loops.loops[loop].head == node;
    return loop == LOOPS_NONE ? FEED_CHAIN_NONE : function->chains[loop];
}
