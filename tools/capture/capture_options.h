/*
 * Options of the commands that write captures: for tables of options whose settings begin with a
 * struct capture_settings.
 */
#ifndef TOOLS_CAPTURE_CAPTURE_OPTIONS_H
#define TOOLS_CAPTURE_CAPTURE_OPTIONS_H

#include "capture/capture.h"
#include "tools/common/options.h"

/* Functions `take` of struct option_row for one option each. */
int capture_option_output(void *settings, const char *argument, struct bt_error *error);
int capture_option_rotate(void *settings, const char *argument, struct bt_error *error);
int capture_option_engine(void *settings, const char *argument, struct bt_error *error);
int capture_option_level(void *settings, const char *argument, struct bt_error *error);
int capture_option_queue(void *settings, const char *argument, struct bt_error *error);
int capture_option_ring(void *settings, const char *argument, struct bt_error *error);
int capture_option_trigger(void *settings, const char *argument, struct bt_error *error);
int capture_option_stop_on(void *settings, const char *argument, struct bt_error *error);
int capture_option_pre(void *settings, const char *argument, struct bt_error *error);
int capture_option_post(void *settings, const char *argument, struct bt_error *error);
int capture_option_disk_full(void *settings, const char *argument, struct bt_error *error);

/* Rows of capture and exec. type is the settings, whose first member is the struct capture_settings
 * `capture`. */
#define CAPTURE_FILE_OPTIONS(type)                                                                 \
    {OPTION_FLAG,                                                                                  \
     0,                                                                                            \
     "append",                                                                                     \
     NULL,                                                                                         \
     "allow existing files with this prefix and add to them",                                      \
     offsetof(type, capture.append),                                                               \
     NULL},                                                                                        \
        {OPTION_CALL,                                                                              \
         'r',                                                                                      \
         "rotate",                                                                                 \
         "RULE size= time= every=",                                                                \
         "start a new file at size=64M, time=10m or every=1h; may repeat",                         \
         0,                                                                                        \
         capture_option_rotate},                                                                   \
    {                                                                                              \
        OPTION_NUMBER, 'k', "keep", "N", "keep the last N files of the prefix, delete older ones", \
            offsetof(type, capture.keep), NULL                                                     \
    }
#define CAPTURE_TRIGGER_OPTIONS(type)                                                              \
    {OPTION_CALL,                                                                                  \
     0,                                                                                            \
     "trigger",                                                                                    \
     "EXPR",                                                                                       \
     "save only the records around each match, a file each",                                       \
     0,                                                                                            \
     capture_option_trigger},                                                                      \
        {OPTION_CALL,                                                                              \
         0,                                                                                        \
         "stop-on",                                                                                \
         "EXPR",                                                                                   \
         "stop after a matching record, and what --post adds",                                     \
         0,                                                                                        \
         capture_option_stop_on},                                                                  \
        {OPTION_CALL,                                                                              \
         0,                                                                                        \
         "pre",                                                                                    \
         "EXTENT",                                                                                 \
         "records, or time, saved before each match: 10K, 5ms (default: 0)",                       \
         0,                                                                                        \
         capture_option_pre},                                                                      \
        {OPTION_CALL,        0, "post", "EXTENT", "the same after each match (default: 0)", 0,     \
         capture_option_post},                                                                     \
    {                                                                                              \
        OPTION_CALL, 0, "ring", "SIZE",                                                            \
            "memory for records before a match; without --trigger, save only snapshots", 0,        \
            capture_option_ring                                                                    \
    }
#define CAPTURE_QUEUE_OPTIONS(type)                                                                \
    {OPTION_NUMBER,                                                                                \
     'j',                                                                                          \
     "threads",                                                                                    \
     "N",                                                                                          \
     "compression threads (default: one per processor)",                                           \
     offsetof(type, capture.workers),                                                              \
     NULL},                                                                                        \
    {                                                                                              \
        OPTION_CALL, 0, "queue", "SIZE",                                                           \
            "size of the queue of records waiting for compression (default: 64M)", 0,              \
            capture_option_queue                                                                   \
    }
#define CAPTURE_LEVEL_OPTION                                                                       \
    {                                                                                              \
        OPTION_CALL, 0, "level", "N",                                                              \
            "compression level: 1 to 9 for zlib and libdeflate, 0 to 4 for columns, 0 to 3 for "   \
            "isa-l; 0 without --engine: do not compress",                                          \
            0, capture_option_level                                                                \
    }
#define CAPTURE_COMMAND_OPTION(type)                                                               \
    {                                                                                              \
        OPTION_TEXT, 0, "exec-on-file", "COMMAND",                                                 \
            "run COMMAND FILE for each complete file, one at a time: 'mv -t done'",                \
            offsetof(type, command), NULL                                                          \
    }
#define CAPTURE_DISK_FULL_OPTION                                                                   \
    {                                                                                              \
        OPTION_CALL, 0, "disk-full", "WHAT end wait",                                              \
            "on a full disk: end (the default), or wait: drop and count records until there is "   \
            "space",                                                                               \
            0, capture_option_disk_full                                                            \
    }
#define CAPTURE_QUIET_OPTION(type)                                                                 \
    {                                                                                              \
        OPTION_FLAG, 'q', "quiet", NULL, "print neither status line nor summary",                  \
            offsetof(type, quiet), NULL                                                            \
    }

/* Starts what runs the command of --exec-on-file; report (struct capture_report) receives its
 * sentences. *command is NULL if text is. 0 or a negative code. */
int capture_option_start_command(struct file_command **command, const char *text, void *report,
                                 struct bt_error *error);

/* The index, 0 or 1, of the word that equals argument, or BT_USAGE. */
int capture_option_choose(const char *argument, const char *first, const char *second,
                          struct bt_error *error);

#endif
