#include "tools/depend/place_roles.h"

#include "capture/exec/translate/decode.h"

#include <Zydis/Zydis.h>

/* Registers that a function must preserve (System V ABI for x86-64, figure 3.4). */
#define PRESERVED                                                                                  \
    (1u << DECODE_RBX | 1u << DECODE_RBP | 1u << DECODE_R12 | 1u << DECODE_R13 |                   \
     1u << DECODE_R14 | 1u << DECODE_R15)

enum place_role place_role_of(const uint8_t *code, size_t size)
{
    struct decode_instruction instruction;
    decode(&instruction, code, size, 0);
    switch (instruction.kind) {
    case DECODE_CALL:
    case DECODE_CALL_INDIRECT:
        return PLACE_CALL;
    case DECODE_RETURN:
        return PLACE_RETURN;
    default:
        break;
    }
    if (instruction.mnemonic == ZYDIS_MNEMONIC_PUSH && instruction.access_count == 1 &&
        (instruction.registers_read & PRESERVED))
        return PLACE_SAVE;
    if (instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE ||
        (instruction.mnemonic == ZYDIS_MNEMONIC_POP && instruction.access_count == 1 &&
         (instruction.registers_written & PRESERVED)))
        return PLACE_RESTORE;
    return PLACE_PLAIN;
}

static bool is_transfer(enum place_role role)
{
    return role != PLACE_PLAIN;
}

bool place_roles_hide(enum depend_kind kind, enum place_role sink, enum place_role source)
{
    if (kind == DEPEND_RAW)
        return (sink == PLACE_RETURN && source == PLACE_CALL) ||
               (sink == PLACE_RESTORE && source == PLACE_SAVE);
    /* The memory is reused: whose it was before does not matter. */
    return is_transfer(sink) || is_transfer(source);
}
