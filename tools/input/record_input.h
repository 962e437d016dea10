/*
 * Records for a study: a trace of any kind, of one file or several, as one stream. A thread of its
 * own reads and decompresses ahead, so that the study has a processor to itself.
 */
#ifndef TOOLS_INPUT_RECORD_INPUT_H
#define TOOLS_INPUT_RECORD_INPUT_H

#include "formats/foreign/foreign_options.h"
#include "formats/record/capture_info.h"
#include "formats/record/sink.h"
#include "tools/input/captures.h"
#include "tools/input/transfer.h"

#include <stddef.h>

struct record_input;

struct record_input_settings {
    const char *from; /* the traces' format, by its name in formats/foreign/trace_format.h; NULL:
                         content or name tells */
    struct transfer_reading reading; /* naming BYU records in `from` insists on them, too */
    bool concatenate;                /* several traces are read as one, one after the other */
    bool silent;      /* nothing is told on standard error: another process reads the same */
    bool hold_damage; /* damage is not told, but raises the exit status: all will be read again */
    const char *gap_note; /* what chosen gaps mean to the study, told at the end where there are
                             any; NULL: it tells that itself */
    bool quiet_output;    /* standard output gets nothing while records are read */
    uint64_t first;       /* records to skip, of all traces together */
    uint64_t count;       /* records to deliver at most behind them; UINT64_MAX: all */
    bool keep_ticks;      /* ticks count from the first record of all also behind records that were
                             skipped: these are then read, not hopped over */
    struct foreign_options foreign; /* what can be chosen of other programs' formats */
};

/* The rows of what is read, for the table of a command's options (tools/common/options.h): its
 * settings are of that type, and have these as a member. */
#define RECORD_INPUT_OPTIONS(type, member)                                                         \
    {OPTION_TEXT,                                                                                  \
     0,                                                                                            \
     "from",                                                                                       \
     "FORMAT",                                                                                     \
     "what is read; without it content or name tells",                                             \
     offsetof(type, member.from),                                                                  \
     NULL},                                                                                        \
        TRANSFER_READING_OPTIONS(type, member.reading),                                            \
        CAPTURES_CONCATENATE_OPTION(type, member.concatenate)

/*
 * Opens the trace, "-" being standard input, which is also meant where count is 0. The files of a
 * capture are put in their order; several traces are refused with BT_USAGE, here or, where a pipe
 * or a file holds them, by record_input_next, unless settings->concatenate. The paths stay the
 * caller's and must live on. 0 or a negative code.
 */
int record_input_open(struct record_input **input, int count, char **paths,
                      const struct record_input_settings *settings, struct bt_error *error);

/*
 * The next batch, valid until the next call: 1, or 0 at the end of the last trace, or a negative
 * code where a trace cannot be read on. Ticks go on from trace to trace: where another capture
 * begins its first tick is the last one of the trace before. What is damaged in a trace has been
 * told on standard error, and has raised the exit status.
 */
int record_input_next(struct record_input *input, const struct batch **batch,
                      struct bt_error *error);

/* The header of the capture that the last batch is of: clock, board. NULL where it has none. Valid
 * until the next call of record_input_next. */
const struct capture_info *record_input_info(const struct record_input *input);

/* Puts all there is into sink, which stays open. 0, or why the sink or a trace failed. */
int record_input_run(struct record_input *input, struct sink *sink, struct bt_error *error);

/* Closes it, early or at its end. Returns the exit status: 0, or 1 where something was damaged. */
int record_input_close(struct record_input *input);

/*
 * How many records the traces hold together: capture files and raw records are hopped over, others
 * are read to their end. Not for standard input. 0 or a negative code.
 */
int record_input_count(int count, char **paths, const struct record_input_settings *settings,
                       uint64_t *records, struct bt_error *error);

#endif
