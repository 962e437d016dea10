/*
 * Which files a program's code came from, where they were, and whether they still are: the program
 * itself, its dynamic loader, libraries, also those that dlclose() has taken away. ELF files only.
 *
 * Code is what was mapped executable from the beginning. What mprotect(2) makes executable later is
 * found at the next change, and by modules_refresh().
 */
#ifndef CAPTURE_EXEC_MEMORY_MODULES_H
#define CAPTURE_EXEC_MEMORY_MODULES_H

#include "capture/exec/memory/space.h"
#include "formats/base/error.h"

#include <stdio.h>

struct module {
    const char *path;      /* absolute */
    uint64_t load_address; /* of the file's first loaded page */
    uint64_t start, end;   /* around all of its code */
    bool gone;             /* it is not mapped any more */
};

struct modules;

/* Of a space that outlives them; none so far. NULL and *error: no memory. */
struct modules *modules_new(struct space *space, struct bt_error *error);
void modules_free(struct modules *modules);

/* Finds out what is there now. */
void modules_refresh(struct modules *modules);

/* The same, if a system call that was done for the program may have changed it; result is the
 * kernel's. Whether it looked. */
bool modules_note_call(struct modules *modules, uint64_t number, const uint64_t arguments[6],
                       int64_t result);

/* How many there were so far, and one of them, in the order in which they came; never moves. One
 * that comes back to where it was, from the same file, is the same. */
size_t modules_count(const struct modules *modules);
const struct module *modules_get(const struct modules *modules, size_t number);

/* The one that has code around an address now; NULL: none does. */
const struct module *modules_find(const struct modules *modules, uint64_t address);

/* "PATH@0xADDRESS", a line each: what `bustap dcfg build --image` takes. Those that came back to
 * where they had been are there once. The caller looks for errors of out. */
void modules_write(const struct modules *modules, FILE *out);

#endif
