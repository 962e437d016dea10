#include "tests/e2e/step/code.h"

/* Returns the size of a ModR/M octet with its SIB byte and displacement, with 32- or 64-bit
 * addresses (Intel's manual, volume 2, 2.1.5). */
static unsigned operand_bytes(const uint8_t *bytes)
{
    unsigned mode = bytes[0] >> 6;
    unsigned register_or_memory = bytes[0] & 7;
    unsigned size = 1;
    if (mode == 3)
        return size;
    if (register_or_memory == 4) {
        size++;
        if (mode == 0 && (bytes[1] & 7) == 5)
            size += 4;
    } else if (mode == 0 && register_or_memory == 5) {
        size += 4;
    }
    return size + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

static bool is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
        return true;
    default:
        return false;
    }
}

static bool is_string(uint8_t opcode)
{
    return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf) ||
           (opcode >= 0x6c && opcode <= 0x6f);
}

/* Decodes an opcode of one octet; *size gets the number of bytes from it. */
static enum code_kind one_octet(const uint8_t *opcode, bool repeated, unsigned *size)
{
    unsigned operation = (opcode[1] >> 3) & 7; /* its field of the ModR/M octet */
    *size = 1;
    if (repeated && is_string(opcode[0]))
        return CODE_REPEAT;
    *size = 2;
    if ((opcode[0] >= 0x70 && opcode[0] <= 0x7f) || (opcode[0] >= 0xe0 && opcode[0] <= 0xe3))
        return CODE_CONDITIONAL;
    switch (opcode[0]) {
    case 0xc2:
        *size = 3;
        return CODE_RETURN;
    case 0xc3:
        *size = 1;
        return CODE_RETURN;
    case 0xcd:
        return CODE_SYSTEM_CALL;
    case 0xe8:
        *size = 5;
        return CODE_CALL;
    case 0xe9:
        *size = 5;
        return CODE_JUMP;
    case 0xeb:
        return CODE_JUMP;
    case 0xff:
        *size = 1 + operand_bytes(opcode + 1);
        if (operation == 2)
            return CODE_CALL;
        return operation == 4 ? CODE_JUMP : CODE_STRAIGHT;
    default:
        return CODE_STRAIGHT;
    }
}

/* Decodes an opcode after 0x0f. */
static enum code_kind two_octets(const uint8_t *opcode, unsigned *size)
{
    *size = 6;
    if (opcode[1] >= 0x80 && opcode[1] <= 0x8f)
        return CODE_CONDITIONAL;
    *size = 2;
    return opcode[1] == 0x05 ? CODE_SYSTEM_CALL : CODE_STRAIGHT;
}

enum code_kind code_kind(const uint8_t bytes[CODE_BYTES], bool narrow, uint8_t *size)
{
    enum { OPCODE_MAX = CODE_BYTES - 7 }; /* all bytes read are within the instruction */
    unsigned at = 0;
    unsigned rest = 0;
    bool repeated = false;
    while (at < OPCODE_MAX && is_prefix(bytes[at])) {
        repeated |= bytes[at] == 0xf2 || bytes[at] == 0xf3;
        at++;
    }
    if (!narrow && (bytes[at] & 0xf0) == 0x40) /* REX */
        at++;
    enum code_kind kind =
        bytes[at] == 0x0f ? two_octets(bytes + at, &rest) : one_octet(bytes + at, repeated, &rest);
    *size = kind == CODE_STRAIGHT ? 0 : (uint8_t)(at + rest);
    return kind;
}

const char *code_kind_name(enum code_kind kind)
{
    static const char *const names[CODE_KINDS] = {
        [CODE_STRAIGHT] = "straight", [CODE_CONDITIONAL] = "conditional",
        [CODE_JUMP] = "jumps",        [CODE_CALL] = "calls",
        [CODE_RETURN] = "returns",    [CODE_SYSTEM_CALL] = "system_calls",
        [CODE_REPEAT] = "repeats",
    };
    return names[kind];
}
