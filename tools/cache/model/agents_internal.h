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

#define AGENTS_MATCH 64u /* words of a joint set that one match has */
#define AGENTS_WORDS 16u /* a joint set is a multiple: lines of the processor */

/* Where a line is. */
struct agents_found {
    uint64_t copies; /* the match of the first words, if these are all; else 0 */
    uint64_t own;    /* ways of the agent */
    bool elsewhere;  /* others may have it */
};

/* The words of a joint set, from a multiple of AGENTS_MATCH on, that hold the line. */
NARROW_INLINE uint64_t agents_match(const uint32_t *joint, size_t words, size_t from, uint32_t line)
{
    const size_t end = words - from < AGENTS_MATCH ? words : from + AGENTS_MATCH;
    uint64_t found = 0;
    for (size_t i = from; i < end; i += AGENTS_WORDS)
        found |= narrow_match(joint + i, AGENTS_WORDS, line | NARROW_VALID) << (i - from);
    return found;
}

/* ways: of the agent. line: address of the line. */
NARROW_INLINE struct agents_found agents_find(const struct cache *agent, const uint32_t *joint,
                                              size_t words, uint32_t ways, uint32_t line)
{
    const uint32_t offset = agent->joint_offset;
    if (words > AGENTS_MATCH)
        return (struct agents_found){.own = narrow_match(joint + offset, ways, line | NARROW_VALID),
                                     .elsewhere = true};
    uint64_t copies = narrow_match(joint, AGENTS_WORDS, line | NARROW_VALID);
    if (words > AGENTS_WORDS)
        copies |= narrow_match(joint + AGENTS_WORDS, AGENTS_WORDS, line | NARROW_VALID)
                  << AGENTS_WORDS;
    if (words > 2 * AGENTS_WORDS)
        copies |= agents_match(joint + 2 * AGENTS_WORDS, words - 2 * AGENTS_WORDS, 0, line)
                  << 2 * AGENTS_WORDS;
    const uint64_t own = copies >> offset & (~0ull >> (AGENTS_MATCH - ways));
    return (struct agents_found){copies, own, own << offset != copies};
}

/* Whether a reference involves other agents, or may. entry: that it hits, if it does. owns: 0 or 1.
 * A line that is modified is nowhere else. */
NARROW_INLINE bool agents_are_asked(const struct agents_found *found, uint32_t entry, uint32_t miss,
                                    uint32_t owns)
{
    _Static_assert((LINE_EXCLUSIVE & 1) == 0 && (LINE_MODIFIED & 1) == 0 &&
                       (LINE_SHARED & 1) == 1 && (LINE_OWNED & 1) == 1 && (LINE_FORWARD & 1) == 1,
                   "the low bit of a state means that other copies are allowed");
    const uint32_t shared = entry >> ENTRY_STATE_SHIFT & ~miss;
    return (found->elsewhere | shared) & (owns | miss) & 1; /* without branches */
}

/* A reference within one line, whose address is given, of an agent. set: of the agent. found:
 * where it is. what: MOVE_KINDS. owns: a write, or MEMREADINV that takes ownership. Requests to
 * level 2 are queued. Returns false, and does nothing, if accesses of lines are counted and it
 * involves other agents. */
bool agents_refer(struct cache *agent, uint32_t *set, const struct agents_found *found,
                  uint32_t line, unsigned what, bool owns);

/* Adds the events that were logged to the counters of their lines. */
void agents_count_events(struct hierarchy *hierarchy);

#endif
