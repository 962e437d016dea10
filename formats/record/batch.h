/*
 * What travels between sources and sinks: a batch of records, and what was lost just before it.
 */
#ifndef FORMATS_RECORD_BATCH_H
#define FORMATS_RECORD_BATCH_H

#include "formats/base/named_fields.h"
#include "formats/record/record.h"

#include <stdbool.h>

/* The stages that can lose a request, from the bus to the disk. */
enum loss_stage {
    LOSS_BUS,   /* the board's frame queue was full */
    LOSS_LINK,  /* frames did not arrive, or arrived damaged */
    LOSS_QUEUE, /* the host's queue was full */
    LOSS_DISK,  /* the file system refused */
    LOSS_STAGES
};

/* Requests lost at one place in the stream. All zero where nothing was. */
struct NAMED_FIELDS loss {
    uint64_t count[LOSS_STAGES]; /* requests, by the stage that lost them */
    uint64_t first_tick;         /* the interval in which they were on the bus, in board ticks, */
    uint64_t last_tick;          /* both ends included */
};

/* Why a batch does not follow on the one before. For how long nobody heard the source: its board
 * was unplugged, or had stopped answering. Or what was executed just before the batch was left out
 * on purpose. All zero: there is no gap. */
struct NAMED_FIELDS gap {
    uint32_t milliseconds; /* 1 at least where there was one; GAP_MILLISECONDS_MAX: that or more */
    bool uncounted; /* the board began anew: what it saw meanwhile is in no count of losses */
    bool chosen; /* a program's instructions were left out, as its user wanted: nothing is lost */
};

#define GAP_MILLISECONDS_MAX 0x7fffffffu

/*
 * Records that follow one another without a hole: tick(records[i]) is first_tick plus the times of
 * records[1] to records[i]. A hole, or a time that saturated, starts a new batch.
 */
struct NAMED_FIELDS batch {
    struct record *records; /* owned by whoever made the batch; sources fill it, never replace it */
    size_t count;           /* records that are there; 0 where only a loss is told */
    size_t capacity;        /* records there is room for */
    uint64_t
        first_index;     /* how many requests the board accepted before records[0], lost ones too */
    uint64_t first_tick; /* when records[0] was on the bus, in board ticks; with count 0 the last
                            tick known */
    uint64_t last_tick;  /* the same of the last record */
    struct loss lost;    /* just before records[0] */
    struct gap gap;      /* just before records[0]; what is lost in it is in `lost` */
    uint32_t parts; /* of the records behind the first so many have the mark ATTRIBUTE_PART; 0 in
                       what trace_reader.h delivers: there a batch ends in front of them */
    int64_t host_time_ns; /* host's CLOCK_REALTIME when the first record arrived; 0 if unknown */
};

/* The name of a stage, as files and JSON spell it: "bus", "link", "queue", "disk". */
const char *loss_stage_name(enum loss_stage stage);

/* "bus 12, disk 3": the stages that lost something. Returns text. */
#define LOSS_TEXT_BYTES 160u
char *loss_text(char text[LOSS_TEXT_BYTES], const uint64_t count[LOSS_STAGES]);

/* Requests lost, over all stages; saturates. */
uint64_t loss_total(const struct loss *loss);

/* Adds more to *loss: counts saturate, the interval grows to hold both. */
void loss_add(struct loss *loss, const struct loss *more);

/* Makes one gap of two with nothing between them: lengths add up, and saturate. */
void gap_add(struct gap *gap, const struct gap *more);

/* A gap of so long, at least a millisecond. */
struct gap gap_of_ns(int64_t nanoseconds, bool uncounted);

/* Whether a batch without records still has something to tell: a loss, or a gap of any kind. */
bool batch_has_loss_or_gap(const struct batch *batch);

/* Empties a batch, keeping its buffer. */
void batch_clear(struct batch *batch);

#endif
