/* Opens and reads traces for the commands, with progress. */
#ifndef TOOLS_DCFG_TRACE_FILE_H
#define TOOLS_DCFG_TRACE_FILE_H

#include "formats/dcfg/dcfg_trace_reader.h"
#include "tools/common/progress.h"

struct dcfg_trace_file {
    struct text_reader *text;
    struct dcfg_trace_reader *reader;
    struct bt_error error; /* error of the reader */
    struct progress progress;
    uint64_t edges_done, edges; /* the progress is of edges; 0: of bytes of the file */
};

/*
 * Opens the trace in the file path ("-": standard input). memory_max: limit in bytes of the
 * transition table; a quarter of it limits the dictionaries and each sequence. quiet_output as in
 * progress_begin. *file must not move. 0 or a negative code; dcfg_trace_file_close in any case.
 */
int dcfg_trace_file_open(struct dcfg_trace_file *file, const char *path, uint64_t memory_max,
                         bool strict, bool quiet_output, struct bt_error *error);
/* Shows the progress by edges from now on, of which count more are done: a small file can hold very
 * many. edges: all of them. */
void dcfg_trace_file_count(struct dcfg_trace_file *file, uint64_t count, uint64_t edges);
void dcfg_trace_file_close(struct dcfg_trace_file *file);

#endif
