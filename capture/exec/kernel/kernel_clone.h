/* clone(2) and clone3(2) for the program's children: with its flags, as far as they are the
 * kernel's business. */
#ifndef CAPTURE_EXEC_KERNEL_KERNEL_CLONE_H
#define CAPTURE_EXEC_KERNEL_KERNEL_CLONE_H

#include "capture/exec/kernel/process_thread.h"

#define KERNEL_CLONE_CLEAR_SIGHAND 0x100000000u
#define KERNEL_CLONE_INTO_CGROUP   0x200000000u

/* What the kernel has told the parent. */
struct kernel_clone_results {
    int pidfd;
    int parent_tid;
};

/*
 * Makes a child of the calling thread by the call that the program made. Registers, thread pointer,
 * handlers, and what is to be written to the program's memory, are the caller's to set.
 *
 * kernel_clone_alone: its memory is a copy, whatever CLONE_VM says; returns twice, as fork(2) does.
 * Unlike fork(3) it does not keep other threads of ours from allocating memory at this moment.
 *
 * kernel_clone_sharing: shares our memory and begins with run(context), which does not return, on a
 * stack of ours.
 *
 * The child's number, or a negative errno.
 */
int64_t kernel_clone_alone(const struct process_clone *clone, bool keeps_tid,
                           struct kernel_clone_results *told);
int64_t kernel_clone_sharing(const struct process_clone *clone, uint8_t *stack, size_t stack_bytes,
                             int (*run)(void *context), void *context,
                             struct kernel_clone_results *told);

#endif
