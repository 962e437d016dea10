#include "capture/exec/system_call_inside.h"

#include <errno.h>

int64_t system_call_mmap(struct system_calls *calls, struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    return space_mmap(calls->space, arguments[0], arguments[1], arguments[2], arguments[3],
                      (int)arguments[4], arguments[5]);
}

int64_t system_call_munmap(struct system_calls *calls, struct system_call *call)
{
    return space_munmap(calls->space, call->arguments[0], call->arguments[1]);
}

int64_t system_call_mremap(struct system_calls *calls, struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    return space_mremap(calls->space, arguments[0], arguments[1], arguments[2], arguments[3],
                        arguments[4]);
}

int64_t system_call_mprotect(struct system_calls *calls, struct system_call *call)
{
    return space_mprotect(calls->space, call->arguments[0], call->arguments[1], call->arguments[2]);
}

/* There are no keys to protect with but none. */
int64_t system_call_pkey_mprotect(struct system_calls *calls, struct system_call *call)
{
    return (int)call->arguments[3] == -1 ? system_call_mprotect(calls, call) : -EINVAL;
}

int64_t system_call_brk(struct system_calls *calls, struct system_call *call)
{
    return space_brk(calls->space, call->arguments[0]);
}

int64_t system_call_madvise(struct system_calls *calls, struct system_call *call)
{
    return space_madvise(calls->space, call->arguments[0], call->arguments[1],
                         (uint32_t)call->arguments[2]);
}

int64_t system_call_shmat(struct system_calls *calls, struct system_call *call)
{
    return space_shmat(calls->space, (int)call->arguments[0], call->arguments[1],
                       (uint32_t)call->arguments[2]);
}

int64_t system_call_shmdt(struct system_calls *calls, struct system_call *call)
{
    return space_shmdt(calls->space, call->arguments[0]);
}

/* Something with a range of memory, which must not be ours. */
int64_t system_call_range(struct system_calls *calls, struct system_call *call)
{
    uint64_t address = call->arguments[0];
    uint64_t size = call->arguments[1];
    if (address >= SPACE_END || size > SPACE_END - address)
        return -ENOMEM;
    return system_call_pass(calls, call);
}
