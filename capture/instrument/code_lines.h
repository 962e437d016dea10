/* Source lines of the running program's own code, from its debugging information (libdw). */
#ifndef CAPTURE_INSTRUMENT_CODE_LINES_H
#define CAPTURE_INSTRUMENT_CODE_LINES_H

#include "formats/dependences/dependences.h"

#include <elfutils/libdwfl.h>

/* All zero: nothing read yet. Never freed: names of places are its own. */
struct code_lines {
    Dwfl *dwfl;
    bool has_failed;
};

/* Sets what is known of an address of code: file, line, function, module, offset. */
void code_lines_find(struct code_lines *lines, uint64_t code, struct dependence_place *place);

#endif
