/* Simulates a cache hierarchy of one to four levels for any number of processors, with or without
 * coherence. doc/cache-model.md is the exact definition. */
#ifndef TOOLS_CACHE_MODEL_HIERARCHY_H
#define TOOLS_CACHE_MODEL_HIERARCHY_H

#include "formats/base/error.h"
#include "formats/record/record.h"
#include "formats/record/reference.h"
#include "tools/cache/model/line_accesses.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_LEVELS         4u
#define CACHE_PROCESSORS     256u
#define CACHE_SAMPLE_GROUPS  64u /* of sets, of which the optimum is counted in some */
#define CACHE_SAMPLE_COUNTED 8u

enum cache_side {
    CACHE_INSTRUCTION,
    CACHE_DATA,
    CACHE_SIDES
}; /* a unified cache uses this index */
enum cache_replacement {
    CACHE_LRU,
    CACHE_FIFO,
    CACHE_RANDOM,
    CACHE_PLRU,
    CACHE_NRU,
    CACHE_SRRIP,
    CACHE_BRRIP,
    CACHE_DRRIP,
    CACHE_SHIP,
    CACHE_LFU,
    CACHE_REPLACEMENTS
};
enum cache_hash { CACHE_HASH_NONE, CACHE_HASH_XOR };
enum cache_prefetch {
    CACHE_NO_PREFETCH,
    CACHE_PREFETCH_MISS,
    CACHE_PREFETCH_ALWAYS,
    CACHE_PREFETCH_TAGGED
};
enum cache_prefetcher {
    CACHE_NO_PREFETCHER,
    CACHE_NEXT_LINE,
    CACHE_STRIDE,
    CACHE_STREAM,
    CACHE_MARKOV,
    CACHE_PREFETCHERS
};
enum cache_inclusion { CACHE_NEITHER, CACHE_INCLUSIVE, CACHE_EXCLUSIVE };
enum cache_coherence {
    CACHE_INCOHERENT,
    CACHE_MSI,
    CACHE_MESI,
    CACHE_MOESI,
    CACHE_MESIF,
    CACHE_PROTOCOLS
};

/* One cache, or all caches of one side of a level. */
struct cache_settings {
    uint64_t size;      /* in bytes, a multiple of ways lines */
    uint32_t line;      /* in bytes, a power of two */
    uint32_t sub_block; /* in bytes, a power of two; 0: a whole line */
    uint32_t ways;      /* 1: direct mapped; 0: fully associative */
    enum cache_replacement replacement;
    enum cache_hash hash; /* of line numbers, to sets */
    enum cache_prefetch prefetch;
    enum cache_prefetcher prefetcher;
    uint32_t prefetch_degree;   /* lines that it prefetches at once; with a prefetcher 1 or more */
    uint32_t prefetch_distance; /* steps to the first of them; the same */
    uint32_t prefetch_page;     /* bytes, which it does not leave; 0: no limit */
    uint32_t prefetch_latency;  /* demand references that a prefetch takes */
    bool write_through;         /* false: write-back */
    bool no_write_allocate;     /* false: write-allocate */
    uint32_t victim_lines;      /* lines of the victim buffer; 0: none */
};

struct cache_level {
    bool split;  /* sides[] are the instruction and the data cache; false: sides[0] is a unified
                    cache */
    bool shared; /* one cache for all processors; false: one for each */
    enum cache_inclusion inclusion;
    uint32_t latency; /* of a hit, in cycles; 0: not given */
    struct cache_settings sides[CACHE_SIDES];
};

struct hierarchy_settings {
    unsigned level_count; /* 1 to CACHE_LEVELS */
    struct cache_level levels[CACHE_LEVELS];
    enum cache_coherence coherence;
    bool automatic_coherence; /* incoherent until a second processor occurs, then MESI */
    bool plain_readinv; /* MEMREADINV is a plain read; false: with coherence it takes ownership */
    bool honour_attributes;
    bool classify;           /* count misses by kind; costs time and memory */
    bool optimum;            /* count the misses of Belady's optimum; costs time and memory */
    bool accesses;           /* with coherence, count who accesses lines with traffic */
    bool optimum_sample;     /* without optimum: count them in caches of few sets, of the others
                                in a sample of the sets */
    bool no_flush;           /* do not write back dirty lines at the end */
    uint64_t seed;           /* seed of random numbers of replacement */
    uint32_t memory_latency; /* in cycles; 0: not given */
};

