/*
 * A source whose every record follows from its index, so that a test knows the contents of a
 * capture of it without a copy. The stream is divided into chunks; some of them are lost.
 */
#ifndef TESTS_SUPPORT_SCRIPTED_SOURCE_H
#define TESTS_SUPPORT_SCRIPTED_SOURCE_H

#include "formats/record/source.h"

struct script {
    uint64_t seed;          /* not 0 */
    uint64_t total;         /* requests accepted, lost ones too */
    uint64_t chunk;         /* requests a chunk, at least 1 */
    unsigned lost_percent;  /* of the chunks */
    unsigned gap_percent;   /* of the chunks: a gap precedes them */
    unsigned short_percent; /* of the calls that return before the batch is full */
    unsigned odd_percent;   /* of the calls that return BT_TIMEOUT, BT_NOTE or BT_DATA */
    uint64_t after_stop;    /* requests that still come after source_stop */
    int end;                /* 0, or the code with which the source fails */
    bool lingers;           /* does not end before source_stop */
    bool ignores_stop;      /* lingers, and ignores source_stop */
    bool disconnected; /* lingers, and reports with BT_DATA after a stop that it knows no count */
    long pause_ns;     /* before each batch */
    long late_ns;      /* duration of the BT_TIMEOUT that is first after source_stop */
    bool impatient;    /* records not taken in time would be lost */
    int start;         /* 0, or the code with which it fails to start */
    unsigned *starts;  /* incremented at each start; may be NULL */
};

/* The script's record of a request. */
struct record script_record(const struct script *script, uint64_t index);
uint64_t script_tick(const struct script *script, uint64_t index);
/* LOSS_BUS or LOSS_LINK; LOSS_STAGES where the request is delivered. */
enum loss_stage script_lost(const struct script *script, uint64_t index);

/* The gap just before a request; none if it is not the first of its chunk. */
struct gap script_gap(const struct script *script, uint64_t index);

/* *closed, if closed is not NULL, is set once the source is closed. */
struct source *scripted_source_new(const struct script *script, bool *closed);

#endif
