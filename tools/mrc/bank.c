#include "tools/mrc/bank.h"

#include "tools/mrc/buckets.h"
#include "tools/mrc/last_uses.h"
#include "tools/mrc/stack.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 10u /* of the radix sort */
#define DIGITS     (1u << DIGIT_BITS)

/* State of one set of one cache. */
union follower {
    struct stack *stack;
    struct last_uses *uses;
};

/* The references of a run that belong to one follower, gathered. */
struct slice {
    uint32_t lines[BANK_RUN_MAX];
    uint64_t numbers[BANK_RUN_MAX];
    uint32_t outcomes[BANK_RUN_MAX];
    uint64_t before[BANK_RUN_MAX];
};

struct bank {
    enum bank_kind kind;
    uint32_t caches, sets;
    union follower **followers; /* for each cache: NULL, or `sets` followers */
    struct slice slice;
    uint32_t keys[BANK_RUN_MAX]; /* sort keys: the number of the follower */
    uint32_t order[2][BANK_RUN_MAX];
};

struct bank *bank_new(enum bank_kind kind, uint32_t caches, uint32_t sets, struct bt_error *error)
{
    struct bank *bank = calloc(1, sizeof *bank);
    if (bank)
        bank->followers = calloc(caches, sizeof *bank->followers);
    if (!bank || !bank->followers) {
        free(bank);
        bt_fail(error, BT_MEMORY, "no memory for %u caches", caches);
        return NULL;
    }
    bank->kind = kind;
    bank->caches = caches;
    bank->sets = sets;
    return bank;
}

void bank_free(struct bank *bank)
{
    if (!bank)
        return;
    for (uint32_t cache = 0; cache < bank->caches; cache++) {
        union follower *followers = bank->followers[cache];
        for (uint32_t set = 0; followers && set < bank->sets; set++) {
            if (bank->kind == BANK_DISTANCES)
                stack_free(followers[set].stack);
            else
                last_uses_free(followers[set].uses);
        }
        free(followers);
    }
    free(bank->followers);
    free(bank);
}

static union follower *find(struct bank *bank, uint32_t cache, uint32_t set, struct bt_error *error)
{
    union follower **followers = &bank->followers[cache];
    if (!*followers)
        *followers = calloc(bank->sets, sizeof **followers);
    if (!*followers) {
        bt_fail(error, BT_MEMORY, "no memory for %u sets", bank->sets);
        return NULL;
    }
    union follower *follower = &(*followers)[set];
    if (bank->kind == BANK_DISTANCES && !follower->stack)
        follower->stack = stack_new(error);
    else if (bank->kind != BANK_DISTANCES && !follower->uses)
        follower->uses = last_uses_new(error);
    return follower->stack ? follower : NULL;
}

/* Outcomes from the times or windows of the last use and of this one. */
static uint32_t outcome(enum bank_kind kind, uint64_t before, uint64_t now)
{
    if (before == LAST_USES_NONE)
        return BANK_COLD;
    if (kind == BANK_WINDOWS)
        return before == now ? BANK_AGAIN : BANK_FIRST;
    return buckets_of(now > before ? now - before : 0);
}

/* Runs the gathered references of one follower. */
static int follow(struct bank *bank, uint32_t cache, uint32_t set, const uint32_t *lines,
                  const uint64_t *numbers, size_t count, uint32_t *outcomes, struct bt_error *error)
{
    union follower *follower = find(bank, cache, set, error);
    if (!follower)
        return error->code;
    if (bank->kind == BANK_DISTANCES)
        return stack_run(follower->stack, lines, count, outcomes, error);
    uint64_t *before = bank->slice.before;
    int result = last_uses_run(follower->uses, lines, numbers, count, before, error);
    for (size_t i = 0; result == 0 && i < count; i++)
        outcomes[i] = outcome(bank->kind, before[i], numbers[i]);
    return result;
}

/* Sorts the indexes of the run by keys below `keys`; the sort is stable. */
static const uint32_t *sort(struct bank *bank, size_t count, uint64_t keys)
{
    uint32_t *from = bank->order[0];
    uint32_t *to = bank->order[1];
    for (size_t i = 0; i < count; i++)
        from[i] = (uint32_t)i;
    for (unsigned shift = 0; keys > UINT64_C(1) << shift; shift += DIGIT_BITS) {
        uint32_t places[DIGITS + 1] = {0};
        for (size_t i = 0; i < count; i++)
            places[(bank->keys[i] >> shift & (DIGITS - 1)) + 1]++;
        for (unsigned digit = 0; digit < DIGITS; digit++)
            places[digit + 1] += places[digit];
        for (size_t i = 0; i < count; i++)
            to[places[bank->keys[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
        uint32_t *other = from;
        from = to;
        to = other;
    }
    return from;
}

/* Runs the references order[0] to order[count - 1], which belong to one follower. */
static int run_slice(struct bank *bank, struct bank_run *run, const uint32_t *order, size_t count,
                     struct bt_error *error)
{
    struct slice *slice = &bank->slice;
    const uint32_t key = bank->keys[order[0]];
    for (size_t i = 0; i < count; i++) {
        slice->lines[i] = run->lines[order[i]];
        slice->numbers[i] = run->numbers[order[i]];
    }
    int result = follow(bank, key / bank->sets, key % bank->sets, slice->lines, slice->numbers,
                        count, slice->outcomes, error);
    for (size_t i = 0; result == 0 && i < count; i++)
        run->outcomes[order[i]] = slice->outcomes[i];
    return result;
}

int bank_run(struct bank *bank, struct bank_run *run, struct bt_error *error)
{
    int result = 0;
    if (bank->caches == 1 && bank->sets == 1)
        return follow(bank, 0, 0, run->lines, run->numbers, run->count, run->outcomes, error);
    for (size_t i = 0; i < run->count; i++) {
        const uint32_t cache = bank->caches == 1 ? 0 : run->caches[i];
        bank->keys[i] = cache * bank->sets + (run->lines[i] & (bank->sets - 1));
    }
    const uint32_t *order = sort(bank, run->count, (uint64_t)bank->caches * bank->sets);
    for (size_t start = 0, end = 0; result == 0 && start < run->count; start = end) {
        while (end < run->count && bank->keys[order[end]] == bank->keys[order[start]])
            end++;
        result = run_slice(bank, run, order + start, end - start, error);
    }
    return result;
}
