#include "tests/support/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "test support: %s\n", what);
        abort();
    }
}

static uint8_t *room(struct members *to, size_t size)
{
    if (to->capacity - to->size < size) {
        to->capacity = (to->size + size) * 2;
        to->bytes = realloc(to->bytes, to->capacity);
        must(to->bytes != NULL, "no memory");
    }
    return to->bytes + to->size;
}

void members_append(struct members *to, const void *from, size_t size)
{
    if (size > 0)
        memcpy(room(to, size), from, size);
    to->size += size;
}

void members_append_data(struct members *to, enum record_engine engine, const struct batch *batch)
{
    size_t bound = capture_data_member_bound(batch->count);
    uint8_t *out = room(to, bound);
    size_t size = 0;
    struct record_encoder *encoder = record_encoder_new(engine, -1, NULL);
    if (encoder && to->version == CAPTURE_VERSION_CODED)
        record_encoder_set_version(encoder, to->version);
    must(encoder && capture_put_data_member(encoder, batch, out, bound, &size, NULL) == 0,
         "cannot compress");
    record_encoder_free(encoder);
    to->size += size;
}

void members_append_header(struct members *to, const struct capture_info *info)
{
    struct capture_info own = *info;
    own.version = (uint8_t)to->version;
    to->size += capture_put_header_member(room(to, CAPTURE_MEMBER_HEADER_MAX), &own);
}

void members_append_closing(struct members *to, const struct capture_totals *totals)
{
    to->size +=
        capture_put_closing_member(room(to, CAPTURE_MEMBER_HEADER_MAX), totals, to->version);
}

size_t members_append_capture(struct members *to, const struct record *records, size_t count,
                              size_t block, size_t *offsets)
{
    struct capture_info info = {
        .id = {1}, .clock_hz = 100000000, .board = "test", .bus = "p6", .file_number = 1};
    members_append_header(to, &info);
    size_t members = 0;
    uint64_t tick = 100;
    for (size_t at = 0; at < count; at += block) {
        size_t here = count - at < block ? count - at : block;
        if (at > 0)
            tick += records[at].time;
        uint64_t last = tick + records_time(records + at + 1, here - 1);
        struct batch batch = {.records = (struct record *)(uintptr_t)(records + at),
                              .count = here,
                              .capacity = here,
                              .first_index = at,
                              .first_tick = tick,
                              .last_tick = last};
        tick = last;
        if (offsets)
            offsets[members] = to->size;
        const bool coded = to->version == CAPTURE_VERSION_CODED && members % 2 > 0;
        members_append_data(to, coded ? RECORD_ENGINE_COLUMNS : RECORD_ENGINE_BEST, &batch);
        members++;
    }
    struct capture_totals totals = {.end = CAPTURE_END_STOPPED,
                                    .final = true,
                                    .file_records = count,
                                    .capture_records = count,
                                    .end_index = count,
                                    .last_tick = tick,
                                    .source = {.known = true, .seen = count, .accepted = count}};
    members_append_closing(to, &totals);
    return members;
}
