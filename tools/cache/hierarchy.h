/*
 * Simulates a hierarchy of caches, one to three levels, for any number of processors, with or
 * without coherence between them. doc/cache-model.md says exactly what is simulated.
 */
#ifndef TOOLS_CACHE_HIERARCHY_H
#define TOOLS_CACHE_HIERARCHY_H

#include "formats/base/error.h"
#include "formats/record/record.h"
#include "formats/record/reference.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_LEVELS     3u
#define CACHE_PROCESSORS 256u

enum cache_side { CACHE_INSTRUCTION, CACHE_DATA, CACHE_SIDES }; /* unified: CACHE_INSTRUCTION */
enum cache_replacement { CACHE_LRU, CACHE_FIFO, CACHE_RANDOM, CACHE_PLRU };
enum cache_prefetch {
    CACHE_NO_PREFETCH,
    CACHE_PREFETCH_MISS,
    CACHE_PREFETCH_ALWAYS,
    CACHE_PREFETCH_TAGGED
};
enum cache_inclusion { CACHE_NEITHER, CACHE_INCLUSIVE, CACHE_EXCLUSIVE };
enum cache_coherence { CACHE_INCOHERENT, CACHE_MSI, CACHE_MESI, CACHE_MOESI };

/* One cache, or all those of one side of a level. */
struct cache_settings {
    uint64_t size;      /* bytes, a power of two times ways at least one line each */
    uint32_t line;      /* bytes, a power of two */
    uint32_t sub_block; /* bytes, a power of two; 0: the line */
    uint32_t ways;      /* 1: direct mapped; 0: fully associative */
    enum cache_replacement replacement;
    enum cache_prefetch prefetch;
    bool write_through;     /* else write back */
    bool no_write_allocate; /* else writes allocate */
    uint32_t victim_lines;  /* of its victim buffer; 0: none */
};

struct cache_level {
    bool split;  /* sides[] are the instruction and the data cache; else sides[0] is all */
    bool shared; /* one for all processors; else one for each */
    enum cache_inclusion inclusion;
    struct cache_settings sides[CACHE_SIDES];
};

struct hierarchy_settings {
    unsigned level_count; /* 1 to CACHE_LEVELS */
    struct cache_level levels[CACHE_LEVELS];
    enum cache_coherence coherence;
    bool honour_attributes;
    bool classify; /* split misses by kind: costs time and memory */
    bool no_flush; /* leave dirty lines at the end */
    uint64_t seed; /* of random replacement */
};

/* What happened in one cache. Arrays go by enum reference_kind. */
struct cache_counters {
    uint64_t references[REFERENCE_KINDS];  /* demand references, parts of split ones each */
    uint64_t misses[REFERENCE_KINDS];      /* of these */
    uint64_t line_misses[REFERENCE_KINDS]; /* misses where the line was not there at all */
    uint64_t prefetches[REFERENCE_KINDS];  /* made here, by the kind of what they are for */
    uint64_t prefetch_misses[REFERENCE_KINDS];
    uint64_t split;                       /* boundaries at which references were split */
    uint64_t compulsory[REFERENCE_KINDS]; /* demand misses by their kind, with classify */
    uint64_t capacity[REFERENCE_KINDS];
    uint64_t conflict[REFERENCE_KINDS];
    uint64_t true_sharing[REFERENCE_KINDS];
    uint64_t false_sharing[REFERENCE_KINDS];
    uint64_t victim_hits; /* misses that the victim buffer had */
    uint64_t fills;       /* references sent down to fill sub-blocks */
    uint64_t fill_bytes;
    uint64_t write_backs; /* runs of dirty sub-blocks written down, at the end too */
    uint64_t write_back_bytes;
    uint64_t write_throughs; /* writes passed on as they were */
    uint64_t write_through_bytes;
    uint64_t insertions;         /* lines taken from above (exclusive) */
    uint64_t back_invalidations; /* lines given up because a level below gave them up */
    /* of agents, with coherence */
    uint64_t invalidations;     /* copies lost to others' writes */
    uint64_t interventions;     /* lines supplied to others */
    uint64_t upgrades;          /* writes to a line that was shared or owned */
    uint64_t snoop_write_backs; /* lines written down because others asked for them */
};

