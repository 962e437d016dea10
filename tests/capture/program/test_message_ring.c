/* Messages from one thread to another, through a ring that both map. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "capture/program/message_ring.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MESSAGES 3000u

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

/* The length and content of a message follow from its number. */
static size_t length_of(uint64_t number)
{
    uint64_t state = number + 1;
    const uint64_t bits = random_next(&state);
    return bits % 16 == 0 ? bits >> 8 & 0x3ffff : bits >> 8 & 0xfff;
}

static void *put_all(void *context)
{
    struct message_ring *ring = context;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        uint8_t *to = message_ring_reserve(ring, length_of(i), NULL, NULL);
        if (!to)
            break;
        memset(to, (int)i, length_of(i));
        message_ring_put(ring);
        if (i % 512 == 0 &&
            (!message_ring_settle(ring, NULL, NULL) || message_ring_counted(ring) != i + 1))
            break;
    }
    message_ring_end(ring);
    return NULL;
}

/* Whether a message is the one with this number. */
static bool is_message(const uint8_t *bytes, size_t size, uint64_t number)
{
    bool same = size == length_of(number);
    for (size_t i = 0; i < size; i++)
        same &= bytes[i] == (uint8_t)number;
    return same;
}

static void test_order(void)
{
    for (int timeout_ms = -1; timeout_ms < 40; timeout_ms += 20) {
        struct message_ring *ring = new_ring();
        struct message_taker taker = message_taker_of(ring);
        pthread_t thread;
        uint64_t number = 0, wrong = 0;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, put_all, ring), 0);
        while (message_ring_wait(&taker, timeout_ms)) {
            const uint8_t *bytes;
            size_t size;
            while ((bytes = message_ring_front(&taker, &size)) != NULL) {
                wrong += !is_message(bytes, size, number);
                message_ring_set_counted(ring, ++number);
                message_ring_drop(&taker);
            }
        }
        pthread_join(thread, NULL);
        CU_ASSERT_EQUAL(number, MESSAGES);
        CU_ASSERT_EQUAL(wrong, 0);
        free_ring(ring);
    }
}

/* A message without a put is missing, and its place is used again. */
static void test_not_put(void)
{
    struct message_ring *ring = new_ring();
    struct message_taker taker = message_taker_of(ring);
    size_t size;
    CU_ASSERT_PTR_NOT_NULL(message_ring_reserve(ring, 100, NULL, NULL));
    CU_ASSERT_PTR_NULL(message_ring_front(&taker, &size));
    void *place = message_ring_reserve(ring, 5, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(place);
    memcpy(place, "again", 5);
    message_ring_put(ring);
    const void *front = message_ring_front(&taker, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(front);
    CU_ASSERT(front == place && size == 5 && memcmp(front, "again", 5) == 0);
    CU_ASSERT_PTR_NULL(message_ring_reserve(ring, MESSAGE_RING_BYTES_MAX + 1, NULL, NULL));
    message_ring_end(ring);
    CU_ASSERT_TRUE(message_ring_wait(&taker, -1));
    message_ring_drop(&taker);
    CU_ASSERT_FALSE(message_ring_wait(&taker, -1));
    free_ring(ring);
}

/* Neither waits for a consumer that has closed the ring. */
static void test_closed(void)
{
    struct message_ring *ring = new_ring();
    CU_ASSERT_PTR_NOT_NULL(message_ring_reserve(ring, 100, NULL, NULL));
    message_ring_put(ring);
    message_ring_close(ring);
    CU_ASSERT_FALSE(message_ring_settle(ring, NULL, NULL));
    CU_ASSERT_PTR_NULL(message_ring_reserve(ring, 100, NULL, NULL));
    free_ring(ring);
}

static const struct test_case cases[] = {{"messages come whole and in order", test_order},
                                         {"a message that is not put", test_not_put},
                                         {"a closed ring", test_closed},
                                         {NULL, NULL}};
TEST_SUITE(message_ring, cases)
