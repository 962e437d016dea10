/* Private to the simulator: caches, and the requests they send each other. doc/cache-model.md
 * defines the steps. */
#ifndef TOOLS_CACHE_MODEL_HIERARCHY_INTERNAL_H
#define TOOLS_CACHE_MODEL_HIERARCHY_INTERNAL_H

#include "tools/cache/model/hierarchy.h"
#include "tools/cache/model/line_store.h"
#include "tools/cache/model/line_values.h"
#include "tools/cache/model/replacement.h"

struct classifier;
struct optimum;
struct prefetcher;
struct victim_buffer;

/* A request to one cache. */
struct cache_reference {
    uint32_t address;
    uint32_t bytes; /* at least 1; may cross lines and 2^32 */
    enum reference_kind kind;
    bool prefetch;
    bool through;           /* a write with attribute 1 or 2, where attributes are honoured */
    bool protected;         /* attribute 2 */
    bool owns;              /* a read that takes ownership as a write does: MEMREADINV */
    uint32_t cause_address; /* of the reference that caused a fill; else its own */
    uint32_t cause_bytes;
};

/* What references of level 1, or requests, do to narrow caches: references and requests of a kind
 * (MOVE_KINDS), times MOVE_PLACES, plus MOVE_HIT, MOVE_MISS or MOVE_MISS_DIRTY. They become
 * counters in requests_count. */
enum { MOVE_HIT, MOVE_MISS, MOVE_MISS_DIRTY /* replaces a dirty line */, MOVE_PLACES = 4 };
#define MOVE_WHOLE REFERENCE_KINDS /* a write of a whole line, which needs no fill */
#define MOVE_KINDS (REFERENCE_KINDS + 1u)

struct cache {
    struct hierarchy *hierarchy;
    const struct cache_settings *settings;
    unsigned level;
    unsigned processor;
    enum cache_side side;
    enum cache_inclusion inclusion;
    uint32_t sub_block;
    bool agent;
    uint32_t joint_offset;  /* of an agent's ways in the joint sets */
    bool plain;             /* this cache and all below are plain (plain_internal.h) */
    bool early_write_backs; /* writes back before a fill: above an inclusive level */
    bool always_fills;      /* even if a write covers the line: above an exclusive level, too */
    struct line_store lines;
    struct cache *below;          /* NULL: memory */
    struct cache *above;          /* head of the list of caches above */
    struct cache *next;           /* next cache above the same cache */
    struct victim_buffer *victim; /* NULL: none */
    struct classifier *classifier;
    struct prefetcher *prefetcher; /* NULL: none */
    struct optimum *optimum;       /* NULL: not wanted */
    struct cache_counters counters;
    uint64_t moves[MOVE_KINDS * MOVE_PLACES];
    uint32_t fill_request,
        write_request;         /* the lower halves of its requests (requests_internal.h) */
    struct cache *made_before; /* the cache of the hierarchy that was made before this one */
};

/* The level 1 caches of a processor, and its agent for data. */
struct processor {
    struct cache *first[CACHE_SIDES];
    struct cache *data_agent;       /* NULL: no coherence */
    struct reference_origin origin; /* its last fetch */
};

/* The sets of agents, joined (agents.c). */
struct joint_sets {
    uint32_t *entries;    /* of all agents in set 0, of those in set 1, ... */
    size_t words;         /* of a set */
    uint16_t *word_agent; /* by word of a set: index of its agent */
};

/* Events of lines that are not yet counted: their lines are searched together, so that the
 * processor overlaps the searches. An event is the address of the line, and what happened in its
 * low bits. */
enum line_event { LINE_INVALIDATION, LINE_INTERVENTION, LINE_UPGRADE, LINE_WRITE_BACK };

#define LINE_EVENTS 1024u

struct line_events {
    unsigned count;
    uint32_t events[LINE_EVENTS];
};

/* Requests to a level that are not yet made: requests_internal.h. */
#define REQUESTS_MAX 2048u

struct request_queue {
    unsigned count;
    uint64_t requests[REQUESTS_MAX];
};

/* References that the fast path takes (fast.c). */
enum hierarchy_shape { SHAPE_ANY, SHAPE_QUICK_HITS, SHAPE_AGENTS, SHAPE_PLAIN, SHAPE_NARROW };

