/* Enters and leaves translated code. */
#ifndef CAPTURE_EXEC_DISPATCH_TRAMPOLINE_H
#define CAPTURE_EXEC_DISPATCH_TRAMPOLINE_H

#include "capture/exec/translate/exec_thread.h"

/*
 * Loads the registers of *thread (to which gs must point), and jumps to code. Returns when code
 * jumps to the thread's `leave`, after saving the program's registers except rip to *thread.
 * With vector, the vector state is loaded and saved as well; without, it stays in *thread->vector,
 * and code must not use it.
 *
 * If the thread's `interrupt` is set it returns at once, with exit EXEC_NOT_ENTERED.
 */
#define EXEC_NOT_ENTERED UINT32_MAX
void exec_enter(struct exec_thread *thread, const void *code, bool vector);

/* Between these addresses exec_enter() has checked the thread's `interrupt`, but has not entered a
 * block. */
extern const uint8_t exec_enter_checked[], exec_enter_end[];

/* Values of a thread's `leave`, set by exec_enter() and exec_step(); exec_step() sets `again` as
 * well. Jump targets, not functions. */
void exec_leave(void);
void exec_step_leave(void);

/*
 * A faster exec_enter(): loads registers, flags and the base of fs from *state, which begins like
 * struct exec_thread, and saves all but rip and fs there. The flags must be EXEC_STEP_FLAGS, apart
 * from EXEC_STEP_RESULTS. `fs`: code uses fs; this needs FSGSBASE, without which exec_enter() must
 * be used.
 *
 * Only code sets the thread's exit. executor_save() saves the state to *thread, as for
 * exec_enter().
 */
#define EXEC_STEP_RESULTS 0x8d5u
#define EXEC_STEP_FLAGS   0x202u
enum exec_step_vector {
    EXEC_STEP_NO_VECTOR,  /* code does not use vector state */
    EXEC_STEP_ALL_VECTOR, /* as with `vector` of exec_enter() */
    EXEC_STEP_SSE /* code is legacy_sse(), and the header in *vector names SSE: a tenth of the
                     time of XRSTOR and XSAVE */
};
void exec_step(struct exec_thread *thread, const void *code, uint64_t *state, bool fs,
               enum exec_step_vector vector);
extern const uint8_t exec_step_checked[], exec_step_end[]; /* as for exec_enter() */

/*
 * The values of a thread's `find`, and of its `again` after exec_enter(). Blocks, without and with
 * a trace, jump to them with the target of an indirect branch in `jump`, and rcx in its slot, if
 * the first table entry does not match. If the second entry matches, it is copied to the first, and
 * its code entered; otherwise they leave. Up to `end` there is no safe point.
 */
void exec_find_target(void);
void exec_look_again(void);
extern const uint8_t exec_find_target_end[];

/* A signal handler resumes a thread here to return from exec_enter(), with rsp = host_stack and the
 * program's state saved in *thread. */
void exec_return(void);

/*
 * The signal handler: sets the host's fs and calls exec_signal() (executor_state.h). If that
 * returns true, the thread continues with its previous fs, else with the host's. Only in threads
 * bound with exec_thread_bind().
 */
void exec_signal_entry(int number, void *information, void *context);

/*
 * Copies memory and tolerates faults: 0, or -1 after a fault. Only in threads bound with
 * exec_thread_bind(), while exec_signal_entry() is the handler.
 */
int exec_copy(void *to, const void *from, size_t size);
extern const uint8_t exec_copy_end[], exec_copy_failed[];

/* Calls code whose first instruction may fault: 0, or the number of the fault's signal. The
 * thread's `probed` is the code. Otherwise as exec_copy(). */
int exec_probe(const void *code);
extern const uint8_t exec_probe_failed[];

/* Return address of handlers (SA_RESTORER). */
void exec_signal_return(void);

/*
 * A system call that does not start, or restart, if *interrupt is not 0. The result is then
 * EXEC_SYSTEM_CALL_AGAIN, which the kernel never returns: the caller repeats the call after the
 * signal's handler. exec_signal() must resume threads interrupted in [`checked`, `done`) at
 * `interrupted`.
 */
int64_t exec_system_call(const volatile uint8_t *interrupt, uint64_t number,
                         const uint64_t arguments[6]);
extern const uint8_t exec_system_call_checked[], exec_system_call_done[];
extern const uint8_t exec_system_call_interrupted[];

#define EXEC_SYSTEM_CALL_AGAIN -512

#endif
