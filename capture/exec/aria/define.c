#include "capture/exec/aria/define.h"

#include "capture/exec/aria/not_taken_internal.h"
#include "capture/exec/memory/program_memory.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BITS_MAX 64u

/* The registers of the operands of a native sequence, in order. */
static const uint8_t places[ARIA_OPERANDS] = {DECODE_RDI, DECODE_RSI, DECODE_RDX, DECODE_RCX};

struct definition {
    struct aria_instruction instruction;
    struct not_taken_block *native; /* NULL: a function executes it */
    struct definition *next;
};

struct definitions {
    struct aria *aria;
    struct definition *first;
    struct not_taken *natives; /* runs the native sequences */
};

/* The argument of a function, and private data. */
struct defined_call {
    struct aria_call call;
    struct definitions *definitions;
    struct definitions_done *done;
};

struct definitions *definitions_new(struct aria *aria, struct bt_error *error)
{
    struct definitions *definitions = calloc(1, sizeof *definitions);
    if (!definitions) {
        bt_fail(error, BT_MEMORY, "no memory for new instructions");
        return NULL;
    }
    definitions->aria = aria;
    definitions->natives = not_taken_new(aria, error);
    if (!definitions->natives) {
        free(definitions);
        return NULL;
    }
    return definitions;
}

void definitions_free(struct definitions *definitions)
{
    if (!definitions)
        return;
    for (struct definition *next, *at = definitions->first; at; at = next) {
        next = at->next;
        free(at);
    }
    not_taken_free(definitions->natives);
    free(definitions);
}

/* --- checking a definition ---------------------------------------------------------------------
 */

static bool is_field(const struct aria_instruction *instruction, struct aria_field field,
                     unsigned most)
{
    return field.bits <= most && field.first_bit + field.bits <= 8u * instruction->size;
}

static int check_operand(const struct aria_instruction *instruction,
                         const struct aria_operand *operand, struct bt_error *error)
{
    bool memory = operand->kind == ARIA_MEMORY;
    unsigned most = operand->kind == ARIA_IMMEDIATE ? BITS_MAX : 4;
    if (!is_field(instruction, operand->field, most) ||
        !is_field(instruction, operand->displacement, 32))
        return bt_fail(error, BT_USAGE, "%s: a field of an operand is outside of the instruction",
                       instruction->name);
    if (memory && operand->size != 1 && operand->size != 2 && operand->size != 4 &&
        operand->size != 8)
        return bt_fail(error, BT_USAGE, "%s: an operand in memory has 1, 2, 4 or 8 bytes",
                       instruction->name);
    return 0;
}

static int check(const struct aria_instruction *instruction, struct bt_error *error)
{
    bool fixed = false;
    int result = 0;
    for (unsigned i = 0; i < instruction->size && i < DECODE_BYTES_MAX; i++)
        fixed |= instruction->mask[i] != 0;
    if (!instruction->name)
        return bt_fail(error, BT_USAGE, "a new instruction has no name");
    if (instruction->size == 0 || instruction->size > DECODE_BYTES_MAX || !fixed)
        return bt_fail(error, BT_USAGE,
                       "%s: an instruction has 1 to 15 bytes and at least one fixed bit",
                       instruction->name);
    if (instruction->operand_count > ARIA_OPERANDS)
        return bt_fail(error, BT_USAGE, "%s: more than %u operands", instruction->name,
                       ARIA_OPERANDS);
    if (!instruction->function == !instruction->native)
        return bt_fail(error, BT_USAGE, "%s: needs either a native sequence or a function",
                       instruction->name);
    for (unsigned i = 0; i < instruction->operand_count && result == 0; i++)
        result = check_operand(instruction, &instruction->operands[i], error);
    return result;
}