/* What went to memory, and what came in. */
struct hierarchy_counters {
    uint64_t memory_references[REFERENCE_KINDS];
    uint64_t memory_bytes[REFERENCE_KINDS];
    uint64_t uncached[REFERENCE_KINDS];  /* past all caches; not in the above */
    uint64_t dropped[REQUEST_TYPES + 1]; /* records that are no references, by
                                            request_type_ordinal */
    uint64_t records;
};

/* One line's part in coherence, all agents together. */
struct cache_line_counters {
    uint32_t address; /* of the line's first byte */
    uint64_t invalidations;
    uint64_t interventions;
    uint64_t upgrades;
    uint64_t write_backs;  /* snoop write-backs */
    uint64_t true_sharing; /* misses, in the agents, with classify */
    uint64_t false_sharing;
};

struct hierarchy;

/*
 * Checks settings: 0, or BT_USAGE with a sentence that says what would be possible.
 * hierarchy_new checks too.
 */
int hierarchy_check(const struct hierarchy_settings *settings, struct bt_error *error);

/* Makes an empty hierarchy; *settings is copied. 0, BT_USAGE or BT_MEMORY. */
int hierarchy_new(struct hierarchy **hierarchy, const struct hierarchy_settings *settings,
                  struct bt_error *error);

/*
 * The same for a part, 0 to parts - 1, of the sets of all caches: every part is given all records,
 * and the counters of all parts added up (cache_counters_add, hierarchy_counters_add; lines are in
 * one part each) are those of the whole.
 */
int hierarchy_new_part(struct hierarchy **hierarchy, const struct hierarchy_settings *settings,
                       unsigned part, unsigned parts, struct bt_error *error);

/* Whether settings, which hierarchy_check has passed, can be simulated in parts: 0, or BT_USAGE
 * with a sentence that says why not. */
int hierarchy_check_parts(const struct hierarchy_settings *settings, struct bt_error *error);

/* In how many parts at most; more would be empty. 1: they can't be. */
unsigned hierarchy_parts_max(const struct hierarchy_settings *settings);

/* Adds the counters of another part. */
void cache_counters_add(struct cache_counters *counters, const struct cache_counters *more);
void hierarchy_counters_add(struct hierarchy_counters *counters,
                            const struct hierarchy_counters *more);

/* Frees it. NULL is allowed. */
void hierarchy_free(struct hierarchy *hierarchy);

/* Simulates records in their order. 0 or BT_MEMORY. */
int hierarchy_put(struct hierarchy *hierarchy, const struct record *records, size_t count,
                  struct bt_error *error);

/* Writes dirty lines back unless settings say no; once, behind the last record. 0 or BT_MEMORY. */
int hierarchy_end(struct hierarchy *hierarchy, struct bt_error *error);

/* Whether a processor id has made a reference, be it uncached. */
bool hierarchy_has_processor(const struct hierarchy *hierarchy, uint8_t processor);

/*
 * The counters of one cache: level 0 to level_count - 1; processor is ignored for shared levels,
 * side for unified ones. All zero where no reference ever came.
 */
struct cache_counters hierarchy_cache_counters(const struct hierarchy *hierarchy, unsigned level,
                                               uint8_t processor, enum cache_side side);
void hierarchy_counters(const struct hierarchy *hierarchy, struct hierarchy_counters *counters);

/*
 * The counters of lines that took part in coherence, in ascending order of address: *lines is
 * allocated, the caller frees it. 0 or BT_MEMORY.
 */
int hierarchy_lines(const struct hierarchy *hierarchy, struct cache_line_counters **lines,
                    size_t *count, struct bt_error *error);

#endif
