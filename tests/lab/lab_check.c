/*
 * Checks capture files of the laboratory's bus: that every record is what its index says, and that
 * indices and losses fit together without a hole.
 *
 * usage: lab_check FILE...      in order
 * output: records=N bus=N link=N queue=N disk=N gaps=N gap_ms=N uncounted=N sessions=N after=N
 * files=N end=WHY exit status: 0; 1 where something does not fit, with the reason on standard error
 */
#include "formats/capture_file.h"
#include "formats/trace_reader.h"
#include "tests/lab/lab_bus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
    uint64_t end;       /* index behind the last record or loss */
    uint64_t base;      /* index with which the board's session began */
    uint64_t tick_base; /* and the tick */
    uint64_t records, sessions, files;
    uint64_t gaps, uncounted; /* places, and of those the ones without a count */
    uint64_t gap_ms;
    struct loss lost;
    struct capture_totals closing;
    bool closed;
};

static int wrong(const char *path, uint64_t index, const char *what)
{
    fprintf(stderr, "lab_check: %s: at index %" PRIu64 ": %s\n", path, index, what);
    return -1;
}

/* The lost ones were on the bus within the interval that is told. */
static bool interval_holds(const struct check *check, const struct batch *batch, uint64_t count)
{
    uint64_t first, last;
    lab_bus_request(check->end - check->base, &first);
    lab_bus_request(check->end + count - 1 - check->base, &last);
    return batch->lost.first_tick <= first + check->tick_base &&
           batch->lost.last_tick >= last + check->tick_base;
}

static bool same(const struct record *a, const struct record *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* The board begins a session: its bus does, too. */
static void begin_session(struct check *check, const struct batch *batch)
{
    uint64_t tick;
    check->base = batch->first_index - loss_total(&batch->lost);
    lab_bus_request(batch->first_index - check->base, &tick);
    check->tick_base = check->sessions ? batch->first_tick - tick : 0;
    check->sessions++;
}

static int check_batch(struct check *check, const char *path, const struct batch *batch)
{
    const uint64_t lost = loss_total(&batch->lost);
    const uint64_t first = batch->first_index;
    uint64_t tick;
    if (first - lost != check->end)
        return wrong(path, first, "it does not go on where the last block ended");
    if (check->sessions == 0 || batch->gap.uncounted)
        begin_session(check, batch);
    check->gaps += batch->gap.milliseconds > 0;
    check->gap_ms += batch->gap.milliseconds;
    check->uncounted += batch->gap.uncounted;
    if (lost > 0 && !interval_holds(check, batch, lost))
        return wrong(path, first, "the loss is not in the interval that is told");
    loss_add(&check->lost, &batch->lost);
    check->end = first + batch->count;
    check->records += batch->count;
    if (batch->count == 0)
        return 0;
    lab_bus_request(first - check->base, &tick);
    if (batch->first_tick != tick + check->tick_base)
        return wrong(path, first, "the tick of a block's first record is wrong");
    for (size_t i = 0; i < batch->count; i++) {
        struct record record = lab_bus_record(first + i - check->base);
        if (i == 0 && lost > 0)
            record.time = batch->records[0].time; /* since the one that was kept before */
        if (!same(&batch->records[i], &record))
            return wrong(path, first + i, "the record is another");
    }
    return 0;
}

static int check_file(struct check *check, const char *path, struct batch *batch)
{
    struct bt_error error;
    struct trace_reader *reader;
    int result = trace_reader_open(&reader, path, false, &error);
    if (result < 0) {
        fprintf(stderr, "lab_check: %s\n", error.message);
        return result;
    }
    struct source *source = trace_reader_source(reader);
    while ((result = source_next(source, batch, -1, &error)) > 0)
        if ((result = check_batch(check, path, batch)) < 0)
            break;
    const struct capture_totals *closing = trace_reader_closing(reader);
    if (result == 0 && closing) {
        check->closed = true;
        check->closing = *closing;
    } else if (result < 0 && batch->count == 0) {
        fprintf(stderr, "lab_check: %s\n", error.message);
    }
    check->files++;
    source_close(source);
    return result;
}

/* The last file's end tells what a full disk took behind its last block. */
static void take_end(struct check *check)
{
    if (!check->closed || !check->closing.final)
        return;
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        uint64_t told = check->closing.capture_lost[stage];
        if (told > check->lost.count[stage])
            check->lost.count[stage] = told;
    }
}

int main(int argc, char **argv)
{
    struct check check = {0};
    struct batch batch = {.capacity = 1u << 16};
    int result = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: lab_check FILE...\n");
        return 2;
    }
    batch.records = malloc(batch.capacity * sizeof *batch.records);
    if (!batch.records)
        return 3;
    for (int i = 1; i < argc && result == 0; i++)
        result = check_file(&check, argv[i], &batch);
    take_end(&check);
    printf("records=%" PRIu64 " bus=%" PRIu64 " link=%" PRIu64 " queue=%" PRIu64 " disk=%" PRIu64
           " gaps=%" PRIu64 " gap_ms=%" PRIu64 " uncounted=%" PRIu64 " sessions=%" PRIu64
           " after=%" PRIu64 " files=%" PRIu64 " end=%s\n",
           check.records, check.lost.count[LOSS_BUS], check.lost.count[LOSS_LINK],
           check.lost.count[LOSS_QUEUE], check.lost.count[LOSS_DISK], check.gaps, check.gap_ms,
           check.uncounted, check.sessions, check.closed ? check.closing.after_stop : 0,
           check.files, check.closed ? capture_end_name(check.closing.end) : "none");
    free(batch.records);
    return result < 0;
}
