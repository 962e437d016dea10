/* What the files of the slow simulator (slow_cache.h) share. Sections are those of
 * doc/cache-model.md. */
#ifndef TESTS_SUPPORT_SLOW_INTERNAL_H
#define TESTS_SUPPORT_SLOW_INTERNAL_H

#include "tests/support/slow_cache.h"
#include "tests/support/slow_map.h"

#define SLOW_UNKNOWN    UINT32_MAX /* a byte that nobody brought, though its sub-block is valid */
#define SLOW_PAGE_BYTES 256u

/* Invalid is a line that is not there. */
enum slow_state { SLOW_INVALID, SLOW_SHARED, SLOW_EXCLUSIVE, SLOW_OWNED, SLOW_MODIFIED };

struct slow_line {
    bool there;
    uint64_t number; /* address / line */
    uint64_t valid;  /* a bit for each sub-block, as the next two */
    uint64_t dirty;
    uint64_t tags; /* touched by a reference that was no prefetch */
    uint64_t filled;
    uint64_t used;
    enum slow_state state; /* in agents */
    uint32_t *bytes;       /* the number of the write that wrote each */
};

/* What a cache knows of a line that it lost to another's write. */
struct slow_loss {
    bool lost;
    uint64_t units; /* written by others since */
};

/* A line of the fully associative cache that tells conflict from capacity. */
struct slow_full_line {
    uint64_t number;
    uint64_t valid;
    uint64_t used; /* 0: none there */
};

/* One cache. */
struct slow_store {
    unsigned level;
    uint8_t processor;
    enum cache_side side;
    struct cache_settings settings; /* sub_block and ways as they are, never 0 */
    uint64_t sets;
    struct slow_line *lines; /* sets * ways */
    uint64_t *random;        /* a state for each set */
    uint64_t *tree;          /* bit n: node n (root 1) points to the upper half */
    struct slow_line *victims;
    uint32_t victim_count; /* the oldest first */
    uint64_t clock;
    struct cache_counters counters;
    struct slow_map losses;
    struct slow_map seen; /* masks of sub-blocks by line */
    struct slow_full_line *full;
};

/* A reference on its way from the processor to memory. */
struct slow_reference {
    uint64_t address;
    uint64_t size;
    enum reference_kind kind;
    bool prefetch;
    bool for_write;    /* a read to allocate for a write */
    uint8_t attribute; /* ATTRIBUTE_WRITE_BACK: ordinary */
    uint8_t processor;
    enum cache_side side;
    uint64_t cause; /* the bytes which it is made for: by the processor, or a prefetch */
    uint64_t cause_size;
    uint32_t *bytes; /* of a write what it writes; of others what they get; NULL: nobody cares */
    bool came_dirty; /* out of an exclusive level */
};

/* The caches of a level, by processor, in it by side. */
struct slow_row {
    struct slow_store *stores[CACHE_PROCESSORS * CACHE_SIDES];
    unsigned count;
};

struct slow_cache {
    struct hierarchy_settings settings;
    struct slow_row rows[CACHE_LEVELS];
    bool processors[CACHE_PROCESSORS];
    unsigned processor_count;
    struct hierarchy_counters counters;
    struct slow_map lines;  /* struct cache_line_counters by number of the agents' line */
    struct slow_map memory; /* pages of bytes: the write that wrote each */
    struct slow_map newest; /* the same as a memory without caches would have it */
    uint32_t writes;
    unsigned agents; /* their level; level_count without coherence */
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
/* Makes an empty line; what was in its way comes out in *old (its bytes are the caller's). */
struct slow_line *slow_place(struct slow_store *store, uint64_t number, struct slow_line *old);
/* Takes a line out of the cache, with its bytes. */
struct slow_line slow_take(struct slow_line *line);
/* Takes a line out of the victim buffer; *line is not there where it was not. */
void slow_victim_take(struct slow_store *store, uint64_t number, struct slow_line *line);
/* Puts *line in as its newest; what it drops comes out in *line. */
void slow_victim_put(struct slow_store *store, struct slow_line *line);

/* --- slow_reference.c: "One reference to one cache", "Inclusion" --- */
struct slow_store *slow_store_for(struct slow_cache *cache, unsigned level, uint8_t processor,
                                  enum cache_side side);
void slow_refer(struct slow_cache *cache, unsigned level, struct slow_reference *reference);
/* Writes a line's runs down, those at higher addresses first, and makes it clean. */
void slow_write_runs(struct slow_cache *cache, struct slow_store *store, struct slow_line *line);
/* Caches above give up a line, and make it dirty if they have it so; to_write: to another's write.
 */
void slow_give_up_above(struct slow_cache *cache, const struct slow_store *store,
                        struct slow_line *line, bool to_write);

/* --- slow_snoop.c: "Coherence" --- */
bool slow_is_agent(const struct slow_cache *cache, const struct slow_store *store);
/* Before a fill goes down from an agent: true if it needs not, the bytes are then in bytes[]. */
bool slow_snoop(struct slow_cache *cache, struct slow_store *agent, uint64_t number, bool write,
                uint32_t *bytes);
/* A processor's write to a part in one line, before all else. */
void slow_own(struct slow_cache *cache, const struct slow_reference *part);

/* --- slow_kinds.c: "Kinds of misses" --- */
void slow_classify(struct slow_cache *cache, struct slow_store *store,
                   const struct slow_reference *part, bool miss);
uint64_t slow_units(const struct slow_store *store, uint64_t address, uint64_t size);
void slow_lost(struct slow_cache *cache, struct slow_store *store, uint64_t number);
void slow_came(struct slow_store *store, uint64_t number);
struct cache_line_counters *slow_line_counters(struct slow_cache *cache, uint64_t number);

/* --- slow_check.c: what must always hold --- */
void slow_check(struct slow_cache *cache);
void slow_check_memory(struct slow_cache *cache);
void slow_complain(struct slow_cache *cache, const char *what, uint64_t address);
uint32_t *slow_byte(struct slow_map *pages, uint64_t address);

#endif
