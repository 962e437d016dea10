#define _DEFAULT_SOURCE /* syscall, for the time that is not ours */
/*
 * Complete sessions with an untrusted board. The first part of the input lists the host's actions,
 * one byte each; the rest is a script for the board and its link. The board
 * (tests/support/fake_board.h) answers commands correctly by default, so that the search reaches
 * deep states; the script makes it send, forget, refuse, lie, restart, and be unplugged.
 *
 * Nothing waits: the script supplies the time, and reads advance it. After every action the test
 * checks that the action kept its time limit, that indices and losses add up, and that no text of
 * the board can harm a terminal.
 */
#include "driver/session.h"

#include "tests/support/fake_board.h"
#include "tests/support/wire_frames.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINKS_MAX   64u /* streams in one conversation: at most one per action */
#define DEEDS_MAX   32u
#define STOP_MS     2000
#define SILENCE_MS  3000
#define BATCH_MAX   6000u
#define MS          1000000ll
#define NOT_CHECKED INT64_MAX

/* Reports a finding: the session broke one of its guarantees. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* --- time ------------------------------------------------------------------------------------- */

/* Replaces this program's monotonic clock during a session. */
static struct {
    bool on;
    int64_t now_ns;
} script_time;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!script_time.on || clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, time);
    time->tv_sec = (time_t)(script_time.now_ns / 1000000000);
    time->tv_nsec = (long)(script_time.now_ns % 1000000000);
    return 0;
}

static int64_t now_ms(void)
{
    return script_time.now_ns / MS;
}

/* --- the link --------------------------------------------------------------------------------- */

struct talk;

/* One stream, from opening to closing. */
struct scripted_link {
    struct stream stream; /* first */
    struct talk *talk;
    bool open;
    bool unplugged;
};

struct talk {
    const uint8_t *script;
    size_t size, at;
    struct fake_board *board;
    uint32_t session;          /* last session that the host armed */
    struct wire_command asked; /* last command; its body is not kept */
    int64_t wait_ms;           /* time until the next data */
    unsigned noise;            /* number of reads that return only noise */
    int64_t limit_ms;          /* deadline of all reads, or NOT_CHECKED */
    int failure;               /* code of the next read, or 0 */
    bool stays;                /* at the end of the script: silent, not unplugged */
    struct scripted_link links[LINKS_MAX];
    unsigned link_count;

    /* state of the host */
    struct session *session_now;
    bool armed, broken;
    bool gap_due; /* it resumed, and no batch has reported the gap yet */
    uint64_t end_index;
    bool has_tick; /* a batch was received; it ended at tick */
    bool exact;    /* the batch ended with a record */
    uint64_t tick;
    uint64_t records; /* received since it was armed */
    struct loss lost;
};

static uint8_t take_byte(struct talk *talk)
{
    return talk->at < talk->size ? talk->script[talk->at++] : 0;
}

static size_t take_bytes(struct talk *talk, uint8_t *bytes, size_t size)
{
    size_t left = talk->size - talk->at;
    size = size < left ? size : left;
    memcpy(bytes, talk->script + talk->at, size);
    talk->at += size;
    return size;
}

/* Makes a 64-bit number, usually a small one, from two bytes. */
static uint64_t take_number(struct talk *talk)
{
    uint64_t number = take_byte(talk);
    uint8_t shift = take_byte(talk);
    return shift & 0x80 ? 0 - (number << (shift & 63)) : number << (shift & 63);
}

/* --- steps of the script ---------------------------------------------------------------------- */

enum step {
    STEP_WAIT,
    STEP_LONG_WAIT,
    STEP_BYTES,
    STEP_RECORDS,
    STEP_HEARTBEAT,
    STEP_END,
    STEP_FATE,
    STEP_PACKS,
    STEP_DEAF,
    STEP_IGNORE,
    STEP_WRONG_TAGS,
    STEP_REFUSAL,
    STEP_VERSION,
    STEP_OTHER_SESSION,
    STEP_OWN_SESSION,
    STEP_COUNTERS,
    STEP_JUMP,
    STEP_SEQUENCE,
    STEP_FRAME,
    STEP_REPLY,
    STEP_PIECE,
    STEP_UNPLUG,
    STEP_FAIL,
    STEP_STUFFED,
    STEP_RESTART,
    STEP_IDENTITY,
    STEP_LOSES_END,
    STEP_DIAGNOSIS,
    STEP_PATTERN,
    STEP_NOISE,
    STEPS
};

