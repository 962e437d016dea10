/*
 * A program and its interpreter (the dynamic loader), put into a space. Both are read and checked
 * before either is mapped.
 */
#ifndef CAPTURE_EXEC_MEMORY_LOAD_H
#define CAPTURE_EXEC_MEMORY_LOAD_H

#include "capture/exec/memory/space.h"
#include "formats/base/error.h"

struct loaded_image {
    uint64_t bias; /* what was added to the file's own addresses */
    uint64_t low;  /* its pages in memory: from here */
    uint64_t high; /* to there; low == high: there is none */
    uint64_t entry;
    uint64_t table; /* where its program headers are in memory, or 0 */
    uint32_t table_entries;
};

struct load {
    char *name;       /* as it was asked for, a script perhaps: AT_EXECFN */
    char *path;       /* of the ELF file, absolute, links followed: what /proc/self/exe is */
    char **arguments; /* ends with NULL; begins with a script's interpreters */
    bool stack_executable;
    struct loaded_image program;
    struct loaded_image interpreter;
};

/*
 * Opens the file that path names (as execve(2): no search), goes on with its interpreter if it
 * begins with #!, and maps it and the dynamic loader it asks for. The break begins after the
 * program. arguments[0] is there, and NULL ends them; they are copied. `file`, unless it is NULL,
 * is opened in path's place, which the program is told even so.
 *
 * NULL and *error: BT_USAGE says that it is nothing that can be run here, and why: that it would
 * have other rights than ours, for example, which execve(2) gives, and nobody else can; BT_DATA
 * that it is damaged; BT_IO and BT_MEMORY that it cannot be read or mapped. Only with these can
 * anything have been mapped.
 */
struct load *load_new(struct space *space, const char *path, const char *file,
                      const char *const *arguments, struct bt_error *error);

/* What it mapped stays. NULL is fine. */
void load_free(struct load *load);

#endif
