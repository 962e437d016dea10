/*
 * DETAIL functions (Dependence Tracing, "DETAIL and SKETCH"): a list of names, one a line, with
 * comments from '#' to the line's end; or all functions of the program's own file.
 */
#ifndef TOOLS_DEPEND_DEPEND_DETAIL_H
#define TOOLS_DEPEND_DEPEND_DETAIL_H

#include "tools/profile/functions.h"
#include "tools/symbols/demangle.h"

struct detail_name {
    char *name; /* as symbol, or as C++ prints it */
    bool found; /* a function with this name was executed */
};

struct depend_detail {
    struct detail_name *names;
    size_t count, capacity;
    bool is_listed; /* there is a list */
    struct demangler *demangler;
};

#define DEPEND_DETAIL_FILE "bop.detail" /* in the current folder, if no list is given */

/* Reads the list. path NULL: DEPEND_DETAIL_FILE, if there is one. 0, BT_IO or BT_MEMORY;
 * clear it in any case. */
int depend_detail_read(struct depend_detail *detail, const char *path, struct bt_error *error);
void depend_detail_clear(struct depend_detail *detail);

/* Whether a function is DETAIL. own: the program's file. */
bool depend_detail_has(struct depend_detail *detail, const struct function *function,
                       const struct module *own);

#endif
