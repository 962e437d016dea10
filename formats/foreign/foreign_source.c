#include "formats/foreign/foreign_source.h"

#include "formats/base/quantity.h"
#include "formats/base/saturating.h"
#include "formats/text/text_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (256u << 10)

/* Notes that are reported at the end, once each. */
enum source_note {
    NOTE_MORE,
    NOTE_LEFT_OUT,
    NOTE_ABOVE,
    NOTE_SIZE,
    NOTE_PROCESSOR,
    NOTE_BACK,
    NOTE_TIMELESS,
    NOTES
};

/* Number of corrupt places of a file that are reported one by one; the others are counted. */
#define DAMAGES_TOLD 10u

struct foreign_source {
    struct source source;
    const struct foreign_decoder *decoder;
    struct foreign_options options;
    struct text_reader *reader;
    uint8_t *buffer; /* [begin, end) is available */
    size_t begin, end;
    bool ended;     /* no data follows buffer[end] */
    bool skip_line; /* the line is too long: its rest is skipped */
    bool cut;       /* because the file is corrupt: its last line or piece is incomplete */
    bool stopped;
    bool finished;    /* the decoder has reached the end */
    uint64_t offset;  /* of buffer[begin] in the text */
    uint64_t line;    /* number of the line at buffer[begin], from 1 */
    uint64_t ordinal; /* of the next record */
    uint64_t tick;    /* of the last record delivered */
    bool begun;       /* a record is delivered, or is in the batch */
    unsigned taken;   /* references of item that are delivered */
    uint64_t passed;  /* ticks of records left out since the last one delivered */
    bool pending;     /* failure is returned next */
    unsigned damages; /* number of corrupt places reported */
    struct bt_error failure;
    uint64_t notes[NOTES];
    struct capture_info info;
    struct source_totals totals;
    struct foreign_item item;
    _Alignas(max_align_t) unsigned char state[];
};

/* --- bytes --- */

/* Reads more after the available bytes; *got is false if the batch should be delivered first. */
static int refill(struct foreign_source *foreign, struct bt_error *error)
{
    size_t kept = foreign->end - foreign->begin;
    memmove(foreign->buffer, foreign->buffer + foreign->begin, kept);
    foreign->begin = 0;
    foreign->end = kept;
    size_t got = 0;
    int result = text_reader_read(foreign->reader, (char *)foreign->buffer + kept,
                                  BUFFER_BYTES - kept, &got, error);
    if (result == BT_DATA) { /* the data before is complete; none follows */
        foreign->failure = *error;
        foreign->pending = true;
        foreign->ended = foreign->cut = true;
        return 0;
    }
    if (result < 0)
        return result;
    foreign->end += got;
    foreign->ended = got == 0;
    return 0;
}

static void consume(struct foreign_source *foreign, size_t size)
{
    foreign->begin += size;
    foreign->offset += size;
}

/* --- items --- */

/* Prefixes a decoder's message with the position. */
static int damaged(struct foreign_source *foreign, struct bt_error *error)
{
    const char *name = text_reader_name(foreign->reader);
    if (foreign->decoder->lines)
        return bt_fail_within(error, "%.300s: line %" PRIu64, name, foreign->line);
    return bt_fail_within(error, "%.300s: offset %" PRIu64, name, foreign->offset);
}

static void clear_item(struct foreign_item *item)
{
    item->used = 0;
    item->count = 0;
    item->left_out = false;
    item->has_index = false;
    item->timed = FOREIGN_TIMELESS;
}

/* The next line as an item. 1; 0 if more bytes are needed; BT_DATA. */
static int next_line(struct foreign_source *foreign, struct bt_error *error)
{
    const uint8_t *line = foreign->buffer + foreign->begin;
    size_t available = foreign->end - foreign->begin;
    const uint8_t *newline = available > 0 ? memchr(line, '\n', available) : NULL;
    size_t size = newline ? (size_t)(newline - line) : available;
    bool unfinished = !foreign->ended && size <= FOREIGN_ITEM_BYTES_MAX && !foreign->skip_line;
    if (!newline && (unfinished || foreign->cut || size == 0))
        return 0;
    size_t whole = newline ? size + 1 : size;
    bool skipped = foreign->skip_line;
    foreign->skip_line = !newline && !foreign->ended;
    int result = 0;
    if (!skipped && size > FOREIGN_ITEM_BYTES_MAX)
        result = bt_fail(error, BT_DATA, "it is longer than %u bytes", FOREIGN_ITEM_BYTES_MAX);
    else if (!skipped) {
        if (size > 0 && line[size - 1] == '\r')
            size--;
        result = foreign->decoder->decode(foreign->state, line, size, true, &foreign->item, error);
    }
    if (result < 0)
        result = damaged(foreign, error);
    consume(foreign, whole);
    foreign->line += newline != NULL;
    return result < 0 ? result : 1;
}

