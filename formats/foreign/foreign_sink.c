#include "formats/foreign/foreign_sink.h"

#include <stdlib.h>
#include <string.h>

/* Records encoded at a time: their bytes stay in the processor's first caches. */
#define PIECE_RECORDS 2048u

struct foreign_sink {
    struct sink sink;
    const struct foreign_encoder *encoder;
    struct foreign_options options;
    struct text_writer *writer;
    struct foreign_loss *loss; /* the caller's, or own_loss */
    struct foreign_loss own_loss;
    char *buffer;
    struct record *chosen; /* PIECE_RECORDS, if a processor is selected */
    uint64_t last_tick;    /* of the last written record, of the selected ones */
    uint64_t written;      /* records chosen */
    _Alignas(max_align_t) unsigned char state[];
};

static void foreign_sink_free(struct foreign_sink *foreign)
{
    if (foreign->encoder->release)
        foreign->encoder->release(foreign->state);
    text_writer_free(foreign->writer);
    free(foreign->buffer);
    free(foreign->chosen);
    free(foreign);
}

/* Encodes and writes a run of any length. */
static int put_run(struct foreign_sink *foreign, const struct foreign_run *run,
                   struct bt_error *error)
{
    struct foreign_run piece = *run;
    for (size_t done = 0; done < run->count; done += piece.count) {
        piece.records = run->records + done;
        piece.count = run->count - done < PIECE_RECORDS ? run->count - done : PIECE_RECORDS;
        if (done > 0)
            piece.tick += piece.records[0].time;
        const char *end =
            foreign->encoder->encode(foreign->state, foreign->buffer, &piece, foreign->loss, error);
        if (!end)
            return error->code;
        int result = text_writer_put(foreign->writer, foreign->buffer,
                                     (size_t)(end - foreign->buffer), error);
        if (result < 0)
            return result;
        piece.tick += records_time(piece.records + 1, piece.count - 1);
        piece.index += piece.count;
    }
    return 0;
}

/* Counts a time that the format cannot hold: passed ticks since the last written record. */
static void note_time(struct foreign_sink *foreign, uint64_t passed)
{
    if (foreign->encoder->times_between && foreign->written > 0 && passed > UINT32_MAX)
        foreign->loss->count[FOREIGN_BETWEEN]++;
}

/* Writes the records of the selected processor, with times since its previous request. */
static int put_processor(struct foreign_sink *foreign, const struct batch *batch,
                         struct bt_error *error)
{
    struct foreign_run run = {.records = foreign->chosen, .index = foreign->written};
    uint64_t tick = batch->first_tick;
    int result = 0;
    for (size_t i = 0; i < batch->count && result == 0; i++) {
        struct record record = batch->records[i];
        tick += i > 0 ? record.time : 0;
        if (record.processor != foreign->options.processor) {
            foreign->loss->count[FOREIGN_PROCESSOR]++;
            continue;
        }
        uint64_t since = tick > foreign->last_tick ? tick - foreign->last_tick : 0;
        note_time(foreign, since);
        record.time = since < UINT32_MAX ? (uint32_t)since : UINT32_MAX;
        if (run.count == PIECE_RECORDS || record.time == UINT32_MAX) {
            result = put_run(foreign, &run, error);
            run.index += run.count;
            run.count = 0;
        }
        if (run.count == 0)
            run.tick = tick;
        foreign->chosen[run.count++] = record;
        foreign->last_tick = tick;
        foreign->written++;
    }
    return result < 0 ? result : put_run(foreign, &run, error);
}

/*
 * Writes a whole batch, which begins `since` ticks after the last written record. A format without
 * ticks uses this as the first record's time, which may be less: requests between the two were
 * lost, or left out by the program that wrote the trace.
 */
static int put_batch(struct foreign_sink *foreign, const struct batch *batch, uint64_t since,
                     struct bt_error *error)
{
    struct record first = batch->records[0];
    struct foreign_run run = {.records = batch->records,
                              .count = batch->count,
                              .index = batch->first_index,
                              .tick = batch->first_tick};
    since = since < UINT32_MAX ? since : UINT32_MAX;
    if (!foreign->encoder->times_between || first.time == since)
        return put_run(foreign, &run, error);
    first.time = (uint32_t)since;
    const struct foreign_run one = {
        .records = &first, .count = 1, .index = run.index, .tick = run.tick};
    int result = put_run(foreign, &one, error);
    if (result < 0 || run.count == 1)
        return result;
    run.records++;
    run.count--;
    run.index++;
    run.tick += run.records[0].time;
    return put_run(foreign, &run, error);
}

