/*
 * Feeds the engine of capture/depend with what a running program executes: references, calls,
 * returns and loops of all threads, from the trace entries of its translated blocks.
 */
#ifndef TOOLS_DEPEND_DEPEND_FEED_H
#define TOOLS_DEPEND_DEPEND_FEED_H

#include "capture/exec/trace/trace_expand.h"
#include "formats/base/named_fields.h"
#include "tools/depend/feed_aliases.h"
#include "tools/depend/feed_block.h"

struct feed_thread;

struct NAMED_FIELDS depend_feed {
    struct depend *depend;
    struct feed_flow *flow;
    struct code_places *places;
    /* The program's mapping with an address: process_mapping(). */
    bool (*mapping)(void *context, uint64_t address, uint64_t *begin, uint64_t *end);
    /* A DETAIL function is entered, or left (at the latest with the next call or return after a
     * jump out of it). NULL: not wanted. */
    void (*entered)(void *context, uint32_t function);
    void (*left)(void *context, uint32_t function);
    void *context;
    struct feed_aliases aliases; /* feed_aliases_called() by the caller */

    /* results */
    uint64_t references, writes; /* of the program; the engine also counts the kernel's */
    uint64_t instructions;

    /* private */
    struct feed_thread **threads;
    size_t thread_count, thread_capacity;
    struct record *records; /* expanded ones */
};

/* The caller sets the first members; the rest is zero. 0 or BT_MEMORY; clear it in any case. */
int depend_feed_init(struct depend_feed *feed);
void depend_feed_clear(struct depend_feed *feed);

/* The callback process_operations.take. */
int depend_feed_take(struct depend_feed *feed, struct trace_expander *expander,
                     const uint32_t *entries, size_t count, const struct block *part,
                     unsigned instructions);

/* The kernel has written to memory in the system call that the processor's thread has made last.
 * 0 or BT_MEMORY. */
int depend_feed_kernel_write(struct depend_feed *feed, unsigned processor, uint64_t address,
                             uint64_t size);

/* A signal handler begins: the kernel has written its frame, whose first word is the handler's
 * return address. 0 or BT_MEMORY. */
int depend_feed_signal(struct depend_feed *feed, unsigned processor, uint64_t stack);

/* A thread makes a system call. */
void depend_feed_system_call(struct depend_feed *feed, unsigned processor);

#endif
