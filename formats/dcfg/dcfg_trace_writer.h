/*
 * Writes DCFG-trace 1.00 (section 3), in the order that it prescribes. The edges of threads may be
 * interleaved in any way; a process is written when it is complete (edge_encoder.h describes
 * memory).
 */
#ifndef FORMATS_DCFG_DCFG_TRACE_WRITER_H
#define FORMATS_DCFG_DCFG_TRACE_WRITER_H

#include "formats/dcfg/edge_encoder.h"
#include "formats/text/text_writer.h"

struct dcfg_trace_writer;

/* Begins the document on writer, which the caller owns and finishes. NULL: no memory. */
struct dcfg_trace_writer *dcfg_trace_writer_new(struct text_writer *writer, struct bt_error *error);
void dcfg_trace_writer_free(struct dcfg_trace_writer *writer);

/*
 * Begins a process, and ends the one before. Edge ids and instruction counts are those of the graph
 * that the trace belongs to. Errors as edge_encoder_new and text_writer_put.
 */
int dcfg_trace_writer_process(struct dcfg_trace_writer *writer, uint64_t process_id,
                              const struct edge_encoder_settings *settings, struct bt_error *error);

/* The next edges of a thread of the process; thread: its index, from 0. As edge_encoder_put. */
int dcfg_trace_writer_put(struct dcfg_trace_writer *writer, uint32_t thread, const uint32_t *edges,
                          size_t count, struct bt_error *error);

/* As edge_encoder_gap. */
int dcfg_trace_writer_gap(struct dcfg_trace_writer *writer, uint32_t thread, uint64_t instructions,
                          struct bt_error *error);

/* Ends the process and the document. Errors as above. */
int dcfg_trace_writer_finish(struct dcfg_trace_writer *writer, struct bt_error *error);

#endif
