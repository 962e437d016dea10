/*
 * The reader of records: traces of any format, of one file or several, as one stream of batches.
 * A thread reads and decompresses ahead, so that the caller has a processor to itself.
 */
#ifndef TOOLS_INPUT_RECORD_INPUT_H
#define TOOLS_INPUT_RECORD_INPUT_H

#include "formats/record/capture_info.h"
#include "formats/record/sink.h"
#include "tools/input/captures.h"
#include "tools/input/input_report.h"
#include "tools/input/input_trace.h"

#include <stddef.h>

struct record_input;

struct record_input_settings {
    struct input_trace_settings trace;
    bool concatenate;     /* several traces are read as one, one after the other */
    bool as_stored;       /* files are read in the order given, even if they belong to several
                             traces, with the ticks and indexes that they hold */
    bool unthreaded;      /* one file, opened by record_input_open and read as stored in the calling
                             thread; record_input_trace gives access to its reader */
    bool headers;         /* record_input_next returns RECORD_INPUT_FILE as well */
    bool silent;          /* nothing is reported: another process reads the same files */
    bool again;           /* nothing is reported but progress: the files have been read before */
    bool hold_damage;     /* corruption is not reported but raises the exit status: the caller will
                             read everything again */
    const char *gap_note; /* what chosen gaps mean to the caller, reported at the end if there are
                             any; NULL: the caller reports them */
    bool quiet_output;    /* standard output gets nothing while records are read */
    struct input_report *report; /* the caller's, begun and ended by it; NULL: a private one */
    uint64_t first;              /* records to skip, of all traces together */
    uint64_t count;              /* records to deliver at most after them; UINT64_MAX: all */
    bool keep_ticks; /* ticks count from the first record of all also after records that were
                        skipped: these are then read, not hopped over */
};

/* The rows of the input's options, for a command's table of options (tools/common/options.h): its
 * settings have that type and a struct record_input_settings as that member. */
#define RECORD_INPUT_OPTIONS(type, member)                                                         \
    INPUT_TRACE_OPTIONS(type, member.trace), CAPTURES_CONCATENATE_OPTION(type, member.concatenate)

/* The files to read: the operands, or standard input if there are none. */
struct input_paths {
    int count;
    char **paths; /* the caller's, or `only` */
    char *only[1];
    char dash[2];
};
void input_paths_take(struct input_paths *paths, int count, char **operands);

/*
 * Opens the trace; "-" is standard input, which is also read if count is 0. The files of a capture
 * are put in order; several traces are refused with BT_USAGE, here or, if a pipe or a file holds
 * them, by record_input_next, unless settings->concatenate. The paths stay the caller's and must
 * outlive the input. 0 or a negative code.
 */
int record_input_open(struct record_input **input, int count, char **paths,
                      const struct record_input_settings *settings, struct bt_error *error);

#define RECORD_INPUT_FILE 2

/*
 * The next batch, valid until the next call: 1; 0 at the end of the last trace; a negative code if
 * a trace cannot be read further; with settings->headers, RECORD_INPUT_FILE before the records of
 * each file, whose header record_input_info then returns. Ticks continue from trace to trace: the
 * first tick of another capture is the last one of the trace before. Corruption is reported on
 * standard error and raises the exit status.
 */
int record_input_next(struct record_input *input, const struct batch **batch,
                      struct bt_error *error);

/* The header of the capture that the last batch belongs to: clock, board. NULL if it has none.
 * Valid until the next call of record_input_next. */
const struct capture_info *record_input_info(const struct record_input *input);

/* Records still to be skipped; valid after record_input_next has returned 0 or a negative code. */
uint64_t record_input_to_skip(const struct record_input *input);

/* With settings->unthreaded: the open trace, also after its end. */
const struct input_trace *record_input_trace(const struct record_input *input);

/* The name of a path for messages: "standard input" for "-". */
const char *record_input_name(const char *path);

/* Puts all records into sink, which stays open. 0, or why the sink or a trace failed. */
int record_input_run(struct record_input *input, struct sink *sink, struct bt_error *error);

/* Closes it, early or at its end. Returns the exit status: 0, or 1 if something was corrupt. */
int record_input_close(struct record_input *input);

/*
 * How many records the traces hold together: capture files and raw records are hopped over, others
 * are read to their end. Not for standard input. 0 or a negative code.
 */
int record_input_count(int count, char **paths, const struct record_input_settings *settings,
                       uint64_t *records, struct bt_error *error);

#endif
