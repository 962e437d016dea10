/*
 * Reads and checks files of dependences (doc/dependences-file.md). Input may be any octets: what
 * breaks a rule is added to the failures, and reading continues where that is possible.
 */
#ifndef FORMATS_DEPENDENCES_DEPENDENCES_READ_H
#define FORMATS_DEPENDENCES_DEPENDENCES_READ_H

#include "formats/dependences/dependences.h"
#include "formats/dependences/dependences_rules.h"
#include "formats/text/text_reader.h"

enum dependences_file { DEPENDENCES_FILE_CSV, DEPENDENCES_FILE_JSON, DEPENDENCES_FILE_TRACE };

/* What a check has seen. */
struct dependences_summary {
    enum dependences_file file;
    uint64_t places, loops, rows;  /* of CSV and JSON */
    uint64_t entered, left, found; /* events of a trace */
    uint64_t references, detail;   /* of a trace: last pseudo and frozen time */
};

/*
 * The dependences of a file, with what could be read of it: without failures, all. NULL and *error
 * if the file cannot be read (BT_IO), or without memory. Of a CSV file, all but rows and
 * totals.rows and .count is unknown.
 */
struct dependences *dependences_read_csv(struct text_reader *reader,
                                         struct dependences_failures *failures,
                                         struct bt_error *error);
struct dependences *dependences_read_json(struct text_reader *reader,
                                          struct dependences_failures *failures,
                                          struct bt_error *error);

/* Checks a trace. 0 even with failures; BT_IO, BT_MEMORY. */
int dependences_check_trace(struct text_reader *reader, struct dependences_failures *failures,
                            struct dependences_summary *summary, struct bt_error *error);

/* Checks a file of any of these formats, which its first bytes tell apart. As above. */
int dependences_check(struct text_reader *reader, struct dependences_failures *failures,
                      struct dependences_summary *summary, struct bt_error *error);

#endif
