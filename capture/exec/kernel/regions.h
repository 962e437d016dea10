/*
 * Decides which instructions of a program are captured: regions between two addresses, calls of a
 * function, or markers; samples inside of regions; and a limit on the instructions captured.
 *
 * This module does not execute anything. The caller reports the addresses that execution reaches
 * and the number of instructions executed in regions. regions_state() returns the state, and the
 * instruction count up to which it is valid.
 */
#ifndef CAPTURE_EXEC_KERNEL_REGIONS_H
#define CAPTURE_EXEC_KERNEL_REGIONS_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>

enum region_gate {
    REGION_ALWAYS,
    REGION_ADDRESSES, /* between two addresses, for all threads */
    REGION_CALLS,     /* from a function's entry to the return of that call, for that thread */
    REGION_MARKERS    /* between the markers of mark.h, for all threads */
};

struct NAMED_FIELDS region_rules {
    enum region_gate gate;
    bool once;      /* addresses: there is one region */
    bool open;      /* addresses: the first region is open at the start */
    uint64_t skip;  /* number of instructions in regions before the first one captured */
    uint64_t on;    /* sampling: number of instructions captured, */
    uint64_t off;   /* then number of instructions not captured; 0: no sampling */
    uint64_t limit; /* maximum number of instructions captured; 0: no limit */
};

enum region_state {
    REGION_OUTSIDE,  /* outside of regions: not counted */
    REGION_SKIPPED,  /* inside: counted, not captured */
    REGION_CAPTURED, /* inside: counted and captured */
    REGION_ENDED     /* nothing more is captured */
};

/* State of a thread, for REGION_CALLS; all zero: in no call. */
struct NAMED_FIELDS region_call {
    bool inside;
    bool fresh;     /* no instruction of the call has been captured */
    uint64_t stack; /* the stack pointer at the entry, address of the return address */
    uint64_t back;  /* the return address */
};

struct NAMED_FIELDS regions {
    struct region_rules rules;
    bool is_open; /* for addresses and markers */
    bool fresh;   /* nothing captured since the region or the sample began */
    bool ended;
    uint64_t counted; /* number of instructions in regions */
    uint64_t regions; /* number of contiguous pieces captured */
};

void regions_begin(struct regions *regions, const struct region_rules *rules);

/* Execution reaches the closing address, the opening address, or an address that is both. */
void regions_reach(struct regions *regions, bool is_until, bool is_from);

/* Execution reaches a marker, the opening or the closing one. */
void regions_mark(struct regions *regions, bool begins);

/* The thread enters the function; it reaches an address where a call may return to. */
void regions_called(const struct regions *regions, struct region_call *call, uint64_t stack,
                    uint64_t back);
void regions_returned(struct region_call *call, uint64_t address, uint64_t stack);

/* Sets the number of instructions executed in regions since the start. */
void regions_count(struct regions *regions, uint64_t counted);

/* Captures nothing more. */
void regions_end(struct regions *regions);

/* The state of the thread, valid until *until instructions have been executed in regions (0: no
 * limit). */
enum region_state regions_state(const struct regions *regions, const struct region_call *call,
                                uint64_t *until);

/* In REGION_CAPTURED, before the first instruction of a piece: counts the piece. Returns whether
 * instructions were left out since the previous piece. */
bool regions_begin_piece(struct regions *regions, struct region_call *call);

/* Number of instructions captured. */
uint64_t regions_captured(const struct regions *regions);

#endif
