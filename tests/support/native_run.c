#define _GNU_SOURCE /* registers in ucontext_t */
#include "tests/support/native_run.h"

#include "capture/exec/dispatch/trap.h"
#include "capture/exec/translate/xsave_area.h"

#include <cpuid.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_BYTES (256u << 10)

#define MISSING_OFFSET    2816u /* room for a component that the processor lacks */
#define LEGACY_COMPONENTS 3u    /* x87 and SSE */
#define COMPONENTS        0xe7u /* and AVX, opmasks, both upper parts of AVX-512 */

static const int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                               REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                               REG_R12, REG_R13, REG_R14, REG_R15};

/* Global because signal handlers have no context. */
static struct {
    struct machine *machine;
    void (*step)(void *context, const struct machine *machine);
    void *context;
    struct native_end end;
    ucontext_t host;
    uint8_t host_vector[MACHINE_VECTOR_BYTES * 4];
} run;

bool native_is_emulated(void)
{
    unsigned a, signature[3] = {0, 0, 0};
    __cpuid(0x40000000, a, signature[0], signature[1], signature[2]);
    return memcmp(signature, "TCGTCGTCGTCG", sizeof signature) == 0;
}

uint64_t machine_components(void)
{
    static uint64_t components;
    unsigned a, b, c, d;
    if (components)
        return components;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE)) {
        __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
        return components = a & COMPONENTS;
    }
    return components = LEGACY_COMPONENTS;
}

size_t machine_component(unsigned component, size_t *size)
{
    static struct {
        bool known;
        unsigned size, offset;
    } components[8];
    if (!components[component].known) {
        unsigned c, d;
        components[component].offset = MISSING_OFFSET;
        if (machine_components() >> component & 1)
            __cpuid_count(0xd, component, components[component].size, components[component].offset,
                          c, d);
        components[component].known = true;
    }
    *size = components[component].size;
    return components[component].offset;
}

size_t machine_vector_bytes(void)
{
    size_t bytes = XSAVE_OTHERS, size;
    for (unsigned component = 2; COMPONENTS >> component; component++) {
        const size_t offset = machine_component(component, &size);
        if (size > 0 && offset + size > bytes)
            bytes = offset + size;
    }
    return bytes;
}

static uint32_t area_size(const uint8_t *area)
{
    uint32_t size;
    memcpy(&size, area + XSAVE_NOTE_SIZE, sizeof size);
    return size;
}

static void load(ucontext_t *context, const struct machine *machine)
{
    uint8_t *area = (uint8_t *)context->uc_mcontext.fpregs;
    greg_t *registers = context->uc_mcontext.gregs;
    uint64_t have, wanted;
    for (unsigned i = 0; i < 16; i++)
        registers[places[i]] = (greg_t)machine->registers[i];
    registers[REG_RIP] = (greg_t)machine->rip;
    registers[REG_EFL] = (greg_t)(machine->flags | (run.step ? TRAP_FLAG : 0));
    memcpy(area, machine->vector, XSAVE_NOTE);
    for (unsigned i = 2; i < 8; i++) {
        size_t size, offset = machine_component(i, &size);
        memcpy(area + offset, machine->vector + offset, size);
    }
    memcpy(&have, area + XSAVE_HEADER, sizeof have);
    memcpy(&wanted, machine->vector + XSAVE_HEADER, sizeof wanted);
    have = (have & ~machine_components()) | (wanted & machine_components());
    memcpy(area + XSAVE_HEADER, &have, sizeof have);
}

static void save(struct machine *machine, const ucontext_t *context)
{
    const uint8_t *area = (const uint8_t *)context->uc_mcontext.fpregs;
    const greg_t *registers = context->uc_mcontext.gregs;
    uint32_t size = area_size(area);
    for (unsigned i = 0; i < 16; i++)
        machine->registers[i] = (uint64_t)registers[places[i]];
    machine->rip = (uint64_t)registers[REG_RIP];
    machine->flags = (uint64_t)registers[REG_EFL] & ~(uint64_t)(TRAP_FLAG | TRAP_FLAG_RESUME);
    memcpy(machine->vector, area, size < MACHINE_VECTOR_BYTES ? size : MACHINE_VECTOR_BYTES);
}

/* Begins the run: saves the state of this process. */
static void on_begin(int number, siginfo_t *info, void *context_pointer)
{
    ucontext_t *context = context_pointer;
    (void)number, (void)info;
    run.host = *context;
    memcpy(run.host_vector, context->uc_mcontext.fpregs,
           area_size((uint8_t *)context->uc_mcontext.fpregs));
    load(context, run.machine);
    if (run.step)
        run.step(run.context, run.machine);
}

