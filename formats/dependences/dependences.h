/*
 * Data dependences of a program as data: which place read or overwrote what which place wrote or
 * read, how often, and by which loop it is carried. Front ends of dependence tracing fill it in;
 * dependences_write.h writes it, dependences_read.h reads it. The file formats, the columns and
 * their units are in doc/dependences-file.md.
 *
 * Fields are read directly and changed only by the functions below. Every function that returns a
 * negative bt_code has filled *error; without memory the data stays valid.
 */
#ifndef FORMATS_DEPENDENCES_DEPENDENCES_H
#define FORMATS_DEPENDENCES_DEPENDENCES_H

#include "formats/base/error.h"
#include "formats/base/hash_index.h"
#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEPENDENCES_NONE       UINT32_MAX /* no place, no loop */
#define DEPENDENCES_UNKNOWN    UINT64_MAX /* offset or address that is unknown */
#define DEPENDENCES_NAME_BYTES 4096u      /* of a stored name, with its NUL; longer ones are cut */

enum dependence_kind {
    DEPENDENCE_RAW, /* read after write */
    DEPENDENCE_WAR, /* write after read */
    DEPENDENCE_WAW, /* write after write */
    DEPENDENCE_KINDS
};

/* What a row is about. */
enum dependences_by {
    DEPENDENCES_BY_INSTRUCTION,
    DEPENDENCES_BY_LINE,
    DEPENDENCES_BY_FUNCTION,
    DEPENDENCES_BYS
};

enum dependences_level {
    DEPENDENCES_LEVEL_FUNCTION, /* only if a reference of a DETAIL function lies between, or is the
                                   sink */
    DEPENDENCES_LEVEL_ACCESS,   /* all */
    DEPENDENCES_LEVELS
};

/* Whether the iterations of a loop depend on each other. */
enum dependence_verdict {
    DEPENDENCE_UNJUDGED,
    DEPENDENCE_INDEPENDENT,  /* nothing is carried */
    DEPENDENCE_REDUCTION,    /* only a sum, minimum or similar is carried */
    DEPENDENCE_PRIVATIZABLE, /* only WAR and WAW are carried: private copies remove them */
    DEPENDENCE_DISTANCE,     /* carried, always at the same number of iterations or more */
    DEPENDENCE_SERIAL,
    DEPENDENCE_VERDICTS
};

/* "RAW", "line", "access", "serial": the words for them in files. */
extern const char *const dependence_kind_names[DEPENDENCE_KINDS];
extern const char *const dependences_by_names[DEPENDENCES_BYS];
extern const char *const dependences_level_names[DEPENDENCES_LEVELS];
extern const char *const dependence_verdict_names[DEPENDENCE_VERDICTS];

/* A place in a program; anything may be unknown. */
struct NAMED_FIELDS dependence_place {
    const char *file;     /* of the source; NULL: unknown */
    const char *function; /* NULL: unknown */
    const char *module;   /* program file or library; NULL: unknown, or generated code */
    uint32_t line;        /* from 1; 0: unknown */
    uint64_t offset;      /* address of the instruction in the module's file as linked;
                             DEPENDENCES_UNKNOWN: unknown, or not about an instruction */
    uint64_t address;     /* of the instruction in memory; or DEPENDENCES_UNKNOWN */
};

struct NAMED_FIELDS dependence_loop {
    uint32_t place; /* of its head; not a place of which nothing is known */
    enum dependence_verdict verdict;
    uint64_t entries;      /* how often the loop began */
    uint64_t iterations;   /* of all entries, the first ones included */
    uint64_t instructions; /* executed in it, calls included; recursion counts once */
    uint64_t distance;     /* of DEPENDENCE_DISTANCE: least one, in iterations; else 0 */
    unsigned carried;      /* bits 1 << enum dependence_kind */
    const char **reasons;  /* for the verdict; managed by dependences_add_reason() */
    size_t reason_count, reason_capacity;
};

