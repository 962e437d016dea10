/*
 * How a program begins: its stack with arguments, environment and auxiliary vector, and its first
 * registers (System V ABI, AMD64 supplement, 3.4.1; getauxval(3)). It is told nothing of the vDSO,
 * whose code and data the kernel maps above 4 GiB, and nothing of restartable sequences.
 */
#ifndef CAPTURE_EXEC_MEMORY_INITIAL_STACK_H
#define CAPTURE_EXEC_MEMORY_INITIAL_STACK_H

#include "capture/exec/memory/load.h"

#define INITIAL_STACK_RANDOM_BYTES 16

struct initial_stack_options {
    const char *const *environment; /* ends with NULL */
    const uint8_t
        *random; /* INITIAL_STACK_RANDOM_BYTES for the program's canaries; NULL: fresh ones */
    uint64_t stack_bytes; /* 0: what RLIMIT_STACK says, as far as there is room */
};

struct initial_stack {
    uint64_t rip; /* the loader's first instruction, or the program's */
    uint64_t rsp; /* at argc; all other registers are 0 */
    uint64_t rflags;
    uint32_t mxcsr;
    uint16_t x87_control;
    uint64_t stack_low; /* the stack's pages */
    uint64_t stack_high;
    uint64_t vector; /* where the auxiliary vector is, and how many bytes, its end included */
    uint64_t vector_bytes;
    uint64_t arguments; /* where the strings of argv are, side by side, as /proc/self/cmdline */
    uint64_t arguments_bytes;
    uint64_t environment_bytes; /* the environment's strings follow, as /proc/self/environ */
};

/* Maps and fills the stack of a program that was loaded into space. 0, or BT_USAGE: arguments and
 * environment are too long for it; BT_IO, BT_MEMORY: it cannot be mapped. */
int initial_stack_new(struct initial_stack *start, struct space *space, const struct load *load,
                      const struct initial_stack_options *options, struct bt_error *error);

#endif
