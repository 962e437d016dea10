/* Shared by the files of the slow simulator (slow_cache.h). Sections are those of
 * doc/cache-model.md. */
#ifndef TESTS_SUPPORT_SLOW_INTERNAL_H
#define TESTS_SUPPORT_SLOW_INTERNAL_H

#include "tests/support/slow_cache.h"
#include "tests/support/slow_map.h"

#define SLOW_UNKNOWN    UINT32_MAX /* a byte that no fill brought, though its sub-block is valid */
#define SLOW_PAGE_BYTES 256u

/* The state of a line that is not present is SLOW_INVALID. */
enum slow_state {
    SLOW_INVALID,
    SLOW_SHARED,
    SLOW_EXCLUSIVE,
    SLOW_OWNED,
    SLOW_MODIFIED,
    SLOW_FORWARD
};

struct slow_line {
    bool there;
    uint64_t number; /* address / line */
    uint64_t valid;  /* one bit per sub-block, also in the next two */
    uint64_t dirty;
    uint64_t tags; /* referenced by more than prefetches */
    uint64_t filled;
    uint64_t used;
    enum slow_state state; /* of agents only */
    unsigned age;          /* nru: 0 or 1; rrip: 0 to 3 */
    unsigned count;        /* lfu: uses */
    unsigned signature;    /* ship */
    bool reused;           /* ship */
    uint32_t *bytes;       /* for each byte the number of the write that wrote it */
};

/* History of a line that a cache lost to another's write. */
struct slow_loss {
    bool lost;
    uint64_t units; /* written by others since */
};

/* A line of the fully associative cache that separates conflict from capacity misses. */
struct slow_full_line {
    uint64_t number;
    uint64_t valid;
    uint64_t used; /* 0: empty */
};

/* The last fetch of a processor. */
struct slow_origin {
    bool known;
    uint32_t instruction;
};

/* What happens to a line, for the optimum. */
enum slow_happening { SLOW_REFERENCE, SLOW_FETCH, SLOW_LOSS };

struct slow_event {
    uint64_t number; /* of the line */
    enum slow_happening happening;
    enum reference_kind kind;
    bool missed; /* the cache did not have the line */
};

/* Tables of a prefetcher. */
struct slow_prefetcher {
    uint64_t time;
    struct slow_map pending; /* struct slow_pending by line */
    struct {
        bool there;
        uint64_t key;
        int64_t last, step;
        int confidence;
    } strides[256];
    struct {
        bool there;
        int64_t last, direction, count;
        uint64_t used;
    } streams[16];
    struct {
        bool there;
        uint64_t line, count, followers[4];
    } followed[4096];
    bool has_last;
    uint64_t last;
};

struct slow_pending {
    bool there;
    uint64_t time;
};

/* One cache. */
struct slow_store {
    unsigned level;
    uint8_t processor;
    enum cache_side side;
    struct cache_settings settings; /* with the effective sub_block and ways, never 0 */
    uint64_t sets;
    struct slow_line *lines;  /* sets * ways */
    uint64_t *random;         /* one state per set */
    bool *tree;               /* by set and node: node n (root 1) points to the upper half */
    unsigned selector;        /* drrip */
    unsigned outcomes[16384]; /* ship */
    const struct slow_origin *origin;
    struct slow_line *victims;
    uint32_t victim_count; /* the oldest first */
    uint64_t clock;
    struct cache_counters counters;
    struct slow_map losses;
    struct slow_map seen; /* mask of sub-blocks by line */
    struct slow_full_line *full;
    struct slow_store *own; /* fully associative, of the same policy */
    struct slow_prefetcher prefetcher;
    struct slow_event *events; /* with optimum */
    size_t event_count;
};

/* A reference on its way from the processor to memory. */
struct slow_reference {
    uint64_t address;
    uint64_t size;
    enum reference_kind kind;
    bool prefetch;
    bool for_write;    /* a read that allocates for a write, or that owns */
    bool whole;        /* for a processor's write of a whole line of the agent */
    bool owns;         /* for a MEMREADINV that takes ownership */
    uint8_t attribute; /* ATTRIBUTE_WRITE_BACK by default */
    uint8_t processor;
    enum cache_side side;
    uint64_t cause; /* address of the bytes that caused it: of the processor, or of a prefetch */
    uint64_t cause_size;
    uint32_t *bytes; /* written or read data; NULL: not needed */
    bool came_dirty; /* from an exclusive level */
};

/* The caches of a level, ordered by processor, then by side. */
struct slow_row {
    struct slow_store *stores[CACHE_PROCESSORS * CACHE_SIDES];
    unsigned count;
};

struct slow_cache {
    struct hierarchy_settings settings;
    struct slow_row rows[CACHE_LEVELS];
    bool processors[CACHE_PROCESSORS];
    struct slow_origin origins[CACHE_PROCESSORS];
    struct slow_origin origin; /* of the record that is simulated */
    unsigned processor_count;
    struct hierarchy_counters counters;
    struct slow_map lines;  /* struct cache_line_counters by line number of the agents */
    struct slow_map memory; /* pages: for each byte the number of the write that wrote it */
    struct slow_map newest; /* the same in a memory without caches */
    uint32_t writes;
    unsigned agents; /* level of the agents; level_count without coherence */
    uint64_t write_units;
    bool watch;
    bool reads_may_be_old;
    bool fetches_may_be_old;
    uint64_t reads_checked;
    char broken[200];
};