/* Equal dependences, counted. */
struct NAMED_FIELDS dependence {
    enum dependence_kind kind;
    bool carried;                  /* by an earlier iteration of the loop */
    bool at_least;                 /* some distances may be greater than counted */
    uint32_t sink, source;         /* places */
    uint32_t top_sink, top_source; /* top-level places; DEPENDENCES_NONE: none so far */
    uint32_t loop;                 /* DEPENDENCES_NONE: none */
    uint32_t sink_thread;          /* numbers from 0 */
    uint32_t source_thread;
    uint64_t count;                /* 1 or more */
    uint64_t least, greatest, sum; /* of carried ones: distances in iterations; else 0 */
};

/* Something that was lost, ignored or is unknown. */
struct dependence_note {
    const char *text;
    uint64_t count;
};

/* About the whole. */
struct NAMED_FIELDS dependences_totals {
    const char *program; /* command line; NULL: unknown */
    const char *ended;   /* how it ended, as text; NULL: unknown */
    enum dependences_by by;
    enum dependences_level level;
    unsigned kinds;        /* traced: bits 1 << enum dependence_kind */
    uint64_t references;   /* of the program: reads and writes */
    uint64_t writes;       /* of these, writes */
    uint64_t instructions; /* executed; DEPENDENCES_UNKNOWN: not counted */
    uint64_t rows, count;  /* of all dependences, and the sum of their counts: set by
                              dependences_group(), and by readers */
};

struct dependences {
    struct dependences_totals totals;
    struct dependence_place *places;
    size_t place_count;
    struct dependence_loop *loops;
    size_t loop_count;
    struct dependence *rows;
    size_t row_count;
    struct dependence_note *notes;
    size_t note_count;
    /* private */
    size_t place_capacity, loop_capacity, row_capacity, note_capacity;
    struct hash_index by_place, by_row, by_name;
    uint64_t seed;
    uint32_t *loop_of_place; /* DEPENDENCES_NONE: none */
    size_t loop_of_place_capacity;
    char **names;
    size_t name_count, name_capacity;
};

/* NULL and *error without memory. dependences_free() accepts NULL. */
struct dependences *dependences_new(struct bt_error *error);
void dependences_free(struct dependences *dependences);

/* Sets the totals. Names are copied, here and below: control characters and octets that are not
 * UTF-8 become '?', and an empty name is an unknown one. */
int dependences_set_totals(struct dependences *dependences, const struct dependences_totals *totals,
                           struct bt_error *error);

/* The number of a place, which is added if it is new. A line without a file, and an offset without
 * a module, are unknown. */
int dependences_add_place(struct dependences *dependences, const struct dependence_place *place,
                          uint32_t *number, struct bt_error *error);

/* Whether nothing is known of a place. */
bool dependence_place_is_unknown(const struct dependence_place *place);

/* Adds a loop without reasons. If the place already is the head of a loop, its counts are added to
 * that one. BT_DATA: nothing is known of the place. */
int dependences_add_loop(struct dependences *dependences, const struct dependence_loop *loop,
                         uint32_t *number, struct bt_error *error);
int dependences_add_reason(struct dependences *dependences, uint32_t loop, const char *text,
                           struct bt_error *error);

/* Adds a row, or its counts to a row that differs in nothing else. Its places and its loop must be
 * there. A top-level place of which nothing is known is none. */
int dependences_add(struct dependences *dependences, const struct dependence *row,
                    struct bt_error *error);

int dependences_add_note(struct dependences *dependences, const char *text, uint64_t count,
                         struct bt_error *error);

/*
 * The same dependences by line, by function or by instruction, which must not be finer than they
 * are. Places become coarser: a line has no instruction, a function has neither line nor file;
 * where line or function is unknown, the place stays as it is. Rows that become equal are summed
 * up.
 *
 * Rows are sorted by falling count, then by places, and only the first `top` remain, with the
 * places and loops that they and the judged loops use. The result depends only on what was added,
 * not on its order, except for notes and reasons. NULL and *error without memory.
 */
struct dependences *dependences_group(const struct dependences *from, enum dependences_by by,
                                      size_t top, struct bt_error *error);

/* Sets totals.rows and totals.count to those of the rows. */
void dependences_sum_up(struct dependences *dependences);

/* The mean distance of a carried row, in iterations. */
double dependence_mean(const struct dependence *row);

/* The last part of a path; NULL for NULL. */
const char *dependences_file_name(const char *path);

#endif
