/*
 * What happens to a program's memory besides its references: blocks of malloc(3) are given back,
 * the kernel writes to memory and unmaps it.
 */
#ifndef TOOLS_DEPEND_DEPEND_MEMORY_H
#define TOOLS_DEPEND_DEPEND_MEMORY_H

#include "capture/exec/kernel/process.h"
#include "tools/depend/depend_feed.h"
#include "tools/symbols/exec_symbol.h"

#define DEPEND_ALLOCATORS 6u

/* A call of an allocator that has not returned. */
struct pending_allocation {
    unsigned processor, allocator;
    uint64_t slot;         /* address of its return address */
    uint64_t size, before; /* requested; realloc: the old block */
};

struct depend_memory {
    struct process *process;
    struct depend_feed *feed;
    uint64_t unknown_calls; /* results: number of system calls of which we do not know what the
                               kernel writes */

    /* private */
    struct exec_symbol symbols[DEPEND_ALLOCATORS];
    uint32_t *sizes; /* of blocks, by address / 16; 0: none */
    struct pending_allocation *pending;
    size_t pending_count, pending_capacity;
};

/* The caller sets feed, and process before the program runs. 0 or BT_MEMORY; clear it in any case.
 */
int depend_memory_init(struct depend_memory *memory, struct bt_error *error);
void depend_memory_clear(struct depend_memory *memory);

/* Callbacks of process_operations: loaded, reached and called. 0 or BT_MEMORY. */
int depend_memory_look(struct depend_memory *memory, const struct modules *modules);
int depend_memory_reached(struct depend_memory *memory, unsigned processor, uint64_t address,
                          const uint64_t *registers);
int depend_memory_called(struct depend_memory *memory, unsigned processor,
                         const struct system_call *call, bool returned);

#endif
