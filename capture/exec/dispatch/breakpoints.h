/* A set of addresses before which runs stop. */
#ifndef CAPTURE_EXEC_DISPATCH_BREAKPOINTS_H
#define CAPTURE_EXEC_DISPATCH_BREAKPOINTS_H

#include "formats/base/hash_index.h"

/* All zero: empty. */
struct breakpoints {
    uint64_t *addresses;
    size_t count, capacity;
    struct hash_index by_address;
};

/* Adds an address. False: already present, or no memory. */
bool breakpoints_add(struct breakpoints *breakpoints, uint64_t address);
bool breakpoints_has(const struct breakpoints *breakpoints, uint64_t address);

/* Empties the set and frees its memory. */
void breakpoints_clear(struct breakpoints *breakpoints);

#endif
