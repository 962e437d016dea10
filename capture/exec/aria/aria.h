/*
 * Aria: executes a program step by step under a control program, in one address space (MET, Aria:
 * "execution-driven trace generator"). Below, "the program" is the one that is executed.
 *
 * The control program holds the program's state. For each step it chooses the address, the
 * registers and the version to execute. aria_execute() runs up to and including the first branch,
 * and returns the records of the step and the state after it. Memory belongs to the program and is
 * the same for all states. Translations are kept: no code is translated twice in one version.
 *
 * Addresses of the program are valid in the control program, which may read and write there, except
 * in pages that hold code (aria_write()). Records contain the program's own addresses.
 *
 * All calls for an aria come from the thread that made it; all other threads of the control program
 * block all signals. There is one program at a time: gs and the signal handlers belong to it from
 * aria_new() to aria_free().
 *
 * Threads of the program run in turns, one at a time (process_thread.h). *state is the state of the
 * thread whose turn it is. A taken step ends when the turn ends, if not before; *state is then the
 * state of the next thread, and aria_thread() returns its number. If the control program passes
 * *state to the next call unchanged, all threads are executed in turns. A copy of a state belongs
 * to the same thread as the original. Not-taken steps accept any state at any time.
 *
 * The program cannot trace itself. A child that it forks also contains the control program, but
 * does not run under it: it continues untraced inside the call of aria_execute() that forked it,
 * and ends there. A child of vfork or posix_spawn shares our memory and runs before the call
 * returns. A program that executes another one (execve) is replaced by it, together with the
 * control program.
 */
#ifndef CAPTURE_EXEC_ARIA_ARIA_H
#define CAPTURE_EXEC_ARIA_ARIA_H

#include "capture/exec/kernel/process.h"

struct aria;
struct store_buffer; /* capture/exec/aria/store_buffer.h */

/* The state of a thread of the program before an instruction. All members but the pointers may be
 * changed between calls; aria_state_copy() and aria_state_assign() copy a state. */
struct aria_state {
    uint64_t registers[16]; /* in the order of encodings: rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15
                               (enum decode_register) */
    uint64_t rip;           /* the next instruction */
    uint64_t flags;
    uint64_t fs_base;
    uint8_t *vector; /* x87, vector and mask registers in XSAVE's standard form, aria_vector_bytes()
                        of it; components that its header does not name are in their initial state.
                        Owned by the state */
    struct store_buffer *stores; /* of not-taken steps; NULL without aria_settings.store_buffer.
                                    Owned by the state, and copied with it */
};

enum aria_version {
    ARIA_TAKEN,    /* the program's own execution */
    ARIA_NOT_TAKEN /* a mispredicted path: loads that would fault read 0, stores are not executed,
                      invalid instructions do nothing. Memory and all other states do not change.
                      With aria_settings.store_buffer loads see the stores of the path */
};

enum aria_reason {
    ARIA_BRANCH,      /* rip is the address after the branch was executed */
    ARIA_SYSTEM_CALL, /* taken: it was made, rip is after it (at it, if a signal interrupted it and
                         it will be restarted). Not taken: it was not made, rip is at it */
    ARIA_SIGNAL,      /* taken: it was delivered, rip is at its handler. Not taken: the instruction
                         at rip raises it, and was not executed */
    ARIA_EXIT,        /* taken: the program has ended; see `end` */
    ARIA_LIMIT,       /* the limit of instructions was reached before a branch */
    ARIA_BREAKPOINT,  /* aria_run(): rip is the address of aria_stop_at() */
    ARIA_TURN         /* the thread's turn ended before a branch */
};

enum aria_branch {
    ARIA_CONDITIONAL, /* jcc, loop, jrcxz */
    ARIA_JUMP,
    ARIA_CALL,
    ARIA_RETURN,
    ARIA_INDIRECT_JUMP,
    ARIA_INDIRECT_CALL
};

