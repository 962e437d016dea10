/*
 * Inside the simulator: caches, and what they ask of each other. The steps are those of
 * doc/cache-model.md.
 */
#ifndef TOOLS_CACHE_HIERARCHY_INTERNAL_H
#define TOOLS_CACHE_HIERARCHY_INTERNAL_H

#include "tools/cache/hierarchy.h"
#include "tools/cache/line_store.h"
#include "tools/cache/line_values.h"

struct classifier;
struct victim_buffer;

/* What one cache is asked for. */
struct cache_reference {
    uint32_t address;
    uint32_t bytes; /* at least 1; may cross lines, and 2^32 */
    enum reference_kind kind;
    bool prefetch;
    bool through;           /* a write with attribute 1 or 2, which are honoured */
    bool protected;         /* attribute 2 */
    uint32_t cause_address; /* the bytes above that caused it; itself where nothing did */
    uint32_t cause_bytes;
};

struct cache {
    struct hierarchy *hierarchy;
    const struct cache_settings *settings;
    unsigned level;
    unsigned processor;
    enum cache_side side;
    enum cache_inclusion inclusion;
    uint32_t sub_block;
    bool agent;
    bool plain;             /* and so are all below (fast.c) */
    bool early_write_backs; /* before fills: above an inclusive level */
    bool always_fills;      /* also for writes that cover all: above an exclusive level, too */
    struct line_store lines;
    struct cache *below;          /* NULL: memory */
    struct cache *above;          /* the first of those above it, */
    struct cache *next;           /* and the next one that stands above the same cache */
    struct victim_buffer *victim; /* or NULL */
    struct classifier *classifier;
    struct cache_counters counters;
};

/* The caches of level 1 that a processor's references come to, and its agent for data. */
struct processor {
    struct cache *first[CACHE_SIDES];
    struct cache *data_agent; /* NULL: no coherence */
};

/* Which references can be done quickly (fast.c). */
enum hierarchy_shape { SHAPE_ANY, SHAPE_QUICK_HITS, SHAPE_AGENTS, SHAPE_PLAIN, SHAPE_PLAIN_DIRECT };

struct hierarchy {
    enum hierarchy_shape shape;
    struct hierarchy_settings settings; /* ways and sub_block never 0 */
    struct cache *caches[CACHE_LEVELS][CACHE_PROCESSORS][CACHE_SIDES];
    struct processor processors[CACHE_PROCESSORS];
    bool occurs[CACHE_PROCESSORS];
    unsigned agent_level;
    struct cache *agents[CACHE_PROCESSORS * CACHE_SIDES];
    unsigned agent_count;
    const struct cache *writer;         /* the agent whose processor writes now, or NULL */
    uint32_t written;                   /* the line that it writes */
    struct line_values lines;           /* struct cache_line_counters */
    struct cache_line_counters no_line; /* where there is no memory for one */
    bool no_memory;                     /* some table could not grow: counters are wrong */
    uint32_t class_mask;                /* of the address, for a part: only these classes of sets */
    unsigned class_shift;
    unsigned part, parts;
    struct hierarchy_counters counters;
};

/* The address of the first byte of a cache's line. */
static inline uint32_t cache_line_address(const struct cache *cache, uint32_t address)
{
    return address >> cache->lines.line_shift << cache->lines.line_shift;
}

/* Whether the sets of an address are this part's. */
static inline bool hierarchy_is_mine(const struct hierarchy *hierarchy, uint32_t address)
{
    return hierarchy->parts == 1 ||
           (address >> hierarchy->class_shift & hierarchy->class_mask) % hierarchy->parts ==
               hierarchy->part;
}

/* --- fast.c --- */

/* The shape of a hierarchy, of which ways and sub_block are never 0. */
enum hierarchy_shape hierarchy_shape_of(const struct hierarchy_settings *settings);

/* Whether a cache, and all below it, are plain. */
bool hierarchy_is_plain(const struct hierarchy_settings *settings, unsigned level, unsigned side);

