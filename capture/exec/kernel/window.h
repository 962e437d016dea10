/*
 * Which parts of what a program does are captured: regions between places, calls of a function, or
 * markers; of what is executed in them samples; of these so many instructions, and no more.
 *
 * Nothing here executes. Whoever does tells what it has come to, and how many instructions have
 * been executed in regions, and asks what to do until when.
 */
#ifndef CAPTURE_EXEC_KERNEL_WINDOW_H
#define CAPTURE_EXEC_KERNEL_WINDOW_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>

enum window_gate {
    WINDOW_ALWAYS,
    WINDOW_PLACES, /* between two places, of all threads */
    WINDOW_CALLS,  /* from a function's entry to the return of that call, of the thread alone */
    WINDOW_MARKERS /* between the markers of mark.h, of all threads */
};

struct NAMED_FIELDS window_rules {
    enum window_gate gate;
    bool once;      /* of places: they open once, and close once */
    bool open;      /* of places: from the beginning */
    uint64_t skip;  /* instructions in regions that are not captured */
    uint64_t on;    /* behind them: so many are captured, */
    uint64_t off;   /* so many are not, and so on; 0: all are */
    uint64_t limit; /* captured in all, and no more; 0: no limit */
};

enum window_state {
    WINDOW_OUT,   /* outside of regions: nothing is counted */
    WINDOW_COUNT, /* inside; counted, and not captured */
    WINDOW_IN,    /* captured */
    WINDOW_BEHIND /* it is over */
};

/* Of a thread, for WINDOW_CALLS; all zero: in no call. */
struct NAMED_FIELDS window_call {
    bool inside;
    bool fresh;     /* nothing of it has been captured */
    uint64_t stack; /* the stack pointer at the entry: the return address is there */
    uint64_t back;  /* the return address */
};

struct NAMED_FIELDS window {
    struct window_rules rules;
    bool is_open; /* of places and markers */
    bool fresh;   /* nothing has been captured since it opened, or since a sample began */
    bool ended;
    uint64_t counted; /* instructions in regions */
    uint64_t regions; /* pieces that were captured: with something left out between them */
};

void window_begin(struct window *window, const struct window_rules *rules);

/* The program comes to the second place, the first, or one that is both. */
void window_place(struct window *window, bool is_until, bool is_from);

/* A marker: the one that begins, or the other. */
void window_mark(struct window *window, bool begins);

/* The thread comes to the function, with these; and to where a call returns. */
void window_called(const struct window *window, struct window_call *call, uint64_t stack,
                   uint64_t back);
void window_returned(struct window_call *call, uint64_t address, uint64_t stack);

/* So many instructions have been executed in regions since the beginning. */
void window_count(struct window *window, uint64_t counted);

/* Nothing is captured from now on. */
void window_end(struct window *window);

/* What is to be done with the thread's instructions, and until how many have been executed in
 * regions (0: however many). */
enum window_state window_state(const struct window *window, const struct window_call *call,
                               uint64_t *until);

/* In WINDOW_IN, before the first instruction: whether something was left out before it, behind what
 * was captured before. Counts regions. */
bool window_captures(struct window *window, struct window_call *call);

/* Instructions that were captured. */
uint64_t window_captured(const struct window *window);

#endif