/* What one call executed. */
struct aria_step {
    enum aria_reason reason;
    unsigned thread; /* the thread that executed the step; aria_thread() */
    /* For each instruction in program order a fetch, with time 1, then its reads and its writes,
     * with time 0; processor is the thread. Valid until the next call. A string instruction has
     * references for each repetition. */
    const struct record *records;
    size_t record_count;
    uint64_t instructions; /* number executed */
    uint64_t own_reads;    /* not taken: number of reads of bytes that the path has stored */
    /* ARIA_BRANCH: */
    enum aria_branch branch;
    bool taken;              /* execution did not continue at `next` */
    uint64_t branch_address; /* address of the branch instruction */
    uint64_t next;           /* address after the branch instruction */
    uint64_t target;         /* a direct branch's target, taken or not; otherwise the new rip */
    int signal;              /* ARIA_SIGNAL: signal number; taken: 0 if no instruction raised it */
    struct process_end end;  /* ARIA_EXIT: how the program ended */
};

/* Callbacks to the control program; members may be NULL. All are called with aria_settings.context.
 */
struct aria_operations {
    /* In a child that the program forked, before it continues: release what belongs to the control
     * program alone, for example files being written. With shares_files parent and child share
     * their descriptors. */
    void (*forked)(void *context, bool shares_files);

    /* Another program is about to replace this one, and the control program with it: process.h. */
    void (*executing)(void *context, const char *path);

    /* The program has met a limit that only exists under bustap: process.h. */
    void (*notice)(void *context, const char *what);
};

struct aria_settings {
    struct initial_stack_options stack;
    uint64_t quantum;  /* instructions per turn (process.h); 0: PROCESS_QUANTUM */
    bool only_fetches; /* no records of reads and writes */
    /* States have a store buffer: not-taken steps store into it, and later not-taken steps with
     * the state, or a copy of it, load from it. Stores that would fault are discarded. Taken steps
     * neither read nor change it; instructions are fetched from memory. */
    bool store_buffer;
    size_t cache_bytes, buffer_bytes;         /* executor.h */
    const struct aria_operations *operations; /* owned by the caller; NULL: none */
    void *context;                            /* passed to all operations */
};

/*
 * Loads a program as process_new() does; none of it has run. Arguments end with NULL, the first is
 * argv[0]. NULL with *error: the program cannot be executed.
 */
struct aria *aria_new(const char *path, const char *const *arguments,
                      const struct aria_settings *settings, struct bt_error *error);

/* Unmaps the program, whether or not it has ended. Free its states before. NULL is fine. */
void aria_free(struct aria *aria);

/* Hides a descriptor of the control program: the program can no longer close or replace it. 0 or a
 * negative code. */
int aria_hide(struct aria *aria, int descriptor, struct bt_error *error);

/* The files of the program's code; owned by the aria. */
const struct modules *aria_modules(const struct aria *aria);

/* --- states --- */

/* The state at the program's start. The caller frees it. NULL: no memory. */
struct aria_state *aria_initial(const struct aria *aria, struct bt_error *error);

/* A copy. The caller frees it. NULL: no memory. */
struct aria_state *aria_state_copy(const struct aria *aria, const struct aria_state *state,
                                   struct bt_error *error);

/* Copies *from into *to. Fast; it needs memory only for a store buffer: if that fails, the
 * next not-taken step with *to fails with BT_MEMORY. */
void aria_state_assign(const struct aria *aria, struct aria_state *to,
                       const struct aria_state *from);

void aria_state_free(struct aria_state *state);

/* Size of a state's `vector`, in bytes. */
size_t aria_vector_bytes(const struct aria *aria);

/* --- executing --- */

/*
 * Executes from state->rip and updates *state, until the first branch, system call or signal, or
 * until `limit` instructions have been executed (0: no limit). A straight-line sequence of any
 * length is one step. At least one instruction is executed, except with ARIA_SIGNAL, ARIA_EXIT, and
 * a system call that is not taken. Passing different states to taken steps costs nothing extra.
 *
 * Once the program has ended, taken steps return ARIA_EXIT. Returns 0, or a negative code: BT_USAGE
 * names what the program did that cannot be executed here (the program has then ended), BT_MEMORY.
 */
int aria_execute(struct aria *aria, struct aria_state *state, enum aria_version version,
                 uint64_t limit, struct aria_step *step, struct bt_error *error);

/*
 * Free running, taken: returns when the program ends (ARIA_EXIT), or after `limit` instructions
 * (ARIA_LIMIT; 0: no limit). Records go to put(), sometimes on a signal stack of 1 MiB; the step
 * has none. Otherwise as aria_execute(). Switching between the two takes time in proportion to the
 * amount of translated code.
 */
