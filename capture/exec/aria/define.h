/* New instructions, as aria_define() takes them: found in code, and done. */
#ifndef CAPTURE_EXEC_ARIA_DEFINE_H
#define CAPTURE_EXEC_ARIA_DEFINE_H

#include "capture/exec/aria/aria.h"

#define DEFINE_REFERENCES 64u

struct definitions;

struct definitions *definitions_new(struct aria *aria, struct bt_error *error);
void definitions_free(struct definitions *definitions);

/* Checks it, and keeps a copy. */
int definitions_add(struct definitions *definitions, const struct aria_instruction *instruction,
                    struct bt_error *error);

/* The size of the new instruction that the bytes begin with; 0: none. */
unsigned definitions_find(void *definitions, const uint8_t *bytes, size_t size);

/* What came of a new instruction: its references, and a signal in its place, or 0. */
struct definitions_done {
    int signal;
    uint64_t fault_address;
    unsigned size;      /* of the instruction */
    unsigned own_reads; /* not taken: those that find what the path has stored */
    unsigned count;
    struct {
        uint64_t address;
        unsigned size;
        bool write;
    } references[DEFINE_REFERENCES];
};

/* Its records, 1 + DEFINE_REFERENCES at most; how many. */
size_t definitions_records(const struct definitions_done *done, uint64_t address, bool only_fetches,
                           struct record *records);

/* Does the one at the thread's rip, and leaves rip there. */
void definitions_do(struct definitions *definitions, enum aria_version version,
                    struct definitions_done *done);

#endif
