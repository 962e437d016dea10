/* Private to signals*.c. */
#ifndef CAPTURE_EXEC_KERNEL_SIGNALS_INTERNAL_H
#define CAPTURE_EXEC_KERNEL_SIGNALS_INTERNAL_H

#include "capture/exec/kernel/signal_frame.h"
#include "capture/exec/kernel/signals.h"

#include <signal.h>

#define SIGNALS   64
#define MASK_SIZE 8

#define BIT(number) ((uint64_t)1 << ((number)-1))
#define OURS        (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP))
#define UNBLOCKABLE (BIT(SIGKILL) | BIT(SIGSTOP))

#define DEFAULT     0 /* handlers */
#define IGNORE      1
#define AUTO_DISARM 0x80000000u

/* struct kernel_sigaction */
struct signal_action {
    uint64_t handler, flags, restorer, mask;
};

/* Shared by all threads. */
struct signal_actions {
    struct signal_action now[SIGNALS + 1];
    struct signal_action before[SIGNALS + 1]; /* of our process, before signals_begin() */
    unsigned others;                          /* number of threads beside the first */
    volatile bool interrupt_sent;             /* signals_interrupt() has been used */
    void (*observer)(void *context, const struct signal_report *signal); /* or NULL */
    void *observer_context;
};

struct signals {
    struct space *space;
    struct exec_thread *thread;
    struct signal_actions *actions;
    bool is_first; /* it owns the actions */
    int host;      /* thread ID of the thread that receives them; 0: the executing thread */
    void (*noted)(void *context);
    void *noted_context;
    uint64_t mask, mask_before;
    uint64_t suspend_mask; /* mask in the handler of the signal that ended rt_sigsuspend */
    bool suspended;
    struct signal_stack stack;
    uint64_t fault_address, trap, error; /* of the last fault, for all frames */
    bool pending;
    uint8_t information[SIGNAL_INFORMATION_BYTES]; /* of the noted signal */
    uint64_t shown; /* in system calls: the mask that signals_show_mask() has set; else 0 */
    uint64_t held;  /* signals of OURS that are pending here */
    uint8_t held_information[SIGSEGV + 1][SIGNAL_INFORMATION_BYTES];
};

/* Sets the kernel's action for an action of the program. */
void signals_set_kernel_action(int number, const struct signal_action *wanted);

/* For a system call: gives the kernel a mask of the program, with its synchronous signals, and the
 * signals held here, until signals_hide(). Except SIGTRAP if there are other threads:
 * signals_interrupt() uses it. */
void signals_show_mask(struct signals *signals, uint64_t mask);

/* Whether the program is on its alternate stack for signals. */
bool signals_is_on_stack(const struct signals *signals);

#endif
