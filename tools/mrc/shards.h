/*
 * Spatial sampling of a fixed number of lines (SHARDS, Waldspurger et al., FAST 2015): the lines
 * with the smallest hashes are followed. When there are too many, the one with the largest hash is
 * forgotten, and its hash becomes the limit below which lines are sampled (sample.h).
 */
#ifndef TOOLS_MRC_SHARDS_H
#define TOOLS_MRC_SHARDS_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define SHARDS_LINES_MAX (1u << 24)
#define SHARDS_COLD      UINT64_MAX /* distance of a line that is not followed */

struct shards;

/* Follows at most `lines` lines, 1 to SHARDS_LINES_MAX. NULL and *error without memory. */
struct shards *shards_new(uint32_t lines, struct bt_error *error);
void shards_free(struct shards *shards);

/* The limit, SAMPLE_ALL at first: a share of limit / SAMPLE_ALL of all lines is sampled. */
uint64_t shards_limit(const struct shards *shards);

/*
 * References a line whose hash is below the limit. *distance becomes the number of followed lines
 * that were referenced since its last reference, or SHARDS_COLD. May lower the limit. 0 or
 * BT_MEMORY.
 */
int shards_reference(struct shards *shards, uint32_t line, uint64_t *distance,
                     struct bt_error *error);

#endif
