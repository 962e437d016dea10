/*
 * What a WET trace tells about memory dependences, value locality and parallelism of a program.
 * doc/wet.md, "Report", defines each count.
 */
#ifndef TOOLS_WET_WET_REPORT_H
#define TOOLS_WET_WET_REPORT_H

#include "formats/base/named_fields.h"
#include "tools/wet/wet_locality.h"
#include "tools/wet/wet_stores.h"

#define WET_REPORT_BUCKETS   65u                  /* of distances: 0, 1, 2 to 3, 4 to 7 ... */
#define WET_REPORT_BYTES_MIN (UINT64_C(64) << 10) /* of max_memory */

struct NAMED_FIELDS wet_report_settings {
    uint64_t within;     /* a load is near a store if it is one of so many last ones */
    uint64_t max_memory; /* bytes for what is kept of stores, and of contexts of values */
};

/* Whom a load depends on. */
enum wet_report_source {
    WET_REPORT_STORE,   /* a store at least, which is kept */
    WET_REPORT_SYSTEM,  /* no such store, but a system call */
    WET_REPORT_FARTHER, /* neither, but what is no longer kept */
    WET_REPORT_NOTHING, /* memory that nothing recorded has written */
    WET_REPORT_SOURCES
};

enum wet_report_class { WET_REPORT_LOADS, WET_REPORT_STORES, WET_REPORT_OTHERS };
#define WET_REPORT_CLASSES 3u

/* An instruction that loads. */
struct wet_report_load {
    uint64_t loads;
    uint64_t near;    /* that depend on one of the last `within` stores */
    uint64_t stores;  /* that depend on a store */
    uint64_t nearest; /* the smallest distance of these, in stores */
};

/* Of an instruction: what it does with memory. */
struct wet_report_kind {
    bool loads, stores, is_repeated, is_system;
};

struct wet_report {
    struct wet_trace *trace;
    struct wet_report_settings settings;
    struct wet_replay *replay;

    uint64_t loads, stores;
    uint64_t sources[WET_REPORT_SOURCES];         /* of loads */
    uint64_t by_stores[WET_REPORT_BUCKETS];       /* loads by the distance in stores */
    uint64_t by_instructions[WET_REPORT_BUCKETS]; /* loads by the distance in instructions */
    uint64_t cut; /* loads that depend, perhaps besides others, on what is no longer kept */
    struct wet_depth path; /* the critical paths */
    bool has_values;

    struct wet_report_load *load_of; /* by id */
    struct wet_locality locality;

    /* private */
    struct wet_report_kind *kinds; /* by id */
    struct wet_stores kept;
    struct wet_depths depths;
};

/* Begins. The trace is the caller's. The struct need not be initialized. 0 or BT_MEMORY; clear it
 * in either case. */
int wet_report_init(struct wet_report *report, struct wet_trace *trace,
                    const struct wet_report_settings *settings, struct bt_error *error);
void wet_report_clear(struct wet_report *report);

/* Takes the next chunk. 1; 0: there is none; or a negative code, after which the report is about
 * what was before. */
int wet_report_next(struct wet_report *report, struct bt_error *error);

/* Instructions so far. */
uint64_t wet_report_instructions(const struct wet_report *report);

enum wet_report_class wet_report_class(const struct wet_report *report, uint32_t id);

/* The bucket of a distance: 0, 1, 2 to 3, 4 to 7 ...; and the smallest distance of one. */
unsigned wet_report_bucket(uint64_t distance);
uint64_t wet_report_bucket_start(unsigned bucket);

#endif
