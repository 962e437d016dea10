/*
 * Single-steps a program and writes the comprehensive WET text of its whole execution
 * (doc/wet.md), found by the twin of tests/support: what `bustap wet` and `bustap wet print` must
 * give, too. Shares no code with bustap but Zydis, which decodes the operands.
 *
 * The program is static, with code and data below 4 GiB, and has one thread. Its stack is there,
 * too, before its first reference. It makes no other system calls than those of written_by(), and
 * catches no signals.
 *
 * usage: step_wet OUTPUT PROGRAM
 *
 * Exits with 0, 124 where single-stepping is not possible, 125 for other failures.
 */
#define _GNU_SOURCE /* process_vm_readv */
#include "tests/support/random_instruction.h"
#include "tests/support/wet_twin.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEGMENTS  4u
#define TRAP_FLAG UINT64_C(0x100)

struct program {
    pid_t child;
    Dwfl *dwfl;
    Dwfl_Module *module;
    struct {
        uint64_t start, end;
        uint8_t *bytes; /* as they were at the start */
    } code[SEGMENTS];
    unsigned code_count;
};

_Noreturn static void fail(const char *what, int status)
{
    fprintf(stderr, "step_wet: %s: %s\n", what, strerror(errno));
    exit(status);
}

/* --- what the twin asks ----------------------------------------------------------------------- */

static size_t read_some(pid_t child, uint64_t address, void *to, size_t size)
{
    struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};
    const ssize_t count = process_vm_readv(child, &local, 1, &remote, 1, 0);
    return count < 0 ? 0 : (size_t)count;
}

static void read_memory(void *context, uint64_t address, uint8_t *to, size_t size)
{
    const struct program *program = context;
    if (read_some(program->child, address, to, size) != size)
        fail("reading memory", 125);
}

static bool function_of(void *context, uint64_t address, uint64_t *start, uint64_t *end,
                        char name[256])
{
    const struct program *program = context;
    const int count = dwfl_module_getsymtab(program->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr value;
        const char *text =
            dwfl_module_getsym_info(program->module, i, &symbol, &value, NULL, NULL, NULL);
        if (!text || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || address < value ||
            address >= value + symbol.st_size)
            continue;
        *start = value;
        *end = value + symbol.st_size;
        snprintf(name, 256, "%s", text);
        return true;
    }
    return false;
}

static void line_of(void *context, uint64_t address, char file[256], unsigned *line)
{
    const struct program *program = context;
    Dwfl_Line *found = dwfl_module_getsrc(program->module, address);
    int number = 0;
    const char *path = found ? dwfl_lineinfo(found, NULL, &number, NULL, NULL, NULL) : NULL;
    if (!path)
        return;
    const char *name = strrchr(path, '/');
    snprintf(file, 256, "%s", name ? name + 1 : path);
    *line = (unsigned)number;
}

static size_t code_of(void *context, uint64_t address, uint8_t code[15])
{
    const struct program *program = context;
    for (unsigned i = 0; i < program->code_count; i++) {
        const uint64_t start = program->code[i].start, end = program->code[i].end;
        if (address < start || address >= end)
            continue;
        const size_t size = end - address < 15 ? (size_t)(end - address) : 15;
        memcpy(code, program->code[i].bytes + (address - start), size);
        return size;
    }
    return 0;
}

/* --- the program ------------------------------------------------------------------------------ */

static void open_symbols(struct program *program, const char *path)
{
    static const Dwfl_Callbacks callbacks = {.find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = dwfl_offline_section_address};
    GElf_Addr bias;
    program->dwfl = dwfl_begin(&callbacks);
    if (!program->dwfl)
        fail(path, 125);
    program->module = dwfl_report_offline(program->dwfl, path, path, -1);
    dwfl_report_end(program->dwfl, NULL, NULL);
    Elf *elf = program->module ? dwfl_module_getelf(program->module, &bias) : NULL;
    size_t count = 0;
    if (!elf || elf_getphdrnum(elf, &count) != 0)
        fail(path, 125);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
            (header.p_flags & PF_X) && program->code_count < SEGMENTS) {
            program->code[program->code_count].start = header.p_vaddr;
            program->code[program->code_count++].end = header.p_vaddr + header.p_filesz;
        }
    }
}

static void keep_code(struct program *program)
{
    for (unsigned i = 0; i < program->code_count; i++) {
        const size_t size = program->code[i].end - program->code[i].start;
        program->code[i].bytes = malloc(size + 1);
        if (!program->code[i].bytes)
            fail("memory", 125);
        read_memory(program, program->code[i].start, program->code[i].bytes, size);
    }
}

