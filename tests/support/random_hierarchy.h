/* Random hierarchies of small caches, and traces in which everything collides in them. */
#ifndef TESTS_SUPPORT_RANDOM_HIERARCHY_H
#define TESTS_SUPPORT_RANDOM_HIERARCHY_H

#include "formats/record/record.h"
#include "tools/cache/hierarchy.h"

/* From a plain one to everything at once; most are possible, not all. */
void random_hierarchy(uint64_t *state, struct hierarchy_settings *settings);

/* count records; sizes and addresses go by the settings' lines. */
void random_references(uint64_t *state, const struct hierarchy_settings *settings,
                       struct record *records, size_t count);

#endif
