#include "tests/support/capture_check.h"

#include "tests/support/folder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    struct capture_check *check;
    const struct script *script;
    struct capture_info info; /* of the previous file */
    uint64_t index;
    uint64_t file_records;
    struct loss file_lost;
    struct record *records;
    struct record_decoder *decoder;
    uint64_t gap_index; /* the gaps before it were reported */
};

__attribute__((format(printf, 2, 3))) static bool wrong(struct state *state, const char *format,
                                                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(state->check->problem, sizeof state->check->problem, format, arguments);
    va_end(arguments);
    return false;
}

static bool check_header(struct state *state, const struct capture_info *info)
{
    bool first = state->check->files == 0;
    if (!first && memcmp(info->id, state->info.id, CAPTURE_ID_BYTES) != 0)
        return wrong(state, "the id changes in file %u", info->file_number);
    if (!first && info->file_number != state->info.file_number + 1)
        return wrong(state, "file %u follows file %u", info->file_number, state->info.file_number);
    if (first)
        state->check->first_number = info->file_number;
    if (first && info->file_number > 1)
        state->index = state->gap_index = info->first_index; /* the ring removed the earlier ones */
    if (info->first_index != state->index)
        return wrong(state, "file %u begins at %llu, not %llu", info->file_number,
                     (unsigned long long)info->first_index, (unsigned long long)state->index);
    if (info->clock_hz != 100000000 || strcmp(info->board, "scripted") != 0 ||
        strcmp(info->bus, "p6") != 0 || strcmp(info->filter, "type=FETCH") != 0)
        return wrong(state, "file %u does not describe its source", info->file_number);
    state->info = *info;
    state->file_records = 0;
    memset(&state->file_lost, 0, sizeof state->file_lost);
    return true;
}

/* The loss before first_index is the one that the script made there; the rest is of the queue or
 * the disk. */
static bool check_loss(struct state *state, const struct batch *batch)
{
    uint64_t expected[LOSS_STAGES] = {0};
    uint64_t begin = state->index;
    uint64_t end = batch->first_index;
    if (end < begin || end - begin != loss_total(&batch->lost))
        return wrong(state, "%llu lost from %llu to %llu",
                     (unsigned long long)loss_total(&batch->lost), (unsigned long long)begin,
                     (unsigned long long)end);
    for (uint64_t i = begin; i < end; i++) {
        enum loss_stage stage = script_lost(state->script, i);
        expected[stage == LOSS_STAGES ? LOSS_QUEUE : stage]++;
    }
    expected[LOSS_DISK] = batch->lost.count[LOSS_DISK];
    expected[LOSS_QUEUE] -= expected[LOSS_DISK];
    if (memcmp(expected, batch->lost.count, sizeof expected) != 0)
        return wrong(state, "stages of the loss before %llu are wrong", (unsigned long long)end);
    if (end > begin && (batch->lost.first_tick != script_tick(state->script, begin) ||
                        batch->lost.last_tick != script_tick(state->script, end - 1)))
        return wrong(state, "interval of the loss before %llu is wrong", (unsigned long long)end);
    loss_add(&state->file_lost, &batch->lost);
    loss_add(&state->check->lost, &batch->lost);
    return true;
}

/* Checks the gaps of chunks that begin after the last batch, up to this one. */
static bool check_gap(struct state *state, const struct batch *batch)
{
    struct gap expected = {.milliseconds = 0};
    uint64_t chunk = state->script->chunk;
    uint64_t at = (state->gap_index + chunk - 1) / chunk * chunk;
    uint64_t end =
        batch->first_index < state->script->total ? batch->first_index + 1 : state->script->total;
    for (; at < end; at += chunk) {
        struct gap one = script_gap(state->script, at);
        gap_add(&expected, &one);
    }
    state->gap_index = end > state->gap_index ? end : state->gap_index;
    if (expected.milliseconds != batch->gap.milliseconds ||
        expected.uncounted != batch->gap.uncounted)
        return wrong(state, "the gap before %llu is %u ms, not %u",
                     (unsigned long long)batch->first_index, batch->gap.milliseconds,
                     expected.milliseconds);
    for (size_t i = 1; i < batch->count; i++)
        if (script_gap(state->script, batch->first_index + i).milliseconds > 0)
            return wrong(state, "a gap inside a batch");
    return true;
}

static bool check_data(struct state *state, const struct capture_member *member,
                       const uint8_t *bytes)
{
    const struct batch *batch = &member->batch;
    struct bt_error error;
    if (capture_get_records(state->decoder, member, bytes, state->records, &error) < 0)
        return wrong(state, "%s", error.message);
    if (!check_loss(state, batch) || !check_gap(state, batch))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        struct record expected = script_record(state->script, batch->first_index + i);
        if (memcmp(&expected, &state->records[i], sizeof expected) != 0)
            return wrong(state, "record %llu differs", (unsigned long long)batch->first_index + i);
        if (i > 0 && expected.time == UINT32_MAX)
            return wrong(state, "a hole in time inside a batch");
        if (script_lost(state->script, batch->first_index + i) != LOSS_STAGES)
            return wrong(state, "record %llu was lost", (unsigned long long)batch->first_index + i);
    }
    uint64_t end = batch->first_index + batch->count;
    if (batch->count > 0 && (batch->first_tick != script_tick(state->script, batch->first_index) ||
                             batch->last_tick != script_tick(state->script, end - 1)))
        return wrong(state, "ticks of the batch at %llu", (unsigned long long)batch->first_index);
    state->index = end;
    state->file_records += batch->count;
    state->check->records += batch->count;
    state->check->members++;
    if (batch->count > state->check->most_records)
        state->check->most_records = batch->count;
    return true;
}