/* The next piece as an item; as next_line. */
static int next_piece(struct foreign_source *foreign, struct bt_error *error)
{
    size_t available = foreign->end - foreign->begin;
    if (available == 0)
        return 0;
    struct foreign_item *item = &foreign->item;
    int result = foreign->decoder->decode(foreign->state, foreign->buffer + foreign->begin,
                                          available, foreign->ended, item, error);
    bool stuck = item->used == 0 && (foreign->ended || available >= BUFFER_BYTES / 2);
    if (result == 0 && item->used == 0 && (!stuck || foreign->cut))
        return 0;
    if (result == 0 && stuck)
        result = bt_fail(error, BT_DATA, "the last %zu bytes are not a whole record", available);
    if (result < 0)
        result = damaged(foreign, error);
    if (item->used == 0) /* the start of the next one is unknown */
        foreign->ended = true;
    consume(foreign, item->used > 0 && item->used < available ? item->used : available);
    return result < 0 ? result : 1;
}

/* --- records --- */

/* Whether the next record must begin a new batch; *tick is its tick. */
static bool time_record(struct foreign_source *foreign, struct record *record, uint64_t *tick)
{
    const struct foreign_item *item = &foreign->item;
    bool first = foreign->taken == 0; /* the others have the same time */
    bool apart = false;
    *tick = foreign->tick;
    if (item->timed == FOREIGN_TIMELESS || !first)
        return false;
    if (item->timed != FOREIGN_TICK) {
        uint64_t since = saturating_add(foreign->passed, item->time);
        record->time = since < UINT32_MAX ? (uint32_t)since : UINT32_MAX;
        apart = record->time == UINT32_MAX;
        /* a saturated first time means "unknown", as in BYU records */
        if (foreign->begun || since != UINT32_MAX)
            *tick = saturating_add(*tick, since);
    }
    if (item->timed == FOREIGN_TIME_TICK && item->tick >= foreign->tick) {
        apart = apart || item->tick != *tick;
        *tick = item->tick;
    }
    if (item->timed == FOREIGN_TICK && item->tick >= foreign->tick) {
        uint64_t since = item->tick - foreign->tick;
        record->time = since < UINT32_MAX ? (uint32_t)since : UINT32_MAX;
        apart = record->time == UINT32_MAX;
        *tick = item->tick;
    }
    return apart || (item->has_index && item->index != foreign->ordinal);
}

static uint8_t octet(uint64_t number)
{
    return number < UINT8_MAX ? (uint8_t)number : UINT8_MAX;
}

/* A reference as a record, without its time. */
static struct record make_record(const struct foreign_reference *reference)
{
    return (struct record){.address = (uint32_t)reference->address,
                           .type = reference->type,
                           .size = octet(reference->size),
                           .attribute = reference->attribute,
                           .processor = octet(reference->processor)};
}

/* True if a reference does not fit in a record; the caller then skips it. */
static bool left_out(struct foreign_source *foreign, const struct foreign_reference *reference)
{
    if (reference->address <= UINT32_MAX || foreign->options.wrap)
        return false;
    foreign->notes[NOTE_ABOVE]++;
    if (foreign->taken == 0)
        foreign->passed = saturating_add(foreign->passed, foreign->item.time);
    return true;
}

/* Counts fields that change in the record. */
static void note_changes(struct foreign_source *foreign, const struct foreign_reference *reference)
{
    const struct foreign_item *item = &foreign->item;
    foreign->notes[NOTE_ABOVE] += reference->address > UINT32_MAX;
    foreign->notes[NOTE_SIZE] += reference->size > UINT8_MAX;
    foreign->notes[NOTE_PROCESSOR] += reference->processor > UINT8_MAX;
    foreign->notes[NOTE_BACK] +=
        foreign->taken == 0 && (item->timed == FOREIGN_TICK || item->timed == FOREIGN_TIME_TICK) &&
        item->tick < foreign->tick;
    foreign->notes[NOTE_TIMELESS] += foreign->decoder->timed && item->timed == FOREIGN_TIMELESS;
}