/* --- slow_cache.c: a part of a processor's reference, before and after level 1 works on it --- */
void slow_part_begins(struct slow_cache *cache, struct slow_reference *part);
void slow_part_ends(struct slow_cache *cache, const struct slow_reference *part);

/* --- slow_store.c: one cache's lines, "Hierarchy" and "Victim buffer" --- */
struct slow_store *slow_store_new(const struct hierarchy_settings *settings, unsigned level,
                                  uint8_t processor, enum cache_side side);
void slow_store_free(struct slow_store *store);
uint64_t slow_number(const struct slow_store *store, uint64_t address);
uint64_t slow_sub_blocks(const struct slow_store *store, uint64_t address, uint64_t size);
struct slow_line *slow_find(const struct slow_store *store, uint64_t number);
void slow_use(struct slow_store *store, struct slow_line *line);
/* Makes an empty line. The line that it replaces goes to *old (the caller owns its bytes). */
struct slow_line *slow_place(struct slow_store *store, uint64_t number, struct slow_line *old);
/* Takes a line out of the cache, with its bytes. */
struct slow_line slow_take(struct slow_line *line);
/* Takes a line out of the victim buffer; line->there is false if it is not in it. */
void slow_victim_take(struct slow_store *store, uint64_t number, struct slow_line *line);
/* Inserts *line as the newest; the line that drops out goes to *line. */
void slow_victim_put(struct slow_store *store, struct slow_line *line);

/* --- slow_replacement.c: "Replacement" and "Sets" --- */
uint64_t slow_set(const struct slow_store *store, uint64_t number);
void slow_replacement_make(struct slow_store *store, uint64_t seed);
/* A line is used, and filled. */
void slow_replacement_use(struct slow_store *store, struct slow_line *line);
void slow_replacement_fill(struct slow_store *store, struct slow_line *line);
/* The way to fill; a line in it is evicted. */
uint32_t slow_replacement_choose(struct slow_store *store, uint64_t set);

/* --- slow_prefetcher.c: "Prefetchers" --- */
bool slow_prefetcher_demand(struct slow_store *store, const struct slow_reference *part, bool miss);
/* The addresses to prefetch, 64 at most; returns their number. */
unsigned slow_prefetcher_train(struct slow_store *store, const struct slow_reference *part,
                               bool fresh, uint64_t addresses[64]);
/* Whether a line is to be prefetched; notes it as pending. */
bool slow_prefetcher_issue(struct slow_store *store, const struct slow_reference *part,
                           uint64_t address);
void slow_prefetcher_end(struct slow_cache *cache);

/* The next number of a generator: splitmix64, "Replacement". */
uint64_t slow_random(uint64_t *state);

/* --- slow_optimum.c: "The optimum" --- */
void slow_optimum_note(struct slow_cache *cache, struct slow_store *store, uint64_t number,
                       enum slow_happening happening, enum reference_kind kind);
void slow_optimum_end(struct slow_cache *cache);

/* --- slow_reference.c: "One reference to one cache", "Inclusion" --- */
struct slow_store *slow_store_for(struct slow_cache *cache, unsigned level, uint8_t processor,
                                  enum cache_side side);
void slow_refer(struct slow_cache *cache, unsigned level, struct slow_reference *reference);
/* Writes a line's runs to the next level, those at higher addresses first, and cleans it. */
void slow_write_runs(struct slow_cache *cache, struct slow_store *store, struct slow_line *line);
/* Invalidates the line in the caches above, and merges their dirty data into it; to_write: because
 * another cache writes. */
void slow_give_up_above(struct slow_cache *cache, const struct slow_store *store,
                        struct slow_line *line, bool to_write);

/* --- slow_snoop.c: "Coherence" --- */
bool slow_is_agent(const struct slow_cache *cache, const struct slow_store *store);
/* Before a fill goes down from an agent: returns true if another agent supplies it, in bytes[]. */
bool slow_snoop(struct slow_cache *cache, struct slow_store *agent,
                const struct slow_reference *part, uint32_t *bytes);
/* Before a processor's write to a part in one line. */
void slow_own(struct slow_cache *cache, const struct slow_reference *part);
/* Before an uncacheable reference to a part in one line. */
void slow_uncached(struct slow_cache *cache, const struct slow_reference *part);
/* Automatic coherence begins. */
void slow_become_coherent(struct slow_cache *cache);
/* The level of the agents; level_count without coherence. */
unsigned slow_agents_level(const struct hierarchy_settings *settings);

/* --- slow_kinds.c: "Kinds of misses" --- */
void slow_classify(struct slow_cache *cache, struct slow_store *store,
                   const struct slow_reference *part, bool miss);
uint64_t slow_units(const struct slow_store *store, uint64_t address, uint64_t size);
void slow_lost(struct slow_cache *cache, struct slow_store *store, uint64_t number);
void slow_came(struct slow_store *store, uint64_t number);
struct cache_line_counters *slow_line_counters(struct slow_cache *cache, uint64_t number);

/* --- slow_check.c: invariants --- */
void slow_check(struct slow_cache *cache);
void slow_check_memory(struct slow_cache *cache);
void slow_complain(struct slow_cache *cache, const char *what, uint64_t address);
uint32_t *slow_byte(struct slow_map *pages, uint64_t address);

#endif