/* Sends a frame with all fields from the script and correct CRCs. */
static void step_frame(struct talk *talk)
{
    uint8_t payload[WIRE_PAYLOAD_MAX];
    struct fake_board *board = talk->board;
    uint8_t what = take_byte(talk);
    struct wire_frame frame = {.version = what & 0x80 ? take_byte(talk) : WIRE_VERSION,
                               .kind = what & 0x0f,
                               .flags = take_byte(talk),
                               .session = what & 0x40 ? take_byte(talk) : talk->session,
                               .sequence = board->sequence + take_byte(talk) - 1,
                               .first_tick = take_number(talk),
                               .first_index = board->accepted + take_number(talk),
                               .lost = take_number(talk),
                               .count = (uint16_t)take_number(talk),
                               .payload = payload};
    frame.payload_bytes =
        (uint16_t)take_bytes(talk, payload, what & 0x20 ? WIRE_PAYLOAD_MAX : take_byte(talk));
    fake_board_frame(board, &frame);
}

/* Sends an answer with any content to the last command. */
static void step_reply(struct talk *talk)
{
    uint8_t payload[WIRE_REPLY_HEADER + 255];
    const struct wire_reply reply = {
        .tag = talk->asked.tag, .code = talk->asked.code, .status = take_byte(talk)};
    wire_reply_put_header(payload, &reply);
    size_t size = take_bytes(talk, payload + WIRE_REPLY_HEADER, take_byte(talk));
    struct wire_frame frame = {.version = WIRE_VERSION,
                               .kind = WIRE_REPLY,
                               .session = talk->board->session,
                               .sequence = talk->board->sequence,
                               .first_index = talk->board->accepted,
                               .payload = payload,
                               .payload_bytes = (uint16_t)(WIRE_REPLY_HEADER + size)};
    fake_board_frame(talk->board, &frame);
}

static void step_identity(struct talk *talk)
{
    struct wire_identity *identity = &talk->board->identity;
    uint8_t what = take_byte(talk);
    uint8_t value = take_byte(talk);
    if (what & 0x80)
        identity->clock_hz = value;
    else if (what & 0x40)
        identity->protocol = value;
    else if (what & 0x20)
        identity->serial[what & 31] = (char)value;
    else
        identity->name[what & 31] = (char)value;
}

/* Changes how the board sends, or has it send a frame. */
static void step_board(struct talk *talk, enum step step)
{
    struct fake_board *board = talk->board;
    uint8_t bytes[255];
    switch (step) {
    case STEP_BYTES:
        fake_board_bytes(board, bytes, take_bytes(talk, bytes, take_byte(talk)));
        break;
    case STEP_RECORDS:
        fake_board_records(board, take_byte(talk) * 3u, take_byte(talk));
        break;
    case STEP_HEARTBEAT:
        fake_board_heartbeat(board);
        break;
    case STEP_END:
        fake_board_end(board, take_byte(talk), take_byte(talk));
        break;
    case STEP_FATE:
        board->fate = (enum fake_fate)(take_byte(talk) % (FAKE_DELAYED + 1));
        break;
    case STEP_PACKS:
        board->packs = !board->packs;
        break;
    case STEP_FRAME:
        step_frame(talk);
        break;
    case STEP_REPLY:
        step_reply(talk);
        break;
    case STEP_PATTERN:
        board->pattern_missing = take_byte(talk) & 3;
        board->pattern_bad = take_byte(talk) & 3;
        break;
    default:
        break;
    }
}

