/*
 * Which execution of a branch decided that an instruction was executed: post-dominators of the
 * function's final graph, found as sets that shrink until nothing changes (the slow, obvious twin
 * of tools/cfg and of the control port of doc/wet.md).
 */
#ifndef TESTS_SUPPORT_WET_CONTROL_H
#define TESTS_SUPPORT_WET_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WET_CONTROL_NONE SIZE_MAX

/* An execution of an instruction. */
struct wet_event {
    uint64_t address;
    uint32_t frame; /* the call that it belongs to */
    size_t parent;  /* result: the event that it is control dependent on, or WET_CONTROL_NONE */
};

struct wet_control_settings {
    /* The function of an address, from *start up to *end; false: unknown. */
    bool (*function_of)(void *context, uint64_t address, uint64_t *start, uint64_t *end);

    /* The code there: at most 15 bytes; returns their number. */
    size_t (*code_of)(void *context, uint64_t address, uint8_t code[15]);

    void *context;
    const size_t *calls; /* by frame: the event of the call that began it, or WET_CONTROL_NONE */
    size_t frame_count;
};

/* Finds the parents of all events of a run. */
void wet_control_find(const struct wet_control_settings *settings, struct wet_event *events,
                      size_t count);

#endif