int definitions_add(struct definitions *definitions, const struct aria_instruction *instruction,
                    struct bt_error *error)
{
    int result = check(instruction, error);
    if (result != 0)
        return result;
    struct definition *definition = calloc(1, sizeof *definition);
    if (!definition)
        return bt_fail(error, BT_MEMORY, "no memory for a new instruction");
    definition->instruction = *instruction;
    if (instruction->native) {
        const char *why = NULL;
        definition->native = not_taken_compile(definitions->natives, instruction->native,
                                               instruction->native_size, &why);
        if (!definition->native) {
            free(definition);
            return bt_fail(error, BT_USAGE, "%s: its native sequence %s", instruction->name, why);
        }
    }
    definition->next = definitions->first;
    definitions->first = definition;
    return 0;
}

static const struct definition *find(const struct definitions *definitions, const uint8_t *bytes,
                                     size_t size)
{
    for (const struct definition *at = definitions->first; at; at = at->next) {
        const struct aria_instruction *instruction = &at->instruction;
        unsigned same = 0;
        while (same < instruction->size && same < size &&
               !((bytes[same] ^ instruction->bytes[same]) & instruction->mask[same]))
            same++;
        if (same == instruction->size)
            return at;
    }
    return NULL;
}

unsigned definitions_find(void *definitions, const uint8_t *bytes, size_t size)
{
    const struct definition *definition = find(definitions, bytes, size);
    return definition ? definition->instruction.size : 0;
}

/* --- operands ----------------------------------------------------------------------------------
 */

static uint64_t field_of(const uint8_t *bytes, struct aria_field field, bool is_signed)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < field.bits; i++) {
        unsigned bit = field.first_bit + i;
        value |= (uint64_t)(bytes[bit / 8] >> bit % 8 & 1) << i;
    }
    if (is_signed && field.bits > 0 && field.bits < 64 && value >> (field.bits - 1))
        value |= ~(uint64_t)0 << field.bits;
    return value;
}

static bool refer(struct definitions_done *done, uint64_t address, size_t size, bool write)
{
    if (done->count == DEFINE_REFERENCES)
        return false;
    done->references[done->count].address = address;
    done->references[done->count].size = (unsigned)size;
    done->references[done->count++].write = write;
    return true;
}

static void fail_at(struct definitions_done *done, uint64_t address)
{
    done->signal = SIGSEGV;
    done->fault_address = address;
}

int aria_call_read(struct aria_call *called, uint64_t address, void *to, size_t size)
{
    struct defined_call *call = (struct defined_call *)(void *)called;
    struct definitions *definitions = call->definitions;
    memset(to, 0, size);
    if (size > UINT8_MAX || !refer(call->done, address, size, false))
        return -ENOSPC;
    if (called->version == ARIA_NOT_TAKEN) {
        call->done->own_reads += not_taken_is_own(definitions->natives, address, (unsigned)size);
        not_taken_load(definitions->natives, to, address, (unsigned)size);
    } else if (program_read(definitions->aria->process->space, to, address, size) != 0) {
        fail_at(call->done, address);
        return -EFAULT;
    }
    return 0;
}

int aria_call_write(struct aria_call *called, uint64_t address, const void *from, size_t size)
{
    struct defined_call *call = (struct defined_call *)(void *)called;
    if (size > UINT8_MAX || !refer(call->done, address, size, true))
        return -ENOSPC;
    if (called->version == ARIA_TAKEN &&
        program_write(call->definitions->aria->process->space, address, from, size) != 0) {
        fail_at(call->done, address);
        return -EFAULT;
    }
    if (called->version == ARIA_NOT_TAKEN)
        not_taken_store(call->definitions->natives, address, from, (unsigned)size);
    return 0;
}

