/* The files of a study's trace, in the order in which they are to be read. */
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
    const char *again; /* what reads the files twice ("a trace"), so that standard input and pipes
                          are refused; NULL: they are read once */
    bool concatenate;  /* several traces are studied as one, one after the other */
    bool as_given;     /* the order given is kept, no file is opened, several traces are accepted */
};

/* The row of `concatenate` for a command's table of options (tools/common/options.h). */
#define CAPTURES_CONCATENATE_OPTION(type, member)                                                  \
    {                                                                                              \
        OPTION_FLAG, 0, "concatenate", NULL, "read several traces as one, in sequence",            \
            offsetof(type, member), NULL                                                           \
    }

/*
 * Sorts the files: those of a capture together and by number, captures in the order given. A file
 * without a header keeps its position and is a separate trace. Several traces are refused with
 * BT_USAGE unless settings->concatenate. The header of a pipe is not read here; captures_join
 * checks it. 0, BT_USAGE, BT_IO, BT_DATA or BT_MEMORY; call captures_free in any case.
 */
int captures_order(struct captures *captures, int count, char **paths,
                   const struct captures_settings *settings, struct bt_error *error);
void captures_free(struct captures *captures);

/*
 * Names a trace for people: its first path, how many files it has, its board and when it started,
 * or that it has no header (info all zero). Text is cut at size. Returns text.
 */
#define CAPTURES_NAME_BYTES 200u
char *captures_name(char *text, size_t size, const char *path, const struct capture_info *info,
                    uint64_t files);

/* The file read last, for captures_join. All zero before the first. */
struct captures_seam {
    const char *path;
    struct capture_info info; /* all zero where it has no header */
};

/*
 * Continues with the file that begins with header info (NULL for none) in path, which stays the
 * caller's. 1 if it continues the capture read before, 0 if it begins a trace. BT_USAGE if that is
 * another trace, unless concatenate.
 */
int captures_join(struct captures_seam *seam, const struct capture_info *info, const char *path,
                  bool concatenate, struct bt_error *error);

/* Names the files missing from number first to the one before next, as "files 2 to 4 are missing".
 * False, with text unchanged, if none is. */
#define CAPTURES_MISSING_BYTES 48u
bool captures_missing(char *text, uint32_t first, uint32_t next);

/* Whether two files, one after the other, may be neighbours in a capture. 0, or BT_DATA: files are
 * missing between them, or both hold the same file of it. */
int captures_check_numbers(const struct captures_seam *before, const struct captures_seam *next,
                           struct bt_error *error);

#endif
