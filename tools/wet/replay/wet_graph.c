#define _GNU_SOURCE /* qsort_r */
#include "tools/wet/replay/wet_graph.h"

#include "formats/base/grow.h"
#include "formats/base/hash.h"

#include <string.h>

#define INSTRUCTIONS_MAX 100000u /* of a function */
#define WALKS_MAX        4u      /* of a function: each adds what the one before did not reach */

/* Where execution entered a function, or where an indirect jump of it led. */
struct arrival {
    uint32_t partition;
    struct code_jump jump; /* jump 0: an entry */
};

/* A graph that is being made. */
struct making {
    struct wet_graph *graph;
    const struct wet_code *code;
    const struct wet_flows *flows;
    struct hash_index by_address; /* ids */
    uint32_t *ranges;             /* numbers of ranges by address */
    uint32_t *members;            /* ids by partition */
    uint32_t *first_member;       /* by partition */
    struct arrival *arrivals;     /* by partition, then jump */
    size_t arrival_count, arrival_capacity;
    uint32_t partition; /* of the function that is being walked */
};

/* --- functions and addresses -------------------------------------------------------------------
 */

/* The length of a name without the suffix of cold parts. */
static size_t stem(const char *name)
{
    const char *cold = name ? strstr(name, ".cold") : NULL;
    return cold ? (size_t)(cold - name) : 0;
}

static uint32_t hash_name(const struct making *making, const char *name, size_t length)
{
    return (uint32_t)(hash_octets((uint64_t)(uintptr_t)making, name, length) >> 32);
}

/* A function and its cold part, which compilers place elsewhere, are one. */
static int find_partitions(struct making *making)
{
    const struct wet_code *code = making->code;
    struct hash_index by_name = {.slots = NULL};
    int result = 0;
    making->graph->partitions = malloc((code->function_count + 1) * sizeof(uint32_t));
    if (!making->graph->partitions)
        return BT_MEMORY;
    for (uint32_t i = 0; i < code->function_count && result == 0; i++) {
        const char *name = code->functions[i].name;
        making->graph->partitions[i] = i;
        if (name && !stem(name))
            result = hash_index_add(&by_name, hash_name(making, name, strlen(name)), i);
    }
    for (uint32_t i = 0; i < code->function_count; i++) {
        const char *name = code->functions[i].name;
        const size_t length = stem(name);
        if (length == 0)
            continue;
        struct hash_search search = hash_search(&by_name, hash_name(making, name, length));
        while (hash_search_next(&search)) {
            const char *other = code->functions[search.number].name;
            if (strlen(other) == length && memcmp(name, other, length) == 0)
                making->graph->partitions[i] = search.number;
        }
    }
    hash_index_clear(&by_name);
    return result;
}

static uint32_t partition_of(const struct making *making, uint32_t id)
{
    return making->graph->partitions[making->code->instructions[id].function];
}

/* The instruction that was executed at an address, the latest one if the code has changed. 0: none.
 */
static uint32_t find_id(const struct making *making, uint64_t address)
{
    uint32_t latest = 0;
    struct hash_search search = hash_search(&making->by_address, hash_number(address));
    while (hash_search_next(&search))
        if (making->code->instructions[search.number].address == address && search.number > latest)
            latest = search.number;
    return latest;
}

