/*
 * A thread of the program that is executed: its registers, and what translated code keeps beside
 * them. gs points to it from exec_thread_bind() on, in translated code and in C; fs is the
 * program's only while translated code runs.
 *
 * Translated code and trampoline.c use the offsets below.
 */
#ifndef CAPTURE_EXEC_TRANSLATE_EXEC_THREAD_H
#define CAPTURE_EXEC_TRANSLATE_EXEC_THREAD_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXEC_LOOKUP_ENTRIES       65536u
#define EXEC_SIDES                3u /* tables, for sets of translated code (executor.h) */
#define EXEC_THREAD_SCRATCH_BYTES 4096u

/* The two places of a target: blocks look at the first, exec_look_again() at the second. */
#define EXEC_LOOKUP_FIRST(target)  ((uint16_t)(target))
#define EXEC_LOOKUP_SECOND(target) ((uint16_t)((target) + 72 * (uint16_t)((target) >> 16)))

struct executor;

/* Where an indirect branch goes on: code for one target. */
struct NAMED_FIELDS exec_lookup {
    uint64_t minus_target; /* added to the target: 0 where it is the one */
    uint64_t code;
};

struct exec_thread {
    uint64_t registers[16]; /* in the order of encodings; in translated code, slots for those that
                               a block borrows */
    uint64_t rip;
    uint64_t flags;
    uint64_t fs_base;
    uint64_t host_stack; /* rsp of exec_enter(), while translated code runs */
    uint64_t host_fs;
    uint64_t pointer;     /* the next entry in the trace buffer */
    uint64_t jump;        /* the target of an indirect branch; the code to enter */
    uint32_t exit;        /* number of the exit that left translated code */
    uint8_t vector_live;  /* registers hold the program's vector state; else *vector does */
    uint8_t fs_by_system; /* no FSGSBASE: fs is set by a system call */
    uint8_t has_avx;
    uint8_t has_xsaveopt;
    uint8_t *vector;      /* x87, vector and mask registers in the standard form of XSAVE; what its
                             header does not name is in its initial state, whatever stands there */
    uint64_t vector_mask; /* the components in it */
    struct exec_thread *self;
    struct executor *executor;  /* who runs it; NULL: nobody */
    volatile uint8_t interrupt; /* a signal waits: translated code is not entered */
    uint32_t x87_unsettled;     /* 0: x87's instruction pointer is the program's, for one block */
    uint64_t *state;            /* exec_step()'s, while translated code runs */
    void (*leave)(void);        /* where translated code goes that leaves, and */
    void (*again)(void);        /* with a target that it has not found; whoever enters says so */
    uint64_t side;              /* half the offset of the table in use */
    int64_t turn;               /* instructions left, in code that counts them (translate.h) */
    struct exec_lookup lookup[EXEC_SIDES * EXEC_LOOKUP_ENTRIES];
    uint16_t remembered[EXEC_SIDES][EXEC_LOOKUP_ENTRIES]; /* entries in use, */
    uint32_t remembered_count[EXEC_SIDES];                /* so many */
    unsigned generation[EXEC_SIDES]; /* of the executor's, when they were last in order */
    size_t vector_bytes;             /* of *vector */
    void *note_context; /* for the executor's note function; NULL: the one in its settings */
    bool trap_due;      /* the program's trap flag was set as the last instruction began */
    bool stepping_out;  /* the trap flag is set until the program's state is whole */
    uint8_t x87_environment[28]; /* as fnstenv stores it, before a block that does */
    /* memory that translated code can have as an operand, whatever the registers are */
    _Alignas(64) uint8_t scratch[EXEC_THREAD_SCRATCH_BYTES];
};

#define EXEC_THREAD_RIP          128
#define EXEC_THREAD_FLAGS        136
#define EXEC_THREAD_FS_BASE      144
#define EXEC_THREAD_HOST_STACK   152
#define EXEC_THREAD_HOST_FS      160
#define EXEC_THREAD_POINTER      168
#define EXEC_THREAD_JUMP         176
#define EXEC_THREAD_EXIT         184
#define EXEC_THREAD_VECTOR_LIVE  188
#define EXEC_THREAD_FS_BY_SYSTEM 189
#define EXEC_THREAD_HAS_AVX      190
#define EXEC_THREAD_HAS_XSAVEOPT 191
#define EXEC_THREAD_VECTOR       192
#define EXEC_THREAD_VECTOR_MASK  200
#define EXEC_THREAD_SELF         208
#define EXEC_THREAD_INTERRUPT    224
#define EXEC_THREAD_X87          228
#define EXEC_THREAD_STATE        232
#define EXEC_THREAD_LEAVE        240
#define EXEC_THREAD_AGAIN        248
#define EXEC_THREAD_SIDE         256
#define EXEC_THREAD_TURN         264
#define EXEC_THREAD_LOOKUP       272
#define EXEC_LOOKUP_BYTES        (EXEC_LOOKUP_ENTRIES * 16) /* of a table */

/* Before the thread is memory that nobody may touch: code that counts touches it once there are not
 * enough instructions left. */
static inline const void *exec_thread_fence(const struct exec_thread *thread)
{
    return (const uint8_t *)thread - 8;
}

/* A thread with all registers 0, vector state as a process begins with it, flags 0x202. Frees with
 * exec_thread_free(). NULL with *error where memory is short or the processor has no XSAVE. */
struct exec_thread *exec_thread_new(struct bt_error *error);
void exec_thread_free(struct exec_thread *thread);

/* Where `vector` points as long as nobody puts something else in its place. */
uint8_t *exec_thread_own_vector(struct exec_thread *thread);

/* Makes the calling thread execute *thread from now on: sets gs, and notes its own fs. */
int exec_thread_bind(struct exec_thread *thread, struct bt_error *error);

/* The same where it executes another one already. */
void exec_thread_take_over(struct exec_thread *thread);

/* Branches go by the table of a side from now on: 0 to EXEC_SIDES - 1. */
void exec_thread_use(struct exec_thread *thread, unsigned side);

/* Forgets all targets of indirect branches of a side; takes as long as there are such. */
void exec_thread_forget(struct exec_thread *thread, unsigned side);

/* Makes indirect branches to target, of the side in use, go on in code. What stands in its first
 * place moves to its own second one. */
void exec_thread_remember(struct exec_thread *thread, uint64_t target, const void *code);

#endif
