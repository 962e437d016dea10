/* The code whose instructions are captured: `bustap exec --only-code`. */
#ifndef TOOLS_EXEC_EXEC_CODE_H
#define TOOLS_EXEC_EXEC_CODE_H

#include "tools/symbols/exec_symbol.h"

#define EXEC_CODE_RANGES 64u /* address ranges; a module can be loaded several times */

struct exec_code {
    const char *module;          /* last part of the module's path; NULL: not by module */
    struct exec_symbol function; /* text is NULL: not by function */
    struct exec_code_range {
        uint64_t low, high; /* both included */
    } ranges[EXEC_CODE_RANGES];
    size_t count; /* number of ranges */
};

/* Parses "module:FILE", "0xLOW-0xHIGH" or a function's name. The text must outlive code. 0 or
 * BT_USAGE; free with exec_code_clear(). */
int exec_code_parse(struct exec_code *code, const char *text, struct bt_error *error);
void exec_code_clear(struct exec_code *code);

/* Searches the modules; called after each change of them. Returns whether the code was found. */
bool exec_code_look(struct exec_code *code, const struct modules *modules);

bool exec_code_has(const struct exec_code *code, uint64_t address);

#endif
