/* The clocks of traces that are merged: which are the same, and what makes ticks of one clock of
 * them. */
#ifndef TOOLS_CUT_MERGE_CLOCK_H
#define TOOLS_CUT_MERGE_CLOCK_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"
#include "formats/record/capture_info.h"

#include <stddef.h>

/* By how much the ticks of a trace are later in the merged one. */
struct merge_offset {
    bool given;
    bool is_ticks; /* of the merged trace; false: nanoseconds */
    int64_t value;
};

/* "-1.5ms", "300ticks". 0 or BT_USAGE. */
int merge_offset_parse(struct merge_offset *offset, const char *text, struct bt_error *error);

/* The board in the header of a merged capture whose inputs have different ones. */
#define MERGE_BOARD_SEVERAL "several"

struct NAMED_FIELDS merge_input {
    const char *name;                /* for messages */
    const struct capture_info *info; /* all zero: no header */
    struct merge_offset offset;      /* the user's */
    uint64_t bytes;                  /* of its files; 0: a pipe */
    uint64_t processors;             /* added to its processors */
    /* set by merge_clock_join */
    uint64_t clock_hz; /* of its ticks */
    uint64_t later;    /* ticks of the merged trace that are added */
};

struct NAMED_FIELDS merge_clock {
    uint64_t clock_hz;  /* of the merged trace; 0: that of the first input */
    bool by_start;      /* add the differences of the start times */
    int64_t started_ns; /* set: time of day at tick 0 of the merged trace; 0: unknown */
};

/*
 * Finds clock and offset of each input. Offsets below 0 make the others later, so that no tick is
 * below 0. 0; BT_USAGE if it is not known how the clocks of two inputs are related, with what to
 * do.
 */
int merge_clock_join(struct merge_clock *clock, struct merge_input *inputs, size_t count,
                     struct bt_error *error);

/* The tick of the merged trace at a tick of the input; saturates. */
uint64_t merge_clock_tick(const struct merge_clock *clock, const struct merge_input *input,
                          uint64_t tick);

#endif
