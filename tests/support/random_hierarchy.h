/* Random hierarchies of small caches, and traces with many conflicts in them. */
#ifndef TESTS_SUPPORT_RANDOM_HIERARCHY_H
#define TESTS_SUPPORT_RANDOM_HIERARCHY_H

#include "formats/record/record.h"
#include "tools/cache/model/hierarchy.h"

/* From plain to one with every option; most are possible, not all. */
void random_hierarchy(uint64_t *state, struct hierarchy_settings *settings);

/* Makes count records; sizes and addresses depend on the settings' lines. */
void random_references(uint64_t *state, const struct hierarchy_settings *settings,
                       struct record *records, size_t count);

#endif
