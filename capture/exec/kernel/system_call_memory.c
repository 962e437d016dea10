/* Memory files, /proc/self/mem by any of its names: writes change code regardless of its
 * protection, and must not reach our memory. */
#define _GNU_SOURCE /* all numbers */
#include "capture/exec/kernel/system_call_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int64_t system_call_opened_memory(struct system_calls *calls, enum own_file file, uint64_t flags)
{
    if ((flags & O_ACCMODE) == O_RDONLY)
        return 0;
    if (file == OWN_MEM) {
        calls->writes_memory = true;
        return 0;
    }
    system_call_notice(calls, NOTICE_OTHERS_MEMORY,
                       "opened the memory of another process for writing and was refused (EACCES): "
                       "bustap would not notice changes of its code if it runs there as well");
    return -EACCES;
}

/* The number of the argument with the descriptor that is written to. */
static size_t descriptor_of(const struct system_call *call)
{
    return call->number == SYS_splice || call->number == SYS_copy_file_range ? 2 : 0;
}

/* The address that is written to. */
static uint64_t address_of(const struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    switch (call->number) {
    case SYS_pwrite64:
    case SYS_pwritev:
        return arguments[3];
    case SYS_pwritev2:
        if ((int64_t)arguments[3] != -1)
            return arguments[3];
        /* fall through */
    default:
        return (uint64_t)lseek((int)arguments[descriptor_of(call)], 0, SEEK_CUR);
    }
}

/* No other thread may execute the code while it changes. */
static int64_t write_memory(struct system_calls *calls, const struct system_call *call)
{
    struct system_call alone = *call;
    alone.before_block = alone.after_block = NULL;
    uint64_t address = address_of(call);
    if (address >= SPACE_END) /* not memory of the program */
        return -EIO;
    space_before_write(calls->space, 0, SPACE_END);
    int64_t result = system_call_pass(calls, &alone);
    if (result > 0 && descriptor_of(call) == 0)
        space_changed(calls->space, address, (uint64_t)result);
    else if (result > 0)
        space_changed(calls->space, 0, SPACE_END);
    return result;
}

int64_t system_call_write(struct system_calls *calls, struct system_call *call)
{
    if (!calls->writes_memory)
        return system_call_pass(calls, call);
    switch (own_file_of((int)call->arguments[descriptor_of(call)])) {
    case OWN_MEM:
        return write_memory(calls, call);
    case OWN_NOT_MEM: /* opened by the parent before fork */
        return system_call_opened_memory(calls, OWN_NOT_MEM, O_WRONLY);
    default:
        return system_call_pass(calls, call);
    }
}
