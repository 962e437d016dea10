#include "tools/rondo/tage_history.h"

#include "formats/base/power.h"

#define OUTCOMES (TAGE_HISTORY_WORDS * 64u)

void tage_history_make(struct tage_history *history, const struct predictor_settings *settings)
{
    uint32_t lengths[TAGE_TABLES_MAX];
    predictor_lengths(settings, lengths);
    *history = (struct tage_history){.table_count = settings->tables};
    for (unsigned i = 0; i < settings->tables; i++) {
        struct tage_fold fold = {.length = (uint16_t)lengths[i],
                                 .bits = (uint8_t)power_log2(settings->entries)};
        history->tables[i].place = fold;
        fold.bits = (uint8_t)settings->tag_bits;
        history->tables[i].tag = fold;
        fold.bits--;
        history->tables[i].shorter_tag = fold;
    }
}

/* The one that came, and the one that is too old now, which was the oldest of those folded. */
static inline void fold_shift(struct tage_fold *fold, uint32_t newest, uint32_t gone)
{
    if (fold->bits == 0)
        return;
    uint32_t value = fold->value << 1 | newest;
    value ^= gone << fold->length % fold->bits;
    value ^= value >> fold->bits;
    fold->value = value & ((1u << fold->bits) - 1);
}

void tage_history_shift(struct tage_history *history, bool taken)
{
    for (unsigned i = 0; i < history->table_count; i++) {
        struct tage_table_folds *folds = &history->tables[i];
        uint32_t place = (history->end - folds->place.length) % OUTCOMES;
        uint32_t gone = (uint32_t)(history->words[place / 64] >> place % 64 & 1);
        fold_shift(&folds->place, taken, gone);
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
        folds->place.value ^= folds->place.bits > 0;
        folds->tag.value ^= 1;
        folds->shorter_tag.value ^= 1;
    }
}
