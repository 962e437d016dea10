#include "tools/dcfg/graph/call_graph.h"

#include "formats/base/saturating.h"
#include "tools/dcfg/graph/components.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* Assigns a block to a function: by the start of its routine's symbol, or by its routine. */
struct function_block {
    uint64_t start;
    uint64_t offset; /* of the block itself */
    uint32_t image, block;
    bool symbol;
};

static int compare_members(const void *left, const void *right)
{
    const struct function_block *a = left;
    const struct function_block *b = right;
    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->symbol != b->symbol)
        return a->symbol ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->block < b->block ? -1 : 1;
}

static bool is_same_function(const struct function_block *a, const struct function_block *b)
{
    return a->image == b->image && a->start == b->start && a->symbol == b->symbol;
}

static struct function_block member_of(const struct graph_profile *profile,
                                       const struct names *names, uint32_t block)
{
    const struct dcfg_process *process = profile->process;
    uint32_t routine = profile->routine_of[block];
    uint32_t entry =
        routine == DCFG_NONE ? block : dcfg_find_block(process, process->routines[routine].entry);
    struct code_location location;
    names_of_block(names, entry, &location);
    return (struct function_block){.start = location.image_offset -
                                            (location.symbol ? location.symbol_offset : 0),
                                   .offset = process->blocks[block].offset,
                                   .image = dcfg_image_of_block(process, entry),
                                   .block = block,
                                   .symbol = location.symbol != NULL};
}

static bool is_entry(const struct graph_profile *profile, uint32_t block)
{
    uint32_t routine = profile->routine_of[block];
    return routine != DCFG_NONE &&
           profile->process->routines[routine].entry == profile->process->blocks[block].id;
}

/* Numbers the functions and assigns their blocks. */
static void make_functions(struct call_graph *graph, const struct graph_profile *profile,
                           const struct names *names, struct function_block *members)
{
    uint32_t count = profile->process->block_count;
    for (uint32_t i = 0; i < count; i++)
        members[i] = member_of(profile, names, i);
    if (count > 0)
        qsort(members, count, sizeof *members, compare_members);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = members[i].block;
        if (i == 0 || !is_same_function(&members[i - 1], &members[i])) {
            graph->functions[graph->function_count] = (struct call_function){.entry = block};
            graph->first_block[graph->function_count++] = i;
        }
        struct call_function *function = &graph->functions[graph->function_count - 1];
        if (is_entry(profile, block) && !is_entry(profile, function->entry))
            function->entry = block;
        function->self = saturating_add(function->self, profile->instructions[block]);
        graph->blocks[i] = block;
        graph->function_of[block] = graph->function_count - 1;
    }
    graph->first_block[graph->function_count] = count;
}

/* --- calls ----------------------------------------------------------------------------------- */

/* The call that an edge represents. Returns false if it is no call. */
static bool call_of(const struct call_graph *graph, const struct dcfg_process *process,
                    uint32_t edge, struct graph_call *call)
{
    enum dcfg_edge_type type = process->edges.types[edge];
    call->source = dcfg_find_block(process, process->edges.sources[edge]);
    call->target = dcfg_find_block(process, process->edges.targets[edge]);
    if (call->source == DCFG_NONE || call->target == DCFG_NONE || dcfg_edge_type_is_bypass(type) ||
        type == DCFG_EDGE_RETURN || type == DCFG_EDGE_SYSTEM_RETURN ||
        type == DCFG_EDGE_CONTEXT_CHANGE_RETURN || type == DCFG_EDGE_UNKNOWN)
        return false;
    call->caller = graph->function_of[call->source];
    call->callee = graph->function_of[call->target];
    call->cost = 0;
    call->count = dcfg_edge_total(process, edge);
    bool is_call = dcfg_edge_type_is_call(type) || type == DCFG_EDGE_SYSTEM_CALL ||
                   type == DCFG_EDGE_CONTEXT_CHANGE;
    return call->count > 0 && (is_call || call->caller != call->callee);
}

