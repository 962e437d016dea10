/*
 * Single-steps a program and finds its dependences with the twin of tests/support, by instruction:
 * a line "KIND SINK SOURCE COUNT" for each pair, with hexadecimal addresses. Shares no code with
 * bustap but Zydis, which decodes the operands. The program is static, at low addresses, has one
 * thread, and makes no system calls that write to its memory; operands have no segment base.
 *
 * usage: step_dependences PROGRAM
 *
 * Exits with 0, 124 where single-stepping is not possible, 125 for other failures.
 */
#define _GNU_SOURCE /* process_vm_readv */
#include "tests/support/dependence_twin.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define DATA_BEGIN  UINT64_C(0x400000)
#define DATA_BYTES  UINT64_C(0x400000)
#define STACK_BYTES UINT64_C(0x100000) /* moved to the end of the data */
#define STACK_BEGIN (DATA_BEGIN + DATA_BYTES)

static struct dependence_twin *twin;
static uint64_t stack_top; /* end of the program's stack */

_Noreturn static void fail(const char *what, int status)
{
    perror(what);
    exit(status);
}

/* The twin's address for one of the program. */
static uint64_t moved(uint64_t address)
{
    if (address >= stack_top - STACK_BYTES && address < stack_top)
        return address - (stack_top - STACK_BYTES) + STACK_BEGIN;
    if (address >= DATA_BEGIN && address < DATA_BEGIN + DATA_BYTES)
        return address;
    fprintf(stderr, "step_dependences: reference to 0x%" PRIx64 "\n", address);
    exit(125);
}

static uint64_t read_register(const struct user_regs_struct *registers, ZydisRegister name)
{
    switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name)) {
    case ZYDIS_REGISTER_RAX:
        return registers->rax;
    case ZYDIS_REGISTER_RCX:
        return registers->rcx;
    case ZYDIS_REGISTER_RDX:
        return registers->rdx;
    case ZYDIS_REGISTER_RBX:
        return registers->rbx;
    case ZYDIS_REGISTER_RSP:
        return registers->rsp;
    case ZYDIS_REGISTER_RBP:
        return registers->rbp;
    case ZYDIS_REGISTER_RSI:
        return registers->rsi;
    case ZYDIS_REGISTER_RDI:
        return registers->rdi;
    case ZYDIS_REGISTER_R8:
        return registers->r8;
    case ZYDIS_REGISTER_R9:
        return registers->r9;
    case ZYDIS_REGISTER_R10:
        return registers->r10;
    case ZYDIS_REGISTER_R11:
        return registers->r11;
    case ZYDIS_REGISTER_R12:
        return registers->r12;
    case ZYDIS_REGISTER_R13:
        return registers->r13;
    case ZYDIS_REGISTER_R14:
        return registers->r14;
    case ZYDIS_REGISTER_R15:
        return registers->r15;
    default:
        return 0;
    }
}

struct instruction {
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct user_regs_struct registers; /* before it */
};

static uint64_t address_of(const struct instruction *instruction,
                           const ZydisDecodedOperand *operand)
{
    uint64_t address = operand->mem.disp.has_displacement ? (uint64_t)operand->mem.disp.value : 0;
    if (operand->mem.base == ZYDIS_REGISTER_RIP)
        return address + instruction->registers.rip + instruction->decoded.length;
    address += read_register(&instruction->registers, operand->mem.base);
    address += read_register(&instruction->registers, operand->mem.index) * operand->mem.scale;
    /* pushes write below the stack pointer */
    if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
        operand->mem.base == ZYDIS_REGISTER_RSP &&
        (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
        address -= operand->size / 8;
    return address;
}

static void refer(const struct instruction *instruction, bool is_write)
{
    const unsigned wanted =
        is_write ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ;
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && (operand->actions & wanted) &&
            operand->mem.type == ZYDIS_MEMOP_TYPE_MEM)
            twin_reference(twin, 0, (uint32_t)instruction->registers.rip, true, is_write,
                           moved(address_of(instruction, operand)), operand->size / 8);
    }
}

/* An instruction is executed. */
static void execute(const struct instruction *instruction)
{
    const ZydisDecodedInstruction *decoded = &instruction->decoded;
    const uint64_t repeat = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    if ((decoded->attributes & repeat) && instruction->registers.rcx == 0)
        return;
    if (decoded->meta.category == ZYDIS_CATEGORY_WIDENOP) /* its operand is not accessed */
        return;
    refer(instruction, false);
    refer(instruction, true);
    if (decoded->meta.category == ZYDIS_CATEGORY_CALL)
        twin_call(twin, 0, moved(instruction->registers.rsp - 8));
    else if (decoded->meta.category == ZYDIS_CATEGORY_RET)
        twin_return(twin, 0, moved(instruction->registers.rsp));
}

/* Decodes the instruction that is executed next. */
static void decode_next(pid_t child, struct instruction *instruction)
{
    static ZydisDecoder decoder;
    uint8_t bytes[16];
    if (ptrace(PTRACE_GETREGS, child, NULL, &instruction->registers) != 0)
        fail("registers", 125);
    struct iovec to = {bytes, 15}, from = {(void *)(uintptr_t)instruction->registers.rip, 15};
    const ssize_t size = process_vm_readv(child, &to, 1, &from, 1, 0);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (size <= 0 ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, (size_t)size, &instruction->decoded,
                                             instruction->operands)))
        fail("decoding", 125);
}

static void run(pid_t child)
{
    struct instruction instruction;
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        fail("single-stepping", 124);
    decode_next(child, &instruction);
    stack_top = (instruction.registers.rsp & ~UINT64_C(4095)) + (UINT64_C(1) << 16);
    while (WIFSTOPPED(status)) {
        const struct instruction now = instruction;
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 ||
            waitpid(child, &status, 0) != child)
            fail("single-stepping", 124);
        execute(&now);
        if (WIFSTOPPED(status))
            decode_next(child, &instruction);
    }
}

static void print(void)
{
    static const char *const kinds[] = {"RAW", "WAR", "WAW"};
    size_t count;
    const struct twin_row *rows = twin_rows(twin, &count);
    for (size_t i = 0; i < count; i++)
        printf("%s 0x%" PRIx32 " 0x%" PRIx32 " %" PRIu64 "\n", kinds[rows[i].kind], rows[i].sink,
               rows[i].source, rows[i].count);
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 125;
    twin = twin_new(DATA_BEGIN, DATA_BYTES + STACK_BYTES, true);
    twin_set_stack(twin, 0, STACK_BEGIN, STACK_BEGIN + STACK_BYTES);
    const pid_t child = fork();
    if (child < 0)
        fail("fork", 125);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
            execl(arguments[1], arguments[1], (char *)NULL);
        _exit(125);
    }
    run(child);
    print();
    twin_free(twin);
    return 0;
}
