/* Which instructions of a program are captured, by where they are: `bustap exec --only-code`. */
#ifndef TOOLS_EXEC_EXEC_CODE_H
#define TOOLS_EXEC_EXEC_CODE_H

#include "tools/symbols/exec_symbol.h"

#define EXEC_CODE_RANGES 64u /* places of a module, which can be loaded several times */

struct exec_code {
    const char *module;          /* the last part of its path; NULL: no module was asked for */
    struct exec_symbol function; /* likewise: text is NULL */
    struct exec_code_range {
        uint64_t low, high; /* both included */
    } ranges[EXEC_CODE_RANGES];
    size_t count; /* of ranges */
};

/* "module:FILE", "0xLOW-0xHIGH" or a function's name. The text is the caller's and lives on. 0, or
 * BT_USAGE; exec_code_clear() frees what it holds. */
int exec_code_parse(struct exec_code *code, const char *text, struct bt_error *error);
void exec_code_clear(struct exec_code *code);

/* Looks for it in the modules, each time that they have changed. Whether it is known now. */
bool exec_code_look(struct exec_code *code, const struct modules *modules);

bool exec_code_has(const struct exec_code *code, uint64_t address);

#endif
