#define _GNU_SOURCE /* all signals */
/* The system calls for signals. */
#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/kernel/signals_internal.h"
#include "capture/exec/memory/program_memory.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#define STACK_MIN 2048

static int64_t set_action(struct signals *signals, const uint64_t *arguments)
{
    uint64_t number = (uint32_t)arguments[0];
    struct signal_action action;
    if (arguments[3] != MASK_SIZE || number < 1 || number > SIGNALS ||
        ((BIT(number) & UNBLOCKABLE) && arguments[1]))
        return -EINVAL;
    if (arguments[1] && program_read(signals->space, &action, arguments[1], sizeof action) != 0)
        return -EFAULT;
    const struct signal_action old = signals->actions->now[number];
    if (arguments[1]) {
        action.mask &= ~UNBLOCKABLE;
        signals->actions->now[number] = action;
        signals_set_kernel_action((int)number, &action);
        if (action.handler == IGNORE)
            signals->held &= ~BIT(number);
    }
    return arguments[2] ? program_write(signals->space, arguments[2], &old, sizeof old) : 0;
}

/* Signals are blocked meanwhile; a signal noted before must be delivered first. */
static int64_t set_mask(struct signals *signals, const uint64_t *arguments)
{
    uint64_t set = 0, old = signals->mask;
    int64_t result = 0;
    if (arguments[3] != MASK_SIZE)
        return -EINVAL;
    if (arguments[1] && program_read(signals->space, &set, arguments[1], sizeof set) != 0)
        return -EFAULT;
    signals_block();
    if (signals->thread->interrupt)
        result = EXEC_SYSTEM_CALL_AGAIN;
    else if (!arguments[1])
        result = 0;
    else if ((uint32_t)arguments[0] == SIG_BLOCK)
        signals->mask |= set & ~UNBLOCKABLE;
    else if ((uint32_t)arguments[0] == SIG_UNBLOCK)
        signals->mask &= ~set;
    else if ((uint32_t)arguments[0] == SIG_SETMASK)
        signals->mask = set & ~UNBLOCKABLE;
    else
        result = -EINVAL;
    signals_resume(signals);
    if (result == 0 && arguments[2])
        result = program_write(signals->space, arguments[2], &old, sizeof old);
    return result;
}

static int64_t suspend(struct signals *signals, const struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    uint64_t set;
    if (arguments[1] != MASK_SIZE)
        return -EINVAL;
    if (program_read(signals->space, &set, arguments[0], sizeof set) != 0)
        return -EFAULT;
    signals->suspend_mask = set & ~UNBLOCKABLE;
    system_call_before_block(call);
    signals->suspended = true;
    signals_show_mask(signals, ~(uint64_t)0);
    uint64_t kernels = signals->suspend_mask & signals->shown;
    const uint64_t passed[6] = {(uint64_t)(uintptr_t)&kernels, MASK_SIZE};
    int64_t result = exec_system_call(&signals->thread->interrupt, SYS_rt_sigsuspend, passed);
    signals_resume(signals);
    system_call_after_block(call);
    if (result == EXEC_SYSTEM_CALL_AGAIN)
        signals->suspended = false;
    return result;
}

/* The argument with the mask, or with its address and size. */
static unsigned mask_argument(uint64_t number)
{
    switch (number) {
    case SYS_ppoll:
        return 3;
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        return 4;
    case SYS_pselect6:
        return 5;
    default:
        return 0;
    }
}

void signals_open_wait(const struct signals *signals, struct system_call *call,
                       struct signals_wait *wait)
{
    unsigned number = mask_argument(call->number);
    uint64_t *argument = &call->arguments[number], address = *argument;
    if (number == 0 || address == 0)
        return;
    if (call->number == SYS_pselect6) {
        if (program_read(signals->space, wait->set, address, sizeof wait->set) != 0)
            return;
        address = wait->set[0];
        wait->set[0] = (uint64_t)(uintptr_t)&wait->mask;
    }
    if (address == 0 || program_read(signals->space, &wait->mask, address, sizeof wait->mask) != 0)
        return;
    wait->mask &= ~BIT(SIGTRAP);
    *argument = call->number == SYS_pselect6 ? (uint64_t)(uintptr_t)wait->set
                                             : (uint64_t)(uintptr_t)&wait->mask;
}

static int64_t set_stack(struct signals *signals, const uint64_t *arguments)
{
    struct signal_stack stack, old = signals->stack;
    if (arguments[0] && program_read(signals->space, &stack, arguments[0], sizeof stack) != 0)
        return -EFAULT;
    old.flags &= AUTO_DISARM;
    if (old.size == 0)
        old.flags |= SS_DISABLE;
    else if (signals_is_on_stack(signals))
        old.flags |= SS_ONSTACK;
    if (arguments[0]) {
        uint32_t mode = stack.flags & ~AUTO_DISARM;
        if (old.flags & SS_ONSTACK)
            return -EPERM;
        if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
            return -EINVAL;
        if (mode == SS_DISABLE)
            stack.address = stack.size = 0;
        else if (stack.size < STACK_MIN)
            return -ENOMEM;
        signals->stack = stack;
    }
    return arguments[1] ? program_write(signals->space, arguments[1], &old, sizeof old) : 0;
}

void signals_system_call(struct signals *signals, struct system_call *call)
{
    switch (call->number) {
    case SYS_rt_sigaction:
        call->result = set_action(signals, call->arguments);
        break;
    case SYS_rt_sigprocmask:
        call->result = set_mask(signals, call->arguments);
        break;
    case SYS_rt_sigsuspend:
        call->result = suspend(signals, call);
        break;
    case SYS_sigaltstack:
        call->result = set_stack(signals, call->arguments);
        break;
    default:
        call->result = -ENOSYS;
    }
}
