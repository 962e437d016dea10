/* What the kernel says is mapped in our process: /proc/self/maps (proc_pid_maps(5)), line by line.
 */
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
    const char *what; /* "offset device inode" and, after spaces, a name; ends with the line */
    const char *name; /* "" if there is none */
};

struct maps;

/* NULL: cannot be opened, or there is no memory. */
struct maps *maps_open(struct bt_error *error);
void maps_close(struct maps *maps);

/* The next line, which belongs to maps and lasts until the next call. 1: there it is, 0: that was
 * all, negative: it cannot be read. */
int maps_next(struct maps *maps, struct maps_line *line, struct bt_error *error);

#endif
