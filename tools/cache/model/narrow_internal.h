/* References to narrow caches of level 1, in a plain hierarchy (SHAPE_NARROW) or as agents
 * (SHAPE_AGENTS), in batches. */
#ifndef TOOLS_CACHE_MODEL_NARROW_INTERNAL_H
#define TOOLS_CACHE_MODEL_NARROW_INTERNAL_H

#include "tools/cache/model/hierarchy_internal.h"

/* Simulates records up to the first one that is not such a reference; returns their number.
 * Requests to level 2 stay queued, and moves are not counted (requests_internal.h). */
size_t narrow_put(struct hierarchy *hierarchy, const struct record *records, size_t count);

#endif
