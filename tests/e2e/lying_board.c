/*
 * Captures from boards that send random wrong data with correct checksums.
 *
 * usage: lying_board FIRST COUNT FOLDER
 * The files of the capture with seed N go to FOLDER/known_N if its board's count is known at the
 * end and the capture did not fail, else to FOLDER/unknown_N. Prints the number of each. Exit
 * status 1 if a known count is not that of the records and losses.
 */
#include "capture/capture.h"
#include "driver/session.h"
#include "tests/support/fake_board.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define RECORDS_MAX 60u
#define SILENCE_MS  100 /* a board whose END is lost is given up */

/* A board that sends something new whenever it has been read empty. */
struct liar {
    struct stream stream; /* first */
    struct fake_board *board;
    uint64_t random;
    unsigned steps; /* until it ends */
    unsigned lies;  /* one step in N, at random; 0: none */
};

/* A small or a large number, or one close to a limit. */
static uint64_t odd_number(struct liar *liar)
{
    static const uint64_t limits[] = {0, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 52,
                                      UINT64_C(1) << 63};
    uint64_t number = limits[random_below(&liar->random, sizeof limits / sizeof *limits)];
    number += random_below(&liar->random, 40);
    return random_one_in(&liar->random, 3) ? 0 - number : number;
}

/* Changes a field of a correct frame. */
static void spoil(struct liar *liar, struct wire_frame *frame, struct record *records)
{
    uint64_t by = odd_number(liar);
    uint64_t *const wide[] = {&frame->first_tick, &frame->first_index, &frame->lost,
                              &frame->lost_first_tick, &frame->lost_last_tick};
    size_t which = (size_t)random_below(&liar->random, 11);
    if (which < 5)
        *wide[which] += by;
    else if (which < 8)
        records[random_below(&liar->random, frame->count)].time += (uint32_t)by;
    else if (which == 8)
        frame->sequence += (uint32_t)by;
    else if (which == 9)
        frame->count = (uint16_t)(1 + random_below(&liar->random, RECORDS_MAX));
    else
        frame->kind = (uint8_t)random_below(&liar->random, 9);
}

/* Sends a wrong frame of the next records. The board then continues after these records, or as if
 * it had not sent the frame. */
static void send_lie(struct liar *liar)
{
    struct fake_board *board = liar->board;
    struct record records[RECORDS_MAX];
    uint8_t payload[RECORDS_MAX * RECORD_BYTES];
    unsigned count = 1 + (unsigned)random_below(&liar->random, RECORDS_MAX);
    uint64_t tick = FAKE_TICK(board->accepted) + board->idle_ticks;
    struct wire_frame frame = {.version = WIRE_VERSION,
                               .kind = WIRE_RECORDS,
                               .session = board->session,
                               .sequence = board->sequence++,
                               .first_tick = tick,
                               .first_index = board->accepted,
                               .count = (uint16_t)count,
                               .payload = payload};
    if (random_one_in(&liar->random, 3)) {
        frame.lost = 1 + random_below(&liar->random, 5);
        frame.first_index += frame.lost;
        frame.first_tick += 10 * frame.lost;
        frame.lost_first_tick = tick;
        frame.lost_last_tick = frame.first_tick - 10;
    }
    for (unsigned i = 0; i < RECORDS_MAX; i++)
        records[i] = fake_record(frame.first_index + i);
    for (uint64_t i = 1 + random_below(&liar->random, 2); i > 0; i--)
        spoil(liar, &frame, records);
    frame.payload_bytes =
        (uint16_t)((frame.count < RECORDS_MAX ? frame.count : count) * RECORD_BYTES);
    records_put(payload, records, frame.payload_bytes / RECORD_BYTES);
    if (random_one_in(&liar->random, 2)) {
        board->accepted += count;
        board->idle_since = 0;
    }
    fake_board_frame(board, &frame);
}

static void idle(struct liar *liar)
{
    static const uint64_t ticks[] = {5, UINT32_MAX - 11, UINT32_MAX - 10, UINT32_MAX - 9,
                                     UINT64_C(1) << 40};
    fake_board_idle(liar->board, ticks[random_below(&liar->random, sizeof ticks / sizeof *ticks)]);
}

static void end(struct liar *liar)
{
    struct fake_board *board = liar->board;
    if (liar->lies > 0 && random_one_in(&liar->random, 4)) {
        uint64_t *const counts[] = {&board->counters.seen, &board->counters.accepted,
                                    &board->counters.filtered, &board->counters.lost};
        *counts[random_below(&liar->random, 4)] += odd_number(liar);
    }
    board->fate = random_one_in(&liar->random, 20) ? FAKE_LOST : FAKE_SENT;
    fake_board_end(board, 0, random_one_in(&liar->random, 3) ? 4 : 0);
}

