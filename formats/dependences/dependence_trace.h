/*
 * The stream of dependences as they are found, one event a line (doc/dependences-file.md):
 *
 *     enter FILE FUNCTION
 *     leave FUNCTION
 *     dep SINK SOURCE TOP_SINK TOP_SOURCE PSEUDO_SINK PSEUDO_SOURCE FROZEN_SINK FROZEN_SOURCE
 *
 * Names and places are tokens here: text without blanks and control characters, which are escaped.
 * A front end makes one token for each place, once.
 */
#ifndef FORMATS_DEPENDENCES_DEPENDENCE_TRACE_H
#define FORMATS_DEPENDENCES_DEPENDENCE_TRACE_H

#include "formats/dependences/dependences.h"
#include "formats/text/text_reader.h"

#include <stdio.h>

#define DEPENDENCE_TOKEN_BYTES (4 * DEPENDENCES_NAME_BYTES + 16)

enum dependence_event_kind { DEPENDENCE_ENTER, DEPENDENCE_LEAVE, DEPENDENCE_FOUND };

struct NAMED_FIELDS dependence_event {
    enum dependence_event_kind kind;
    const char *file;          /* token; of DEPENDENCE_ENTER */
    const char *function;      /* token; of DEPENDENCE_ENTER and DEPENDENCE_LEAVE */
    const char *sink, *source; /* tokens; these and below of DEPENDENCE_FOUND */
    const char *top_sink, *top_source;
    uint64_t pseudo_sink, pseudo_source; /* number of references up to it */
    uint64_t frozen_sink, frozen_source; /* of these, of DETAIL functions */
};

/* The token of a name; "?" for NULL or "", which are unknown. Longer names than
 * DEPENDENCES_NAME_BYTES - 1 are cut off. Returns token. */
const char *dependence_trace_name(const char *name, char token[DEPENDENCE_TOKEN_BYTES]);

/* The token of a place: FILE:LINE; MODULE+0xOFFSET:0 or 0xADDRESS:0 without a file; ?:0 if nothing
 * is known, or place is NULL. Returns token. */
const char *dependence_trace_place(const struct dependence_place *place,
                                   char token[DEPENDENCE_TOKEN_BYTES]);

/* Writes a line. The caller checks the stream for errors. */
void dependence_trace_put(const struct dependence_event *event, FILE *out);

struct dependence_trace_reader;

/* Reads from reader, which the caller owns and must keep. NULL and *error without memory. */
struct dependence_trace_reader *dependence_trace_reader_new(struct text_reader *reader,
                                                            struct bt_error *error);
void dependence_trace_reader_free(struct dependence_trace_reader *reader);

/* 1 and the next event, whose tokens are valid until the next call; 0 at the end; BT_DATA for a
 * line that is none, after which the next call continues; or an error of text_reader_read(), which
 * is final (dependence_trace_reader_failed()). */
int dependence_trace_reader_next(struct dependence_trace_reader *reader,
                                 struct dependence_event *event, struct bt_error *error);
bool dependence_trace_reader_failed(const struct dependence_trace_reader *reader);

/* Number of the line read last, from 1. */
uint64_t dependence_trace_reader_line(const struct dependence_trace_reader *reader);

#endif
