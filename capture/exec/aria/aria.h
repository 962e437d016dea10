/*
 * Aria: a program executed piece by piece under a control program, in one address space (MET, Aria:
 * "execution-driven trace generator").
 *
 * The control program holds the program's state, and says each time from which address, with which
 * registers and in which version to execute. aria_execute() runs until the first branch, that
 * included, and gives back what ran, and the state after it. Memory is the program's own, and the
 * same for all states. Translations are kept: no code is translated twice in one version.
 *
 * An address of the program is one of ours: the control program may read and write at it, but for
 * pages that hold code (aria_write()). What the records tell are the program's own addresses.
 *
 * All calls for an aria come from the thread that made it; all other threads of the control program
 * block all signals. One program at a time: gs, and the handlers of signals, are the program's
 * from aria_new() to aria_free(). In what follows "the program" is the one that is executed.
 *
 * Threads of the program take turns, as process_thread.h has it: one at a time executes. *state is
 * that of the thread whose turn it is. A taken step ends where the turn does; *state is then the
 * next thread's, and aria_thread() says which that is. So a control program that gives back the
 * state that it got executes all threads, each in its turn. States that it has kept are of the
 * thread that they were copied from; not taken, any can be executed at any time.
 *
 * The program cannot trace itself. A child that it forks has the
 * control program in it, too, but not under it: it goes on, untraced, within the call of
 * aria_execute() that forked it, and ends as it ends. One by vfork or posix_spawn shares our memory
 * and runs before the call returns. A program that executes another (execve) is replaced by it, and
 * we with it.
 */
#ifndef CAPTURE_EXEC_ARIA_ARIA_H
#define CAPTURE_EXEC_ARIA_ARIA_H

#include "capture/exec/kernel/process.h" /* executor_put_function, start_options, process_end */

struct aria;
struct store_buffer; /* capture/exec/aria/store_buffer.h */

/* Of the program, as an instruction finds it. All may be changed between calls, and copied
 * (aria_state_copy(), aria_state_assign()), but not the pointer to its vector state. */
struct aria_state {
    uint64_t registers[16]; /* in the order of encodings: rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15
                               (enum decode_register) */
    uint64_t rip;           /* the next instruction */
    uint64_t flags;
    uint64_t fs_base;
    uint8_t *vector; /* x87, vector and mask registers in XSAVE's standard form, aria_vector_bytes()
                        of it; components that its header does not name are in their initial state,
                        whatever stands there. Belongs to the state */
    struct store_buffer *stores; /* of not-taken steps; NULL without aria_settings.store_buffer.
                                    Belongs to the state, and is copied with it */
};

enum aria_version {
    ARIA_TAKEN,    /* executed for real */
    ARIA_NOT_TAKEN /* a mispredicted path: loads that would fault read 0, stores are not executed,
                      what is no instruction does nothing. Memory, and all other states, stay as
                      they are. With aria_settings.store_buffer its loads see its own stores */
};

