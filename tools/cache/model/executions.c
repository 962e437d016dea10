/*
 * Simulates executions of blocks. Of consecutive fetches from one line only the first is simulated:
 * the others are hits that change no state, because the line is its cache's most recently used one.
 * Data accesses end such a run of fetches: all in a unified cache, else those near the line,
 * because a write may invalidate it.
 */
#include "formats/base/grow.h"
#include "formats/blocks/block_executions.h"
#include "tools/cache/model/hierarchy_internal.h"

#include <stdlib.h>
#include <string.h>

#define NO_LINE         UINT64_MAX
#define REACH           256u /* of a record: more than its size */
#define RECORDS_AT_ONCE (2 * BLOCK_STEP_LITERALS_MAX)

/* What is simulated of a template. */
struct short_template {
    size_t first, first_reference; /* in the kept records, and kept_at */
    unsigned count;                /* of kept records */
    unsigned hits;                 /* fetches that are left out */
    uint32_t near, near_bytes;     /* data accesses there may touch a line of the hits */
};

struct hierarchy_blocks {
    struct hierarchy *hierarchy;
    struct short_template *templates;
    struct record *kept;
    uint8_t *kept_at; /* by reference of all templates: number of its record among those kept */
    size_t template_capacity, kept_capacity, at_capacity;
    uint64_t hits[CACHE_PROCESSORS]; /* left out of `records` */
    size_t count;
    struct record records[RECORDS_AT_ONCE];
};

bool hierarchy_takes_executions(const struct hierarchy *hierarchy)
{
    return (hierarchy->shape == SHAPE_NARROW || hierarchy->shape == SHAPE_AGENTS) &&
           hierarchy->parts == 1 && !hierarchy->accesses;
}

struct hierarchy_blocks *hierarchy_blocks_new(struct hierarchy *hierarchy, struct bt_error *error)
{
    struct hierarchy_blocks *blocks = calloc(1, sizeof *blocks);
    if (blocks)
        blocks->hierarchy = hierarchy;
    else
        bt_fail(error, BT_MEMORY, "no memory for the blocks of a capture");
    return blocks;
}

void hierarchy_blocks_free(struct hierarchy_blocks *blocks)
{
    if (!blocks)
        return;
    free(blocks->templates);
    free(blocks->kept);
    free(blocks->kept_at);
    free(blocks);
}

static bool make_room(struct hierarchy_blocks *blocks, const struct block_executions *executions)
{
    size_t records = 1, references = 1;
    for (size_t i = 0; i < executions->template_count; i++) {
        records += executions->templates[i].record_count;
        references += executions->templates[i].reference_count;
    }
    return GROW_ROOM(blocks->templates, blocks->template_capacity,
                     executions->template_count + 1) &&
           GROW_ROOM(blocks->kept, blocks->kept_capacity, records) &&
           GROW_ROOM(blocks->kept_at, blocks->at_capacity, references);
}

/* The line that a record lies in; NO_LINE: it lies in two. */
static uint64_t line_of(const struct record *record, uint32_t bytes)
{
    return record->address % bytes + record->size <= bytes ? record->address / bytes : NO_LINE;
}

/* Sets the addresses of data accesses that may touch one of the lines `first` to `last`. */
static void set_near(struct short_template *to, uint64_t first, uint64_t last, uint32_t bytes)
{
    const uint64_t reach = (last - first + 1) * bytes + REACH - 1;
    to->near = (uint32_t)(first * bytes - REACH);
    to->near_bytes = reach < UINT32_MAX ? (uint32_t)reach : UINT32_MAX;
}

static inline bool is_near(const struct short_template *template, uint32_t address)
{
    return (uint32_t)(address - template->near) <= template->near_bytes;
}

/* Whether a run of fetches from the line continues after a data access. Addresses that vary are
 * checked in each execution. */
static bool run_continues(const struct record *data, bool varies, bool split, uint64_t line,
                          uint32_t bytes)
{
    struct short_template run;
    if (!split || line == NO_LINE)
        return false;
    set_near(&run, line, line, bytes);
    return varies || !is_near(&run, data->address);
}

