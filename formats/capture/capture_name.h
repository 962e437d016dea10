/* Names of capture files: PREFIX_00001_20261120T224500Z.byu.gz, or .byb if their format has version
 * 2 (doc/capture-file.md, "Name"). */
#ifndef FORMATS_CAPTURE_CAPTURE_NAME_H
#define FORMATS_CAPTURE_CAPTURE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_NAME_ENDING_BYTES 64u /* of what follows the prefix, at most */

struct capture_name {
    size_t prefix_bytes; /* of the path, up to the number */
    uint32_t number;     /* of the file in its capture */
    int64_t second;      /* since 1970 UTC */
    bool coded;          /* .byb */
    bool part;           /* unfinished: still being written, or its capture died */
};

/* Writes what follows the prefix: "_00001_20261120T224500Z.byu.gz", and ".part". */
void capture_name_put(char ending[CAPTURE_NAME_ENDING_BYTES], const struct capture_name *name);

/* Whether the name of a file that the user has chosen asks for version 2: it ends in ".byb". */
bool capture_name_asks_coded(const char *path);

/* A copy of path that asks for version 2: with ".byb" in place of ".byu.gz" or ".gz", or added, if
 * it does not end so. To be freed; NULL: no memory. */
char *capture_name_coded(const char *path);

/* Parses path. False unless it has exactly this form. */
bool capture_name_get(struct capture_name *name, const char *path);

#endif
