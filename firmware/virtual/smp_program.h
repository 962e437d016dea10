/*
 * The program of the virtual multiprocessor: a small instruction set, and a program in it,
 * generated from a seed. All processors execute the same text, each on private and on shared data.
 */
#ifndef FIRMWARE_VIRTUAL_SMP_PROGRAM_H
#define FIRMWARE_VIRTUAL_SMP_PROGRAM_H

#include "formats/base/named_fields.h"

#include <stddef.h>
#include <stdint.h>

enum smp_operation {
    SMP_SET,        /* d = number */
    SMP_ADD,        /* d = a + b */
    SMP_ADDI,       /* d = a + number */
    SMP_MULTIPLY,   /* d = a * number */
    SMP_AND,        /* d = a & number */
    SMP_SHIFT,      /* d = a >> number */
    SMP_LOAD,       /* d = memory[a + number] */
    SMP_ADD_LOAD,   /* d = d + memory[a + number] */
    SMP_STORE,      /* memory[a + number] = b */
    SMP_SWAP,       /* atomically: d with memory[a + number] */
    SMP_LESS,       /* if a < b go to number */
    SMP_NOT_EQUAL,  /* if a != b go to number */
    SMP_EQUAL,      /* if a == b go to number */
    SMP_LOOP,       /* d = d + b itself; if d < a go to number */
    SMP_JUMP,       /* go to number */
    SMP_CALL,       /* call the function whose ordinal is a, modulo their number */
    SMP_RETURN,     /* from a function or an interrupt */
    SMP_RESUME,     /* from system management */
    SMP_DEVICE_IN,  /* d = device register number, through memory; size b */
    SMP_DEVICE_OUT, /* device register number = a, through memory; size b */
    SMP_IN,         /* d = I/O port number; size b */
    SMP_OUT,        /* I/O port number = a; size b */
    SMP_HALT,       /* until the next interrupt */
    SMP_WRITE_BACK  /* write back and invalidate the caches */
};

struct NAMED_FIELDS smp_instruction {
    uint8_t operation;
    uint8_t d, a, b; /* registers */
    uint32_t number; /* or the ordinal of an instruction */
};

#define SMP_REGISTERS   16u
#define SMP_INSTRUCTION 8u /* bytes in the processor's memory */
#define SMP_TEXT_MAX    8192u
#define SMP_FUNCTIONS   64u

/* Registers with a fixed meaning when a program starts. */
enum {
    SMP_R_ZERO = 0,
    SMP_R_PRIVATE = 1, /* start of the processor's private data */
    SMP_R_SHARED = 2,  /* start of the shared data */
    SMP_R_RANDOM = 3,  /* the program's random numbers */
    SMP_R_SELF = 4     /* ordinal of the processor plus 1 */
};

/* Physical memory. */
#define SMP_TEXT_ADDRESS    0x00100000u
#define SMP_SHARED_ADDRESS  0x00800000u
#define SMP_SHARED_BYTES    0x00010000u
#define SMP_PRIVATE_ADDRESS 0x01000000u
#define SMP_PRIVATE_BYTES   0x00040000u /* each processor */
#define SMP_DEVICE_ADDRESS  0xfee00000u

/* Shared data, as offsets: each lock and the data it guards are in separate lines. */
#define SMP_COUNTERS       8u
#define SMP_COUNTER(n)     ((n)*64u) /* the lock; the counter is in the next line */
#define SMP_COUNTER_VALUE  32u
#define SMP_QUEUES         2u
#define SMP_QUEUE(n)       (0x1000u + (n)*0x1000u) /* the lock */
#define SMP_QUEUE_HEAD     32u                     /* items put so far; their sum; */
#define SMP_QUEUE_PUT_SUM  36u
#define SMP_QUEUE_TAIL     64u /* items taken so far; their sum */
#define SMP_QUEUE_TAKE_SUM 68u
#define SMP_QUEUE_ITEMS    128u
#define SMP_QUEUE_LENGTH   256u /* items */

/* Private data: the first words count what the processor added to each shared counter. */
#define SMP_ADDED(n)     ((n)*4u)
#define SMP_CHAIN        0x20000u /* a ring of nodes, each holding the offset of the next */
#define SMP_CHAIN_NODES  2048u
#define SMP_CHAIN_STRIDE 64u

struct smp_program {
    struct smp_instruction text[SMP_TEXT_MAX];
    uint32_t count;
    uint32_t functions[SMP_FUNCTIONS]; /* start of each */
    uint32_t start;                    /* the main loop: calls functions at random, for ever */
    uint32_t interrupt;                /* handler; returns with SMP_RETURN */
    uint32_t management;               /* handler; returns with SMP_RESUME */
};

/* Makes the program. random is an xorshift state, not 0. */
void smp_program_make(struct smp_program *program, uint64_t *random);

#endif
