/* Finds and executes the new instructions of aria_define(). */
#ifndef CAPTURE_EXEC_ARIA_DEFINE_H
#define CAPTURE_EXEC_ARIA_DEFINE_H

#include "capture/exec/aria/aria.h"

#define DEFINE_REFERENCES 64u

struct definitions;

struct definitions *definitions_new(struct aria *aria, struct bt_error *error);
void definitions_free(struct definitions *definitions);

/* Checks an instruction and adds a copy. */
int definitions_add(struct definitions *definitions, const struct aria_instruction *instruction,
                    struct bt_error *error);

/* The size of the new instruction at the start of the bytes; 0: none. */
unsigned definitions_find(void *definitions, const uint8_t *bytes, size_t size);

/* The result of a new instruction: its references, or the signal that it raises; 0: none. */
struct definitions_done {
    int signal;
    uint64_t fault_address;
    unsigned size;      /* of the instruction */
    unsigned own_reads; /* not taken: number of reads of bytes that the path has stored */
    unsigned count;
    struct {
        uint64_t address;
        unsigned size;
        bool write;
    } references[DEFINE_REFERENCES];
};

/* Fills in its records, 1 + DEFINE_REFERENCES at most. Returns their number. */
size_t definitions_records(const struct definitions_done *done, uint64_t address, bool only_fetches,
                           struct record *records);

/* Executes the one at the thread's rip, and does not change rip. */
void definitions_do(struct definitions *definitions, enum aria_version version,
                    struct definitions_done *done);

#endif