/* Moves the rest of the item into the batch. False: the batch must be delivered first. */
static bool take_item(struct foreign_source *foreign, struct batch *batch)
{
    struct foreign_item *item = &foreign->item;
    for (; foreign->taken < item->count; foreign->taken++) {
        const struct foreign_reference *reference = &item->references[foreign->taken];
        uint64_t tick;
        if (batch->count == batch->capacity)
            return false;
        if (left_out(foreign, reference))
            continue;
        struct record record = make_record(reference);
        bool apart = time_record(foreign, &record, &tick);
        if (apart && batch->count > 0)
            return false;
        note_changes(foreign, reference);
        foreign->passed = 0;
        if (item->has_index && foreign->taken == 0)
            foreign->ordinal = item->index;
        if (batch->count == 0) {
            batch->first_tick = tick;
            batch->first_index = foreign->ordinal;
        }
        batch->records[batch->count++] = record;
        batch->last_tick = foreign->tick = tick;
        foreign->begun = true;
        foreign->ordinal++;
        foreign->totals.seen++;
    }
    return true;
}

/* --- the end --- */

/* Returns a note, once. */
static int report_note(struct foreign_source *foreign, enum source_note note,
                       struct bt_error *error)
{
    static const char *const sentences[NOTES] = {
        [NOTE_MORE] = "more damaged places",
        [NOTE_SIZE] = "sizes above 255 limited to 255",
        [NOTE_PROCESSOR] = "processors above 255 limited to 255",
        [NOTE_BACK] = "places where time goes back (the last time is kept)",
        [NOTE_TIMELESS] = "requests without a time (set to 0)"};
    const char *name = text_reader_name(foreign->reader);
    char number[QUANTITY_TEXT_BYTES];
    quantity_text(number, foreign->notes[note]);
    foreign->notes[note] = 0;
    if (note == NOTE_LEFT_OUT)
        return bt_fail(error, BT_NOTE, "%.300s: %s left out: %s", name, foreign->decoder->left_out,
                       number);
    if (note == NOTE_ABOVE && foreign->options.wrap)
        return bt_fail(error, BT_NOTE,
                       "%.300s: addresses above 4 GiB reduced to their low 32 bits: %s", name,
                       number);
    if (note == NOTE_ABOVE)
        return bt_fail(error, BT_NOTE,
                       "%.300s: requests above 4 GiB left out: %s (a record has 32 bits of "
                       "address; bustap convert --wrap keeps the low 32)",
                       name, number);
    return bt_fail(error, BT_NOTE, "%.300s: %s: %s", name, sentences[note], number);
}

static int report_notes(struct foreign_source *foreign, struct bt_error *error)
{
    const char *name = text_reader_name(foreign->reader);
    bool finished = foreign->finished;
    foreign->finished = true;
    if (!finished && foreign->offset == 0 && foreign->end == 0 && !foreign->cut)
        return bt_fail(error, BT_NOTE, "%.300s is empty", name);
    if (!finished && foreign->decoder->finish &&
        foreign->decoder->finish(foreign->state, error) < 0)
        return bt_fail_within(error, "%.300s", name);
    for (enum source_note note = 0; note < NOTES; note++)
        if (foreign->notes[note] > 0)
            return report_note(foreign, note, error);
    return 0;
}

static int report_failure(struct foreign_source *foreign, struct bt_error *error)
{
    foreign->pending = false;
    *error = foreign->failure;
    return foreign->failure.code;
}

/* --- the source --- */

/* Decodes until the batch is full, must end, or the available bytes are used up. 1: read more; 0:
 * deliver the batch; negative: failure of the file. */
static int fill_batch(struct foreign_source *foreign, struct batch *batch)
{
    struct foreign_item *item = &foreign->item;
    const bool lines = foreign->decoder->lines;
    for (;;) {
        if (!take_item(foreign, batch))
            return 0;
        clear_item(item);
        foreign->taken = 0;
        int result =
            lines ? next_line(foreign, &foreign->failure) : next_piece(foreign, &foreign->failure);
        if (result < 0) {
            item->count = 0;
            if (foreign->damages == DAMAGES_TOLD) {
                foreign->notes[NOTE_MORE]++;
                continue;
            }
            foreign->damages++;
            foreign->pending = true;
            return 0;
        }
        if (result == 0)
            return 1;
        foreign->notes[NOTE_LEFT_OUT] += item->left_out;
        foreign->info.clock_hz = item->clock_hz;
    }
}

/* Reads the first item, which may contain the clock. The first call of next returns an error in
 * it. */
