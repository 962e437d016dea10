/* Which complete files of a prefix are to be packed. */
#ifndef HOST_PACK_CANDIDATES_H
#define HOST_PACK_CANDIDATES_H

#include "capture/file_set.h"

/* Files that are not to be packed again, although their contents do not show it. All zero: none. */
struct pack_passed {
    struct file_set_file *files;
    size_t count, capacity;
};

void pack_passed_free(struct pack_passed *passed);

/* Adds the file that has the path now, if it has not the wanted level. 0 or BT_MEMORY. */
int pack_passed_add(struct pack_passed *passed, const char *path, int level,
                    struct bt_error *error);

struct pack_candidate {
    char path[FILE_SET_PATH_BYTES];
    char packed[FILE_SET_PATH_BYTES]; /* the name of its packed form; may be path */
    bool left; /* a file has that name, left by the same work, which was killed */
    uint64_t bytes;
};

/* A list of files, as they were found. All zero is empty. */
struct pack_list {
    struct file_set_file *files; /* oldest capture first */
    size_t count, next;
};

/* Lists the files of the prefix anew. What is not among them any more has not passed. 0 or a
 * negative code. */
int pack_list_read(struct pack_list *list, const char *prefix, struct pack_passed *passed,
                   struct bt_error *error);
void pack_list_free(struct pack_list *list);

/*
 * The next file of the list that is at least after_ns old at now_ns (CLOCK_REALTIME) and has not
 * the level yet. *due_ns is lowered to the time at which the first of those that are too young is
 * old enough. 1, 0 at the list's end, or BT_IO: a file of another capture has the name of the
 * packed form.
 */
int pack_list_next(struct pack_list *list, const char *prefix, const struct pack_passed *passed,
                   int level, int64_t after_ns, int64_t now_ns, struct pack_candidate *candidate,
                   int64_t *due_ns, struct bt_error *error);

#endif
