#include "tools/wet/values/value_integer.h"

/* --- flags -------------------------------------------------------------------------------------
 */

static bool sign_of(uint64_t value, unsigned width)
{
    return value >> (8 * width - 1) & 1;
}

static bool carry_of(const struct value_thread *thread)
{
    const unsigned width = thread->flag_width;
    switch (thread->flag_kind) {
    case VALUE_FLAGS_ADD:
        return value_cut(thread->flag_result, width) < value_cut(thread->flag_first, width);
    case VALUE_FLAGS_SUB:
        return value_cut(thread->flag_first, width) < value_cut(thread->flag_second, width);
    case VALUE_FLAGS_GIVEN:
        return thread->carry;
    default:
        return false;
    }
}

static bool overflow_of(const struct value_thread *thread)
{
    const uint64_t first = thread->flag_first, result = thread->flag_result;
    switch (thread->flag_kind) {
    case VALUE_FLAGS_ADD:
        return sign_of((first ^ result) & (thread->flag_second ^ result), thread->flag_width);
    case VALUE_FLAGS_SUB:
        return sign_of((first ^ result) & (first ^ thread->flag_second), thread->flag_width);
    case VALUE_FLAGS_GIVEN:
        return thread->overflow;
    default:
        return false;
    }
}

static bool parity_of(uint64_t value)
{
    value ^= value >> 4;
    value ^= value >> 2;
    value ^= value >> 1;
    return !(value & 1);
}

bool value_integer_condition(const struct value_thread *thread, unsigned condition)
{
    const unsigned width = thread->flag_width;
    bool is;
    switch (condition >> 1) {
    case 0:
        is = overflow_of(thread);
        break;
    case 1:
        is = carry_of(thread);
        break;
    case 2:
        is = value_cut(thread->flag_result, width) == 0;
        break;
    case 3:
        is = carry_of(thread) || value_cut(thread->flag_result, width) == 0;
        break;
    case 4:
        is = sign_of(thread->flag_result, width);
        break;
    case 5:
        is = parity_of(thread->flag_result);
        break;
    case 6:
        is = sign_of(thread->flag_result, width) != overflow_of(thread);
        break;
    default:
        is = sign_of(thread->flag_result, width) != overflow_of(thread) ||
             value_cut(thread->flag_result, width) == 0;
        break;
    }
    return is != (condition & 1);
}

static uint64_t flags_given(struct value_thread *thread, unsigned width, uint64_t result,
                            bool carry, bool overflow)
{
    thread->carry = carry;
    thread->overflow = overflow;
    return value_integer_set(thread, VALUE_FLAGS_GIVEN, width, 0, 0, result);
}

/* --- sums --------------------------------------------------------------------------------------
 */

static int64_t extend(uint64_t value, unsigned width)
{
    const unsigned shift = 64 - 8 * width;
    const uint64_t shifted = value << shift;
    /* as an arithmetic shift, which C leaves open */
    const uint64_t sign = shifted >> 63 ? ~(UINT64_MAX >> shift) : 0;
    return (int64_t)((shifted >> shift) | (shift ? sign : 0));
}

static uint64_t add_carry(struct value_thread *thread, unsigned width, uint64_t first,
                          uint64_t second)
{
    const bool carry = carry_of(thread);
    const uint64_t result = first + second + carry;
    const uint64_t cut = value_cut(result, width), before = value_cut(first, width);
    return flags_given(thread, width, result, cut < before || (carry && cut == before),
                       sign_of((first ^ result) & (second ^ result), width));
}

static uint64_t sub_carry(struct value_thread *thread, unsigned width, uint64_t first,
                          uint64_t second)
{
    const bool carry = carry_of(thread);
    const uint64_t result = first - second - carry;
    const uint64_t before = value_cut(first, width), taken = value_cut(second, width);
    return flags_given(thread, width, result, before < taken || (carry && before == taken),
                       sign_of((first ^ result) & (first ^ second), width));
}

static uint64_t step(struct value_thread *thread, unsigned width, uint64_t first, bool up)
{
    const bool carry = carry_of(thread);
    const uint64_t result = up ? first + 1 : first - 1;
    const bool overflow = sign_of(up ? ~first & result : first & ~result, width);
    return flags_given(thread, width, result, carry, overflow);
}

/* --- shifts ------------------------------------------------------------------------------------
 */

static uint64_t rotate(uint64_t value, unsigned width, unsigned left)
{
    const unsigned bits = 8 * width;
    value = value_cut(value, width);
    left %= bits;
    return value << left | value >> 1 >> (bits - 1 - left);
}

/* By a count that is not 0. */
static uint64_t shift(struct value_thread *thread, const struct value_rule *rule, uint64_t first,
                      unsigned count)
{
    const unsigned width = rule->width, bits = 8 * width;
    uint64_t result, carry = 0;
    first = value_cut(first, width);
    switch (rule->operation) {
    case VALUE_SHL:
        result = first << count;
        carry = count <= bits ? first >> (bits - count) & 1 : 0;
        break;
    case VALUE_SHR:
        result = first >> count;
        carry = first >> (count - 1) & 1;
        break;
    default:
        result = (uint64_t)extend(first, width);
        carry = result >> (count - 1) & 1;
        result = result >> count | (result >> 63 ? ~(UINT64_MAX >> count) : 0);
        break;
    }
    return flags_given(thread, width, result, carry, sign_of(result ^ first, width));
}

