/*
 * The lines of a cache: sets of ways, with the order or the bits that replacement needs
 * (doc/cache-model.md, "Hierarchy"). A line may change its slot with each use.
 *
 * Sets of few ways are arrays. With LRU and FIFO an array is in the order of replacement, the next
 * victim last, so that the line used most often is found first. Sets of many ways have an index as
 * well (line_index.h). Stores of plain caches can be narrow (narrow_sets.h).
 */
#ifndef TOOLS_CACHE_MODEL_LINE_STORE_H
#define TOOLS_CACHE_MODEL_LINE_STORE_H

#include "formats/base/named_fields.h"
#include "tools/cache/model/hierarchy.h"
#include "tools/cache/model/narrow_sets.h"
#include "tools/cache/model/set_index.h"

#define LINE_NONE           SIZE_MAX
#define LINE_SUB_BLOCKS_MAX 64u
#define LINE_WAYS_SEARCHED  64u /* sets of more ways have an index */

enum line_state {
    LINE_INCOHERENT,
    LINE_SHARED,
    LINE_EXCLUSIVE,
    LINE_OWNED,
    LINE_MODIFIED,
    LINE_FORWARD
};

/* A line outside the store. Masks have one bit for each sub-block, the lowest first. */
struct NAMED_FIELDS cache_line {
    uint32_t address; /* address of its first byte */
    enum line_state state;
    uint64_t valid; /* 0: no line */
    uint64_t dirty;
    uint64_t touched; /* by demand references */
};

/* An entry has the line's address in its upper half, and these flags in its lower half. One of a
 * narrow store has the address and all flags but ENTRY_TOUCHED in one word. */
#define ENTRY_VALID       NARROW_VALID
#define ENTRY_DIRTY       2u
#define ENTRY_STATE_SHIFT 2u
#define ENTRY_TOUCHED     (NARROW_FLAGS + 1)
#define ENTRY_STATE       (7u << ENTRY_STATE_SHIFT)
#define ENTRY_SHARED      ((uint32_t)LINE_SHARED << ENTRY_STATE_SHIFT)
#define ENTRY_EXCLUSIVE   ((uint32_t)LINE_EXCLUSIVE << ENTRY_STATE_SHIFT)
#define ENTRY_MODIFIED    ((uint32_t)LINE_MODIFIED << ENTRY_STATE_SHIFT)
#define ENTRY_TAG         (0xffffffff00000000u | ENTRY_VALID)

struct NAMED_FIELDS line_masks {
    uint64_t valid, dirty, touched;
};

struct line_index;
struct optimum;
struct replacement;

struct line_store {
    unsigned line_shift;
    uint32_t set_mask;          /* sets - 1, if the set is the low bits of the line's number */
    bool masked;                /* it is */
    struct set_index set_index; /* else its set */
    uint32_t ways;
    enum cache_replacement policy;
    uint64_t *entries;               /* entries of set 0, of set 1, ...; 0: empty; NULL: narrow */
    uint32_t *narrow;                /* the same, narrow_stride apart; NULL: not narrow */
    size_t narrow_stride;            /* the ways, and those of other stores between them */
    bool narrow_shared;              /* others have the array, too, and it is not owned */
    struct line_masks *masks;        /* parallel to entries; NULL: a line is its only sub-block */
    struct replacement *replacement; /* NULL: LRU, FIFO */
    struct line_index *index;        /* NULL: sets are searched */
    struct optimum *optimum;         /* loses the lines that are removed; not owned, NULL: none */
};

/* Makes an empty store for a cache of checked settings with ways not 0. cache: number of the cache,
 * for the seed of random replacement. 0 or -1 without memory. */
int line_store_make(struct line_store *store, const struct cache_settings *settings, uint64_t seed,
                    uint64_t cache);
/* The same for LRU caches of up to NARROW_WAYS_MAX ways, of whole lines of NARROW_LINE_MIN bytes or
 * more, whose set is the low bits of a line's number. It does not know which lines were touched. */
int line_store_make_narrow(struct line_store *store, const struct cache_settings *settings);
void line_store_clear(struct line_store *store);

/* The set of an address. */
static inline uint32_t line_store_set(const struct line_store *store, uint32_t address)
{
    uint32_t line = address >> store->line_shift;
    return store->masked ? line & store->set_mask : set_index_of(&store->set_index, line);
}

