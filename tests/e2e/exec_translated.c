/*
 * Runs a program of one thread translated, with its system calls emulated: tests all of
 * capture/exec with real programs. The program receives no signals; children are translated until
 * they execute another program.
 *
 * usage: exec_translated [--all] PROGRAM [ARGUMENT...]
 *     with a trace, writes the number of instructions to descriptor 9
 */
#define _GNU_SOURCE /* CLONE_* */
#include "capture/exec/dispatch/executor.h"
#include "capture/exec/kernel/system_call.h"
#include "tests/e2e/exec_go.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

struct program {
    struct space *space;
    struct load *load;
    struct initial_stack start;
    struct system_calls *calls;
    struct executor *executor;
    struct exec_thread *thread;
    uint64_t instructions;
};

static bool watched_code(struct program *program, uint64_t page)
{
    return space_allows(program->space, page, SPACE_PAGE, PROT_EXEC) &&
           space_watch(program->space, page, page + SPACE_PAGE) == 0;
}

static size_t readable(void *context, uint64_t address)
{
    uint64_t page = address & ~(SPACE_PAGE - 1);
    uint64_t end = page;
    while (end < page + 2 * SPACE_PAGE && watched_code(context, end))
        end += SPACE_PAGE;
    return end > page ? end - address : 0;
}

static void on_change(void *context, uint64_t start, uint64_t end)
{
    executor_invalidate(((struct program *)context)->executor, start, end);
}

static bool fix_fault(void *context, uint64_t address, uint32_t access)
{
    return space_fault(((struct program *)context)->space, address, access) == SPACE_FAULT_FIXED;
}

static int take(void *context, struct record *records, size_t count)
{
    struct program *program = context;
    for (size_t i = 0; i < count; i++)
        program->instructions += records[i].time;
    return 0;
}

static int64_t kernel(const struct system_call *call)
{
    const uint64_t *arguments = call->arguments;
    long result = syscall((long)call->number, arguments[0], arguments[1], arguments[2],
                          arguments[3], arguments[4], arguments[5]);
    return result == -1 ? -errno : result;
}

/* A child gets a copy of everything, whatever the flags. */
static int64_t do_clone(const struct program *program, struct system_call *call)
{
    if (call->number == SYS_clone3 ||
        (call->number == SYS_clone && (call->arguments[0] & CLONE_THREAD)))
        return -ENOSYS;
    uint64_t stack = call->number == SYS_clone ? call->arguments[1] : 0;
    if (call->number == SYS_vfork)
        call->number = SYS_fork;
    call->arguments[0] &= ~(uint64_t)(CLONE_VM | CLONE_VFORK);
    call->arguments[1] = 0;
    int64_t result = kernel(call);
    if (result == 0 && stack)
        program->thread->registers[DECODE_RSP] = stack;
    return result;
}

__attribute__((noreturn)) static void end(const struct program *program, int status)
{
    if (program->instructions)
        dprintf(9, "%" PRIu64 "\n", program->instructions);
    _exit(status);
}

static int64_t do_system_call(struct program *program)
{
    const uint64_t *registers = program->thread->registers;
    struct system_call call = {
        .number = registers[DECODE_RAX],
        .arguments = {registers[DECODE_RDI], registers[DECODE_RSI], registers[DECODE_RDX],
                      registers[DECODE_R10], registers[DECODE_R8], registers[DECODE_R9]},
        .fs_base = program->thread->fs_base,
    };
    enum system_call_outcome outcome = system_call_do(program->calls, &call);
    program->thread->fs_base = call.fs_base;
    switch (outcome) {
    case SYSTEM_CALL_DONE:
        return call.result;
    case SYSTEM_CALL_CLONE:
        return do_clone(program, &call);
    case SYSTEM_CALL_EXECUTE:
        return kernel(&call);
    case SYSTEM_CALL_SIGNAL:
        return 0;
    case SYSTEM_CALL_UNABLE:
        dprintf(2, "the program %s\n", call.why);
        end(program, 125);
    case SYSTEM_CALL_EXIT:
    case SYSTEM_CALL_EXIT_GROUP:
    default:
        end(program, (int)call.arguments[0]);
    }
}

static int prepare(struct program *program, const char *const *arguments, enum exec_trace trace,
                   struct bt_error *error)
{
    static const struct executor_operations operations = {
        .readable = readable, .put = take, .fix_fault = fix_fault};
    struct executor_settings settings = {
        .trace = trace, .operations = &operations, .context = program};
    struct initial_stack_options options = {.environment = (const char *const *)environ};
    program->space = space_new(&layout, SPACE_TRANSLATED, error);
    if (!program->space ||
        !(program->load = load_new(program->space, arguments[0], NULL, arguments, error)) ||
        initial_stack_new(&program->start, program->space, program->load, &options, error) < 0 ||
        !(program->calls =
              system_calls_new(program->space, program->load, &program->start, error)) ||
        !(program->executor = executor_new(&settings, error)) ||
        !(program->thread = exec_thread_new(error)) ||
        executor_begin(program->executor, program->thread, error) < 0)
        return -1;
    space_set_listener(program->space, on_change, program);
    program->thread->rip = program->start.rip;
    program->thread->registers[DECODE_RSP] = program->start.rsp;
    return 0;
}

int main(int argc, char **argv)
{
    static struct program program;
    enum exec_trace trace = EXEC_TRACE_NONE;
    if (argc > 1 && strcmp(argv[1], "--all") == 0)
        trace = EXEC_TRACE_ALL;
    argv += trace == EXEC_TRACE_NONE ? 1 : 2;
    if (argc < 2 || !argv[0])
        return 2;
    struct bt_error error = {0, ""};
    struct executor_stop stop = {.reason = EXECUTOR_REFUSED};
    if (prepare(&program, (const char *const *)argv, trace, &error) == 0)
        while (executor_run(program.executor, &stop, &error) == 0 &&
               stop.reason == EXECUTOR_SYSTEM_CALL)
            program.thread->registers[DECODE_RAX] = (uint64_t)do_system_call(&program);
    fprintf(stderr, "%s (%d) at %" PRIx64 ", signal %d at %" PRIx64 "\n", error.message,
            (int)stop.reason, program.thread ? program.thread->rip : 0, stop.signal,
            stop.fault_address);
    return 125;
}
