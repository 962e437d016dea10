/* Number of executions of the instruction at each address: a hash table by address. */
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

/* Returns the entry of an address; a new one is zero except for the address. Valid until the next
 * call. Returns NULL if memory is short. */
struct count *counts_find(struct counts *counts, uint32_t address);

/* Writes "ADDRESS SIZE COUNT KIND" lines (hexadecimal, decimal, decimal, a word), by address.
 * Returns 0, or -1 if memory is short. */
int counts_print(const struct counts *counts, FILE *file);
void counts_clear(struct counts *counts);

#endif
