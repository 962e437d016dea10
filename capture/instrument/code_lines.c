#include "capture/instrument/code_lines.h"

#include <unistd.h>

static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                         .find_debuginfo = dwfl_standard_find_debuginfo};

static bool begin(struct code_lines *lines)
{
    if (lines->dwfl || lines->has_failed)
        return lines->dwfl;
    lines->dwfl = dwfl_begin(&callbacks);
    if (lines->dwfl && (dwfl_linux_proc_report(lines->dwfl, getpid()) != 0 ||
                        dwfl_report_end(lines->dwfl, NULL, NULL) != 0)) {
        dwfl_end(lines->dwfl);
        lines->dwfl = NULL;
    }
    lines->has_failed = !lines->dwfl;
    return lines->dwfl;
}

/* The line by the ranges of all compilation units: not all compilers write the table of them that
 * dwfl_module_getsrc() needs. NULL: unknown. */
static const char *search(Dwfl_Module *module, uint64_t code, int *line)
{
    Dwarf_Addr bias;
    for (Dwarf_Die *unit = NULL; (unit = dwfl_module_nextcu(module, unit, &bias));) {
        Dwarf_Line *found =
            dwarf_haspc(unit, code - bias) > 0 ? dwarf_getsrc_die(unit, code - bias) : NULL;
        if (found && dwarf_lineno(found, line) == 0)
            return dwarf_linesrc(found, NULL, NULL);
    }
    return NULL;
}

void code_lines_find(struct code_lines *lines, uint64_t code, struct dependence_place *place)
{
    Dwfl_Module *module = begin(lines) ? dwfl_addrmodule(lines->dwfl, code) : NULL;
    if (!module) {
        place->address = code;
        return;
    }
    Dwarf_Addr bias = 0;
    int line = 0;
    dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &place->module, NULL);
    if (dwfl_module_getelf(module, &bias))
        place->offset = code - bias;
    place->function = dwfl_module_addrname(module, code);
    Dwfl_Line *found = dwfl_module_getsrc(module, code);
    if (found)
        place->file = dwfl_lineinfo(found, NULL, &line, NULL, NULL, NULL);
    else
        place->file = search(module, code, &line);
    place->line = line > 0 ? (uint32_t)line : 0;
}
