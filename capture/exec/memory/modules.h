/*
 * The ELF files of a program's code, and where they are or were mapped: the program itself, its
 * dynamic loader, and libraries, including those that dlclose() has unmapped.
 *
 * Code is memory that was mapped executable. Memory that mprotect(2) makes executable later is
 * found at the next change, and by modules_refresh().
 */
#ifndef CAPTURE_EXEC_MEMORY_MODULES_H
#define CAPTURE_EXEC_MEMORY_MODULES_H

#include "capture/exec/memory/space.h"
#include "formats/base/error.h"

#include <stdio.h>

/* A time during which a module was mapped, in ticks, both included. */
struct module_span {
    uint64_t first;
    uint64_t last; /* UINT64_MAX: it still is */
};

#define MODULE_SPANS_MAX                                                                           \
    1000u /* the last span then continues until the module is gone for good                        \
           */

struct module {
    const char *path;      /* absolute */
    uint64_t load_address; /* address of the file's first loaded page */
    uint64_t start, end;   /* range that contains all of its code */
    bool gone;             /* it is no longer mapped */
    struct module_span *spans;
    size_t span_count;
};

struct modules;

/* An empty list for a space, which must outlive it. NULL with *error: no memory. */
struct modules *modules_new(struct space *space, struct bt_error *error);
void modules_free(struct modules *modules);

/* Sets the number of instructions put so far: the first one of a module has the next tick. */
void modules_set_time(struct modules *modules, uint64_t instructions);

/* Updates the list from the current mappings. */
void modules_refresh(struct modules *modules);

/* Whether a system call of the program may have changed the list; result is the result of the call.
 */
bool modules_may_change(struct modules *modules, uint64_t number, const uint64_t arguments[6],
                        int64_t result);

/* The number of modules so far, and one of them, in the order of their mapping. Pointers stay
 * valid. A file that is mapped again at the same address is the same module. */
size_t modules_count(const struct modules *modules);
const struct module *modules_get(const struct modules *modules, size_t number);

/* The mapped module whose code contains the address; NULL: none. */
const struct module *modules_find(const struct modules *modules, uint64_t address);

/* Number of changes of the list so far. */
uint64_t modules_changes(const struct modules *modules);

/*
 * Writes a line "PATH@0xADDRESS" for each module, for `bustap dcfg build --image`. With `timed`,
 * modules that were unmapped, and those mapped after the first of them, have their spans:
 * "PATH@0xADDRESS@FIRST-LAST,FIRST-". The caller checks out for errors.
 */
void modules_write(const struct modules *modules, bool timed, FILE *out);

#endif