static pid_t start(char *path)
{
    const pid_t child = fork();
    if (child < 0)
        fail("fork", 125);
    if (child == 0) {
        char *const arguments[] = {path, NULL}, *const environment[] = {NULL};
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
            execve(path, arguments, environment);
        _exit(125);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        fail("single-stepping", 124);
    return child;
}

static void get_machine(pid_t child, struct machine *machine)
{
    struct user_regs_struct r;
    struct iovec vector = {machine->vector, sizeof machine->vector};
    memset(machine, 0, sizeof *machine);
    if (ptrace(PTRACE_GETREGS, child, NULL, &r) != 0 ||
        ptrace(PTRACE_GETREGSET, child, (void *)NT_X86_XSTATE, &vector) != 0)
        fail("registers", 125);
    const uint64_t registers[16] = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
                                    r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
    memcpy(machine->registers, registers, sizeof registers);
    machine->rip = r.rip;
    machine->flags = r.eflags;
}

/* What a system call wrote to the program's memory. */
static struct wet_twin_range written_by(const struct machine *before, const struct machine *after)
{
    const uint64_t result = after->registers[0];
    switch (before->registers[0]) {
    case SYS_read:
        return (struct wet_twin_range){before->registers[6], (int64_t)result > 0 ? result : 0};
    case SYS_clock_gettime:
        return (struct wet_twin_range){before->registers[6], result == 0 ? 16 : 0};
    case SYS_write:
    case SYS_close:
    case SYS_mprotect:
    case SYS_getpid:
    case SYS_exit:
    case SYS_exit_group:
        return (struct wet_twin_range){0, 0};
    default:
        fprintf(stderr, "step_wet: system call %" PRIu64 "\n", before->registers[0]);
        exit(125);
    }
}

/* Takes the trap flag out of where the step has left it: what pushf stored, and r11. */
static void hide_trap_flag(pid_t child, const uint8_t *code, struct machine *after)
{
    struct random_instruction made;
    memcpy(made.bytes, code, 15);
    if (!random_instruction_decode(&made))
        fail("decoding", 125);
    if (made.instruction.meta.category == ZYDIS_CATEGORY_PUSH &&
        strncmp(ZydisMnemonicGetString(made.instruction.mnemonic), "pushf", 5) == 0) {
        const uint64_t flags =
            (uint64_t)ptrace(PTRACE_PEEKDATA, child, (void *)after->registers[4], NULL);
        ptrace(PTRACE_POKEDATA, child, (void *)after->registers[4], (void *)(flags & ~TRAP_FLAG));
    }
    if (made.instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL) {
        struct user_regs_struct registers;
        ptrace(PTRACE_GETREGS, child, NULL, &registers);
        registers.r11 &= ~TRAP_FLAG;
        ptrace(PTRACE_SETREGS, child, NULL, &registers);
        after->registers[11] = registers.r11;
    }
}

static bool is_system_call(const uint8_t *code)
{
    return code[0] == 0x0f && code[1] == 0x05;
}

/* A repeated instruction stops after each element. */
static bool is_unfinished(const uint8_t *code, const struct machine *before,
                          const struct machine *after)
{
    struct random_instruction made;
    memcpy(made.bytes, code, 15);
    return after->rip == before->rip && random_instruction_decode(&made) &&
           (made.instruction.attributes &
            (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

/* Executes one instruction; false: the program has ended. */
static bool step(struct program *program, struct wet_twin *twin, struct machine *before)
{
    struct machine after;
    uint8_t code[15] = {0};
    int status;
    if (read_some(program->child, before->rip, code, sizeof code) == 0)
        return false;
    do {
        if (ptrace(PTRACE_SINGLESTEP, program->child, NULL, NULL) != 0 ||
            waitpid(program->child, &status, 0) != program->child)
            fail("single-stepping", 124);
        if (!WIFSTOPPED(status)) {
            wet_twin_execute(twin, code, before, NULL, NULL);
            return false;
        }
        if (WSTOPSIG(status) != SIGTRAP) {
            fprintf(stderr, "step_wet: signal %d at %" PRIx64 "\n", WSTOPSIG(status), before->rip);
            exit(125);
        }
        get_machine(program->child, &after);
    } while (is_unfinished(code, before, &after));
    hide_trap_flag(program->child, code, &after);
    struct wet_twin_range kernel = {0, 0};
    if (is_system_call(code))
        kernel = written_by(before, &after);
    wet_twin_execute(twin, code, before, &after, &kernel);
    *before = after;
    return true;
}

int main(int count, char **arguments)
{
    static struct program program;
    struct machine machine;
    if (count != 3)
        return 125;
    FILE *out = fopen(arguments[1], "w");
    if (!out)
        fail(arguments[1], 125);
    open_symbols(&program, arguments[2]);
    program.child = start(arguments[2]);
    keep_code(&program);
    struct wet_twin *twin = wet_twin_new(
        &(struct wet_twin_program){read_memory, function_of, line_of, code_of, &program});
    get_machine(program.child, &machine);
    while (step(&program, twin, &machine))
        ;
    wet_twin_print(twin, out);
    wet_twin_free(twin);
    dwfl_end(program.dwfl);
    for (unsigned i = 0; i < program.code_count; i++)
        free(program.code[i].bytes);
    return fclose(out) == 0 ? 0 : 125;
}
