/*
 * Reads a trace in any container: raw BYU records, LP64 records, either of them gzipped, or a
 * capture file; from a file or from standard input. The content determines the kind, never the
 * name.
 */
#ifndef FORMATS_CAPTURE_TRACE_READER_H
#define FORMATS_CAPTURE_TRACE_READER_H

#include "formats/record/source.h"

enum trace_kind { TRACE_RAW, TRACE_GZIP, TRACE_CAPTURE };

struct trace_reader;

/* How data without a header, raw or gzipped, is read. */
enum trace_reading {
    TRACE_LP64 = 1,   /* it holds 24-byte records */
    TRACE_INSIST = 2, /* it is a trace, without a check for plausibility */
    TRACE_OPTIONS = 4 /* messages name the options --raw and --lp64 of the command that reads */
};

/*
 * Opens path, "-" for standard input. reading: enum trace_reading, or 0. Input that cannot be a
 * trace (formats/capture/record_judge.h) is BT_IO, here or, from a pipe, in a later call; an empty
 * file is a trace without records, reported once as BT_NOTE. 0 or a negative bt_code; the caller
 * closes *reader with source_close(trace_reader_source(reader)).
 */
int trace_reader_open(struct trace_reader **reader, const char *path, unsigned reading,
                      struct bt_error *error);

/* The reader as a source; it owns the reader. Messages name the file and the offset. */
struct source *trace_reader_source(struct trace_reader *reader);

enum trace_kind trace_reader_kind(const struct trace_reader *reader);

/*
 * Seeks to a record by its ordinal in the file (0 is the first). Capture files and raw files are
 * skipped without reading; streams are read. A position after the end is the end. 0 or a negative
 * bt_code.
 */
int trace_reader_seek(struct trace_reader *reader, uint64_t record, struct bt_error *error);

/*
 * Before the first record: passes blocks of a capture whose records all have an earlier tick,
 * without reading them. Other traces stay at their begin. 0 or a negative bt_code.
 */
int trace_reader_seek_tick(struct trace_reader *reader, uint64_t tick, struct bt_error *error);

/*
 * Of a capture, when source_next has returned all records of the members before: describes the next
 * data member, without its records; headers and closing members before it go to the watcher. The
 * caller then passes the member, takes it, or reads its records with source_next. 1; else as
 * source_next.
 */
struct capture_member;
int trace_reader_peek_member(struct trace_reader *reader, struct capture_member *member,
                             struct bt_error *error);

/* Passes the member just described, in a file without reading it. 0 or BT_IO. */
int trace_reader_pass_member(struct trace_reader *reader, const struct capture_member *member,
                             struct bt_error *error);

/* Sets *bytes to the member just described, all member_bytes of it, valid until the next call; its
 * records are not decompressed, only their CRC-32C is checked. 1; 0 if it is damaged: source_next
 * then reports that; BT_DATA or BT_IO. */
int trace_reader_take_member(struct trace_reader *reader, const struct capture_member *member,
                             const uint8_t **bytes, struct bt_error *error);

/* The ordinal in the file of the next record; at the end, the number of records. */
uint64_t trace_reader_position(const struct trace_reader *reader);

/* Whether the input ended without a byte, after decompression; a note has reported it. */
bool trace_reader_empty(const struct trace_reader *reader);

/* The closing member, once source_next has returned 0; NULL if there is none. */
const struct capture_totals *trace_reader_closing(const struct trace_reader *reader);

/*
 * Makes the reader call watcher for each header and closing member, before it returns later data:
 * in concatenated files they mark where one ends and the next begins. During the call,
 * trace_reader_offset is the member's start. Traces of other kinds have no members.
 */
typedef void trace_watcher(void *context, const struct capture_member *member);
void trace_reader_watch(struct trace_reader *reader, trace_watcher *watcher, void *context);

/* The same, also for each valid data member as it is in the file, with all of its records in
 * batch.records (valid during the call). */
void trace_reader_watch_all(struct trace_reader *reader, trace_watcher *watcher, void *context);

/* The same, also for data members whose ticks are not those of their records, or begin before the
 * previous member ends, which the reader leaves out as damaged otherwise: the watcher judges. */
void trace_reader_watch_unjudged(struct trace_reader *reader, trace_watcher *watcher,
                                 void *context);

/* Lets up to `threads` threads decompress blocks of a capture ahead of the reader, as soon as
 * blocks are read in sequence. 0, as at first: none. Results are the same. */
void trace_reader_decode_ahead(struct trace_reader *reader, unsigned threads);

/*
 * From the next call of source_next on, whole members of a capture that are coded by blocks are
 * decoded to executions, which may be others at each call; a batch of them has all values but its
 * records, and may have more than its capacity. Executions without steps: the batch has records, as
 * it does wherever executions cannot stand for them. NULL, as at first: always.
 */
struct block_executions;
void trace_reader_by_blocks(struct trace_reader *reader, struct block_executions *executions);

/* Makes batches continue across chosen gaps and events: records are marked; gaps are counted in
 * `parts`, and `events` is set. */
void trace_reader_keep_parts(struct trace_reader *reader);

/*
 * For tests: bytes of a capture's members that were checked, plus bytes of records that were
 * decompressed, so far: for any file at most a constant times the size of the file and of its valid
 * members' records.
 */
uint64_t trace_reader_examined(const struct trace_reader *reader);

/* Bytes of the file consumed so far, and its size (0 for a pipe). */
uint64_t trace_reader_offset(const struct trace_reader *reader);
uint64_t trace_reader_size(const struct trace_reader *reader);

#endif
