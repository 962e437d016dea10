/*
 * The program's signals: its actions, masks and stacks, as sigaction(2) and its relatives keep
 * them, with the kernel's help. What the program ignores or leaves to defaults that do not end it
 * is left to the kernel; for all else there is a handler of ours, which notes one signal at a time
 * and has all others wait in the kernel until that one is delivered, at an instruction's edge.
 *
 * The kernel's mask of the thread is the program's, without the five that instructions raise: these
 * are ours (fault.c), and wait here where they are blocked. During the program's system calls they
 * wait in the kernel, for sigpending(2), sigtimedwait(2) and signalfd(2), and its mask is whole.
 *
 * One for each thread of the program; they share the actions. All other threads of our process keep
 * all signals blocked.
 */
#ifndef CAPTURE_EXEC_KERNEL_SIGNALS_H
#define CAPTURE_EXEC_KERNEL_SIGNALS_H

#include "capture/exec/dispatch/executor.h"
#include "capture/exec/kernel/system_call.h"
#include "capture/exec/memory/space.h"

struct signals;

/* A signal that was delivered. */
struct signal_report {
    int number, code; /* si_signo, si_code */
    uint64_t address; /* si_addr, if an instruction raised the signal; else 0 */
    uint64_t handler; /* address of the program's handler; 0: the signal ends the program */
};

/* For a thread that executes in space. NULL and *error: no memory. */
struct signals *signals_new(struct space *space, struct exec_thread *thread,
                            struct bt_error *error);
void signals_free(struct signals *signals);

/* Calls observer() for every signal that is delivered to this thread and all that share its
 * actions, in the thread that executes. */
void signals_observe(struct signals *signals,
                     void (*observer)(void *context, const struct signal_report *signal),
                     void *context);

/* For one more thread that executes in the same space, with its parent's mask; it is used until
 * signals_leave(), but no longer than the first one. Begins with signals_resume(), in that thread.
 * NULL: no memory. */
struct signals *signals_new_thread(const struct signals *parent, struct exec_thread *thread);

/* The calling thread, which these are of, is not the program's any more: nothing but ticks comes to
 * it, and what it has noted goes to others. Then: nothing at all. */
void signals_leave(struct signals *signals);
void signals_block(void);

/* Interrupts another thread of ours, with this number for the kernel: its run, or its system call;
 * without a signal for the program. */
void signals_interrupt(struct signals *signals, int thread);

/*
 * From now on these are the signals of another thread of ours than the one that executes, by its
 * number for the kernel; 0: of that one. What must be done in the thread that has them is then to
 * be done there. noted() is called, in the handler, when there is something for the program.
 */
void signals_move(struct signals *signals, int host, void (*noted)(void *context), void *context);

/* What waits for the calling thread is sent to another one; all are blocked. */
void signals_pass_on(int thread);

/* In the executing thread, which has no signals of the program any more, but those of
 * instructions. */
void signals_block_others(void);

/* Whether a system call that the signal that waits has interrupted is to be done again. */
bool signals_restart(const struct signals *signals);

/* Begins with what our process has been given: mask, and what it ignores. Behind executor_begin();
 * end, before executor_end(), puts all back as it was, but for signals that only the program can
 * have called for, by a timer for example: they do not end us now that it is not there any more. */
void signals_begin(struct signals *signals);
void signals_end(struct signals *signals);

/* To be called where a thread of ours has been made, with signals held: the C library may have
 * taken those for itself that it keeps from programs; they are the program's again. */
void signals_take_back(const struct signals *signals);

/* The executor's note function. */
bool signals_note(void *signals, int number, void *information, void *interrupted);

/* rt_sigaction, rt_sigprocmask, rt_sigsuspend and sigaltstack: fills in the result, which can be
 * EXEC_SYSTEM_CALL_AGAIN. */
void signals_system_call(struct signals *signals, struct system_call *call);

/* Around a system call that the kernel does: whether it is to be told of signals that wait here;
 * tells it; and takes them back. */
bool signals_hides(const struct signals *signals);
void signals_show(struct signals *signals);
void signals_hide(struct signals *signals);

/* Calls that wait with a mask of their own must be interruptible by signals_interrupt(), too: their
 * mask goes into *mask without its signal, and the call's argument to it. Where there are threads.
 */
struct signals_wait {
    uint64_t mask;
    uint64_t set[2]; /* address and size: pselect6's argument */
};
void signals_open_wait(const struct signals *signals, struct system_call *call,
                       struct signals_wait *wait);

/* rt_sigreturn. 0, or the signal that ends the program: the frame cannot be read. */
int signals_return(struct signals *signals);

/* Delivers what waits: a frame on the program's stack, its handler next. 0, or the signal that ends
 * the program. */
int signals_deliver(struct signals *signals);

/* The same for a signal that the instruction at rip has raised, as the stop of a fault says. */
int signals_raise(struct signals *signals, const struct executor_stop *stop);

/* In a child, of one thread: what waited for its parent does not wait for it. */
void signals_forked(struct signals *signals);

/* A child that shares our memory changes it: all that is here, for its parent to go on with. Frees
 * with free(). NULL: no memory. */
void *signals_save(const struct signals *signals);
void signals_restore(struct signals *signals, const void *kept);

/* In a child that is to have no handlers: what had one is left to its default. */
void signals_clear(struct signals *signals);

/* Blocks all signals, for what must not be interrupted; until signals_resume(). False: one waits
 * already. */
bool signals_hold(struct signals *signals);

/* Before another program takes our process over: the kernel gets the program's whole mask. Undone
 * by signals_resume(). */
void signals_retire(struct signals *signals);
void signals_resume(struct signals *signals);

/* Ends our process with a signal, as that signal does by default. */
_Noreturn void signals_die(int number);

#endif
