/* Attributes misses to the instructions or pages whose references cause them. */
#ifndef TOOLS_CACHE_STUDY_ATTRIBUTION_H
#define TOOLS_CACHE_STUDY_ATTRIBUTION_H

#include "tools/cache/model/hierarchy.h"

#define ATTRIBUTION_PAGE_BYTES 4096u

enum attribution_key {
    ATTRIBUTE_NOTHING,
    ATTRIBUTE_INSTRUCTIONS, /* by the address of the processor's last fetch */
    ATTRIBUTE_PAGES         /* by the page of the reference's first byte */
};

struct attributed {
    uint32_t address;              /* of the instruction, or of the page's first byte */
    uint64_t references;           /* records */
    uint64_t misses[CACHE_LEVELS]; /* in all caches of a level */
};

struct attribution;

/* NULL and *error without memory. */
struct attribution *attribution_new(enum attribution_key key, struct bt_error *error);
void attribution_free(struct attribution *attribution);

/* Simulates records, as hierarchy_put does, and attributes the misses of each. 0 or BT_MEMORY. */
int attribution_put(struct attribution *attribution, struct hierarchy *hierarchy,
                    const struct record *records, size_t count, struct bt_error *error);

/* Forgets all counts, but not the last fetches. */
void attribution_reset(struct attribution *attribution);

/* The counts, in no order; valid until the next call with this attribution. */
const struct attributed *attribution_rows(const struct attribution *attribution, size_t *count);

/* The counts of references before the first fetch of their processor. */
const struct attributed *attribution_unknown(const struct attribution *attribution);

#endif
