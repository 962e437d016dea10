#include "tools/dcfg/graph/tail_calls.h"

#include "formats/base/grow.h"
#include "formats/dcfg/dcfg_edge_type.h"

#include <stdlib.h>

/* --- where functions start --- */

static int by_place(const void *a, const void *b)
{
    const struct function_start *left = a;
    const struct function_start *right = b;
    if (left->image != right->image)
        return left->image < right->image ? -1 : 1;
    return left->address < right->address ? -1 : left->address > right->address;
}

static void sort(struct function_starts *starts, size_t first)
{
    size_t kept = first;
    qsort(starts->rows + first, starts->count - first, sizeof *starts->rows, by_place);
    for (size_t i = first; i < starts->count; i++)
        if (i == first || by_place(&starts->rows[kept - 1], &starts->rows[i]) != 0)
            starts->rows[kept++] = starts->rows[i];
    starts->count = kept;
}

int function_starts_add(struct function_starts *starts, uint32_t image,
                        const struct image_names *names)
{
    size_t first = starts->count;
    size_t most = first + names->symbol_count + names->start_count + 1;
    struct function_start *rows = grow_array(starts->rows, &starts->capacity, most, sizeof *rows);
    if (!rows)
        return BT_MEMORY;
    starts->rows = rows;
    rows[starts->count++] = (struct function_start){.image = image};
    for (size_t i = 0; i < names->symbol_count; i++)
        if (names->symbols[i].routine)
            rows[starts->count++] =
                (struct function_start){.address = names->symbols[i].address, .image = image};
    for (size_t i = 0; i < names->start_count; i++)
        rows[starts->count++] =
            (struct function_start){.address = names->starts[i], .image = image};
    sort(starts, first);
    return 0;
}

void function_starts_clear(struct function_starts *starts)
{
    free(starts->rows);
    *starts = (struct function_starts){.count = 0};
}

uint32_t function_starts_find(const struct function_starts *starts, uint32_t image,
                              uint64_t address)
{
    const struct function_start wanted = {.address = address, .image = image};
    size_t low = 0;
    size_t high = starts->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_place(&starts->rows[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* --- jumps between functions --- */

struct search {
    const struct function_starts *starts;
    const struct routines_graph *graph;
    const struct flow_graph *flow;
    uint64_t
        *middles; /* sorted pairs of functions: the first jumps into the middle of the second */
    size_t middle_count;
};

static uint64_t pair_of(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

static int by_pair(const void *a, const void *b)
{
    const uint64_t *left = a;
    const uint64_t *right = b;
    return (*left > *right) - (*left < *right);
}

/* The functions between which an edge leads. Returns false if it does not leave its function, or
 * is no jump. */
static bool between(const struct search *search, size_t edge, uint32_t *from, uint32_t *to)
{
    const struct routines_graph *graph = search->graph;
    if (!routines_stays(graph, edge) ||
        dcfg_edge_type_is_bypass((enum dcfg_edge_type)graph->types[edge]))
        return false;
    uint32_t image = graph->images[graph->sources[edge]];
    const struct flow_block *source = &search->flow->blocks[graph->sources[edge]];
    *from = function_starts_find(search->starts, image,
                                 (uint64_t)source->address + source->last_offset);
    *to = function_starts_find(search->starts, image,
                               search->flow->blocks[graph->targets[edge]].address);
    return *from != *to;
}

static bool is_start(const struct search *search, uint32_t function, uint32_t node)
{
    return search->starts->rows[function - 1].address == search->flow->blocks[node].address;
}

static void find_middles(struct search *search)
{
    uint32_t from, to;
    for (size_t e = 0; e < search->graph->edges; e++)
        if (between(search, e, &from, &to) && !is_start(search, to, search->graph->targets[e]))
            search->middles[search->middle_count++] = pair_of(from, to);
    if (search->middle_count > 0)
        qsort(search->middles, search->middle_count, sizeof *search->middles, by_pair);
}

static bool returns_into(const struct search *search, uint32_t from, uint32_t to)
{
    const uint64_t wanted = pair_of(from, to);
    return search->middle_count > 0 && bsearch(&wanted, search->middles, search->middle_count,
                                               sizeof *search->middles, by_pair) != NULL;
}

int tail_calls_find(bool *entered, const struct function_starts *starts,
                    const struct routines_graph *graph, const struct flow_graph *flow)
{
    struct search search = {.starts = starts, .graph = graph, .flow = flow};
    uint32_t from, to;
    if (starts->count == 0)
        return 0;
    search.middles = malloc((graph->edges + 1) * sizeof *search.middles);
    if (!search.middles)
        return BT_MEMORY;
    find_middles(&search);
    for (size_t e = 0; e < graph->edges; e++)
        if (between(&search, e, &from, &to) && is_start(&search, to, graph->targets[e]) &&
            !returns_into(&search, to, from))
            entered[graph->targets[e]] = true;
    free(search.middles);
    return 0;
}
