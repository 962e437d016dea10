#include "tools/rondo/local_histories.h"

#include "formats/base/grow.h"

bool local_histories_make(struct local_histories *local, uint32_t histories, unsigned bits,
                          unsigned counter_bits)
{
    local->index_mask = histories - 1;
    local->pattern = (1u << bits) - 1;
    local->histories = calloc(histories, sizeof *local->histories);
    return local->histories && counters_make(&local->counters, 1ull << bits, counter_bits);
}

void local_histories_clear(struct local_histories *local)
{
    free(local->histories);
    free(local->counters.values);
    free(local->changes);
}

static uint32_t *history_of(const struct local_histories *local, const struct branch *branch)
{
    return &local->histories[branch->address & local->index_mask];
}

bool local_histories_predict(const struct local_histories *local, const struct branch *branch)
{
    return counters_predict(&local->counters, *history_of(local, branch));
}

void local_histories_train(struct local_histories *local, const struct branch *branch)
{
    counters_train(&local->counters, *history_of(local, branch), branch->taken);
}

/* Saves a history before its change. Without memory the history is left unchanged. */
static bool remember(struct local_histories *local, const struct branch *branch)
{
    if (!local->saving)
        return true;
    struct local_change *grown =
        grow_array(local->changes, &local->change_capacity, local->change_count + 1, sizeof *grown);
    if (!grown)
        return false;
    local->changes = grown;
    grown[local->change_count++] = (struct local_change){
        .index = branch->address & local->index_mask, .history = *history_of(local, branch)};
    return true;
}

void local_histories_shift(struct local_histories *local, const struct branch *branch, bool taken)
{
    uint32_t *history = history_of(local, branch);
    if (remember(local, branch))
        *history = (*history << 1 | taken) & local->pattern;
}

void local_histories_flip(struct local_histories *local, const struct branch *branch)
{
    if (remember(local, branch))
        *history_of(local, branch) ^= 1;
}

void local_histories_save(struct local_histories *local)
{
    local->saving = true;
    local->change_count = 0;
}

void local_histories_restore(struct local_histories *local)
{
    while (local->change_count > 0) {
        const struct local_change *change = &local->changes[--local->change_count];
        local->histories[change->index] = change->history;
    }
    local->saving = false;
}
