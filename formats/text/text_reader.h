/*
 * Text from a file, a pipe or memory, plain or compressed with gzip, bzip2 or xz: which
 * one, the content tells. Compressed members one behind the other are one text, as zcat, bzcat and
 * xzcat read them.
 */
#ifndef FORMATS_TEXT_TEXT_READER_H
#define FORMATS_TEXT_TEXT_READER_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct text_reader;

/* Opens path, "-" for standard input (which is not closed). NULL and *error on failure. */
struct text_reader *text_reader_open(const char *path, struct bt_error *error);

/* Reads size bytes at bytes, which stay the caller's and must outlive the reader. The name is for
 * messages. */
struct text_reader *text_reader_from_memory(const void *bytes, size_t size, const char *name,
                                            struct bt_error *error);

void text_reader_close(struct text_reader *reader);

/*
 * Puts up to room bytes of text (at least one, unless the text ends) at text and how many there are
 * in *got; 0 is the end. Damaged or cut off compressed data is BT_DATA with the file's offset; what
 * came before it has been handed out. Bounded memory, however much the input expands to. 0,
 * BT_DATA, BT_IO or BT_MEMORY.
 */
int text_reader_read(struct text_reader *reader, char *text, size_t room, size_t *got,
                     struct bt_error *error);

/* How far the file has been read, and its size (0 for a pipe), in bytes as stored: for progress. */
uint64_t text_reader_offset(const struct text_reader *reader);
uint64_t text_reader_size(const struct text_reader *reader);

/* Calls progress with argument now and then, between reads of the file. */
void text_reader_set_progress(struct text_reader *reader,
                              void (*progress)(void *argument, uint64_t offset, uint64_t size),
                              void *argument);

/* The name for messages: the path, or "standard input". */
const char *text_reader_name(const struct text_reader *reader);

#endif
