/*
 * Text from a file, a pipe or memory, plain or compressed with gzip, bzip2 or xz, detected by
 * content. Concatenated compressed members are one text, as zcat, bzcat and xzcat read them.
 */
#ifndef FORMATS_TEXT_TEXT_READER_H
#define FORMATS_TEXT_TEXT_READER_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct text_reader;

/* Opens path, "-" for standard input (which is not closed). NULL and *error on failure. */
struct text_reader *text_reader_open(const char *path, struct bt_error *error);

/* Reads size bytes at bytes, which the caller owns and must keep. The name is for messages. */
struct text_reader *text_reader_from_memory(const void *bytes, size_t size, const char *name,
                                            struct bt_error *error);

void text_reader_close(struct text_reader *reader);

/*
 * Reads up to room bytes of text (at least one, unless the text ends); *got is their number, 0 at
 * the end. Corrupt or truncated compressed data is BT_DATA with the file's offset, after all text
 * before it was delivered. Memory is bounded, however far the input expands. 0, BT_DATA, BT_IO or
 * BT_MEMORY.
 */
int text_reader_read(struct text_reader *reader, char *text, size_t room, size_t *got,
                     struct bt_error *error);

/* The first bytes of the text (fewer than room only if the text is shorter, or corrupt), which
 * text_reader_read() then reads as well: before the first read only. Errors as above. */
#define TEXT_READER_PEEK_MAX 64u
int text_reader_peek(struct text_reader *reader, char *text, size_t room, size_t *got,
                     struct bt_error *error);

/* The current offset in the file, and its size (0 for a pipe), in bytes as stored: for progress. */
uint64_t text_reader_offset(const struct text_reader *reader);
uint64_t text_reader_size(const struct text_reader *reader);

/* Calls progress with argument between reads of the file. */
void text_reader_set_progress(struct text_reader *reader,
                              void (*progress)(void *argument, uint64_t offset, uint64_t size),
                              void *argument);

/* The name for messages: the path, or "standard input". */
const char *text_reader_name(const struct text_reader *reader);

#endif
