#define _GNU_SOURCE /* CLONE_* */
#include "capture/exec/kernel/kernel_clone.h"

#include <linux/prctl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CLONE3_BYTES 88u
#define OURS         (CLONE_SETTLS | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)

/*
 * A system call with five arguments. With run, the child calls run instead of returning, with the
 * word on top of its stack as the argument.
 */
int64_t kernel_clone_call(uint64_t number, const uint64_t arguments[5], int (*run)(void *context));
__asm__(".text\n"
        ".globl kernel_clone_call\n"
        ".hidden kernel_clone_call\n"
        ".type kernel_clone_call, @function\n"
        "kernel_clone_call:\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %r11\n"
        "    movq %rdx, %r9\n"
        "    movq 0(%r11), %rdi\n"
        "    movq 8(%r11), %rsi\n"
        "    movq 16(%r11), %rdx\n"
        "    movq 24(%r11), %r10\n"
        "    movq 32(%r11), %r8\n"
        "    syscall\n"
        "    testq %rax, %rax\n"
        "    jnz 1f\n"
        "    testq %r9, %r9\n"
        "    jz 1f\n"
        "    xorl %ebp, %ebp\n"
        "    popq %rdi\n"
        "    callq *%r9\n"
        "    ud2\n"
        "1:  ret\n"
        ".size kernel_clone_call, . - kernel_clone_call\n");

/* clone has one argument for both. */
static int64_t call(struct process_clone *clone, int (*run)(void *context),
                    struct kernel_clone_results *results)
{
    *results = (struct kernel_clone_results){-1, 0};
    clone->flags &= ~(uint64_t)KERNEL_CLONE_CLEAR_SIGHAND;
    clone->parent_tid = (uint64_t)(uintptr_t)&results->parent_tid;
    if (clone->is_clone3) {
        clone->pidfd = (uint64_t)(uintptr_t)&results->pidfd;
        const uint64_t arguments[5] = {(uint64_t)(uintptr_t)clone, CLONE3_BYTES};
        return kernel_clone_call(SYS_clone3, arguments, run);
    }
    if (clone->flags & CLONE_PIDFD)
        clone->parent_tid = (uint64_t)(uintptr_t)&results->pidfd;
    const uint64_t arguments[5] = {clone->flags | clone->exit_signal,
                                   clone->stack + clone->stack_size, clone->parent_tid,
                                   clone->child_tid};
    return kernel_clone_call(SYS_clone, arguments, run);
}

int64_t kernel_clone_alone(const struct process_clone *clone, bool keeps_tid,
                           struct kernel_clone_results *results)
{
    struct process_clone own = *clone;
    uint64_t place = 0;
    own.flags &= ~(uint64_t)(OURS | CLONE_VM);
    own.stack = own.stack_size = 0;
    /* the C library keeps the thread ID there */
    if (keeps_tid && prctl(PR_GET_TID_ADDRESS, &place, 0, 0, 0) == 0 && place)
        own.flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    own.child_tid = place;
    return call(&own, NULL, results);
}

int64_t kernel_clone_sharing(const struct process_clone *clone, uint8_t *stack, size_t stack_bytes,
                             int (*run)(void *context), void *context,
                             struct kernel_clone_results *results)
{
    struct process_clone own = *clone;
    own.flags &= ~(uint64_t)OURS;
    own.child_tid = 0;
    own.stack = (uint64_t)(uintptr_t)stack;
    own.stack_size = stack_bytes - sizeof context;
    memcpy(stack + own.stack_size, &context, sizeof context);
    return call(&own, run, results);
}
