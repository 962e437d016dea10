#include "tools/wet/values/value_machine.h"

#include "tools/wet/values/value_integer.h"
#include "tools/wet/values/value_vector.h"

/* String instructions of more bytes are not followed: wrong guesses of rcx may be any. */
#define REPEATED_BYTES (UINT64_C(1) << 20)
#define PART_BYTES     512u /* that are copied at once: a multiple of the elements' sizes */

/* --- operands ----------------------------------------------------------------------------------
 */

/* Writes a register as an instruction of this width does. */
static void set_register(struct value_thread *thread, unsigned number, unsigned shift,
                         unsigned width, uint64_t value)
{
    if (width >= 4) {
        thread->registers[number] = value_cut(value, width);
        return;
    }
    const uint64_t mask = value_cut(UINT64_MAX, width) << shift;
    thread->registers[number] = (thread->registers[number] & ~mask) | (value << shift & mask);
}

/* --- stack and strings -------------------------------------------------------------------------
 */

static uint64_t leave(struct value_machine *machine)
{
    const uint64_t frame = machine->thread->registers[DECODE_RBP];
    machine->thread->registers[DECODE_RBP] = value_memory_read(&machine->memory, frame);
    return frame + 8;
}

/* All elements but the last one, which is the value. */
static void fill(struct value_machine *machine, uint64_t address, uint64_t value, unsigned width,
                 uint64_t count)
{
    uint8_t pattern[PART_BYTES];
    if (count == 1 || count > REPEATED_BYTES / width)
        return;
    for (unsigned at = 0; at < PART_BYTES; at += width)
        memcpy(pattern + at, &value, width);
    for (uint64_t left = (count - 1) * width; left > 0;) {
        const unsigned part = left < PART_BYTES ? (unsigned)left : PART_BYTES;
        value_memory_write_bytes(&machine->memory, address, pattern, part);
        address += part;
        left -= part;
    }
}

static void copy(struct value_machine *machine, uint64_t to, uint64_t from, unsigned width,
                 uint64_t count)
{
    uint8_t bytes[PART_BYTES];
    /* what is copied may be copied again */
    const unsigned most = to - from < PART_BYTES ? width : PART_BYTES;
    if (count > REPEATED_BYTES / width)
        return;
    for (uint64_t left = (count - 1) * width; left > 0;) {
        const unsigned part = left < most ? (unsigned)left : most;
        value_memory_read_bytes(&machine->memory, from, bytes, part);
        value_memory_write_bytes(&machine->memory, to, bytes, part);
        to += part;
        from += part;
        left -= part;
    }
}

static uint64_t guess_string(struct value_machine *machine, const struct value_rule *rule)
{
    uint64_t *registers = machine->thread->registers;
    const unsigned width = rule->width;
    const uint64_t count = rule->marks & VALUE_REPEATED ? registers[DECODE_RCX] : 1;
    const uint64_t from = registers[DECODE_RSI], to = registers[DECODE_RDI];
    machine->counted = count;
    if (rule->operation == VALUE_SCAN) {
        if (rule->marks & VALUE_REPEATED)
            return 0; /* rcx: it often runs to the end */
        return registers[rule->destination] + width;
    }
    if (count == 0)
        return 0;
    if (rule->marks & VALUE_REPEATED)
        registers[DECODE_RCX] = 0;
    if (rule->operation != VALUE_STOS)
        registers[DECODE_RSI] += count * width;
    if (rule->operation != VALUE_LODS)
        registers[DECODE_RDI] += count * width;
    machine->address = to + (count - 1) * width;
    if (rule->operation == VALUE_STOS) {
        fill(machine, to, registers[DECODE_RAX], width, count);
        return registers[DECODE_RAX];
    }
    if (rule->operation == VALUE_MOVS)
        copy(machine, to, from, width, count);
    return value_memory_read(&machine->memory, from + (count - 1) * width);
}

/* How far a comparison of strings went follows from its value: rcx, or the first pointer. */
static void settle_scan(struct value_machine *machine, const struct value_rule *rule,
                        uint64_t value)
{
    uint64_t *registers = machine->thread->registers;
    const bool is_repeated = rule->marks & VALUE_REPEATED;
    const uint64_t bytes = is_repeated ? (machine->counted - value) * rule->width : rule->width;
    registers[DECODE_RDI] += bytes;
    if (rule->condition != 0) /* cmps has two operands */
        registers[DECODE_RSI] += bytes;
    registers[rule->destination] = value;
}

/* --- exchanges ---------------------------------------------------------------------------------
 */

static uint64_t guess_exchange(struct value_machine *machine, const struct value_rule *rule,
                               uint64_t first, uint64_t second)
{
    struct value_thread *thread = machine->thread;
    if (rule->operation == VALUE_COMPARE_EXCHANGE) {
        const uint64_t old = thread->registers[DECODE_RAX];
        value_integer_sub(thread, rule->width, old, first);
        if (value_cut(old, rule->width) == value_cut(first, rule->width))
            return second;
        set_register(thread, DECODE_RAX, 0, rule->width, first);
        return first;
    }
    if (rule->second != VALUE_NO_INPUT)
        set_register(thread, rule->second, rule->second_shift, rule->width, first);
    if (rule->operation == VALUE_EXCHANGE)
        return second;
    return value_integer_add(thread, rule->width, first, second);
}

