/*
 * What the inputs of a merge share if they are parts of one capture, cut by time, number or filter:
 * each of them has the losses and gaps of its part, and its filter has excluded what another part
 * may hold. Inputs have one capture if their headers have one id.
 */
#ifndef TOOLS_CUT_MERGE_PARTS_H
#define TOOLS_CUT_MERGE_PARTS_H

#include "formats/base/error.h"
#include "formats/record/capture_info.h"

#include <stddef.h>

struct merge_parts;

/* For count inputs, in their order. NULL: no memory. */
struct merge_parts *merge_parts_new(size_t count);
void merge_parts_free(struct merge_parts *parts);

/* Adds the next input. */
void merge_parts_add(struct merge_parts *parts, const struct capture_info *info);

/* The input's first record or hole is next in the merged trace: what its capture has lost so far
 * was before the part. */
void merge_parts_begin(struct merge_parts *parts, size_t input);

/* Removes from the losses and gap of an input those that another part of its capture has brought
 * since the input began. */
void merge_parts_take_hole(struct merge_parts *parts, size_t input, struct loss *lost,
                           struct gap *gap);

/* The input is at its end. */
struct merge_part_end {
    uint64_t records;   /* of the input */
    uint64_t end_index; /* after its last record or loss */
    uint64_t filtered;  /* requests that a filter has excluded */
};
void merge_parts_end(struct merge_parts *parts, size_t input, const struct merge_part_end *end);

/* Once all inputs are at their ends: the requests that filters have excluded, and that no part of
 * their capture holds. A request that two parts hold counts twice. */
uint64_t merge_parts_filtered(const struct merge_parts *parts);

#endif