/* A reference that lies in one line, to a plain cache or to memory (NULL). */
void cache_refer_plain(struct hierarchy *hierarchy, struct cache *cache, uint32_t address,
                       uint32_t bytes, enum reference_kind kind);

/* Simulates records up to the first that is not to be done quickly; returns how many. */
size_t hierarchy_put_quickly(struct hierarchy *hierarchy, const struct record *records,
                             size_t count);

/* --- references.c --- */

/* Works on a reference, wherever it goes; cache NULL is memory. Whether a fill's line came dirty.
 */
bool cache_refer(struct hierarchy *hierarchy, struct cache *cache,
                 const struct cache_reference *reference);

/* The same for one that lies in one line of cache. */
bool cache_refer_part(struct cache *cache, const struct cache_reference *reference);

/* Writes the dirty sub-blocks of a line to the level below, higher addresses first. */
void cache_write_back(struct cache *cache, const struct cache_line *line);

/* Disposes of a line that replacement took: written back, or inserted below. */
void cache_dispose(struct cache *cache, const struct cache_line *line);

/* --- inclusion.c --- */

/* An inclusive cache gives a line up: so do all above, whose dirtiness comes into *line. */
void inclusion_give_up(struct cache *cache, struct cache_line *line);

/*
 * Takes a range that lies in one line of the cache below out of all caches above it. written:
 * another agent's write takes it (doc/cache-model.md, "Kinds of misses"). Whether any was dirty.
 */
bool inclusion_invalidate_above(struct cache *cache, uint32_t address, uint32_t bytes,
                                bool written);

/* A reference to an exclusive level, and a line that comes from above. */
bool exclusive_refer(struct cache *cache, const struct cache_reference *reference);
void exclusive_insert(struct cache *cache, uint32_t address, bool dirty);

/* --- coherence.c --- */

/* The question of ownership, before a write to a line; through: attribute 1 or 2. */
void coherence_own(struct hierarchy *hierarchy, struct cache *agent,
                   const struct cache_reference *write);

/* After a write: who lost the line learns which bytes were written. With classify only. */
void coherence_written(struct hierarchy *hierarchy, const struct cache *agent,
                       const struct cache_reference *write);

/* An agent misses a line, and has just made room for it. Whether another agent supplies; *dirty is
 * set if the line comes dirty. */
bool coherence_miss(struct cache *agent, uint32_t address, bool *dirty);

/* --- victim.c --- */

/* NULL: no memory. */
struct victim_buffer *victim_new(uint32_t lines);
void victim_free(struct victim_buffer *victim);

/* Takes the line with that address out into *line; false: it is not there. */
bool victim_take(struct victim_buffer *victim, uint32_t address, struct cache_line *line);

/* Puts a line in; *dropped is the one it drives out, valid 0 where there is none. */
void victim_put(struct victim_buffer *victim, const struct cache_line *line,
                struct cache_line *dropped);

/* The n-th oldest line, which may be changed; NULL behind the newest. */
struct cache_line *victim_line(struct victim_buffer *victim, uint32_t n);

/* --- classify.c --- */

/* NULL: no memory. */
struct classifier *classifier_new(const struct cache_settings *settings);
void classifier_free(struct classifier *classifier);

/* Takes note of a reference to a cache, and counts its miss by kind. */
void classify_reference(struct cache *cache, const struct cache_reference *reference, bool hit);

/* The cache lost a line to another's write. */
void classify_lost(struct cache *cache, uint32_t address);

/* Another agent wrote; counts for the line if this cache lost it. */
void classify_written(struct cache *cache, const struct cache_reference *write);

/* --- hierarchy.c, settings.c --- */

/* Bits of the address, address >> shift & mask, that no set has two values of. */
void hierarchy_classes(const struct hierarchy_settings *settings, unsigned *shift, uint32_t *mask);

/* The counters of a line; with no memory left those of no line. */
struct cache_line_counters *hierarchy_line(struct hierarchy *hierarchy, uint32_t address);

#endif
