/* What a study remembers. Private to tools/mrc/study*.c. */
#ifndef TOOLS_MRC_MRC_STUDY_INTERNAL_H
#define TOOLS_MRC_MRC_STUDY_INTERNAL_H

#include "formats/record/reference.h"
#include "tools/mrc/mrc_study.h"

struct mrc_study {
    struct mrc_study_settings settings;
    struct mrc_study_totals totals;
    bool leading;
    bool resolving;        /* what is run was met by the parts behind */
    uint64_t first_window; /* that begins in this part, or just in front of it; UINT64_MAX: none */
    uint64_t window;       /* the present one; 0 where there are none */
    uint64_t record;       /* the ordinal of the next record in the trace */
    uint64_t tick;         /* of the last record */
    uint64_t touches;      /* references to lines so far, those that are not followed too */
    unsigned buckets;
    unsigned line_shift;
    unsigned kinds; /* series of a cache */
    uint8_t kind[256];
    uint16_t cache_of_kind[REFERENCE_KINDS], series_of_kind[REFERENCE_KINDS];
    uint16_t caches_a_processor, series_a_processor; /* 0: processors are not told apart */
    struct bank *bank;
    struct series *series[MRC_SERIES_MAX];
    struct pending_list pending;
    struct bank_run run;
    uint16_t series_of[BANK_RUN_MAX]; /* of each reference in the run */
    uint64_t times[BANK_RUN_MAX];     /* of each: what a pending one keeps */
};

/* A series, made if need be; number < MRC_SERIES_MAX. NULL and *error without memory. */
struct series *mrc_study_find_series(struct mrc_study *study, unsigned number,
                                     struct bt_error *error);

/* Fills the run with the lines of records that are all in the present window; *taken tells how many
 * records it took, at least one of count. 0 or BT_MEMORY. */
int mrc_study_fill(struct mrc_study *study, const struct record *records, size_t count,
                   size_t *taken, struct bt_error *error);

/* Finds the outcomes of the run, and counts them. 0 or a negative code. */
int mrc_study_run(struct mrc_study *study, struct bt_error *error);

#endif
