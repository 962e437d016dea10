#define _GNU_SOURCE /* __WALL, struct user_regs_struct */
#include "tests/e2e/step/stepper.h"

#ifdef __x86_64__
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define CODE_SEGMENT_32 0x23u /* of Linux */
#define CODE_SEGMENT_64 0x33u

struct thread {
    pid_t id;
    uint64_t at;       /* address of the next instruction */
    uint64_t call_end; /* address after the last system call; 0 after its return */
    bool delivering;   /* a signal is being delivered, perhaps to a handler */
};

struct stepper {
    struct thread threads[STEPPER_THREADS];
    unsigned latest; /* index of the thread that stopped last */
    pid_t program;
    bool narrow; /* 32-bit code */
    int memory;  /* file descriptor of the program's memory */
    struct counts *counts;
    step_taker *taker;
    void *context;
    struct stepper_totals *totals;
    struct bt_error *error;
};

static int fail(struct stepper *stepper, const char *what)
{
    return bt_fail_errno(stepper->error, "single-stepping: %s", what);
}

static int get_register(struct stepper *stepper, pid_t id, size_t offset, uint64_t *value)
{
    errno = 0;
    *value = (uint64_t)ptrace(PTRACE_PEEKUSER, id, offset, NULL);
    return errno == 0 || errno == ESRCH ? 0 : fail(stepper, "reading a register");
}

static int get_address(struct stepper *stepper, pid_t id, uint64_t *address)
{
    return get_register(stepper, id, offsetof(struct user_regs_struct, rip), address);
}

/* Steps one instruction; waitpid reports a thread that has ended meanwhile. */
static int go_on(struct stepper *stepper, const struct thread *thread, int signal)
{
    if (ptrace(PTRACE_SINGLESTEP, thread->id, NULL, (long)signal) == 0 || errno == ESRCH)
        return 0;
    return fail(stepper, "continuing");
}

/* --- executed instructions --- */

static int classify(struct stepper *stepper, struct count *row)
{
    uint8_t bytes[CODE_BYTES] = {0};
    if (pread(stepper->memory, bytes, sizeof bytes, row->address) <= 0)
        return fail(stepper, "reading the program's code");
    row->kind = (uint8_t)code_kind(bytes, stepper->narrow, &row->size);
    return 0;
}

/* Determines or checks the size of an instruction from the address after it. */
static int check_size(struct stepper *stepper, struct count *row, uint64_t next)
{
    if (row->kind == CODE_STRAIGHT && row->size == 0 && next > row->address &&
        next <= (uint64_t)row->address + CODE_BYTES)
        row->size = (uint8_t)(next - row->address);
    bool expected = next == (uint64_t)row->address + row->size;
    if (row->kind == CODE_REPEAT)
        expected |= next == row->address;
    else if (row->kind != CODE_STRAIGHT)
        expected = true;
    if (expected && row->size > 0)
        return 0;
    return bt_fail(stepper->error, BT_DATA,
                   "single-stepping: after %08x came the unexpected address %llx", row->address,
                   (unsigned long long)next);
}

static int count_step(struct stepper *stepper, const struct thread *thread, struct count *row)
{
    struct stepper_totals *totals = stepper->totals;
    struct step step = {
        .address = row->address, .size = row->size, .thread = (uint8_t)(thread - stepper->threads)};
    row->count++;
    totals->instructions++;
    totals->by_kind[row->kind]++;
    totals->by_thread[step.thread]++;
    return stepper->taker(stepper->context, &step, stepper->error);
}

/* The thread has executed its instruction, and is at next. */
static int execute(struct stepper *stepper, struct thread *thread, uint64_t next)
{
    uint64_t address = thread->at;
    /* an interrupted system call is restarted, two bytes before its return address */
    if (thread->call_end == address && next == address)
        address -= 2;
    thread->call_end = 0;
    thread->at = next;
    if (address > UINT32_MAX) {
        stepper->totals->outside++;
        return 0;
    }
    struct count *row = counts_find(stepper->counts, (uint32_t)address);
    if (!row)
        return bt_fail(stepper->error, BT_MEMORY, "no memory for the counts");
    int result = row->count == 0 ? classify(stepper, row) : 0;
    if (result == 0)
        result = check_size(stepper, row, next);
    if (result == 0)
        result = count_step(stepper, thread, row);
    if (row->kind == CODE_SYSTEM_CALL)
        thread->call_end = address + row->size;
    return result;
}

/* The thread ends, in a system call or before its next instruction. */
static int end_thread(struct stepper *stepper, struct thread *thread)
{
    uint64_t next;
    int result = get_address(stepper, thread->id, &next);
    if (result == 0 && next != thread->at)
        result = execute(stepper, thread, next);
    if (result == 0 && ptrace(PTRACE_CONT, thread->id, NULL, NULL) != 0 && errno != ESRCH)
        result = fail(stepper, "ending a thread");
    return result;
}

/* --- stops --- */

static struct thread *find_thread(struct stepper *stepper, pid_t id)
{
    if (stepper->threads[stepper->latest].id == id)
        return &stepper->threads[stepper->latest];
    for (unsigned i = 0; i < stepper->totals->threads; i++)
        if (stepper->threads[i].id == id) {
            stepper->latest = i;
            return &stepper->threads[i];
        }
    return NULL;
}

