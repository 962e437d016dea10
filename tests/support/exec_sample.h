/*
 * Small programs that need only their arguments: compiled as C, they can be copied anywhere and
 * run there, natively or translated.
 */
#ifndef TESTS_SUPPORT_EXEC_SAMPLE_H
#define TESTS_SUPPORT_EXEC_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t exec_sample(uint64_t *memory, uint64_t count);

exec_sample exec_sample_sort;     /* quicksort of `count` numbers of 8 bytes; a hash of them */
exec_sample exec_sample_multiply; /* square matrices of doubles, side `count`: c after a and b */
exec_sample exec_sample_text;     /* bytes: lengths, searches, copies, hashes, `count` of them */
exec_sample exec_sample_calls;    /* recursion, and calls through a table */

extern const struct exec_sample_entry {
    const char *name;
    exec_sample *run;
} exec_samples[4];

/* The code of all samples. */
const void *exec_sample_code(size_t *size);

/* Address of a sample in a copy of the code. */
uint64_t exec_sample_at(const struct exec_sample_entry *entry, uint64_t copy);

#endif
