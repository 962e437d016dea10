/*
 * Members of the objects in a JSON file of dependences: a table for each kind of object has
 * their keys, and where their values are stored.
 */
#ifndef FORMATS_DEPENDENCES_DEPENDENCES_MEMBERS_INTERNAL_H
#define FORMATS_DEPENDENCES_DEPENDENCES_MEMBERS_INTERNAL_H

#include "formats/dependences/dependences_judge_internal.h"
#include "formats/text/json_pull.h"

/* Numbers in the dependences, by number in the file. */
struct numbers {
    uint32_t *numbers;
    size_t count, capacity;
};

/* A file that is read. */
struct json_file {
    struct dependences_judge judge;
    struct json_pull *pull;
    struct bt_error *error;
    struct dependences_totals totals;
    struct numbers places, loops;
    unsigned seen;      /* members of the file: bits 1 << number in their table */
    unsigned distances; /* number of the current row's distances that are not null */
    char where[DEPENDENCES_WHERE_BYTES];
    char program[DEPENDENCES_NAME_BYTES], ended[DEPENDENCES_NAME_BYTES];
};

struct member {
    const char *key; /* NULL: ends a table */
    /* Reads the value into the field. Negative: it cannot be read. */
    int (*pull)(struct json_file *file, void *field);
    size_t offset; /* offset of the field in the object */
};

/* Reads an object into fields of `into`. Members that are not in the table are skipped. *seen gets
 * the bits of those that were read. 1: all were; 0: the first missing one was reported. */
int members_pull(struct json_file *file, const struct member *members, void *into, unsigned *seen);

/* 1: the next value is null, and was skipped. */
int members_null(struct json_file *file);

/* Values, with the type of the field. */
int members_name(struct json_file *file, void *field);    /* char[DEPENDENCES_NAME_BYTES] */
int members_kind(struct json_file *file, void *field);    /* enum dependence_kind */
int members_by(struct json_file *file, void *field);      /* enum dependences_by */
int members_level(struct json_file *file, void *field);   /* enum dependences_level */
int members_verdict(struct json_file *file, void *field); /* enum dependence_verdict */
int members_kinds(struct json_file *file, void *field);   /* unsigned: bits 1 << kind */
int members_bool(struct json_file *file, void *field);    /* bool */
int members_count(struct json_file *file, void *field);   /* uint64_t */
int members_thread(struct json_file *file, void *field);  /* uint32_t */

/* Values that may be null: then the field stays as it is. */
int members_line(struct json_file *file, void *field);     /* uint32_t, from 1 */
int members_optional(struct json_file *file, void *field); /* uint64_t */

#endif