/* Counters of one cache. Arrays are indexed by enum reference_kind. */
struct cache_counters {
    uint64_t references[REFERENCE_KINDS]; /* demand references; each part of a split one counts */
    uint64_t misses[REFERENCE_KINDS];     /* demand misses */
    uint64_t
        line_misses[REFERENCE_KINDS]; /* demand misses of absent lines, without sub-block misses */
    uint64_t prefetches[REFERENCE_KINDS]; /* prefetches issued by this cache, by the kind of
                                             reference that triggered them */
    uint64_t prefetch_misses[REFERENCE_KINDS];
    uint64_t split;                       /* line boundaries at which references were split */
    uint64_t compulsory[REFERENCE_KINDS]; /* demand misses by kind of miss, with classify */
    uint64_t capacity[REFERENCE_KINDS];
    uint64_t conflict[REFERENCE_KINDS];
    uint64_t own_capacity[REFERENCE_KINDS]; /* those of capacity and conflict, divided by a fully */
    uint64_t own_conflict[REFERENCE_KINDS]; /* associative cache of the cache's own policy */
    uint64_t true_sharing[REFERENCE_KINDS];
    uint64_t false_sharing[REFERENCE_KINDS];
    uint64_t optimum_misses[REFERENCE_KINDS]; /* demand line misses of the optimum, in the sets
                                                 where it is counted */
    /* with a sample: those in the groups of it, those of the cache in each group, and the lines
       that the cache had in each group when counting began */
    uint64_t sample_optimum[CACHE_SAMPLE_COUNTED][REFERENCE_KINDS];
    uint64_t sample_misses[CACHE_SAMPLE_GROUPS];
    uint64_t sample_held[CACHE_SAMPLE_GROUPS];
    uint64_t
        prefetch_covered;   /* prefetched lines whose first use came in time, with a prefetcher */
    uint64_t prefetch_late; /* whose first use came too early */
    uint64_t prefetch_useless; /* that were lost without a use */
    uint64_t victim_hits;      /* misses served by the victim buffer */
    uint64_t fills;            /* references sent down to fill sub-blocks */
    uint64_t fill_bytes;
    uint64_t write_backs; /* runs of dirty sub-blocks written back, including those at the end */
    uint64_t write_back_bytes;
    uint64_t write_throughs; /* writes passed down unchanged */
    uint64_t write_through_bytes;
    uint64_t insertions;         /* lines received from above (exclusive) */
    uint64_t back_invalidations; /* lines invalidated because a level below evicted them */
    /* counters of agents, with coherence */
    uint64_t invalidations;            /* copies invalidated by others' writes */
    uint64_t interventions;            /* lines supplied to other agents */
    uint64_t upgrades;                 /* writes to a line that was shared, forward or owned */
    uint64_t snoop_write_backs;        /* lines written back because another agent requested them */
    uint64_t clean_interventions;      /* of the interventions: lines that were E or F */
    uint64_t intervention_bytes;       /* of lines supplied as M or O */
    uint64_t clean_intervention_bytes; /* of lines supplied as E or F */
    uint64_t received;                 /* lines that another agent supplied to this one */
    /* fills with SHiP, by what signs them */
    uint64_t signed_by_instruction;
    uint64_t signed_by_region;
};

/* Memory traffic, and records that are not references. */
struct hierarchy_counters {
    uint64_t memory_references[REFERENCE_KINDS];
    uint64_t memory_bytes[REFERENCE_KINDS];
    uint64_t uncached[REFERENCE_KINDS]; /* references that bypass all caches; not included above */
    uint64_t write_combining[REFERENCE_KINDS]; /* those of them to write combining memory */
    uint64_t
        dropped[REQUEST_TYPES + 1]; /* records that are not references, by request_type_ordinal */
    uint64_t records;
};

struct hierarchy;

/* Checks settings. 0, or BT_USAGE with a message that names the allowed values. hierarchy_new
 * checks too. */
int hierarchy_check(const struct hierarchy_settings *settings, struct bt_error *error);

/* Makes an empty hierarchy; *settings is copied. 0, BT_USAGE or BT_MEMORY. */
int hierarchy_new(struct hierarchy **hierarchy, const struct hierarchy_settings *settings,
                  struct bt_error *error);

/*
 * Makes one part, 0 to parts - 1, of a hierarchy whose sets are divided among `parts`. Every part
 * gets all records, or those that may touch its classes of sets (hierarchy_classes) and the first
 * reference of each processor; part 0 also gets those that are no references. The counters of all
 * parts added up (cache_counters_add, hierarchy_counters_add) are those of the undivided hierarchy;
 * each line belongs to one part.
 */
int hierarchy_new_part(struct hierarchy **hierarchy, const struct hierarchy_settings *settings,
                       unsigned part, unsigned parts, struct bt_error *error);

/* Whether a hierarchy of checked settings can be divided into parts: 0, or BT_USAGE with the
 * reason. */
int hierarchy_check_parts(const struct hierarchy_settings *settings, struct bt_error *error);