struct hierarchy {
    enum hierarchy_shape shape;
    struct hierarchy_settings settings; /* complete: ways and sub_block are not 0 */
    struct cache *caches[CACHE_LEVELS][CACHE_PROCESSORS][CACHE_SIDES];
    struct processor processors[CACHE_PROCESSORS];
    bool occurs[CACHE_PROCESSORS];
    unsigned agent_level;
    struct cache *agents[CACHE_PROCESSORS * CACHE_SIDES];
    unsigned agent_count;
    struct joint_sets joint;                   /* with SHAPE_AGENTS */
    struct line_events events;                 /* the same */
    struct request_queue queues[CACHE_LEVELS]; /* to each level but the first */
    struct cache *last_made;                   /* of all caches, or NULL */
    struct reference_origin origin;            /* of the references that are simulated now */
    const struct cache *writer;                /* agent of the processor that writes now, or NULL */
    uint32_t written;                          /* address of the line that it writes */
    bool writes_whole;                         /* the write covers the line of the agent */
    bool reads_to_own;                         /* it is a read that takes ownership */
    bool readinv_owns;                         /* with coherence, MEMREADINV takes ownership */
    unsigned processor_count;                  /* that occur */
    struct line_values lines;                  /* values are struct cache_line_counters */
    struct line_accesses *accesses;            /* NULL: not wanted */
    struct cache_line_counters no_line;        /* counts lines for which memory is exhausted */
    bool no_memory;                            /* an allocation failed: counters are wrong */
    uint32_t class_mask; /* address bits that select this part's classes of sets */
    unsigned class_shift;
    unsigned part, parts;
    struct hierarchy_counters counters;
};

/* Address of the first byte of a cache's line. */
static inline uint32_t cache_line_address(const struct cache *cache, uint32_t address)
{
    return address >> cache->lines.line_shift << cache->lines.line_shift;
}

/* Whether the set of an address belongs to this part. */
static inline bool hierarchy_is_mine(const struct hierarchy *hierarchy, uint32_t address)
{
    const uint32_t class_of = address >> hierarchy->class_shift & hierarchy->class_mask;
    const uint32_t low = hierarchy->parts - 1;
    /* a division only where it must be */
    return (hierarchy->parts & low) == 0 ? (class_of & low) == hierarchy->part
                                         : class_of % hierarchy->parts == hierarchy->part;
}

/* --- fast.c --- */

/* Finds which caches are plain. ways and sub_block of the settings are not 0. */
enum hierarchy_shape hierarchy_shape_of(const struct hierarchy_settings *settings);

/* Whether a cache and all caches below it are plain. */
bool hierarchy_is_plain(const struct hierarchy_settings *settings, unsigned level, unsigned side);

/* Whether it is, but for coherence, and its store can be narrow. */
bool hierarchy_is_narrow(const struct hierarchy_settings *settings, unsigned level, unsigned side);

/* A reference within one line of a plain cache, or to memory (NULL). */
void cache_refer_plain(struct hierarchy *hierarchy, struct cache *cache, uint32_t address,
                       uint32_t bytes, enum reference_kind kind);

/* Simulates records up to the first one that the fast path cannot take; returns their number. */
size_t hierarchy_put_quickly(struct hierarchy *hierarchy, const struct record *records,
                             size_t count);

/* --- references.c --- */

/* Makes a reference to a cache, or to memory (NULL). Returns whether the line filled is dirty. */
bool cache_refer(struct hierarchy *hierarchy, struct cache *cache,
                 const struct cache_reference *reference);

/* Makes a reference that lies within one line of the cache. */
bool cache_refer_part(struct cache *cache, const struct cache_reference *reference);

/* A demand reference to the cache of the optimum, which the cache has. */
void cache_refer_optimum(struct cache *cache, uint32_t address, enum reference_kind kind);

/* A demand reference missed its line in a cache that has an optimum. */
void cache_sample_miss(struct cache *cache, uint32_t address);

/* Writes back the dirty sub-blocks of a line to the level below, higher addresses first. */
void cache_write_back(struct cache *cache, const struct cache_line *line);

/* Disposes of an evicted line: writes it back, or inserts it below. */
void cache_dispose(struct cache *cache, const struct cache_line *line);

/* --- inclusion.c --- */

/* An inclusive cache evicts a line: invalidates it in all caches above; *line becomes dirty if it
 * was dirty there. */
void inclusion_give_up(struct cache *cache, struct cache_line *line);

/*
 * Invalidates a range within one line of the cache below in all caches above it. written: because
 * of another agent's write (doc/cache-model.md, "Kinds of misses"). Returns whether any of it was
 * dirty.
 */
bool inclusion_invalidate_above(struct cache *cache, uint32_t address, uint32_t bytes,
                                bool written);

/* A reference to an exclusive level, and the insertion of a line evicted from above. */
bool exclusive_refer(struct cache *cache, const struct cache_reference *reference);
void exclusive_insert(struct cache *cache, uint32_t address, bool dirty);