/* Keeps the records of a template that are simulated. */
static void shorten(const struct hierarchy *hierarchy, const struct block_template *template,
                    struct short_template *to, struct record *kept, uint8_t *kept_at)
{
    const struct cache_level *level = &hierarchy->settings.levels[0];
    const uint32_t bytes = level->sides[CACHE_INSTRUCTION].line;
    uint64_t run = NO_LINE, first = NO_LINE, last = 0;
    for (unsigned i = 0, k = 0; i < template->record_count; i++) {
        const struct record *record = &template->records[i];
        const bool varies = k < template->reference_count && template->references[k].record == i;
        const uint64_t line = varies ? NO_LINE : line_of(record, bytes);
        if (record->type == REQUEST_FETCH && line != NO_LINE && line == run) {
            first = line < first ? line : first;
            last = line > last ? line : last;
            to->hits++;
            continue;
        }
        if (varies)
            kept_at[k++] = (uint8_t)to->count;
        kept[to->count++] = *record;
        if (record->type == REQUEST_FETCH)
            run = line;
        else if (!run_continues(record, varies, level->split, run, bytes))
            run = NO_LINE;
    }
    if (to->hits > 0)
        set_near(to, first, last, bytes);
}

static int set_templates(struct hierarchy_blocks *blocks, const struct block_executions *executions,
                         struct bt_error *error)
{
    size_t kept = 0, references = 0;
    if (!make_room(blocks, executions))
        return bt_fail(error, BT_MEMORY, "no memory for the blocks of a capture");
    for (size_t i = 0; i < executions->template_count; i++) {
        struct short_template *to = &blocks->templates[i];
        *to = (struct short_template){.first = kept, .first_reference = references};
        shorten(blocks->hierarchy, &executions->templates[i], to, blocks->kept + kept,
                blocks->kept_at + references);
        kept += to->count;
        references += executions->templates[i].reference_count;
    }
    return 0;
}

/* Simulates what has been collected, and counts the hits. */
static int flush(struct hierarchy_blocks *blocks, struct bt_error *error)
{
    struct hierarchy *hierarchy = blocks->hierarchy;
    const int result = hierarchy_put(hierarchy, blocks->records, blocks->count, error);
    blocks->count = 0;
    for (unsigned p = 0; p < CACHE_PROCESSORS && result == 0; p++)
        if (blocks->hits[p] > 0) {
            struct cache *cache = hierarchy->processors[p].first[CACHE_INSTRUCTION];
            cache->counters.references[REFERENCE_FETCH] += blocks->hits[p];
            hierarchy_count_records(hierarchy, blocks->hits[p]);
            blocks->hits[p] = 0;
        }
    return result;
}

/* Collects what is simulated of an execution. Returns false if that is all of it. */
static inline bool shorten_step(struct hierarchy_blocks *blocks, const struct execution_step *step,
                                const uint32_t *addresses, unsigned references)
{
    const struct short_template *template = &blocks->templates[step->template];
    const uint8_t *kept_at = blocks->kept_at + template->first_reference;
    const uint8_t processor = step->of.execution.processor;
    struct record *out = blocks->records + blocks->count;
    bool near = false;
    memcpy(out, blocks->kept + template->first, template->count * sizeof *out);
    for (unsigned i = 0; processor != 0 && i < template->count; i++)
        out[i].processor = processor;
    for (unsigned i = 0; i < references; i++) {
        out[kept_at[i]].address = addresses[i];
        near |= is_near(template, addresses[i]);
    }
    if (near && template->hits > 0)
        return false;
    blocks->count += template->count;
    blocks->hits[processor] += template->hits;
    return true;
}

static void collect(struct hierarchy_blocks *blocks, const struct block_executions *executions,
                    struct execution_place *place)
{
    const struct execution_step *step = &executions->steps[place->step];
    if (step->template != BLOCK_LITERALS &&
        shorten_step(blocks, step, executions->addresses + place->address,
                     executions->templates[step->template].reference_count)) {
        block_step_pass(executions, place);
        return;
    }
    const unsigned count = block_step_records(executions, place->step);
    block_step_expand(executions, place, blocks->records + blocks->count);
    blocks->count += count;
}

int hierarchy_put_executions(struct hierarchy_blocks *blocks,
                             const struct block_executions *executions, struct bt_error *error)
{
    struct execution_place place = {0};
    int result = set_templates(blocks, executions, error);
    while (result == 0 && place.step < executions->step_count) {
        collect(blocks, executions, &place);
        if (blocks->count > RECORDS_AT_ONCE - BLOCK_STEP_LITERALS_MAX)
            result = flush(blocks, error);
    }
    return result == 0 ? flush(blocks, error) : result;
}
