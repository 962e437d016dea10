/* What a program's process puts into a ring, or overwrites there. The first byte has flags; then
 * there are messages, each with its size in two bytes before it; with OVERWRITES the first ones are
 * offsets and bytes that replace some of the ring's. The consumer must end, and the records are the
 * same expanded as in members of executions. */
#include "capture/program/exec_source.h"
#include "formats/base/bytes.h"
#include "formats/blocks/block_decoder.h"
#include "formats/blocks/block_encoder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OVERWRITES   1u
#define WRITES       6u /* of three bytes each */
#define CAPACITY     4096u
#define RECORDS_MAX  100000u /* more are not read: repetitions may make very many */
#define TIMEOUTS_MAX 10u
#define OFFSET_STEP  4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int good)
{
    if (!good)
        abort();
}

struct reading {
    struct record *records;
    size_t count;
};

/* Ends early where the ring is full: no reader runs yet. */
static void put_messages(struct message_ring *ring, const uint8_t *data, size_t size)
{
    size_t total = 0;
    while (size >= 2) {
        size_t bytes = bytes_get16(data);
        bytes = bytes < size - 2 ? bytes : size - 2;
        total += bytes + 128;
        if (total > 500000)
            return;
        void *to = message_ring_reserve(ring, bytes, NULL, NULL);
        must(to != NULL);
        memcpy(to, data + 2, bytes);
        message_ring_put(ring);
        data += 2 + bytes;
        size -= 2 + bytes;
    }
}

static struct message_ring *make_ring(void *memory, const uint8_t *data, size_t size)
{
    const struct alive self = alive_process(getpid());
    const bool overwrites = data[0] & OVERWRITES && size > 1 + 3 * WRITES;
    const uint8_t *writes = data + 1;
    const size_t messages = overwrites ? 1 + 3 * WRITES : 1;
    memset(memory, 0, message_ring_bytes());
    struct message_ring *ring = message_ring_at(memory, &self);
    put_messages(ring, data + messages, size - messages);
    message_ring_end(ring);
    for (unsigned i = 0; overwrites && i < WRITES; i++)
        ((uint8_t *)memory)[bytes_get16(writes + 3 * i) * OFFSET_STEP] = writes[3 * i + 2];
    return ring;
}

/* Codes and decodes the records of a feed in place. */
static void through_member(struct batch *batch)
{
    struct block_encoder *encoder = block_encoder_new(NULL);
    struct block_decoder *decoder = block_decoder_new(NULL);
    const size_t capacity = block_encoder_bound(batch->count);
    uint8_t *bytes = malloc(capacity);
    uint32_t check, check_back;
    size_t size;
    must(encoder && decoder && bytes);
    must(block_encoder_feed(encoder, batch->feed, batch->records, batch->count, bytes, capacity,
                            &size, &check, NULL) == 0);
    must(block_decode(decoder, bytes, size, batch->records, batch->count, &check_back, NULL) == 0);
    must(check == check_back);
    block_encoder_free(encoder);
    block_decoder_free(decoder);
    free(bytes);
}

/* Reads all of the ring, or RECORDS_MAX records. */
static struct reading read_ring(struct message_ring *ring, struct block_feed *feed)
{
    const struct capture_info info = {.bus = CAPTURE_BUS_PROGRAM};
    struct reading reading = {.records = malloc((RECORDS_MAX + CAPACITY) * sizeof(struct record))};
    struct source *source = exec_source_new(ring, &info, NULL);
    unsigned timeouts = 0;
    int result = 1;
    must(reading.records && source);
    while ((result == 1 || result == BT_TIMEOUT) && timeouts < TIMEOUTS_MAX &&
           reading.count < RECORDS_MAX) {
        struct batch batch = {
            .records = reading.records + reading.count, .capacity = CAPACITY, .feed = feed};
        struct bt_error error = {.code = 0};
        result = source_next(source, &batch, 0, &error);
        must(result == 0 || result == 1 || error.message[0]);
        timeouts += result == BT_TIMEOUT;
        if (result != 1)
            continue;
        must(batch.count > 0 && batch.count <= CAPACITY);
        if (feed)
            through_member(&batch);
        if (feed)
            block_feed_clear(feed);
        if (batch.gap.chosen)
            batch.records[0].attribute |= ATTRIBUTE_PART;
        reading.count += batch.count;
    }
    source_close(source);
    return reading;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    void *memory = aligned_alloc(4096, (message_ring_bytes() + 4095) / 4096 * 4096);
    struct block_feed *feed = block_feed_new(64);
    must(memory && feed);
    struct reading expanded = read_ring(make_ring(memory, data, size), NULL);
    struct reading fed = read_ring(make_ring(memory, data, size), feed);
    const size_t count = expanded.count < fed.count ? expanded.count : fed.count;
    must(memcmp(expanded.records, fed.records, count * sizeof *fed.records) == 0);
    free(expanded.records);
    free(fed.records);
    block_feed_free(feed);
    free(memory);
    return 0;
}
