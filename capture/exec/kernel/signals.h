/*
 * The signal state of a program: its actions, masks and stacks (sigaction(2), ...). The kernel
 * handles signals that the program ignores, and those whose default action does not end it. All
 * others have a handler of bustap, which notes one signal at a time; the others stay pending in the
 * kernel until the noted one is delivered at an instruction boundary.
 *
 * The kernel's mask of the thread is the program's, without the five synchronous signals, which are
 * bustap's (host_signals.c); if the program blocks them they are held here. During system calls of
 * the program the kernel has the full mask and the held signals, for sigpending(2), sigtimedwait(2)
 * and signalfd(2).
 *
 * There is one for each thread of the program; they share the actions. All other threads of our
 * process block all signals.
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
    uint64_t stack;   /* address of the handler's return address, at the start of the frame that the
                         kernel writes */
};

/* For a thread that executes in space. NULL with *error: no memory. */
struct signals *signals_new(struct space *space, struct exec_thread *thread,
                            struct bt_error *error);
void signals_free(struct signals *signals);

/* Calls observer() for every signal that is delivered to this thread and all that share its
 * actions, in the thread that executes. */
void signals_observe(struct signals *signals,
                     void (*observer)(void *context, const struct signal_report *signal),
                     void *context);

/* For another thread that executes in the same space, with the mask of its parent. Start it with
 * signals_resume() in that thread, end it with signals_leave(). The first one must outlive it.
 * NULL: no memory. */
struct signals *signals_new_thread(const struct signals *parent, struct exec_thread *thread);

/* leave: the calling thread no longer represents a thread of the program: it only receives
 * signals_interrupt(), and the signals that it has noted go to other threads. block: blocks all
 * signals of the calling thread. */
void signals_leave(struct signals *signals);
void signals_block(void);

/* Interrupts the run or the system call of another thread of bustap, given by its thread ID,
 * without a signal for the program. */
void signals_interrupt(struct signals *signals, int thread);

/*
 * Moves the signals to the host thread with this thread ID; 0: to the executing thread. Calls that
 * must be made in the thread of the signals must then be made there. noted() is called in the
 * handler when it has noted a signal.
 */
void signals_move(struct signals *signals, int host, void (*noted)(void *context), void *context);

/* Blocks all signals, and sends the pending ones of the calling thread to another one. */
void signals_pass_on(int thread);

/* Blocks all but the synchronous signals, in the executing thread when hosts receive the others. */
void signals_block_others(void);

/* Whether a system call that the noted signal has interrupted is restarted. */
bool signals_restart(const struct signals *signals);

/* begin: takes over the mask and the ignored signals of our process; call it after
 * executor_begin(). end: restores both; call it before executor_end(). Signals that only the
 * program can have requested, by a timer for example, stay ignored, so that they do not end us.
 * SIGHUP, SIGINT and SIGTERM stay blocked: they may repeat the request that ended the program. */
void signals_begin(struct signals *signals);
void signals_end(struct signals *signals);

/* Call it after a thread of bustap was created, with signals held: the C library may have installed
 * its own handlers for its internal signals; restores the program's. */
void signals_take_back(const struct signals *signals);

/* executor_note_function; the context is a struct signals. */
bool signals_note(void *signals, int number, void *information, void *interrupted);

/* rt_sigaction, rt_sigprocmask, rt_sigsuspend and sigaltstack: fills in the result, which can be
 * EXEC_SYSTEM_CALL_AGAIN. */
void signals_system_call(struct signals *signals, struct system_call *call);

/* For a system call that the kernel makes. hides: whether signals are held here; show: passes them
 * and the full mask to the kernel; hide: takes them back. */
bool signals_hides(const struct signals *signals);
void signals_show(struct signals *signals);
void signals_hide(struct signals *signals);

/* Makes a call that waits with its own signal mask interruptible by signals_interrupt(): copies the
 * mask into *wait without that signal, and points the call's argument to the copy. For programs
 * with threads. */
struct signals_wait {
    uint64_t mask;
    uint64_t set[2]; /* address and size: pselect6's argument */
};
void signals_open_wait(const struct signals *signals, struct system_call *call,
                       struct signals_wait *wait);

/* rt_sigreturn. 0, or the signal that ends the program: the frame cannot be read. */
int signals_return(struct signals *signals);

/* Delivers the noted signal: pushes a frame and sets rip to the handler. 0, or the signal that ends
 * the program. */
int signals_deliver(struct signals *signals);

/* The same for a signal that the instruction at rip has raised, as the stop of a fault says. */
int signals_raise(struct signals *signals, const struct executor_stop *stop);

/* In a child, which has one thread: drops the signals pending for its parent. */
void signals_forked(struct signals *signals);

/* Saves the state that a child that shares our memory changes, and restores it for the parent. Free
 * it with free(). NULL: no memory. */
void *signals_save(const struct signals *signals);
void signals_restore(struct signals *signals, const void *kept);

/* Resets all handlers to their defaults, in a child (CLONE_CLEAR_SIGHAND). */
void signals_clear(struct signals *signals);

/* Blocks all signals until signals_resume(). False: one has been noted. */
bool signals_hold(struct signals *signals);

/* Before another program replaces our process: gives the kernel the program's full mask.
 * signals_resume() undoes it. */
void signals_retire(struct signals *signals);
void signals_resume(struct signals *signals);

/* Ends our process by the default action of a signal. */
_Noreturn void signals_die(int number);

#endif
