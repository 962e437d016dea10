/* Shared by the files of the feed. */
#ifndef TOOLS_DEPEND_FEED_INTERNAL_H
#define TOOLS_DEPEND_FEED_INTERNAL_H

#include "tools/depend/depend_feed.h"

#define CHAIN_UNKNOWN UINT32_MAX /* compare with the engine's loops */

/* A DETAIL function that has not been left. */
struct entered_function {
    uint32_t function;
    size_t frames; /* number of calls when it was entered */
};

struct feed_thread {
    uint32_t number;
    uint32_t chain;             /* active loops of the current call, or CHAIN_UNKNOWN */
    bool is_called;             /* a call leads to the next block, perhaps through stubs */
    struct feed_origin origin;  /* of the next block */
    struct feed_block **blocks; /* by number, since the last flush of the code cache */
    size_t block_count;
    unsigned flushes;
    struct feed_call *callers; /* of the engine's calls */
    size_t caller_capacity;
    struct entered_function *entered;
    size_t entered_count, entered_capacity;
};

/* An execution of a block. */
struct execution {
    struct depend_feed *feed;
    struct trace_expander *expander;
    struct feed_thread *thread;
    struct depend_thread *to;
    const uint32_t *entries;
    const struct block *part; /* the block, if a part of it was executed */
};

/* --- references (feed_references.c) ------------------------------------------------------------
 */

/* The block that the entries are of. */
const struct block *feed_block_of(const struct execution *execution);

/* The address by which memory is known. */
static inline uint32_t feed_known(const struct execution *execution, uint32_t address)
{
    const struct feed_aliases *aliases = &execution->feed->aliases;
    return aliases->has_aliases ? (uint32_t)feed_aliases_find(aliases, address) : address;
}

static inline uint32_t feed_address(const struct execution *execution,
                                    const struct feed_operation *operation)
{
    return feed_known(execution,
                      operation->addend + (execution->entries[operation->slot] & operation->mask));
}

void feed_refer_through_fs(struct execution *execution, struct feed_operation *operation);

/* The references of a struct special. 0 or a negative code. */
int feed_refer_special(struct execution *execution, struct feed_operation *operation);

/* --- calls (feed_calls.c) ----------------------------------------------------------------------
 */

struct feed_calls feed_calls_of(const struct execution *execution);

/* Notes what has made the latest call. 0 or BT_MEMORY. */
int feed_note_caller(struct execution *execution, struct feed_call caller);

/* The engine knows one stack of a thread: the mapping in which the thread makes its first call. */
void feed_find_stack(struct execution *execution, uint64_t slot);

/* A DETAIL function begins. 0 or BT_MEMORY. */
int feed_enter_function(struct execution *execution, const struct feed_block *block);

/* A block comes next. If a jump leads into the middle of another function, and that has made a call
 * which has not returned, this is longjmp(): the calls since then have ended. */
void feed_leave_calls(struct execution *execution, const struct feed_block *block);

/* A block ends with a call or a return. 0 or BT_MEMORY. */
int feed_transfer(struct execution *execution, const struct feed_block *block);

#endif
