#include "formats/blocks/block_feed.h"

#include <stdlib.h>

struct block_feed *block_feed_new(size_t capacity)
{
    struct block_feed *feed = calloc(1, sizeof *feed);
    if (!feed)
        return NULL;
    feed->capacity = capacity;
    feed->segments = malloc(capacity * sizeof *feed->segments);
    if (feed->segments)
        return feed;
    free(feed);
    return NULL;
}

void block_feed_clear(struct block_feed *feed)
{
    for (size_t i = 0; i < feed->count; i++)
        if (feed->segments[i].shares)
            block_table_leave(feed->segments[i].table);
    feed->count = 0;
}

void block_feed_free(struct block_feed *feed)
{
    if (!feed)
        return;
    block_feed_clear(feed);
    free(feed->segments);
    free(feed);
}

void block_feed_add_records(struct block_feed *feed, size_t first, size_t count)
{
    struct block_segment *last = feed->count ? &feed->segments[feed->count - 1] : NULL;
    if (last && !last->table)
        last->count += (uint32_t)count;
    else
        feed->segments[feed->count++] =
            (struct block_segment){.first = (uint32_t)first, .count = (uint32_t)count};
}

void block_feed_add_words(struct block_feed *feed, const struct block_segment *segment)
{
    bool shares = true;
    for (size_t i = feed->count; i-- > 0 && shares;) {
        if (feed->segments[i].table == segment->table)
            shares = false;
        else if (feed->segments[i].table)
            break;
    }
    struct block_segment *to = &feed->segments[feed->count++];
    *to = *segment;
    to->shares = shares;
    if (shares)
        block_table_share(to->table);
}

static struct block_segment *segment_of(const struct block_feed *feed, size_t number)
{
    size_t i = feed->count - 1;
    while (i > 0 && feed->segments[i].first > number)
        i--;
    return &feed->segments[i];
}

uint32_t block_feed_time(const struct block_feed *feed, const struct record *records, size_t number)
{
    const struct block_segment *segment = segment_of(feed, number);
    const uint32_t *words = (const uint32_t *)(const void *)(records + number);
    return segment->table ? block_table_entry(segment->table, *words)->block->records[0].time
                          : records[number].time;
}

void block_feed_mark(struct block_feed *feed, struct record *records, size_t number, uint8_t mark)
{
    struct block_segment *segment = segment_of(feed, number);
    *(segment->table ? &segment->marks : &records[number].attribute) |= mark;
}

void block_feed_cut_records(struct block_feed *feed, size_t first)
{
    struct block_segment *last = &feed->segments[feed->count - 1];
    last->count = (uint32_t)(first - last->first);
    if (last->count == 0)
        feed->count--;
}
