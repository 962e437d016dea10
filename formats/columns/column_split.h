/*
 * Records as columns: each field in a stream of its own, as tokens of one byte where that is
 * possible, so that a general compressor finds what repeats. doc/capture-file.md, "Columns",
 * specifies the streams.
 */
#ifndef FORMATS_COLUMNS_COLUMN_SPLIT_H
#define FORMATS_COLUMNS_COLUMN_SPLIT_H

#include "formats/base/error.h"
#include "formats/record/record.h"

#include <stdbool.h>

/* The streams, in the order of the file. */
enum column_stream {
    COLUMN_KINDS,      /* u8 a record: the number of its kind, or COLUMN_ESCAPE */
    COLUMN_HEADS,      /* u32 an escape of COLUMN_KINDS: bytes 4 to 7 of the record */
    COLUMN_TIMES,      /* u8 a record: its time, or COLUMN_ESCAPE */
    COLUMN_LONG_TIMES, /* u32 an escape of COLUMN_TIMES */
    COLUMN_STEPS,      /* u8 a record: its address after that of the one before, or COLUMN_ESCAPE */
    COLUMN_PAGES,      /* u8 an escape of COLUMN_STEPS: the slot of its page, or COLUMN_ESCAPE */
    COLUMN_NEW_PAGES,  /* u32 an escape of COLUMN_PAGES: the page's number */
    COLUMN_OFFSETS,    /* u16 an escape of COLUMN_STEPS: the offset in its page */
    COLUMN_STREAMS
};

#define COLUMN_ESCAPE    255u
#define COLUMN_KINDS_MAX 255u /* number of kinds with a number */
#define COLUMN_SHIFT_MAX 31u

struct column_kind {
    uint8_t head[4]; /* type, size, attribute and processor, as in a record */
    uint8_t shift;   /* steps are multiples of 1 << shift */
};

/* The streams of one block of records. All zero: no memory yet. */
struct columns {
    struct column_kind kinds[COLUMN_KINDS_MAX];
    unsigned kind_count;
    uint8_t *bytes[COLUMN_STREAMS]; /* with room for `capacity` records */
    size_t elements[COLUMN_STREAMS];
    size_t capacity;
};

/* Bytes of an element of the stream. */
size_t column_width(enum column_stream stream);

/* The stream whose number of escapes is the number of elements of this one; the stream itself if it
 * has an element a record. */
enum column_stream column_parent(enum column_stream stream);

/* Makes room for count records. 0 or BT_MEMORY. */
int columns_reserve(struct columns *columns, size_t count, struct bt_error *error);
void columns_clear(struct columns *columns);

/* Number of escapes in the first count elements of a stream of bytes. */
size_t columns_escapes(const uint8_t *bytes, size_t count);

/* Fills kinds and streams from count records, for which there is room. */
void columns_split(struct columns *columns, const struct record *records, size_t count);

/*
 * Makes count records of kinds and streams, whose numbers of elements fit one another. False: a
 * record is of a kind that does not exist.
 */
bool columns_join(const struct columns *columns, struct record *records, size_t count);

#endif
