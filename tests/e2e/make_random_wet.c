/*
 * Writes a program in assembler: random instructions of all kinds that this processor executes
 * without a fault, one after the other, and what sets the registers that their addresses need
 * before. To be linked with its code at CODE and its data at DATA.
 *
 * usage: make_random_wet SEED COUNT
 */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE */
#include "tests/support/random.h"
#include "tests/support/random_instruction.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CODE       UINT64_C(0x401000)
#define CODE_BYTES UINT64_C(0x10000)
#define DATA       UINT64_C(0x500000)
#define DATA_BYTES UINT64_C(0x2000)

static const struct region region = {.address = DATA, .size = DATA_BYTES};

struct program {
    uint64_t random;
    uint8_t *at; /* where the next instruction goes: within the code */
    struct machine machine;
};

static void put(struct program *program, const void *bytes, size_t size)
{
    memcpy(program->at, bytes, size);
    program->at += size;
}

static void put_with(struct program *program, const void *opcode, size_t size, const void *number,
                     size_t number_size)
{
    put(program, opcode, size);
    put(program, number, number_size);
}

/* mov $value, %register */
static void put_register(struct program *program, unsigned number, uint64_t value)
{
    const uint8_t opcode[] = {(uint8_t)(0x48 | number >> 3), (uint8_t)(0xb8 | (number & 7))};
    put_with(program, opcode, sizeof opcode, &value, sizeof value);
}

/* Runs what was put since `from`. Returns false if it faults. */
static bool run(struct program *program, const uint8_t *from, struct machine *machine)
{
    *program->at = 0xcc;
    machine->rip = (uint64_t)(uintptr_t)from;
    const struct native_end end = native_run(machine, NULL, NULL);
    return end.signal == SIGTRAP && machine->rip == (uint64_t)(uintptr_t)program->at;
}

static void put_prologue(struct program *program)
{
    const uint8_t *from = program->at;
    for (unsigned i = 0; i < 16; i++)
        put_register(program, i, i == 4 ? DATA + DATA_BYTES / 2 : random_next(&program->random));
    for (unsigned i = 0; i < 16; i++) { /* movups DATA + 16 * i, %xmm */
        const uint8_t opcode[] = {(uint8_t)(0x40 | i >> 3 << 2), 0x0f, 0x10,
                                  (uint8_t)(0x04 | (i & 7) << 3), 0x25};
        const uint32_t address = (uint32_t)DATA + 16 * i;
        put_with(program, opcode, sizeof opcode, &address, sizeof address);
    }
    for (unsigned i = 0; i < 4; i++) { /* fldl */
        const uint32_t address = (uint32_t)DATA + 256 + 8 * i;
        put_with(program, "\xdd\x04\x25", 3, &address, sizeof address);
    }
    if (!run(program, from, &program->machine))
        abort();
}

/* Instructions whose results depend on more than registers and memory, that wait, that let later
 * ones fault, or of which doc/wet.md does not say enough. */
static bool is_unwanted(const struct random_instruction *made)
{
    static const char *const names[] = {"rdpru",    "monitorx", "mwaitx",  "fldcw", "ldmxcsr",
                                        "vldmxcsr", "extrq",    "insertq", "ffree", "pause",
                                        "ffreep",   "leave",    "enter"};
    const char *name = ZydisMnemonicGetString(made->instruction.mnemonic);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return strcmp(name, "enter") != 0 || made->operands[1].imm.value.u % 32 != 0;
    return strstr(name, "scatter") != NULL || strncmp(name, "xsave", 5) == 0 ||
           strncmp(name, "xrstor", 6) == 0;
}

/* Adds one instruction; false: it was not possible. */
static bool add(struct program *program)
{
    static uint8_t memory[DATA_BYTES];
    struct random_instruction made;
    struct machine machine = program->machine;
    uint8_t *const from = program->at;
    random_instruction_make(&made, &program->random, (uint64_t)(uintptr_t)from, &region);
    if (is_unwanted(&made) || !random_instruction_place(&made, &machine, &program->random, &region))
        return false;
    for (unsigned i = 0; i < 16; i++)
        if (machine.registers[i] != program->machine.registers[i])
            put_register(program, i, machine.registers[i]);
    random_instruction_move(&made, &program->random, (uint64_t)(uintptr_t)program->at, &region);
    put(program, made.bytes, made.instruction.length);
    machine = program->machine;
    memcpy(memory, (const void *)(uintptr_t)DATA, sizeof memory);
    if (!run(program, from, &machine)) {
        memcpy((void *)(uintptr_t)DATA, memory, sizeof memory);
        program->at = from;
        return false;
    }
    program->machine = machine;
    return true;
}

static void put_bytes(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        printf("%s0x%02x%s", i % 16 == 0 ? "    .byte " : ", ", bytes[i],
               i % 16 == 15 || i + 1 == size ? "\n" : "");
}

static void *map(uint64_t address, size_t size)
{
    void *at = mmap((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != (void *)(uintptr_t)address)
        abort();
    return at;
}

int main(int count, char **arguments)
{
    static struct program program;
    static uint8_t initial[DATA_BYTES];
    if (count != 3)
        return 125;
    program.random = random_seed(strtoul(arguments[1], NULL, 10));
    program.at = map(CODE, CODE_BYTES);
    random_fill(&program.random, initial, sizeof initial);
    memcpy(map(DATA, DATA_BYTES), initial, sizeof initial);
    const uint64_t components = machine_components();
    memcpy(program.machine.vector, "\x7f\x03", 2);
    memcpy(program.machine.vector + 24, "\x80\x1f", 2);
    memcpy(program.machine.vector + 512, &components, sizeof components);
    program.machine.flags = 0x202;
    put_prologue(&program);
    for (unsigned long left = strtoul(arguments[2], NULL, 10); left > 0;)
        left -= add(&program);
    put(&program, "\xb8\x3c\0\0\0\x31\xff\x0f\x05", 9); /* exit */
    printf("    .text\n    .globl _start\n    .type _start, @function\n_start:\n");
    put_bytes((const uint8_t *)(uintptr_t)CODE, (size_t)(program.at - (uint8_t *)(uintptr_t)CODE));
    printf("    .size _start, . - _start\n    .data\n");
    put_bytes(initial, sizeof initial);
    return 0;
}
