/*
 * A source whose every record follows from its index, so that a test can tell what a capture of it
 * must hold without keeping a copy. The stream is cut into chunks; some of them are lost.
 */
#ifndef TESTS_SUPPORT_SCRIPTED_SOURCE_H
#define TESTS_SUPPORT_SCRIPTED_SOURCE_H

#include "formats/record/source.h"

struct script {
    uint64_t seed;          /* not 0 */
    uint64_t total;         /* requests accepted, lost ones too */
    uint64_t chunk;         /* requests a chunk, at least 1 */
    unsigned lost_percent;  /* of the chunks */
    unsigned gap_percent;   /* of the chunks: nobody listened just before them */
    unsigned short_percent; /* of the calls that return before the batch is full */
    unsigned odd_percent;   /* of the calls that return BT_TIMEOUT, BT_NOTE or BT_DATA */
    uint64_t after_stop;    /* requests that still come after source_stop */
    int end;                /* 0, or the code with which it breaks */
    bool lingers;           /* does not end before source_stop */
    bool ignores_stop;      /* lingers, and does not hear source_stop */
    bool disconnected;      /* lingers, and says with BT_DATA that it knows no count, if stopped */
    long pause_ns;          /* before each batch */
    long late_ns;     /* what the first BT_TIMEOUT after source_stop takes, which comes first */
    bool impatient;   /* what is not asked for in time would be lost */
    int start;        /* 0, or the code with which it does not start */
    unsigned *starts; /* counts how often it was started; may be NULL */
};

/* What the script says of one request. */
struct record script_record(const struct script *script, uint64_t index);
uint64_t script_tick(const struct script *script, uint64_t index);
/* LOSS_BUS or LOSS_LINK; LOSS_STAGES where the request is delivered. */
enum loss_stage script_lost(const struct script *script, uint64_t index);

/* The gap just before a request; none where it is not the first of its chunk. */
struct gap script_gap(const struct script *script, uint64_t index);

/* closed, if not NULL, is set once the source is closed. */
struct source *scripted_source_new(const struct script *script, bool *closed);

#endif
