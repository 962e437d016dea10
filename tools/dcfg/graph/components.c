#include "tools/dcfg/graph/components.h"

#include "formats/base/error.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct component_search {
    const uint32_t *first, *successors;
    uint32_t *component_of; /* by node; NONE: not known yet */
    uint32_t *order;        /* by node: order of discovery, from 1 on */
    uint32_t *low;          /* lowest order reachable */
    uint32_t *next;         /* by node: index of the next successor */
    uint32_t *open;         /* nodes whose component is not known yet */
    uint32_t *path;
    uint32_t found, component_count, open_count, depth;
};

static void enter(struct component_search *search, uint32_t node)
{
    search->order[node] = search->low[node] = ++search->found;
    search->next[node] = search->first[node];
    search->open[search->open_count++] = node;
    search->path[search->depth++] = node;
}

static void lower(uint32_t *low, uint32_t value)
{
    if (value < *low)
        *low = value;
}

static void leave(struct component_search *search)
{
    uint32_t node = search->path[--search->depth];
    if (search->depth > 0)
        lower(&search->low[search->path[search->depth - 1]], search->low[node]);
    if (search->low[node] != search->order[node])
        return;
    uint32_t member;
    do {
        member = search->open[--search->open_count];
        search->component_of[member] = search->component_count;
    } while (member != node);
    search->component_count++;
}

static void find_all(struct component_search *search, uint32_t nodes)
{
    memset(search->component_of, 0xff, nodes * sizeof *search->component_of);
    for (uint32_t root = 0; root < nodes; root++) {
        if (search->order[root] == 0)
            enter(search, root);
        while (search->depth > 0) {
            uint32_t at = search->path[search->depth - 1];
            if (search->next[at] == search->first[at + 1]) {
                leave(search);
                continue;
            }
            uint32_t successor = search->successors[search->next[at]++];
            if (search->order[successor] == 0)
                enter(search, successor);
            else if (search->component_of[successor] == NONE)
                lower(&search->low[at], search->order[successor]);
        }
    }
}

int components_find(uint32_t *component_of, uint32_t *count, uint32_t nodes, const uint32_t *first,
                    const uint32_t *successors)
{
    const size_t size = (size_t)nodes + 1;
    uint32_t *numbers = calloc(size * 5, sizeof *numbers);
    if (!numbers)
        return BT_MEMORY;
    struct component_search search = {.first = first,
                                      .successors = successors,
                                      .component_of = component_of,
                                      .order = numbers,
                                      .low = numbers + size,
                                      .next = numbers + 2 * size,
                                      .open = numbers + 3 * size,
                                      .path = numbers + 4 * size};
    find_all(&search, nodes);
    *count = search.component_count;
    free(numbers);
    return 0;
}
