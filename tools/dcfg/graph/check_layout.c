/* Checks how the blocks of each image, and its source data, lie in memory: sections 2.12 and 2.13.
 */
#include "tools/dcfg/graph/check_internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* A block of an image; the blocks are sorted by offset, then by size. */
struct place {
    uint64_t offset;
    uint64_t instructions; /* of all blocks before this one */
    uint64_t bytes;        /* of all blocks before this one */
    uint32_t shared;       /* number of blocks before this one that share bytes with another one */
    uint32_t size;
    uint32_t block;
    bool shares;
};

struct layout {
    struct check *check;
    const struct check_process *view;
    struct place *places; /* of one image, and one more with the sums of all */
    uint32_t count;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

static const struct dcfg_block *block_at(const struct layout *layout, const struct place *place)
{
    return &layout->view->process->blocks[place->block];
}

static uint64_t end_of(const struct place *place)
{
    return place->offset + place->size;
}

static void sort_blocks(struct layout *layout, const struct dcfg_range *blocks)
{
    bool sorted = true;
    layout->count = blocks->count;
    for (uint32_t i = 0; i < blocks->count; i++) {
        const struct dcfg_block *block = &layout->view->process->blocks[blocks->first + i];
        layout->places[i] = (struct place){
            .offset = block->offset, .size = block->size, .block = blocks->first + i};
        sorted &= i == 0 || compare_places(&layout->places[i - 1], &layout->places[i]) < 0;
    }
    if (!sorted)
        qsort(layout->places, layout->count, sizeof *layout->places, compare_places);
}

/* --- blocks that share bytes ----------------------------------------------------------------- */

static bool is_single(const struct layout *layout, const struct place *place)
{
    return block_at(layout, place)->instructions == 1;
}

static void fail_shared(const struct layout *layout, const struct place *place,
                        const struct place *other)
{
    const struct check_location location = {
        .kind = CHECK_AT_BLOCK, .process = layout->view->process, .number = place->block};
    check_fail(layout->check, CHECK_BLOCK_OVERLAP, &location,
               "block %" PRIu32 " begins at 0x%" PRIx64 " of the image, where block %" PRIu32
               " %s 0x%" PRIx64,
               check_node_id(layout->view, place->block), place->offset,
               check_node_id(layout->view, other->block),
               place->offset == other->offset ? "begins, too; it ends at"
                                              : "has not ended; it ends at",
               end_of(other));
}

/* Of the blocks before this one, `far` ends last, and `long_far` ends last of those with more than
 * one instruction; either may be NULL. */
static void check_place(const struct layout *layout, struct place *place, struct place *far,
                        struct place *long_far)
{
    const struct place *before = place - 1; /* valid if far is */
    if (!far || end_of(far) <= place->offset)
        return;
    place->shares = far->shares = true;
    if (!is_single(layout, place))
        fail_shared(layout, place, far);
    else if (long_far && end_of(long_far) > place->offset)
        fail_shared(layout, place, long_far);
    else if (before->offset == place->offset && before->size == place->size)
        fail_shared(layout, place, before);
}

/* Checks the blocks, and fills in the sums. */
static void check_places(struct layout *layout)
{
    struct place *far = NULL;
    struct place *long_far = NULL;
    for (uint32_t i = 0; i < layout->count; i++) {
        struct place *place = &layout->places[i];
        check_place(layout, place, far, long_far);
        if (!far || end_of(place) > end_of(far))
            far = place;
        if (!is_single(layout, place) && (!long_far || end_of(place) > end_of(long_far)))
            long_far = place;
    }
    layout->places[layout->count] = (struct place){.offset = UINT64_MAX};
    for (uint32_t i = 0; i < layout->count; i++) {
        const struct place *place = &layout->places[i];
        struct place *next = &layout->places[i + 1];
        next->instructions = place->instructions + block_at(layout, place)->instructions;
        next->bytes = place->bytes + place->size;
        next->shared = place->shared + place->shares;
    }
}

/* --- source data ----------------------------------------------------------------------------- */

/* Bounds of the number of instructions that begin in a range. */
struct bounds {
    uint64_t least, most;
};

/* Number of blocks that begin before an offset. */
static uint32_t begun_before(const struct layout *layout, uint64_t offset)
{
    uint32_t low = 0;
    uint32_t high = layout->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (layout->places[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Adds the instructions of a block that begin `from` bytes after its start, where one does, and
 * before `to`. */
static void add_part(struct bounds *bounds, const struct dcfg_block *block, uint64_t from,
                     uint64_t to)
{
    uint64_t last = block->last_instruction;
    uint64_t most;
    if (from == last)
        most = 1;
    else
        most = smaller(block->instructions - (from > 0),
                       to > last ? last - from + 1 : smaller(to - from, last));
    bounds->most += most;
    bounds->least += from == 0 && to > last ? block->instructions : most > 0;
}

/* Whether an offset is within an instruction of a block. */
static bool is_within_instruction(const struct layout *layout, const struct place *place,
                                  uint64_t offset)
{
    const struct dcfg_block *block = block_at(layout, place);
    uint64_t from = offset - block->offset;
    return (from > block->last_instruction && from < block->size) ||
           (block->instructions == 2 && from > 0 && from < block->last_instruction);
}

/* The bounds for [begin, end) of the image; {1, 0}: it begins within an instruction. */
static struct bounds bounds_of(const struct layout *layout, uint64_t begin, uint64_t end)
{
    const struct place *places = layout->places;
    struct bounds bounds = {0, 0};
    uint32_t first = begun_before(layout, begin);
    uint32_t past = begun_before(layout, end);
    uint32_t whole = past; /* past the blocks that end before `end` */
    uint64_t covered = 0;
    uint32_t before = first > 0 && end_of(&places[first - 1]) > begin ? first - 1 : first;
    if (places[past].shared > places[before].shared)
        return (struct bounds){1, end - begin}; /* of which block an instruction is, is unknown */
    if (whole > first && end_of(&places[whole - 1]) > end)
        whole--;
    if (before < first && is_within_instruction(layout, &places[before], begin))
        return (struct bounds){1, 0};
    if (before < first) {
        uint64_t to = smaller(end_of(&places[before]), end);
        add_part(&bounds, block_at(layout, &places[before]), begin - places[before].offset,
                 to - places[before].offset);
        covered += to - begin;
    }
    bounds.least += places[whole].instructions - places[first].instructions;
    bounds.most += places[whole].instructions - places[first].instructions;
    covered += places[whole].bytes - places[first].bytes;
    if (whole < past) {
        add_part(&bounds, block_at(layout, &places[whole]), 0, end - places[whole].offset);
        covered += end - places[whole].offset;
    }
    bounds.most += end - begin - covered; /* an instruction has at least one byte */
    bounds.least += bounds.least == 0;
    return bounds;
}

static void check_line(const struct layout *layout, uint32_t number)
{
    const struct dcfg_process *process = layout->view->process;
    const struct dcfg_line *line = &process->lines[number];
    const struct check_location location = {
        .kind = CHECK_AT_LINE, .process = process, .number = number};
    if (line->instructions > line->size || line->instructions == 0) {
        check_fail(layout->check, CHECK_LINE_INSTRUCTIONS, &location,
                   "%" PRIu32 " instructions in %" PRIu32 " bytes", line->instructions, line->size);
        return;
    }
    if (line->offset > UINT64_MAX - line->size)
        return; /* reported elsewhere */
    const struct bounds bounds = bounds_of(layout, line->offset, line->offset + line->size);
    if (bounds.most == 0)
        check_fail(layout->check, CHECK_LINE_INSTRUCTIONS, &location,
                   "source data at 0x%" PRIx64 " begins within an instruction of a block",
                   line->offset);
    else if (line->instructions < bounds.least || line->instructions > bounds.most)
        check_fail(layout->check, CHECK_LINE_INSTRUCTIONS, &location,
                   "%" PRIu32 " instructions in %" PRIu32
                   " bytes, and by the blocks there are %" PRIu64 " to %" PRIu64,
                   line->instructions, line->size, bounds.least, bounds.most);
}

int check_layout(struct check *check, const struct check_process *view, struct bt_error *error)
{
    const struct dcfg_process *process = view->process;
    const struct dcfg_bus *bus = process->graph->bus;
    struct layout layout = {.check = check, .view = view};
    layout.places = malloc(((size_t)view->blocks + 1) * sizeof *layout.places);
    if (!layout.places)
        return bt_fail(error, BT_MEMORY, "no memory for %" PRIu32 " blocks", view->blocks);
    for (uint32_t i = 0; i < process->image_count; i++) {
        const struct dcfg_image *image = &process->images[i];
        sort_blocks(&layout, &image->blocks);
        check_places(&layout);
        if (bus && bus->chunks) { /* a block's number of instructions is unknown */
            layout.count = 0;
            layout.places[0] = (struct place){.offset = UINT64_MAX};
        }
        for (uint32_t n = image->lines.first; n < image->lines.first + image->lines.count; n++)
            check_line(&layout, n);
    }
    free(layout.places);
    return 0;
}