static void read_ahead(struct foreign_source *foreign)
{
    struct batch none = {.capacity = 0};
    while (!foreign->pending && !foreign->ended && foreign->item.count == 0)
        if (fill_batch(foreign, &none) == 1 && refill(foreign, &foreign->failure) < 0)
            foreign->pending = true;
}

static int foreign_source_next(struct source *source, struct batch *batch, int timeout_ms,
                               struct bt_error *error)
{
    struct foreign_source *foreign = (struct foreign_source *)source;
    struct bt_error unwanted;
    (void)timeout_ms; /* files, and pipes that may block */
    error = error ? error : &unwanted;
    batch_clear(batch);
    batch->last_tick = batch->first_tick = foreign->tick;
    if (foreign->stopped)
        return 0;
    if (batch->capacity == 0)
        return bt_fail(error, BT_USAGE, "a batch without room for records");
    while (!foreign->pending) {
        if (fill_batch(foreign, batch) == 0 || batch->count > 0)
            break;
        if (foreign->ended)
            return report_notes(foreign, error);
        int result = refill(foreign, error);
        if (result < 0)
            return result;
        if (foreign->pending) /* data before the failure is delivered first */
            fill_batch(foreign, batch);
    }
    return batch->count > 0 ? 1 : report_failure(foreign, error);
}

static const struct capture_info *foreign_source_info(struct source *source)
{
    return &((struct foreign_source *)source)->info;
}

static void foreign_source_totals(struct source *source, struct source_totals *totals)
{
    const struct foreign_source *foreign = (const struct foreign_source *)source;
    *totals = foreign->totals;
    totals->accepted = totals->seen;
    totals->known = true;
}

static int foreign_source_stop(struct source *source, struct bt_error *error)
{
    (void)error;
    ((struct foreign_source *)source)->stopped = true;
    return 0;
}

static void foreign_source_close(struct source *source)
{
    struct foreign_source *foreign = (struct foreign_source *)source;
    text_reader_close(foreign->reader);
    free(foreign->buffer);
    free(foreign);
}

static const struct source_operations operations = {.start = NULL,
                                                    .next = foreign_source_next,
                                                    .info = foreign_source_info,
                                                    .totals = foreign_source_totals,
                                                    .stop = foreign_source_stop,
                                                    .absent = NULL,
                                                    .close = foreign_source_close};

static int open_reader(struct source **source, const struct foreign_decoder *decoder,
                       struct text_reader *reader, const struct foreign_options *options,
                       struct bt_error *error)
{
    if (!reader)
        return error->code;
    struct foreign_source *foreign = calloc(1, sizeof *foreign + decoder->state_bytes);
    if (foreign)
        foreign->buffer = malloc(BUFFER_BYTES);
    if (!foreign || !foreign->buffer) {
        bt_fail(error, BT_MEMORY, "no memory to read %.300s", text_reader_name(reader));
        text_reader_close(reader);
        free(foreign);
        return error->code;
    }
    foreign->source.operations = &operations;
    foreign->source.backpressure = true;
    foreign->decoder = decoder;
    foreign->info.sizes_estimated = decoder->sizes_estimated;
    foreign->options = *options;
    foreign->reader = reader;
    foreign->line = 1;
    if (decoder->begin)
        decoder->begin(foreign->state, options);
    read_ahead(foreign);
    *source = &foreign->source;
    return 0;
}

int foreign_source_open(struct source **source, const struct foreign_decoder *decoder,
                        const char *path, const struct foreign_options *options,
                        struct bt_error *error)
{
    struct bt_error why;
    int result = open_reader(source, decoder, text_reader_open(path, &why), options, &why);
    return result < 0 ? bt_fail(error, result, "%s", why.message) : 0;
}

int foreign_source_open_memory(struct source **source, const struct foreign_decoder *decoder,
                               const void *bytes, size_t size,
                               const struct foreign_options *options, struct bt_error *error)
{
    struct bt_error why;
    int result = open_reader(source, decoder, text_reader_from_memory(bytes, size, "memory", &why),
                             options, &why);
    return result < 0 ? bt_fail(error, result, "%s", why.message) : 0;
}

bool foreign_source_is(const struct source *source)
{
    return source->operations == &operations;
}

uint64_t foreign_source_offset(const struct source *source)
{
    return text_reader_offset(((const struct foreign_source *)source)->reader);
}

uint64_t foreign_source_size(const struct source *source)
{
    return text_reader_size(((const struct foreign_source *)source)->reader);
}
