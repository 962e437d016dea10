/*
 * A second, slow and obvious simulator of doc/cache-model.md, which tools/cache/model/hierarchy.h
 * must match in every counter. Its caches hold data: for each byte the number of the write that
 * wrote it, to check that a read gets the newest data.
 */
#ifndef TESTS_SUPPORT_SLOW_CACHE_H
#define TESTS_SUPPORT_SLOW_CACHE_H

#include "tools/cache/model/hierarchy.h"

struct slow_cache;

/* Settings must be valid (hierarchy_check). NULL if they are too large for this simulator. */
struct slow_cache *slow_cache_new(const struct hierarchy_settings *settings);
void slow_cache_free(struct slow_cache *cache);

/* Checks all invariants after each record, not only the data of reads. */
void slow_cache_watch(struct slow_cache *cache);

void slow_cache_put(struct slow_cache *cache, const struct record *records, size_t count);
void slow_cache_end(struct slow_cache *cache);

/* The first invariant that was broken, as one sentence; NULL if none was. */
const char *slow_cache_broken(const struct slow_cache *cache);

/* Number of reads checked for the newest data; doc/cache-model.md promises nothing for others. */
uint64_t slow_cache_reads_checked(const struct slow_cache *cache);

bool slow_cache_has_processor(const struct slow_cache *cache, uint8_t processor);
struct cache_counters slow_cache_cache_counters(const struct slow_cache *cache, unsigned level,
                                                uint8_t processor, enum cache_side side);
void slow_cache_counters(const struct slow_cache *cache, struct hierarchy_counters *counters);
/* The caller frees *lines. */
void slow_cache_lines(const struct slow_cache *cache, struct cache_line_counters **lines,
                      size_t *count);

#endif
