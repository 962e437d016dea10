/* Reports of `bustap cache --compare`: a row for each hierarchy. */
#ifndef TOOLS_CACHE_COMPARE_REPORT_H
#define TOOLS_CACHE_COMPARE_REPORT_H

#include "tools/cache/compare.h"

#include <stdio.h>

void comparison_text(const struct comparison *comparison, FILE *out);
void comparison_csv(const struct comparison *comparison, FILE *out);

/* JSON goes to standard output. 0 or BT_MEMORY. */
int comparison_json(const struct comparison *comparison, struct bt_error *error);

#endif
