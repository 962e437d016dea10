/*
 * The header and the closing totals of a capture file, in memory. doc/capture-file.md, "Header
 * member" and "Closing member", specifies their bytes.
 */
#ifndef FORMATS_RECORD_CAPTURE_INFO_H
#define FORMATS_RECORD_CAPTURE_INFO_H

#include "formats/base/named_fields.h"
#include "formats/record/batch.h"
#include "formats/record/filter_words.h"

#include <stdbool.h>

#define CAPTURE_ID_BYTES 16u

/* The bus name in captures of an executed program. Then the board's name is the command line,
 * addresses are virtual, processors are threads, ticks are instructions, clock_hz is 0. */
#define CAPTURE_BUS_PROGRAM "program"

/* The board's counts of requests. accepted = records delivered or lost. */
struct NAMED_FIELDS source_totals {
    bool known;          /* false if the source could not report them (a disconnected board) */
    uint64_t seen;       /* request phases on the bus */
    uint64_t accepted;   /* of those: decoded and passed by the filter */
    uint64_t filtered;   /* rejected by the filter */
    uint64_t removed;    /* of those: by the host; not in files */
    uint64_t above_4gib; /* address needs more than 32 bits: no record can hold it */
    uint64_t undecoded;  /* reserved or unknown request encodings */
    uint64_t lost_bus;   /* of accepted: dropped because the board's queue was full */
    uint64_t stalled;    /* ticks during which the board stalled the bus; not in files */
    uint64_t stalls;     /* times that it did; not in files */
};

/* The header of a capture, and of each of its files. */
struct capture_info {
    uint8_t id[CAPTURE_ID_BYTES]; /* random; the same in every file of a capture; zero: none */
    uint64_t clock_hz;            /* ticks per second; 0 if unknown */
    char board[64];               /* "virtual", or the board's name and serial number */
    char bus[32];                 /* "p6" */
    char filter[256];             /* the filter expression, empty for none */
    int64_t started_ns;           /* CLOCK_REALTIME at the capture's start */
    uint32_t file_number;         /* 1 for the first file */
    uint32_t keep;                /* size of the ring; 0: every file is kept */
    int64_t file_started_ns;      /* CLOCK_REALTIME at the file's start */
    uint64_t first_index;         /* index of the file's first record (or of its first loss) */
    uint8_t version;              /* of the file's format: 2 is coded, 0 and 1 are gzip */
    bool derived;   /* made of other captures: stands alone, whatever its id; begins at any index */
    bool may_stall; /* the board may have stalled the bus: times can be those of a slowed target */
    bool host_filters; /* not in files: the host removes what the filter excludes; a board that
                          applies the whole filter leaves nothing to it */
    char board_filter[FILTER_WORDS_BYTES]; /* not in files: with host_filters, the part that the
                                              board applies; empty for none */
    bool sizes_estimated; /* not in files: the format lacks sizes; those of branches are guesses */
};

/* Why a file ended. Stable numbers: they are in files. */
enum capture_end {
    CAPTURE_END_NONE = 0,      /* not ended: no closing member */
    CAPTURE_END_ROTATED = 1,   /* continued in the next file */
    CAPTURE_END_STOPPED = 2,   /* on request */
    CAPTURE_END_LIMIT = 3,     /* a --stop limit was reached */
    CAPTURE_END_SOURCE = 4,    /* the source ended */
    CAPTURE_END_DEVICE = 5,    /* the board or its link failed */
    CAPTURE_END_DISK = 6,      /* the file system refused */
    CAPTURE_END_RECOVERED = 7, /* written by bustap recover */
    CAPTURE_ENDS
};

/* What a file of a trigger holds. Stable numbers: they are in files. */
enum capture_window_kind {
    CAPTURE_WINDOW_NONE = 0,    /* not a window, or not a whole one yet */
    CAPTURE_WINDOW_MATCHES = 1, /* the records around matches */
    CAPTURE_WINDOW_SNAPSHOT = 2 /* the records that a buffer held on request */
};

/* The window of a file. Indices count the records that were left out, too: in the file, the same
 * record has an index that is lower by `omitted`. */
struct NAMED_FIELDS capture_window {
    enum capture_window_kind kind;
    uint64_t omitted; /* records left out before the file's last record, since the start */
    uint64_t matches; /* so far; 0 in a snapshot */
    uint64_t first_index, first_tick; /* of the first match */
    uint64_t last_index, last_tick;   /* of the last one */
};

/* The closing member. "file": this file alone; "capture": from the capture's start to this file's
 * end. */
struct capture_totals {
    enum capture_end end;
    bool final; /* the capture's last file */
    uint64_t file_records;
    uint64_t file_lost[LOSS_STAGES];
    uint64_t capture_records;
    uint64_t capture_lost[LOSS_STAGES];
    uint64_t end_index;  /* index after the last record or loss of the file */
    uint64_t last_tick;  /* of the last record of the capture so far */
    uint64_t after_stop; /* final: accepted by the board after the point of the stop, and dropped */
    struct source_totals source; /* final: what the board counted */
    int64_t ended_ns;            /* CLOCK_REALTIME */
    struct capture_window window;
    char message[160]; /* the reason of a failure, if any; cut to 112 bytes with a window */
};

/* Whether the header has a capture id. */
bool capture_info_has_id(const struct capture_info *info);

/* Whether two headers are of one capture; without ids, or derived, they never are. */
bool capture_info_same_capture(const struct capture_info *a, const struct capture_info *b);

/* The name of an end in info and JSON: "rotated", "stopped", ... */
const char *capture_end_name(enum capture_end end);

#endif
