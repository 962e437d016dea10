#include "tools/wet/values/value_vector.h"

#include "tools/wet/values/value_integer.h"

#define WORDS        8u
#define FLOAT_NAN    UINT64_C(0xffc00000) /* of invalid operations */
#define DOUBLE_NAN   UINT64_C(0xfff8000000000000)
#define FLOAT_QUIET  UINT64_C(0x400000)
#define DOUBLE_QUIET UINT64_C(0x8000000000000)
#define LANE_LENGTH  16u /* bytes of a 128-bit lane, in which unpacking and shuffling stay */

struct operands {
    uint64_t first[WORDS], second[WORDS];
    unsigned words; /* of the vector */
};

/* --- integer lanes -----------------------------------------------------------------------------
 */

static uint64_t lane_result(unsigned kind, uint64_t first, uint64_t second, unsigned bytes,
                            unsigned count)
{
    const unsigned sign = 8 * bytes - 1;
    switch (kind) {
    case VALUE_LANES_ADD:
        return first + second;
    case VALUE_LANES_SUB:
        return first - second;
    case VALUE_LANES_EQUAL:
        return first == second ? UINT64_MAX : 0;
    case VALUE_LANES_GREATER:
        return (first ^ UINT64_C(1) << sign) > (second ^ UINT64_C(1) << sign) ? UINT64_MAX : 0;
    case VALUE_LANES_SHIFT_LEFT:
        return count > sign ? 0 : first << count;
    case VALUE_LANES_SHIFT_RIGHT:
        return count > sign ? 0 : first >> count;
    case VALUE_LANES_MIN:
        return first < second ? first : second;
    default: /* VALUE_LANES_MAX */
        return first > second ? first : second;
    }
}

static void lanes(const struct operands *operands, unsigned kind, unsigned bytes, unsigned count,
                  uint64_t *result)
{
    for (unsigned i = 0; i < operands->words; i++) {
        uint64_t word = 0;
        for (unsigned at = 0; at < 8; at += bytes) {
            const uint64_t first = value_cut(operands->first[i] >> 8 * at, bytes);
            const uint64_t second = value_cut(operands->second[i] >> 8 * at, bytes);
            word |= value_cut(lane_result(kind, first, second, bytes, count), bytes) << 8 * at;
        }
        result[i] = word;
    }
}

static void unpack(const struct operands *operands, bool high, unsigned bytes, uint64_t *result)
{
    const uint8_t *first = (const uint8_t *)operands->first;
    const uint8_t *second = (const uint8_t *)operands->second;
    uint8_t *to = (uint8_t *)result;
    for (unsigned lane = 0; lane < operands->words * 8; lane += LANE_LENGTH)
        for (unsigned at = 0; at < LANE_LENGTH / 2; at += bytes) {
            const unsigned from = lane + (high ? LANE_LENGTH / 2 : 0) + at;
            memcpy(to + lane + 2 * at, first + from, bytes);
            memcpy(to + lane + 2 * at + bytes, second + from, bytes);
        }
}

static void shift_bytes(const struct operands *operands, bool left, unsigned count,
                        uint64_t *result)
{
    const uint8_t *from = (const uint8_t *)operands->first;
    uint8_t *to = (uint8_t *)result;
    for (unsigned lane = 0; lane < operands->words * 8; lane += LANE_LENGTH)
        for (unsigned at = 0; at < LANE_LENGTH; at++) {
            const unsigned source = left ? at - count : at + count;
            to[lane + at] = source < LANE_LENGTH ? from[lane + source] : 0;
        }
}

static void shuffle(const struct operands *operands, unsigned order, uint64_t *result)
{
    const uint8_t *from = (const uint8_t *)operands->second;
    uint8_t *to = (uint8_t *)result;
    for (unsigned lane = 0; lane < operands->words * 8; lane += LANE_LENGTH)
        for (unsigned i = 0; i < 4; i++)
            memcpy(to + lane + 4 * i, from + lane + 4 * (order >> 2 * i & 3), 4);
}

static uint64_t signs(const struct operands *operands)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < operands->words; i++)
        for (unsigned at = 0; at < 8; at++)
            bits |= (operands->second[i] >> (8 * at + 7) & 1) << (8 * i + at);
    return bits;
}

/* --- moves and bits ----------------------------------------------------------------------------
 */

static void move(const struct operands *operands, const struct value_rule *rule, uint64_t *result)
{
    const uint64_t *first = operands->first, *second = operands->second;
    const unsigned bytes = rule->second_width;
    for (unsigned i = 0; i < WORDS; i++)
        switch (rule->operation) {
        case VALUE_LANES_MERGE:
            result[i] = first[i];
            break;
        case VALUE_LANES_FROM_UPPER:
            result[i] = i == 0 ? second[1] : first[i];
            break;
        case VALUE_LANES_TO_UPPER:
            result[i] = i == 1 ? second[0] : first[i];
            break;
        default:
            result[i] = second[i];
        }
    if (rule->operation == VALUE_LANES_MERGE)
        memcpy(result, second, bytes);
    else if (rule->operation == VALUE_LANES_TO_UPPER && rule->offset != 0)
        result[0] = second[0]; /* the value is the upper half alone */
    else if (rule->operation >= VALUE_LANES_REPEAT)
        for (unsigned at = bytes; at < 8 * WORDS; at += bytes)
            memcpy((uint8_t *)result + at, second, bytes);
}

