/*
 * Text into a file, plain, or compressed if the name ends in .gz or .bz2. The file gets its name
 * when it is complete. Until then it has none, or, if the file system does not support that, it is
 * NAME.part-NUMBER in the same folder.
 */
#ifndef FORMATS_TEXT_TEXT_WRITER_H
#define FORMATS_TEXT_TEXT_WRITER_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct text_writer;

/*
 * Begins path; "-" is standard output, plain, which is not closed. An existing file that is not a
 * regular one (a pipe, /dev/null) is written in place; a symbolic link's target is replaced, not
 * the link. NULL and *error on failure.
 */
struct text_writer *text_writer_new(const char *path, struct bt_error *error);

/* Collects the text in memory. NULL without memory. */
struct text_writer *text_writer_new_memory(struct bt_error *error);

/* Writes size bytes. 0, BT_FULL, BT_IO, BT_CLOSED (the pipe's reader has closed it) or BT_MEMORY;
 * after a failure nothing more is written. */
int text_writer_put(struct text_writer *writer, const char *text, size_t size,
                    struct bt_error *error);

/* Whether written bytes can still be changed: in a regular file without compression, and in
 * memory. */
bool text_writer_can_patch(const struct text_writer *writer);

/* Overwrites size bytes at offset. 0, or a negative code as above. */
int text_writer_patch(struct text_writer *writer, size_t offset, const char *text, size_t size,
                      struct bt_error *error);

/* Writes the remaining bytes, closes the file and gives it its name. Call it once; errors as
 * above. */
int text_writer_finish(struct text_writer *writer, struct bt_error *error);

/* Frees the writer; an unfinished file is removed. */
void text_writer_free(struct text_writer *writer);

/* The text collected so far by a writer from text_writer_new_memory(), NULL if none; valid until
 * the next call. */
const char *text_writer_memory(const struct text_writer *writer, size_t *size);

/* The name for messages: the path, or "standard output". */
const char *text_writer_name(const struct text_writer *writer);

#endif