/* Changes the board's state, and how it takes commands. */
static void step_state(struct talk *talk, enum step step)
{
    static const int diagnoses[] = {0, BT_DATA, BT_IO, BT_DEVICE};
    struct fake_board *board = talk->board;
    switch (step) {
    case STEP_DEAF:
        board->silent = take_byte(talk);
        break;
    case STEP_IGNORE:
        board->ignored_codes = take_byte(talk);
        break;
    case STEP_WRONG_TAGS:
        board->wrong_tags = take_byte(talk);
        break;
    case STEP_REFUSAL:
        board->refusal = take_byte(talk);
        break;
    case STEP_VERSION:
        board->version = take_byte(talk);
        break;
    case STEP_OTHER_SESSION:
        board->session = take_byte(talk);
        break;
    case STEP_OWN_SESSION:
        board->session = talk->session;
        break;
    case STEP_COUNTERS:
        board->counters.accepted += take_number(talk);
        board->counters.lost += take_number(talk);
        break;
    case STEP_JUMP:
        board->accepted += take_number(talk);
        break;
    case STEP_SEQUENCE:
        board->sequence += (uint32_t)take_number(talk);
        break;
    case STEP_RESTART:
        fake_board_restart(board);
        break;
    case STEP_IDENTITY:
        step_identity(talk);
        break;
    case STEP_LOSES_END:
        board->loses_end = !board->loses_end;
        break;
    case STEP_DIAGNOSIS:
        board->diagnosis = diagnoses[take_byte(talk) % (sizeof diagnoses / sizeof *diagnoses)];
        board->explanation = "the bus has a fault";
        break;
    default:
        step_board(talk, step);
        break;
    }
}

static void take_step(struct talk *talk, struct scripted_link *link)
{
    static const int failures[] = {BT_DEVICE, BT_IO, BT_DATA, BT_NOTE, BT_BUSY, BT_MEMORY};
    enum step step = (enum step)(take_byte(talk) % STEPS);
    switch (step) {
    case STEP_WAIT:
        talk->wait_ms = take_byte(talk);
        break;
    case STEP_LONG_WAIT:
        talk->wait_ms = take_byte(talk) * 100;
        break;
    case STEP_NOISE:
        talk->noise = take_byte(talk);
        break;
    case STEP_PIECE:
        talk->board->piece = take_byte(talk);
        break;
    case STEP_UNPLUG:
        link->unplugged = true;
        fake_board_lose_line(talk->board);
        break;
    case STEP_FAIL:
        talk->failure = failures[take_byte(talk) % (sizeof failures / sizeof *failures)];
        break;
    case STEP_STUFFED:
        talk->board->stuffed = !talk->board->stuffed;
        break;
    default:
        step_state(talk, step);
        break;
    }
}

/* --- the stream ------------------------------------------------------------------------------- */

static int time_out(int64_t milliseconds, struct bt_error *error)
{
    script_time.now_ns += milliseconds * MS;
    return bt_fail(error, BT_TIMEOUT, "nothing comes");
}

/* Lets time pass, so that the noise differs from a burst. */
static long make_noise(struct talk *talk, uint8_t *bytes, size_t capacity, int timeout_ms)
{
    talk->noise--;
    script_time.now_ns += (timeout_ms < 100 ? timeout_ms : 100) * MS;
    size_t size = capacity < WIRE_FRAME_MAX ? capacity : WIRE_FRAME_MAX;
    memset(bytes, 0xa5, size);
    return (long)size;
}

