#include "tools/depend/place_roles.h"

#include "capture/exec/translate/decode.h"

#include <Zydis/Zydis.h>
#include <string.h>

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
    case DECODE_JUMP_INDIRECT:
        return instruction.access_count > 0 ? PLACE_JUMP : PLACE_PLAIN;
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

/* A return address or a saved register. */
static bool is_saved(const struct code_place *place)
{
    return place->role != PLACE_PLAIN && place->role != PLACE_JUMP;
}

static bool is_dynamic_linker(const struct module *module)
{
    const char *name = module ? strrchr(module->path, '/') : NULL;
    return name && (strncmp(name, "/ld-linux", 9) == 0 || strncmp(name, "/ld-musl", 8) == 0);
}

/* A call through a table of addresses, where the dynamic linker enters them at a first call. */
static bool is_linked(const struct code_place *caller, const struct code_place *linker)
{
    return (caller->role == PLACE_JUMP || caller->role == PLACE_CALL) &&
           is_dynamic_linker(linker->module) && !is_dynamic_linker(caller->module);
}

bool place_roles_hide(enum depend_kind kind, const struct code_place *sink,
                      const struct code_place *source)
{
    if (kind == DEPEND_RAW)
        return (sink->role == PLACE_RETURN && source->role == PLACE_CALL) ||
               (sink->role == PLACE_RESTORE && source->role == PLACE_SAVE) ||
               is_linked(sink, source);
    /* The memory is reused: whose it was before does not matter. */
    return is_saved(sink) || is_saved(source) || (kind == DEPEND_WAR && is_linked(source, sink));
}
