/* TAGE: tagged tables with geometric history lengths (Seznec and Michaud, 2006), as
 * doc/predictors.md defines it. */
#include "formats/base/power.h"
#include "tools/rondo/counters.h"
#include "tools/rondo/predictor_internal.h"
#include "tools/rondo/tage_history.h"

#define DOUBT_TOP    15u
#define RANDOM_TAPS  0x80200003u
#define BASE         0u /* in place of a table number */
#define TABLE_PLACES (TAGE_TABLES_MAX + 1)

struct tage_entry {
    uint16_t tag;
    uint8_t counter;
    uint8_t useful;
};

/* Look-up of the current branch; tables are numbered from 1. */
struct lookup {
    struct tage_entry
        *entries[TABLE_PLACES]; /* indexed entry of each table, whether its tag matches or not */
    uint16_t tags[TABLE_PLACES];
    unsigned provider, alternate;
    bool provider_says, alternate_says;
    bool is_new; /* the provider is new: not useful yet, and weak */
    bool says;
};

struct tage {
    struct predictor predictor;
    struct counters base;
    struct tage_entry *entries; /* entries of all tables */
    uint32_t table_entries;
    unsigned table_count, index_bits;
    uint16_t tag_mask;
    uint8_t top, useful_top;
    uint8_t doubt; /* counter: alternate is better than new providers */
    uint32_t random;
    uint32_t period, branches; /* branches since the last aging */
    struct tage_history history, saved;
    struct lookup at;
};

static void find(struct tage *tage, uint64_t address)
{
    struct lookup *at = &tage->at;
    at->provider = BASE;
    at->alternate = BASE;
    for (unsigned i = 1; i <= tage->table_count; i++) {
        const struct tage_table_folds *folds = &tage->history.tables[i - 1];
        uint64_t index = address ^ address >> tage->index_bits ^ address >> (tage->index_bits + i) ^
                         folds->index.value;
        at->tags[i] =
            (uint16_t)(address ^ folds->tag.value ^ folds->shorter_tag.value << 1) & tage->tag_mask;
        at->entries[i] = &tage->entries[(size_t)(i - 1) * tage->table_entries +
                                        (index & (tage->table_entries - 1))];
        if (at->entries[i]->tag == at->tags[i]) {
            at->alternate = at->provider;
            at->provider = i;
        }
    }
}

static bool table_says(const struct tage *tage, unsigned table, uint64_t address)
{
    if (table == BASE)
        return counters_predict(&tage->base, address);
    return counter_says_taken(tage->at.entries[table]->counter, tage->top);
}

static bool tage_predict(struct predictor *predictor, const struct branch *branch)
{
    struct tage *tage = (struct tage *)predictor;
    struct lookup *at = &tage->at;
    find(tage, branch->address);
    at->provider_says = table_says(tage, at->provider, branch->address);
    at->alternate_says = table_says(tage, at->alternate, branch->address);
    at->is_new = at->provider != BASE && at->entries[at->provider]->useful == 0 &&
                 counter_is_weak(at->entries[at->provider]->counter, tage->top);
    at->says = at->is_new && counter_says_taken(tage->doubt, DOUBT_TOP) ? at->alternate_says
                                                                        : at->provider_says;
    return at->says;
}

static void train_table(struct tage *tage, unsigned table, const struct branch *branch)
{
    if (table == BASE) {
        counters_train(&tage->base, branch->address, branch->taken);
        return;
    }
    uint8_t *counter = &tage->at.entries[table]->counter;
    *counter = counter_trained(*counter, tage->top, branch->taken);
}

static void train_provider(struct tage *tage, const struct branch *branch)
{
    const struct lookup *at = &tage->at;
    bool differ = at->provider_says != at->alternate_says;
    if (at->provider != BASE) {
        struct tage_entry *entry = at->entries[at->provider];
        if (at->is_new && differ)
            tage->doubt =
                counter_trained(tage->doubt, DOUBT_TOP, at->alternate_says == branch->taken);
        if (entry->useful == 0)
            train_table(tage, at->alternate, branch);
        if (differ)
            entry->useful = counter_trained(entry->useful, tage->useful_top,
                                            at->provider_says == branch->taken);
    }
    train_table(tage, at->provider, branch);
}

