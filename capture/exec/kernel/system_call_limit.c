/* The program's memory limits. The kernel's limits, which would count our memory, are not changed.
 */
#define _GNU_SOURCE /* prlimit64's number */
#include "capture/exec/kernel/system_call_internal.h"
#include "capture/exec/memory/program_memory.h"

#include <assert.h>
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int resources[SYSTEM_CALL_LIMITS] = {RLIMIT_AS, RLIMIT_DATA};

static struct rlimit *limit_of(struct system_calls *calls, uint64_t resource)
{
    for (size_t i = 0; i < SYSTEM_CALL_LIMITS; i++)
        if ((uint32_t)resource == (uint32_t)resources[i])
            return &calls->limits[i];
    return NULL;
}

static void enforce(struct system_calls *calls)
{
    const struct space_limits limits = {.all = calls->limits[0].rlim_cur,
                                        .data = calls->limits[1].rlim_cur};
    space_limit(calls->space, &limits);
}

void system_calls_begin_limits(struct system_calls *calls)
{
    for (size_t i = 0; i < SYSTEM_CALL_LIMITS; i++) {
        calls->limits[i] = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
        getrlimit((unsigned)resources[i], &calls->limits[i]);
        calls->kernel_limits[i] =
            (struct rlimit){calls->limits[i].rlim_max, calls->limits[i].rlim_max};
    }
    system_calls_execute(calls, false);
    enforce(calls);
}

void system_calls_execute(struct system_calls *calls, bool executes)
{
    for (size_t i = 0; i < SYSTEM_CALL_LIMITS; i++)
        setrlimit((unsigned)resources[i], executes ? &calls->limits[i] : &calls->kernel_limits[i]);
}

static_assert(sizeof(struct rlimit[SYSTEM_CALL_LIMITS]) == SYSTEM_CALLS_SAVED_BYTES, "limits");

void system_calls_save(const struct system_calls *calls, uint8_t kept[SYSTEM_CALLS_SAVED_BYTES])
{
    memcpy(kept, calls->limits, SYSTEM_CALLS_SAVED_BYTES);
}

void system_calls_restore(struct system_calls *calls, const uint8_t kept[SYSTEM_CALLS_SAVED_BYTES])
{
    memcpy(calls->limits, kept, SYSTEM_CALLS_SAVED_BYTES);
    enforce(calls);
}

/* CAP_SYS_RESOURCE: may raise hard limits. */
static bool has_capability(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return syscall(SYS_capget, &header, data) == 0 &&
           (data[CAP_TO_INDEX(CAP_SYS_RESOURCE)].effective & CAP_TO_MASK(CAP_SYS_RESOURCE));
}

static int64_t set_limit(struct system_calls *calls, struct rlimit *limit, uint64_t address)
{
    struct rlimit wanted;
    int result = program_read(calls->space, &wanted, address, sizeof wanted);
    if (result < 0)
        return result;
    if (wanted.rlim_cur > wanted.rlim_max)
        return -EINVAL;
    if (wanted.rlim_max > limit->rlim_max && !has_capability())
        return -EPERM;
    *limit = wanted;
    enforce(calls);
    return 0;
}

int64_t system_call_getrlimit(struct system_calls *calls, struct system_call *call)
{
    const struct rlimit *limit = limit_of(calls, call->arguments[0]);
    return limit ? program_write(calls->space, call->arguments[1], limit, sizeof *limit)
                 : system_call_pass(calls, call);
}

int64_t system_call_setrlimit(struct system_calls *calls, struct system_call *call)
{
    struct rlimit *limit = limit_of(calls, call->arguments[0]);
    return limit ? set_limit(calls, limit, call->arguments[1]) : system_call_pass(calls, call);
}

/* For this process; the kernel handles others. */
int64_t system_call_prlimit(struct system_calls *calls, struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    struct rlimit *limit = limit_of(calls, arguments[1]);
    if (!limit || (arguments[0] != 0 && (int)arguments[0] != getpid()))
        return system_call_pass(calls, call);
    const struct rlimit before = *limit;
    int64_t result = arguments[2] ? set_limit(calls, limit, arguments[2]) : 0;
    if (result == 0 && arguments[3])
        result = program_write(calls->space, arguments[3], &before, sizeof before);
    return result;
}
