/*
 * Which parts of what a program does are captured: regions between places, calls of a function, or
 * markers; of what is executed in them samples; of these so many instructions, and no more.
 *
 * Nothing here executes. Whoever does tells what it has come to, and how many instructions have
 * been executed in regions, and asks what to do until when.
 */
#ifndef CAPTURE_EXEC_KERNEL_REGIONS_H
#define CAPTURE_EXEC_KERNEL_REGIONS_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>

enum region_gate {
    REGION_ALWAYS,
    REGION_ADDRESSES, /* between two places, of all threads */
    REGION_CALLS,     /* from a function's entry to the return of that call, of the thread alone */
    REGION_MARKERS    /* between the markers of mark.h, of all threads */
};

struct NAMED_FIELDS region_rules {
    enum region_gate gate;
    bool once;      /* of places: they open once, and close once */
    bool open;      /* of places: from the beginning */
    uint64_t skip;  /* instructions in regions that are not captured */
    uint64_t on;    /* behind them: so many are captured, */
    uint64_t off;   /* so many are not, and so on; 0: all are */
    uint64_t limit; /* captured in all, and no more; 0: no limit */
};

enum region_state {
    REGION_OUTSIDE,  /* outside of regions: nothing is counted */
    REGION_SKIPPED,  /* inside; counted, and not captured */
    REGION_CAPTURED, /* captured */
    REGION_ENDED     /* it is over */
};

/* Of a thread, for REGION_CALLS; all zero: in no call. */
struct NAMED_FIELDS region_call {
    bool inside;
    bool fresh;     /* nothing of it has been captured */
    uint64_t stack; /* the stack pointer at the entry: the return address is there */
    uint64_t back;  /* the return address */
};

struct NAMED_FIELDS regions {
    struct region_rules rules;
    bool is_open; /* of places and markers */
    bool fresh;   /* nothing has been captured since it opened, or since a sample began */
    bool ended;
    uint64_t counted; /* instructions in regions */
    uint64_t regions; /* pieces that were captured: with something left out between them */
};

void regions_begin(struct regions *regions, const struct region_rules *rules);

/* The program comes to the second place, the first, or one that is both. */
void regions_reach(struct regions *regions, bool is_until, bool is_from);

/* A marker: the one that begins, or the other. */
void regions_mark(struct regions *regions, bool begins);

/* The thread comes to the function, with these; and to where a call returns. */
void regions_called(const struct regions *regions, struct region_call *call, uint64_t stack,
                    uint64_t back);
void regions_returned(struct region_call *call, uint64_t address, uint64_t stack);

/* So many instructions have been executed in regions since the beginning. */
void regions_count(struct regions *regions, uint64_t counted);

/* Nothing is captured from now on. */
void regions_end(struct regions *regions);

/* What is to be done with the thread's instructions, and until how many have been executed in
 * regions (0: however many). */
enum region_state regions_state(const struct regions *regions, const struct region_call *call,
                                uint64_t *until);

/* In REGION_CAPTURED, before the first instruction: whether something was left out before it,
 * behind what was captured before. Counts regions. */
bool regions_begin_piece(struct regions *regions, struct region_call *call);

/* Instructions that were captured. */
uint64_t regions_captured(const struct regions *regions);

#endif
