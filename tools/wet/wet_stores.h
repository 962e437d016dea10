/*
 * The last instructions of a WET trace that wrote memory, stores and system calls: when each was
 * executed, and how deep it is in the data-flow graph. The oldest one is forgotten for each that
 * comes when the limit is reached.
 */
#ifndef TOOLS_WET_WET_STORES_H
#define TOOLS_WET_WET_STORES_H

#include "tools/wet/wet_depths.h"

#define WET_STORES_BYTES 64u /* of memory for each that is kept, at most on average */

struct wet_store {
    uint64_t number; /* instructions executed before it */
    uint64_t stores; /* stores executed before it */
    struct wet_depth depth;
    uint32_t id;
    bool is_store; /* false: a system call */
};

/* Where the kept instances of an instruction are: a ring. */
struct wet_stores_of {
    uint32_t *indices; /* in wet_stores.kept */
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t head, count;
    uint64_t first; /* instance of the oldest one */
};

/* Private. */
struct wet_stores {
    struct wet_store *kept; /* a ring */
    uint32_t limit, next;
    bool is_full;
    struct wet_stores_of *of; /* by id */
    size_t ids;
};

/* ids: number of instructions plus 1; limit: how many are kept, above 0. The struct need not be
 * initialized. 0 or BT_MEMORY; clear it in either case. */
int wet_stores_init(struct wet_stores *stores, size_t ids, uint32_t limit);
void wet_stores_clear(struct wet_stores *stores);

/* Notes the next instance of an instruction, whose number must follow that of the instance noted
 * before. 0 or BT_MEMORY. */
int wet_stores_put(struct wet_stores *stores, uint64_t instance, const struct wet_store *store);

/* An instance. NULL: it is forgotten, or never was. Valid until the next one is noted. */
const struct wet_store *wet_stores_get(const struct wet_stores *stores, uint32_t id,
                                       uint64_t instance);

#endif
