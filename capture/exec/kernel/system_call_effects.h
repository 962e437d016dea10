/*
 * What a system call that has returned did to the program's memory: the bytes that the kernel
 * wrote, and the mappings that it replaced or removed. For analyses that follow data through
 * memory.
 */
#ifndef CAPTURE_EXEC_KERNEL_SYSTEM_CALL_EFFECTS_H
#define CAPTURE_EXEC_KERNEL_SYSTEM_CALL_EFFECTS_H

#include "capture/exec/kernel/system_call.h"

enum system_call_effect {
    SYSTEM_CALL_WROTE,   /* the kernel wrote these bytes */
    SYSTEM_CALL_RELEASED /* the memory was unmapped, or mapped anew: its old contents are gone */
};

struct system_call_observer {
    /* Takes one range of bytes, size > 0. */
    void (*put)(void *context, enum system_call_effect effect, uint64_t address, uint64_t size);

    /* Takes a range whose contents have moved to another address; the old range is then put
     * as released. */
    void (*move)(void *context, uint64_t from, uint64_t to, uint64_t size);

    /* Reads the program's memory: lengths, vectors and results. 0, or negative: it is not readable.
     */
    int (*read)(void *context, void *bytes, uint64_t address, size_t size);

    void *context;
};

/*
 * Puts the effects of a call with its result, in no particular order. False: what this call writes
 * is not known; nothing was put. The thread's clear_child_tid word and robust list, which the
 * kernel writes when a thread ends, are not effects of a call.
 */
bool system_call_effects(const struct system_call *call,
                         const struct system_call_observer *observer);

#endif
