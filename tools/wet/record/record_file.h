/* Where a recording goes: a WET file, written as it grows. */
#ifndef TOOLS_WET_RECORD_RECORD_FILE_H
#define TOOLS_WET_RECORD_RECORD_FILE_H

#include "tools/wet/record/recorder.h"

#include <stdio.h>

/* Zeroed is none. */
struct record_file {
    FILE *stream; /* own_stream_open(); closed by record_file_clear() */
    struct wet_writer *writer;
    uint64_t unclosed; /* bytes before the closing member; 0: it was not written */
    uint64_t dropped;  /* bytes of closing members that were replaced */
};

/* Empties the file, and writes the header. 0 or a negative code; clear it in either case. */
int record_file_begin(struct record_file *file, const char *path, const struct wet_header *header,
                      struct bt_error *error);
void record_file_clear(struct record_file *file);

/* The functions of struct record_sink; the context is the file. Another program may replace ours
 * at once after the closing member. If it does not, the next member takes its place, in a file that
 * is not regular (a pipe) follows it. */
int record_file_put(void *context, struct wet_code *code, const struct wet_chunk *chunk,
                    uint64_t instructions, struct bt_error *error);
int record_file_close(void *context, const struct wet_closing *closing, struct bt_error *error);

/* Bytes of the file. */
uint64_t record_file_bytes(const struct record_file *file);

#endif