static long link_read(struct stream *stream, uint8_t *bytes, size_t capacity, int timeout_ms,
                      struct bt_error *error)
{
    struct scripted_link *link = (struct scripted_link *)stream;
    struct talk *talk = link->talk;
    struct fake_board *board = talk->board;
    CHECK(link->open && capacity > 0);
    CHECK(timeout_ms >= 0 && now_ms() + timeout_ms <= talk->limit_ms);
    for (;;) {
        if (link->unplugged)
            return bt_fail(error, BT_CLOSED, "unplugged");
        if (talk->wait_ms > timeout_ms) {
            talk->wait_ms -= timeout_ms;
            return time_out(timeout_ms, error);
        }
        script_time.now_ns += talk->wait_ms * MS;
        timeout_ms -= (int)talk->wait_ms;
        talk->wait_ms = 0;
        if (talk->failure) {
            int code = talk->failure;
            talk->failure = 0;
            return bt_fail(error, code, "the link fails");
        }
        if (talk->noise > 0)
            return make_noise(talk, bytes, capacity, timeout_ms);
        if (board->out_at < board->out_size)
            return stream_read(&board->stream, bytes, capacity, 0, error);
        fake_board_lose_line(board); /* all of its data is read */
        if (talk->at < talk->size)
            take_step(talk, link);
        else if (talk->stays)
            return time_out(timeout_ms, error);
        else
            link->unplugged = true;
    }
}

static int link_write(struct stream *stream, const uint8_t *bytes, size_t size, int timeout_ms,
                      struct bt_error *error)
{
    struct scripted_link *link = (struct scripted_link *)stream;
    struct talk *talk = link->talk;
    CHECK(link->open && timeout_ms >= 0);
    CHECK(wire_command_get(&talk->asked, bytes, size) == (int)size);
    if (talk->asked.code == WIRE_ARM)
        talk->session = bytes_get32(talk->asked.body);
    talk->asked.body = NULL;
    if (link->unplugged)
        return bt_fail(error, BT_CLOSED, "unplugged");
    if (talk->board->stuffed) {
        script_time.now_ns += timeout_ms * MS;
        if (talk->limit_ms != NOT_CHECKED)
            talk->limit_ms += timeout_ms;
    }
    return stream_write(&talk->board->stream, bytes, size, timeout_ms, error);
}

static const char *link_name(struct stream *stream)
{
    CHECK(((struct scripted_link *)stream)->open);
    return "scripted";
}

static int link_diagnose(struct stream *stream, struct bt_error *error)
{
    struct scripted_link *link = (struct scripted_link *)stream;
    CHECK(link->open);
    return stream_diagnose(&link->talk->board->stream, error);
}

static void link_close(struct stream *stream)
{
    struct scripted_link *link = (struct scripted_link *)stream;
    CHECK(link->open);
    link->open = false;
}

/* Plugs the board in, for the first time or again. */
static struct stream *open_link(struct talk *talk)
{
    static const struct stream_operations operations = {.read = link_read,
                                                        .write = link_write,
                                                        .name = link_name,
                                                        .diagnose = link_diagnose,
                                                        .close = link_close};
    struct scripted_link *link = &talk->links[talk->link_count++];
    *link = (struct scripted_link){.stream = {&operations}, .talk = talk, .open = true};
    return &link->stream;
}

/* --- checks ----------------------------------------------------------------------------------- */

static void check_text(const char *text, size_t size)
{
    CHECK(memchr(text, '\0', size));
    for (; *text; text++)
        CHECK(*text >= ' ' && *text <= '~');
}

static void check_error(int result, const struct bt_error *error)
{
    if (result >= 0)
        return;
    CHECK(error->code == result && error->message[0]);
    check_text(error->message, sizeof error->message);
}

static void check_session(struct session *session)
{
    const struct wire_identity *identity = session_identity(session);
    const struct capture_info *info = source_info(session_source(session));
    struct source_totals totals;
    check_text(identity->name, sizeof identity->name);
    check_text(identity->serial, sizeof identity->serial);
    check_text(info->board, sizeof info->board);
    check_text(info->bus, sizeof info->bus);
    check_text(info->filter, sizeof info->filter);
    source_totals(session_source(session), &totals);
}

