/* The way into translated code and out of it. */
#ifndef CAPTURE_EXEC_DISPATCH_TRAMPOLINE_H
#define CAPTURE_EXEC_DISPATCH_TRAMPOLINE_H

#include "capture/exec/translate/exec_thread.h"

/*
 * Loads the registers of *thread (to which gs must point), and jumps to code. Returns when code
 * jumps to the thread's `leave` with the program's registers, which are then in *thread again, all
 * but rip.
 * With vector, the vector state is loaded too, and saved at the end; without, it stays in
 * *thread->vector, and code must not touch it.
 *
 * Where the thread's `interrupt` is set already it returns at once, with exit EXEC_NOT_ENTERED.
 */
#define EXEC_NOT_ENTERED UINT32_MAX
void exec_enter(struct exec_thread *thread, const void *code, bool vector);

/* Between these exec_enter() has looked at the thread's `interrupt`, but is in no block yet. */
extern const uint8_t exec_enter_checked[], exec_enter_end[];

/* A thread's `leave`: exec_enter() puts the first one there, exec_step() the other, as `again`,
 * too. To be jumped to, not called. */
void exec_leave(void);
void exec_step_leave(void);

/*
 * exec_enter() where the way is to be short: registers, flags and the base of fs are those of
 * *state, which begins as struct exec_thread does, and are left there, all but rip and fs. The
 * flags must be EXEC_STEP_FLAGS, results aside. Without fs, code must not use it; where it does and
 * the processor has no FSGSBASE, exec_enter() is to be used. Vector is as there.
 *
 * Sets the thread's exit only where code does. Whoever is brought out by executor_save() is in
 * *thread, as from exec_enter().
 */
#define EXEC_STEP_RESULTS 0x8d5u
#define EXEC_STEP_FLAGS   0x202u
void exec_step(struct exec_thread *thread, const void *code, uint64_t *state, bool fs, bool vector);
extern const uint8_t exec_step_checked[], exec_step_end[]; /* as of exec_enter() */

/*
 * A thread's `again` in what exec_enter() has entered: to be jumped to with the target of an
 * indirect branch in `jump`, where the table does not have it in its first place. Goes on there if
 * it is in its second one, and leaves otherwise. The program's state is not whole until `end`.
 */
void exec_look_again(void);
extern const uint8_t exec_look_again_end[];

/* Where a signal handler sends a thread that is to return from exec_enter(): with rsp as
 * host_stack has it, and all that is the program's in *thread already. */
void exec_return(void);

/*
 * The handler to install for signals: sets our own fs and calls exec_signal() (executor_parts.h).
 * If that returns true, the thread continues with the fs that it had, else with ours. Only in
 * threads that exec_thread_bind() was called for.
 */
void exec_signal_entry(int number, void *information, void *context);

/*
 * Copies to `to`, and survives faults of what is read: 0, or -1 where not all of it can be. Only in
 * threads that exec_thread_bind() was called for, while exec_signal_entry() is the handler.
 */
int exec_copy(void *to, const void *from, size_t size);
extern const uint8_t exec_copy_end[], exec_copy_failed[];

/* What a handler returns to (SA_RESTORER). */
void exec_signal_return(void);

/*
 * A system call that is not begun, or not begun again, once *interrupt is not 0: then the result is
 * EXEC_SYSTEM_CALL_AGAIN, which the kernel itself never gives: the call is to be done again, from
 * the beginning, behind the signal's handler. exec_signal() has to send those that it interrupts
 * at or behind `checked`, but before `done`, to `interrupted`.
 */
int64_t exec_system_call(const volatile uint8_t *interrupt, uint64_t number,
                         const uint64_t arguments[6]);
extern const uint8_t exec_system_call_checked[], exec_system_call_done[];
extern const uint8_t exec_system_call_interrupted[];

#define EXEC_SYSTEM_CALL_AGAIN -512

#endif
