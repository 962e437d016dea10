/*
 * What the kernel puts on a program's stack when a signal is delivered, and what rt_sigreturn makes
 * of it again: the same layout, with the program's own registers (sigreturn(2), sigaction(2)).
 */
#ifndef CAPTURE_EXEC_KERNEL_SIGNAL_FRAME_H
#define CAPTURE_EXEC_KERNEL_SIGNAL_FRAME_H

#include "capture/exec/memory/space.h"
#include "capture/exec/translate/exec_thread.h"

#define SIGNAL_INFORMATION_BYTES 128

/* stack_t, as the kernel has it. */
struct signal_stack {
    uint64_t address;
    uint32_t flags;
    uint32_t padding;
    uint64_t size;
};

struct signal_delivery {
    int number;
    uint64_t handler, restorer;
    uint64_t top;                                  /* the frame is put below */
    uint64_t mask;                                 /* that holds again after the handler */
    struct signal_stack stack;                     /* what sigaltstack says */
    uint64_t fault_address, trap, error;           /* of the last fault of the thread */
    uint8_t information[SIGNAL_INFORMATION_BYTES]; /* siginfo_t */
};

/* Puts the frame on the stack, and the thread's registers to the handler's beginning. 0, or -EFAULT
 * if there is no room for it: nothing has changed then. */
int signal_frame_push(struct space *space, struct exec_thread *thread,
                      const struct signal_delivery *delivery);

/* What rt_sigreturn does: all registers as the frame above rsp has them; mask and alternate stack
 * for the caller. 0, or -EFAULT. */
int signal_frame_pop(struct space *space, struct exec_thread *thread, uint64_t *mask,
                     struct signal_stack *stack);

#endif
