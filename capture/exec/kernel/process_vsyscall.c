#define _GNU_SOURCE /* si_code's values, getcpu */
/* The vsyscall page: three system calls at fixed addresses, for old programs. It has no code; the
 * kernel emulates calls of it (arch/x86/entry/vsyscall/vsyscall_64.c). If the kernel has the page,
 * calls are emulated here in the same way. */
#include "capture/exec/dispatch/trap.h"
#include "capture/exec/kernel/process_state.h"
#include "capture/exec/memory/maps.h"
#include "capture/exec/memory/program_memory.h"
#include "capture/exec/translate/decode.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define VSYSCALL_PAGE 0xffffffffff600000u
#define VSYSCALL_STEP 0x400u
#define ADDRESS_END   ((uint64_t)1 << 47)

static bool kernel_has_it(void)
{
    struct maps_line line;
    bool found = false;
    struct maps *maps = maps_open(NULL);
    if (!maps)
        return false;
    while (!found && maps_next(maps, &line, NULL) > 0)
        found = line.start == VSYSCALL_PAGE;
    maps_close(maps);
    return found;
}

/* The results of a call and their addresses; address 0: the program does not want it. */
struct vsyscall_result {
    struct {
        uint64_t address;
        const void *bytes;
        size_t size;
    } parts[2];
    int64_t result;
    struct timeval time;
    struct timezone zone;
    time_t seconds;
    unsigned processor, node;
};

static void make_call(struct vsyscall_result *answer, unsigned which, const uint64_t *registers)
{
    answer->parts[0].address = registers[DECODE_RDI];
    answer->parts[1].address = which == 1 ? 0 : registers[DECODE_RSI];
    switch (which) {
    case 0:
        gettimeofday(&answer->time, &answer->zone);
        answer->parts[0].bytes = &answer->time;
        answer->parts[0].size = sizeof answer->time;
        answer->parts[1].bytes = &answer->zone;
        answer->parts[1].size = sizeof answer->zone;
        break;
    case 1:
        answer->result = answer->seconds = time(NULL);
        answer->parts[0].bytes = &answer->seconds;
        answer->parts[0].size = sizeof answer->seconds;
        break;
    default:
        getcpu(&answer->processor, &answer->node);
        answer->parts[0].bytes = &answer->processor;
        answer->parts[1].bytes = &answer->node;
        answer->parts[0].size = answer->parts[1].size = sizeof(unsigned);
        break;
    }
}

static void fail(struct executor_stop *stop)
{
    *stop = (struct executor_stop){
        .reason = EXECUTOR_FAULT, .signal = SIGSEGV, .code = SI_KERNEL, .trap = TRAP_PAGE_FAULT};
}

bool process_vsyscall(struct process *process, struct executor_stop *stop)
{
    struct exec_thread *thread = process->thread;
    uint64_t rip = thread->rip, caller;
    if (stop->signal != SIGSEGV || rip - VSYSCALL_PAGE >= SPACE_PAGE || !kernel_has_it())
        return false;
    struct vsyscall_result answer = {.result = 0};
    unsigned which = (unsigned)((rip - VSYSCALL_PAGE) / VSYSCALL_STEP);
    if ((rip - VSYSCALL_PAGE) % VSYSCALL_STEP != 0 || which > 2 ||
        program_read(process->space, &caller, thread->registers[DECODE_RSP], sizeof caller) != 0) {
        fail(stop);
        return false;
    }
    make_call(&answer, which, thread->registers);
    for (unsigned i = 0; i < 2; i++)
        if (answer.parts[i].address >= ADDRESS_END) {
            *stop = trap_page_fault(answer.parts[i].address, TRAP_PAGE_USER | TRAP_PAGE_WRITE);
            return false;
        }
    for (unsigned i = 0; i < 2; i++)
        if (answer.parts[i].address &&
            program_write(process->space, answer.parts[i].address, answer.parts[i].bytes,
                          answer.parts[i].size) != 0) {
            fail(stop);
            return false;
        }
    thread->registers[DECODE_RAX] = (uint64_t)answer.result;
    thread->registers[DECODE_RSP] += 8;
    thread->rip = caller;
    return true;
}
