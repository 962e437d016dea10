#include "tools/dcfg/graph/match_functions.h"

#include <stdlib.h>
#include <string.h>

/* A block with a symbol. */
struct named_block {
    const char *symbol;
    uint64_t start; /* of the symbol: its offset in the image */
    uint32_t image; /* number in the union */
    uint32_t block;
    unsigned side;
};

static int compare_names(const struct named_block *a, const struct named_block *b)
{
    return a->image != b->image ? (a->image < b->image ? -1 : 1) : strcmp(a->symbol, b->symbol);
}

static int compare_blocks(const void *left, const void *right)
{
    const struct named_block *a = left;
    const struct named_block *b = right;
    const int order = compare_names(a, b);
    if (order != 0)
        return order;
    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->block < b->block ? -1 : 1;
}

/* Numbers the functions of the blocks from `at` to `end`, which have the same name, and returns the
 * first number that is not used. */
static uint32_t number_same_name(const struct named_block *at, const struct named_block *end,
                                 uint32_t first, struct function_place *const places[2])
{
    uint32_t next = first;
    uint32_t function = first;
    for (const struct named_block *block = at; block < end; block++) {
        if (block == at || block->side != block[-1].side)
            function = first;
        else if (block->start != block[-1].start)
            function++;
        places[block->side][block->block].function = function;
        next = function >= next ? function + 1 : next;
    }
    return next;
}

int match_functions(const struct dcfg_process *const processes[2],
                    const struct names *const names[2], uint32_t *const images[2],
                    struct function_place *const places[2])
{
    size_t count = 0;
    struct named_block *blocks = malloc(
        ((size_t)processes[0]->block_count + processes[1]->block_count + 1) * sizeof *blocks);
    if (!blocks)
        return BT_MEMORY;
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t b = 0; b < processes[side]->block_count; b++) {
            struct code_location location;
            names_of_block(names[side], b, &location);
            places[side][b] = (struct function_place){DCFG_NONE, location.symbol_offset};
            if (location.symbol)
                blocks[count++] = (struct named_block){
                    location.symbol, location.image_offset - location.symbol_offset,
                    images[side][dcfg_image_of_block(processes[side], b)], b, side};
        }
    qsort(blocks, count, sizeof *blocks, compare_blocks);
    uint32_t next = 0;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && compare_names(&blocks[first], &blocks[end]) == 0;)
            end++;
        next = number_same_name(&blocks[first], &blocks[end], next, places);
    }
    free(blocks);
    return 0;
}
