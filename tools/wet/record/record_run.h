/*
 * A program under capture/exec that is recorded as a WET trace: everything between the process and
 * the recorder.
 */
#ifndef TOOLS_WET_RECORD_RECORD_RUN_H
#define TOOLS_WET_RECORD_RECORD_RUN_H

#include "formats/base/named_fields.h"
#include "tools/exec/region_options.h"
#include "tools/wet/record/record_places.h"
#include "tools/wet/record/recorder.h"

struct NAMED_FIELDS record_run_settings {
    bool has_values;
    uint64_t quantum, chunk_blocks; /* 0: the defaults */
    bool no_cache;                  /* of translations */
    struct region_options region;
    struct record_sink sink;
};

struct record_run {
    const struct record_run_settings *settings; /* set by the caller */
    FILE *messages; /* set after record_run_begin(); NULL: standard error is closed */

    struct process *process;
    struct recorder *recorder;
    bool is_child; /* of fork: not recorded */

    /* private */
    const struct modules *modules; /* NULL: nothing is loaded yet */
    struct functions *functions;
    struct record_places places;
    struct region_places region;
    struct wet_closing closing; /* what is known of the end */
};

/* Prepares the run of a program. 0 or a negative code; clear it in either case. */
int record_run_begin(struct record_run *run, const char *path, const char *const *arguments,
                     struct bt_error *error);
void record_run_clear(struct record_run *run);

/* Ends the recording, after process_run(). */
void record_run_end(struct record_run *run, const struct process_end *end);

/* After that: reports what is missing to the messages. */
void record_run_say(const struct record_run *run);

#endif
