#define _GNU_SOURCE /* MAP_ANONYMOUS, si_code's values */
/* Instructions that cannot be executed, and that may have changed, or be unmapped, when their
 * effect is determined: other processes can change code at any time. */
#include "capture/exec/dispatch/trap.h"
#include "capture/exec/kernel/process_state.h"
#include "tests/suites.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

struct ground {
    struct process process;
    uint64_t code; /* two pages */
    struct executor_stop stop;
    struct bt_error error;
};

static bool begin(struct ground *ground)
{
    const uint64_t protection = PROT_READ | PROT_WRITE | PROT_EXEC;
    *ground = (struct ground){.error = {.message = ""}};
    struct process *process = &ground->process;
    process->space = space_new(&space_layout_default, SPACE_TRANSLATED, &ground->error);
    process->thread = exec_thread_new(&ground->error);
    if (!process->space || !process->thread)
        return false;
    ground->code = (uint64_t)space_mmap(process->space, 0, 2 * SPACE_PAGE, protection,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    process->thread->rip = ground->code;
    return ground->code < UINT32_MAX;
}

static void end(struct ground *ground)
{
    exec_thread_free(ground->process.thread);
    space_free(ground->process.space);
}

static void put(struct ground *ground, const void *code, size_t size)
{
    uint64_t rip = ground->process.thread->rip;
    space_before_write(ground->process.space, rip, size);
    memcpy((void *)(uintptr_t)rip, code, size);
    ground->stop = (struct executor_stop){.reason = EXECUTOR_TRAP};
}
#define PUT(ground, code) put(ground, code, sizeof(code) - 1)

static bool is_fault(const struct ground *ground, int number, uint64_t trap, uint64_t error,
                     uint64_t address)
{
    const struct executor_stop *stop = &ground->stop;
    return stop->reason == EXECUTOR_FAULT && stop->signal == number && stop->trap == trap &&
           stop->error == error && stop->fault_address == address;
}

static bool is_fetch_failed(const struct ground *ground, uint64_t address)
{
    return is_fault(ground, SIGSEGV, TRAP_PAGE_FAULT, TRAP_PAGE_USER | TRAP_PAGE_FETCH, address) &&
           ground->stop.code == SEGV_MAPERR;
}

static bool is_protection(const struct ground *ground, uint64_t error)
{
    return is_fault(ground, SIGSEGV, TRAP_GENERAL_PROTECTION, error, 0) &&
           ground->stop.code == SI_KERNEL;
}

static void test_trap(void)
{
    struct ground ground;
    CU_ASSERT_FATAL(begin(&ground));
    struct process *process = &ground.process;
    PUT(&ground, "\x0f\x0b"); /* ud2 */
    process_trap(process, &ground.stop);
    CU_ASSERT(is_fault(&ground, SIGILL, TRAP_INVALID_OPCODE, 0, ground.code));
    PUT(&ground, "\xf4"); /* hlt */
    process_trap(process, &ground.stop);
    CU_ASSERT(is_protection(&ground, 0));
    CU_ASSERT_EQUAL(process->thread->rip, ground.code);
    PUT(&ground, "\xcc"); /* int3: the reported rip is after it */
    process_trap(process, &ground.stop);
    CU_ASSERT(is_fault(&ground, SIGTRAP, TRAP_BREAKPOINT, 0, 0));
    CU_ASSERT_EQUAL(process->thread->rip, ground.code + 1);
    end(&ground);
}

static void test_trap_no_more(void)
{
    struct ground ground;
    CU_ASSERT_FATAL(begin(&ground));
    struct process *process = &ground.process;
    PUT(&ground, "\x90");
    process_trap(process, &ground.stop);
    CU_ASSERT_EQUAL(ground.stop.reason, EXECUTOR_INTERRUPTED);
    PUT(&ground, "\xcd\x80"); /* refused, but not a trap */
    process_trap(process, &ground.stop);
    CU_ASSERT_EQUAL(ground.stop.reason, EXECUTOR_INTERRUPTED);
    CU_ASSERT_EQUAL(process->thread->rip, ground.code);
    PUT(&ground, "\x0f\x0b");
    space_mprotect(process->space, ground.code, SPACE_PAGE, PROT_READ);
    process_trap(process, &ground.stop);
    CU_ASSERT(is_fetch_failed(&ground, ground.code));
    space_munmap(process->space, ground.code, SPACE_PAGE);
    process_trap(process, &ground.stop);
    CU_ASSERT(is_fetch_failed(&ground, ground.code));
    end(&ground);
}

/* The end of the mapping comes first. */
static void test_cut_off(void)
{
    struct ground ground;
    CU_ASSERT_FATAL(begin(&ground));
    struct process *process = &ground.process;
    process->thread->rip = ground.code + 2 * SPACE_PAGE - 3;
    PUT(&ground, "\x66\x66\x66");
    process_trap(process, &ground.stop);
    CU_ASSERT(is_fetch_failed(&ground, ground.code + 2 * SPACE_PAGE));
    process->thread->rip = ground.code + 2 * SPACE_PAGE - 15;
    PUT(&ground, "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66");
    process_trap(process, &ground.stop);
    CU_ASSERT(is_protection(&ground, 0)); /* the maximum length of an instruction */
    end(&ground);
}

static void test_refused(void)
{
    static const struct {
        const char *code, *why;
    } refused[] = {{"\xcd\x80", "int 0x80"},
                   {"\x0f\x34", "sysenter"},
                   {"\xff\x18", "far call"},
                   {"\xf3\x0f\xae\xd8", "wrgsbase"},
                   {"\x8e\x28", "segment register (mov)"}};
    struct ground ground;
    CU_ASSERT_FATAL(begin(&ground));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        put(&ground, refused[i].code, strlen(refused[i].code));
        CU_ASSERT_EQUAL(process_refused(&ground.process, &ground.stop, &ground.error), BT_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(ground.error.message, refused[i].why));
    }
    PUT(&ground, "\xcd\x05"); /* a signal instead */
    CU_ASSERT_EQUAL(process_refused(&ground.process, &ground.stop, &ground.error), 0);
    CU_ASSERT(is_protection(&ground, 5 * 8 + 2));
    end(&ground);
}

