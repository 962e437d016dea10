/*
 * A study of one line size: settings and counts.
 *
 * A long trace can be cut into parts that are studied in parallel. In all parts but the first,
 * references to lines that the part has not met before are pending. The preceding part continues
 * with them in order, which yields the same distances as a study of the whole trace; those that it
 * has not met either are passed on to the part before it. At the end all counts are added.
 */
#ifndef TOOLS_MRC_MRC_STUDY_H
#define TOOLS_MRC_MRC_STUDY_H

#include "formats/base/named_fields.h"
#include "formats/record/batch.h"
#include "tools/mrc/bank.h"
#include "tools/mrc/series.h"
#include "tools/mrc/simulated.h"

#define MRC_LINE_BYTES_MAX (1u << 30)
#define MRC_SERIES_MAX     1536u /* 256 processors, 2 caches each, 3 kinds */

enum window_unit { WINDOW_NONE, WINDOW_TICKS, WINDOW_REQUESTS };

/* Windows of time. The first one begins with tick 0, or with the first request. */
struct NAMED_FIELDS mrc_window {
    enum window_unit unit;
    uint64_t length; /* not 0, except with WINDOW_NONE */
};

struct mrc_study_settings {
    enum bank_kind kind;
    uint32_t line_bytes;   /* a power of two */
    uint32_t sets;         /* a power of two; 1: fully associative */
    bool by_processor;     /* private caches for each processor */
    bool split;            /* separate caches for instructions and data */
    bool by_kind;          /* count kinds of requests separately */
    uint64_t sample;       /* lines whose hash is below this are sampled; or SAMPLE_ALL */
    uint32_t sample_lines; /* number of lines to follow (shards.h), of a study with one series, and
                              of the first part only; `sample` falls accordingly. 0: any number */
    struct mrc_window window;
    size_t window_counts_max; /* counts of all windows and curves; 0: SERIES_WINDOW_COUNTS_MAX */
    bool ticks;               /* measure reuse times in ticks; false: in references */
    enum cache_replacement replacement;  /* not CACHE_LRU: mrc_study_take_simulated follows */
    const struct simulated_sizes *sizes; /* with BANK_SIMULATED; copied */
};

/* A reference that the preceding part has to resolve. */
struct pending {
    uint32_t line;
    uint16_t series;
    uint64_t window;
    uint64_t time; /* tick, or number of references since the part's start */
};

struct NAMED_FIELDS pending_list {
    struct pending *entries; /* from malloc */
    size_t count, capacity;
};

struct mrc_study;

/* Makes a study of the part that begins with record first_record; 0: the first part. NULL and
 * *error without memory. */
struct mrc_study *mrc_study_new(const struct mrc_study_settings *settings, uint64_t first_record,
                                struct bt_error *error);
void mrc_study_free(struct mrc_study *study);

/* Processes a batch. 0 or a negative code. */
int mrc_study_put(struct mrc_study *study, const struct batch *batch, struct bt_error *error);

/* Processes the pending references of the following part. *list becomes those of this part: its
 * own, and the ones that it could not resolve. The first part resolves all. 0 or BT_MEMORY. */
int mrc_study_resolve(struct mrc_study *study, struct pending_list *list, struct bt_error *error);

/* mrc_study_pack appends all counts to numbers; mrc_study_add adds the packed counts of another
 * part of the same trace and settings. 0, BT_MEMORY, BT_DATA. */
int mrc_study_pack(const struct mrc_study *study, struct numbers *numbers, struct bt_error *error);
int mrc_study_add(struct mrc_study *study, const struct numbers *numbers, struct bt_error *error);

/* Counts of records. */
struct mrc_study_totals {
    uint64_t requests; /* records */
    uint64_t dropped;  /* requests that are not memory references */
    uint64_t lost;     /* requests lost by the capture */
    uint64_t gaps;     /* gaps that the user chose */
};

const struct mrc_study_settings *mrc_study_settings(const struct mrc_study *study);
const struct mrc_study_totals *mrc_study_totals(const struct mrc_study *study);

/* A series by number, below MRC_SERIES_MAX; NULL if nothing was counted. */
const struct series *mrc_study_series(const struct mrc_study *study, unsigned number);

/* The caches and requests that a series counts. */
struct series_name {
    int processor;     /* -1: all */
    const char *cache; /* "instruction", "data"; NULL: unified */
    const char *kind;  /* "fetch", "read", "write"; NULL: all */
};
struct series_name mrc_study_series_name(const struct mrc_study_settings *settings,
                                         unsigned number);

/*
 * Sizes of a policy's caches: powers of two, with steps - 1 sizes between two of them, up to the
 * first one in which a study of the same references has only compulsory misses. Of a sample those
 * that a simulated cache can represent.
 */
void mrc_study_choose_sizes(const struct mrc_study *study, unsigned steps,
                            struct simulated_sizes *sizes);

/*
 * Takes the misses that other studies (BANK_SIMULATED) of the same references have counted: part i
 * of count has sizes i, i + count, ... of *sizes, which is copied. 0, BT_MEMORY, or BT_DATA if the
 * references were others.
 */
int mrc_study_take_simulated(struct mrc_study *study, const struct simulated_sizes *sizes,
                             const struct mrc_study *const *parts, unsigned count,
                             struct bt_error *error);

/* The sizes taken, or NULL; and the misses of a series, [size * groups + group], or NULL. */
const struct simulated_sizes *mrc_study_sizes(const struct mrc_study *study);
const uint64_t *mrc_study_misses(const struct mrc_study *study, unsigned number, unsigned *groups);

/* Number of buckets of windows and reuse times for the study's kind. */
unsigned mrc_study_buckets(const struct mrc_study_settings *settings);

/* Frees all state but the counts, which can still be added and packed. */
void mrc_study_finish(struct mrc_study *study);

#endif