static void take_step(struct liar *liar)
{
    struct fake_board *board = liar->board;
    uint8_t garbage[100];
    unsigned count = 1 + (unsigned)random_below(&liar->random, RECORDS_MAX);
    board->packs = random_one_in(&liar->random, 2);
    if (liar->lies > 0 && random_one_in(&liar->random, liar->lies)) {
        send_lie(liar);
        return;
    }
    switch (random_below(&liar->random, 10)) {
    case 0:
        fake_board_heartbeat(board);
        break;
    case 1:
        idle(liar);
        break;
    case 2:
        board->fate = (enum fake_fate)random_below(&liar->random, FAKE_DELAYED + 1);
        break;
    case 3:
        random_fill(&liar->random, garbage, sizeof garbage);
        fake_board_bytes(board, garbage, random_below(&liar->random, sizeof garbage));
        break;
    case 4:
        fake_board_records(board, count, 1 + (unsigned)random_below(&liar->random, 9));
        break;
    default:
        fake_board_records(board, count, 0);
        break;
    }
}

static long liar_read(struct stream *stream, uint8_t *bytes, size_t capacity, int timeout_ms,
                      struct bt_error *error)
{
    struct liar *liar = (struct liar *)stream;
    struct fake_board *board = liar->board;
    while (board->armed && board->out_at == board->out_size) {
        fake_board_lose_line(board); /* discards data that was read */
        if (liar->steps-- > 0)
            take_step(liar);
        else
            end(liar);
    }
    return stream_read(&board->stream, bytes, capacity, timeout_ms, error);
}

static int liar_write(struct stream *stream, const uint8_t *bytes, size_t size, int timeout_ms,
                      struct bt_error *error)
{
    return stream_write(&((struct liar *)stream)->board->stream, bytes, size, timeout_ms, error);
}

static const char *liar_name(struct stream *stream)
{
    (void)stream;
    return "liar";
}

static void liar_close(struct stream *stream)
{
    stream_close(&((struct liar *)stream)->board->stream);
    free(stream);
}

static struct session *open_liar(uint64_t *random)
{
    static const struct stream_operations operations = {
        .read = liar_read, .write = liar_write, .name = liar_name, .close = liar_close};
    struct liar *liar = calloc(1, sizeof *liar);
    if (!liar)
        abort();
    liar->stream.operations = &operations;
    liar->board = fake_board_new();
    liar->board->impatient = true;
    liar->board->piece = random_one_in(random, 2) ? 1 + random_below(random, 2000) : 0;
    liar->steps = (unsigned)random_below(random, 80);
    liar->lies = random_one_in(random, 4) ? 0 : 5 + (unsigned)random_below(random, 40);
    liar->random = random_seed(random_next(random));
    return session_new(&liar->stream, NULL);
}

static struct capture_settings choose_settings(uint64_t *random, const char *folder)
{
    struct capture_settings settings = capture_settings_default();
    snprintf(settings.prefix, sizeof settings.prefix, "%s/p", folder);
    settings.workers = 1;
    settings.engine = RECORD_ENGINE_ZLIB;
    settings.level = 1;
    settings.queue_bytes = 1 << 16;
    settings.block_records = 1 + (uint32_t)random_below(random, 200);
    if (random_one_in(random, 2))
        settings.flush_ns = 1;
    if (random_one_in(random, 2))
        settings.rotate_bytes = 4096 + random_below(random, 8000);
    if (settings.rotate_bytes > 0 && random_one_in(random, 3))
        settings.keep = 2;
    if (random_one_in(random, 4))
        settings.stop_records = 1 + random_below(random, 1000);
    if (random_one_in(random, 3))
        settings.when_full = CAPTURE_DROP;
    return settings;
}

/* Returns whether the board's count is known; -1 if it is wrong, or nothing was captured. */
static int run(uint64_t seed, const char *folder)
{
    uint64_t random = random_seed(seed);
    struct session *session = open_liar(&random);
    struct session_settings how = session_settings_default();
    struct capture_settings settings = choose_settings(&random, folder);
    struct bt_error error = {0};
    if (!session)
        return -1;
    how.silence_ms = SILENCE_MS;
    session_prepare(session, &how);
    struct capture *capture = capture_new(&settings, session_source(session), &error);
    if (!capture) {
        fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, error.message);
        return -1;
    }
    capture_wait(capture, -1);
    struct capture_status status;
    capture_get_status(capture, &status);
    capture_free(capture);
    uint64_t sum = status.records + status.after_stop;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        sum += status.lost[stage];
    bool known = status.source.known && !status.failed;
    if (known && sum != status.source.accepted) {
        fprintf(stderr, "seed %" PRIu64 ": accepted %" PRIu64 ", accounted for %" PRIu64 "\n", seed,
                status.source.accepted, sum);
        return -1;
    }
    return known;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    uint64_t first = strtoull(argv[1], NULL, 0);
    uint64_t count = strtoull(argv[2], NULL, 0);
    uint64_t sums[2] = {0, 0};
    for (uint64_t seed = first; seed < first + count; seed++) {
        char folder[256];
        char name[256];
        snprintf(folder, sizeof folder, "%s/seed_%" PRIu64, argv[3], seed);
        if (mkdir(folder, 0777) < 0)
            return 3;
        int known = run(seed, folder);
        if (known < 0)
            return 1;
        snprintf(name, sizeof name, "%s/%s_%" PRIu64, argv[3], known ? "known" : "unknown", seed);
        if (rename(folder, name) < 0)
            return 3;
        sums[known]++;
    }
    printf("%" PRIu64 " captures whose board's count is known, %" PRIu64 " others\n", sums[1],
           sums[0]);
    return 0;
}
