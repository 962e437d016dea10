/*
 * Instructions whose references are about calls and not about the program's data: return addresses,
 * registers that a function saves for its caller, and addresses of functions that the dynamic
 * linker looks up.
 */
#ifndef TOOLS_DEPEND_PLACE_ROLES_H
#define TOOLS_DEPEND_PLACE_ROLES_H

#include "capture/depend/depend.h"
#include "tools/depend/code_places.h"

#include <stddef.h>

enum place_role {
    PLACE_PLAIN,
    PLACE_CALL,   /* writes a return address */
    PLACE_RETURN, /* reads it */
    PLACE_JUMP,   /* jumps to an address that it reads */
    PLACE_SAVE,   /* pushes a register that functions must preserve */
    PLACE_RESTORE /* pops it */
};

/* The role of the instruction at code, of which size bytes may be read. */
enum place_role place_role_of(const uint8_t *code, size_t size);

/* Whether a dependence is about calls only. The roles of the places are known. */
bool place_roles_hide(enum depend_kind kind, const struct code_place *sink,
                      const struct code_place *source);

#endif
