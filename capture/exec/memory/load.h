/*
 * Loads a program and its interpreter (the dynamic loader) into a space. Both are read and checked
 * before either is mapped.
 */
#ifndef CAPTURE_EXEC_MEMORY_LOAD_H
#define CAPTURE_EXEC_MEMORY_LOAD_H

#include "capture/exec/memory/space.h"
#include "formats/base/error.h"

struct loaded_image {
    uint64_t bias; /* difference between addresses in memory and in the file */
    uint64_t low;  /* first page in memory */
    uint64_t high; /* end of the last page; low == high: there is no image */
    uint64_t entry;
    uint64_t table; /* address of the program headers, or 0 */
    uint32_t table_entries;
};

struct load {
    char *name;       /* path given by the caller, perhaps of a script: AT_EXECFN */
    char *path;       /* absolute path of the ELF file: /proc/self/exe */
    char **arguments; /* end with NULL; begin with the interpreters of a script */
    bool stack_executable;
    struct loaded_image program;
    struct loaded_image interpreter;
};

/*
 * Opens the file at path (as execve(2): no search), or its interpreter if the file begins with #!,
 * and maps it and its dynamic loader. The break starts after the program. Arguments begin with
 * argv[0] and end with NULL; they are copied. `file`, unless it is NULL, is opened instead of path;
 * the program still sees path.
 *
 * NULL with *error: BT_USAGE: it cannot be run here, for example because execve(2) would give it
 * rights that we do not have; BT_DATA: the file is corrupt; BT_IO, BT_MEMORY: it cannot be read or
 * mapped. Only after these two may a part of it have been mapped.
 */
struct load *load_new(struct space *space, const char *path, const char *file,
                      const char *const *arguments, struct bt_error *error);

/* Does not unmap the program. NULL is fine. */
void load_free(struct load *load);

#endif