static void test_refused_no_more(void)
{
    static const char *const possible[] = {"\x90", "\xf3\x0f\xae\xd0" /* wrfsbase eax */};
    struct ground ground;
    CU_ASSERT_FATAL(begin(&ground));
    struct process *process = &ground.process;
    for (size_t i = 0; i < sizeof possible / sizeof *possible; i++) {
        put(&ground, possible[i], strlen(possible[i]));
        CU_ASSERT_EQUAL(process_refused(process, &ground.stop, &ground.error), 0);
        CU_ASSERT_EQUAL(ground.stop.reason, EXECUTOR_INTERRUPTED);
    }
    CU_ASSERT_EQUAL(process->thread->rip, ground.code);
    PUT(&ground, "\xcd\x80");
    space_mprotect(process->space, ground.code, SPACE_PAGE, PROT_READ);
    CU_ASSERT_EQUAL(process_refused(process, &ground.stop, &ground.error), 0);
    CU_ASSERT(is_fetch_failed(&ground, ground.code));
    space_munmap(process->space, ground.code, SPACE_PAGE);
    CU_ASSERT_EQUAL(process_refused(process, &ground.stop, &ground.error), 0);
    CU_ASSERT(is_fetch_failed(&ground, ground.code));
    end(&ground);
}

static const struct test_case cases[] = {{"traps", test_trap},
                                         {"no trap any more", test_trap_no_more},
                                         {"cut off", test_cut_off},
                                         {"refused", test_refused},
                                         {"possible by then", test_refused_no_more},
                                         {NULL, NULL}};
TEST_SUITE_XSAVE(exec_process_trap, cases)
