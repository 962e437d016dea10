/*
 * Value locality: how many values of each instruction of a trace three predictors say right. Each
 * has a table for each instruction. doc/wet.md, "Value locality".
 */
#ifndef TOOLS_WET_WET_LOCALITY_H
#define TOOLS_WET_WET_LOCALITY_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WET_LOCALITY_ORDER 3u  /* values of a context */
#define WET_LOCALITY_BYTES 64u /* of memory for a context, at most */

enum wet_predictor {
    WET_PREDICTOR_LAST,
    WET_PREDICTOR_STRIDE,
    WET_PREDICTOR_CONTEXT,
    WET_PREDICTOR_ANY, /* at least one of them */
    WET_PREDICTOR_COUNT
};

/* Values, and how many of them each predictor said. */
struct wet_locality_counts {
    uint64_t values;
    uint64_t right[WET_PREDICTOR_COUNT];
};

/* An instruction. */
struct wet_locality_of {
    struct wet_locality_counts counts;
    uint64_t values[WET_LOCALITY_ORDER]; /* the last ones, the latest first */
};

struct wet_locality_context;

/* Private but for of[]. */
struct wet_locality {
    struct wet_locality_of *of; /* by id */
    struct wet_locality_context *contexts;
    size_t size, count, limit;
    uint64_t lost; /* contexts that were not kept */
};

/* ids: number of instructions plus 1; limit: number of contexts that are kept. The struct need not
 * be initialized. 0 or BT_MEMORY; clear it in either case. */
int wet_locality_init(struct wet_locality *locality, size_t ids, size_t limit);
void wet_locality_clear(struct wet_locality *locality);

/* The next value of an instruction, of 1 to 64 bytes. 0 or BT_MEMORY. */
int wet_locality_add(struct wet_locality *locality, uint32_t id, const uint8_t *value,
                     unsigned size);

#endif
