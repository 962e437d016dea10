#include "tools/wet/slice/slice_modules.h"

#include <string.h>

uint32_t slice_module_of(const struct wet_code *code, uint32_t id)
{
    const struct wet_module *module = wet_code_module(code, code->instructions[id].address);
    return module ? (uint32_t)(module - code->modules) : SLICE_MODULE_NONE;
}

bool slice_module_is_own(const struct wet_code *code, uint32_t id)
{
    const uint32_t module = slice_module_of(code, id);
    return module == 0 || module == SLICE_MODULE_NONE;
}

const char *slice_module_name(const struct wet_code *code, uint32_t module)
{
    const char *path = code->modules[module].path, *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

bool slice_module_is_linker(const struct wet_code *code, uint32_t id)
{
    if (slice_module_is_own(code, id))
        return false;
    const char *name = slice_module_name(code, slice_module_of(code, id));
    return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.", 3) == 0 ||
           strncmp(name, "ld64.", 5) == 0;
}
