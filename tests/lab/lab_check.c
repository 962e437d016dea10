/*
 * Checks capture files of the laboratory's bus: every record matches its index, and records and
 * losses are contiguous.
 *
 * usage: lab_check FILE...      in order
 *        lab_check -t FILE...   the same, of a board whose time begins before the bus's
 *        lab_check -s FILE...   the same, of a board that may stall its bus: records may be later
 *        lab_check -1 FILE...   all of one session of the board: each file in a separate thread
 * output: records=N bus=N link=N queue=N disk=N gaps=N gap_ms=N uncounted=N sessions=N after=N
 * files=N delay=N end=WHY; delay: ticks by which the last record was later than its bus had it
 * exit status: 0; 1 after an error, which is printed on standard error
 */
#include "formats/capture/capture_file.h"
#include "formats/capture/trace_reader.h"
#include "tests/lab/lab_bus.h"
#include "tests/lab/lab_gateware.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_RECORDS 65536u

struct check {
    uint64_t end;       /* index after the last record or loss */
    uint64_t base;      /* first index of the board's session */
    uint64_t tick_base; /* first tick of the board's session */
    bool late;          /* the board's time does not begin with the bus's */
    bool stalls;        /* the board may stall the bus */
    uint64_t delay;     /* ticks by which the last record was late */
    uint64_t records, sessions, files;
    uint64_t gaps, uncounted; /* all gaps; those without a count */
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

/* The lost requests were on the bus within the interval that the file reports. A bus that was
 * stalled may have made up for a step's delay since the last record. */
static bool interval_holds(const struct check *check, const struct batch *batch, uint64_t count)
{
    uint64_t first, last;
    const uint64_t made_up =
        check->delay < LAB_GATEWARE_STEP_TICKS ? check->delay : LAB_GATEWARE_STEP_TICKS;
    lab_bus_request(check->end - check->base, &first);
    lab_bus_request(check->end + count - 1 - check->base, &last);
    const uint64_t base = check->tick_base + check->delay;
    return batch->lost.first_tick <= first + base && batch->lost.last_tick >= last + base - made_up;
}

static bool same(const struct record *a, const struct record *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* A session of the board starts, and with it one of the bus. */
static void begin_session(struct check *check, const struct batch *batch)
{
    uint64_t tick;
    check->base = batch->first_index - loss_total(&batch->lost);
    lab_bus_request(batch->first_index - check->base, &tick);
    check->tick_base = check->sessions || check->late ? batch->first_tick - tick : 0;
    check->sessions++;
}

/* Of a bus that was stalled: no record is earlier than on a bus that was not. */
static int check_delays(struct check *check, const char *path, const struct batch *batch)
{
    uint64_t tick = batch->first_tick, expected;
    for (size_t i = 0; i < batch->count; i++) {
        tick += i > 0 ? batch->records[i].time : 0;
        lab_bus_request(batch->first_index + i - check->base, &expected);
        expected += check->tick_base;
        if (tick < expected)
            return wrong(path, batch->first_index + i, "the record is earlier than on the bus");
        check->delay = tick - expected;
    }
    return 0;
}

static int check_batch(struct check *check, const char *path, const struct batch *batch)
{
    const uint64_t lost = loss_total(&batch->lost);
    const uint64_t first = batch->first_index;
    uint64_t tick;
    if (first - lost != check->end)
        return wrong(path, first, "the block does not continue at the end of the last one");
    if (check->sessions == 0 || batch->gap.uncounted)
        begin_session(check, batch);
    check->gaps += batch->gap.milliseconds > 0;
    check->gap_ms += batch->gap.milliseconds;
    check->uncounted += batch->gap.uncounted;
    if (lost > 0 && !interval_holds(check, batch, lost))
        return wrong(path, first, "the loss is not in the reported interval");
    loss_add(&check->lost, &batch->lost);
    check->end = first + batch->count;
    check->records += batch->count;
    if (batch->count == 0)
        return 0;
    lab_bus_request(first - check->base, &tick);
    if (!check->stalls && batch->first_tick != tick + check->tick_base)
        return wrong(path, first, "the tick of a block's first record is wrong");
    for (size_t i = 0; i < batch->count; i++) {
        struct record record = lab_bus_record(first + i - check->base);
        if (check->stalls || (i == 0 && (lost > 0 || (check->late && first == check->base))))
            record.time = batch->records[i].time; /* since the record kept before it */
        if (!same(&batch->records[i], &record))
            return wrong(path, first + i, "the record does not match its index");
    }
    return check->stalls ? check_delays(check, path, batch) : 0;
}

static int check_source(struct check *check, const char *path, struct source *source)
{
    struct batch batch = {.capacity = BATCH_RECORDS};
    struct bt_error error;
    int result;
    batch.records = malloc(batch.capacity * sizeof *batch.records);
    if (!batch.records)
        return wrong(path, 0, "memory is insufficient");
    while ((result = source_next(source, &batch, -1, &error)) > 0)
        if ((result = check_batch(check, path, &batch)) < 0)
            break;
    if (result < 0 && batch.count == 0)
        fprintf(stderr, "lab_check: %s\n", error.message);
    free(batch.records);
    return result;
}

/* one_session: the file may be any file of a capture with one session of the board. */
static int check_file(struct check *check, const char *path, bool one_session)
{
    struct bt_error error;
    struct trace_reader *reader;
    int result = trace_reader_open(&reader, path, false, &error);
    if (result < 0) {
        fprintf(stderr, "lab_check: %s\n", error.message);
        return result;
    }
    struct source *source = trace_reader_source(reader);
    if (one_session) {
        check->end = source_info(source)->first_index;
        check->sessions = 1;
    }
    result = check_source(check, path, source);
    const struct capture_totals *closing = trace_reader_closing(reader);
    if (result == 0 && closing) {
        check->closed = true;
        check->closing = *closing;
    }
    check->files++;
    source_close(source);
    return result;
}

/* Checks one file of a capture with one session. */
struct part {
    const char *path;
    struct check check;
    int result;
    pthread_t thread;
};

static void *check_part(void *argument)
{
    struct part *part = argument;
    part->result = check_file(&part->check, part->path, true);
    return NULL;
}

/* Adds a file's results to those of the files before it. */
static int add_part(struct check *check, const struct part *part)
{
    if (part->result < 0)
        return part->result;
    uint64_t begin = part->check.end - part->check.records - loss_total(&part->check.lost);
    if (begin != check->end)
        return wrong(part->path, begin, "the file does not continue at the end of the last one");
    check->end = part->check.end;
    check->sessions = 1;
    check->records += part->check.records;
    check->files++;
    loss_add(&check->lost, &part->check.lost);
    check->gaps += part->check.gaps;
    check->gap_ms += part->check.gap_ms;
    check->closed = part->check.closed;
    check->closing = part->check.closing;
    return 0;
}

static int check_parts(struct check *check, char **paths, int count)
{
    struct part *parts = calloc((size_t)count, sizeof *parts);
    int result = parts ? 0 : -1, started = 0;
    for (; result == 0 && started < count; started++) {
        parts[started].path = paths[started];
        if (pthread_create(&parts[started].thread, NULL, check_part, &parts[started]) != 0)
            abort();
    }
    for (int i = 0; i < started; i++) {
        pthread_join(parts[i].thread, NULL);
        result = result < 0 ? result : add_part(check, &parts[i]);
    }
    free(parts);
    return result;
}

/* The end of the last file counts losses to a full disk after its last block. */
static void take_end(struct check *check)
{
    if (!check->closed || !check->closing.final)
        return;
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        uint64_t reported = check->closing.capture_lost[stage];
        if (reported > check->lost.count[stage])
            check->lost.count[stage] = reported;
    }
}

static void print(const struct check *check)
{
    printf("records=%" PRIu64 " bus=%" PRIu64 " link=%" PRIu64 " queue=%" PRIu64 " disk=%" PRIu64
           " gaps=%" PRIu64 " gap_ms=%" PRIu64 " uncounted=%" PRIu64 " sessions=%" PRIu64
           " after=%" PRIu64 " files=%" PRIu64 " delay=%" PRIu64 " end=%s\n",
           check->records, check->lost.count[LOSS_BUS], check->lost.count[LOSS_LINK],
           check->lost.count[LOSS_QUEUE], check->lost.count[LOSS_DISK], check->gaps, check->gap_ms,
           check->uncounted, check->sessions, check->closed ? check->closing.after_stop : 0,
           check->files, check->delay,
           check->closed ? capture_end_name(check->closing.end) : "none");
}

int main(int argc, char **argv)
{
    struct check check = {0};
    int result = 0;
    bool one_session = argc > 1 && strcmp(argv[1], "-1") == 0;
    check.stalls = argc > 1 && strcmp(argv[1], "-s") == 0;
    check.late = check.stalls || (argc > 1 && strcmp(argv[1], "-t") == 0);
    char **paths = argv + 1 + (one_session || check.late);
    int count = argc - 1 - (one_session || check.late);
    if (count < 1) {
        fprintf(stderr, "usage: lab_check [-1 | -s | -t] FILE...\n");
        return 2;
    }
    if (one_session)
        result = check_parts(&check, paths, count);
    for (int i = 0; !one_session && i < count && result == 0; i++)
        result = check_file(&check, paths[i], false);
    take_end(&check);
    print(&check);
    return result < 0;
}
