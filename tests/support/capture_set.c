#include "tests/support/capture_set.h"

#include "formats/capture/capture_writer.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STARTED_NS 1795214700000000000 /* 2026-11-20T22:45:00Z */
#define FILE_NS    1000000000

/* Position in the capture, over all its files. */
struct progress {
    const struct capture_set *set;
    uint64_t random;
    uint64_t index; /* of the next request */
    uint64_t tick;  /* of the last record */
    struct capture_totals totals;
    struct record_encoder *encoder;
    struct record *records;
    uint8_t *member;
    int file; /* file being written, or -1 */
    struct capture_writer *writer;
};

static uint64_t lost_in_file(const struct capture_set *set, uint32_t file)
{
    uint64_t lost = 0;
    if (set->file_records > set->block_records)
        for (int stage = 0; stage < LOSS_STAGES; stage++)
            lost += set->lost[stage];
    return lost + (file == set->files ? set->lost_at_end : 0);
}

uint64_t capture_set_file_requests(const struct capture_set *set, uint32_t file)
{
    return set->file_records + lost_in_file(set, file);
}

static void add_events(struct record *records, uint32_t count, uint32_t events)
{
    static const enum record_event kinds[] = {EVENT_SIGNAL, EVENT_SIGNAL_RETURN, EVENT_THREAD};
    for (uint32_t i = 0; i < events && 2 * i < count; i++) {
        records[2 * i].type = REQUEST_FETCH;
        records[2 * i].attribute |= kinds[i % 3];
    }
}

/* Writes one block of count records, after a loss and a gap. */
static int put_block(struct progress *progress, uint32_t count, const struct batch *before,
                     bool skew, bool leave_out)
{
    const struct loss *lost = &before->lost;
    struct batch batch = *before;
    size_t size;
    batch.records = progress->records;
    batch.count = count;
    records_fill_like_a_bus(batch.records, count, &progress->random);
    for (uint32_t i = 0; i < batch.parts; i++)
        batch.records[3 * i + 3].attribute |= ATTRIBUTE_PART;
    if (batch.events)
        add_events(batch.records, count, progress->set->events);
    batch.lost.first_tick = progress->tick;
    batch.first_tick = progress->tick + batch.records[0].time;
    if (skew)
        batch.first_tick++;
    batch.lost.last_tick = batch.first_tick;
    batch.last_tick = batch.first_tick + records_time(batch.records + 1, count - 1);
    batch.first_index = progress->index + loss_total(lost);
    progress->index = batch.first_index + count;
    progress->tick = batch.last_tick;
    progress->totals.capture_records += count;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        progress->totals.capture_lost[stage] += lost->count[stage];
    if (!progress->writer || leave_out)
        return 0;
    if (capture_put_data_member(progress->encoder, &batch, progress->member,
                                capture_data_member_bound(count), &size, NULL) < 0)
        return -1;
    return capture_writer_put(progress->writer, progress->member, size, &batch, NULL);
}

static int put_blocks(struct progress *progress, uint32_t number)
{
    const struct capture_set *set = progress->set;
    uint32_t left = set->file_records;
    for (uint32_t block = 0; left > 0; block++) {
        struct batch before = {.host_time_ns = STARTED_NS + (int64_t)block * FILE_NS};
        if (block == 1) {
            memcpy(before.lost.count, set->lost, sizeof before.lost.count);
            before.gap = (struct gap){.milliseconds = set->gap_ms,
                                      .uncounted = set->gap_uncounted,
                                      .chosen = set->gap_chosen};
            before.parts = set->gap_parts;
            before.events = set->events > 0;
        }
        uint32_t count = left < set->block_records ? left : set->block_records;
        bool skew = set->lie == LIE_TICK && block == 1 && number == set->files;
        bool leave_out = set->lie == LIE_HOLE && block == 1 && number == 1;
        if (put_block(progress, count, &before, skew, leave_out) < 0)
            return -1;
        left -= count;
    }
    return 0;
}