/* The ways of a set, and a slot, of a narrow store. */
static inline uint32_t *line_store_narrow_set(const struct line_store *store, uint32_t set)
{
    return store->narrow + set * store->narrow_stride;
}

static inline uint32_t *line_store_narrow_slot(const struct line_store *store, size_t slot)
{
    return line_store_narrow_set(store, (uint32_t)(slot / store->ways)) + slot % store->ways;
}

/* The entry of a slot; 0: empty. */
static inline uint64_t line_store_entry(const struct line_store *store, size_t slot)
{
    if (!store->narrow)
        return store->entries[slot];
    const uint32_t narrow = *line_store_narrow_slot(store, slot);
    return (uint64_t)(narrow & ~NARROW_FLAGS) << 32 | (narrow & NARROW_FLAGS);
}

/* line_store_find for sets with an index. */
size_t line_store_find_indexed(const struct line_store *store, uint32_t address);

/* The slot of the line that holds the byte at address, or LINE_NONE. */
static inline size_t line_store_find(const struct line_store *store, uint32_t address)
{
    const uint32_t line = address >> store->line_shift;
    const uint64_t wanted = (uint64_t)(line << store->line_shift) << 32 | ENTRY_VALID;
    if (store->index)
        return line_store_find_indexed(store, address);
    const uint32_t set = line_store_set(store, address);
    size_t first = (size_t)set * store->ways;
    if (store->narrow) {
        const uint64_t found = narrow_match(line_store_narrow_set(store, set), store->ways,
                                            (line << store->line_shift) | NARROW_VALID);
        return found ? first + (unsigned)__builtin_ctzll(found) : LINE_NONE;
    }
    for (size_t slot = first; slot < first + store->ways; slot++)
        if ((store->entries[slot] & ENTRY_TAG) == wanted)
            return slot;
    return LINE_NONE;
}

/* Updates the replacement state after a hit; returns the line's new slot. */
size_t line_store_use(struct line_store *store, size_t slot);

/* Allocates a slot for the absent line that holds address. *replaced is the evicted line; valid is
 * 0 if none was evicted. The caller fills the slot with line_store_put. */
size_t line_store_allocate(struct line_store *store, uint32_t address, struct cache_line *replaced);

/* Removes a line; other lines of its set may change their slots. */
void line_store_remove(struct line_store *store, size_t slot);

/* Iterates over a set: next victim first (LRU, FIFO), else from the highest way. Begins with
 * LINE_NONE and ends with it. */
size_t line_store_next(const struct line_store *store, uint32_t set, size_t slot);

static inline uint32_t line_store_sets(const struct line_store *store)
{
    return store->set_index.sets;
}

/* The line in a slot, which may be empty. */
static inline struct cache_line line_store_get(const struct line_store *store, size_t slot)
{
    uint64_t entry = line_store_entry(store, slot);
    struct cache_line line = {.address = (uint32_t)(entry >> 32),
                              .state =
                                  (enum line_state)((entry & ENTRY_STATE) >> ENTRY_STATE_SHIFT),
                              .valid = 0,
                              .dirty = 0,
                              .touched = 0};
    if (store->masks) {
        line.valid = store->masks[slot].valid;
        line.dirty = store->masks[slot].dirty;
        line.touched = store->masks[slot].touched;
    } else {
        line.valid = entry & ENTRY_VALID;
        line.dirty = (entry & ENTRY_DIRTY) != 0;
        line.touched = (entry & ENTRY_TOUCHED) != 0;
    }
    return line;
}

/* Changes the line in a slot; line->valid is not 0. */
static inline void line_store_put(struct line_store *store, size_t slot,
                                  const struct cache_line *line)
{
    const uint32_t flags =
        ENTRY_VALID | (line->dirty ? ENTRY_DIRTY : 0) | (uint32_t)line->state << ENTRY_STATE_SHIFT;
    if (store->narrow) {
        *line_store_narrow_slot(store, slot) = line->address | flags;
        return;
    }
    store->entries[slot] =
        (uint64_t)line->address << 32 | flags | (line->touched ? ENTRY_TOUCHED : 0);
    if (store->masks)
        store->masks[slot] = (struct line_masks){
            .valid = line->valid, .dirty = line->dirty, .touched = line->touched};
}

#endif
