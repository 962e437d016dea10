/*
 * A thread of the executed program: its registers, and the data of translated code. gs points to it
 * after exec_thread_bind(), in translated code and in C; fs is the program's only while translated
 * code runs.
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
#define EXEC_SIDES                3u /* lookup tables, one for each code cache of an executor */
#define EXEC_THREAD_SCRATCH_BYTES 4096u

/*
 * Where a target of an indirect branch may be. Blocks with a trace try the first entry of `lookup`,
 * and exec_look_again() the second. Blocks without a trace jump to the code in `targets` at the
 * first place, which verifies the target; if it is another one, exec_find_target() tries the second
 * entry of `lookup`. A target found at its second place is copied to the first, so that of several
 * targets with one first place the last one used is there.
 */
#define EXEC_LOOKUP_FIRST(target)  ((uint16_t)(target))
#define EXEC_LOOKUP_SECOND(target) ((uint16_t)((target) + 72 * (uint16_t)((target) >> 16)))

struct executor;

/* Translated code for one target of indirect branches. */
struct NAMED_FIELDS exec_lookup {
    uint64_t minus_target; /* plus the target of the branch: 0 if the entry matches */
    uint64_t code;
};

struct exec_thread {
    uint64_t registers[16]; /* in the order of encodings; in translated code, slots for those that
                               a block spills */
    uint64_t rip;
    uint64_t flags;
    uint64_t fs_base;
    uint64_t host_stack; /* rsp of exec_enter(), while translated code runs */
    uint64_t host_fs;
    uint64_t pointer;     /* address of the next entry in the trace buffer */
    uint64_t jump;        /* target of an indirect branch, or the code to enter */
    uint32_t exit;        /* number of the exit by which translated code was left */
    uint8_t vector_live;  /* registers hold the program's vector state; else *vector does. 2: only
                             xmm0 to xmm15 and MXCSR, *vector the rest */
    uint8_t fs_by_system; /* no FSGSBASE: a system call sets fs */
    uint8_t has_avx;
    uint8_t has_xsaveopt;
    uint8_t *vector; /* x87, vector and mask registers in the standard form of XSAVE; components
                        that its header does not name are in their initial state */
    uint64_t vector_mask; /* components in *vector */
    struct exec_thread *self;
    struct executor *executor;  /* executor that runs the thread; NULL: none */
    volatile uint8_t interrupt; /* a signal is pending: translated code is not entered */
    uint32_t x87_unsettled;     /* 0: x87's instruction pointer is the program's, for one block */
    uint64_t *state;            /* exec_step()'s, while translated code runs */
    void (*leave)(void);        /* where translated code jumps to leave; set on entry */
    void (*again)(void); /* where it jumps with a target that it has not found, and rcx in its slot;
                            set likewise */
    uint64_t side;       /* half the offset of the lookup table in use */
    int64_t turn;        /* instructions left, if blocks count them: translator_count_turns() */
    void (*find)(void);  /* where code for targets jumps with another target; executor_switch() */
    struct exec_lookup lookup[EXEC_SIDES * EXEC_LOOKUP_ENTRIES];
    uint64_t targets[EXEC_SIDES][EXEC_LOOKUP_ENTRIES];    /* code, or `find` */
    uint16_t remembered[EXEC_SIDES][EXEC_LOOKUP_ENTRIES]; /* numbers of used entries */
    uint32_t remembered_count[EXEC_SIDES];                /* number of used entries */
    uint16_t arrivals[EXEC_SIDES][EXEC_LOOKUP_ENTRIES];   /* the same of `targets` */
    uint32_t arrival_count[EXEC_SIDES];
    bool prepared[EXEC_SIDES];       /* the side's `targets` are set */
    unsigned generation[EXEC_SIDES]; /* of the executor's code when the table was last valid */
    size_t vector_bytes;             /* of *vector */
    void *note_context;              /* for the executor's note(); NULL: the executor's own */
    const void *probed;              /* exec_probe()'s code; else NULL */
    bool trap_due;     /* the program's trap flag was set when the last instruction began */
    bool stepping_out; /* single-steps until the next safe point (safe_point.c) */
    uint8_t x87_environment[28]; /* as fnstenv stores it, for blocks that do */
    /* operand memory of translated code, at a fixed offset from gs */
    _Alignas(64) uint8_t scratch[EXEC_THREAD_SCRATCH_BYTES];
    _Alignas(
        16) uint8_t x87_image[512]; /* as fxsave64 stores it, for the values of x87 registers */
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
#define EXEC_THREAD_FIND         272
#define EXEC_THREAD_LOOKUP       280
#define EXEC_LOOKUP_BYTES        (EXEC_LOOKUP_ENTRIES * 16) /* bytes of a table */
#define EXEC_THREAD_TARGETS      3146008                    /* after the lookup tables */
#define EXEC_TARGETS_BYTES       (EXEC_LOOKUP_ENTRIES * 8)

/* An address in the inaccessible page before the thread. Code that counts instructions reads it,
 * and faults, when its turn ends. */
static inline const void *exec_thread_fence(const struct exec_thread *thread)
{
    return (const uint8_t *)thread - 8;
}

/* A thread with all registers 0, flags 0x202 and the initial vector state of a process. NULL with
 * *error if memory is short or the processor has no XSAVE. Free with exec_thread_free(). */
struct exec_thread *exec_thread_new(struct bt_error *error);
void exec_thread_free(struct exec_thread *thread);

/* The thread's own vector area, to which `vector` points initially. */
uint8_t *exec_thread_own_vector(struct exec_thread *thread);

/* Binds *thread to the calling thread: sets gs, and saves the caller's fs. */
int exec_thread_bind(struct exec_thread *thread, struct bt_error *error);

/* The same if the calling thread is bound to another one already. */
void exec_thread_take_over(struct exec_thread *thread);

/* Selects the lookup table of indirect branches: 0 to EXEC_SIDES - 1. */
void exec_thread_use(struct exec_thread *thread, unsigned side);

/* Clears a lookup table, in time proportional to its used entries. */
void exec_thread_forget(struct exec_thread *thread, unsigned side);

/* Enters code for a target into the lookup table in use, at both places. */
void exec_thread_remember(struct exec_thread *thread, uint64_t target, const void *code);

/* Makes the side in use ready for blocks without a trace: its `targets` jump to `find`. */
void exec_thread_prepare(struct exec_thread *thread);

/* Enters a block's arrival, which verifies the target, into the tables for blocks without a trace,
 * at both places. */
void exec_thread_arrive(struct exec_thread *thread, uint64_t target, const void *arrival);

#endif