/* Reads the values of all operands. False: one cannot be read, or cannot be written later. */
static bool read_operands(struct defined_call *call, const struct aria_instruction *instruction,
                          const uint8_t *bytes)
{
    struct space *space = call->definitions->aria->process->space;
    struct aria_call *known = &call->call;
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        const struct aria_operand *operand = &instruction->operands[i];
        uint64_t field =
            field_of(bytes, operand->field, operand->kind == ARIA_IMMEDIATE && operand->is_signed);
        known->values[i] = operand->kind == ARIA_IMMEDIATE  ? field
                           : operand->kind == ARIA_REGISTER ? known->registers[field]
                                                            : 0;
        if (operand->kind != ARIA_MEMORY)
            continue;
        uint64_t address = known->registers[field] + field_of(bytes, operand->displacement, true);
        known->addresses[i] = address;
        if (operand->read && aria_call_read(known, address, &known->values[i], operand->size) != 0)
            return false;
        if (operand->write && known->version == ARIA_TAKEN &&
            !space_allows(space, address, operand->size, PROT_WRITE)) {
            fail_at(call->done, address);
            return false;
        }
    }
    return true;
}

static void write_operands(struct defined_call *call, const struct aria_instruction *instruction,
                           const uint8_t *bytes)
{
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        const struct aria_operand *operand = &instruction->operands[i];
        const uint64_t value = call->call.values[i];
        if (!operand->write)
            continue;
        if (operand->kind == ARIA_REGISTER)
            call->call.registers[field_of(bytes, operand->field, false)] = value;
        else if (operand->kind == ARIA_MEMORY)
            aria_call_write(&call->call, call->call.addresses[i], &value, operand->size);
    }
}

size_t definitions_records(const struct definitions_done *done, uint64_t address, bool only_fetches,
                           struct record *records)
{
    const struct record fetch = {.address = (uint32_t)address,
                                 .type = REQUEST_FETCH,
                                 .size = (uint8_t)done->size,
                                 .attribute = ATTRIBUTE_WRITE_BACK,
                                 .time = 1};
    size_t count = 0;
    records[count++] = fetch;
    for (unsigned i = 0; i < done->count && !only_fetches; i++)
        records[count++] =
            (struct record){.address = (uint32_t)done->references[i].address,
                            .type = done->references[i].write ? REQUEST_MEMWRITE : REQUEST_MEMREAD,
                            .size = (uint8_t)done->references[i].size,
                            .attribute = ATTRIBUTE_WRITE_BACK};
    return count;
}

/* --- execution ---------------------------------------------------------------------------------
 */

/* Runs the native sequence with the operands in registers; restores all other registers. */
static int run_native(struct defined_call *call, const struct definition *definition)
{
    struct exec_thread *thread = call->definitions->aria->process->thread;
    const struct aria_instruction *instruction = &definition->instruction;
    uint64_t registers[16];
    const uint64_t flags = thread->flags;
    memcpy(registers, thread->registers, sizeof registers);
    for (unsigned i = 0; i < instruction->operand_count; i++)
        thread->registers[places[i]] = call->call.values[i];
    int number = not_taken_run(call->definitions->natives, definition->native);
    for (unsigned i = 0; i < instruction->operand_count; i++)
        call->call.values[i] = thread->registers[places[i]];
    memcpy(thread->registers, registers, sizeof registers);
    if (number != 0 || !instruction->writes_flags)
        thread->flags = flags;
    return number;
}

void definitions_do(struct definitions *definitions, enum aria_version version,
                    struct definitions_done *done)
{
    struct exec_thread *thread = definitions->aria->process->thread;
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)thread->rip;
    size_t readable = executor_readable(definitions->aria->process->executor, thread->rip);
    const struct definition *definition = find(definitions, bytes, readable);
    *done = (struct definitions_done){.signal = SIGILL, .fault_address = thread->rip};
    if (!definition)
        return;
    const struct aria_instruction *instruction = &definition->instruction;
    struct defined_call call = {.call = {.aria = definitions->aria,
                                         .version = version,
                                         .registers = thread->registers,
                                         .flags = &thread->flags,
                                         .address = thread->rip},
                                .definitions = definitions,
                                .done = done};
    done->signal = 0;
    done->size = instruction->size;
    if (!read_operands(&call, instruction, bytes))
        return;
    int number = definition->native ? run_native(&call, definition)
                                    : instruction->function(instruction->context, &call.call);
    if (number != 0 && done->signal == 0)
        done->signal = number;
    if (done->signal == 0)
        write_operands(&call, instruction, bytes);
}
