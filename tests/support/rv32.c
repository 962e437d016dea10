#include "tests/support/rv32.h"

/* Sign-extends a number of `bits` bits to 32. */
static uint32_t extend(uint32_t value, unsigned bits)
{
    uint32_t sign = 1u << (bits - 1);
    return (value ^ sign) - sign;
}

/* The instruction formats: RISC-V unprivileged specification, section 2.3. */
static uint32_t immediate_i(uint32_t code)
{
    return extend(code >> 20, 12);
}

static uint32_t immediate_s(uint32_t code)
{
    return extend((code >> 20 & 0xfe0u) | (code >> 7 & 0x1fu), 12);
}

static uint32_t immediate_b(uint32_t code)
{
    return extend((code >> 19 & 0x1000u) | (code << 4 & 0x800u) | (code >> 20 & 0x7e0u) |
                      (code >> 7 & 0x1eu),
                  13);
}

static uint32_t immediate_j(uint32_t code)
{
    return extend((code >> 11 & 0x100000u) | (code & 0xff000u) | (code >> 9 & 0x800u) |
                      (code >> 20 & 0x7feu),
                  21);
}

static uint32_t shift_right(uint32_t value, unsigned bits, bool arithmetic)
{
    return arithmetic ? (uint32_t)((int32_t)value >> bits) : value >> bits;
}

/* other: subtract instead of add, or shift arithmetically. */
static uint32_t compute(unsigned function, uint32_t a, uint32_t b, bool other)
{
    switch (function) {
    case 0:
        return other ? a - b : a + b;
    case 1:
        return a << (b & 31u);
    case 2:
        return (int32_t)a < (int32_t)b;
    case 3:
        return a < b;
    case 4:
        return a ^ b;
    case 5:
        return shift_right(a, b & 31u, other);
    case 6:
        return a | b;
    default:
        return a & b;
    }
}

static uint32_t divide(unsigned function, uint32_t a, uint32_t b)
{
    bool overflow = a == 0x80000000u && b == UINT32_MAX;
    switch (function) {
    case 4:
        return b == 0 ? UINT32_MAX : overflow ? a : (uint32_t)((int32_t)a / (int32_t)b);
    case 5:
        return b == 0 ? UINT32_MAX : a / b;
    case 6:
        return b == 0 ? a : overflow ? 0 : (uint32_t)((int32_t)a % (int32_t)b);
    default:
        return b == 0 ? a : a % b;
    }
}

static uint32_t multiply(unsigned function, uint32_t a, uint32_t b)
{
    switch (function) {
    case 0:
        return a * b;
    case 1:
        return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
    case 2:
        return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int64_t)b) >> 32);
    case 3:
        return (uint32_t)((uint64_t)a * b >> 32);
    default:
        return divide(function, a, b);
    }
}

static bool branches(unsigned function, uint32_t a, uint32_t b)
{
    bool holds = function < 4 ? a == b : function < 6 ? (int32_t)a < (int32_t)b : a < b;
    return function & 1u ? !holds : holds;
}

static uint32_t load(const struct rv32 *processor, unsigned function, uint32_t address)
{
    uint32_t value = processor->load(processor->context, address, 1u << (function & 3u));
    if (function == 0)
        return (uint32_t)(int8_t)value;
    return function == 1 ? (uint32_t)(int16_t)value : value;
}

bool rv32_step(struct rv32 *processor)
{
    uint32_t code = processor->load(processor->context, processor->pc, 4);
    uint32_t *registers = processor->registers;
    uint32_t a = registers[code >> 15 & 31u], b = registers[code >> 20 & 31u];
    uint32_t next = processor->pc + 4, result = registers[code >> 7 & 31u];
    unsigned function = code >> 12 & 7u;
    bool other = code >> 30 & 1u;

    switch (code & 127u) {
    case 0x37: /* LUI */
        result = code & 0xfffff000u;
        break;
    case 0x17: /* AUIPC */
        result = processor->pc + (code & 0xfffff000u);
        break;
    case 0x6f: /* JAL */
        result = next;
        next = processor->pc + immediate_j(code);
        break;
    case 0x67: /* JALR */
        result = next;
        next = (a + immediate_i(code)) & ~1u;
        break;
    case 0x63:
        if (branches(function, a, b))
            next = processor->pc + immediate_b(code);
        break;
    case 0x03:
        result = load(processor, function, a + immediate_i(code));
        break;
    case 0x23:
        processor->store(processor->context, a + immediate_s(code), b, 1u << function);
        break;
    case 0x13:
        result = compute(function, a, immediate_i(code), function == 5 && other);
        break;
    case 0x33:
        result = code >> 25 == 1 ? multiply(function, a, b) : compute(function, a, b, other);
        break;
    case 0x73: /* CSR: mtvec, which the simulator does not use */
    case 0x0f: /* FENCE */
        break;
    default:
        return false;
    }
    /* stores and branches have other bits in place of a target register */
    if ((code & 127u) != 0x23 && (code & 127u) != 0x63)
        registers[code >> 7 & 31u] = result;
    registers[0] = 0;
    processor->pc = next;
    processor->instructions++;
    return true;
}
