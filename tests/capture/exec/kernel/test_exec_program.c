#define _GNU_SOURCE /* syscall() */
#include "capture/exec/dispatch/executor.h"
#include "capture/exec/memory/initial_stack.h"
#include "tests/suites.h"
#include "tests/support/exec_child.h"
#include "tests/support/work_folder.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", NULL};

/* A whole program in a child, executed with as few system calls of our own as possible. */
struct program {
    struct space *space;
    struct executor *executor;
    struct exec_thread *thread;
    uint64_t instructions;
};

static size_t readable(void *context, uint64_t address)
{
    struct program *program = context;
    struct space_mapping mapping;
    uint64_t page = address & ~(uint64_t)4095;
    if (!space_find(program->space, address, &mapping) || !(mapping.protection & PROT_EXEC) ||
        space_watch(program->space, page, page + 4096) != 0)
        return 0;
    if (space_find(program->space, page + 4096, &mapping) && (mapping.protection & PROT_EXEC) &&
        space_watch(program->space, page + 4096, page + 8192) == 0)
        return page + 8192 - address;
    return page + 4096 - address;
}

static void on_change(void *context, uint64_t start, uint64_t end)
{
    struct program *program = context;
    executor_invalidate(program->executor, start, end);
}

static bool fix_fault(void *context, uint64_t address, uint32_t access)
{
    struct program *program = context;
    return space_fault(program->space, address, access) == SPACE_FAULT_FIXED;
}

static int take(void *context, struct record *records, size_t count)
{
    struct program *program = context;
    for (size_t i = 0; i < count; i++)
        program->instructions += records[i].time;
    return 0;
}

static int64_t system_call(struct program *program, const uint64_t *registers)
{
    struct space *space = program->space;
    uint64_t a = registers[DECODE_RDI], b = registers[DECODE_RSI], c = registers[DECODE_RDX];
    uint64_t d = registers[DECODE_R10], e = registers[DECODE_R8], f = registers[DECODE_R9];
    switch (registers[DECODE_RAX]) {
    case SYS_mmap:
        return space_mmap(space, a, b, c, d, (int)e, f);
    case SYS_munmap:
        return space_munmap(space, a, b);
    case SYS_mprotect:
        return space_mprotect(space, a, b, c);
    case SYS_mremap:
        return space_mremap(space, a, b, c, d, e);
    case SYS_brk:
        return space_brk(space, a);
    case SYS_arch_prctl:
        if (a == ARCH_SET_FS)
            program->thread->fs_base = b;
        return a == ARCH_SET_FS ? 0 : -EINVAL;
    case SYS_rt_sigaction:
    case SYS_rt_sigprocmask:
    case SYS_sigaltstack:
        return 0;
    case SYS_rseq:
    case SYS_set_robust_list:
    case SYS_clone:
    case SYS_clone3:
    case SYS_vfork:
        return -ENOSYS;
    case SYS_exit_group:
    case SYS_exit:
        _exit((int)a);
    default: {
        long result = syscall((long)registers[DECODE_RAX], a, b, c, d, e, f);
        return result < 0 ? -errno : result;
    }
    }
}

/* Does not return. */
static void run_program(const char *const *arguments, enum exec_trace trace, bool stepping)
{
    struct program program = {0};
    struct bt_error error = {.message = ""};
    static const struct executor_operations operations = {
        .readable = readable, .put = take, .fix_fault = fix_fault};
    struct executor_settings settings = {
        .trace = trace, .stepping = stepping, .operations = &operations, .context = &program};
    struct initial_stack_options options = {.environment = environment};
    struct initial_stack start;
    struct executor_stop stop = {.reason = EXECUTOR_REFUSED};
    program.space = space_new(&space_layout_default, SPACE_TRANSLATED, &error);
    struct load *load =
        program.space ? load_new(program.space, arguments[0], NULL, arguments, &error) : NULL;
    program.executor = executor_new(&settings, &error);
    program.thread = exec_thread_new(&error);
    if (!load || !program.executor || !program.thread ||
        initial_stack_new(&start, program.space, load, &options, &error) != 0 ||
        executor_begin(program.executor, program.thread, &error) != 0)
        goto out;
    space_set_listener(program.space, on_change, &program);
    program.thread->rip = start.rip;
    program.thread->registers[DECODE_RSP] = start.rsp;
    while (executor_run(program.executor, &stop, &error) == 0 &&
           (stop.reason == EXECUTOR_SYSTEM_CALL || stop.reason == EXECUTOR_BRANCH))
        if (stop.reason == EXECUTOR_SYSTEM_CALL)
            program.thread->registers[DECODE_RAX] =
                (uint64_t)system_call(&program, program.thread->registers);
out:
    dprintf(2, "%s: %s (%d) at %llx, signal %d at %llx\n", arguments[0], error.message, stop.reason,
            (unsigned long long)(program.thread ? program.thread->rip : 0), stop.signal,
            (unsigned long long)stop.fault_address);
    _exit(99);
}

struct call {
    const char *const *arguments;
    enum exec_trace trace;
    bool stepping;
};

static void run(void *context)
{
    const struct call *call = context;
    run_program(call->arguments, call->trace, call->stepping);
}

/* Programs as installed here: dynamically linked, with vector code in their libraries. Translated
 * without a trace, with fetches, with everything; and one branch by branch. */
static void test_programs(void)
{
    static const char *const programs[][6] = {
        {"/bin/true", NULL},
        {"/bin/echo", "hello", "world", NULL},
        {"/bin/ls", "-ln", "listed", NULL},
        {"/usr/bin/sort", "text", NULL},
        {"/bin/gzip", "-9", "-c", "text", NULL},
        {"/usr/bin/md5sum", "text", NULL},
        {"/usr/bin/perl", "-e",
         "my %a; $a{$_ % 97} .= $_ for 1..4000; print join ',', sort keys %a;", NULL},
    };
    static struct exec_child native, child;
    struct work_folder folder;
    work_folder_enter(&folder);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (!EXEC_CHILD_LOW_MEMORY || access(programs[i][0], X_OK) != 0)
            continue;
        exec_child_native(&native, programs[i], environment);
        for (int way = 0; way < (i == 0 ? 7 : 3); way += way == 2 ? 2 : 1) {
            struct call call = {
                .arguments = programs[i], .trace = (enum exec_trace)(way & 3), .stepping = way & 4};
            exec_child_run(&child, run, &call);
            CU_ASSERT_EQUAL(child.status, native.status);
            CU_ASSERT_STRING_EQUAL(child.output, native.output);
        }
    }
    work_folder_leave(&folder);
}

static const struct test_case cases[] = {{"programs", test_programs}, {NULL, NULL}};
TEST_SUITE_XSAVE(exec_program, cases)
