/*
 * Pushes and pops the signal frame that the kernel puts on a program's stack, in the same layout,
 * with the program's own registers (sigreturn(2), sigaction(2)).
 */
#ifndef CAPTURE_EXEC_KERNEL_SIGNAL_FRAME_H
#define CAPTURE_EXEC_KERNEL_SIGNAL_FRAME_H

#include "capture/exec/memory/space.h"
#include "capture/exec/translate/exec_thread.h"

#define SIGNAL_INFORMATION_BYTES 128

/* The kernel's stack_t. */
struct signal_stack {
    uint64_t address;
    uint32_t flags;
    uint32_t padding;
    uint64_t size;
};

struct signal_delivery {
    int number;
    uint64_t handler, restorer;
    uint64_t top;                                  /* end of the memory for the frame */
    uint64_t mask;                                 /* mask after the handler */
    struct signal_stack stack;                     /* alternate stack */
    uint64_t fault_address, trap, error;           /* of the last fault of the thread */
    uint8_t information[SIGNAL_INFORMATION_BYTES]; /* siginfo_t */
};

/* Pushes the frame, and sets the thread's registers for the handler. 0, or -EFAULT: the stack is
 * not writable; nothing has changed. */
int signal_frame_push(struct space *space, struct exec_thread *thread,
                      const struct signal_delivery *delivery);

/* rt_sigreturn: restores all registers from the frame above rsp; returns mask and alternate stack.
 * 0, or -EFAULT. */
int signal_frame_pop(struct space *space, struct exec_thread *thread, uint64_t *mask,
                     struct signal_stack *stack);

#endif
