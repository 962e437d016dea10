#include "tools/top/top_study.h"

#include <stdlib.h>

#define PIECE       1024u /* occurrences counted at a time */
#define TOUCHED_MAX 256u  /* lines that a reference touches */
#define PROCESSORS  256u

struct top_study {
    struct top_study_settings settings;
    struct frequent *all, *recent; /* recent: since the last snapshot; or NULL */
    struct top_totals totals;
    uint64_t recent_records;
    bool needs_instruction, is_place, every_type;
    unsigned step_shift; /* a reference touches several keys if it crosses a multiple of this; 32:
                            never */
    uint8_t kinds[256];  /* reference_kind_of() */
    uint32_t instructions[PROCESSORS]; /* of the last fetch */
    struct occurrence occurrences[PIECE + TOUCHED_MAX];
    size_t waiting; /* number of occurrences to be counted */
};

struct top_study *top_study_new(const struct top_study_settings *settings, struct bt_error *error)
{
    struct top_study *study = calloc(1, sizeof *study);
    if (!study) {
        bt_fail(error, BT_MEMORY, "no memory to count requests");
        return NULL;
    }
    const struct top_key *key = &settings->key;
    study->settings = *settings;
    study->needs_instruction = top_key_needs_instruction(key);
    study->is_place = top_key_is_place(key);
    study->every_type = !study->is_place || top_key_has(key, TOP_TYPE);
    study->step_shift = top_key_has(key, TOP_LINE)   ? key->line_shift
                        : top_key_has(key, TOP_PAGE) ? key->page_shift
                                                     : 32;
    for (unsigned type = 0; type < 256; type++)
        study->kinds[type] = (uint8_t)reference_kind_of((uint8_t)type);
    study->all = frequent_new(settings->entries, error);
    if (study->all && settings->rates)
        study->recent = frequent_new(settings->entries, error);
    if (study->all && (study->recent || !settings->rates))
        return study;
    top_study_free(study);
    return NULL;
}

void top_study_free(struct top_study *study)
{
    if (!study)
        return;
    frequent_free(study->all);
    frequent_free(study->recent);
    free(study);
}

const struct top_key *top_study_key(const struct top_study *study)
{
    return &study->settings.key;
}

/* --- records --- */

static int count_waiting(struct top_study *study, struct bt_error *error)
{
    const size_t count = study->waiting;
    study->waiting = 0;
    study->totals.touched += count;
    if (study->recent && frequent_add(study->recent, study->occurrences, count, error) < 0)
        return error->code;
    return frequent_add(study->all, study->occurrences, count, error);
}

static inline void add(struct top_study *study, const struct record *record, uint32_t address,
                       uint64_t tick)
{
    const struct top_key *key = &study->settings.key;
    const bool is_address = key->count == 1 && key->fields[0] <= TOP_PAGE;
    const unsigned shift = study->step_shift & 31; /* of an address: 0 */
    study->occurrences[study->waiting++] = (struct occurrence){
        .key = is_address
                   ? address >> shift
                   : top_key_number(key, record, address, study->instructions[record->processor]),
        .tick = tick,
        .kind = study->kinds[record->type],
        .processor = record->processor};
}

/* Adds the record for each line that it touches. */
static inline void add_all(struct top_study *study, const struct record *record, uint64_t tick)
{
    const unsigned shift = study->step_shift;
    uint64_t last = (uint64_t)record->address + reference_bytes(record) - 1;
    add(study, record, record->address, tick);
    if (record->address >> (shift & 31) == last >> (shift & 31) || shift == 32 ||
        study->kinds[record->type] == REFERENCE_NONE)
        return;
    if (last > UINT32_MAX)
        last = UINT32_MAX;
    for (uint64_t line = ((uint64_t)record->address >> shift) + 1; line <= last >> shift; line++)
        add(study, record, (uint32_t)(line << shift), tick);
}

