/*
 * The lines that a cache holds: sets of ways, with the order or the bits that replacement needs.
 * Replacement is as doc/cache-model.md, "Hierarchy", says. Slots of lines change with use.
 *
 * Sets of few ways are arrays: with LRU and FIFO in the order of replacement, the next victim last,
 * so that the line that is used over and over again is found at the first look. Sets of many ways
 * have an index besides (line_index.h).
 */
#ifndef TOOLS_CACHE_LINE_STORE_H
#define TOOLS_CACHE_LINE_STORE_H

#include "formats/base/named_fields.h"
#include "tools/cache/hierarchy.h"

#define LINE_NONE           SIZE_MAX
#define LINE_SUB_BLOCKS_MAX 64u
#define LINE_WAYS_SEARCHED  64u /* sets of more ways have an index */

enum line_state { LINE_INCOHERENT, LINE_SHARED, LINE_EXCLUSIVE, LINE_OWNED, LINE_MODIFIED };

/* A line as it is outside the store. Masks have a bit for each sub-block, the lowest first. */
struct NAMED_FIELDS cache_line {
    uint32_t address; /* of its first byte */
    enum line_state state;
    uint64_t valid; /* 0: no line */
    uint64_t dirty;
    uint64_t touched; /* by references that were no prefetches */
};

/* An entry: the address in the upper half, and in the lower */
#define ENTRY_THERE       1u
#define ENTRY_DIRTY       2u
#define ENTRY_TOUCHED     4u
#define ENTRY_STATE_SHIFT 3u
#define ENTRY_STATE       (7u << ENTRY_STATE_SHIFT)
#define ENTRY_TAG         (0xffffffff00000000u | ENTRY_THERE)

struct NAMED_FIELDS line_masks {
    uint64_t valid, dirty, touched;
};

struct line_index;

struct line_store {
    unsigned line_shift;
    uint32_t set_mask; /* sets - 1 */
    uint32_t ways;
    enum cache_replacement replacement;
    uint64_t *entries;        /* ways of set 0, of set 1, ...; 0: empty */
    struct line_masks *masks; /* as entries; NULL: lines are their only sub-block */
    uint64_t *set_states;     /* plru: nodes; random: generators; else NULL */
    struct line_index *index; /* NULL: sets are searched */
};

/*
 * Makes an empty store for a cache of these settings, ways not 0, which hierarchy_check has passed.
 * cache is the number of the cache for random replacement. 0 or -1 without memory.
 */
int line_store_make(struct line_store *store, const struct cache_settings *settings, uint64_t seed,
                    uint64_t cache);
void line_store_clear(struct line_store *store);

/* line_store_find where there is an index. */
size_t line_store_find_indexed(const struct line_store *store, uint32_t address);

/* The slot of the line that holds the byte at address; LINE_NONE. */
static inline size_t line_store_find(const struct line_store *store, uint32_t address)
{
    const uint32_t line = address >> store->line_shift;
    const uint64_t wanted = (uint64_t)(line << store->line_shift) << 32 | ENTRY_THERE;
    if (store->index)
        return line_store_find_indexed(store, address);
    size_t first = (size_t)(line & store->set_mask) * store->ways;
    for (size_t slot = first; slot < first + store->ways; slot++)
        if ((store->entries[slot] & ENTRY_TAG) == wanted)
            return slot;
    return LINE_NONE;
}

/* Tells replacement that a line was hit; returns its new slot. */
size_t line_store_use(struct line_store *store, size_t slot);

/*
 * Makes room for the line that holds address and is not there: *replaced is what was there, valid 0
 * where nothing was. Returns the slot, which the caller fills with line_store_put.
 */
size_t line_store_allocate(struct line_store *store, uint32_t address, struct cache_line *replaced);

/* Takes a line out; other lines of its set may get other slots. */
void line_store_remove(struct line_store *store, size_t slot);

/*
 * The slots of a set's lines one after the other, next victim first (LRU, FIFO) or from the
 * highest way: begin with LINE_NONE, which is also the end.
 */
size_t line_store_next(const struct line_store *store, uint32_t set, size_t slot);

static inline uint32_t line_store_sets(const struct line_store *store)
{
    return store->set_mask + 1;
}

/* The line at a slot, which may be an empty one. */
static inline struct cache_line line_store_get(const struct line_store *store, size_t slot)
{
    uint64_t entry = store->entries[slot];
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
        line.valid = entry & ENTRY_THERE;
        line.dirty = (entry & ENTRY_DIRTY) != 0;
        line.touched = (entry & ENTRY_TOUCHED) != 0;
    }
    return line;
}

/* Changes the line at a slot; line->valid is not 0. */
static inline void line_store_put(struct line_store *store, size_t slot,
                                  const struct cache_line *line)
{
    store->entries[slot] = (uint64_t)line->address << 32 | ENTRY_THERE |
                           (line->dirty ? ENTRY_DIRTY : 0) | (line->touched ? ENTRY_TOUCHED : 0) |
                           (uint64_t)line->state << ENTRY_STATE_SHIFT;
    if (store->masks)
        store->masks[slot] = (struct line_masks){
            .valid = line->valid, .dirty = line->dirty, .touched = line->touched};
}

#endif