static void bitwise(const struct operands *operands, unsigned operation, uint64_t *result)
{
    for (unsigned i = 0; i < operands->words; i++) {
        const uint64_t first = operands->first[i], second = operands->second[i];
        if (operation == VALUE_LANES_AND)
            result[i] = first & second;
        else if (operation == VALUE_LANES_AND_NOT)
            result[i] = ~first & second;
        else if (operation == VALUE_LANES_OR)
            result[i] = first | second;
        else
            result[i] = first ^ second;
    }
}

/* --- floating point ----------------------------------------------------------------------------
 */

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return value != value ? DOUBLE_NAN : bits;
}

static float float_of(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, 4);
    return value;
}

static uint64_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return value != value ? FLOAT_NAN : bits;
}

static uint64_t scalar_double(unsigned operation, uint64_t first_bits, uint64_t second_bits)
{
    const double first = double_of(first_bits), second = double_of(second_bits);
    if (first != first) /* as the processor does; compilers may exchange operands */
        return first_bits | DOUBLE_QUIET;
    if (second != second)
        return second_bits | DOUBLE_QUIET;
    switch (operation) {
    case VALUE_LANES_FLOAT_ADD:
        return double_bits(first + second);
    case VALUE_LANES_FLOAT_SUB:
        return double_bits(first - second);
    case VALUE_LANES_FLOAT_MUL:
        return double_bits(first * second);
    default:
        return double_bits(first / second);
    }
}

static uint64_t scalar_float(unsigned operation, uint64_t first_bits, uint64_t second_bits)
{
    const float first = float_of(first_bits), second = float_of(second_bits);
    if (first != first)
        return first_bits | FLOAT_QUIET;
    if (second != second)
        return second_bits | FLOAT_QUIET;
    switch (operation) {
    case VALUE_LANES_FLOAT_ADD:
        return float_bits(first + second);
    case VALUE_LANES_FLOAT_SUB:
        return float_bits(first - second);
    case VALUE_LANES_FLOAT_MUL:
        return float_bits(first * second);
    default:
        return float_bits(first / second);
    }
}

static uint64_t from_integer(const struct value_rule *rule, uint64_t bits)
{
    const int64_t value = rule->second_width == 8 ? (int64_t)bits : (int32_t)(uint32_t)bits;
    return rule->condition == 8 ? double_bits((double)value) : float_bits((float)value);
}

static uint64_t to_integer(const struct value_rule *rule, uint64_t bits)
{
    const double value = rule->second_width == 8 ? double_of(bits) : (double)float_of(bits);
    if (rule->width == 8)
        return value >= -9223372036854775808.0 && value < 9223372036854775808.0
                   ? (uint64_t)(int64_t)value
                   : UINT64_C(1) << 63;
    return value > -2147483649.0 && value < 2147483648.0 ? (uint32_t)(int32_t)value
                                                         : UINT64_C(1) << 31;
}

/* As comisd: equal, or less (also unordered, as parity and carry say) as after a subtraction. */
static void compare(struct value_thread *thread, const struct value_rule *rule, uint64_t first,
                    uint64_t second)
{
    const bool is_double = rule->second_width == 8;
    const double a = is_double ? double_of(first) : (double)float_of(first);
    const double b = is_double ? double_of(second) : (double)float_of(second);
    const bool is_less = !(a >= b), is_equal = !(a < b || a > b), is_unordered = a != a || b != b;
    thread->carry = is_less;
    thread->overflow = false;
    /* a result of 1 has odd parity, of 3 an even one */
    value_integer_set(thread, VALUE_FLAGS_GIVEN, 8, 0, 0,
                      is_unordered || !is_equal ? (is_unordered ? 0 : 1) : 0);
}

static uint64_t scalar(struct value_thread *thread, const struct value_rule *rule, uint64_t first,
                       uint64_t second)
{
    switch (rule->operation) {
    case VALUE_LANES_FROM_INTEGER:
        return from_integer(rule, second);
    case VALUE_LANES_TO_INTEGER:
        return to_integer(rule, second);
    case VALUE_LANES_TO_DOUBLE:
        return double_bits((double)float_of(second));
    case VALUE_LANES_TO_FLOAT:
        return float_bits((float)double_of(second));
    case VALUE_LANES_COMPARE:
        compare(thread, rule, first, second);
        return 0;
    default:
        return rule->second_width == 8 ? scalar_double(rule->operation, first, second)
                                       : scalar_float(rule->operation, first, second);
    }
}

/* The bytes of the result in the lowest element. */
static unsigned scalar_bytes(const struct value_rule *rule)
{
    switch (rule->operation) {
    case VALUE_LANES_FROM_INTEGER:
        return rule->condition;
    case VALUE_LANES_TO_DOUBLE:
    case VALUE_LANES_TO_INTEGER:
        return 8;
    case VALUE_LANES_TO_FLOAT:
        return 4;
    default:
        return rule->second_width;
    }
}

