/* Reads the records of a capture file, member by member, and skips damage. */
#ifndef FORMATS_CAPTURE_TRACE_MEMBERS_H
#define FORMATS_CAPTURE_TRACE_MEMBERS_H

#include "formats/capture/capture_file.h"
#include "formats/capture/trace_input.h"

struct trace_members;

/*
 * Whether the first size bytes of a file contain a whole member header: then it is a capture file,
 * even with a damaged start.
 */
bool trace_members_recognise(const uint8_t *bytes, size_t size);

/* Reads input, which the caller keeps, up to the first data. NULL and *error on failure. */
struct trace_members *trace_members_new(struct trace_input *input, struct bt_error *error);
void trace_members_free(struct trace_members *members);

/* As source_next. */
int trace_members_next(struct trace_members *members, struct batch *batch, struct bt_error *error);

/* As trace_reader_seek. */
int trace_members_seek(struct trace_members *members, uint64_t record, struct bt_error *error);

/* As trace_reader_seek_tick. */
int trace_members_seek_tick(struct trace_members *members, uint64_t tick, struct bt_error *error);

/* As trace_reader_peek_member. */
int trace_members_peek(struct trace_members *members, struct capture_member *member,
                       struct bt_error *error);

/* As trace_reader_pass_member. */
int trace_members_pass(struct trace_members *members, const struct capture_member *member,
                       struct bt_error *error);

/* As trace_reader_take_member. */
int trace_members_take(struct trace_members *members, const struct capture_member *member,
                       const uint8_t **bytes, struct bt_error *error);

/* As trace_reader_position. */
uint64_t trace_members_position(const struct trace_members *members);

/* As trace_reader_examined. */
uint64_t trace_members_examined(const struct trace_members *members);

/* As trace_reader_watch; with data as trace_reader_watch_all, with judges as
 * trace_reader_watch_unjudged. */
void trace_members_watch(struct trace_members *members,
                         void (*watcher)(void *context, const struct capture_member *member),
                         void *context, bool data, bool judges);

/* As trace_reader_decode_ahead. */
void trace_members_decode_ahead(struct trace_members *members, unsigned threads);

/* As trace_reader_by_blocks. */
void trace_members_by_blocks(struct trace_members *members, struct block_executions *executions);

/* As trace_reader_keep_parts. */
void trace_members_keep_parts(struct trace_members *members);

/* The last header member read, all zero if none; the last closing member read, NULL if none.
 */
const struct capture_info *trace_members_info(const struct trace_members *members);
const struct capture_totals *trace_members_closing(const struct trace_members *members);

#endif
