/*
 * What all commands that read traces share: open each file, pull its batches into a sink, tell what
 * is damaged or odd on standard error and go on, remember the exit status.
 */
#ifndef TOOLS_INPUT_TRANSFER_H
#define TOOLS_INPUT_TRANSFER_H

#include "formats/capture/trace_reader.h"
#include "formats/record/sink.h"
#include "tools/common/progress.h"

/* How what has no header is read, as a command's options say it: part of its settings. */
struct transfer_reading {
    bool lp64; /* raw records have 24 bytes */
    bool raw;  /* they are a trace, whatever they look like */
};

/* The rows of that for the table of a command's options (tools/common/options.h): its settings are
 * of that type, and have a struct transfer_reading as that member. */
#define TRANSFER_READING_OPTIONS(type, member)                                                     \
    {OPTION_FLAG,                                                                                  \
     0,                                                                                            \
     "lp64",                                                                                       \
     NULL,                                                                                         \
     "raw records have 24 bytes, as 64-bit programs write them",                                   \
     offsetof(type, member.lp64),                                                                  \
     NULL},                                                                                        \
    {                                                                                              \
        OPTION_FLAG, 0, "raw", NULL,                                                               \
            "take what has no header for records, whatever it looks like",                         \
            offsetof(type, member.raw), NULL                                                       \
    }

/* The same for trace_reader_open. */
unsigned transfer_flags(const struct transfer_reading *reading);

struct transfer {
    int status;         /* the worst exit status so far */
    uint64_t damaged;   /* BT_DATA answers so far */
    uint64_t notes;     /* BT_NOTE answers so far */
    unsigned told;      /* places of damage of the file being read that were reported, */
    uint64_t untold;    /* and those beyond TRANSFER_TOLD_MAX, that were not */
    unsigned reading;   /* enum trace_reading */
    struct batch batch; /* the buffer batches are pulled into */
    struct progress progress;
};

/* reading: NULL for that of all false; quiet_output: standard output gets no lines while records
 * are read. 0 or BT_MEMORY. */
int transfer_begin(struct transfer *transfer, const struct transfer_reading *reading,
                   bool quiet_output, struct bt_error *error);
void transfer_end(struct transfer *transfer);

/* Opens a file, "-" for standard input; NULL where that failed, which has been told. */
struct trace_reader *transfer_open(struct transfer *transfer, const char *path);

/*
 * Pulls at most *left records (counted down; NULL: all) of reader into sink. Returns 0 at the end;
 * what is wrong with the input has been told and has raised transfer->status. A negative code and
 * *error where the sink failed.
 */
int transfer_pull(struct transfer *transfer, struct trace_reader *reader, const char *path,
                  struct sink *sink, uint64_t *left, struct bt_error *error);

/* Tells an error as "bustap: message" and raises the exit status to its. */
void transfer_tell(struct transfer *transfer, const struct bt_error *error);

/*
 * The rule for what a reader says of its input: damage, and that a file was cut off (BT_DATA), is
 * reported and raises the exit status to 1; what is odd and harmless (BT_NOTE), as stray bytes
 * behind raw records, is reported. Of the places of a file that are damaged TRANSFER_TOLD_MAX are
 * reported one by one, and how many more there are by transfer_end_file, to be called when the file
 * has been read.
 */
#define TRANSFER_TOLD_MAX 10u
void transfer_tell_input(struct transfer *transfer, const struct bt_error *error);
void transfer_end_file(struct transfer *transfer, const char *path);

/* The files to read: the operands given, or standard input where there are none. */
struct transfer_paths {
    int count;
    char **paths; /* the caller's, or `only` */
    char *only[1];
    char dash[2];
};
void transfer_take_paths(struct transfer_paths *paths, int count, char **operands);

#endif
