/*
 * Random programs of real x86 instructions, and walks through them: the fetches, and the edge of
 * each step from one instruction to the next. A program has user code and, in another image, a
 * kernel: one handler of interrupts, one of system calls.
 */
#ifndef TESTS_SUPPORT_X86_PROGRAM_H
#define TESTS_SUPPORT_X86_PROGRAM_H

#include "formats/base/named_fields.h"
#include "formats/record/record.h"
#include "tools/symbols/image.h"

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

/* A step from one instruction to another, with its DCFG edge type. A bypass type without a count is
 * one over which a routine returned. */
struct NAMED_FIELDS x86_pair {
    int source;
    int target;
    uint8_t type; /* enum dcfg_edge_type */
    bool taken;   /* false for a bypass that only represents a call and its return */
};

struct x86_program {
    unsigned bits;
    struct x86_instruction instructions[X86_PROGRAM_INSTRUCTIONS];
    int count;
    int user_count; /* the kernel's instructions follow */
    int interrupt;  /* first instruction of its handler */
    int system_call;
    uint8_t user_code[X86_PROGRAM_CODE];
    uint8_t kernel_code[X86_PROGRAM_CODE];
    size_t user_size;
    size_t kernel_size;
    struct x86_pair pairs[X86_PROGRAM_PAIRS];
    int pair_count;
};

/* State of a walk. Initially zero. */
struct x86_walk {
    uint64_t random;
    int at;
    bool started;
    unsigned interrupts; /* one in N steps is interrupted; 0: none */
    bool kernel_seen;    /* system calls enter the kernel; else they are stepped over */
    struct {
        int source; /* the instruction that was left */
        int resume; /* the instruction to continue at */
        uint8_t type;
    } stack[X86_PROGRAM_STACK];
    int depth;
};

/* A program of some fifty instructions; bits is 32 or 64. */
void x86_program_make(struct x86_program *program, uint64_t seed, unsigned bits);

/* Executes the next instruction of the walk, and records the step in the program's pairs. Returns
 * the instruction's number. */
int x86_program_step(struct x86_program *program, struct x86_walk *walk);

/* The fetch of an instruction. */
struct record x86_program_fetch(const struct x86_program *program, int instruction,
                                uint8_t processor);

/* Writes the two images to PATH.user and PATH.kernel. */
void x86_program_write(const struct x86_program *program, const char *path);

/* Writes the two images into the folder and loads those that are asked for; NULL if that fails. */
struct images *x86_program_load(const struct x86_program *program, const char *folder, bool user,
                                bool kernel);

#endif