/* Batches keep the rules of doc/capture-file.md about ticks. */
static void check_ticks(struct talk *talk, const struct batch *batch)
{
    const struct loss *lost = &batch->lost;
    uint64_t count = loss_total(lost);
    CHECK(!talk->has_tick || batch->first_tick >= talk->tick);
    CHECK(count == 0 || !talk->has_tick || lost->first_tick >= talk->tick);
    CHECK(count == 0 || lost->first_tick <= lost->last_tick);
    if (batch->count > 0) {
        uint32_t time = batch->records[0].time;
        uint64_t passed = batch->first_tick - talk->tick;
        CHECK(count == 0 || lost->last_tick <= batch->first_tick);
        CHECK(records_until_saturated(batch->records, batch->count) == batch->count);
        CHECK(batch->last_tick >= batch->first_tick);
        CHECK(batch->last_tick - batch->first_tick ==
              records_time(batch->records + 1, batch->count - 1));
        CHECK(!talk->exact || batch_has_loss_or_gap(batch) || passed == time ||
              (time == UINT32_MAX && passed > time));
    } else {
        CHECK(batch->last_tick == batch->first_tick);
    }
    talk->has_tick = true;
    talk->exact = batch->count > 0;
    talk->tick = batch->last_tick;
}

/* Every batch keeps these rules, whatever the board sent, and agrees with the session's totals. */
static void check_batch(struct talk *talk, const struct batch *batch)
{
    uint64_t lost = loss_total(&batch->lost);
    CHECK(batch->count <= batch->capacity);
    CHECK(batch->count > 0 || batch_has_loss_or_gap(batch));
    CHECK((batch->gap.milliseconds > 0) == talk->gap_due);
    talk->gap_due = false;
    CHECK(batch->first_index >= talk->end_index && batch->first_index - talk->end_index == lost);
    check_ticks(talk, batch);
    talk->end_index = batch->first_index + batch->count;
    CHECK(talk->end_index >= batch->first_index);
    talk->records += batch->count;
    loss_add(&talk->lost, &batch->lost);
}

static void check_counts(const struct talk *talk)
{
    struct session_statistics statistics;
    session_statistics(talk->session_now, &statistics);
    CHECK(statistics.records >= talk->records);
    CHECK(memcmp(statistics.lost.count, talk->lost.count, sizeof talk->lost.count) == 0);
    CHECK(statistics.reader.skipped_bytes <= statistics.reader.bytes);
}

/* --- actions of the host ---------------------------------------------------------------------- */

/* Limits the time that all following reads together may wait. */
static void allow(struct talk *talk, int64_t milliseconds)
{
    talk->limit_ms = now_ms() + milliseconds;
}

static void begin_session(struct talk *talk)
{
    struct bt_error error = {0};
    session_free(talk->session_now);
    allow(talk, 270 + 3 * 650);
    talk->session_now = session_new(open_link(talk), &error);
    talk->armed = talk->broken = false;
    if (!talk->session_now)
        check_error(error.code ? error.code : BT_IO, &error);
}

static void arm(struct talk *talk, uint8_t how)
{
    struct session_settings settings = session_settings_default();
    struct bt_error error = {0};
    settings.stop_ms = STOP_MS;
    settings.silence_ms = how & 1 ? 0 : SILENCE_MS;
    settings.heartbeat_ms = how & 2 ? 0 : 250;
    settings.packing = how & 4 ? WIRE_PLAIN : WIRE_DELTA;
    settings.filter_text = how & 8 ? "type=FETCH" : NULL;
    allow(talk, 3 * 2000);
    int result = session_arm(talk->session_now, &settings, &error);
    check_error(result, &error);
    if (result == 0) {
        talk->armed = true;
        talk->broken = talk->gap_due = false;
        talk->end_index = talk->records = 0;
        talk->has_tick = talk->exact = false;
        talk->lost = (struct loss){.count = 0};
    }
}

/* Makes one call. Returns its result. */
static int next(struct talk *talk, size_t capacity, int timeout_ms)
{
    struct batch batch = {.records = malloc(capacity * sizeof(struct record)),
                          .capacity = capacity};
    struct bt_error error = {0};
    CHECK(batch.records);
    int64_t started = now_ms();
    allow(talk, timeout_ms);
    int result = source_next(session_source(talk->session_now), &batch, timeout_ms, &error);
    check_error(result, &error);
    if (result == 1)
        check_batch(talk, &batch);
    if (result == BT_TIMEOUT)
        CHECK(now_ms() - started >= timeout_ms);
    if (talk->armed)
        check_counts(talk);
    if (result < 0 && result != BT_TIMEOUT && result != BT_DATA && result != BT_NOTE)
        talk->broken = true;
    free(batch.records);
    return result;
}

