/*
 * An x86-64 machine that guesses: it executes a program's instructions without the program's
 * memory and system, knows what they computed before, and says what they will compute next. It
 * need not be right. It is deterministic, and the same on every processor, so that the reader of a
 * WET file guesses what the writer guessed.
 *
 * For each instruction: value_machine_guess(), then value_machine_settle() with the right value.
 */
#ifndef TOOLS_WET_VALUES_VALUE_MACHINE_H
#define TOOLS_WET_VALUES_VALUE_MACHINE_H

#include "tools/wet/values/value_memory.h"
#include "tools/wet/values/value_rule.h"

#define VALUE_VECTORS 32u
#define VALUE_MASKS   8u

/* How the flags follow from the last instruction that defined them. */
enum value_flags {
    VALUE_FLAGS_LOGIC, /* carry and overflow are 0 */
    VALUE_FLAGS_ADD,   /* result = first + second */
    VALUE_FLAGS_SUB,
    VALUE_FLAGS_GIVEN /* carry and overflow are known */
};

struct value_thread {
    uint64_t registers[VALUE_NO_INPUT + 1];
    uint64_t flag_first, flag_second, flag_result;
    uint8_t flag_kind; /* enum value_flags */
    uint8_t flag_width;
    bool carry, overflow;
    uint64_t space; /* exclusive or with page numbers of addresses relative to fs */
    uint64_t masks[VALUE_MASKS];
    uint64_t vectors[VALUE_VECTORS][8];
};

struct value_machine {
    struct value_thread *thread; /* that executes */
    uint64_t address;            /* of the operand in memory */
    uint64_t counted;            /* repetitions of the string instruction */
    uint64_t words[8];           /* the guess of a vector operation */
    struct value_memory memory;
};

/* The lowest bytes of a value: 1 to 8. */
static inline uint64_t value_cut(uint64_t value, unsigned bytes)
{
    return value & UINT64_MAX >> (64 - 8 * bytes);
}

/* The parts of value_machine_guess() that are seldom. */
uint64_t value_machine_guess_other(struct value_machine *machine, const struct value_rule *rule);

static inline void value_machine_set_address(struct value_machine *machine,
                                             const struct value_rule *rule)
{
    const struct value_thread *thread = machine->thread;
    uint64_t address = thread->registers[rule->base] +
                       (thread->registers[rule->index] << rule->scale) +
                       (uint64_t)rule->displacement;
    if (rule->marks & (VALUE_NARROW | VALUE_FS)) {
        if (rule->marks & VALUE_NARROW)
            address = (uint32_t)address;
        if (rule->marks & VALUE_FS)
            address ^= thread->space;
    }
    machine->address = address;
}

/* The two operands, from registers or memory. */
static inline void value_machine_operands(struct value_machine *machine,
                                          const struct value_rule *rule, uint64_t *first,
                                          uint64_t *second)
{
    const uint64_t *registers = machine->thread->registers;
    *first = registers[rule->first] >> rule->first_shift;
    *second = (registers[rule->second] >> rule->second_shift) + rule->immediate;
    if (rule->marks & VALUE_HAS_MEMORY) {
        value_machine_set_address(machine, rule);
        if (rule->marks & (VALUE_FIRST_MEMORY | VALUE_SECOND_MEMORY)) {
            const uint64_t loaded = value_memory_read(&machine->memory, machine->address);
            if (rule->marks & VALUE_FIRST_MEMORY)
                *first = loaded;
            if (rule->marks & VALUE_SECOND_MEMORY)
                *second = loaded;
        }
    }
}

/* Of the stack: the address of what is pushed. */
static inline void value_machine_push(struct value_machine *machine, unsigned width)
{
    machine->address = machine->thread->registers[DECODE_RSP] -= width;
}

static inline uint64_t value_machine_pop(struct value_machine *machine, unsigned width)
{
    const uint64_t address = machine->thread->registers[DECODE_RSP];
    machine->address = address;
    machine->thread->registers[DECODE_RSP] = address + width;
    return value_memory_read(&machine->memory, address);
}

static inline uint64_t value_machine_second(const struct value_machine *machine,
                                            const struct value_rule *rule)
{
    return (machine->thread->registers[rule->second] >> rule->second_shift) + rule->immediate;
}

/* Operations below VALUE_SELDOM of two operands. */
static inline __attribute__((always_inline)) uint64_t
value_machine_combine(struct value_machine *machine, const struct value_rule *rule)
{
    uint64_t first, second;
    value_machine_operands(machine, rule, &first, &second);
    switch (rule->operation) {
    case VALUE_PLUS:
        return first + second;
    case VALUE_MINUS:
        return first - second;
    case VALUE_TIMES:
        return first * second;
    case VALUE_BOTH:
        return first & second;
    case VALUE_EITHER:
        return first | second;
    case VALUE_DIFFER:
        return first ^ second;
    case VALUE_SHLX:
        return first << (second & (rule->width == 8 ? 63 : 31));
    case VALUE_SHRX:
        return value_cut(first, rule->width) >> (second & (rule->width == 8 ? 63 : 31));
    case VALUE_PUSH:
        value_machine_push(machine, rule->width);
        return second;
    default:
        return rule->last;
    }
}

/* Returns the guess of up to eight bytes; the bytes after the value's are any. Operations from
 * VALUE_VECTOR on guess `words`, too. Changes what the instruction changes besides its value. */
static inline __attribute__((always_inline)) uint64_t
value_machine_guess(struct value_machine *machine, const struct value_rule *rule)
{
    switch (rule->operation) {
    case VALUE_MOVE:
        return value_cut(value_machine_second(machine, rule), rule->second_width);
    case VALUE_LOAD:
        value_machine_set_address(machine, rule);
        return value_cut(value_memory_read(&machine->memory, machine->address), rule->second_width);
    case VALUE_STORE:
        value_machine_set_address(machine, rule);
        return value_machine_second(machine, rule);
    case VALUE_ADDRESS:
        value_machine_set_address(machine, rule);
        return machine->address;
    case VALUE_POP:
        return value_machine_pop(machine, rule->width);
    case VALUE_CALL:
        value_machine_push(machine, 8);
        return rule->immediate;
    case VALUE_RETURN:
        return machine->thread->registers[DECODE_RSP] + rule->immediate;
    default:
        return rule->operation >= VALUE_SELDOM ? value_machine_guess_other(machine, rule)
                                               : value_machine_combine(machine, rule);
    }
}

/* Corrects what was guessed wrong, before value_machine_settle(). */
void value_machine_learn(struct value_machine *machine, const struct value_rule *rule,
                         uint64_t value);

/* The parts of value_machine_settle() that are seldom. */
void value_machine_settle_other(struct value_machine *machine, const struct value_rule *rule,
                                uint64_t value);

/* A value of more than eight bytes. */
void value_machine_settle_wide(struct value_machine *machine, const struct value_rule *rule,
                               const uint64_t value[8], bool right);

/* The value was this one: at most eight bytes, those after it 0. */
static inline void value_machine_settle(struct value_machine *machine,
                                        const struct value_rule *rule, uint64_t value)
{
    if (rule->place == VALUE_TO_GENERAL)
        machine->thread->registers[rule->destination] = value;
    else if (rule->place == VALUE_TO_MEMORY)
        value_memory_write(&machine->memory, machine->address, value, rule->size);
    else
        value_machine_settle_other(machine, rule, value);
}

#endif