static int close_file(struct progress *progress, uint32_t number)
{
    const struct capture_set *set = progress->set;
    struct capture_totals *totals = &progress->totals;
    bool last = number == set->files;
    memset(totals->file_lost, 0, sizeof totals->file_lost);
    totals->end = last ? CAPTURE_END_STOPPED : CAPTURE_END_ROTATED;
    totals->final = last || set->lie == LIE_FINAL;
    totals->last_tick = progress->tick;
    totals->ended_ns = STARTED_NS + (int64_t)number * FILE_NS;
    if (last) {
        totals->file_lost[LOSS_BUS] = set->lost_at_end;
        totals->capture_lost[LOSS_BUS] += set->lost_at_end;
        progress->index += set->lost_at_end;
        totals->after_stop = set->after_stop;
        totals->source = (struct source_totals){.known = !set->source_unknown,
                                                .filtered = set->filtered,
                                                .above_4gib = set->above_4gib,
                                                .undecoded = set->undecoded,
                                                .accepted = progress->index + set->after_stop,
                                                .lost_bus = totals->capture_lost[LOSS_BUS]};
        totals->source.accepted += set->lie == LIE_ACCEPTED;
        totals->capture_records += set->lie == LIE_CAPTURED;
        totals->source.seen =
            totals->source.accepted + set->filtered + set->above_4gib + set->undecoded;
    }
    if (set->hostile)
        strcpy(totals->message, CAPTURE_SET_HOSTILE);
    if (!progress->writer || (last && set->unclosed))
        return 0;
    return capture_writer_close(progress->writer, totals, NULL);
}

static int put_file(struct progress *progress, const char *prefix, uint32_t number)
{
    const struct capture_set *set = progress->set;
    char name[4096];
    struct capture_info info = {.clock_hz = 66000000,
                                .board = "made for a test",
                                .bus = "p6",
                                .started_ns = STARTED_NS,
                                .file_number = number,
                                .version = (uint8_t)set->version,
                                .keep = set->keep,
                                .file_started_ns = STARTED_NS + (int64_t)(number - 1) * FILE_NS,
                                .first_index = progress->index};
    if (set->gap_chosen || set->gap_parts > 0 || set->events > 0)
        strcpy(info.bus, CAPTURE_BUS_PROGRAM);
    if (set->hostile) {
        strcpy(info.board, CAPTURE_SET_HOSTILE);
        strcpy(info.bus, CAPTURE_SET_HOSTILE);
        strcpy(info.filter, CAPTURE_SET_HOSTILE);
    }
    if (set->lie == LIE_SEAM && number > 1)
        info.first_index = progress->index += 7;
    if (set->lie == LIE_BACK)
        progress->tick = 0;
    uint64_t id = random_seed(set->seed);
    random_fill(&id, info.id, sizeof info.id);
    snprintf(name, sizeof name, "%s_%u.%s", prefix, number,
             set->version == CAPTURE_VERSION_CODED ? "byb" : "byu.gz");
    progress->file = -1;
    progress->writer = NULL;
    if (number > set->removed) {
        progress->file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (progress->file >= 0)
            progress->writer = capture_writer_new(progress->file, name, &info, NULL);
        if (!progress->writer)
            return -1;
    }
    int result = put_blocks(progress, number);
    if (result == 0)
        result = close_file(progress, number);
    capture_writer_free(progress->writer);
    if (progress->file >= 0)
        close(progress->file);
    return result;
}

int capture_set_write(const struct capture_set *set, const char *prefix)
{
    struct progress progress = {.set = set, .random = random_seed(set->seed)};
    progress.encoder = record_encoder_new(RECORD_ENGINE_ZLIB, 1, NULL);
    progress.records = malloc(set->block_records * sizeof *progress.records);
    progress.member = malloc(capture_data_member_bound(set->block_records));
    int result = progress.encoder && progress.records && progress.member ? 0 : -1;
    if (progress.encoder && set->version == CAPTURE_VERSION_CODED)
        record_encoder_set_version(progress.encoder, set->version);
    for (uint32_t number = 1; number <= set->files && result == 0; number++)
        result = put_file(&progress, prefix, number);
    record_encoder_free(progress.encoder);
    free(progress.records);
    free(progress.member);
    return result;
}