static int foreign_sink_put(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    struct foreign_sink *foreign = (struct foreign_sink *)sink;
    struct bt_error unwanted;
    error = error ? error : &unwanted;
    foreign->loss->count[FOREIGN_LOSS_MARK] +=
        loss_total(&batch->lost) > 0 || batch->gap.milliseconds > 0;
    foreign->loss->count[FOREIGN_CHOSEN] += batch->gap.chosen;
    foreign->loss->count[FOREIGN_EVENT] += batch->event != EVENT_NONE;
    foreign->loss->taken += batch->count;
    if (foreign->options.one_processor)
        return put_processor(foreign, batch, error);
    if (batch->count == 0)
        return 0;
    uint64_t since = batch->records[0].time;
    if (foreign->written > 0 && batch->first_tick >= foreign->last_tick)
        since = batch->first_tick - foreign->last_tick;
    note_time(foreign, since);
    foreign->last_tick = batch->last_tick;
    foreign->written += batch->count;
    return put_batch(foreign, batch, since, error);
}

static int foreign_sink_close(struct sink *sink, struct bt_error *error)
{
    struct foreign_sink *foreign = (struct foreign_sink *)sink;
    int result = 0;
    if (foreign->encoder->finish)
        result = foreign->encoder->finish(foreign->state, foreign->writer, foreign->loss, error);
    if (result == 0)
        result = text_writer_finish(foreign->writer, error);
    foreign_sink_free(foreign);
    return result;
}

static const struct sink_operations operations = {foreign_sink_put, foreign_sink_close};

void foreign_sink_discard(struct sink *sink)
{
    if (sink)
        foreign_sink_free((struct foreign_sink *)sink);
}

static int begin(struct foreign_sink *foreign, struct bt_error *error)
{
    const struct foreign_encoder *encoder = foreign->encoder;
    size_t filled = 0;
    if (!encoder->begin)
        return 0;
    int result = encoder->begin(foreign->state, &foreign->options, foreign->writer, foreign->buffer,
                                &filled, error);
    return result < 0 ? result : text_writer_put(foreign->writer, foreign->buffer, filled, error);
}

int foreign_sink_new_into(struct sink **sink, const struct foreign_encoder *encoder,
                          struct text_writer *writer, const struct foreign_options *options,
                          struct foreign_loss *loss, struct bt_error *error)
{
    struct foreign_sink *foreign = calloc(1, sizeof *foreign + encoder->state_bytes);
    if (!foreign) {
        text_writer_free(writer);
        return bt_fail(error, BT_MEMORY, "no memory to write a trace");
    }
    foreign->sink.operations = &operations;
    foreign->encoder = encoder;
    foreign->options = *options;
    foreign->writer = writer;
    foreign->loss = loss ? loss : &foreign->own_loss;
    size_t room = PIECE_RECORDS * encoder->record_bytes;
    foreign->buffer = malloc(room > encoder->head_bytes ? room : encoder->head_bytes);
    if (options->one_processor)
        foreign->chosen = malloc(PIECE_RECORDS * sizeof *foreign->chosen);
    int result = 0;
    if (!foreign->buffer || (options->one_processor && !foreign->chosen))
        result = bt_fail(error, BT_MEMORY, "no memory to write a trace");
    if (result == 0)
        result = begin(foreign, error);
    if (result < 0)
        foreign_sink_free(foreign);
    else
        *sink = &foreign->sink;
    return result;
}

int foreign_sink_new(struct sink **sink, const struct foreign_encoder *encoder, const char *path,
                     const struct foreign_options *options, struct foreign_loss *loss,
                     struct bt_error *error)
{
    struct bt_error why;
    struct text_writer *writer = text_writer_new(path, &why);
    if (writer)
        return foreign_sink_new_into(sink, encoder, writer, options, loss, error);
    return bt_fail(error, why.code, "%s", why.message);
}
