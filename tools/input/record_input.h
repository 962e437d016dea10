/*
 * The reader of records: traces of any format, of one file or several, as one stream of batches.
 * A separate thread reads and decompresses ahead of the caller.
 */
#ifndef TOOLS_INPUT_RECORD_INPUT_H
#define TOOLS_INPUT_RECORD_INPUT_H

#include "formats/record/capture_info.h"
#include "formats/record/sink.h"
#include "formats/text/json_put.h"
#include "tools/input/captures.h"
#include "tools/input/input_report.h"
#include "tools/input/input_trace.h"
#include "tools/input/record_selection.h"
#include "tools/symbols/module_lists.h"

#include <stddef.h>

struct record_input;

struct record_input_settings {
    struct input_trace_settings trace;
    bool concatenate; /* accept several traces and read them as one */
    bool as_stored;   /* read files in the order given, with their stored ticks and indexes, even
                         if they belong to several traces */
    bool by_blocks;   /* the caller takes executions (record_input_executions) where it can */
    bool unthreaded;  /* one file, opened by record_input_open and read as stored in the calling
                         thread; record_input_trace gives access to its reader */
    bool headers;     /* record_input_next also returns RECORD_INPUT_FILE */
    bool silent;      /* report nothing: another process reads the same files */
    bool again;       /* report only progress: the files have been read before */
    bool hold_damage; /* do not report corruption, only raise the exit status: the caller will
                         read everything again */
    const char *gap_note; /* effect of chosen gaps on the caller's results, reported at the end if
                             there are any; NULL: the caller reports them */
    bool quiet_output;    /* the command prints nothing to standard output while it reads */
    struct input_report *report;    /* the caller begins and ends it; NULL: a private one */
    struct time_range time;         /* deliver only records of this time, */
    uint64_t first;                 /* and of those skip so many, over all traces, */
    uint64_t count;                 /* take at most so many (UINT64_MAX: all), */
    const char *filter;             /* and deliver those that match; NULL: all */
    struct module_settings modules; /* programs whose symbols the filter names; if none are given,
                                       those listed beside the captures */
    bool keep_ticks; /* ticks count from the first record even if it is skipped: skipped records are
                        read, not seeked over */
};

/* Option rows of the input; member is a struct record_input_settings, field its struct time_range,
 * or another one. */
#define RECORD_INPUT_FILES_OPTIONS(type, member)                                                   \
    INPUT_TRACE_OPTIONS(type, member.trace), CAPTURES_CONCATENATE_OPTION(type, member.concatenate)
#define RECORD_INPUT_TIME_OPTION(type, field)                                                      \
    {                                                                                              \
        OPTION_CALL, 0, "time", "A..B", "only this time of the trace: 1s..2s, 10ms.., ..1Mticks",  \
            offsetof(type, field), record_input_take_time                                          \
    }
#define RECORD_INPUT_SELECTION_OPTIONS(type, member)                                               \
    {OPTION_CALL,                                                                                  \
     'f',                                                                                          \
     "filter",                                                                                     \
     "EXPR",                                                                                       \
     "only matching records: 'type=FETCH and processor=0'",                                        \
     offsetof(type, member.filter),                                                                \
     record_input_take_filter},                                                                    \
        RECORD_INPUT_TIME_OPTION(type, member.time)
#define RECORD_INPUT_OPTIONS(type, member)                                                         \
    RECORD_INPUT_FILES_OPTIONS(type, member), RECORD_INPUT_SELECTION_OPTIONS(type, member)

/* ", only 5ms..10ms, only type=FETCH": what the options leave out, as a part of a sentence; "" for
 * nothing. Returns text. */
#define RECORD_INPUT_ONLY_BYTES 400u
char *record_input_only(char text[RECORD_INPUT_ONLY_BYTES],
                        const struct record_input_settings *settings);

/* The members "time_range" and "filter" of a JSON object, if given. */
void record_input_json(struct json_put *json, const struct record_input_settings *settings);

/* Take the options; field is a const char *, or a struct time_range. */
int record_input_take_filter(void *field, const char *argument, struct bt_error *error);
int record_input_take_time(void *field, const char *argument, struct bt_error *error);

/* The files to read: the operands, or standard input if there are none. */
struct input_paths {
    int count;
    char **paths; /* the caller's, or `only` */
    char *only[1];
    char dash[2];
};
void input_paths_take(struct input_paths *paths, int count, char **operands);

/*
 * Opens the trace; "-" is standard input, which is also read if count is 0. Sorts the files of a
 * capture. Several traces are BT_USAGE unless settings->concatenate: here, or from
 * record_input_next if a single file or pipe contains them. The paths must outlive the input. 0 or
 * a negative code.
 */
int record_input_open(struct record_input **input, int count, char **paths,
                      const struct record_input_settings *settings, struct bt_error *error);

#define RECORD_INPUT_FILE 2

/*
 * Returns 1 with the next batch, valid until the next call; 0 at the end of the last trace; a
 * negative code if a trace cannot be read further; with settings->headers, RECORD_INPUT_FILE before
 * the records of each file, whose header record_input_info then returns. Ticks continue from trace
 * to trace: the first tick of a trace is the last one of the previous trace. Corruption is reported
 * on standard error and raises the exit status.
 */
int record_input_next(struct record_input *input, const struct batch **batch,
                      struct bt_error *error);

/*
 * With settings->by_blocks: what the last batch has instead of records, valid as it is; NULL: it
 * has records, as always where records are selected, skipped or limited.
 */
struct block_executions;
const struct block_executions *record_input_executions(const struct record_input *input);

/* The header of the last batch's capture; NULL: none. Valid until the next call of
 * record_input_next. */
const struct capture_info *record_input_info(const struct record_input *input);

/*
 * What the last batch stands for, with a filter or a time: the ticks from the first to the last of
 * the records that were examined for it. At the ends of the time the ends themselves count as
 * examined, up to the end of the trace. `end` is that of the time, UINT64_MAX without one.
 */
struct record_input_span {
    uint64_t first, last, end;
};
struct record_input_span record_input_span(const struct record_input *input);

/* Records still to be skipped; valid after record_input_next has returned 0 or a negative code. */
uint64_t record_input_to_skip(const struct record_input *input);

/* With settings->unthreaded: the open trace, also after its end. */
const struct input_trace *record_input_trace(const struct record_input *input);

/* The name of a path for messages: "standard input" for "-". */
const char *record_input_name(const char *path);

/* Puts all records into sink, which stays open. 0, or the error of the sink or a trace. */
int record_input_run(struct record_input *input, struct sink *sink, struct bt_error *error);

/* Begins a step after the records are read, as progress_step(), until the input is closed. */
void record_input_step(struct record_input *input, const char *step);

/* Closes the input, at its end or before. Returns the exit status: 0, or 1 if it was corrupt. */
int record_input_close(struct record_input *input);

/*
 * Counts the records of all traces. Seeks in captures and raw records, reads other formats to their
 * end. Standard input is BT_USAGE. 0 or a negative code.
 */
int record_input_count(int count, char **paths, const struct record_input_settings *settings,
                       uint64_t *records, struct bt_error *error);

#endif
