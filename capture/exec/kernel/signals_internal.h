/* What the parts of capture/exec/signals share; for nobody else. */
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

/* As the kernel has it. */
struct action {
    uint64_t handler, flags, restorer, mask;
};

/* What all threads share. */
struct actions {
    struct action now[SIGNALS + 1];
    struct action before[SIGNALS + 1]; /* the kernel's, when we came */
    unsigned others;                   /* threads beside the first */
    volatile bool tick_sent;           /* ever */
    void (*observer)(void *context, const struct signal_report *signal); /* or NULL */
    void *observer_context;
};

struct signals {
    struct space *space;
    struct exec_thread *thread;
    struct actions *actions;
    bool is_first; /* the actions go with it */
    int host; /* the thread of ours that has them, by its number for the kernel; 0: all there are */
    void (*noted)(void *context);
    void *noted_context;
    uint64_t mask, mask_before;
    uint64_t suspend_mask; /* holds in the handler of what ended rt_sigsuspend */
    bool suspended;
    struct signal_stack stack;
    uint64_t fault_address, trap, error; /* of the last fault: all frames tell it */
    bool pending;
    uint8_t information[SIGNAL_INFORMATION_BYTES]; /* of it */
    uint64_t shown; /* in system calls: what the kernel's mask is the program's for; else 0 */
    uint64_t held;  /* of OURS: sent, and not delivered yet */
    uint8_t held_information[SIGSEGV + 1][SIGNAL_INFORMATION_BYTES];
};

/* Has the kernel do what an action of the program wants. */
void signals_set_kernel_action(int number, const struct action *wanted);

/* For a system call: the kernel gets a mask of the program's, also of synchronous signals, and
 * those that wait for it, until signals_hide(). Not of SIGTRAP where there are other threads, which
 * end waits by it. */
void signals_show_mask(struct signals *signals, uint64_t mask);

/* Whether the program is on its alternate stack for signals. */
bool signals_is_on_stack(const struct signals *signals);

#endif