/* --- coherence.c --- */

/* Marks the dirty lines of an address in the caches above as clean. Returns whether there were
 * any. */
bool coherence_clean_above(struct cache *cache, uint32_t address);

/* Writes back a whole line of an agent because of another processor. */
void coherence_write_back(struct cache *agent, struct cache_line line);

/* Invalidates an agent's line for another agent's write; counted unless it is of the same
 * processor. Returns whether it was dirty there or above. */
bool coherence_take(struct cache *agent, size_t slot, bool counted);

/* Requests ownership before a write to a line, or a read that owns. through: the write has
 * attribute 1 or 2. */
void coherence_own(struct hierarchy *hierarchy, struct cache *agent,
                   const struct cache_reference *write);

/* Records which bytes were written, for agents that lost the line to this write. With classify
 * only. */
void coherence_written(struct hierarchy *hierarchy, const struct cache *agent,
                       const struct cache_reference *write);

/* An agent misses a line and has made room for it. Returns whether it needs no fill from below:
 * another agent supplies the line, or a write covers it. *dirty is set if it comes dirty. */
bool coherence_miss(struct cache *agent, uint32_t address, bool *dirty);

/* The other agent of the agent's processor; NULL: the level is unified. */
struct cache *coherence_sibling(const struct cache *agent);

/* --- uncached.c --- */

/* An uncacheable reference within one line of the agents: dirty copies are written back, and
 * copies invalidated, before it reaches memory. */
void coherence_uncached(struct hierarchy *hierarchy, unsigned processor,
                        const struct cache_reference *reference);

/* --- automatic.c --- */

/* A second processor occurs: the private caches become agents of MESI, with the lines that they
 * have. 0, or -1 without memory. */
int hierarchy_become_coherent(struct hierarchy *hierarchy);

/* --- victim.c --- */

/* NULL: out of memory. */
struct victim_buffer *victim_new(uint32_t lines);
void victim_free(struct victim_buffer *victim);

/* Moves the line with that address out of the buffer to *line. Returns false if it is absent. */
bool victim_take(struct victim_buffer *victim, uint32_t address, struct cache_line *line);

/* Inserts a line. *dropped is the evicted line; valid is 0 if none was evicted. */
void victim_put(struct victim_buffer *victim, const struct cache_line *line,
                struct cache_line *dropped);

/* The n-th oldest line, which the caller may change. NULL after the newest. */
struct cache_line *victim_line(struct victim_buffer *victim, uint32_t n);

/* --- classify.c --- */

/* number: of the cache, for the seed of its policy. NULL: out of memory. */
struct classifier *classifier_new(const struct cache *cache, uint64_t number);
void classifier_free(struct classifier *classifier);

/* Records a reference to a cache, and counts its miss by kind. */
void classify_reference(struct cache *cache, const struct cache_reference *reference, bool hit);

/* The cache lost a line to another agent's write. */
void classify_lost(struct cache *cache, uint32_t address);

/* Another agent wrote. Has an effect if this cache lost the line. */
void classify_written(struct cache *cache, const struct cache_reference *write);

/* --- prefetcher.c --- */

/* cache: with its lines. NULL: out of memory. */
struct prefetcher *prefetcher_new(const struct cache *cache);
void prefetcher_free(struct prefetcher *prefetcher);

/* A demand reference, before it changes the cache. used: the line has had one since its fill, so
 * that its prefetch is counted. Returns whether it is the first use of a prefetched line. */
bool prefetcher_demand(struct cache *cache, uint32_t address, bool hit, bool used);

/* A fetch or read has been made, and may cause prefetches. fresh: it missed, or was the first use
 * of a prefetched line. */
void prefetcher_train(struct cache *cache, const struct cache_reference *reference, bool fresh);

/* Counts the prefetched lines that were lost unnoticed. */
void prefetcher_end(struct cache *cache);

/* Counting begins: prefetches made so far are not counted when they are used or lost. */
void prefetcher_forget(struct cache *cache);

/* --- hierarchy.c, settings.c --- */

/* The level of the agents of a coherent hierarchy. */
unsigned hierarchy_agent_level(const struct hierarchy_settings *settings);

/* Makes a cache of that level an agent; agents are in ascending order of processors. 0, or -1
 * without memory. */
int hierarchy_add_agent(struct hierarchy *hierarchy, struct cache *cache);

/* Counts a record that is no reference to memory. */
void hierarchy_drop(struct hierarchy *hierarchy, const struct record *record);

/* Counters of a line; hierarchy->no_line if memory is exhausted. */
struct cache_line_counters *hierarchy_line(struct hierarchy *hierarchy, uint32_t address);

#endif
