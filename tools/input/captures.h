/* The files of a study's trace, in reading order. */
#ifndef TOOLS_INPUT_CAPTURES_H
#define TOOLS_INPUT_CAPTURES_H

#include "formats/base/error.h"
#include "formats/record/capture_info.h"

#include <stdbool.h>

struct captures {
    const char **paths;
    int count;
};

struct captures_settings {
    const char *again; /* name of the option that reads the files twice, for messages: rejects pipes
                          and standard input; NULL: files are read once */
    bool concatenate;  /* accept several traces; they are studied as one */
    bool as_given;     /* keep the order given, open no file, accept several traces */
    bool distinct;     /* reject two files of a capture with one number: copies of each other */
};

/* Option row of `concatenate` (tools/common/options.h). */
#define CAPTURES_CONCATENATE_OPTION(type, member)                                                  \
    {                                                                                              \
        OPTION_FLAG, 0, "concatenate", NULL, "read several traces as one, in sequence",            \
            offsetof(type, member), NULL                                                           \
    }

/*
 * Sorts the files: those of a capture together and by number, captures in the order given. A file
 * without a header keeps its position and is a separate trace. Several traces are BT_USAGE unless
 * settings->concatenate. The header of a pipe is not read here; captures_join checks it. 0,
 * BT_USAGE, BT_IO, BT_DATA or BT_MEMORY; call captures_free in any case.
 */
int captures_order(struct captures *captures, int count, char **paths,
                   const struct captures_settings *settings, struct bt_error *error);
void captures_free(struct captures *captures);

/*
 * Writes a trace's name: first path, number of further files, board, start time and id, or "no
 * header" if info is all zero. Truncates it to size bytes. Returns text.
 */
#define CAPTURES_NAME_BYTES 200u
char *captures_name(char *text, size_t size, const char *path, const struct capture_info *info,
                    uint64_t files);

/* Whether a path is standard input ("-") or a pipe, which can be read only once. */
bool captures_is_pipe(const char *path);

/* Checks that a path can be read twice, as the option `again` needs. 0 or BT_USAGE. */
int captures_check_readable_again(const char *path, const char *again, struct bt_error *error);

/* Reads the header of a file's trace; all zero if it has none, or the file is a pipe. 0 or a
 * negative code. */
int captures_read_header(struct capture_info *info, const char *path, struct bt_error *error);

/* The file read last, for captures_join. All zero before the first. */
struct captures_seam {
    const char *path;
    struct capture_info info; /* all zero: no header */
};

/*
 * Continues with the file whose header is info (NULL: none) in path, which must outlive seam.
 * Returns 1 if the file continues the capture read before, 0 if it begins a trace, BT_USAGE if it
 * begins another trace without `concatenate`.
 */
int captures_join(struct captures_seam *seam, const struct capture_info *info, const char *path,
                  bool concatenate, struct bt_error *error);

/* "files 2 to 4 are missing" for first 2 and next 5. False, with text unchanged, if none is
 * missing.
 */
#define CAPTURES_MISSING_BYTES 48u
bool captures_missing(char *text, uint32_t first, uint32_t next);

/* Checks the file numbers of two successive files of a capture. 0, or BT_DATA: files between them
 * are missing, or both have the same number. */
int captures_check_numbers(const struct captures_seam *before, const struct captures_seam *next,
                           struct bt_error *error);

#endif
