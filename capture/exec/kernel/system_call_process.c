#define _GNU_SOURCE /* close_range's flags */
#include "capture/exec/kernel/system_call_internal.h"
#include "capture/exec/memory/program_memory.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/close_range.h>
#include <linux/prctl.h>
#include <sys/personality.h>
#include <sys/syscall.h>

#define ADDRESS_END       ((uint64_t)1 << 47)
#define PERSONALITY_QUERY 0xffffffffu

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

int64_t system_call_arch_prctl(struct system_calls *calls, struct system_call *call)
{
    uint64_t value = call->arguments[1];
    const uint64_t none = 0;
    switch ((uint32_t)call->arguments[0]) {
    case ARCH_SET_FS:
        if (value >= ADDRESS_END)
            return -EPERM;
        call->fs_base = value;
        return 0;
    case ARCH_GET_FS:
        return program_write(calls->space, value, &call->fs_base, sizeof call->fs_base);
    case ARCH_GET_GS: /* hide our base */
        return program_write(calls->space, value, &none, sizeof none);
    case ARCH_SET_GS:
        if (value != 0)
            call->why = "sets the gs base, which the translator uses itself";
        return 0;
    case ARCH_GET_CPUID:
        return 1;
    case ARCH_GET_XCOMP_SUPP:
    case ARCH_GET_XCOMP_PERM:
        return system_call_pass(calls, call);
    default: /* cpuid faulting, shadow stacks, tile registers, tagged addresses, mapping the vDSO */
        return -EINVAL;
    }
}

int64_t system_call_prctl(struct system_calls *calls, struct system_call *call)
{
    switch ((uint32_t)call->arguments[0]) {
    case PR_SET_MM: /* only we have the addresses of code, heap and stack */
        return -EPERM;
    case PR_SET_SECCOMP: /* these would restrict our system calls, clock or code cache */
    case PR_SET_SYSCALL_USER_DISPATCH:
    case PR_SET_MDWE:
        return -EINVAL;
    default:
        return system_call_pass(calls, call);
    }
}

/* READ_IMPLIES_EXEC applies to the program's mappings only. */
int64_t system_call_personality(struct system_calls *calls, struct system_call *call)
{
    struct system_call other = *call;
    uint32_t persona = (uint32_t)call->arguments[0];
    bool before = space_reading_executes(calls->space);
    if (persona != PERSONALITY_QUERY)
        other.arguments[0] = persona & ~(uint32_t)READ_IMPLIES_EXEC;
    int64_t result = system_call_pass(calls, &other);
    if (result < 0)
        return result;
    if (persona != PERSONALITY_QUERY)
        space_set_reading_executes(calls->space, persona & READ_IMPLIES_EXEC);
    return result | (before ? READ_IMPLIES_EXEC : 0);
}

static bool is_hidden(const struct system_calls *calls, uint64_t descriptor)
{
    for (size_t i = 0; i < calls->hidden_count; i++)
        if ((uint32_t)calls->hidden[i] == (uint32_t)descriptor)
            return true;
    return false;
}

int64_t system_call_close(struct system_calls *calls, struct system_call *call)
{
    return is_hidden(calls, call->arguments[0]) ? -EBADF : system_call_pass(calls, call);
}

int64_t system_call_dup2(struct system_calls *calls, struct system_call *call)
{
    if (is_hidden(calls, call->arguments[0]) || is_hidden(calls, call->arguments[1]))
        return -EBADF;
    return system_call_pass(calls, call);
}

/* Closes the ranges between hidden descriptors. CLOSE_RANGE_UNSHARE takes effect with the first
 * one. */
int64_t system_call_close_range(struct system_calls *calls, struct system_call *call)
{
    uint64_t first = (uint32_t)call->arguments[0];
    uint64_t last = (uint32_t)call->arguments[1];
    if (first > last)
        return -EINVAL;
    struct system_call part = *call;
    for (size_t i = 0; i < calls->hidden_count && first <= last; i++) {
        uint64_t hidden = (uint32_t)calls->hidden[i];
        if (hidden < first || hidden > last)
            continue;
        part.arguments[0] = first;
        part.arguments[1] = hidden - 1;
        int64_t result = hidden > first ? system_call_pass(calls, &part) : 0;
        if (result < 0)
            return result;
        if (hidden > first)
            part.arguments[2] &= ~(uint64_t)CLOSE_RANGE_UNSHARE;
        first = hidden + 1;
    }
    part.arguments[0] = first;
    part.arguments[1] = last;
    return first <= last ? system_call_pass(calls, &part) : 0;
}
