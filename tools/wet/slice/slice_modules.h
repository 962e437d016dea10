/* Which file an instruction of a trace belongs to: the program, a library, the dynamic linker. */
#ifndef TOOLS_WET_SLICE_SLICE_MODULES_H
#define TOOLS_WET_SLICE_SLICE_MODULES_H

#include "formats/wet/wet_code.h"

#define SLICE_MODULE_NONE UINT32_MAX /* no file is known */

/* The module of an instruction in wet_code.modules, or SLICE_MODULE_NONE. */
uint32_t slice_module_of(const struct wet_code *code, uint32_t id);

/* Whether it is the program's own code, or that of no file. */
bool slice_module_is_own(const struct wet_code *code, uint32_t id);

/* Whether it is code of the dynamic linker: of a file that is not the program, and whose name
 * begins with "ld-", "ld." or "ld64.". */
bool slice_module_is_linker(const struct wet_code *code, uint32_t id);

/* The name of a module's file, without folders. */
const char *slice_module_name(const struct wet_code *code, uint32_t module);

#endif
