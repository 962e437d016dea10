/* Records from one process to another, and as requests of a bus. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "capture/exec/trace/trace_compile.h"
#include "capture/program/bus_source.h"
#include "capture/program/exec_sender.h"
#include "capture/program/exec_source.h"
#include "tests/suites.h"
#include "tests/support/exec_play.h"
#include "tests/support/random.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORDS 1000000u

/* A ring that this process reads, shared with its children. */
static struct message_ring *new_ring(void)
{
    const struct alive taker = alive_process(getpid());
    void *memory =
        mmap(NULL, message_ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : message_ring_at(memory, &taker);
}

static void free_ring(struct message_ring *ring)
{
    munmap(ring, message_ring_bytes());
}

static int put(struct message_ring *ring, const struct record *records, size_t count,
               bool begins_part)
{
    struct exec_sender sender = {.ring = ring};
    const struct exec_marks marks = {.begins_part = begins_part};
    return exec_sender_records(&sender, records, count, &marks);
}

static struct record record_of(uint64_t *random)
{
    static const uint8_t sizes[] = {0, 1, 2, 4, 8, 9, 10, 15, 16, 17, 31, 32, 33, 64, 100, 255};
    uint64_t bits = random_next(random);
    return (struct record){.address = (uint32_t)bits,
                           .type = (bits >> 32 & 3) % 3 == 2 ? REQUEST_MEMWRITE : (bits >> 32 & 1),
                           .size = sizes[bits >> 40 & 15],
                           .attribute = ATTRIBUTE_WRITE_BACK,
                           .processor = (uint8_t)(bits >> 50),
                           .time = bits >> 44 & 1};
}

/* In a child: puts all records, in pieces of all lengths; then an end, if requested. */
static pid_t put_all(struct message_ring *ring, bool end)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    static struct record records[20000];
    uint64_t random = 1;
    uint64_t lengths = 2;
    for (size_t done = 0, count; done < RECORDS; done += count) {
        count = random_next(&lengths) % 20000;
        count = count < RECORDS - done ? count : RECORDS - done;
        for (size_t i = 0; i < count; i++)
            records[i] = record_of(&random);
        if (put(ring, records, count, false) != 0)
            _exit(1);
    }
    if (end)
        message_ring_end(ring);
    _exit(0);
}

static int end_of(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static struct source *source_of(struct message_ring *ring)
{
    static const struct capture_info info = {.bus = CAPTURE_BUS_PROGRAM};
    return exec_source_new(ring, &info, NULL);
}

/* Reads all batches of a source, and checks that they are consecutive. */
static size_t take_all(struct source *source, struct record *to, size_t room, size_t capacity)
{
    size_t count = 0;
    uint64_t tick = 0;
    int result;
    do {
        struct batch batch = {.records = to + count,
                              .capacity = room - count < capacity ? room - count : capacity};
        result = source_next(source, &batch, 10, NULL);
        if (result != 1)
            continue;
        CU_ASSERT_EQUAL(batch.first_index, count);
        CU_ASSERT_EQUAL(batch.first_tick, tick + batch.records[0].time);
        tick += records_time(batch.records, batch.count);
        CU_ASSERT_EQUAL(batch.last_tick, tick);
        count += batch.count;
    } while (result == 1 || result == BT_TIMEOUT);
    CU_ASSERT_EQUAL(result, 0);
    struct source_totals totals;
    source_totals(source, &totals);
    CU_ASSERT_TRUE(totals.known);
    CU_ASSERT_EQUAL(totals.accepted, count);
    return count;
}

static void test_all_come(void)
{
    struct record *records = malloc((RECORDS + 1) * sizeof *records);
    for (size_t capacity = 1000; capacity <= 1000000; capacity *= 10) {
        struct message_ring *ring = new_ring();
        pid_t child = put_all(ring, true);
        struct source *source = source_of(ring);
        uint64_t random = 1;
        size_t wrong = 0;
        CU_ASSERT_EQUAL(take_all(source, records, RECORDS + 1, capacity), RECORDS);
        for (size_t i = 0; i < RECORDS; i++) {
            struct record expected = record_of(&random);
            wrong += memcmp(&records[i], &expected, sizeof expected) != 0;
        }
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_EQUAL(end_of(child), 0);
        source_close(source);
        free_ring(ring);
    }
    free(records);
}

/* A saturated time is the first of its batch, because its true length is unknown. */
static void test_saturated(void)
{
    struct message_ring *ring = new_ring();
    struct source *source = source_of(ring);
    struct record records[7] = {{.time = UINT32_MAX}, {.time = 1}, {.time = UINT32_MAX},
                                {.time = UINT32_MAX}, {.time = 2}, {.time = 3},
                                {.time = UINT32_MAX}};
    const size_t expected[] = {2, 1, 3, 1};
    struct record taken[8];
    CU_ASSERT_EQUAL(put(ring, records, 7, false), 0);
    message_ring_end(ring);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct batch batch = {.records = taken, .capacity = 8};
        CU_ASSERT_EQUAL(source_next(source, &batch, -1, NULL), 1);
        CU_ASSERT_EQUAL(batch.count, expected[i]);
        CU_ASSERT(!batch.gap.chosen && !batch.events && batch.parts == 0);
    }
    struct batch rest = {.records = taken, .capacity = 8};
    CU_ASSERT_EQUAL(source_next(source, &rest, -1, NULL), 0);
    source_close(source);
    free_ring(ring);
}

