/*
 * The unit between sources and sinks: a batch of records, and the loss just before it.
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

/* Requests lost at one position in the stream. All zero: no loss. */
struct NAMED_FIELDS loss {
    uint64_t count[LOSS_STAGES]; /* requests, by the stage that lost them */
    uint64_t first_tick;         /* the interval in which they were on the bus, in board ticks, */
    uint64_t last_tick;          /* both ends included */
};

/* Why a batch does not continue the previous one: the board was disconnected or silent for some
 * time, or instructions of a program were left out on purpose. All zero: no gap. */
struct NAMED_FIELDS gap {
    uint32_t milliseconds; /* at least 1 for such a gap; GAP_MILLISECONDS_MAX: that or more */
    bool uncounted;        /* the board restarted: requests in the gap are not counted as lost */
    bool chosen;           /* instructions were left out as requested: nothing is lost */
};

#define GAP_MILLISECONDS_MAX 0x7fffffffu

struct block_feed;

/*
 * Consecutive records: tick(records[i]) is first_tick plus the times of records[1] to records[i]. A
 * loss, a gap, or a saturated time starts a new batch.
 */
struct NAMED_FIELDS batch {
    struct record *records; /* owned by the batch's creator; sources fill it */
    size_t count;           /* number of records; 0 in a batch with only a loss or gap */
    size_t capacity;        /* room, in records */
    size_t exchangeable; /* not 0: `records` is from malloc, with room for so many, and a source may
                            exchange it for another such buffer, with room for `capacity` */
    uint64_t first_index; /* number of requests accepted before records[0], including lost ones */
    uint64_t first_tick;  /* board tick of records[0]; with count 0 the last known tick */
    uint64_t last_tick;   /* board tick of the last record */
    struct loss lost;     /* just before records[0] */
    struct gap gap;       /* just before records[0]; requests lost in it are in `lost` */
    uint32_t parts; /* number of records after the first with the mark ATTRIBUTE_PART; 0 in batches
                       of trace_reader.h, which end before such a record */
    bool events;    /* the attributes of the records, the first included, may have events;
                       false in batches of trace_reader.h, which end before such a record */
    uint8_t event;  /* enum record_event of the first record; only in those batches */
    struct block_feed *feed; /* says what `records` holds instead (formats/blocks/block_feed.h);
                                NULL: records */
    int64_t host_time_ns;    /* host's CLOCK_REALTIME when the first record arrived; 0 if unknown */
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

/* A gap of this length, at least a millisecond. */
struct gap gap_of_ns(int64_t nanoseconds, bool uncounted);

/* Whether the batch has a loss, or a gap of any kind. */
bool batch_has_loss_or_gap(const struct batch *batch);

/* Removes the first `count` records of a batch, at most all; if that is one or more, also the loss,
 * the gap and the event, which are before them. */
void batch_drop(struct batch *batch, size_t count);

/* Removes the records after the first `count`. */
void batch_shorten(struct batch *batch, size_t count);

/* Empties a batch, keeping its buffer, and its feed as it is. */
void batch_clear(struct batch *batch);

#endif
