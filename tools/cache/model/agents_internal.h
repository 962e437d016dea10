/*
 * Coherent level 1 caches whose sets are simulated together: the sets of all agents with the same
 * number are neighbours in memory, so that a miss compares all lines of the other agents that can
 * be the wanted one at once. For hierarchies that are plain but for coherence (SHAPE_AGENTS).
 */
#ifndef TOOLS_CACHE_MODEL_AGENTS_INTERNAL_H
#define TOOLS_CACHE_MODEL_AGENTS_INTERNAL_H

#include "tools/cache/model/hierarchy_internal.h"

/* Joins the sets of all agents of a hierarchy anew, after one was added. 0, or -1 without memory.
 */
int agents_join(struct hierarchy *hierarchy);

/* Frees the joined sets, with the caches. */
void agents_free(struct hierarchy *hierarchy);

/* A reference of a record within one line of its agent, unless it hits the first way of the set in
 * a state that allows it. set: of the agent. owns: a write, or MEMREADINV that takes ownership.
 * Returns false, and does nothing, if accesses of lines are counted and it involves other agents.
 */
bool agents_refer(struct cache *agent, uint32_t *set, const struct record *record,
                  enum reference_kind kind, bool owns);

/* Adds the events that were logged to the counters of their lines. */
void agents_count_events(struct hierarchy *hierarchy);

#endif
