/* Opens one trace of any format: a capture, BYU records, or another program's trace. */
#ifndef TOOLS_INPUT_INPUT_TRACE_H
#define TOOLS_INPUT_INPUT_TRACE_H

#include "formats/capture/trace_reader.h"
#include "formats/foreign/foreign_options.h"
#include "formats/foreign/trace_format.h"

#include <stdbool.h>

/* How records without a header are read: part of a command's settings. */
struct byu_reading {
    bool lp64; /* records have 24 bytes */
    bool raw;  /* read the file as records even if its content does not look like records */
};

/* Option rows (tools/common/options.h); member is a struct byu_reading. */
#define BYU_READING_OPTIONS(type, member)                                                          \
    {OPTION_FLAG,                                                                                  \
     0,                                                                                            \
     "lp64",                                                                                       \
     NULL,                                                                                         \
     "raw records have 24 bytes, as 64-bit programs write them",                                   \
     offsetof(type, member.lp64),                                                                  \
     NULL},                                                                                        \
    {                                                                                              \
        OPTION_FLAG, 0, "raw", NULL,                                                               \
            "read files without header as raw records, whatever their content",                    \
            offsetof(type, member.raw), NULL                                                       \
    }

struct input_trace_settings {
    const char *from; /* name of the format (formats/foreign/trace_format.h); NULL: detected from
                         content or file name, BYU records if lp64 or raw is set */
    struct byu_reading reading;     /* a BYU format in `from` implies raw */
    bool undivided;                 /* other threads read, too: none decompresses ahead */
    bool byu_only;                  /* captures and BYU records only; `from` is ignored */
    struct foreign_options foreign; /* for other programs' formats */
};

/* Option rows of the format and the reading; member is a struct input_trace_settings. */
#define INPUT_TRACE_OPTIONS(type, member)                                                          \
    {OPTION_TEXT,                                                                                  \
     0,                                                                                            \
     "from",                                                                                       \
     "FORMAT " TRACE_FORMAT_NAMES,                                                                 \
     "format of the input (default: by content or name)",                                          \
     offsetof(type, member.from),                                                                  \
     NULL},                                                                                        \
        BYU_READING_OPTIONS(type, member.reading)

struct input_trace {
    struct source *source;       /* NULL while no trace is open */
    struct trace_reader *reader; /* of the same trace; NULL in another program's format */
};

/* Checks that `from` names a format and fits `reading`. 0 or BT_USAGE. */
int input_trace_check(const struct input_trace_settings *settings, struct bt_error *error);

/* Opens path, "-" for standard input. 0 or a negative code. */
int input_trace_open(struct input_trace *input, const char *path,
                     const struct input_trace_settings *settings, struct bt_error *error);
void input_trace_close(struct input_trace *input);

/* Whether the trace consists of blocks, as a capture does. */
bool input_trace_has_blocks(const struct input_trace *input);

/* Bytes of the file consumed so far, and its size (0 for a pipe), as stored. */
uint64_t input_trace_offset(const struct input_trace *input);
uint64_t input_trace_size(const struct input_trace *input);

#endif