/* A gap is reported with the record after it: a batch's first one, or a marked one. */
static void test_gap(void)
{
    struct message_ring *ring = new_ring();
    const struct capture_info info = {.clock_hz = 0};
    struct record records[3] = {{.attribute = 3, .time = 1}, {.attribute = 3, .time = 1}}, taken[8];
    struct batch batch = {.records = taken, .capacity = 2};
    struct source *source = exec_source_new(ring, &info, NULL);
    records[2] = records[1];
    CU_ASSERT_EQUAL(put(ring, records, 2, false), 0);
    CU_ASSERT_EQUAL(source_next(source, &batch, -1, NULL), 1);
    CU_ASSERT(batch.count == 2 && !batch.gap.chosen && batch.parts == 0);
    for (unsigned i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(put(ring, records, 3, true), 0);
    put(ring, records, 1, true);
    message_ring_end(ring);
    batch.capacity = 6;
    CU_ASSERT_EQUAL(source_next(source, &batch, -1, NULL), 1);
    CU_ASSERT_EQUAL(batch.count, 6);
    CU_ASSERT_EQUAL(batch.first_index, 2);
    CU_ASSERT_EQUAL(batch.first_tick, 3); /* as if nothing had been left out */
    CU_ASSERT(batch.gap.chosen && batch.parts == 1);
    for (unsigned i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(taken[i].attribute, i == 3 ? 3 | ATTRIBUTE_PART : 3);
    CU_ASSERT_EQUAL(source_next(source, &batch, -1, NULL), 1);
    CU_ASSERT(batch.count == 1 && batch.gap.chosen && batch.parts == 0);
    CU_ASSERT_EQUAL(source_next(source, &batch, -1, NULL), 0);
    source_close(source);
    free_ring(ring);
}

/* Takes one message. False: the ring has ended. */
static bool take_message(struct message_ring *ring)
{
    struct message_taker taker = message_taker_of(ring);
    size_t bytes;
    if (!message_ring_wait(&taker, -1))
        return false;
    CU_ASSERT_PTR_NOT_NULL_FATAL(message_ring_front(&taker, &bytes));
    CU_ASSERT_TRUE(bytes > sizeof(struct exec_message));
    message_ring_drop(&taker);
    return true;
}

/* The producer is killed; the consumer receives everything before. */
static void test_killed(void)
{
    struct message_ring *ring = new_ring();
    struct record *records = malloc((RECORDS + 1) * sizeof *records);
    pid_t child = put_all(ring, false);
    CU_ASSERT_TRUE(take_message(ring));
    kill(child, SIGKILL);
    end_of(child);
    message_ring_end(ring);
    struct source *source = source_of(ring);
    CU_ASSERT_TRUE(take_all(source, records, RECORDS, 1000) < RECORDS);
    source_close(source);
    free(records);
    free_ring(ring);
}

/* The consumer closes the ring: the producer receives BT_CLOSED and does not wait for room. */
static void test_closed(void)
{
    struct message_ring *ring = new_ring();
    pid_t child = put_all(ring, true);
    CU_ASSERT_TRUE(take_message(ring));
    message_ring_close(ring);
    CU_ASSERT_EQUAL(WEXITSTATUS(end_of(child)), 1);
    free_ring(ring);
}

/* The consumer is killed: the producer detects it. */
static void test_taker_killed(void)
{
    int ends[2];
    char byte = 0;
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    pid_t taker = fork();
    if (taker == 0) {
        pid_t putter = put_all(new_ring(), true);
        (void)!write(ends[1], "b", 1);
        end_of(putter); /* waiting for room */
        _exit(1);
    }
    close(ends[1]);
    CU_ASSERT_EQUAL(read(ends[0], &byte, 1), 1);
    kill(taker, SIGKILL);
    CU_ASSERT_EQUAL(read(ends[0], &byte, 1), 0); /* the last holder of the other end has ended */
    CU_ASSERT_TRUE(WIFSIGNALED(end_of(taker)));
    close(ends[0]);
}

/* The pieces of each record add up to the record. */
static void test_bus(void)
{
    struct message_ring *ring = new_ring();
    size_t room = RECORDS * 11u;
    struct record *pieces = malloc(room * sizeof *pieces);
    pid_t child = put_all(ring, true);
    struct source *source = bus_source_new(source_of(ring), NULL);
    size_t count = take_all(source, pieces, room, 5000);
    size_t at = 0, wrong = 0;
    uint64_t random = 1;
    for (size_t i = 0; i < RECORDS; i++) {
        struct record record = record_of(&random);
        unsigned done = 0;
        do {
            const struct record *piece = &pieces[at++];
            bool fits = piece->size <= 8 || piece->size == 16 || piece->size == 32;
            wrong += !fits || piece->address != record.address + done || at > count ||
                     piece->type != record.type || piece->processor != (record.processor & 7) ||
                     piece->time != (done == 0 ? record.time : 0) ||
                     (piece->size == 0 && record.size != 0);
            done += piece->size;
        } while (done < record.size && wrong == 0);
        wrong += done != record.size;
        if (wrong > 0)
            break;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(at, count);
    CU_ASSERT_EQUAL(end_of(child), 0);
    source_close(source);
    free(pieces);
    free_ring(ring);
}

/* --- entries -----------------------------------------------------------------------------------
 */

/* The marks of a batch as they are in records. */
static void unmark(struct batch *batch)
{
    if (batch->gap.chosen)
        batch->records[0].attribute |= ATTRIBUTE_PART;
}

static void compare_play(uint64_t seed, struct exec_play_output *expected, struct record *taken)
{
    struct message_ring *ring = new_ring();
    struct source *source = source_of(ring);
    pid_t child = exec_play_put(ring, seed);
    uint64_t state = seed, tick = 0;
    size_t count = 0;
    int result;
    expected->count = 0;
    exec_play_expand(seed, expected);
    do {
        size_t capacity = random_next(&state) % (seed % 2 ? 20000 : 3000) + 1;
        struct batch batch = {
            .records = taken + count,
            .capacity = capacity < EXEC_PLAY_ROOM - count ? capacity : EXEC_PLAY_ROOM - count};
        result = source_next(source, &batch, seed % 3 ? -1 : 10, NULL);
        if (result != 1)
            continue;
        CU_ASSERT(batch.count <= batch.capacity && batch.first_index == count);
        CU_ASSERT_EQUAL(batch.first_tick, tick + batch.records[0].time);
        tick += records_time(batch.records, batch.count);
        CU_ASSERT_EQUAL_FATAL(batch.last_tick, tick);
        unmark(&batch);
        count += batch.count;
    } while (result == 1 || result == BT_TIMEOUT);
    CU_ASSERT_EQUAL(result, 0);
    CU_ASSERT_EQUAL_FATAL(count, expected->count);
    CU_ASSERT_EQUAL(memcmp(taken, expected->records, count * sizeof *taken), 0);
    CU_ASSERT_EQUAL(end_of(child), 0);
    source_close(source);
    free_ring(ring);
}

/* Entries become the records that their expansion in the program's process gives. */
static void test_entries(void)
{
    struct exec_play_output expected = {malloc(EXEC_PLAY_ROOM * sizeof(struct record)), 0};
    struct record *taken = malloc(EXEC_PLAY_ROOM * sizeof *taken);
    for (uint64_t seed = 1; seed <= 24; seed++)
        compare_play(seed, &expected, taken);
    free(expected.records);
    free(taken);
}

/* The number of instructions is exact once the consumer has taken all. */
static void test_settled(void)
{
    struct message_ring *ring = new_ring();
    struct exec_sender sender = {.ring = ring};
    struct exec_play play;
    pid_t child = fork();
    if (child == 0) {
        static struct record records[5000];
        struct source *source = source_of(ring);
        struct batch batch = {.records = records, .capacity = 5000};
        while (source_next(source, &batch, 50, NULL) != 0)
            continue;
        _exit(0);
    }
    exec_play_begin(&play, 5);
    sender.flushes = code_cache_flushes(play.cache);
    uint64_t expected = 0;
    for (unsigned i = 0; i < EXEC_PLAY_PIECES; i++) {
        exec_play_next(&play);
        CU_ASSERT_EQUAL(
            exec_sender_entries(&sender, &play.expander, play.entries, play.count, &play.marks), 0);
        for (size_t at = 0; at < play.count; at += TRACE_BLOCKS_SLOTS)
            expected += code_cache_block(play.cache, play.entries[at])->instructions;
        CU_ASSERT_TRUE(message_ring_settle(ring, NULL, NULL));
        CU_ASSERT_EQUAL(message_ring_counted(ring), expected);
    }
    message_ring_end(ring);
    CU_ASSERT_EQUAL(end_of(child), 0);
    exec_play_end(&play);
    free_ring(ring);
}

/* The program overwrites what is in the ring, while it is read. All ends: with the records before
 * it and an error, or with the end of the ring. */
static void test_overwritten(void)
{
    struct record *records = malloc(20000 * sizeof *records);
    unsigned refused = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct message_ring *ring = new_ring();
        struct source *source = source_of(ring);
        pid_t child = exec_play_put(ring, seed % 8);
        uint64_t state = seed;
        unsigned timeouts = 0;
        int result;
        do {
            struct batch batch = {.records = records, .capacity = 20000};
            struct bt_error error = {.code = 0};
            const uint64_t bits = random_next(&state);
            result = source_next(source, &batch, 5, &error);
            CU_ASSERT(result == 1 || result == 0 || error.message[0]);
            timeouts += result == BT_TIMEOUT;
            refused += result == BT_DEVICE;
            uint32_t *to = (uint32_t *)(void *)ring + bits % (message_ring_bytes() / 4);
            if (seed % 4 == 0) /* the positions, and what the two wait for */
                to = (uint32_t *)(void *)ring + bits % 80;
            *to = (uint32_t)(bits >> 32 & (seed % 3 ? UINT32_MAX : 0xffff));
        } while ((result == 1 || result == BT_TIMEOUT) && timeouts < 20);
        source_close(source);
        kill(child, SIGKILL);
        end_of(child);
        free_ring(ring);
    }
    CU_ASSERT_TRUE(refused > 0);
    free(records);
}

/* A description whose numbers are not valid is refused. */
static void test_unsound(void)
{
    struct record record, records[4];
    struct block block = {.slots = 2, .record_count = 1, .patch_count = 1, .instructions = 1};
    struct patch patch = {.record = 1, .slot = 1};
    struct special special;
    uint16_t through_fs;
    struct message_ring *ring = new_ring();
    struct source *source = source_of(ring);
    struct exec_sender sender = {.ring = ring};
    struct code_cache *cache = code_cache_new(1 << 20, NULL);
    const struct trace_expander expander = {.cache = cache};
    const struct exec_marks none = {.begins_part = false};
    const uint32_t entries[2] = {0};
    struct batch batch = {.records = records, .capacity = 4};
    struct bt_error error;
    record = (struct record){.time = 1};
    block.records = &record;
    block.patches = &patch;
    block.specials = &special;
    block.through_fs = &through_fs;
    code_cache_add_block(cache, &block);
    CU_ASSERT_EQUAL(exec_sender_entries(&sender, &expander, entries, 2, &none), 0);
    CU_ASSERT_EQUAL(source_next(source, &batch, -1, &error), BT_DEVICE);
    source_close(source);
    code_cache_free(cache);
    free_ring(ring);
}

static const struct test_case cases[] = {{"all records come, in order", test_all_come},
                                         {"the producer is killed", test_killed},
                                         {"a closed ring", test_closed},
                                         {"the consumer is killed", test_taker_killed},
                                         {"pieces of the size of bus requests", test_bus},
                                         {"times that saturated", test_saturated},
                                         {"gaps", test_gap},
                                         {"entries are expanded", test_entries},
                                         {"instructions are counted", test_settled},
                                         {"a damaged description", test_unsound},
                                         {"an overwritten ring", test_overwritten},
                                         {NULL, NULL}};
TEST_SUITE(exec_source, cases)
