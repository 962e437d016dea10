/* The calls of a thread, indexed by calling block and called function. */
#ifndef TOOLS_PROFILE_CALL_TABLE_H
#define TOOLS_PROFILE_CALL_TABLE_H

#include "formats/base/hash_index.h"
#include "tools/profile/profiler.h"

/* Must be zeroed before first use. */
struct call_table {
    struct profile_call **calls; /* owned by the table */
    size_t count, capacity;
    struct hash_index by_ends; /* calls by block and function */
};

/* Frees the calls too. */
void call_table_clear(struct call_table *table);

/* The call from a block to a function, added to the block's calls if it is new; it becomes the
 * block's latest call. NULL: out of memory. */
struct profile_call *call_table_get(struct call_table *table, struct profile_block *site,
                                    uint32_t callee);

#endif
