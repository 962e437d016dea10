/* The calls of a thread, indexed by calling block and called function. */
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

/* The call from a block to a function, added if it is new. The block owns it and has it as its
 * latest call. NULL: out of memory. */
struct profile_call *call_table_get(struct call_table *table, struct profile_block *site,
                                    uint32_t callee);

#endif
