/*
 * What a batch holds in place of its records: segments, each of executions of blocks, as words
 * (block_table.h), or of records. A segment's words or records are in the batch's buffer where its
 * first record would be; they take no more room than its records.
 */
#ifndef FORMATS_BLOCKS_BLOCK_FEED_H
#define FORMATS_BLOCKS_BLOCK_FEED_H

#include "formats/blocks/block_table.h"

#include <stddef.h>

struct block_segment {
    struct block_table *table; /* NULL: records */
    uint32_t first;            /* its first record's number in the batch */
    uint32_t count;            /* of words, or of records */
    uint32_t fs_base;
    uint8_t processor;
    uint8_t marks; /* the first record's ATTRIBUTE_EVENT and ATTRIBUTE_PART */
    bool shares;   /* it is a user of the table */
};

struct block_feed {
    struct block_segment *segments;
    size_t count, capacity;
    size_t base; /* number of the batch's records before those that a source adds */
};

/* A feed with room for this number of segments, at least 1. NULL: no memory. */
struct block_feed *block_feed_new(size_t capacity);
void block_feed_free(struct block_feed *feed);

/* Removes all segments. */
void block_feed_clear(struct block_feed *feed);

/* Whether a segment of words can be added, and one of records after it. */
static inline bool block_feed_has_room(const struct block_feed *feed)
{
    return feed->count + 2 <= feed->capacity;
}

/* Adds `count` records that follow all segments. There must be room unless the last segment has
 * records. */
void block_feed_add_records(struct block_feed *feed, size_t first, size_t count);

/* Adds words, whose table becomes shared. There must be room. */
void block_feed_add_words(struct block_feed *feed, const struct block_segment *segment);

/* The time of a record that is a segment's first, or one of a segment of records. `records` is the
 * batch's buffer. */
uint32_t block_feed_time(const struct block_feed *feed, const struct record *records,
                         size_t number);

/* Sets a mark of a record that is a segment's first, or one of a segment of records. */
void block_feed_mark(struct block_feed *feed, struct record *records, size_t number, uint8_t mark);

/* Removes records from the given one on, which are one segment of records, or a part of it. */
void block_feed_cut_records(struct block_feed *feed, size_t first);

#endif
