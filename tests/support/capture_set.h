/* Rotated capture files as a capture writes them, for tests of their readers. */
#ifndef TESTS_SUPPORT_CAPTURE_SET_H
#define TESTS_SUPPORT_CAPTURE_SET_H

#include "formats/capture/capture_file.h"

/* What is wrong in otherwise well-formed files. */
enum capture_set_lie {
    LIE_NONE,
    LIE_SEAM,     /* indices jump from one file to the next */
    LIE_ACCEPTED, /* the board counted one request more */
    LIE_CAPTURED, /* the last closing member counts one record of the capture more */
    LIE_TICK,     /* the last file's second block begins one tick late */
    LIE_FINAL,    /* every file says that it is the last */
    LIE_BACK,     /* ticks start again in every file */
    LIE_HOLE /* the first file lacks its second block, and its closing member does not count it */
};

struct capture_set {
    uint64_t seed;
    uint32_t files;        /* of the whole capture */
    uint32_t removed;      /* files 1 to `removed` are not written: the ring removed them */
    uint32_t keep;         /* the ring's size, 0 for none */
    uint32_t file_records; /* in each file */
    uint32_t block_records;
    uint64_t lost[LOSS_STAGES]; /* before the second block of every file */
    uint32_t gap_ms;            /* before the same blocks: the board was not read */
    bool gap_uncounted;
    bool gap_chosen;      /* before the same blocks: code that the user left out */
    uint32_t gap_parts;   /* number of such gaps within each of the same blocks, before every third
                             record */
    uint32_t events;      /* number of fetches in the same blocks with an event, alternating */
    uint64_t lost_at_end; /* by the bus, after the last block of the last file */
    uint64_t after_stop, filtered, above_4gib, undecoded;
    uint32_t version;    /* of the files' format; 0: 1 */
    bool unclosed;       /* the last file has no closing member */
    bool source_unknown; /* the board did not report its counts */
    enum capture_set_lie lie;
    bool hostile; /* the board, the bus, the filter and the message contain terminal control
                     characters */
};

#define CAPTURE_SET_HOSTILE "x\033[31m\177\xc2\x9b\x9b\ny"

/*
 * Writes PREFIX_1.byu.gz, or with version 2 .byb, and so on. Times and the capture's id depend on
 * the seed alone. Returns 0, or -1 if a file cannot be written.
 */
int capture_set_write(const struct capture_set *set, const char *prefix);

/* Requests that a file accounts for: its records and its losses. */
uint64_t capture_set_file_requests(const struct capture_set *set, uint32_t file);

#endif
