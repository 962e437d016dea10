/* The output of commands that write a derived capture: file or pipe, and a summary. */
#ifndef TOOLS_CUT_DERIVED_OUTPUT_H
#define TOOLS_CUT_DERIVED_OUTPUT_H

#include "formats/text/json_put.h"
#include "tools/common/command.h"
#include "tools/cut/derived_writer.h"
#include "tools/input/record_input.h"

/* A part of a command's settings. */
struct derived_output {
    const char *output; /* NULL: missing */
    bool force, json, quiet;
};

/* Option rows; member is a struct derived_output. */
#define DERIVED_OUTPUT_OPTIONS(type, member)                                                       \
    {OPTION_FILE,                                                                                  \
     'o',                                                                                          \
     "output",                                                                                     \
     "OUT",                                                                                        \
     "the new file; - is standard output",                                                         \
     offsetof(type, member.output),                                                                \
     NULL},                                                                                        \
        {OPTION_FLAG, 0, "force", NULL, "replace an existing OUT", offsetof(type, member.force),   \
         NULL},                                                                                    \
        OPTION_JSON_ROW(type, member.json),                                                        \
    {                                                                                              \
        OPTION_FLAG, 'q', "quiet", NULL, "do not print what was saved",                            \
            offsetof(type, member.quiet), NULL                                                     \
    }

/* What writes the file. */
struct derived_maker {
    /* Writes to fd, whose name is for messages, and sets *counts. 0 or a negative code. */
    int (*make)(void *context, int fd, const char *name, struct input_report *report,
                struct derived_counts *counts, struct bt_error *error);
    /* Adds members to the JSON object; NULL: there are none to add. */
    void (*describe)(void *context, struct json_put *json);
    void *context;
};

/*
 * Checks the options, writes the file, gives it its name and prints the summary. Inputs are the
 * files that must not be overwritten, or given twice. Returns the exit status.
 */
int derived_output_run(const struct invocation *call, const struct derived_output *output,
                       const struct input_paths *inputs, const struct derived_maker *maker);

#endif
