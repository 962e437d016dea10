/* Reads /proc/self/maps (proc_pid_maps(5)) of our process line by line. */
#ifndef CAPTURE_EXEC_MEMORY_MAPS_H
#define CAPTURE_EXEC_MEMORY_MAPS_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct maps_line {
    uint64_t start;
    uint64_t end;
    uint32_t protection; /* PROT_* */
    bool shared;
    uint64_t offset;  /* in the file */
    const char *what; /* rest of the line: "offset device inode" and, after spaces, a name */
    const char *name; /* "" if there is none */
};

struct maps;

/* NULL with *error: it cannot be opened, or there is no memory. */
struct maps *maps_open(struct bt_error *error);
void maps_close(struct maps *maps);

/* Reads the next line; its strings are owned by maps and valid until the next call. 1: *line is
 * filled in; 0: end of the file; negative: it cannot be read. */
int maps_next(struct maps *maps, struct maps_line *line, struct bt_error *error);

#endif
