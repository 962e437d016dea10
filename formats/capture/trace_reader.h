/*
 * Reads a trace, whatever it is in: raw BYU records, LP64 records, any of them gzipped, or a
 * capture file; from a file or from standard input. The kind is told by content, never by name.
 */
#ifndef FORMATS_CAPTURE_TRACE_READER_H
#define FORMATS_CAPTURE_TRACE_READER_H

#include "formats/record/source.h"

enum trace_kind { TRACE_RAW, TRACE_GZIP, TRACE_CAPTURE };

struct trace_reader;

/* How what has no header, raw or gzipped, is read. */
enum trace_reading {
    TRACE_LP64 = 1,   /* it holds 24-byte records */
    TRACE_INSIST = 2, /* it is a trace, whatever it looks like */
    TRACE_OPTIONS = 4 /* messages name the options --raw and --lp64 of the command that reads */
};

/*
 * Opens path, "-" for standard input. reading: enum trace_reading, or 0. Input that cannot be a
 * trace (formats/capture/record_judge.h) is BT_IO, here or, where it comes from a pipe, with a
 * later call; an empty file is a trace without records, which a BT_NOTE says once. 0 or a negative
 * bt_code; *reader is closed with source_close(trace_reader_source(reader)).
 */
int trace_reader_open(struct trace_reader **reader, const char *path, unsigned reading,
                      struct bt_error *error);

/* The reader as a source; it owns the reader. Messages name the file and the offset. */
struct source *trace_reader_source(struct trace_reader *reader);

enum trace_kind trace_reader_kind(const struct trace_reader *reader);

/*
 * Goes to a record by its ordinal in the file (0 is the first). Capture files and raw files are
 * hopped over, not read; streams are read. A position behind the end is the end. 0 or a negative
 * bt_code.
 */
int trace_reader_seek(struct trace_reader *reader, uint64_t record, struct bt_error *error);

/* The ordinal in the file of the record that comes next; at the end, how many records there are. */
uint64_t trace_reader_position(const struct trace_reader *reader);

/* Whether the end has been reached without a byte, decompressed; a note has said so. */
bool trace_reader_empty(const struct trace_reader *reader);

/* The closing member, once source_next has returned 0; NULL if there is none. */
const struct capture_totals *trace_reader_closing(const struct trace_reader *reader);

/*
 * Has watcher called for each header and closing member as it is met, before anything behind it is
 * returned: files may be put one behind the other, and these tell where one ends and the next
 * begins. trace_reader_offset is then where the member begins. Traces of other kinds have none.
 */
struct capture_member;
typedef void trace_watcher(void *context, const struct capture_member *member);
void trace_reader_watch(struct trace_reader *reader, trace_watcher *watcher, void *context);

/* The same, and has watcher called for each good data member too, as it is in the file, with all of
 * its records in batch.records (valid during the call). */
void trace_reader_watch_all(struct trace_reader *reader, trace_watcher *watcher, void *context);

/* Batches of a capture do not end at chosen gaps from now on: its records are marked, and counted
 * in `parts`. */
void trace_reader_keep_parts(struct trace_reader *reader);

/*
 * Bytes of a capture's members that were checked, and bytes of records that were decompressed, so
 * far: whatever the file holds, at most a constant times its size and what its good members hold.
 */
uint64_t trace_reader_examined(const struct trace_reader *reader);

/* Bytes of the file consumed so far, and its size (0 where it has none: a pipe). */
uint64_t trace_reader_offset(const struct trace_reader *reader);
uint64_t trace_reader_size(const struct trace_reader *reader);

#endif