/* The range with an address. NULL: none. */
static const struct wet_range *find_range(const struct making *making, uint64_t address)
{
    const struct wet_code *code = making->code;
    size_t low = 0, high = code->range_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (code->ranges[making->ranges[middle]].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct wet_range *found = low > 0 ? &code->ranges[making->ranges[low - 1]] : NULL;
    return found && address - found->address < found->size ? found : NULL;
}

static size_t read_code(void *context, uint64_t address, const uint8_t **bytes)
{
    const struct making *making = context;
    const uint32_t id = find_id(making, address);
    if (id) {
        *bytes = making->code->instructions[id].bytes;
        return making->code->instructions[id].size;
    }
    const struct wet_range *range = find_range(making, address);
    if (!range)
        return 0;
    *bytes = making->code->range_bytes + range->bytes + (address - range->address);
    return range->size - (size_t)(address - range->address);
}

static bool is_inside(void *context, uint64_t address)
{
    const struct making *making = context;
    const uint32_t id = find_id(making, address);
    if (id)
        return partition_of(making, id) == making->partition;
    const struct wet_range *range = find_range(making, address);
    return range && making->graph->partitions[range->function] == making->partition;
}

static int compare_ranges(const void *a, const void *b, void *context)
{
    const struct wet_range *ranges = context;
    const struct wet_range *left = &ranges[*(const uint32_t *)a];
    const struct wet_range *right = &ranges[*(const uint32_t *)b];
    return (left->address > right->address) - (left->address < right->address);
}

static int index_addresses(struct making *making)
{
    const struct wet_code *code = making->code;
    int result = hash_index_reserve(&making->by_address, code->instruction_count);
    for (uint32_t id = 1; id < code->instruction_count && result == 0; id++)
        result =
            hash_index_add(&making->by_address, hash_number(code->instructions[id].address), id);
    making->ranges = malloc((code->range_count + 1) * sizeof *making->ranges);
    if (!making->ranges || result < 0)
        return BT_MEMORY;
    for (uint32_t i = 0; i < code->range_count; i++)
        making->ranges[i] = i;
    qsort_r(making->ranges, code->range_count, sizeof *making->ranges, compare_ranges,
            code->ranges);
    return 0;
}

/* Lists the ids of each function. */
static int list_members(struct making *making)
{
    const struct wet_code *code = making->code;
    const size_t functions = code->function_count;
    uint32_t *first = calloc(functions + 2, sizeof *first);
    making->first_member = first;
    making->members = malloc((code->instruction_count + 1) * sizeof *making->members);
    if (!first || !making->members)
        return BT_MEMORY;
    for (uint32_t id = 1; id < code->instruction_count; id++)
        first[partition_of(making, id) + 1]++;
    for (size_t i = 0; i < functions; i++)
        first[i + 1] += first[i];
    for (uint32_t id = 1; id < code->instruction_count; id++)
        making->members[first[partition_of(making, id)]++] = id;
    memmove(first + 1, first, functions * sizeof *first);
    first[0] = 0;
    return 0;
}

/* --- arrivals ----------------------------------------------------------------------------------
 */

static int add_arrival(struct making *making, uint32_t partition, uint64_t jump, uint64_t target)
{
    struct arrival *larger = grow_array(making->arrivals, &making->arrival_capacity,
                                        making->arrival_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    making->arrivals = larger;
    larger[making->arrival_count++] =
        (struct arrival){.partition = partition, .jump = {.jump = jump, .target = target}};
    return 0;
}

/* An indirect jump of a function has led out of it. */
static int add_leaving(struct making *making, uint32_t from)
{
    return add_arrival(making, partition_of(making, from), making->code->instructions[from].address,
                       CODE_JUMP_OUT);
}

/* What an edge says about the functions that it leads from and to. */
static int classify(struct making *making, const struct wet_edge *edge)
{
    const struct wet_instruction *from = &making->code->instructions[edge->from];
    const uint64_t target = making->code->instructions[edge->to].address;
    const uint32_t partition = partition_of(making, edge->to);
    const uint8_t kind = making->flows->flows[edge->from].kind;
    if (kind == DECODE_RETURN) /* behind a call: the walk knows it */
        return 0;
    if (edge->from && kind != DECODE_CALL && kind != DECODE_CALL_INDIRECT &&
        partition_of(making, edge->from) == partition)
        return kind == DECODE_JUMP_INDIRECT ? add_arrival(making, partition, from->address, target)
                                            : 0;
    const int result =
        edge->from && kind == DECODE_JUMP_INDIRECT ? add_leaving(making, edge->from) : 0;
    return result < 0 ? result : add_arrival(making, partition, 0, target);
}

static int compare_arrivals(const void *a, const void *b)
{
    const struct arrival *left = a, *right = b;
    if (left->partition != right->partition)
        return left->partition < right->partition ? -1 : 1;
    if (left->jump.jump != right->jump.jump)
        return left->jump.jump < right->jump.jump ? -1 : 1;
    return (left->jump.target > right->jump.target) - (left->jump.target < right->jump.target);
}

/* Sorts the arrivals, and removes those that are there twice. */
static void sort_arrivals(struct making *making)
{
    struct arrival *arrivals = making->arrivals;
    size_t kept = 0;
    if (making->arrival_count > 0)
        qsort(arrivals, making->arrival_count, sizeof *arrivals, compare_arrivals);
    for (size_t i = 0; i < making->arrival_count; i++)
        if (kept == 0 || compare_arrivals(&arrivals[kept - 1], &arrivals[i]) != 0)
            arrivals[kept++] = arrivals[i];
    making->arrival_count = kept;
}

static int find_arrivals(struct making *making)
{
    int result = 0;
    for (size_t i = 0; i < making->code->edge_count && result == 0; i++)
        result = classify(making, &making->code->edges[i]);
    sort_arrivals(making);
    return result;
}

/* --- one function ------------------------------------------------------------------------------
 */

/* What the walk of a function begins with. */
struct beginnings {
    uint64_t *entries;
    size_t entry_count, entry_capacity;
    struct code_jump *jumps;
    size_t jump_count;
};

static int add_entry(struct beginnings *beginnings, uint64_t address)
{
    uint64_t *larger = grow_array(beginnings->entries, &beginnings->entry_capacity,
                                  beginnings->entry_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    beginnings->entries = larger;
    larger[beginnings->entry_count++] = address;
    return 0;
}

/* Adds the executed instructions that a walk has not reached as entries: those before which none is
 * missing. Returns their number, or BT_MEMORY. */
static int add_missing(const struct making *making, const struct code_walk *walk,
                       struct beginnings *beginnings)
{
    int added = 0;
    uint64_t end = 0; /* of the last missing instruction */
    for (uint32_t i = making->first_member[making->partition];
         i < making->first_member[making->partition + 1]; i++) {
        const struct wet_instruction *one = &making->code->instructions[making->members[i]];
        if (code_walk_find(walk, one->address) != DIGRAPH_NONE)
            continue;
        if (one->address != end || added == 0) {
            if (add_entry(beginnings, one->address) < 0)
                return BT_MEMORY;
            added++;
        }
        end = one->address + one->size;
    }
    return added;
}

/* Walks a function until the walk has all of its executed code. */
static int walk(struct making *making, struct beginnings *beginnings, struct code_walk *to,
                struct bt_error *error)
{
    int missing = beginnings->entry_count == 0 ? add_missing(making, to, beginnings) : 1;
    for (unsigned times = 0; missing > 0 && times < WALKS_MAX; times++) {
        const struct code_walk_settings settings = {.read = read_code,
                                                    .is_inside = is_inside,
                                                    .ends_outside = true,
                                                    .context = making,
                                                    .entries = beginnings->entries,
                                                    .entry_count = beginnings->entry_count,
                                                    .jumps = beginnings->jumps,
                                                    .jump_count = beginnings->jump_count,
                                                    .instructions_max = INSTRUCTIONS_MAX};
        code_walk_clear(to);
        const int result = code_walk_make(to, &settings, error);
        if (result < 0)
            return result;
        missing = to->is_cut ? 0 : add_missing(making, to, beginnings);
    }
    return missing < 0 ? bt_fail(error, BT_MEMORY, "no memory for the code of a function") : 0;
}

/* Whether some node was treated as if it led to the exit, because no path does. */
static bool find_endless(const struct wet_graph_function *function)
{
    const struct digraph *reversed = &function->post_dominators.reversed;
    const struct digraph *graph = &function->walk.graph;
    for (uint32_t i = reversed->first_successor[POST_DOMINATORS_EXIT];
         i < reversed->first_successor[POST_DOMINATORS_EXIT + 1]; i++) {
        const uint32_t node = reversed->successors[i];
        if (!function->walk.nodes[node].leaves &&
            graph->first_successor[node] < graph->first_successor[node + 1])
            return true;
    }
    return false;
}

/* Whether execution has entered the function elsewhere than at its begin: by longjmp() or an
 * exception. Regions of branches that were left so do not end. */
static bool is_entered_inside(const struct making *making, const struct beginnings *beginnings)
{
    const struct wet_code *code = making->code;
    for (size_t i = 0; i < beginnings->entry_count; i++) {
        const uint32_t id = find_id(making, beginnings->entries[i]);
        if (code->functions[code->instructions[id].function].start != beginnings->entries[i])
            return true;
    }
    return false;
}

/* Numbers the nodes of a function. */
static int add_nodes(struct wet_graph *graph, struct wet_graph_function *function, size_t *capacity)
{
    const struct digraph *walked = &function->walk.graph;
    const uint32_t nodes = walked->nodes, number = (uint32_t)graph->function_count;
    struct wet_node *larger =
        grow_array(graph->nodes, capacity, graph->node_count + nodes + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    graph->nodes = larger;
    function->first = (uint32_t)graph->node_count;
    for (uint32_t node = 0; node < nodes; node++) {
        const uint32_t next = node ? post_dominators_next(&function->post_dominators, node) : 0;
        const uint32_t successors =
            walked->first_successor[node + 1] - walked->first_successor[node];
        larger[graph->node_count++] = (struct wet_node){
            .function = number,
            .next = next == POST_DOMINATORS_EXIT || next >= nodes ? WET_NODE_NONE
                                                                  : function->first + next,
            .decides = node && successors + function->walk.nodes[node].leaves >= 2};
    }
    return 0;
}

/* Finds the node of each executed instruction of the function. */
static void place_members(struct making *making, const struct wet_graph_function *function)
{
    struct wet_graph *graph = making->graph;
    for (uint32_t i = making->first_member[making->partition];
         i < making->first_member[making->partition + 1]; i++) {
        const uint32_t id = making->members[i];
        const uint64_t address = making->code->instructions[id].address;
        const uint32_t node = code_walk_find(&function->walk, address);
        graph->node_of[id] = node == DIGRAPH_NONE ? WET_NODE_NONE : function->first + node;
        graph->begins_node[id] =
            node != DIGRAPH_NONE && function->walk.nodes[node].start == address;
    }
}

static int make_function(struct making *making, struct beginnings *beginnings,
                         size_t *node_capacity, struct bt_error *error)
{
    struct wet_graph *graph = making->graph;
    struct wet_graph_function *function = &graph->functions[graph->function_count];
    *function = (struct wet_graph_function){.first = 0};
    int result = walk(making, beginnings, &function->walk, error);
    if (result == 0)
        result = post_dominators_find(&function->post_dominators, &function->walk, error);
    if (result == 0) {
        function->is_endless = find_endless(function) || is_entered_inside(making, beginnings);
        if (add_nodes(graph, function, node_capacity) < 0)
            result = bt_fail(error, BT_MEMORY, "no memory for the nodes of a function");
        else
            place_members(making, function);
    }
    graph->function_count++;
    return result;
}

/* Takes the beginnings of a function from the arrivals, from *at on. */
static int begin(struct making *making, struct beginnings *beginnings, size_t *at)
{
    beginnings->entry_count = beginnings->jump_count = 0;
    for (; *at < making->arrival_count && making->arrivals[*at].partition == making->partition;
         ++*at) {
        const struct code_jump *jump = &making->arrivals[*at].jump;
        if (jump->jump)
            beginnings->jumps[beginnings->jump_count++] = *jump;
        else if (add_entry(beginnings, jump->target) < 0)
            return BT_MEMORY;
    }
    return 0;
}

static int make_functions(struct making *making, struct bt_error *error)
{
    struct wet_graph *graph = making->graph;
    struct beginnings beginnings = {
        .jumps = malloc((making->arrival_count + 1) * sizeof *beginnings.jumps)};
    const size_t functions = making->code->function_count;
    size_t at = 0, node_capacity = 0;
    graph->functions = malloc((functions + 1) * sizeof *graph->functions);
    graph->nodes = grow_array(NULL, &node_capacity, 1, sizeof *graph->nodes);
    int result = 0;
    if (!beginnings.jumps || !graph->functions || !graph->nodes)
        result = bt_fail(error, BT_MEMORY, "no memory for the program's functions");
    else
        graph->nodes[graph->node_count++] = (struct wet_node){.next = WET_NODE_NONE};
    for (uint32_t i = 0; i < functions && result == 0; i++) {
        making->partition = i;
        if (making->first_member[i] == making->first_member[i + 1])
            continue;
        if (begin(making, &beginnings, &at) < 0)
            result = bt_fail(error, BT_MEMORY, "no memory for the program's functions");
        else
            result = make_function(making, &beginnings, &node_capacity, error);
    }
    free(beginnings.entries);
    free(beginnings.jumps);
    return result;
}

/* --- interface ---------------------------------------------------------------------------------
 */

int wet_graph_make(struct wet_graph *graph, const struct wet_code *code,
                   const struct wet_flows *flows, struct bt_error *error)
{
    struct making making = {.graph = graph, .code = code, .flows = flows};
    *graph = (struct wet_graph){.node_of = calloc(code->instruction_count + 1, sizeof(uint32_t)),
                                .begins_node = calloc(code->instruction_count + 1, sizeof(bool))};
    int result = !graph->node_of || !graph->begins_node || find_partitions(&making) < 0 ||
                         index_addresses(&making) < 0 || list_members(&making) < 0 ||
                         find_arrivals(&making) < 0
                     ? bt_fail(error, BT_MEMORY, "no memory for the program's functions")
                     : make_functions(&making, error);
    hash_index_clear(&making.by_address);
    free(making.ranges);
    free(making.members);
    free(making.first_member);
    free(making.arrivals);
    return result;
}

void wet_graph_clear(struct wet_graph *graph)
{
    for (size_t i = 0; i < graph->function_count; i++) {
        code_walk_clear(&graph->functions[i].walk);
        post_dominators_clear(&graph->functions[i].post_dominators);
    }
    free(graph->functions);
    free(graph->nodes);
    free(graph->node_of);
    free(graph->begins_node);
    free(graph->partitions);
    *graph = (struct wet_graph){.functions = NULL};
}

bool wet_graph_decides(const struct wet_graph *graph, uint32_t branch, uint32_t node)
{
    const struct wet_node *deciding = &graph->nodes[branch];
    const struct wet_graph_function *function = &graph->functions[deciding->function];
    return graph->nodes[node].function == deciding->function &&
           post_dominators_decide(&function->post_dominators, branch - function->first,
                                  node - function->first);
}