/* Whether an edge to a block begins a function without a caller: a thread starts there, or
 * execution was seen again there after a gap. */
static bool begins_function(const struct call_graph *graph, const struct dcfg_process *process,
                            uint32_t edge, uint32_t target)
{
    if (dcfg_find_block(process, process->edges.sources[edge]) == DCFG_NONE)
        return true;
    return process->edges.types[edge] == DCFG_EDGE_UNKNOWN &&
           graph->functions[graph->function_of[target]].entry == target;
}

static void enter_function(struct call_graph *graph, uint32_t function, uint64_t count)
{
    uint64_t *entered = &graph->functions[function].entered;
    *entered = saturating_add(*entered, count);
}

static void make_calls(struct call_graph *graph, const struct dcfg_process *process)
{
    struct graph_call call;
    uint32_t *first = graph->first_call;
    for (uint32_t e = 0; e < process->edges.count; e++)
        if (call_of(graph, process, e, &call)) {
            first[call.caller]++;
            graph->call_count++;
            enter_function(graph, call.callee, call.count);
        }
    /* end of each function's blocks; filled from the end */
    for (uint32_t f = 1; f <= graph->function_count; f++)
        first[f] += first[f - 1];
    for (uint32_t e = process->edges.count; e-- > 0;)
        if (call_of(graph, process, e, &call))
            graph->calls[--first[call.caller]] = call;
}

/* --- costs of calls -------------------------------------------------------------------------- */

/* A strongly connected component of functions: a cycle of calls, or a single function. */
struct circle {
    uint64_t cost;
    uint64_t called; /* calls from outside */
    uint64_t shared; /* calls whose share of the cost is assigned */
};

struct cycle_search {
    struct call_graph *graph;
    uint32_t *circle_of; /* by function */
    uint32_t *sorted;    /* functions by component */
    uint32_t *first;     /* by component: its first function in `sorted` */
    struct circle *circles;
    uint32_t circle_count;
};

static int find_circles(struct cycle_search *search)
{
    const struct call_graph *graph = search->graph;
    uint32_t *callees = malloc(((size_t)graph->call_count + 1) * sizeof *callees);
    if (!callees)
        return BT_MEMORY;
    for (uint32_t c = 0; c < graph->call_count; c++)
        callees[c] = graph->calls[c].callee;
    const int result = components_find(search->circle_of, &search->circle_count,
                                       graph->function_count, graph->first_call, callees);
    free(callees);
    return result;
}

static uint64_t part_of(uint64_t cost, uint64_t part, uint64_t whole)
{
    return part >= whole ? cost
                         : (uint64_t)((long double)cost * (long double)part / (long double)whole);
}

/* Rounded so that the shares add up to the total. */
static uint64_t take_share(struct circle *circle, uint64_t count)
{
    uint64_t before = part_of(circle->cost, circle->shared, circle->called);
    if (circle->shared == 0)
        before = 0;
    circle->shared = saturating_add(circle->shared, count);
    return part_of(circle->cost, circle->shared, circle->called) - before;
}

static void count_calls(struct cycle_search *search, const struct dcfg_process *process)
{
    const struct call_graph *graph = search->graph;
    for (uint32_t f = 0; f < graph->function_count; f++) {
        struct circle *circle = &search->circles[search->circle_of[f]];
        circle->cost = saturating_add(circle->cost, graph->functions[f].self);
    }
    for (uint32_t c = 0; c < graph->call_count; c++) {
        const struct graph_call *call = &graph->calls[c];
        struct circle *circle = &search->circles[search->circle_of[call->callee]];
        if (search->circle_of[call->caller] != search->circle_of[call->callee])
            circle->called = saturating_add(circle->called, call->count);
    }
    /* what begins without a caller */
    for (uint32_t e = 0; e < process->edges.count; e++) {
        uint32_t target = dcfg_find_block(process, process->edges.targets[e]);
        if (target == DCFG_NONE || !begins_function(graph, process, e, target))
            continue;
        struct circle *circle = &search->circles[search->circle_of[graph->function_of[target]]];
        uint64_t count = dcfg_edge_total(process, e);
        enter_function(search->graph, graph->function_of[target], count);
        circle->called = saturating_add(circle->called, count);
        circle->shared = saturating_add(circle->shared, count);
    }
}