int top_study_put(struct top_study *study, const struct batch *batch, struct bt_error *error)
{
    uint64_t tick = batch->first_tick;
    study->totals.lost += loss_total(&batch->lost);
    study->totals.gaps += batch->gap.chosen + batch->parts;
    if (batch->count > 0 && study->totals.records == 0)
        study->totals.first_tick = batch->first_tick;
    for (size_t i = 0; i < batch->count; i++) {
        const struct record *record = &batch->records[i];
        const uint8_t kind = study->kinds[record->type];
        tick += i > 0 ? record->time : 0;
        if (kind == REFERENCE_FETCH)
            study->instructions[record->processor] = record->address;
        if (kind == REFERENCE_NONE && !study->every_type) {
            study->totals.dropped++;
            continue;
        }
        add_all(study, record, tick);
        if (study->waiting >= PIECE && count_waiting(study, error) < 0)
            return error->code;
    }
    study->totals.records += batch->count;
    study->recent_records += batch->count;
    if (batch->count > 0)
        study->totals.last_tick = tick;
    return count_waiting(study, error);
}

/* --- snapshots --- */

static void fill_row(const struct top_study *study, const struct frequent_entry *entry,
                     struct top_row *row)
{
    const struct frequent_entry *recent;
    const uint64_t number = frequent_key(entry);
    entry = frequent_find(study->all, number);
    if (!entry) /* only recently frequent */
        return;
    *row = (struct top_row){.number = number,
                            .count = frequent_count(study->all, entry),
                            .error = frequent_error(study->all, entry),
                            .processors = entry->processors,
                            .first_tick = entry->first_tick,
                            .last_tick = entry->last_tick};
    for (unsigned kind = 0; kind < FREQUENT_KINDS; kind++)
        row->kinds[kind] = entry->counts[kind];
    recent = study->recent ? frequent_find(study->recent, number) : NULL;
    if (recent)
        row->recent = frequent_count(study->recent, recent);
}

int top_study_snapshot(struct top_study *study, size_t rows, bool by_recent,
                       struct top_snapshot *snapshot, struct bt_error *error)
{
    const struct frequent *counts = by_recent && study->recent ? study->recent : study->all;
    const size_t most = rows < frequent_held(counts) ? rows : frequent_held(counts);
    const struct frequent_entry **top = malloc((most + 1) * sizeof(struct frequent_entry *));
    *snapshot = (struct top_snapshot){.totals = study->totals, .recent = study->recent_records};
    snapshot->totals.held = frequent_held(study->all);
    snapshot->totals.threshold = frequent_threshold(study->all);
    snapshot->rows = calloc(most + 1, sizeof *snapshot->rows);
    int64_t count =
        top && snapshot->rows
            ? frequent_top(counts, top, most, top_key_order, &study->settings.key, error)
            : bt_fail(error, BT_MEMORY, "no memory for %zu rows", most);
    for (int64_t i = 0; i < count; i++) {
        struct top_row *row = &snapshot->rows[snapshot->count];
        fill_row(study, top[i], row);
        snapshot->count += row->count > 0;
    }
    free(top);
    if (count < 0) {
        top_snapshot_clear(snapshot);
        return (int)count;
    }
    if (study->recent)
        frequent_empty(study->recent);
    study->recent_records = 0;
    return 0;
}

void top_snapshot_clear(struct top_snapshot *snapshot)
{
    free(snapshot->rows);
    *snapshot = (struct top_snapshot){.rows = NULL};
}

static int compare_rows(const struct top_row *a, const struct top_row *b, uint64_t a_count,
                        uint64_t b_count)
{
    if (a_count != b_count)
        return a_count > b_count ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int rows_by_count(const void *left, const void *right)
{
    const struct top_row *a = left, *b = right;
    return compare_rows(a, b, a->count, b->count);
}

static int rows_by_recent(const void *left, const void *right)
{
    const struct top_row *a = left, *b = right;
    return compare_rows(a, b, a->recent, b->recent);
}

void top_snapshot_sort(struct top_snapshot *snapshot, bool by_recent)
{
    if (snapshot->count > 1)
        qsort(snapshot->rows, snapshot->count, sizeof *snapshot->rows,
              by_recent ? rows_by_recent : rows_by_count);
}
