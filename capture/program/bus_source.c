#include "capture/program/bus_source.h"

#include <stdlib.h>

#define RECORDS 1024u /* in a batch of references */
#define PIECES                                                                                     \
    32u /* more than the requests of any record: 255 bytes are 7 of 32, 1 of 16, 1 of 8 and 1 of 7 \
         */

struct bus_source {
    struct source source;
    struct source *references;
    struct batch batch;
    size_t position;   /* in the batch */
    uint64_t requests; /* number so far */
    uint64_t tick;
};

static struct bus_source *from(struct source *source)
{
    return (struct bus_source *)source;
}

static unsigned piece_of(unsigned size)
{
    return size >= 32 ? 32 : size >= 16 ? 16 : size > 8 ? 8 : size;
}

/* Splits a reference into requests. Returns their number. */
static size_t split(const struct record *record, struct record *requests)
{
    size_t count = 0;
    unsigned done = 0;
    do {
        unsigned size = piece_of(record->size - done);
        requests[count] = *record;
        requests[count].address = record->address + done;
        requests[count].size = (uint8_t)size;
        requests[count].processor = record->processor % BUS_SOURCE_AGENTS;
        requests[count].attribute = record->attribute & (uint8_t)~ATTRIBUTE_EVENT;
        requests[count].time = count == 0 ? record->time : 0;
        done += size;
        count++;
    } while (done < record->size);
    return count;
}

static int refill(struct bus_source *bus, int timeout_ms, struct bt_error *error)
{
    if (bus->position < bus->batch.count)
        return 1;
    bus->position = 0;
    batch_clear(&bus->batch);
    return source_next(bus->references, &bus->batch, timeout_ms, error);
}

static int next(struct source *source, struct batch *batch, int timeout_ms, struct bt_error *error)
{
    struct bus_source *bus = from(source);
    int result = refill(bus, timeout_ms, error);
    if (result != 1)
        return result;
    batch_clear(batch);
    while (bus->position < bus->batch.count && batch->capacity - batch->count >= PIECES) {
        const struct record *record = &bus->batch.records[bus->position++];
        bus->tick += record->time;
        if (batch->count == 0)
            batch->first_tick = bus->tick;
        batch->count += split(record, batch->records + batch->count);
    }
    batch->first_index = bus->requests;
    batch->last_tick = bus->tick;
    bus->requests += batch->count;
    return 1;
}

static const struct capture_info *info(struct source *source)
{
    return source_info(from(source)->references);
}

static void totals(struct source *source, struct source_totals *totals)
{
    uint64_t requests = from(source)->requests;
    *totals = (struct source_totals){.known = true, .seen = requests, .accepted = requests};
}

static int stop(struct source *source, struct bt_error *error)
{
    return source_stop(from(source)->references, error);
}

static void close_source(struct source *source)
{
    struct bus_source *bus = from(source);
    source_close(bus->references);
    free(bus->batch.records);
    free(bus);
}

static const struct source_operations operations = {
    .next = next, .info = info, .totals = totals, .stop = stop, .close = close_source};

struct source *bus_source_new(struct source *references, struct bt_error *error)
{
    struct bus_source *bus = calloc(1, sizeof *bus);
    struct record *records = malloc(RECORDS * sizeof *records);
    if (!bus || !records) {
        bt_fail(error, BT_MEMORY, "no memory for a bus");
        free(records);
        free(bus);
        source_close(references);
        return NULL;
    }
    *bus = (struct bus_source){
        .source = {.operations = &operations, .backpressure = references->backpressure},
        .references = references,
        .batch = {.records = records, .capacity = RECORDS}};
    return &bus->source;
}
