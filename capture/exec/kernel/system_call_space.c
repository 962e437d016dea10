#define _GNU_SOURCE /* MAP_* */
#include "capture/exec/kernel/system_call_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADDRESS_END ((uint64_t)1 << 47)
#define MIB         ((uint64_t)1 << 20)

/* Reservations in vain until the program is ended. Go tries 128 hints, V8 and Java fewer, before
 * they take what they get. */
#define VAIN_MAX 1000u

/* How programs are told to use less memory. */
static const struct {
    const char *program, *advice;
} advices[] = {
    {"java", "limit its memory: java -Xmx300m"},
    {"node", "limit its memory: node --max-old-space-size=300, and --disable-wasm-trap-handler if "
             "it uses WebAssembly"},
    {"mariadbd", "limit its memory: mariadbd --innodb-buffer-pool-size=128M"},
    {"mysqld", "limit its memory: mysqld --innodb-buffer-pool-size=128M"},
    {"redis-server", "limit its memory: redis-server --maxmemory 300mb"},
};

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

static void report_much(struct system_calls *calls, uint64_t mib)
{
    const char *slash = strrchr(calls->path, '/');
    const char *name = slash ? slash + 1 : calls->path;
    char other[160];
    snprintf(other, sizeof other, "limit the memory of %.80s by its options or configuration",
             name);
    const char *advice = other;
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
        if (strcmp(advices[i].program, name) == 0)
            advice = advices[i].advice;
    system_call_notice(calls, NOTICE_MEMORY,
                       "requested %" PRIu64 " MiB of memory and was refused (ENOMEM): under "
                       "bustap programs have less than 4 GiB of addresses; %s",
                       mib, advice);
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
        report_much(calls, (length + MIB - 1) / MIB);
}

/*
 * Recognizes a program that reserves addresses above 4 GiB again and again, because what it gets is
 * below. It makes no other system call meanwhile except munmap (system_call_do()), and cannot use
 * the memory.
 */
static void count_vain(struct system_calls *calls, struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    const uint64_t elsewhere = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT;
    if (arguments[0] < SPACE_END || arguments[2] != PROT_NONE || !(arguments[3] & MAP_ANONYMOUS) ||
        (arguments[3] & elsewhere))
        calls->vain = 0;
    else if (++calls->vain == VAIN_MAX)
        call->why = "reserves memory above 4 GiB again and again, because what it gets is below: "
                    "under bustap programs have less than 4 GiB of addresses; those of GHC "
                    "(Haskell) need one configured with --disable-large-address-space";
}

int64_t system_call_mmap(struct system_calls *calls, struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    uint64_t refused = space_refused(calls->space);
    int64_t result = space_mmap(calls->space, arguments[0], arguments[1], arguments[2],
                                arguments[3], (int)arguments[4], arguments[5]);
    if (result == -ENOMEM && space_refused(calls->space) != refused)
        report_refused(calls, arguments[0], arguments[1], arguments[2], arguments[3]);
    count_vain(calls, call);
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