/* Assigns the cost of each call: components in order, callees first. */
static void share_costs(struct cycle_search *search)
{
    struct call_graph *graph = search->graph;
    uint32_t *sorted = search->sorted;
    uint32_t *first = search->first;
    for (uint32_t f = 0; f < graph->function_count; f++)
        first[search->circle_of[f]]++;
    for (uint32_t c = 1; c <= search->circle_count; c++)
        first[c] += first[c - 1];
    for (uint32_t f = graph->function_count; f-- > 0;)
        sorted[--first[search->circle_of[f]]] = f;
    for (uint32_t i = 0; i < graph->function_count; i++) {
        uint32_t number = search->circle_of[sorted[i]];
        struct circle *circle = &search->circles[number];
        for (uint32_t c = graph->first_call[sorted[i]]; c < graph->first_call[sorted[i] + 1]; c++) {
            struct graph_call *call = &graph->calls[c];
            uint32_t other = search->circle_of[call->callee];
            if (other == number)
                continue;
            call->cost = take_share(&search->circles[other], call->count);
            circle->cost = saturating_add(circle->cost, call->cost);
        }
    }
    for (uint32_t f = 0; f < graph->function_count; f++)
        graph->functions[f].inclusive = search->circles[search->circle_of[f]].cost;
}

static int make_costs(struct call_graph *graph, const struct dcfg_process *process)
{
    size_t count = (size_t)graph->function_count + 1;
    struct cycle_search search = {.graph = graph};
    uint32_t *numbers = calloc(count * 3, sizeof *numbers);
    int result = BT_MEMORY;
    search.circles = calloc(count, sizeof *search.circles);
    if (numbers && search.circles) {
        search.circle_of = numbers;
        search.sorted = numbers + count;
        search.first = numbers + 2 * count;
        result = find_circles(&search);
    }
    if (result == 0) {
        count_calls(&search, process);
        share_costs(&search);
    }
    free(numbers);
    free(search.circles);
    return result;
}

/* --- all together ---------------------------------------------------------------------------- */

int call_graph_make(struct call_graph *graph, const struct graph_profile *profile,
                    const struct names *names, struct bt_error *error)
{
    size_t blocks = (size_t)profile->process->block_count + 1;
    *graph = (struct call_graph){.function_count = 0};
    graph->functions = calloc(blocks, sizeof *graph->functions);
    graph->function_of = calloc(blocks, sizeof *graph->function_of);
    graph->blocks = calloc(blocks, sizeof *graph->blocks);
    graph->first_block = calloc(blocks, sizeof *graph->first_block);
    graph->first_call = calloc(blocks, sizeof *graph->first_call);
    graph->calls = calloc((size_t)profile->process->edges.count + 1, sizeof *graph->calls);
    struct function_block *members = calloc(blocks, sizeof *members);
    int result = BT_MEMORY;
    if (graph->functions && graph->function_of && graph->blocks && graph->first_block &&
        graph->first_call && graph->calls && members) {
        make_functions(graph, profile, names, members);
        make_calls(graph, profile->process);
        result = make_costs(graph, profile->process);
    }
    free(members);
    if (result < 0) {
        call_graph_clear(graph);
        bt_fail(error, result, "no memory for the calls between %u blocks",
                profile->process->block_count);
    }
    return result;
}

void call_graph_clear(struct call_graph *graph)
{
    free(graph->functions);
    free(graph->function_of);
    free(graph->blocks);
    free(graph->first_block);
    free(graph->first_call);
    free(graph->calls);
    *graph = (struct call_graph){.function_count = 0};
}
