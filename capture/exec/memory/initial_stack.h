/*
 * The initial stack of a program, with arguments, environment and auxiliary vector, and its initial
 * registers (System V ABI, AMD64 supplement, 3.4.1; getauxval(3)). The auxiliary vector omits the
 * vDSO, which the kernel maps above 4 GiB, and restartable sequences.
 */
#ifndef CAPTURE_EXEC_MEMORY_INITIAL_STACK_H
#define CAPTURE_EXEC_MEMORY_INITIAL_STACK_H

#include "capture/exec/memory/load.h"

#define INITIAL_STACK_RANDOM_BYTES 16

struct initial_stack_options {
    const char *const *environment; /* ends with NULL */
    const uint8_t *random; /* INITIAL_STACK_RANDOM_BYTES for AT_RANDOM; NULL: from the system */
    uint64_t stack_bytes;  /* 0: RLIMIT_STACK, limited by the free address range */
};

struct initial_stack {
    uint64_t rip; /* entry point of the loader, or of the program */
    uint64_t rsp; /* at argc; all other registers are 0 */
    uint64_t rflags;
    uint32_t mxcsr;
    uint16_t x87_control;
    uint64_t stack_low;  /* first page of the stack */
    uint64_t stack_high; /* end of the stack */
    uint64_t vector;     /* address of the auxiliary vector; its size includes AT_NULL */
    uint64_t vector_bytes;
    uint64_t arguments; /* address of the strings of argv, as in /proc/self/cmdline */
    uint64_t arguments_bytes;
    uint64_t
        environment_bytes; /* the strings of the environment follow, as in /proc/self/environ */
};

/* Maps and fills the stack of a program that was loaded into space. 0, or BT_USAGE: arguments and
 * environment are too long; BT_IO, BT_MEMORY: the stack cannot be mapped. */
int initial_stack_new(struct initial_stack *start, struct space *space, const struct load *load,
                      const struct initial_stack_options *options, struct bt_error *error);

#endif
