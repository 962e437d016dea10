#include "tools/symbols/inlined.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 64u /* of blocks in one another */

/* Searches the entries below one. around: the function that they are in; NULL: none. Returns the
 * function in which `function` is inlined, or NULL. */
static const char *inlined_below(Dwarf_Die *die, const char *function, const char *around,
                                 unsigned depth)
{
    Dwarf_Die child;
    if (depth > DEPTH_MAX || dwarf_child(die, &child) != 0)
        return NULL;
    do {
        const int tag = dwarf_tag(&child);
        const char *inside = around;
        if (tag == DW_TAG_subprogram)
            inside = dwarf_diename(&child);
        else if (tag == DW_TAG_inlined_subroutine && around) {
            const char *name = dwarf_diename(&child);
            if (name && strcmp(name, function) == 0)
                return around;
        }
        const char *found = inlined_below(&child, function, inside, depth + 1);
        if (found)
            return found;
    } while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

bool inlined_into(const char *path, const char *function, char *caller, size_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    Dwarf *dwarf = file < 0 ? NULL : dwarf_begin(file, DWARF_C_READ);
    const char *found = NULL;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dwarf && !found && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        found = inlined_below(&die, function, NULL, 0);
    if (found)
        snprintf(caller, size, "%s", found);
    if (dwarf)
        dwarf_end(dwarf);
    if (file >= 0)
        close(file);
    return found;
}