/* --- all ---------------------------------------------------------------------------------------
 */

static uint64_t guess_special(struct value_machine *machine, const struct value_rule *rule,
                              uint64_t first, uint64_t second)
{
    switch (rule->operation) {
    case VALUE_LEAVE:
        return leave(machine);
    case VALUE_STOS:
    case VALUE_MOVS:
    case VALUE_LODS:
    case VALUE_SCAN:
        return guess_string(machine, rule);
    case VALUE_EXCHANGE:
    case VALUE_EXCHANGE_ADD:
    case VALUE_COMPARE_EXCHANGE:
        return guess_exchange(machine, rule, first, second);
    case VALUE_SYSTEM_CALL:
        machine->thread->registers[DECODE_RCX] = rule->immediate;
        return 0;
    default:
        return value_integer_guess(machine->thread, rule, first, second);
    }
}

uint64_t value_machine_guess_other(struct value_machine *machine, const struct value_rule *rule)
{
    struct value_thread *thread = machine->thread;
    uint64_t first, second;
    if (rule->operation >= VALUE_VECTOR) {
        if (rule->marks & VALUE_HAS_MEMORY)
            value_machine_set_address(machine, rule);
        return value_vector_guess(machine, rule);
    }
    value_machine_operands(machine, rule, &first, &second);
    switch (rule->operation) {
    case VALUE_ADD:
        return value_integer_add(thread, rule->width, first, second);
    case VALUE_SUB:
    case VALUE_CMP:
        return value_integer_sub(thread, rule->width, first, second);
    case VALUE_AND:
    case VALUE_TEST:
        return value_integer_logic(thread, rule->width, first & second);
    case VALUE_OR:
        return value_integer_logic(thread, rule->width, first | second);
    case VALUE_XOR:
        return value_integer_logic(thread, rule->width, first ^ second);
    default:
        return guess_special(machine, rule, first, second);
    }
}

/* What the operand in memory was, if that follows from the result. */
static bool invert(const struct value_thread *thread, const struct value_rule *rule, uint64_t value,
                   uint64_t *operand)
{
    const uint64_t first = thread->registers[rule->first] >> rule->first_shift;
    switch (rule->operation) {
    case VALUE_ADD:
    case VALUE_PLUS:
        *operand = value - first;
        return true;
    case VALUE_SUB:
    case VALUE_MINUS:
        *operand = first - value;
        return true;
    case VALUE_XOR:
    case VALUE_DIFFER:
        *operand = value ^ first;
        return true;
    case VALUE_OR:
    case VALUE_AND:
    case VALUE_EITHER:
    case VALUE_BOTH: /* at least these bits, or perhaps */
        *operand = value;
        return true;
    default:
        return false;
    }
}

void value_machine_learn(struct value_machine *machine, const struct value_rule *rule,
                         uint64_t value)
{
    uint64_t *registers = machine->thread->registers, operand;
    if (rule->marks & VALUE_LOADS_WHOLE) {
        value_memory_write(&machine->memory, machine->address, value, rule->second_width);
    } else if ((rule->operation == VALUE_MOVE || rule->operation == VALUE_STORE) &&
               rule->second != VALUE_NO_INPUT && rule->second_width == 8) {
        registers[rule->second] = value;
    } else if (rule->operation == VALUE_ADDRESS && rule->width == 8 &&
               rule->base != VALUE_NO_INPUT && rule->index == VALUE_NO_INPUT) {
        registers[rule->base] = value - (uint64_t)rule->displacement;
    } else if (rule->marks & VALUE_SECOND_MEMORY && rule->operation < VALUE_VECTOR &&
               rule->place != VALUE_TO_MEMORY && invert(machine->thread, rule, value, &operand)) {
        value_memory_write(&machine->memory, machine->address, operand, rule->width);
    }
}

void value_machine_settle_other(struct value_machine *machine, const struct value_rule *rule,
                                uint64_t value)
{
    switch (rule->place) {
    case VALUE_TO_PART:
        set_register(machine->thread, rule->destination, rule->offset * 8u, rule->size, value);
        break;
    case VALUE_TO_SCANNED:
        settle_scan(machine, rule, value);
        break;
    case VALUE_TO_MASK:
        machine->thread->masks[rule->destination] = value;
        break;
    case VALUE_TO_VECTOR:
        value_vector_settle(machine, rule, &value);
        break;
    default:
        break;
    }
}

void value_machine_settle_wide(struct value_machine *machine, const struct value_rule *rule,
                               const uint64_t value[8], bool right)
{
    if (rule->place == VALUE_TO_VECTOR) {
        value_vector_settle(machine, rule, value);
        if (rule->marks & VALUE_LOADS_WHOLE && !right)
            value_memory_write_bytes(&machine->memory, machine->address, (const uint8_t *)value,
                                     rule->second_width);
    } else if (rule->place == VALUE_TO_MEMORY && rule->size == 16) {
        value_memory_write(&machine->memory, machine->address, value[0], 8);
        value_memory_write(&machine->memory, machine->address + 8, value[1], 8);
    } else if (rule->place == VALUE_TO_MEMORY) {
        value_memory_write_bytes(&machine->memory, machine->address, (const uint8_t *)value,
                                 rule->size);
    }
}
