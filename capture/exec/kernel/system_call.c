#define _GNU_SOURCE /* all numbers */
#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/kernel/system_call_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

struct system_calls *system_calls_new(struct space *space, const struct load *load,
                                      const struct initial_stack *start, struct bt_error *error)
{
    struct system_calls *calls = calloc(1, sizeof *calls);
    if (!calls || !(calls->path = strdup(load->path))) {
        bt_fail(error, BT_MEMORY, "no memory for a program's system calls");
        system_calls_free(calls);
        return NULL;
    }
    calls->space = space;
    calls->vector = start->vector;
    calls->vector_bytes = start->vector_bytes;
    calls->arguments = start->arguments;
    calls->arguments_bytes = start->arguments_bytes;
    calls->environment_bytes = start->environment_bytes;
    system_calls_begin_limits(calls);
    return calls;
}

void system_calls_free(struct system_calls *calls)
{
    if (!calls)
        return;
    free(calls->path);
    free(calls);
}

int system_calls_hide(struct system_calls *calls, int descriptor, struct bt_error *error)
{
    if (calls->hidden_count == SYSTEM_CALLS_HIDDEN_MAX)
        return bt_fail(error, BT_USAGE, "no more than %d descriptors can be hidden from a program",
                       SYSTEM_CALLS_HIDDEN_MAX);
    size_t at = calls->hidden_count++;
    for (; at > 0 && calls->hidden[at - 1] > descriptor; at--)
        calls->hidden[at] = calls->hidden[at - 1];
    calls->hidden[at] = descriptor;
    return 0;
}

void system_calls_notice(struct system_calls *calls,
                         void (*notice)(void *context, const char *what), void *context)
{
    calls->notice = notice;
    calls->notice_context = context;
}

void system_call_notice(struct system_calls *calls, enum system_call_notice which,
                        const char *format, ...)
{
    char what[512];
    if (!calls->notice || (calls->noticed & 1u << which))
        return;
    calls->noticed |= 1u << which;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    calls->notice(calls->notice_context, what);
}

#define STRUCTURE_BYTES_MAX 4096 /* of objects that the kernel writes without a size argument */

static uint64_t bytes_of(const struct system_call_row *row, uint64_t length)
{
    return row->each ? (uint64_t)(uint32_t)length * row->each : length;
}

int64_t system_call_pass(struct system_calls *calls, const struct system_call *call)
{
    const struct system_call_row *row = system_call_find(call->number);
    if (space_watches_writable(calls->space)) {
        if (row->scatters)
            space_before_write(calls->space, 0, SPACE_END);
        else if (row->writes)
            space_before_write(calls->space, call->arguments[row->writes - 1],
                               bytes_of(row, call->arguments[row->length - 1]));
        for (size_t i = 0; i < 6; i++)
            space_before_write(calls->space, call->arguments[i], STRUCTURE_BYTES_MAX);
    }
    static const volatile uint8_t none = 0;
    system_call_before_block(call);
    int64_t result =
        exec_system_call(call->interrupt ? call->interrupt : &none, call->number, call->arguments);
    system_call_after_block(call);
    return result;
}

enum system_call_outcome system_call_do(struct system_calls *calls, struct system_call *call)
{
    const struct system_call_row *row = system_call_find(call->number);
    call->why = NULL;
    if (call->number != SYS_mmap && call->number != SYS_munmap)
        calls->vain = 0;
    switch (row->treatment) {
    case SYSTEM_CALL_CALLERS:
        return (enum system_call_outcome)row->outcome;
    case SYSTEM_CALL_REFUSED:
        call->result = -row->errno_code;
        return SYSTEM_CALL_DONE;
    case SYSTEM_CALL_EMULATED:
        call->result = row->function(calls, call);
        return call->why ? SYSTEM_CALL_UNABLE : SYSTEM_CALL_DONE;
    default:
        call->result = system_call_pass(calls, call);
        return SYSTEM_CALL_DONE;
    }
}
