/*
 * The slow, obvious twin of `bustap wet`: a writer for every byte of every register and of memory,
 * every dependence and value in an array, control dependences after the end. Fed with one
 * instruction after the other (tests/e2e/step_wet.c). The rules are those of doc/wet.md.
 */
#ifndef TESTS_SUPPORT_WET_TWIN_H
#define TESTS_SUPPORT_WET_TWIN_H

#include "tests/support/native_run.h"

#include <stdio.h>

struct wet_twin_range {
    uint64_t address, size;
};

/* What the twin asks about the program. */
struct wet_twin_program {
    /* Reads memory, as it is now. */
    void (*read)(void *context, uint64_t address, uint8_t *to, size_t size);

    /* The function of an address; false: unknown. Names as in the text. */
    bool (*function_of)(void *context, uint64_t address, uint64_t *start, uint64_t *end,
                        char name[256]);

    /* Its file ("?" if unknown) and line (or 0). */
    void (*line_of)(void *context, uint64_t address, char file[256], unsigned *line);

    /* Code that perhaps was never executed: at most 15 bytes; returns their number. */
    size_t (*code_of)(void *context, uint64_t address, uint8_t code[15]);

    void *context;
};

struct wet_twin;

struct wet_twin *wet_twin_new(const struct wet_twin_program *program);
void wet_twin_free(struct wet_twin *twin);

/* The instruction at before->rip was executed, with all its repetitions; after is NULL if the
 * program ended in it. kernel: what a system call wrote to. */
void wet_twin_execute(struct wet_twin *twin, const uint8_t code[15], const struct machine *before,
                      const struct machine *after, const struct wet_twin_range *kernel);

/* Writes the comprehensive text. */
void wet_twin_print(struct wet_twin *twin, FILE *out);

#endif