static bool check_closing(struct state *state, const struct capture_totals *totals)
{
    struct capture_check *check = state->check;
    uint64_t unwritten = totals->end_index - state->index; /* refused by the disk */
    struct loss lost = {.first_tick = 0};
    memcpy(lost.count, totals->file_lost, sizeof lost.count);
    if (totals->file_records != state->file_records ||
        loss_total(&lost) != loss_total(&state->file_lost) + unwritten)
        return wrong(state, "file %u: totals of the file", state->info.file_number);
    memcpy(lost.count, totals->capture_lost, sizeof lost.count);
    if (totals->capture_records + loss_total(&lost) != totals->end_index)
        return wrong(state, "file %u: totals of the capture", state->info.file_number);
    if (check->first_number == 1 && (totals->capture_records != check->records ||
                                     loss_total(&lost) != loss_total(&check->lost) + unwritten))
        return wrong(state, "file %u: totals of the capture are not the sum",
                     state->info.file_number);
    if (unwritten > 0 && (!totals->final || totals->file_lost[LOSS_DISK] == 0))
        return wrong(state, "file %u: a hole after the end", state->info.file_number);
    if (totals->final && totals->source.known &&
        totals->end_index + totals->after_stop != totals->source.accepted)
        return wrong(state, "%llu + %llu after stop, of %llu accepted",
                     (unsigned long long)totals->end_index, (unsigned long long)totals->after_stop,
                     (unsigned long long)totals->source.accepted);
    check->closing = *totals;
    check->closed = true;
    return true;
}

static bool check_member(struct state *state, const struct capture_member *member,
                         const uint8_t *bytes)
{
    switch (member->kind) {
    case CAPTURE_MEMBER_HEADER:
        return check_header(state, &member->info);
    case CAPTURE_MEMBER_DATA:
        return check_data(state, member, bytes);
    case CAPTURE_MEMBER_CLOSING:
        return check_closing(state, &member->totals);
    }
    return false;
}

static bool check_bytes(struct state *state, const uint8_t *bytes, size_t size, bool torn)
{
    state->check->closed = false;
    if (size == 0)
        return torn || wrong(state, "an empty file");
    for (size_t at = 0; at < size;) {
        struct capture_member member;
        struct bt_error error = {0};
        int result = capture_get_member(&member, bytes + at, size - at, &error);
        if (torn && (result == 0 || (result == 1 && member.member_bytes > size - at)))
            return true;
        if (result != 1 || member.member_bytes > size - at)
            return wrong(state, "no whole member at %zu of %zu: %s", at, size, error.message);
        if ((at == 0) != (member.kind == CAPTURE_MEMBER_HEADER))
            return wrong(state, "a header member at %zu", at);
        if (!check_member(state, &member, bytes + at))
            return false;
        at += member.member_bytes;
        if (member.kind == CAPTURE_MEMBER_CLOSING && at != size)
            return wrong(state, "bytes after the closing member");
    }
    return torn || state->check->closed || wrong(state, "no closing member");
}

static bool check_file(struct state *state, const char *path, bool torn)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return wrong(state, "cannot open %s", path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size + 1);
    bool good = bytes && fread(bytes, 1, size, file) == size;
    fclose(file);
    good = good && check_bytes(state, bytes, size, torn);
    free(bytes);
    state->check->files++;
    state->check->bytes += size;
    if (size > state->check->largest_file)
        state->check->largest_file = size;
    return good;
}

void capture_check(struct capture_check *check, const char *folder, const char *ending,
                   const struct script *script, bool unfinished)
{
    memset(check, 0, sizeof *check);
    struct state state = {.check = check, .script = script};
    state.records = malloc(CAPTURE_MEMBER_RECORDS_MAX * sizeof *state.records);
    state.decoder = record_decoder_new(NULL);
    struct folder_list list = folder_list(folder, ending);
    bool good = state.records && state.decoder;
    for (size_t i = 0; good && i < list.count; i++) {
        char path[2 * FOLDER_PATH_BYTES];
        snprintf(path, sizeof path, "%s/%.250s", folder, list.names[i]);
        bool last = i + 1 == list.count;
        /* between two files both are open for a moment */
        good = check_file(&state, path, unfinished && i + 2 >= list.count);
        bool final_allowed = last;
        bool final_needed = last && !unfinished;
        if (good && check->closed && (check->closing.final ? !final_allowed : final_needed))
            good = wrong(&state, "%s: final is wrong", path);
    }
    folder_list_free(&list);
    record_decoder_free(state.decoder);
    free(state.records);
}
