#include "tools/dcfg/annotation_lanes.h"

#include <stdlib.h>
#include <string.h>

#define SPAN_MAX 1000u /* longest jump that gets a lane, in rows */

/* The jumps to one row. */
struct lane_group {
    uint32_t first, last; /* rows */
    uint32_t jump, count; /* in order of targets */
};

static int compare_targets(const void *left, const void *right)
{
    const struct annotation_jump *a = left;
    const struct annotation_jump *b = right;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

static int compare_sources(const void *left, const void *right)
{
    const struct annotation_jump *a = left;
    const struct annotation_jump *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

/* Short ones first: they are next to the code. */
static int compare_spans(const void *left, const void *right)
{
    const struct lane_group *a = left;
    const struct lane_group *b = right;
    const uint32_t span_a = a->last - a->first, span_b = b->last - b->first;
    if (span_a != span_b)
        return span_a < span_b ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

static uint32_t make_groups(const struct annotation *annotation, struct lane_group *groups)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < annotation->jump_count; i++) {
        const struct annotation_jump *jump = &annotation->jumps[i];
        if (i == 0 || jump->to != jump[-1].to)
            groups[count++] = (struct lane_group){jump->to, jump->to, i, 0};
        struct lane_group *group = &groups[count - 1];
        group->first = jump->from < group->first ? jump->from : group->first;
        group->last = jump->from > group->last ? jump->from : group->last;
        group->count++;
    }
    return count;
}

/* The lowest lane that is free in all rows of the group; used has a bit for each lane. */
static uint8_t find_lane(uint8_t *used, const struct lane_group *group)
{
    unsigned taken = 0;
    uint8_t lane = 0;
    if (group->last - group->first > SPAN_MAX)
        return ANNOTATION_LANES;
    for (uint32_t row = group->first; row <= group->last; row++)
        taken |= used[row];
    while (lane < ANNOTATION_LANES && taken & 1u << lane)
        lane++;
    for (uint32_t row = group->first; row <= group->last && lane < ANNOTATION_LANES; row++)
        used[row] |= (uint8_t)(1u << lane);
    return lane;
}

int annotation_assign_lanes(struct annotation *annotation)
{
    annotation->lanes = 0;
    if (annotation->jump_count == 0)
        return 0;
    qsort(annotation->jumps, annotation->jump_count, sizeof *annotation->jumps, compare_targets);
    struct lane_group *groups = malloc(annotation->jump_count * sizeof *groups);
    uint8_t *used = calloc(annotation->row_count, 1);
    const bool good = groups && used;
    const uint32_t count = good ? make_groups(annotation, groups) : 0;
    if (count > 0)
        qsort(groups, count, sizeof *groups, compare_spans);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t lane = find_lane(used, &groups[i]);
        if (lane < ANNOTATION_LANES && lane >= annotation->lanes)
            annotation->lanes = lane + 1u;
        for (uint32_t j = 0; j < groups[i].count; j++)
            annotation->jumps[groups[i].jump + j].lane = lane;
    }
    qsort(annotation->jumps, annotation->jump_count, sizeof *annotation->jumps, compare_sources);
    free(groups);
    free(used);
    return good ? 0 : BT_MEMORY;
}

/* --- arrows ---------------------------------------------------------------------------------- */

char annotation_arrow(uint8_t cell)
{
    const unsigned vertical = cell & (ARROW_UP | ARROW_DOWN);
    if (cell & ARROW_HEAD)
        return '>';
    if (vertical == 0) /* an instruction that jumps to itself has a lane without length */
        return cell == ARROW_RIGHT ? '+' : cell ? '-' : ' ';
    if (vertical == (ARROW_UP | ARROW_DOWN))
        return (cell & (ARROW_LEFT | ARROW_RIGHT)) == ARROW_RIGHT ? '+' : '|';
    if (cell & ARROW_LEFT)
        return '+';
    return vertical == ARROW_DOWN ? '/' : '\\';
}

/* From the lane's column to the code. */
static void draw_end(uint8_t *row, uint32_t column, uint32_t width, unsigned lines)
{
    row[column] |= (uint8_t)(lines | ARROW_RIGHT);
    for (uint32_t c = column + 1; c < width; c++)
        row[c] |= ARROW_LEFT | ARROW_RIGHT;
}

static void draw_jump(const struct annotation *annotation, const struct annotation_jump *jump,
                      uint8_t *cells)
{
    const uint32_t width = annotation_arrow_width(annotation);
    const uint32_t column = annotation->lanes - 1 - jump->lane;
    const uint32_t low = jump->from < jump->to ? jump->from : jump->to;
    const uint32_t high = jump->from < jump->to ? jump->to : jump->from;
    for (uint32_t row = low + 1; row < high; row++)
        cells[(size_t)row * width + column] |= ARROW_UP | ARROW_DOWN;
    draw_end(cells + (size_t)low * width, column, width, low == high ? 0 : ARROW_DOWN);
    draw_end(cells + (size_t)high * width, column, width, low == high ? 0 : ARROW_UP);
    cells[(size_t)jump->to * width + width - 1] |= ARROW_HEAD;
}

uint32_t annotation_arrow_width(const struct annotation *annotation)
{
    return annotation->lanes > 0 ? annotation->lanes + 2 : 0;
}

void annotation_draw_arrows(const struct annotation *annotation, uint8_t *cells)
{
    memset(cells, 0, (size_t)annotation->row_count * annotation_arrow_width(annotation));
    for (uint32_t i = 0; i < annotation->jump_count; i++)
        if (annotation->jumps[i].lane < ANNOTATION_LANES)
            draw_jump(annotation, &annotation->jumps[i], cells);
}