/* Registers a thread at its first stop, before its first instruction. */
static int begin_thread(struct stepper *stepper, pid_t id)
{
    uint64_t segment = 0;
    if (stepper->totals->threads == STEPPER_THREADS)
        return bt_fail(stepper->error, BT_USAGE, "single-stepping: more than %u threads",
                       STEPPER_THREADS);
    struct thread *thread = &stepper->threads[stepper->totals->threads++];
    *thread = (struct thread){.id = id};
    int result = get_address(stepper, id, &thread->at);
    if (result == 0)
        result = get_register(stepper, id, offsetof(struct user_regs_struct, cs), &segment);
    stepper->narrow = segment == CODE_SEGMENT_32;
    if (result == 0 && segment != CODE_SEGMENT_64 && !stepper->narrow)
        result = bt_fail(stepper->error, BT_USAGE, "single-stepping: code of an unknown kind");
    return result == 0 ? go_on(stepper, thread, 0) : result;
}

/* Whether the thread stopped before a signal handler, not after an instruction. */
static bool enters_handler(const struct thread *thread)
{
    siginfo_t information;
    return thread->delivering && ptrace(PTRACE_GETSIGINFO, thread->id, NULL, &information) == 0 &&
           information.si_code == SIGTRAP;
}

static bool stops(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Handles a stop by a signal, which may be the trap after an instruction. */
static int take_signal(struct stepper *stepper, struct thread *thread, int signal)
{
    uint64_t next;
    int result = get_address(stepper, thread->id, &next);
    if (result != 0)
        return result;
    if (signal == SIGTRAP && enters_handler(thread)) {
        thread->at = next;
        thread->call_end = 0;
    } else if (signal == SIGTRAP || next != thread->at) {
        result = execute(stepper, thread, next);
    }
    thread->delivering = false;
    if (signal == SIGTRAP || stops(signal))
        signal = 0;
    if (signal != 0) {
        stepper->totals->signals++;
        thread->delivering = true;
    }
    return result == 0 ? go_on(stepper, thread, signal) : result;
}

/* Handles a report of waitpid. Returns 1 once the program has ended. */
static int take(struct stepper *stepper, pid_t id, int status)
{
    struct thread *thread = find_thread(stepper, id);
    if (WIFSTOPPED(status)) {
        if (!thread)
            return begin_thread(stepper, id);
        if (status >> 16 == PTRACE_EVENT_EXIT)
            return end_thread(stepper, thread);
        /* in the middle of clone or execve; the step is not done yet */
        if (status >> 16 != 0)
            return go_on(stepper, thread, 0);
        return take_signal(stepper, thread, WSTOPSIG(status));
    }
    if (thread)
        thread->id = 0; /* the number may be reused */
    if (id != stepper->program)
        return 0;
    stepper->totals->status = status;
    return 1;
}

/* --- the program --- */

/* In the child: executes the program. */
static void become(char **arguments)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(126);
    execvp(arguments[0], arguments);
    _exit(127);
}

/* Starts the program, stopped before its first instruction. */
static int start(struct stepper *stepper, char **arguments)
{
    const long options =
        PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
    char path[64];
    int status;
    fflush(NULL);
    stepper->program = fork();
    if (stepper->program < 0)
        return fail(stepper, "starting a process");
    if (stepper->program == 0)
        become(arguments);
    if (waitpid(stepper->program, &status, 0) < 0)
        return fail(stepper, "waiting");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 126)
        return bt_fail(stepper->error, BT_DEVICE, "single-stepping: ptrace is not allowed here");
    if (!WIFSTOPPED(status))
        return bt_fail(stepper->error, BT_USAGE, "%s cannot be run", arguments[0]);
    snprintf(path, sizeof path, "/proc/%ld/mem", (long)stepper->program);
    stepper->memory = open(path, O_RDONLY | O_CLOEXEC);
    if (stepper->memory < 0)
        return fail(stepper, path);
    if (ptrace(PTRACE_SETOPTIONS, stepper->program, NULL, options) != 0)
        return fail(stepper, "following threads");
    return begin_thread(stepper, stepper->program);
}

int stepper_run(char **arguments, struct counts *counts, step_taker *taker, void *context,
                struct stepper_totals *totals, struct bt_error *error)
{
    struct stepper *stepper = calloc(1, sizeof *stepper);
    if (!stepper)
        return bt_fail(error, BT_MEMORY, "no memory for threads");
    *totals = (struct stepper_totals){.threads = 0};
    stepper->memory = -1;
    stepper->counts = counts;
    stepper->taker = taker;
    stepper->context = context;
    stepper->totals = totals;
    stepper->error = error;
    int result = start(stepper, arguments);
    while (result == 0) {
        int status;
        pid_t id = waitpid(-1, &status, __WALL);
        if (id >= 0)
            result = take(stepper, id, status);
        else if (errno != EINTR)
            result = fail(stepper, "waiting");
    }
    if (result < 0 && stepper->program > 0)
        kill(stepper->program, SIGKILL);
    if (stepper->memory >= 0)
        close(stepper->memory);
    free(stepper);
    return result < 0 ? result : 0;
}

#else

int stepper_run(char **arguments, struct counts *counts, step_taker *taker, void *context,
                struct stepper_totals *totals, struct bt_error *error)
{
    (void)arguments;
    (void)counts;
    (void)taker;
    (void)context;
    *totals = (struct stepper_totals){.threads = 0};
    return bt_fail(error, BT_DEVICE, "single-stepping: only on x86-64");
}

#endif
