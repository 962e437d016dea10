/* A set of addresses: where runs are to stop. */
#ifndef CAPTURE_EXEC_DISPATCH_BREAKPOINTS_H
#define CAPTURE_EXEC_DISPATCH_BREAKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: empty. */
struct breakpoints {
    uint64_t *slots; /* a power of two of them; 0: free */
    size_t capacity, count;
};

/* Adds an address other than 0. False: it is there already, or there is no memory for it. */
bool breakpoints_add(struct breakpoints *breakpoints, uint64_t address);
bool breakpoints_has(const struct breakpoints *breakpoints, uint64_t address);

/* Empties the set and frees its memory. */
void breakpoints_clear(struct breakpoints *breakpoints);

#endif
