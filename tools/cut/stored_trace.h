/*
 * The files of one capture, or a trace of another format, read in order with the ticks and indices
 * that they store. Requests that are missing, and those that only a closing member counts as lost,
 * become losses of the member after them.
 */
#ifndef TOOLS_CUT_STORED_TRACE_H
#define TOOLS_CUT_STORED_TRACE_H

#include "formats/record/capture_info.h"
#include "tools/input/input_report.h"
#include "tools/input/input_trace.h"

struct stored_trace;

struct stored_trace_settings {
    struct input_trace_settings trace;
    bool keep_parts;             /* batches continue across chosen gaps and events, with marks */
    struct input_report *report; /* the caller's: gets corruption and notes */
};

/* What stored_trace_peek has found. */
enum stored_next {
    STORED_END,    /* nothing more */
    STORED_MEMBER, /* a data member, described without its records */
    STORED_RECORDS /* records without members, or the rest of a member */
};

/* The most records that a batch of stored_trace_next needs room for to get whole members. */
#define STORED_RECORDS_MAX (1u << 20)

/*
 * Opens count files of one capture; paths must outlive the trace. NULL and *error: BT_USAGE if they
 * are of several captures, or a negative code.
 */
struct stored_trace *stored_trace_open(int count, char **paths,
                                       const struct stored_trace_settings *settings,
                                       struct bt_error *error);
void stored_trace_free(struct stored_trace *trace);

/* The header of the first file; all zero: none. */
const struct capture_info *stored_trace_info(const struct stored_trace *trace);

/* The version of the member that was peeked. */
unsigned stored_trace_version(const struct stored_trace *trace);

/* The path of the first file, for messages. */
const char *stored_trace_name(const struct stored_trace *trace);

/* Looks at what comes next: enum stored_next, or a negative code. *description, with
 * STORED_MEMBER: the member without its records. */
int stored_trace_peek(struct stored_trace *trace, struct batch *description,
                      struct bt_error *error);

/* Passes the member without reading its records. 0 or a negative code. */
int stored_trace_pass(struct stored_trace *trace, struct bt_error *error);

/* A member as it is stored. */
struct stored_member {
    const uint8_t *bytes; /* valid until the next call */
    size_t size;
    bool restated; /* its description has more losses than the bytes have */
};

/* Takes the member without decompressing its records. 1; 0: look again; 2: call stored_trace_next,
 * which finds out what is damaged; or a negative code. */
int stored_trace_take(struct stored_trace *trace, struct stored_member *member,
                      struct bt_error *error);

/* Reads records into the batch, which has room. 1; 0 if there are none, look again; or a negative
 * code. */
int stored_trace_next(struct stored_trace *trace, struct batch *batch, struct bt_error *error);

/* Whether records of the member that is being read remain. */
bool stored_trace_in_member(const struct stored_trace *trace);

/* The index after the last record or loss so far, and the tick of the last record. */
uint64_t stored_trace_index(const struct stored_trace *trace);
uint64_t stored_trace_tick(const struct stored_trace *trace);

/* After the end: requests lost after the last member. */
const struct loss *stored_trace_lost_after(const struct stored_trace *trace);

/* Whether it is known what the trace has lost up to here or, if `ended`, up to its end. If not,
 * says why in message, of size bytes. */
bool stored_trace_tells_losses(const struct stored_trace *trace, bool ended, char *message,
                               size_t size);

/* The last closing member so far; NULL: none, or another file has begun. */
const struct capture_totals *stored_trace_closing(const struct stored_trace *trace);

#endif
