/* Counts the requests of a trace by keys. */
#ifndef TOOLS_TOP_TOP_STUDY_H
#define TOOLS_TOP_TOP_STUDY_H

#include "formats/base/named_fields.h"
#include "formats/record/batch.h"
#include "tools/top/frequent.h"
#include "tools/top/top_key.h"

struct top_study;

struct NAMED_FIELDS top_study_settings {
    struct top_key key; /* its places must outlive the study */
    uint64_t entries;   /* of frequent_new() */
    bool rates;         /* also count since the last snapshot */
};

/* What was counted. */
struct NAMED_FIELDS top_totals {
    uint64_t records;
    uint64_t dropped; /* records that are no references, if the key is a place */
    uint64_t lost;    /* requests lost in the capture */
    uint64_t gaps;    /* chosen gaps */
    uint64_t touched; /* occurrences of keys: a reference touches one line, or several */
    uint64_t held;    /* keys held */
    uint64_t threshold;
    uint64_t first_tick, last_tick; /* of the records */
};

/* A key of a snapshot. */
struct NAMED_FIELDS top_row {
    uint64_t number; /* top_key_value() */
    uint64_t count;  /* at most; at least count - error */
    uint64_t error;
    uint64_t kinds[FREQUENT_KINDS]; /* at least */
    uint64_t processors;            /* of struct frequent_entry */
    uint64_t first_tick, last_tick;
    uint64_t recent; /* count since the last snapshot */
};

struct NAMED_FIELDS top_snapshot {
    struct top_totals totals;
    uint64_t recent; /* records since the last snapshot */
    size_t count;
    struct top_row *rows; /* in descending order of count, then in the key's order */
};

/* NULL and *error on failure. */
struct top_study *top_study_new(const struct top_study_settings *settings, struct bt_error *error);
void top_study_free(struct top_study *study);

/* Counts the records of a batch. 0 or BT_MEMORY. */
int top_study_put(struct top_study *study, const struct batch *batch, struct bt_error *error);

/*
 * Takes the most frequent `rows` keys, or, by_recent, those that were most frequent since the last
 * snapshot. Then begins to count `recent` anew. 0 or BT_MEMORY; free with top_snapshot_clear.
 */
int top_study_snapshot(struct top_study *study, size_t rows, bool by_recent,
                       struct top_snapshot *snapshot, struct bt_error *error);
void top_snapshot_clear(struct top_snapshot *snapshot);

/* Orders the rows of a snapshot by their counts, or by_recent, then by their numbers. */
void top_snapshot_sort(struct top_snapshot *snapshot, bool by_recent);

const struct top_key *top_study_key(const struct top_study *study);

#endif
