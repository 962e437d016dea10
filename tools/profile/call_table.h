/* The calls of a thread, found by where they are and what they call. */
#ifndef TOOLS_PROFILE_CALL_TABLE_H
#define TOOLS_PROFILE_CALL_TABLE_H

#include "tools/profile/profiler.h"

struct call_table {
    struct profile_call **slots; /* open addressing; NULL: free */
    size_t size;                 /* a power of two, or 0 */
    size_t count;
};

/* Frees the table, not the calls. */
void call_table_clear(struct call_table *table);

/* The call from a block to a function, made if it is new; it belongs to the block, and is its
 * latest from now on. NULL: no memory. */
struct profile_call *call_table_get(struct call_table *table, struct profile_block *site,
                                    uint32_t callee);

#endif
