/*
 * A study of one line size: what is asked for, and the counts that answer it.
 *
 * A long trace may be cut into parts that are studied at the same time. Of a part but the leading
 * one, references of lines that it has not met before are pending: the part in front of it goes on
 * with them as if they were its own, in their order, which finds just the distances that one study
 * of the whole would have found; and what that one has not met either goes further on. In the end
 * all counts are added up.
 */
#ifndef TOOLS_MRC_MRC_STUDY_H
#define TOOLS_MRC_MRC_STUDY_H

#include "formats/base/named_fields.h"
#include "formats/record/batch.h"
#include "tools/mrc/bank.h"
#include "tools/mrc/series.h"

#define MRC_LINE_BYTES_MAX (1u << 20)
#define MRC_SERIES_MAX     1536u /* 256 processors, 2 caches of each, 3 kinds */

enum window_unit { WINDOW_NONE, WINDOW_TICKS, WINDOW_REQUESTS };

/* Windows of time: the first one begins with tick 0, or with the first request. */
struct NAMED_FIELDS mrc_window {
    enum window_unit unit;
    uint64_t length; /* not 0, unless there are none */
};

struct mrc_study_settings {
    enum bank_kind kind;
    uint32_t line_bytes; /* a power of two */
    uint32_t sets;       /* a power of two; 1: fully associative */
    bool by_processor;   /* each has caches of its own */
    bool split;          /* instructions and data have caches of their own */
    bool by_kind;        /* counted by kind of request */
    uint64_t sample;     /* the limit of hashes of lines that are followed; SAMPLE_ALL */
    struct mrc_window window;
    bool ticks; /* reuse times are in ticks; else in references */
};

/* A reference that waits for the part in front. */
struct pending {
    uint32_t line;
    uint16_t series;
    uint64_t window;
    uint64_t time; /* tick, or references since the part's beginning */
};

struct NAMED_FIELDS pending_list {
    struct pending *entries; /* from malloc */
    size_t count, capacity;
};

struct mrc_study;

/* A study of the trace's part that begins with record first_record; 0: the leading one. NULL and
 * *error without memory. */
struct mrc_study *mrc_study_new(const struct mrc_study_settings *settings, uint64_t first_record,
                                struct bt_error *error);
void mrc_study_free(struct mrc_study *study);

/* Goes on with a batch. 0 or a negative code. */
int mrc_study_put(struct mrc_study *study, const struct batch *batch, struct bt_error *error);

/*
 * Goes on with what is pending of the part behind; *list is then what is pending of this one: its
 * own, and what it could not resolve. The leading part resolves all. 0 or BT_MEMORY.
 */
int mrc_study_resolve(struct mrc_study *study, struct pending_list *list, struct bt_error *error);

/* Appends all counts to numbers; mrc_study_add adds those of another part of the same trace and
 * settings. 0, BT_MEMORY, BT_DATA. */
int mrc_study_pack(const struct mrc_study *study, struct numbers *numbers, struct bt_error *error);
int mrc_study_add(struct mrc_study *study, const struct numbers *numbers, struct bt_error *error);

/* What was counted of records rather than lines. */
struct mrc_study_totals {
    uint64_t requests; /* records */
    uint64_t dropped;  /* of these: no references to memory */
    uint64_t lost;     /* requests that the trace says are missing */
    uint64_t gaps;     /* places where the trace's user left something out */
};

const struct mrc_study_settings *mrc_study_settings(const struct mrc_study *study);
const struct mrc_study_totals *mrc_study_totals(const struct mrc_study *study);

/* The series of a number below MRC_SERIES_MAX; NULL where nothing was counted. */
const struct series *mrc_study_series(const struct mrc_study *study, unsigned number);

/* What a series is about. */
struct series_name {
    int processor;     /* -1: all */
    const char *cache; /* "instruction", "data"; NULL: unified */
    const char *kind;  /* "fetch", "read", "write"; NULL: all */
};
struct series_name mrc_study_series_name(const struct mrc_study_settings *settings,
                                         unsigned number);

/* Buckets that the kind of study counts windows and times in. */
unsigned mrc_study_buckets(const struct mrc_study_settings *settings);

/* Frees what follows the lines: only counts are left, and may be added and packed. */
void mrc_study_finish(struct mrc_study *study);

#endif
