#define _GNU_SOURCE /* MAP_* */
#include "capture/exec/kernel/system_call_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADDRESS_END ((uint64_t)1 << 47)
#define MIB         ((uint64_t)1 << 20)

/* Whether the kernel would map this much for the program, above 4 GiB. */
static bool would_be_mapped(uint64_t length, uint64_t protection, uint64_t flags)
{
    int sharing = (flags & MAP_TYPE) == MAP_PRIVATE ? MAP_PRIVATE : MAP_SHARED;
    void *mapped = mmap(NULL, length, (int)protection & (PROT_READ | PROT_WRITE),
                        sharing | MAP_ANONYMOUS | (int)(flags & MAP_NORESERVE), -1, 0);
    if (mapped == MAP_FAILED)
        return false;
    munmap(mapped, length);
    return true;
}

/* Reports a request that was refused for lack of addresses, and would succeed natively. */
static void report_refused(struct system_calls *calls, uint64_t address, uint64_t length,
                           uint64_t protection, uint64_t flags)
{
    bool fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
    uint64_t start = fixed ? address : 0;
    if (!calls->notice || (flags & MAP_32BIT) || length > ADDRESS_END ||
        start > ADDRESS_END - length || !would_be_mapped(length, protection, flags))
        return;
    if (fixed && start + length > SPACE_END)
        system_call_notice(calls, NOTICE_MEMORY,
                           "requested %" PRIu64 " MiB of memory at 0x%" PRIx64
                           " and was refused (ENOMEM): under bustap programs have no addresses "
                           "above 4 GiB; build it without -fsanitize if it uses that",
                           (length + MIB - 1) / MIB, address);
    else
        system_call_notice(calls, NOTICE_MEMORY,
                           "requested %" PRIu64 " MiB of memory and was refused (ENOMEM): under "
                           "bustap programs have less than 4 GiB of addresses; limit its memory, "
                           "for example with java -Xmx300m or node --max-old-space-size=300",
                           (length + MIB - 1) / MIB);
}

int64_t system_call_mmap(struct system_calls *calls, struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    uint64_t refused = space_refused(calls->space);
    int64_t result = space_mmap(calls->space, arguments[0], arguments[1], arguments[2],
                                arguments[3], (int)arguments[4], arguments[5]);
    if (result == -ENOMEM && space_refused(calls->space) != refused)
        report_refused(calls, arguments[0], arguments[1], arguments[2], arguments[3]);
    return result;
}

int64_t system_call_munmap(struct system_calls *calls, struct system_call *call)
{
    return space_munmap(calls->space, call->arguments[0], call->arguments[1]);
}

int64_t system_call_mremap(struct system_calls *calls, struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    uint64_t refused = space_refused(calls->space);
    int64_t result = space_mremap(calls->space, arguments[0], arguments[1], arguments[2],
                                  arguments[3], arguments[4]);
    if (result == -ENOMEM && space_refused(calls->space) != refused)
        report_refused(calls, arguments[4], arguments[2], PROT_NONE,
                       MAP_PRIVATE | (arguments[3] & MREMAP_FIXED ? MAP_FIXED : 0u));
    return result;
}

int64_t system_call_mprotect(struct system_calls *calls, struct system_call *call)
{
    return space_mprotect(calls->space, call->arguments[0], call->arguments[1], call->arguments[2]);
}

/* There are no protection keys; -1 means none. */
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

int64_t system_call_mlockall(struct system_calls *calls, struct system_call *call)
{
    return space_mlockall(calls->space, (uint32_t)call->arguments[0]);
}

int64_t system_call_munlockall(struct system_calls *calls, struct system_call *call)
{
    (void)call;
    return space_munlockall(calls->space);
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

/* A call with a range of memory, which must not include memory of bustap. */
int64_t system_call_range(struct system_calls *calls, struct system_call *call)
{
    uint64_t address = call->arguments[0];
    uint64_t size = call->arguments[1];
    if (address >= SPACE_END || size > SPACE_END - address)
        return -ENOMEM;
    return system_call_pass(calls, call);
}
