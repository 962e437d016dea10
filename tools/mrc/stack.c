#include "tools/mrc/stack_internal.h"

#include <stdlib.h>

#define BATCH       64u /* lines looked up together, so that their entries are prefetched */
#define SLOTS_RATIO 6u  /* minimum slots for each line after renumbering */
#define INLINE      static inline __attribute__((always_inline))

struct stack_batch {
    const uint32_t *lines;
    size_t count;
    uint32_t keys[BATCH];
};

/* Assigns new slots to the lines of a batch; slots[] becomes the old ones, 0 for new lines. */
INLINE void look_up(struct stack *stack, const struct stack_batch *now, uint32_t *slots)
{
    const uint64_t *bits = stack->recency.bits;
    const uint16_t *words = stack->recency.words;
    const uint32_t next = stack->recency.next;
    struct line_table map = stack->map;
    for (size_t i = 0; i < now->count; i++) {
        slots[i] = line_table_exchange(&map, now->keys[i], next + (uint32_t)i);
        __builtin_prefetch(&bits[slots[i] >> RECENCY_WORD_BITS], 1);
        __builtin_prefetch(&words[slots[i] >> RECENCY_WORD_BITS], 1);
    }
    stack->map = map;
}

/* Computes distances from the old slots of a batch, and prefetches the table entries of the next
 * batch. */
INLINE void move(struct stack *stack, const struct stack_batch *now, const uint32_t *slots,
                 struct stack_batch *next, uint32_t *distances, unsigned levels)
{
    const struct line_table map = stack->map;
    for (size_t i = 0; i < now->count;) {
        if ((stack->recency.next & 63) == 0)
            recency_enter(&stack->recency);
        const struct recency recency = stack->recency;
        const size_t left = 64 - (recency.next & 63); /* slots left in the word */
        const size_t end = now->count - i < left ? now->count : i + left;
        uint64_t *word = &recency.bits[recency.next >> RECENCY_WORD_BITS];
        uint64_t bit = UINT64_C(1) << (recency.next & 63);
        uint32_t live = recency.live;
        stack->recency.next += (uint32_t)(end - i);
        for (; i < end; i++, bit <<= 1) {
            uint32_t distance = STACK_COLD;
            if (i < next->count) {
                next->keys[i] = line_table_key(&map, next->lines[i]);
                line_table_prefetch(&map, next->keys[i]);
            }
            if (slots[i] != 0)
                distance = live - 1 - recency_remove(&recency, slots[i], levels);
            else
                live++;
            distances[i] = distance;
            *word |= bit;
        }
        stack->recency.live = live;
    }
}

INLINE void run_batch(struct stack *stack, const struct stack_batch *now, struct stack_batch *next,
                      uint32_t *distances)
{
    uint32_t slots[BATCH];
    look_up(stack, now, slots);
    switch (stack->recency.levels) {
    case 0:
        move(stack, now, slots, next, distances, 0);
        break;
    case 1:
        move(stack, now, slots, next, distances, 1);
        break;
    case 2:
        move(stack, now, slots, next, distances, 2);
        break;
    case 3:
        move(stack, now, slots, next, distances, 3);
        break;
    case 4:
        move(stack, now, slots, next, distances, 4);
        break;
    default:
        move(stack, now, slots, next, distances, RECENCY_LEVELS_MAX);
        break;
    }
}

/* Replaces the slots of all lines by their ranks. */
INLINE void run_renumber(struct stack *stack)
{
    const struct recency recency = stack->recency;
    for (size_t i = 0; i < stack->map.capacity; i++) {
        uint64_t *entry = &stack->map.entries[i];
        if (*entry != 0)
            *entry = (*entry >> 32 << 32) |
                     (recency_rank(&recency, (uint32_t)*entry, recency.levels) + 1);
    }
}

static void batch_plain(struct stack *stack, const struct stack_batch *now,
                        struct stack_batch *next, uint32_t *distances)
{
    run_batch(stack, now, next, distances);
}

static void renumber_plain(struct stack *stack)
{
    run_renumber(stack);
}

#ifdef __x86_64__
__attribute__((target("avx2,bmi,bmi2,popcnt"))) static void
batch_avx2(struct stack *stack, const struct stack_batch *now, struct stack_batch *next,
           uint32_t *distances)
{
    run_batch(stack, now, next, distances);
}

__attribute__((target("avx2,bmi,bmi2,popcnt"))) static void renumber_avx2(struct stack *stack)
{
    run_renumber(stack);
}
#endif

struct stack *stack_new(struct bt_error *error)
{
    struct stack *stack = calloc(1, sizeof *stack);
    if (!stack) {
        bt_fail(error, BT_MEMORY, "no memory for a stack");
        return NULL;
    }
    stack->batch = batch_plain;
    stack->renumber = renumber_plain;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt")) {
        stack->batch = batch_avx2;
        stack->renumber = renumber_avx2;
    }
#endif
    if (line_table_init(&stack->map, error) < 0 ||
        recency_init(&stack->recency, RECENCY_SLOTS_MIN, 0, error) < 0) {
        stack_free(stack);
        return NULL;
    }
    return stack;
}

void stack_free(struct stack *stack)
{
    if (!stack)
        return;
    line_table_free(&stack->map);
    recency_free(&stack->recency);
    free(stack);
}

/* All slots are used: renumbers the lines to the first slots, in their order. */
static int renumber(struct stack *stack, struct bt_error *error)
{
    const uint32_t live = stack->recency.live;
    uint32_t slots = stack->recency.slots;
    if (live >= RECENCY_SLOTS_MAX / 2)
        return bt_fail(error, BT_MEMORY, "more than %u distinct lines", RECENCY_SLOTS_MAX / 2);
    stack->renumber(stack);
    while (slots < RECENCY_SLOTS_MAX && slots / SLOTS_RATIO < live)
        slots *= 2;
    recency_free(&stack->recency);
    return recency_init(&stack->recency, slots, live, error);
}

/* Begins a batch of at most count lines. */
static void prepare(struct stack_batch *batch, const uint32_t *lines, size_t count)
{
    batch->lines = lines;
    batch->count = count < BATCH ? count : BATCH;
}

int stack_run(struct stack *stack, const uint32_t *lines, size_t count, uint32_t *distances,
              struct bt_error *error)
{
    struct stack_batch batches[2];
    struct stack_batch *now = &batches[0];
    struct stack_batch *next = &batches[1];
    prepare(now, lines, count);
    for (size_t i = 0; i < now->count; i++) {
        now->keys[i] = line_table_key(&stack->map, lines[i]);
        line_table_prefetch(&stack->map, now->keys[i]);
    }
    for (size_t done = 0; done < count; done += next->count) {
        prepare(next, lines + done + now->count, count - done - now->count);
        if (stack->recency.slots - stack->recency.next < now->count && renumber(stack, error) < 0)
            return error->code;
        if (line_table_reserve(&stack->map, now->count, error) < 0)
            return error->code;
        stack->batch(stack, now, next, distances + done);
        struct stack_batch *other = now;
        now = next;
        next = other;
    }
    return 0;
}
