/* What a sender puts into a ring: messages of records, of entries, and of blocks before their use.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "capture/program/exec_sender.h"
#include "tests/suites.h"
#include "tests/support/exec_play.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A ring that is written and read here. */
struct rig {
    struct message_ring *ring;
    struct message_taker taker;
    struct exec_sender sender;
    struct exec_play play;
};

static struct rig begin(void)
{
    const struct alive self = alive_process(getpid());
    void *memory =
        mmap(NULL, message_ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct rig rig;
    CU_ASSERT_FATAL(memory != MAP_FAILED);
    rig.ring = message_ring_at(memory, &self);
    rig.taker = message_taker_of(rig.ring);
    exec_play_begin(&rig.play, 3);
    rig.sender =
        (struct exec_sender){.ring = rig.ring, .flushes = code_cache_flushes(rig.play.cache)};
    return rig;
}

static void end(struct rig *rig)
{
    exec_play_end(&rig->play);
    munmap(rig->ring, message_ring_bytes());
}

/* Takes the next message: its head, its content, and the content's size. False: there is none. */
static bool take(struct rig *rig, struct exec_message *head, uint8_t *content, size_t *size)
{
    const uint8_t *message = message_ring_front(&rig->taker, size);
    if (!message)
        return false;
    CU_ASSERT_FATAL(*size >= sizeof *head);
    *size -= sizeof *head;
    memcpy(head, message, sizeof *head);
    memcpy(content, message + sizeof *head, *size);
    message_ring_drop(&rig->taker);
    return true;
}

/* Number of messages of a kind before the next one of another kind, which is in *head. */
static unsigned take_kind(struct rig *rig, enum exec_message_kind kind, struct exec_message *head,
                          uint8_t *content, size_t *size)
{
    unsigned count = 0;
    while (take(rig, head, content, size) && head->kind == kind)
        count++;
    return count;
}

/* Many records are several messages; only the first one begins a part. */
static void test_records(void)
{
    struct rig rig = begin();
    struct record *records = calloc(20000, sizeof *records);
    uint8_t *content = malloc(MESSAGE_RING_BYTES_MAX);
    const struct exec_marks marks = {.begins_part = true, .has_events = true};
    struct exec_message head;
    size_t size, count = 0;
    for (uint32_t i = 0; i < 20000; i++)
        records[i].address = i;
    CU_ASSERT_EQUAL(exec_sender_records(&rig.sender, records, 20000, &marks), 0);
    while (take(&rig, &head, content, &size)) {
        CU_ASSERT(head.kind == EXEC_MESSAGE_RECORDS && head.has_events == 1);
        CU_ASSERT_EQUAL(head.begins_part, count == 0);
        CU_ASSERT_EQUAL(memcmp(content, records + count, size), 0);
        count += size / sizeof *records;
    }
    CU_ASSERT_EQUAL(count, 20000);
    CU_ASSERT_EQUAL(exec_sender_records(&rig.sender, records, 0, &marks), 0);
    CU_ASSERT_FALSE(take(&rig, &head, content, &size));
    free(content);
    free(records);
    end(&rig);
}

/* Each block is described once, before the entries; all of them again after a flush. */
static void test_blocks(void)
{
    struct rig rig = begin();
    struct exec_play *play = &rig.play;
    uint8_t *content = malloc(MESSAGE_RING_BYTES_MAX);
    const uint32_t blocks = code_cache_blocks(play->cache);
    const struct exec_marks marks = {.event = EVENT_SIGNAL};
    struct exec_message head;
    size_t size;
    play->expander.processor = 7;
    play->expander.fs_base = UINT64_C(0x123456789a);
    trace_blocks_execute(play->entries, 3, blocks, 1, &play->state);
    for (unsigned round = 0; round < 2; round++) {
        CU_ASSERT_EQUAL(exec_sender_entries(&rig.sender, &play->expander, play->entries,
                                            3 * TRACE_BLOCKS_SLOTS, &marks),
                        0);
        CU_ASSERT_EQUAL(take_kind(&rig, EXEC_MESSAGE_BLOCK, &head, content, &size),
                        round == 0 ? blocks : 0);
        CU_ASSERT(head.kind == EXEC_MESSAGE_ENTRIES && head.processor == 7);
        CU_ASSERT(head.event == EVENT_SIGNAL && head.begins_part == 0 && head.has_events == 0);
        CU_ASSERT(head.repetitions == 1 && head.fs_base == play->expander.fs_base);
        CU_ASSERT(size == 3 * TRACE_BLOCKS_SLOTS * sizeof(uint32_t) &&
                  memcmp(content, play->entries, size) == 0);
    }
    code_cache_flush(play->cache);
    trace_blocks_make(play->blocks, 2, play->cache, &play->state);
    CU_ASSERT_EQUAL(exec_sender_entries(&rig.sender, &play->expander, play->entries,
                                        TRACE_BLOCKS_SLOTS, &marks),
                    0);
    CU_ASSERT_EQUAL(take_kind(&rig, EXEC_MESSAGE_FORGET, &head, content, &size), 1);
    CU_ASSERT_EQUAL(head.kind, EXEC_MESSAGE_BLOCK);
    CU_ASSERT_EQUAL(take_kind(&rig, EXEC_MESSAGE_BLOCK, &head, content, &size), 1);
    CU_ASSERT_EQUAL(head.kind, EXEC_MESSAGE_ENTRIES);
    free(content);
    end(&rig);
}

/* A description holds the block's lists; a block that the full cache has cut is empty. */
static void test_description(void)
{
    struct rig rig = begin();
    struct exec_play *play = &rig.play;
    uint8_t *content = malloc(MESSAGE_RING_BYTES_MAX);
    const struct exec_marks none = {.begins_part = false};
    const struct block *block = code_cache_block(play->cache, 1);
    struct exec_message head;
    struct exec_block numbers;
    size_t size;
    play->blocks[0].specials = NULL;
    CU_ASSERT_EQUAL(exec_sender_entries(&rig.sender, &play->expander, play->entries, 0, &none), 0);
    CU_ASSERT_TRUE_FATAL(take(&rig, &head, content, &size));
    memcpy(&numbers, content, sizeof numbers);
    CU_ASSERT(size == sizeof numbers && numbers.records == 0 && numbers.patches == 0);
    CU_ASSERT(numbers.slots == TRACE_BLOCKS_SLOTS);
    CU_ASSERT_TRUE_FATAL(take(&rig, &head, content, &size));
    memcpy(&numbers, content, sizeof numbers);
    CU_ASSERT(numbers.records == block->record_count && numbers.patches == block->patch_count);
    CU_ASSERT(numbers.specials == block->special_count &&
              numbers.through_fs == block->through_fs_count);
    CU_ASSERT_EQUAL(memcmp(content + sizeof numbers, block->records,
                           block->record_count * sizeof *block->records),
                    0);
    free(content);
    end(&rig);
}

/* The consumer has closed the ring. */
static void test_closed(void)
{
    struct rig rig = begin();
    const struct record record = {.time = 1};
    const struct exec_marks none = {.begins_part = false};
    message_ring_close(rig.ring);
    CU_ASSERT_EQUAL(exec_sender_records(&rig.sender, &record, 1, &none), BT_CLOSED);
    CU_ASSERT_EQUAL(exec_sender_entries(&rig.sender, &rig.play.expander, rig.play.entries,
                                        TRACE_BLOCKS_SLOTS, &none),
                    BT_CLOSED);
    end(&rig);
}

static const struct test_case cases[] = {{"records", test_records},
                                         {"blocks and their executions", test_blocks},
                                         {"the description of a block", test_description},
                                         {"a closed ring", test_closed},
                                         {NULL, NULL}};
TEST_SUITE(exec_sender, cases)