/* Maximum number of parts; 1: the sets cannot be divided. */
unsigned hierarchy_parts_max(const struct hierarchy_settings *settings);

/* The class of an address' sets is address >> shift & mask: it belongs to part (class % parts). */
void hierarchy_classes(const struct hierarchy_settings *settings, unsigned *shift, uint32_t *mask);

/* Counts records that part 0 did not get; has no effect on other parts. */
void hierarchy_count_records(struct hierarchy *hierarchy, uint64_t count);

/* Whether references to a hierarchy of checked settings take little longer than to read them: all
 * caches are plain LRU caches, without coherence at first. */
bool hierarchy_is_quick(const struct hierarchy_settings *settings);

/* Adds the counters of another part. */
void cache_counters_add(struct cache_counters *counters, const struct cache_counters *more);
/* Takes off the counters of an earlier moment. */
void cache_counters_subtract(struct cache_counters *counters, const struct cache_counters *less);
void hierarchy_counters_add(struct hierarchy_counters *counters,
                            const struct hierarchy_counters *more);

/* hierarchy may be NULL. */
void hierarchy_free(struct hierarchy *hierarchy);

/* Simulates records in their order. 0 or BT_MEMORY. */
int hierarchy_put(struct hierarchy *hierarchy, const struct record *records, size_t count,
                  struct bt_error *error);

/*
 * Executions of blocks, in place of their records: only where hierarchy_takes_executions(), with
 * the same counters. NULL and *error without memory; 0 or BT_MEMORY. The hierarchy must outlive
 * them.
 */
struct block_executions;
struct hierarchy_blocks;
bool hierarchy_takes_executions(const struct hierarchy *hierarchy);
struct hierarchy_blocks *hierarchy_blocks_new(struct hierarchy *hierarchy, struct bt_error *error);
void hierarchy_blocks_free(struct hierarchy_blocks *blocks);
int hierarchy_put_executions(struct hierarchy_blocks *blocks,
                             const struct block_executions *executions, struct bt_error *error);

/* Sets all counters to zero, those of lines included. The caches keep their lines, and the
 * classification of misses its history. */
void hierarchy_reset_counters(struct hierarchy *hierarchy);

/* The settings that the hierarchy was made with; ways and sub-blocks are numbers above 0. Valid as
 * long as the hierarchy. */
const struct hierarchy_settings *hierarchy_settings_of(const struct hierarchy *hierarchy);

/* Writes back dirty lines unless settings->no_flush. Call once, after the last record. 0 or
 * BT_MEMORY. */
int hierarchy_end(struct hierarchy *hierarchy, struct bt_error *error);

/* The protocol in use: that of the settings, or MESI if automatic_coherence has chosen it. */
enum cache_coherence hierarchy_coherence(const struct hierarchy *hierarchy);

/* The sets of a cache of checked settings. */
uint32_t hierarchy_sets(const struct cache_settings *cache);

/* Whether a fully associative cache of a cache's own policy is possible, and not LRU. */
bool hierarchy_has_own_kinds(const struct hierarchy_settings *settings, unsigned level,
                             enum cache_side side);

/* Whether the optimum of a cache is sampled: with optimum_sample, if it has CACHE_SAMPLE_GROUPS
 * sets or more. Of fewer sets all are counted. */
bool hierarchy_samples_optimum(const struct hierarchy_settings *settings, unsigned level,
                               enum cache_side side);

/* Whether a processor has made any reference, cached or uncached. */
bool hierarchy_has_processor(const struct hierarchy *hierarchy, uint8_t processor);

/* Counters of one cache, level 0 to level_count - 1. processor is ignored for a shared level, side
 * for a unified one. All zero if the cache has had no reference. */
struct cache_counters hierarchy_cache_counters(const struct hierarchy *hierarchy, unsigned level,
                                               uint8_t processor, enum cache_side side);
/* The demand misses of each level in the caches that a processor uses: those below level_count are
 * 0. Other processors' references to a shared level count, too. */
void hierarchy_misses(const struct hierarchy *hierarchy, uint8_t processor,
                      uint64_t misses[CACHE_LEVELS]);
void hierarchy_counters(const struct hierarchy *hierarchy, struct hierarchy_counters *counters);

/* Coherence counters of lines, in ascending order of address. The caller frees *lines. 0 or
 * BT_MEMORY. */
int hierarchy_lines(const struct hierarchy *hierarchy, struct cache_line_counters **lines,
                    size_t *count, struct bt_error *error);

/* Accesses of these lines, with settings->accesses, as line_accesses_take; *least as
 * line_accesses_least. The caller frees *rows. 0 or BT_MEMORY. */
int hierarchy_accesses(const struct hierarchy *hierarchy, struct line_access **rows, size_t *count,
                       uint64_t *least, struct bt_error *error);

#endif