enum aria_reason {
    ARIA_BRANCH,      /* rip is where it went */
    ARIA_SYSTEM_CALL, /* taken: it was done, rip is after it (or at it, where a signal came before:
                         it will be done again). Not taken: it was not, rip is at it */
    ARIA_SIGNAL,      /* taken: it was delivered, rip is at its handler. Not taken: the instruction
                         at rip raises it, and was not executed */
    ARIA_EXIT,        /* taken: the program has ended, as `end` says */
    ARIA_LIMIT,       /* as many instructions as were asked for, and no branch */
    ARIA_BREAKPOINT,  /* aria_run(): rip is where aria_stop_at() says */
    ARIA_TURN         /* the thread's turn has ended, and no branch was met */
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
    unsigned thread; /* that executed them; aria_thread() */
    /* Instructions in program order: a fetch, with time 1, then its reads and its writes, with time
     * 0; processor is the thread. Until the next call. Grow with the repetitions of a string
     * instruction. */
    const struct record *records;
    size_t record_count;
    uint64_t instructions;
    uint64_t own_reads; /* not taken: reads with a byte that the state's path has stored */
    /* ARIA_BRANCH: */
    enum aria_branch branch;
    bool taken;              /* it did not go on at `next` */
    uint64_t branch_address; /* of the branch instruction, */
    uint64_t next;           /* and after it */
    uint64_t target;         /* of direct branches, taken or not; of others where it went */
    int signal;              /* ARIA_SIGNAL: its number; taken: 0, if no instruction raised it */
    struct process_end end;  /* ARIA_EXIT */
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
    uint64_t quantum;  /* instructions of a turn (process.h); 0: PROCESS_QUANTUM */
    bool only_fetches; /* no records of reads and writes */
    /* States have a store buffer: stores of not-taken steps go there, and later not-taken steps
     * with the state, or a copy of it, load from there. Stores that would fault leave nothing.
     * Taken steps neither see nor change it; instructions are fetched from memory. */
    bool store_buffer;
    size_t cache_bytes, buffer_bytes;         /* executor.h */
    const struct aria_operations *operations; /* owned by the caller; NULL: none */
    void *context;                            /* of all operations */
};

/*
 * Loads a program, as process_new() does, and begins with it: nothing of it has run. Arguments end
 * with NULL, the first is the program's name for itself. NULL with *error where it cannot be
 * executed.
 */
struct aria *aria_new(const char *path, const char *const *arguments,
                      const struct aria_settings *settings, struct bt_error *error);

/* Ends with it, ended or not; its memory is gone. States are freed before. NULL is fine. */
void aria_free(struct aria *aria);

/* A descriptor of the control program, from now on hidden from the program, which may otherwise
 * close what it has not opened. 0 or a negative code. */
int aria_hide(struct aria *aria, int descriptor, struct bt_error *error);

/* The files that the program's code is from; they belong to the aria. */
const struct modules *aria_modules(const struct aria *aria);

/* --- states --- */

/* How the program begins. The caller frees it. NULL: no memory. */
struct aria_state *aria_initial(const struct aria *aria, struct bt_error *error);

/* Another one that is the same. The caller frees it. NULL: no memory. */
struct aria_state *aria_state_copy(const struct aria *aria, const struct aria_state *state,
                                   struct bt_error *error);

/* Makes *to the same as *from; costs little time, and memory only for a store buffer: where there
 * is none, the next not-taken step with *to is BT_MEMORY. */
void aria_state_assign(const struct aria *aria, struct aria_state *to,
                       const struct aria_state *from);

void aria_state_free(struct aria_state *state);

/* Of a state's `vector`. */
size_t aria_vector_bytes(const struct aria *aria);

/* --- executing --- */

/*
 * Executes from state->rip on with *state, which is then the state after it, until the first
 * branch, system call, signal, or so many instructions (0: no limit). Blocks of any length go on
 * until there is a branch. Not less than one instruction is executed, except with ARIA_SIGNAL and
 * ARIA_EXIT, and a system call that is not taken. A taken step costs next to nothing for the state
 * if it is not copied: any may be given each time.
 *
 * Once the program has ended, taken steps are ARIA_EXIT. Returns 0, or a negative code: BT_USAGE
 * says what the program did that cannot be done here (it is at its end then), BT_MEMORY.
 */
int aria_execute(struct aria *aria, struct aria_state *state, enum aria_version version,
                 uint64_t limit, struct aria_step *step, struct bt_error *error);

/*
 * Free running, taken: no return to the control program until the program ends (ARIA_EXIT) or so
 * many instructions have been executed (ARIA_LIMIT; 0: no limit). Records go to put(), at times on
 * a signal stack of 1 MiB, and none into the step. Otherwise as aria_execute(). A change between
 * the two costs as much time as there is translated code.
 */
int aria_run(struct aria *aria, struct aria_state *state, uint64_t limit,
             executor_put_function *put, void *put_context, struct aria_step *step,
             struct bt_error *error);

