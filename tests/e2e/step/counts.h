/* How often the instruction at each address was executed: a table by address, and nothing more. */
#ifndef TESTS_E2E_STEP_COUNTS_H
#define TESTS_E2E_STEP_COUNTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct count {
    uint64_t count; /* executions */
    uint32_t address;
    uint8_t used; /* 0 in an empty slot */
    uint8_t size; /* in bytes; 0: not known yet */
    uint8_t kind; /* enum code_kind */
};

struct counts {
    struct count *slots; /* a power of two */
    size_t slot_count;
    size_t used;
};

/* The row of an address; where there was none, one that is all zero but for the address. Valid
 * until the next call. NULL without memory. */
struct count *counts_find(struct counts *counts, uint32_t address);

/* Writes "ADDRESS SIZE COUNT KIND" lines (hexadecimal, decimal, decimal, a word), by address. 0, or
 * -1 without memory. */
int counts_print(const struct counts *counts, FILE *file);
void counts_clear(struct counts *counts);

#endif
