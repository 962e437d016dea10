/* Records without a container: raw BYU files and gzipped ones, of 12 or 24 bytes each. */
#ifndef FORMATS_CAPTURE_TRACE_RECORDS_H
#define FORMATS_CAPTURE_TRACE_RECORDS_H

#include "formats/capture/trace_input.h"
#include "formats/record/batch.h"

struct trace_records;

/*
 * Reads input, which the caller keeps. reading: enum trace_reading. Without TRACE_INSIST, bytes
 * that cannot be a trace are rejected: of a regular file here, of a pipe as they arrive. NULL and
 * *error on failure.
 */
struct trace_records *trace_records_new(struct trace_input *input, bool gzip, unsigned reading,
                                        struct bt_error *error);
void trace_records_free(struct trace_records *records);

/* As source_next. Ticks count from the first record; its own time counts unless it is saturated. */
int trace_records_next(struct trace_records *records, struct batch *batch, struct bt_error *error);

/* As trace_reader_seek. After a seek in a raw file, ticks count from the record sought. */
int trace_records_seek(struct trace_records *records, uint64_t record, struct bt_error *error);

/* As trace_reader_position. */
uint64_t trace_records_position(const struct trace_records *records);

/* As trace_reader_empty. */
bool trace_records_empty(const struct trace_records *records);

#endif
