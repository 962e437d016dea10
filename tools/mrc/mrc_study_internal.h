/* The state of a study. Private to mrc_study.c and mrc_study_run.c. */
#ifndef TOOLS_MRC_MRC_STUDY_INTERNAL_H
#define TOOLS_MRC_MRC_STUDY_INTERNAL_H

#include "formats/record/reference.h"
#include "tools/mrc/mrc_study.h"

struct mrc_study {
    struct mrc_study_settings settings;
    struct mrc_study_totals totals;
    bool leading;
    bool resolving;            /* the run holds pending references of later parts */
    uint64_t first_window;     /* window of the first record of this part; UINT64_MAX: none yet */
    size_t window_counts_left; /* see series_new */
    uint64_t window;           /* the current window; 0 without windows */
    uint64_t record;           /* number of the next record in the trace */
    uint64_t tick;             /* tick of the last record */
    uint64_t touches; /* references to lines so far, including lines that are not sampled */
    unsigned buckets;
    unsigned line_shift;
    unsigned kinds; /* series of each cache */
    uint8_t kind[256];
    uint16_t cache_of_kind[REFERENCE_KINDS], series_of_kind[REFERENCE_KINDS];
    uint16_t caches_a_processor, series_a_processor; /* 0: processors are not distinguished */
    struct bank *bank;
    struct shards *shards;       /* instead of the bank, for a fixed number of lines; or NULL */
    struct simulated *simulated; /* instead of the bank, with BANK_SIMULATED; or NULL */
    uint64_t origins[256];       /* SIMULATED_ORIGIN of each processor's last fetch, or 0 */
    struct simulated_sizes *taken_sizes; /* of a study that has taken others' misses */
    uint64_t *taken_misses[MRC_SERIES_MAX];
    unsigned taken_groups;
    struct series *series[MRC_SERIES_MAX];
    struct pending_list pending;
    struct bank_run run;
    uint16_t series_of[BANK_RUN_MAX]; /* of each reference in the run */
    uint64_t times[BANK_RUN_MAX];     /* time that a pending reference stores */
};

/* A series, allocated on first use; number < MRC_SERIES_MAX. NULL and *error without memory. */
struct series *mrc_study_find_series(struct mrc_study *study, unsigned number,
                                     struct bt_error *error);

/* Fills the run with the lines of records of the current window. *taken becomes the number of
 * records used, at least one of count. 0 or BT_MEMORY. */
int mrc_study_fill(struct mrc_study *study, const struct record *records, size_t count,
                   size_t *taken, struct bt_error *error);

/* Computes and counts the outcomes of the run. 0 or a negative code. */
int mrc_study_run(struct mrc_study *study, struct bt_error *error);

#endif