static uint64_t shift_double(struct value_thread *thread, const struct value_rule *rule,
                             uint64_t first, uint64_t second)
{
    const unsigned width = rule->width, bits = 8 * width;
    const uint64_t amount =
        rule->condition == VALUE_COUNT_IN_CL ? thread->registers[DECODE_RCX] : rule->condition;
    const unsigned count = amount & (width == 8 ? 63 : 31);
    first = value_cut(first, width);
    second = value_cut(second, width);
    if (count == 0 || count > bits)
        return first;
    if (rule->operation == VALUE_SHLD)
        return flags_given(thread, width,
                           first << count | (count < bits ? second >> (bits - count) : 0),
                           first >> (bits - count) & 1, false);
    return flags_given(thread, width,
                       first >> count | (count < bits ? second << (bits - count) : 0),
                       first >> (count - 1) & 1, false);
}

static uint64_t guess_shift(struct value_thread *thread, const struct value_rule *rule,
                            uint64_t first, uint64_t second)
{
    const unsigned width = rule->width;
    const unsigned count = second & (width == 8 ? 63 : 31);
    switch (rule->operation) {
    case VALUE_ROL:
        return rotate(first, width, count);
    case VALUE_ROR:
    case VALUE_RORX:
        return rotate(first, width, 8 * width - count % (8 * width));
    case VALUE_SARX: {
        const uint64_t extended = (uint64_t)extend(first, width);
        return extended >> count | (extended >> 63 && count ? ~(UINT64_MAX >> count) : 0);
    }
    case VALUE_SHLD:
    case VALUE_SHRD:
        return shift_double(thread, rule, first, second);
    default:
        return count == 0 ? value_cut(first, width) : shift(thread, rule, first, count);
    }
}

/* --- products ----------------------------------------------------------------------------------
 */

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

static uint64_t multiply(struct value_thread *thread, const struct value_rule *rule, uint64_t first,
                         uint64_t second)
{
    const unsigned width = rule->width;
    const bool is_signed = rule->operation != VALUE_MUL_WIDE;
    const wide product = is_signed
                             ? (wide)((signed_wide)extend(first, width) * extend(second, width))
                             : (wide)value_cut(first, width) * value_cut(second, width);
    const uint64_t low = (uint64_t)product, high = (uint64_t)(product >> (8 * width - 1) >> 1);
    const bool is_long =
        is_signed ? product != (wide)(signed_wide)extend(low, width) : value_cut(high, width) != 0;
    if (rule->operation != VALUE_IMUL && width == 2)
        thread->registers[DECODE_RDX] =
            (thread->registers[DECODE_RDX] & ~UINT64_C(0xffff)) | (high & 0xffff);
    else if (rule->operation != VALUE_IMUL && width > 2)
        thread->registers[DECODE_RDX] = value_cut(high, width);
    return flags_given(thread, width, low, is_long, is_long);
}

static void divide_unsigned(wide dividend, uint64_t divisor, uint64_t *quotient,
                            uint64_t *remainder)
{
    if (dividend >> 64 != 0) {
        *quotient = (uint64_t)(dividend / divisor);
        *remainder = (uint64_t)(dividend % divisor);
    } else {
        *quotient = (uint64_t)dividend / divisor;
        *remainder = (uint64_t)dividend % divisor;
    }
}

/* As the processor does, towards 0; quotients that are too large are cut off. */
static void divide_signed(wide dividend, int64_t divisor, uint64_t *quotient, uint64_t *remainder)
{
    const bool is_negative = dividend >> 127 != 0;
    divide_unsigned(is_negative ? 0 - dividend : dividend,
                    divisor < 0 ? 0 - (uint64_t)divisor : (uint64_t)divisor, quotient, remainder);
    if (is_negative != (divisor < 0))
        *quotient = 0 - *quotient;
    if (is_negative)
        *remainder = 0 - *remainder;
}

static uint64_t guess_division(struct value_thread *thread, const struct value_rule *rule,
                               uint64_t divisor)
{
    const unsigned width = rule->width;
    const bool is_signed = rule->operation == VALUE_IDIV;
    const uint64_t low = thread->registers[DECODE_RAX], high = thread->registers[DECODE_RDX];
    uint64_t quotient, remainder;
    wide dividend;
    if (width == 1)
        dividend = is_signed ? (wide)(signed_wide)extend(low, 2) : (wide)(low & 0xffff);
    else if (width == 8)
        dividend = (wide)high << 64 | low;
    else {
        const uint64_t both = value_cut(high, width) << (8 * width) | value_cut(low, width);
        dividend = is_signed ? (wide)(signed_wide)extend(both, 2 * width) : (wide)both;
    }
    divisor = value_cut(divisor, width);
    if (divisor == 0)
        return low;
    if (is_signed)
        divide_signed(dividend, extend(divisor, width), &quotient, &remainder);
    else
        divide_unsigned(dividend, divisor, &quotient, &remainder);
    if (width == 1)
        return (quotient & 0xff) | (remainder & 0xff) << 8;
    if (width == 2)
        thread->registers[DECODE_RDX] = (high & ~UINT64_C(0xffff)) | (remainder & 0xffff);
    else
        thread->registers[DECODE_RDX] = value_cut(remainder, width);
    return quotient;
}