/* --- all ---------------------------------------------------------------------------------------
 */

static bool is_from_general(unsigned operation)
{
    return operation == VALUE_LANES_FROM_GENERAL || operation == VALUE_LANES_FROM_INTEGER ||
           operation == VALUE_LANES_REPEAT_GENERAL;
}

/* The second operand, with zeros after it. */
static inline void load_second(const struct value_machine *machine, const struct value_rule *rule,
                               uint64_t second[WORDS])
{
    const struct value_thread *thread = machine->thread;
    const unsigned width = rule->second_width;
    memset(second, 0, WORDS * sizeof *second);
    if (rule->marks & VALUE_SECOND_MEMORY) {
        if (width == 16)
            second[1] = value_memory_read(&machine->memory, machine->address + 8);
        if (width == 16 || width == 8)
            second[0] = value_memory_read(&machine->memory, machine->address);
        else
            value_memory_read_bytes(&machine->memory, machine->address, (uint8_t *)second, width);
    } else if (is_from_general(rule->operation)) {
        second[0] = value_cut(thread->registers[rule->second % DECODE_REGISTERS], width);
    } else {
        const uint64_t *from = thread->vectors[rule->second % VALUE_VECTORS];
        memcpy(second, from, 16);
        if (rule->operation != VALUE_LANES_MOVE || width > 16)
            memcpy(second, from, WORDS * sizeof *second);
        if (rule->operation == VALUE_LANES_MOVE && width < VALUE_BYTES)
            memset((uint8_t *)second + width, 0, VALUE_BYTES - width);
    }
}

static void load(const struct value_machine *machine, const struct value_rule *rule,
                 struct operands *operands)
{
    operands->words = (rule->width + 7u) / 8u;
    memcpy(operands->first, machine->thread->vectors[rule->first % VALUE_VECTORS],
           sizeof operands->first);
    load_second(machine, rule, operands->second);
}

/* Of the lowest element; the rest is of the first operand. */
static uint64_t guess_scalar(struct value_machine *machine, const struct value_rule *rule)
{
    struct value_thread *thread = machine->thread;
    const uint64_t *first = thread->vectors[rule->first % VALUE_VECTORS];
    const unsigned width = rule->second_width <= 8 ? rule->second_width : 8;
    const uint64_t second =
        rule->marks & VALUE_SECOND_MEMORY
            ? value_cut(value_memory_read(&machine->memory, machine->address), width)
        : is_from_general(rule->operation) ? thread->registers[rule->second % DECODE_REGISTERS]
                                           : *thread->vectors[rule->second % VALUE_VECTORS];
    const uint64_t bits = scalar(thread, rule, first[0], second);
    machine->words[0] = first[0];
    machine->words[1] = first[1];
    memcpy(machine->words, &bits, scalar_bytes(rule));
    return machine->words[0];
}

static void permute(const struct operands *operands, const struct value_rule *rule,
                    uint64_t *result)
{
    switch (rule->operation) {
    case VALUE_LANES_BYTES_LEFT:
    case VALUE_LANES_BYTES_RIGHT:
        shift_bytes(operands, rule->operation == VALUE_LANES_BYTES_LEFT, rule->condition, result);
        break;
    case VALUE_LANES_SHUFFLE:
        shuffle(operands, rule->condition, result);
        break;
    default:
        result[0] = signs(operands);
        break;
    }
}

uint64_t value_vector_guess(struct value_machine *machine, const struct value_rule *rule)
{
    const unsigned operation = rule->operation;
    uint64_t *result = machine->words;
    struct operands operands;
    if (operation >= VALUE_LANES_FLOAT_ADD)
        return guess_scalar(machine, rule);
    if (operation == VALUE_LANES_MOVE) {
        load_second(machine, rule, result);
        return result[0];
    }
    load(machine, rule, &operands);
    if (operation <= VALUE_LANES_REPEAT_GENERAL) {
        move(&operands, rule, result);
    } else if (operation <= VALUE_LANES_XOR) {
        bitwise(&operands, operation, result);
    } else if (operation < VALUE_LANES_BYTES_LEFT) {
        const unsigned group = (operation - VALUE_LANES_ADD) & ~3u;
        const unsigned bytes = 1u << ((operation - VALUE_LANES_ADD) & 3);
        const unsigned kind = VALUE_LANES_ADD + group;
        if (kind == VALUE_LANES_UNPACK_LOW || kind == VALUE_LANES_UNPACK_HIGH)
            unpack(&operands, kind == VALUE_LANES_UNPACK_HIGH, bytes, result);
        else
            lanes(&operands, kind, bytes, rule->condition, result);
    } else {
        permute(&operands, rule, result);
    }
    return result[0];
}

void value_vector_settle(struct value_machine *machine, const struct value_rule *rule,
                         const uint64_t *value)
{
    uint8_t *to = (uint8_t *)machine->thread->vectors[rule->destination];
    memcpy(to + rule->offset, value, rule->size);
    if (rule->marks & VALUE_CLEARS_UPPER)
        memset(to + rule->size, 0, VALUE_BYTES - rule->size);
}
