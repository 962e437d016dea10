#include "tools/rondo/targets.h"

#include "formats/base/power.h"
#include "tools/rondo/return_stack.h"
#include "tools/rondo/target_buffer.h"

#include <stdlib.h>

/* The target cache. */
struct target_cache {
    uint64_t *targets; /* NULL: no target cache */
    uint64_t mask;
    unsigned shift; /* shift of the history for each target */
    uint64_t history, saved_history;
};

struct targets {
    struct return_stack stack;
    struct target_buffer buffer;
    struct target_cache cache;
};

int targets_check(const struct targets_settings *settings, struct bt_error *error)
{
    const uint32_t entries = settings->buffer_entries;
    const uint32_t ways = settings->buffer_ways;
    if (settings->return_stack > RETURN_STACK_MAX)
        return bt_fail(error, BT_USAGE, "a return stack has at most %u entries", RETURN_STACK_MAX);
    if (entries > TARGET_BUFFER_MAX || settings->cache_entries > TARGET_BUFFER_MAX)
        return bt_fail(error, BT_USAGE, "at most %u entries", TARGET_BUFFER_MAX);
    if (ways > TARGET_WAYS_MAX)
        return bt_fail(error, BT_USAGE, "at most %u ways", TARGET_WAYS_MAX);
    if (entries > 0 && (ways == 0 || entries % ways != 0 || !power_is(entries / ways)))
        return bt_fail(error, BT_USAGE,
                       "a target buffer's entries are its ways times a power of two");
    if (settings->cache_entries > 0 && !power_is(settings->cache_entries))
        return bt_fail(error, BT_USAGE, "a target cache's entries are a power of two");
    if (settings->cache_entries > 0 &&
        (settings->cache_histories == 0 || settings->cache_histories > TARGET_HISTORY_MAX))
        return bt_fail(error, BT_USAGE, "a target cache's history is 1 to %u targets",
                       TARGET_HISTORY_MAX);
    return 0;
}

static bool make_cache(struct target_cache *cache, const struct targets_settings *settings)
{
    if (settings->cache_entries == 0)
        return true;
    const unsigned bits = power_log2(settings->cache_entries);
    cache->mask = settings->cache_entries - 1;
    cache->shift = (bits + settings->cache_histories - 1) / settings->cache_histories;
    cache->targets = calloc(settings->cache_entries, sizeof *cache->targets);
    return cache->targets != NULL;
}

struct targets *targets_new(const struct targets_settings *settings, struct bt_error *error)
{
    struct targets *targets = calloc(1, sizeof *targets);
    if (targets && return_stack_make(&targets->stack, settings->return_stack) &&
        target_buffer_make(&targets->buffer, settings->buffer_entries, settings->buffer_ways) &&
        make_cache(&targets->cache, settings))
        return targets;
    targets_free(targets);
    bt_fail(error, BT_MEMORY, "no memory for return stack and target buffer");
    return NULL;
}

void targets_free(struct targets *targets)
{
    if (!targets)
        return;
    return_stack_clear(&targets->stack);
    target_buffer_clear(&targets->buffer);
    free(targets->cache.targets);
    free(targets);
}

static uint64_t *cache_entry(const struct target_cache *cache, const struct branch *branch)
{
    return &cache->targets[(branch->address ^ cache->history) & cache->mask];
}

/* Shifts a target into the history. */
static uint64_t cache_bits(const struct target_cache *cache, uint64_t target)
{
    return (target ^ target >> 4) & cache->mask;
}

static void cache_shift(struct target_cache *cache, uint64_t target)
{
    cache->history = ((cache->history << cache->shift) & cache->mask) ^ cache_bits(cache, target);
}

static bool is_stacked(const struct targets *targets, const struct branch *branch)
{
    return branch->kind == BRANCH_RETURN && targets->stack.size > 0;
}

static bool is_cached(const struct targets *targets, const struct branch *branch)
{
    return branch_is_indirect(branch) && targets->cache.targets;
}

struct targets_answer targets_put(struct targets *targets, const struct branch *branch)
{
    struct targets_answer answer = {.target = 0};
    if (is_stacked(targets, branch)) {
        answer.target = return_stack_pop(&targets->stack);
        return answer;
    }
    answer.target = target_buffer_put(&targets->buffer, branch->address, branch->target);
    answer.looked_up = targets->buffer.entries != NULL;
    answer.buffered = answer.target != 0;
    answer.right = answer.buffered && answer.target == branch->target;
    if (is_cached(targets, branch)) {
        uint64_t *entry = cache_entry(&targets->cache, branch);
        if (*entry != 0)
            answer.target = *entry;
        *entry = branch->target;
        cache_shift(&targets->cache, branch->target);
    }
    if (branch_is_call(branch))
        return_stack_push(&targets->stack, branch->next);
    return answer;
}

void targets_wrong_begin(struct targets *targets, const struct branch *branch, uint64_t predicted)
{
    struct target_cache *cache = &targets->cache;
    return_stack_save(&targets->stack);
    cache->saved_history = cache->history;
    if (is_cached(targets, branch))
        cache->history ^= cache_bits(cache, branch->target) ^ cache_bits(cache, predicted);
}

static uint64_t wrong_target(const struct targets *targets, const struct branch *branch)
{
    if (branch->kind != BRANCH_RETURN && !branch_is_indirect(branch))
        return branch->target;
    if (is_cached(targets, branch)) {
        uint64_t target = *cache_entry(&targets->cache, branch);
        if (target != 0)
            return target;
    }
    return target_buffer_find(&targets->buffer, branch->address);
}

uint64_t targets_wrong(struct targets *targets, const struct branch *branch)
{
    if (is_stacked(targets, branch))
        return return_stack_pop(&targets->stack);
    uint64_t target = wrong_target(targets, branch);
    if (is_cached(targets, branch) && target != 0)
        cache_shift(&targets->cache, target);
    if (branch_is_call(branch))
        return_stack_push(&targets->stack, branch->next);
    return target;
}

void targets_wrong_end(struct targets *targets)
{
    return_stack_restore(&targets->stack);
    targets->cache.history = targets->cache.saved_history;
}
