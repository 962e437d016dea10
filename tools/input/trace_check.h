/* Reads traces from beginning to end and collects the facts that info and verify print. */
#ifndef TOOLS_INPUT_TRACE_CHECK_H
#define TOOLS_INPUT_TRACE_CHECK_H

#include "formats/base/named_fields.h"
#include "tools/input/record_input.h"
#include "tools/input/tally.h"

/* Maximum number of capture files concatenated under one path. */
#define TRACE_FILES_MAX 65536u

/* A time in which the board was disconnected or silent. */
struct trace_gap {
    struct gap gap;
    uint64_t tick;        /* of the first record after it, or the last known tick */
    uint64_t lost;        /* number of requests counted as lost in it */
    int64_t host_time_ns; /* when the first record after it arrived; 0 if unknown */
};

/* Maximum number of a file's gaps that are kept; further ones are only counted. */
#define TRACE_GAPS_MAX 16u

/* The ticks at the borders of a file's data members; all zero before the first. */
struct trace_order {
    bool data;  /* a data member was read */
    bool known; /* tick is known, also without a data member: 0 in a capture's first file */
    bool exact; /* tick is that of a record, and nothing is missing after it */
    bool timed; /* the first data member begins with a record, and nothing is missing before it */
    bool lost;  /* the first data member has a loss */
    bool lost_after;     /* the closing member counts a loss that no data member has */
    uint64_t first_tick; /* first tick of the first data member */
    uint64_t lost_tick;  /* first tick of the first data member's loss */
    uint64_t tick;       /* last tick of the last data member */
    uint32_t first_time; /* with timed: time of the first record */
};

#define TRACE_REASON_BYTES 224u

/* A file that has been read. */
struct trace_file {
    const char *path;         /* for messages; it may hold several concatenated files */
    enum trace_kind kind;     /* TRACE_RAW also in another program's format */
    bool foreign;             /* in another program's format */
    bool opened;              /* false: the fields below are not set */
    bool empty;               /* 0 bytes when decompressed */
    bool closed;              /* totals is its closing member */
    struct capture_info info; /* zero: no header */
    struct capture_totals totals;
    uint64_t bytes;     /* size of the file */
    uint64_t records;   /* number of records read */
    struct loss lost;   /* losses counted in its blocks */
    uint64_t missing;   /* requests that are neither records nor counted as lost: corruption */
    uint64_t misplaced; /* blocks that begin before the previous one has ended */
    uint64_t end_index; /* index after the last record or loss */
    struct trace_order order;
    char contradiction[TRACE_REASON_BYTES]; /* the first, with its offset; empty: none */
    uint64_t contradictions;                /* number of members with a contradiction */
    uint64_t offset, closing_offset;        /* offsets of its header and its closing member */
    uint64_t first_tick, last_tick;
    uint64_t damaged; /* number of corrupt places that the reader reported */
    uint64_t notes;   /* number of harmless deviations that the reader reported */
    uint64_t gaps;
    uint64_t uncounted_gaps; /* of those, gaps with an unknown number of requests */
    uint64_t gap_ms;         /* total length of the gaps; saturates */
    uint64_t chosen_gaps;    /* gaps chosen by options of `bustap exec`; not among `gaps` */
    struct trace_gap gap_places[TRACE_GAPS_MAX];
    uint64_t later_files; /* number of files of later captures to the same prefix (trace_rings.h) */
    uint32_t later_keep;  /* smallest ring of these captures; 0: no ring */
};

/* Files that have been read. */
struct NAMED_FIELDS trace_set {
    struct trace_file *files;
    size_t count;
    size_t capacity;
};

/* The gap before a batch. */
struct trace_gap trace_check_gap(const struct batch *batch);

/* Adds records, ticks, losses and gaps of a batch to a file. */
void trace_check_count(struct trace_file *file, const struct batch *batch);

/* Appends a file with no field set but path, which must outlive the set. May move the other files.
 * NULL and *error on failure. */
struct trace_file *trace_check_add(struct trace_set *set, const char *path, struct bt_error *error);

/*
 * Reads path and appends each of its concatenated files, at least one, to set; reports errors.
 * Counts the records into tally unless it is NULL. 0, or a negative code if no further file can be
 * read.
 */
int trace_check(struct trace_set *set, const char *path,
                const struct input_trace_settings *settings, struct input_report *report,
                struct tally *tally, struct bt_error *error);

#endif
