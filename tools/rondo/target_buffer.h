/* The branch target buffer: sets of branches with their last targets, LRU replacement. */
#ifndef TOOLS_RONDO_TARGET_BUFFER_H
#define TOOLS_RONDO_TARGET_BUFFER_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>

struct NAMED_FIELDS target_buffer_entry {
    uint64_t address, target;
    uint64_t used; /* time of the last use; 0: empty */
};

struct target_buffer {
    struct target_buffer_entry *entries; /* NULL: no buffer */
    uint64_t set_mask;
    uint32_t ways;
    uint64_t now;
};

/* False without memory. */
bool target_buffer_make(struct target_buffer *buffer, uint32_t entries, uint32_t ways);
void target_buffer_clear(struct target_buffer *buffer);

/* The stored target of the branch, or 0. */
uint64_t target_buffer_find(const struct target_buffer *buffer, uint64_t address);

/* As target_buffer_find; then stores the target. */
uint64_t target_buffer_put(struct target_buffer *buffer, uint64_t address, uint64_t target);

#endif
