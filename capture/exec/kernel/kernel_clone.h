/* Makes clone(2) and clone3(2) for the program's children, with the flags that the kernel handles.
 */
#ifndef CAPTURE_EXEC_KERNEL_KERNEL_CLONE_H
#define CAPTURE_EXEC_KERNEL_KERNEL_CLONE_H

#include "capture/exec/kernel/process_thread.h"

#define KERNEL_CLONE_CLEAR_SIGHAND 0x100000000u
#define KERNEL_CLONE_INTO_CGROUP   0x200000000u

/* Results that the kernel writes for the parent. */
struct kernel_clone_results {
    int pidfd;
    int parent_tid;
};

/*
 * Make a child of the calling thread by the same call as the program. The caller sets registers,
 * thread pointer and handlers, and writes the results to the program's memory.
 *
 * kernel_clone_alone: the child has a copy of the memory, also with CLONE_VM; returns twice, as
 * fork(2) does. Unlike fork(3) it does not hold the locks of the C library's allocator.
 *
 * kernel_clone_sharing: the child shares our memory and calls run(context), which does not return,
 * on the given stack.
 *
 * Both return the child's process ID, or a negative errno.
 */
int64_t kernel_clone_alone(const struct process_clone *clone, bool keeps_tid,
                           struct kernel_clone_results *results);
int64_t kernel_clone_sharing(const struct process_clone *clone, uint8_t *stack, size_t stack_bytes,
                             int (*run)(void *context), void *context,
                             struct kernel_clone_results *results);

#endif