static void status(struct talk *talk)
{
    struct wire_counters counters;
    struct bt_error error = {0};
    allow(talk, 3 * 700);
    check_error(session_status(talk->session_now, &counters, &error), &error);
}

static void self_test(struct talk *talk, uint32_t frames)
{
    struct session_test_result result;
    struct bt_error error = {0};
    allow(talk, (frames + 1) * 1000);
    int code = session_self_test(talk->session_now, frames, &result, &error);
    check_error(code, &error);
    CHECK(code < 0 || result.frames + result.missing_frames == frames);
    CHECK(code < 0 || (result.bad_bytes <= result.bytes && result.seconds >= 0));
}

static void stop(struct talk *talk)
{
    struct bt_error error = {0};
    allow(talk, 0);
    int result = source_stop(session_source(talk->session_now), &error);
    check_error(result, &error);
}

static void resume(struct talk *talk)
{
    struct bt_error error = {0};
    if (!talk->armed || !talk->broken)
        return;
    session_suspend(talk->session_now);
    talk->wait_ms = 0;
    talk->noise = 0;
    talk->failure = 0;
    allow(talk, 3 * 700 + 3 * 650 + 3 * 2000);
    int result = session_resume(talk->session_now, open_link(talk), &error);
    check_error(result, &error);
    talk->broken = result < 0;
    talk->gap_due = talk->gap_due || result == 0;
}

static void act(struct talk *talk, uint8_t deed)
{
    static const int timeouts[] = {0, 5, 100, 1000};
    static const size_t capacities[] = {1, 7, 300, BATCH_MAX};
    uint8_t how = deed >> 3;
    switch (deed & 7) {
    case 0:
        status(talk);
        break;
    case 1:
        self_test(talk, how & 3);
        break;
    case 2:
        arm(talk, how);
        break;
    case 3:
    case 4:
        for (unsigned i = 0; i < (deed & 7) * 4u - 11u; i++)
            (void)next(talk, capacities[how >> 2 & 3], timeouts[how & 3]);
        break;
    case 5:
        stop(talk);
        break;
    case 6:
        resume(talk);
        break;
    default:
        begin_session(talk);
        break;
    }
}

/* A session that received a STOP ends, and stays ended. */
static void finish(struct talk *talk)
{
    int result = BT_TIMEOUT;
    stop(talk);
    int64_t until = now_ms() + STOP_MS + 1000;
    while (result == 1 || result == BT_TIMEOUT || result == BT_DATA) {
        /* a blocked write also takes time: at most two STOPs and three STATUSes more */
        CHECK(now_ms() <= until + 5 * 1000);
        result = next(talk, BATCH_MAX, 100);
    }
    for (int i = 0; i < 2; i++) {
        int again = next(talk, BATCH_MAX, 5);
        CHECK(result == 0 ? again == 0 : again <= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t deeds = data[0] % (DEEDS_MAX + 1);
    deeds = deeds < size - 2 ? deeds : size - 2;
    struct talk *talk = calloc(1, sizeof *talk);
    CHECK(talk);
    talk->board = fake_board_new();
    talk->board->impatient = true;
    talk->stays = data[1] & 1;
    talk->script = data + 2 + deeds;
    talk->size = size - 2 - deeds;
    script_time.on = true;
    script_time.now_ns = 1000000 * MS;
    begin_session(talk);
    for (size_t i = 0; i < deeds && talk->session_now; i++) {
        act(talk, data[2 + i]);
        if (talk->session_now)
            check_session(talk->session_now);
    }
    if (talk->session_now)
        finish(talk);
    session_free(talk->session_now);
    for (unsigned i = 0; i < talk->link_count; i++)
        CHECK(!talk->links[i].open);
    script_time.on = false;
    stream_close(&talk->board->stream);
    free(talk);
    return 0;
}
