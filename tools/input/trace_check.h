/* Reads traces from beginning to end and collects the facts that info and verify print. */
#ifndef TOOLS_INPUT_TRACE_CHECK_H
#define TOOLS_INPUT_TRACE_CHECK_H

#include "formats/base/named_fields.h"
#include "tools/input/record_input.h"
#include "tools/input/tally.h"

/* Maximum number of capture files concatenated under one path. */
#define TRACE_FILES_MAX 65536u

/* A time for which the board was disconnected or silent. */
struct trace_gap {
    struct gap gap;
    uint64_t tick;        /* of the first record after it, or the last known tick */
    uint64_t lost;        /* requests counted as lost with it */
    int64_t host_time_ns; /* when the first record after it arrived; 0 if unknown */
};

/* Gaps of a file whose places are kept; further ones are only counted. */
#define TRACE_GAPS_MAX 16u

/* How the ticks of a file's data members follow one another; all zero before the first. */
struct trace_order {
    bool data;  /* a data member was read */
    bool known; /* tick is known, also without a data member: 0 where the capture begins */
    bool exact; /* tick is that of a record, and nothing is missing after it */
    bool timed; /* the first data member begins with a record, and nothing is missing before it */
    bool lost;  /* the first data member has a loss */
    bool lost_after;     /* the closing member counts a loss that no data member has */
    uint64_t first_tick; /* of the first data member */
    uint64_t lost_tick;  /* the first one of its loss */
    uint64_t tick;       /* last tick of the last data member */
    uint32_t first_time; /* with timed: of the first record */
};

#define TRACE_REASON_BYTES 224u

/* One file, read. */
struct trace_file {
    const char *path;         /* for messages; it may hold several concatenated files */
    enum trace_kind kind;     /* TRACE_RAW also in another program's format */
    bool foreign;             /* it is in one */
    bool opened;              /* false: nothing below is known */
    bool empty;               /* it has no byte, decompressed */
    bool closed;              /* totals is its closing member */
    struct capture_info info; /* zero where it has no header */
    struct capture_totals totals;
    uint64_t bytes;     /* of the file */
    uint64_t records;   /* read */
    struct loss lost;   /* counted in its blocks */
    uint64_t missing;   /* requests that are neither records nor counted as lost: corruption */
    uint64_t misplaced; /* blocks that begin before the previous one has ended */
    uint64_t end_index; /* after the last record or loss */
    struct trace_order order;
    char contradiction[TRACE_REASON_BYTES]; /* the first, with its offset; empty: none */
    uint64_t contradictions;                /* in how many members */
    uint64_t offset, closing_offset;        /* of its header and of its closing member */
    uint64_t first_tick, last_tick;
    uint64_t damaged; /* corrupt places that the reader reported */
    uint64_t notes;   /* and harmless oddities */
    uint64_t gaps;
    uint64_t uncounted_gaps; /* of those, gaps with an unknown number of requests */
    uint64_t gap_ms;         /* all gaps together; saturates */
    uint64_t chosen_gaps; /* not among `gaps`: places where a program's user left something out */
    struct trace_gap gap_places[TRACE_GAPS_MAX];
    uint64_t later_files; /* of captures to the same prefix that began later (trace_rings.h), */
    uint32_t later_keep;  /* and the smallest ring of these; 0: they have none */
};

/* Files that have been read. */
struct NAMED_FIELDS trace_set {
    struct trace_file *files;
    size_t count;
    size_t capacity;
};

/* The gap before a batch. */
struct trace_gap trace_check_gap(const struct batch *batch);

/* Appends a file of which nothing but the path is known, which stays the caller's. NULL and *error
 * on failure; it may move the others. */
struct trace_file *trace_check_add(struct trace_set *set, const char *path, struct bt_error *error);

/*
 * Reads path and appends to set each file that it holds, at least one; errors are reported. Counts
 * into tally unless that is NULL. 0, or a negative code if no further file can be read.
 */
int trace_check(struct trace_set *set, const char *path,
                const struct input_trace_settings *settings, struct input_report *report,
                struct tally *tally, struct bt_error *error);

#endif
