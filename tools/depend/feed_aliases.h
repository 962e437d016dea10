/*
 * Memory that a program has mapped at two addresses: references through the second one are
 * references to the first one.
 */
#ifndef TOOLS_DEPEND_FEED_ALIASES_H
#define TOOLS_DEPEND_FEED_ALIASES_H

#include "capture/exec/kernel/system_call.h"

#include <stdbool.h>

#define FEED_SHARED_MAX 64u

/* A mapping of a file whose writes other mappings see, or a part of one. */
struct feed_shared {
    uint64_t device, file, offset; /* in the file */
    uint64_t begin, end;           /* addresses */
    uint64_t first;                /* where the same bytes were mapped first: often begin */
};

/* Zeroed is empty; later mappings than FEED_SHARED_MAX are not known. */
struct feed_aliases {
    struct feed_shared shared[FEED_SHARED_MAX];
    unsigned count;
    bool has_aliases; /* first differs from begin */
};

/* A system call has returned. */
void feed_aliases_called(struct feed_aliases *aliases, const struct system_call *call);

/* The address by which memory is known. */
uint64_t feed_aliases_find(const struct feed_aliases *aliases, uint64_t address);

#endif
