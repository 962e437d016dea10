/*
 * A table of other programs' trace formats, with their readers and writers. doc/formats.md has
 * their layouts and limits.
 */
#ifndef FORMATS_FOREIGN_TRACE_FORMAT_H
#define FORMATS_FOREIGN_TRACE_FORMAT_H

#include "formats/foreign/foreign_loss.h"
#include "formats/foreign/foreign_options.h"
#include "formats/record/sink.h"
#include "formats/record/source.h"

#define TRACE_FORMAT_NAMES "byu byu-lp64 csv npy din lackey champsim gem5 oracle libcachesim-csv"

/* Members of struct foreign_options that only some formats use. */
enum trace_format_choice {
    TRACE_FORMAT_SIZES = 1,    /* sizes: the format then holds them */
    TRACE_FORMAT_TIME_UNIT = 2 /* time_unit */
};

/* What a format holds of a trace. */
enum trace_format_content {
    TRACE_FORMAT_KIND = 1,      /* fetches, reads and writes of memory */
    TRACE_FORMAT_INTENT = 2,    /* reads with intent to write as such */
    TRACE_FORMAT_ALL_TYPES = 4, /* I/O, deferred replies, interrupts, special cycles */
    TRACE_FORMAT_SIZE = 8,      /* of requests */
    TRACE_FORMAT_ATTRIBUTE = 16,
    TRACE_FORMAT_PROCESSOR = 32,
    TRACE_FORMAT_TIME = 64,
    TRACE_FORMAT_CLOCK = 128,  /* the unit of time */
    TRACE_FORMAT_LOSS = 256,   /* lost requests, gaps, signals */
    TRACE_FORMAT_RECORD = 127, /* all fields of a record */
    TRACE_FORMAT_CAPTURE = 511 /* what a capture file holds */
};
#define TRACE_FORMAT_CONTENTS 9u

struct trace_format {
    const char *name;
    const char *summary;         /* "Dinero III and IV, text" */
    const char *const *suffixes; /* of file names, with the dot; terminated by NULL */
    unsigned holds;              /* enum trace_format_content */
    const struct foreign_decoder
        *decoder; /* NULL: formats/capture/trace_reader.h reads the format */
    const struct foreign_encoder *encoder; /* NULL: the format cannot be written */
    unsigned choices;                      /* enum trace_format_choice: the options that it uses */
};

/* For tests: all formats in the order of doc/formats.md; NULL if index is past the last one. */
const struct trace_format *trace_format_at(size_t index);

/* The format of that name; NULL and *error, which lists the names, if there is none. */
const struct trace_format *trace_format_find(const char *name, struct bt_error *error);

/* The format of a path's suffix, ignoring a final .gz, .bz2, .xz or .zst; NULL for none.
 */
const struct trace_format *trace_format_of_path(const char *path);

/*
 * Detects the format of a file: by its content, else by its suffix, else BYU. Does not read the
 * content of a pipe or standard input. NULL and *error if the file cannot be opened.
 */
const struct trace_format *trace_format_detect(const char *path, struct bt_error *error);

/*
 * Opens path, "-" for standard input, plain or compressed with gzip, bzip2 or xz. name NULL: as
 * detected by trace_format_detect. *options is copied. 0 or a negative bt_code.
 *
 * Data that a record cannot hold (such as addresses above 4 GiB) is left out and counted, and
 * reported as BT_NOTE at the end; corruption is BT_DATA with the line or the offset, and reading
 * continues after it.
 */
int trace_format_open(struct source **source, const char *name, const char *path,
                      const struct foreign_options *options, struct bt_error *error);

/* The offset of a source of trace_format_open in its file, and the file's size (0 for a pipe), in
 * bytes as stored: for progress. */
uint64_t trace_format_offset(struct source *source);
uint64_t trace_format_size(struct source *source);

/*
 * Begins path in a format that can be written; "-" is standard output. The file is complete, and
 * gets its name, with sink_close; trace_format_discard instead removes what was written. loss (may
 * be NULL, must outlive the sink) counts what the format could not hold. 0 or a negative bt_code.
 */
int trace_format_create(struct sink **sink, const struct trace_format *format, const char *path,
                        const struct foreign_options *options, struct foreign_loss *loss,
                        struct bt_error *error);
void trace_format_discard(struct sink *sink);

#endif
