/*
 * Functions of a running program. A function with a symbol is named by it. Without a symbol it
 * begins where the file's unwind table says, else at the address where it was entered. The symbols
 * of a file are read when its code is first executed.
 */
#ifndef TOOLS_PROFILE_FUNCTIONS_H
#define TOOLS_PROFILE_FUNCTIONS_H

#include "capture/exec/memory/modules.h"
#include "formats/base/named_fields.h"
#include "tools/symbols/image_names.h"

#define FUNCTION_NONE UINT32_MAX

struct NAMED_FIELDS function {
    const struct module *module; /* NULL: code without a file */
    uint64_t start;
    const char *name; /* without a symbol: "0x1234", the offset in its file */
    bool symbol;
    bool allocated; /* name is allocated, owned by struct functions */
};

struct functions;

/* NULL: out of memory. */
struct functions *functions_new(void);
void functions_free(struct functions *functions);

/* Sets the map of modules before any look-up. The modules must outlive the functions. */
void functions_set_modules(struct functions *functions, const struct modules *modules);

/*
 * The number of the function at an address, or FUNCTION_NONE without memory. Code without a symbol
 * belongs to the function `before`, unless the unwind table says otherwise, the code is entered
 * there (a call's target), or `before` has a symbol or is from another file.
 */
uint32_t functions_at(struct functions *functions, uint64_t address, bool entered, uint32_t before);

/* Whether two functions are one: the same, or NAME and NAME.cold of one file, which a compiler has
 * placed apart. */
bool functions_are_one(const struct functions *functions, uint32_t one, uint32_t other);

/* The module of the code at an address, or NULL. */
const struct module *functions_module(struct functions *functions, uint64_t address);

/* Whether code at an address is a stub that only jumps to another module's function. */
bool functions_is_stub(struct functions *functions, uint64_t address);

/* Demangles C++ names, if a demangler is available. */
void functions_demangle(struct functions *functions);

/* Prints one line for each debug file that is not used, with the reason; out may be NULL. */
void functions_print_refused(const struct functions *functions, FILE *out);

uint32_t functions_count(const struct functions *functions);
const struct function *functions_get(const struct functions *functions, uint32_t number);

/* The difference between the addresses of a module in memory and in its file. */
uint64_t functions_bias(struct functions *functions, const struct module *module);

/* The source line of an address of a module, valid until the functions are freed; file is NULL if
 * it is unknown. Lines are read on first use. */
struct NAMED_FIELDS function_line {
    const char *file;
    uint32_t line;
    uint32_t number; /* number of the file among the source files of all modules; 0: unknown */
};
struct function_line functions_line(struct functions *functions, const struct module *module,
                                    uint64_t address);

/* The largest numbers so far of source files and of modules. */
uint32_t functions_sources(const struct functions *functions);
uint32_t functions_modules(const struct functions *functions);

/* A module's number; 0 for NULL. */
uint32_t functions_module_number(struct functions *functions, const struct module *module);

#endif
