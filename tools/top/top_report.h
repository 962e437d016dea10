/* The reports of a snapshot: text, CSV, JSON. */
#ifndef TOOLS_TOP_TOP_REPORT_H
#define TOOLS_TOP_TOP_REPORT_H

#include "tools/input/record_input.h"
#include "tools/top/top_study.h"

#include <stdio.h>

struct NAMED_FIELDS top_report {
    const struct top_snapshot *snapshot;
    const struct top_key *key;
    uint64_t entries;                          /* of the sketch; 0: exact */
    const struct record_input_settings *input; /* what was selected of it */
    const struct places *places;               /* names of addresses; NULL: none */
    double seconds; /* length of the time since the last snapshot; 0: no rates */
};

/* Prints what was counted, and the table. */
void top_report_text(const struct top_report *report, FILE *out);

/* The table alone, of the first rows. */
void top_report_table(const struct top_report *report, size_t rows, FILE *out);
void top_report_csv(const struct top_report *report, FILE *out);

/* One object. 0 or BT_MEMORY. */
int top_report_json(const struct top_report *report, FILE *out, struct bt_error *error);

#endif
