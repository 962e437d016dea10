/*
 * Programs of real x86 instructions that nobody wrote, and walks through them: what is fetched, and
 * what each step from one instruction to the next is. A program has user code and, in another
 * image, a kernel: one handler of interrupts, one of system calls.
 */
#ifndef TESTS_SUPPORT_X86_PROGRAM_H
#define TESTS_SUPPORT_X86_PROGRAM_H

#include "formats/base/named_fields.h"
#include "formats/record/record.h"

#include <stdbool.h>

#define X86_PROGRAM_INSTRUCTIONS 160u
#define X86_PROGRAM_CODE         2048u
#define X86_PROGRAM_PAIRS        1024u
#define X86_PROGRAM_STACK        64u
#define X86_PROGRAM_USER         0x8049000u
#define X86_PROGRAM_KERNEL       0xc0101000u

enum x86_kind {
    X86_PLAIN,
    X86_CONDITIONAL,
    X86_JUMP,
    X86_INDIRECT_JUMP,
    X86_CALL,
    X86_INDIRECT_CALL,
    X86_RETURN,
    X86_SYSTEM_CALL,
    X86_SYSTEM_RETURN,
    X86_CONTEXT_RETURN,
    X86_REPEAT
};

struct x86_instruction {
    uint32_t address;
    uint8_t size;
    uint8_t kind; /* enum x86_kind */
    int target;   /* of jumps and calls; -1 for none */
};

/* A step that was taken: from one instruction to another, with the type that DCFG has for it. A
 * type of a bypass without a count is one that was come back over. */
struct NAMED_FIELDS x86_pair {
    int source;
    int target;
    uint8_t type; /* enum dcfg_edge_type */
    bool taken;   /* false for a bypass that only stands for a call and its return */
};

struct x86_program {
    unsigned bits;
    struct x86_instruction instructions[X86_PROGRAM_INSTRUCTIONS];
    int count;
    int user_count; /* the others are the kernel's */
    int interrupt;  /* where its handlers begin */
    int system_call;
    uint8_t user_code[X86_PROGRAM_CODE];
    uint8_t kernel_code[X86_PROGRAM_CODE];
    size_t user_size;
    size_t kernel_size;
    struct x86_pair pairs[X86_PROGRAM_PAIRS];
    int pair_count;
};

/* One that walks through it. Zero at first. */
struct x86_walk {
    uint64_t random;
    int at;
    bool started;
    unsigned interrupts; /* one step in so many is interrupted; 0: none is */
    bool kernel_seen;    /* system calls go to the kernel; else they are stepped over */
    struct {
        int source; /* what left for here */
        int resume; /* where it goes on */
        uint8_t type;
    } stack[X86_PROGRAM_STACK];
    int depth;
};

/* A program of some fifty instructions; bits is 32 or 64. */
void x86_program_make(struct x86_program *program, uint64_t seed, unsigned bits);

/* The next instruction that the walk executes; its number. Notes the step in the program's pairs.
 */
int x86_program_step(struct x86_program *program, struct x86_walk *walk);

/* The fetch of an instruction. */
struct record x86_program_fetch(const struct x86_program *program, int instruction,
                                uint8_t processor);

/* Writes the two images to PATH.user and PATH.kernel. */
void x86_program_write(const struct x86_program *program, const char *path);

#endif
