/*
 * The functions of a program that runs: what has a symbol, by its symbol; code without one, by the
 * beginning that the file tells to those who unwind, else by the address where it was entered.
 * Symbols of a file are read when its code is first met.
 */
#ifndef TOOLS_PROFILE_FUNCTIONS_H
#define TOOLS_PROFILE_FUNCTIONS_H

#include "capture/exec/memory/modules.h"
#include "formats/base/named_fields.h"
#include "tools/symbols/image_names.h"

#define FUNCTION_NONE UINT32_MAX

struct NAMED_FIELDS function {
    const struct module *module; /* NULL: its code is from no file */
    uint64_t start;
    const char *name; /* "0x1234", its place in its file, where there is no symbol */
    bool symbol;
    bool allocated; /* its name, by the functions */
};

struct functions;

/* NULL: no memory. */
struct functions *functions_new(void);
void functions_free(struct functions *functions);

/* Where code is from; to be told before any of it is asked for. The modules outlive the functions.
 */
void functions_set_modules(struct functions *functions, const struct modules *modules);

/*
 * The number of the function that has the code at an address; FUNCTION_NONE: no memory. Without a
 * symbol it is that of `before`, unless the file tells better, or the code is entered there (a
 * call's target), or `before` has a symbol, or is from another file.
 */
uint32_t functions_at(struct functions *functions, uint64_t address, bool entered, uint32_t before);

/* The file that code at an address is from now; NULL: none. */
const struct module *functions_module(struct functions *functions, uint64_t address);

/* Whether code at an address only leads to another module's function. */
bool functions_is_stub(struct functions *functions, uint64_t address);

/* C++ names as in the sources, from now on, where the machine can tell. */
void functions_demangle(struct functions *functions);

/* Prints why debug files of modules whose code was met are not used, a line each; out may be NULL.
 */
void functions_print_refused(const struct functions *functions, FILE *out);

uint32_t functions_count(const struct functions *functions);
const struct function *functions_get(const struct functions *functions, uint32_t number);

/* What is to be taken off addresses of a module to get those in its file. */
uint64_t functions_bias(struct functions *functions, const struct module *module);

/* The source line of an address of a module, from now on until the functions are freed: file NULL,
 * it is not known. Lines are read when they are first asked for. */
struct NAMED_FIELDS function_line {
    const char *file;
    uint32_t line;
    uint32_t number; /* of the file, among the source files of all modules; 0: not known */
};
struct function_line functions_line(struct functions *functions, const struct module *module,
                                    uint64_t address);

/* The largest numbers so far: of source files, and of modules, whose code was met. */
uint32_t functions_sources(const struct functions *functions);
uint32_t functions_modules(const struct functions *functions);

/* A module's number; 0 for NULL. */
uint32_t functions_module_number(struct functions *functions, const struct module *module);

#endif
