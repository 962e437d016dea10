#include "tools/rondo/tage_history.h"

#include "formats/base/power.h"

#define OUTCOMES (TAGE_HISTORY_WORDS * 64u)

static struct tage_fold fold_of(uint32_t length, unsigned bits)
{
    return (struct tage_fold){.length = (uint16_t)length,
                              .bits = (uint8_t)bits,
                              .last = (uint8_t)(bits > 0 ? length % bits : 0)};
}

void tage_history_make(struct tage_history *history, const struct predictor_settings *settings)
{
    uint32_t lengths[TAGE_TABLES_MAX];
    predictor_lengths(settings, lengths);
    *history = (struct tage_history){.table_count = settings->tables};
    for (unsigned i = 0; i < settings->tables; i++)
        history->tables[i] =
            (struct tage_table_folds){.index = fold_of(lengths[i], power_log2(settings->entries)),
                                      .tag = fold_of(lengths[i], settings->tag_bits),
                                      .shorter_tag = fold_of(lengths[i], settings->tag_bits - 1)};
}

/* Shifts the newest outcome in, and the one that leaves the fold out. */
static inline void fold_shift(struct tage_fold *fold, uint32_t newest, uint32_t gone)
{
    uint32_t value = fold->value << 1 | newest;
    value ^= gone << fold->last;
    value ^= value >> fold->bits;
    fold->value = value & ((1u << fold->bits) - 1);
}

void tage_history_shift(struct tage_history *history, bool taken)
{
    for (unsigned i = 0; i < history->table_count; i++) {
        struct tage_table_folds *folds = &history->tables[i];
        uint32_t index = (history->end - folds->index.length) % OUTCOMES;
        uint32_t gone = (uint32_t)(history->words[index / 64] >> index % 64 & 1);
        fold_shift(&folds->index, taken, gone);
        fold_shift(&folds->tag, taken, gone);
        fold_shift(&folds->shorter_tag, taken, gone);
    }
    uint32_t end = history->end++ % OUTCOMES;
    history->words[end / 64] &= ~(1ull << end % 64);
    history->words[end / 64] |= (uint64_t)taken << end % 64;
}

void tage_history_flip(struct tage_history *history)
{
    uint32_t newest = (history->end - 1) % OUTCOMES;
    history->words[newest / 64] ^= 1ull << newest % 64;
    for (unsigned i = 0; i < history->table_count; i++) {
        struct tage_table_folds *folds = &history->tables[i];
        folds->index.value ^= folds->index.bits > 0;
        folds->tag.value ^= 1;
        folds->shorter_tag.value ^= 1;
    }
}
