#include "capture/exec/translate/outcome.h"

#define CONDITION_ZERO 4u

/* fcmovcc: da or db, and a second byte from c0 to df; db has the opposite conditions. */
static const uint8_t x87_conditions[] = {2, 4, 6, 10};

static struct outcome outcome_of_kind(enum outcome_kind kind, unsigned condition)
{
    return (struct outcome){.kind = (uint8_t)kind, .condition = (uint8_t)condition, .mask = 1};
}

static struct outcome outcome_of_count(bool is_wide)
{
    return (struct outcome){.kind = OUTCOME_COUNT, .mask = is_wide ? 63 : 31};
}

/* Opcodes after 0x0f. */
static struct outcome outcome_of_second(const uint8_t *opcode, bool has_repeat, bool is_wide)
{
    const bool is_scan = (opcode[0] == 0xbc || opcode[0] == 0xbd) && !has_repeat;
    const bool is_wide_exchange = opcode[0] == 0xc7 && (opcode[1] & 0x38) == 0x08;
    if ((opcode[0] & 0xf0) == 0x40)
        return outcome_of_kind(OUTCOME_CONDITION, opcode[0] & 0x0f);
    if (opcode[0] == 0xa5 || opcode[0] == 0xad) /* shld, shrd */
        return outcome_of_count(is_wide);
    if (is_scan || is_wide_exchange || (opcode[0] & 0xfe) == 0xb0)
        return outcome_of_kind(OUTCOME_ZERO_FLAG, CONDITION_ZERO);
    return outcome_of_kind(OUTCOME_NONE, 0);
}

struct outcome outcome_of(const struct decode_instruction *instruction)
{
    const uint8_t *bytes = instruction->bytes;
    unsigned at = 0;
    bool has_repeat = false; /* then bc and bd are tzcnt and lzcnt */
    bool is_wide = false;    /* REX.W */
    if (instruction->mnemonic == 0 || instruction->kind != DECODE_STRAIGHT)
        return outcome_of_kind(OUTCOME_NONE, 0);
    for (; at + 1u < instruction->size && decode_is_prefix(bytes[at]); at++) {
        has_repeat |= bytes[at] == 0xf3;
        is_wide |= (bytes[at] & 0xf8) == 0x48;
    }
    if (at + 1u >= instruction->size)
        return outcome_of_kind(OUTCOME_NONE, 0);
    const uint8_t opcode = bytes[at], next = bytes[at + 1];
    if (opcode == 0x0f && at + 2u < instruction->size)
        return outcome_of_second(bytes + at + 1, has_repeat, is_wide);
    if (opcode == 0xd2 || opcode == 0xd3)
        return outcome_of_count(is_wide);
    if ((opcode == 0xda || opcode == 0xdb) && (next & 0xe0) == 0xc0)
        return outcome_of_kind(OUTCOME_CONDITION, x87_conditions[next >> 3 & 3] | (opcode & 1u));
    return outcome_of_kind(OUTCOME_NONE, 0);
}