static void on_end(int number, siginfo_t *info, void *context_pointer)
{
    ucontext_t *context = context_pointer;
    void *area = context->uc_mcontext.fpregs;
    save(run.machine, context);
    if (run.step && number == SIGTRAP && context->uc_mcontext.gregs[REG_TRAPNO] == TRAP_DEBUG) {
        run.step(run.context, run.machine);
        return;
    }
    if (number == SIGTRAP)
        run.machine->rip--;
    run.end = (struct native_end){.signal = number,
                                  .code = info->si_code,
                                  .fault_address = (uint64_t)(uintptr_t)info->si_addr};
    memcpy(context->uc_mcontext.gregs, run.host.uc_mcontext.gregs,
           sizeof run.host.uc_mcontext.gregs);
    memcpy(area, run.host_vector, area_size(run.host_vector));
}

struct native_end native_run(struct machine *machine,
                             void (*step)(void *context, const struct machine *machine),
                             void *context)
{
    static const int signals[] = {SIGUSR1, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction old[6], action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    static uint8_t stack_memory[STACK_BYTES];
    stack_t old_stack, stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
    run.machine = machine;
    run.step = step;
    run.context = context;
    sigaltstack(&stack, &old_stack);
    for (unsigned i = 0; i < 6; i++) {
        action.sa_sigaction = i == 0 ? on_begin : on_end;
        sigaction(signals[i], &action, &old[i]);
    }
    raise(SIGUSR1);
    for (unsigned i = 0; i < 6; i++)
        sigaction(signals[i], &old[i], NULL);
    sigaltstack(&old_stack, NULL);
    return run.end;
}

/* --- comparing -------------------------------------------------------------------------------- */

/* Bytes of a component; initial values if the header marks it as in its initial state. */
static void component_bytes(const struct machine *machine, unsigned component, size_t offset,
                            uint8_t *bytes, size_t size)
{
    uint64_t present;
    memcpy(&present, machine->vector + XSAVE_HEADER, sizeof present);
    if (present >> component & 1)
        memcpy(bytes, machine->vector + offset, size);
    else
        memset(bytes, 0, size);
}

static bool same(const struct machine *a, const struct machine *b, unsigned component,
                 size_t offset, size_t size)
{
    uint8_t one[2048], other[2048];
    component_bytes(a, component, offset, one, size);
    component_bytes(b, component, offset, other, size);
    return memcmp(one, other, size) == 0;
}

static const char *vector_difference(const struct machine *a, const struct machine *b)
{
    static const char *const names[] = {"x87", "xmm",    "ymm",      "",
                                        "",    "opmask", "zmm high", "zmm 16 to 31"};
    for (unsigned i = 0; i < 8; i++)
        if (!same(a, b, 0, 32 + 16 * i, 10))
            return "x87 registers";
    if (memcmp(a->vector + 24, b->vector + 24, 4) != 0)
        return "mxcsr";
    if (!same(a, b, 1, 160, 256))
        return "xmm";
    for (unsigned i = 2; i < 8; i++) {
        size_t size, offset = machine_component(i, &size);
        if (size > 0 && !same(a, b, i, offset, size))
            return names[i];
    }
    return NULL;
}

/* Control, status and tag words of x87. */
static uint32_t x87_words(const struct machine *machine, unsigned offset)
{
    uint64_t present;
    uint16_t word;
    memcpy(&present, machine->vector + XSAVE_HEADER, sizeof present);
    memcpy(&word, machine->vector + offset, sizeof word);
    if (present & 1)
        return word;
    return offset == 0 ? 0x37f : 0;
}

const char *machine_difference(const struct machine *a, const struct machine *b)
{
    static char text[64];
    for (unsigned i = 0; i < 16; i++)
        if (a->registers[i] != b->registers[i]) {
            snprintf(text, sizeof text, "register %u: %llx, %llx", i,
                     (unsigned long long)a->registers[i], (unsigned long long)b->registers[i]);
            return text;
        }
    if (a->flags != b->flags) {
        snprintf(text, sizeof text, "flags %llx, %llx", (unsigned long long)a->flags,
                 (unsigned long long)b->flags);
        return text;
    }
    if (a->rip != b->rip) {
        snprintf(text, sizeof text, "rip %llx, %llx", (unsigned long long)a->rip,
                 (unsigned long long)b->rip);
        return text;
    }
    for (unsigned offset = 0; offset < 6; offset += 2)
        if (x87_words(a, offset) != x87_words(b, offset))
            return "x87 control, status or tags";
    return vector_difference(a, b);
}
