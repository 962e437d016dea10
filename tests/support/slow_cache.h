/*
 * A second simulator of doc/cache-model.md, slow and obvious, which tools/cache/hierarchy.h must
 * agree with in every counter. Its caches hold data: of each byte the number of the write that
 * wrote it, so that it can see whether a read gets what was written last.
 */
#ifndef TESTS_SUPPORT_SLOW_CACHE_H
#define TESTS_SUPPORT_SLOW_CACHE_H

#include "tools/cache/hierarchy.h"

struct slow_cache;

/* Settings must be good (hierarchy_check). NULL where they are too large for this simulator. */
struct slow_cache *slow_cache_new(const struct hierarchy_settings *settings);
void slow_cache_free(struct slow_cache *cache);

/* From now on what must always hold is checked after each record, not only what reads see. */
void slow_cache_watch(struct slow_cache *cache);

void slow_cache_put(struct slow_cache *cache, const struct record *records, size_t count);
void slow_cache_end(struct slow_cache *cache);

/* What must always hold and did not, first of all: one sentence, NULL if there is none. */
const char *slow_cache_broken(const struct slow_cache *cache);

/* How many reads were seen to get what was written last; others cannot (doc/cache-model.md promises
 * nothing). */
uint64_t slow_cache_reads_checked(const struct slow_cache *cache);

bool slow_cache_has_processor(const struct slow_cache *cache, uint8_t processor);
struct cache_counters slow_cache_cache_counters(const struct slow_cache *cache, unsigned level,
                                                uint8_t processor, enum cache_side side);
void slow_cache_counters(const struct slow_cache *cache, struct hierarchy_counters *counters);
/* The caller frees *lines. */
void slow_cache_lines(const struct slow_cache *cache, struct cache_line_counters **lines,
                      size_t *count);

#endif
