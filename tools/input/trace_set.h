/* Groups the files read by capture and checks whether each capture is complete. */
#ifndef TOOLS_INPUT_TRACE_SET_H
#define TOOLS_INPUT_TRACE_SET_H

#include "tools/input/trace_check.h"

/* Reads all paths into set and sorts it (trace_set_sort). 0 or a negative code; call trace_set_free
 * in any case. */
int trace_set_read(struct trace_set *set, const struct input_paths *paths,
                   const struct input_trace_settings *settings, struct input_report *report,
                   struct tally *tally, struct bt_error *error);
void trace_set_free(struct trace_set *set);

/* Sorts the files: those of a capture together and by number. */
void trace_set_sort(struct trace_set *set);

/* Number of files from index `first` that belong to one capture; 0 at the end. */
size_t trace_set_capture(const struct trace_set *set, size_t first);

/* The sums and the verdict for one capture, from its files. */
struct trace_verdict {
    bool complete;  /* no delivered record is missing, except for counted losses */
    char why[384];  /* unless complete: the first reason */
    bool boardless; /* which is that no board counted requests: made of records without a header */
    uint64_t files;
    uint64_t records;
    uint64_t lost[LOSS_STAGES];
    uint64_t gaps;        /* number of times the board was disconnected or silent */
    uint64_t gap_ms;      /* total length of these gaps */
    uint64_t chosen_gaps; /* gaps chosen by options of `bustap exec`; not among `gaps` */
    uint64_t bytes;
    uint64_t first_tick, last_tick; /* 0 without records */
    uint32_t removed_files;         /* a ring has removed files 1 to this */
    uint32_t ring;                  /* number of files that the ring keeps */
    uint64_t removed;               /* number of records and losses in the removed files */
    uint64_t removed_lost;          /* number of losses among them, by the last closing member */
    const struct trace_file *last;  /* file with the final closing member; NULL: missing */
};

/* Computes the verdict for a capture of count files. A trace without a header is complete if all of
 * it was readable. */
void trace_set_judge(struct trace_verdict *verdict, const struct trace_file *files, size_t count);

#endif