/* The thread whose turn it is, whose state a taken step wants: as the records' processor, from 0
 * on, the lowest number that no living thread has. How often the turn went to another one so far.
 */
unsigned aria_thread(const struct aria *aria);
uint64_t aria_switches(const struct aria *aria);

/* aria_run() ends with ARIA_BREAKPOINT before the instruction at an address is executed, unless it
 * begins there. 0, as at first: nowhere. */
void aria_stop_at(struct aria *aria, uint64_t address);

/* --- new instructions --- */

#define ARIA_OPERANDS 4u

/* Bits of an instruction, the lowest of its first byte being bit 0. */
struct aria_field {
    uint8_t first_bit, bits;
};

enum aria_operand_kind {
    ARIA_REGISTER,  /* a general one: its number; of less than 4 bits, one of the first */
    ARIA_IMMEDIATE, /* the field itself */
    ARIA_MEMORY     /* at a general register and a signed displacement */
};

struct aria_operand {
    enum aria_operand_kind kind;
    struct aria_field field;        /* number, immediate, or number of the base */
    struct aria_field displacement; /* of memory; no bits: 0 */
    uint8_t size;                   /* of memory: 1, 2, 4 or 8 bytes */
    bool is_signed;                 /* of an immediate: it is extended by its highest bit */
    bool read, write;               /* memory that is not read is 0; registers always are */
};

/* What a function finds. */
struct aria_call {
    struct aria *aria;
    enum aria_version version;
    uint64_t values[ARIA_OPERANDS];    /* in; and out, of operands that are written */
    uint64_t addresses[ARIA_OPERANDS]; /* of operands in memory */
    uint64_t *registers, *flags;       /* all of them: may be changed */
    uint64_t address;                  /* of the instruction */
};

/* Does it: 0, or the signal that it raises; then nothing of it is written. */
typedef int aria_instruction_function(void *context, struct aria_call *call);

/* For that function, what is not an operand: reads and writes that are in the trace, in their order
 * between the operands' reads and writes. Not taken: reads that would fault are 0, writes are not
 * done. 0; -EFAULT: the program may not, SIGSEGV will follow; -ENOSPC: more than 255 bytes, or than
 * 64 references. */
int aria_call_read(struct aria_call *call, uint64_t address, void *to, size_t size);
int aria_call_write(struct aria_call *call, uint64_t address, const void *from, size_t size);

struct aria_instruction {
    const char *name;
    uint8_t size; /* bytes */
    uint8_t bytes[15];
    uint8_t mask[15]; /* the bits that have to be as in `bytes` */
    unsigned operand_count;
    struct aria_operand operands[ARIA_OPERANDS];
    /* Either native instructions, which are copied: they find the operands' values in rdi, rsi, rdx
     * and rcx, in this order, and leave them there. All other general registers are put back after
     * them, and flags, unless it `writes_flags`; vector registers are not. No memory, no branches,
     * no rsp. */
    const uint8_t *native;
    size_t native_size;
    bool writes_flags;
    /* or a function. */
    aria_instruction_function *function;
    void *context;
};

/*
 * From now on bytes like these are this instruction, in both versions and in free running, whatever
 * they were before; of several that fit, the last one defined. The trace has a fetch of `size`
 * bytes at its address, and its references, whatever ran in its place. BT_USAGE: it cannot be,
 * *error says why. All code is translated anew.
 */
int aria_define(struct aria *aria, const struct aria_instruction *instruction,
                struct bt_error *error);

/* --- memory --- */

/* Copies from or to the program's memory; 0, or -EFAULT where not all of it is the program's
 * (then some may have been written). Writes as the program may, into pages with code, too. */
int aria_read(struct aria *aria, void *to, uint64_t address, size_t size);

/* The same, with what the not-taken steps of a state have stored. */
int aria_read_as(struct aria *aria, const struct aria_state *state, void *to, uint64_t address,
                 size_t size);
int aria_write(struct aria *aria, uint64_t address, const void *from, size_t size);

#endif