static uint32_t draw(struct tage *tage)
{
    tage->random = tage->random >> 1 ^ ((tage->random & 1) != 0 ? RANDOM_TAPS : 0);
    return tage->random;
}

/* Allocates an entry in a table with a longer history. */
static void allocate(struct tage *tage, bool taken)
{
    const struct lookup *at = &tage->at;
    unsigned first = at->provider + 1;
    if ((draw(tage) & 1) != 0 && first < tage->table_count)
        first++;
    for (unsigned i = first; i <= tage->table_count; i++)
        if (at->entries[i]->useful == 0) {
            at->entries[i]->tag = at->tags[i];
            at->entries[i]->counter = (uint8_t)(tage->top / 2 + taken);
            return;
        }
    for (unsigned i = first; i <= tage->table_count; i++)
        at->entries[i]->useful--;
}

/* Halves all useful counters, so that old entries can be replaced. */
static void age(struct tage *tage)
{
    for (size_t i = 0; i < (size_t)tage->table_count * tage->table_entries; i++)
        tage->entries[i].useful >>= 1;
    tage->branches = 0;
}

static void tage_train(struct predictor *predictor, const struct branch *branch)
{
    struct tage *tage = (struct tage *)predictor;
    train_provider(tage, branch);
    if (tage->at.says != branch->taken && tage->at.provider < tage->table_count)
        allocate(tage, branch->taken);
    if (++tage->branches == tage->period)
        age(tage);
}

static void tage_shift(struct predictor *predictor, const struct branch *branch, bool taken)
{
    (void)branch;
    tage_history_shift(&((struct tage *)predictor)->history, taken);
}

static void tage_flip(struct predictor *predictor, const struct branch *branch)
{
    (void)branch;
    tage_history_flip(&((struct tage *)predictor)->history);
}

static void tage_save(struct predictor *predictor)
{
    struct tage *tage = (struct tage *)predictor;
    tage->saved = tage->history;
}

static void tage_restore(struct predictor *predictor)
{
    struct tage *tage = (struct tage *)predictor;
    tage->history = tage->saved;
}

static void tage_clear(struct predictor *predictor)
{
    struct tage *tage = (struct tage *)predictor;
    free(tage->base.values);
    free(tage->entries);
}

struct predictor *tage_new(const struct predictor_settings *settings)
{
    static const struct predictor_operations operations = {.predict = tage_predict,
                                                           .train = tage_train,
                                                           .shift = tage_shift,
                                                           .flip = tage_flip,
                                                           .save = tage_save,
                                                           .restore = tage_restore,
                                                           .clear = tage_clear};
    struct tage *tage = calloc(1, sizeof *tage);
    if (!tage)
        return NULL;
    const size_t entries = (size_t)settings->tables * settings->entries;
    tage->predictor.operations = &operations;
    tage->table_entries = settings->entries;
    tage->table_count = settings->tables;
    tage->index_bits = power_log2(settings->entries);
    tage->tag_mask = (uint16_t)((1u << settings->tag_bits) - 1);
    tage->top = counter_top(settings->bits);
    tage->useful_top = counter_top(settings->useful_bits);
    tage->doubt = DOUBT_TOP / 2 + 1;
    tage->random = 1;
    tage->period = settings->period;
    tage_history_make(&tage->history, settings);
    tage->entries = calloc(entries, sizeof *tage->entries);
    if (!tage->entries || !counters_make(&tage->base, settings->base, 2)) {
        predictor_free(&tage->predictor);
        return NULL;
    }
    for (size_t i = 0; i < entries; i++)
        tage->entries[i].counter = tage->top / 2;
    return &tage->predictor;
}