/* --- bits --------------------------------------------------------------------------------------
 */

static unsigned lowest_bit(uint64_t value)
{
    return value ? (unsigned)__builtin_ctzll(value) : 64;
}

static unsigned highest_bit(uint64_t value)
{
    return value ? 63u - (unsigned)__builtin_clzll(value) : 0;
}

static uint64_t guess_scan(struct value_thread *thread, const struct value_rule *rule,
                           uint64_t second)
{
    const unsigned width = rule->width, bits = 8 * width;
    uint64_t result;
    second = value_cut(second, width);
    switch (rule->operation) {
    case VALUE_BSF:
        value_integer_logic(thread, width, second);
        return lowest_bit(second);
    case VALUE_BSR:
        value_integer_logic(thread, width, second);
        return highest_bit(second);
    case VALUE_TZCNT:
        result = second ? lowest_bit(second) : bits;
        return flags_given(thread, width, result, second == 0, false);
    case VALUE_LZCNT:
        result = second ? bits - 1 - highest_bit(second) : bits;
        return flags_given(thread, width, result, second == 0, false);
    case VALUE_POPCNT:
        return value_integer_logic(thread, width, (uint64_t)__builtin_popcountll(second));
    case VALUE_BLSR:
        return flags_given(thread, width, second & (second - 1), second == 0, false);
    case VALUE_BLSI:
        return flags_given(thread, width, second & (0 - second), second != 0, false);
    default:
        return flags_given(thread, width, second ^ (second - 1), second == 0, false);
    }
}

static uint64_t guess_bit(struct value_thread *thread, const struct value_rule *rule,
                          uint64_t first, uint64_t second)
{
    const uint64_t bit = UINT64_C(1) << (second & (8u * rule->width - 1));
    thread->carry = (first & bit) != 0;
    if (thread->flag_kind != VALUE_FLAGS_GIVEN)
        thread->overflow = overflow_of(thread);
    thread->flag_kind = VALUE_FLAGS_GIVEN;
    switch (rule->operation) {
    case VALUE_BTS:
        return first | bit;
    case VALUE_BTR:
        return first & ~bit;
    case VALUE_BTC:
        return first ^ bit;
    default:
        return first;
    }
}

static uint64_t swap_bytes(uint64_t value, unsigned width)
{
    uint64_t swapped = 0;
    for (unsigned i = 0; i < width; i++)
        swapped = swapped << 8 | (value >> 8 * i & 0xff);
    return swapped;
}

/* --- all ---------------------------------------------------------------------------------------
 */

static uint64_t guess_unary(struct value_thread *thread, const struct value_rule *rule,
                            uint64_t first, uint64_t second)
{
    const unsigned width = rule->width;
    switch (rule->operation) {
    case VALUE_INC:
        return step(thread, width, first, true);
    case VALUE_DEC:
        return step(thread, width, first, false);
    case VALUE_NEG:
        return value_integer_sub(thread, width, 0, first);
    case VALUE_NOT:
        return ~first;
    case VALUE_BSWAP:
        return swap_bytes(first, width);
    case VALUE_SIGN:
        return sign_of(thread->registers[DECODE_RAX], width) ? UINT64_MAX : 0;
    case VALUE_EXTEND:
        return (uint64_t)extend(thread->registers[DECODE_RAX], width / 2);
    case VALUE_MOVE_SIGNED:
        return (uint64_t)extend(second, rule->second_width);
    case VALUE_AND_NOT:
        return value_integer_logic(thread, width, ~first & second);
    default: /* VALUE_SET */
        return value_integer_condition(thread, rule->condition);
    }
}

uint64_t value_integer_guess(struct value_thread *thread, const struct value_rule *rule,
                             uint64_t first, uint64_t second)
{
    const unsigned operation = rule->operation;
    if (operation == VALUE_ADC)
        return add_carry(thread, rule->width, first, second);
    if (operation == VALUE_SBB)
        return sub_carry(thread, rule->width, first, second);
    if (operation >= VALUE_SHL && operation <= VALUE_RORX)
        return guess_shift(thread, rule, first, second);
    if (operation >= VALUE_IMUL && operation <= VALUE_IMUL_WIDE)
        return multiply(thread, rule, first, second);
    if (operation == VALUE_DIV || operation == VALUE_IDIV)
        return guess_division(thread, rule, second);
    if ((operation >= VALUE_BSF && operation <= VALUE_LZCNT) ||
        (operation >= VALUE_BLSR && operation <= VALUE_BLSMSK))
        return guess_scan(thread, rule, second);
    if (operation >= VALUE_BT && operation <= VALUE_BTC)
        return guess_bit(thread, rule, first, second);
    return guess_unary(thread, rule, first, second);
}
