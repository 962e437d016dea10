/* Reads the files of a capture of a scripted source and compares them with the script. */
#ifndef TESTS_SUPPORT_CAPTURE_CHECK_H
#define TESTS_SUPPORT_CAPTURE_CHECK_H

#include "formats/capture/capture_file.h"
#include "tests/support/scripted_source.h"

#include <stdbool.h>

/* Results over all files. */
struct capture_check {
    char problem[512]; /* empty if everything agrees with the script */
    uint64_t files, records, bytes, members;
    uint64_t largest_file;
    uint64_t most_records;         /* in a member */
    uint32_t first_number;         /* of the first file present */
    struct loss lost;              /* recorded in data members */
    struct capture_totals closing; /* of the last file */
    bool closed;                   /* the last file has a closing member */
};

/*
 * Checks every file in folder whose name ends in `ending`, in the order of their names: position
 * of each record and loss, ticks, file numbers, indexes, totals. unfinished: the last file may
 * lack its closing member, or end within a member.
 */
void capture_check(struct capture_check *check, const char *folder, const char *ending,
                   const struct script *script, bool unfinished);

#endif
