/* Reports of `bustap cache --compare`: a row for each hierarchy. */
#ifndef TOOLS_CACHE_COMPARE_REPORT_H
#define TOOLS_CACHE_COMPARE_REPORT_H

#include "tools/cache/study/compare.h"
#include "tools/input/record_input.h"

#include <stdio.h>

/* input: what was read. */
void comparison_text(const struct comparison *comparison, const struct record_input_settings *input,
                     FILE *out);
void comparison_csv(const struct comparison *comparison, FILE *out);

/* JSON goes to standard output. 0 or BT_MEMORY. */
int comparison_json(const struct comparison *comparison, const struct record_input_settings *input,
                    struct bt_error *error);

#endif
