/*
 * Requests of narrow plain caches to the levels below. They are queued, and made for one level
 * after the other: no cache here depends on what a lower one finds. This separates the loops, which
 * have no branches that depend on hits, and keeps the sets of one level in the host's caches.
 *
 * A request is an integer: the address of a line above cache->fill_request or cache->write_request,
 * which have the number of the level 1 cache that it comes from (processor and side), and its kind
 * (MOVE_KINDS).
 */
#ifndef TOOLS_CACHE_MODEL_REQUESTS_INTERNAL_H
#define TOOLS_CACHE_MODEL_REQUESTS_INTERNAL_H

#include "tools/cache/model/hierarchy_internal.h"

#define REQUEST_KIND         3u
#define REQUEST_NUMBER_SHIFT 16
#define REQUESTS_OF_ONE      4u /* one reference causes fewer at any level */

/* Prepares a cache whose `below` is known. */
void requests_prepare(struct cache *cache);

/* Makes all queued requests to a level, 1 or more, and those that they cause. */
void requests_make(struct hierarchy *hierarchy, unsigned level);

/* Makes all queued requests; must precede references outside the fast path. */
static inline void requests_finish(struct hierarchy *hierarchy)
{
    if (hierarchy->queues[1].count > 0)
        requests_make(hierarchy, 1);
}

/* Adds the moves of all caches to their counters. */
void requests_count(struct hierarchy *hierarchy);

/* A cache of level 1 writes back a line because of another one. */
void requests_write_back(struct cache *cache, uint32_t line);

/* Queues what a cache asks of the level below: the line unless `whole`, and a write-back. Returns
 * the new number of requests. */
NARROW_INLINE unsigned request_below(uint64_t *requests, unsigned count, const struct cache *cache,
                                     uint32_t line, uint32_t fill_kind, uint32_t fills,
                                     uint32_t replaced, uint32_t writes_back)
{
    requests[count] = (uint64_t)line << 32 | cache->fill_request | fill_kind;
    count += fills;
    requests[count] = (uint64_t)(replaced & ~NARROW_FLAGS) << 32 | cache->write_request;
    return count + writes_back;
}

#endif
