/* A set of addresses before which runs stop. */
#ifndef CAPTURE_EXEC_DISPATCH_BREAKPOINTS_H
#define CAPTURE_EXEC_DISPATCH_BREAKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: empty. */
struct breakpoints {
    uint64_t *slots; /* hash table of `capacity` slots, a power of two; 0: free */
    size_t capacity, count;
};

/* Adds an address other than 0. False: already present, or no memory. */
bool breakpoints_add(struct breakpoints *breakpoints, uint64_t address);
bool breakpoints_has(const struct breakpoints *breakpoints, uint64_t address);

/* Empties the set and frees its memory. */
void breakpoints_clear(struct breakpoints *breakpoints);

#endif