int aria_run(struct aria *aria, struct aria_state *state, uint64_t limit,
             executor_put_function *put, void *put_context, struct aria_step *step,
             struct bt_error *error);

/* The thread whose turn it is, and whose state a taken step expects, numbered as the processor of
 * the records (process.h). Number of switches so far. */
unsigned aria_thread(const struct aria *aria);
uint64_t aria_switches(const struct aria *aria);

/* aria_run() returns ARIA_BREAKPOINT before it executes the instruction at the address, unless it
 * starts there. 0, the initial value: no breakpoint. */
void aria_stop_at(struct aria *aria, uint64_t address);

/* --- new instructions --- */

#define ARIA_OPERANDS 4u

/* A field of an instruction; bit 0 is the lowest bit of its first byte. */
struct aria_field {
    uint8_t first_bit, bits;
};

enum aria_operand_kind {
    ARIA_REGISTER,  /* a general register: its number, of 4 bits or less */
    ARIA_IMMEDIATE, /* the field itself */
    ARIA_MEMORY     /* at a general register plus a signed displacement */
};

struct aria_operand {
    enum aria_operand_kind kind;
    struct aria_field field;        /* register number, immediate, or number of the base register */
    struct aria_field displacement; /* ARIA_MEMORY: displacement; a field of 0 bits: 0 */
    uint8_t size;                   /* ARIA_MEMORY: size, 1, 2, 4 or 8 bytes */
    bool is_signed;                 /* ARIA_IMMEDIATE: sign-extended */
    bool read, write; /* the value of memory that is not read is 0; registers are always read */
};

/* The argument of an instruction's function. */
struct aria_call {
    struct aria *aria;
    enum aria_version version;
    uint64_t values[ARIA_OPERANDS];    /* values of operands read; new values of operands written */
    uint64_t addresses[ARIA_OPERANDS]; /* addresses of operands in memory */
    uint64_t *registers, *flags;       /* the thread's; may be changed */
    uint64_t address;                  /* address of the instruction */
};

/* Executes the instruction: 0, or the signal that it raises; then nothing is written. */
typedef int aria_instruction_function(void *context, struct aria_call *call);

/* For that function: references besides the operands. They are in the trace in their order, between
 * the operands' reads and writes. Not taken, reads that would fault return 0 and writes are not
 * executed. 0; -EFAULT: the program may not access it, SIGSEGV follows; -ENOSPC: more than 255
 * bytes, or more than 64 references. */
int aria_call_read(struct aria_call *call, uint64_t address, void *to, size_t size);
int aria_call_write(struct aria_call *call, uint64_t address, const void *from, size_t size);

struct aria_instruction {
    const char *name;
    uint8_t size; /* in bytes */
    uint8_t bytes[15];
    uint8_t mask[15]; /* 1: the bit must match `bytes` */
    unsigned operand_count;
    struct aria_operand operands[ARIA_OPERANDS];
    /* Either native instructions, which are copied: they read and write the operands' values in
     * rdi, rsi, rdx and rcx, in this order. All other general registers are restored after them,
     * and the flags unless `writes_flags`; vector registers are not. They may not access memory,
     * branch, or use rsp. */
    const uint8_t *native;
    size_t native_size;
    bool writes_flags;
    /* Or a function. */
    aria_instruction_function *function;
    void *context;
};

/*
 * Defines an instruction: later, matching bytes are this instruction, in both versions and in free
 * running; if several match, the last one defined is used. The trace has a fetch of `size` bytes
 * at its address and its references, not the code that implements it. BT_USAGE: *error says what is
 * wrong with the definition. All code is translated again.
 */
int aria_define(struct aria *aria, const struct aria_instruction *instruction,
                struct bt_error *error);

/* --- memory --- */

/* Copy from or to the program's memory; 0, or -EFAULT: part of the range is not the program's (part
 * of it may have been written). Writes need the program's permission; pages with code are allowed.
 */
int aria_read(struct aria *aria, void *to, uint64_t address, size_t size);

/* The same, with the stores of the not-taken steps of a state. */
int aria_read_as(struct aria *aria, const struct aria_state *state, void *to, uint64_t address,
                 size_t size);
int aria_write(struct aria *aria, uint64_t address, const void *from, size_t size);

#endif
