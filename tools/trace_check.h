/* Reads one trace from beginning to end and keeps what info and verify want to know of it. */
#ifndef TOOLS_TRACE_CHECK_H
#define TOOLS_TRACE_CHECK_H

#include "tools/tally.h"
#include "tools/transfer.h"

/* One file, read. */
struct trace_file {
    const char *path; /* for messages */
    enum trace_kind kind;
    bool opened;              /* false: nothing below is known */
    bool closed;              /* totals is its closing member */
    struct capture_info info; /* zero where it has no header */
    uint32_t last_number;     /* of the last header: files may be put one behind the other */
    struct capture_totals totals;
    uint64_t bytes;     /* of the file */
    uint64_t records;   /* read */
    struct loss lost;   /* told by its blocks */
    uint64_t missing;   /* requests that are neither records nor told as lost: damage */
    uint64_t misplaced; /* blocks that begin before the one in front has ended */
    uint64_t breaks;    /* places where ticks do not go on as the records' times say */
    uint64_t end_index; /* behind the last record or loss */
    uint64_t first_tick, last_tick;
    uint64_t damaged; /* places the reader told as damaged */
    uint64_t notes;   /* and as odd */
};

/*
 * Reads path; what is wrong with it is told through transfer. Counts into tally unless that is
 * NULL. 0, or a negative code where no more can be done.
 */
int trace_check(struct trace_file *file, const char *path, struct transfer *transfer,
                struct tally *tally, struct bt_error *error);

#endif
