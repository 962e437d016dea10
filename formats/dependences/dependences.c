#include "formats/dependences/dependences.h"

#include "formats/base/grow.h"
#include "formats/base/hash.h"
#include "formats/base/printable.h"
#include "formats/base/saturating.h"
#include "formats/base/utf8.h"

#include <string.h>

const char *const dependence_kind_names[DEPENDENCE_KINDS] = {"RAW", "WAR", "WAW"};
const char *const dependences_by_names[DEPENDENCES_BYS] = {"instruction", "line", "function"};
const char *const dependences_level_names[DEPENDENCES_LEVELS] = {"function", "access"};
const char *const dependence_verdict_names[DEPENDENCE_VERDICTS] = {
    "unjudged", "independent", "reduction", "privatizable", "distance", "serial"};

struct dependences *dependences_new(struct bt_error *error)
{
    struct dependences *dependences = calloc(1, sizeof *dependences);
    if (!dependences) {
        bt_fail(error, BT_MEMORY, "no memory for dependences");
        return NULL;
    }
    dependences->totals.instructions = DEPENDENCES_UNKNOWN;
    dependences->seed = hash_seed(dependences);
    return dependences;
}

void dependences_free(struct dependences *dependences)
{
    if (!dependences)
        return;
    for (size_t i = 0; i < dependences->name_count; i++)
        free(dependences->names[i]);
    for (size_t i = 0; i < dependences->loop_count; i++)
        free(dependences->loops[i].reasons);
    free(dependences->names);
    free(dependences->loop_of_place);
    free(dependences->places);
    free(dependences->loops);
    free(dependences->rows);
    free(dependences->notes);
    hash_index_clear(&dependences->by_place);
    hash_index_clear(&dependences->by_row);
    hash_index_clear(&dependences->by_name);
    free(dependences);
}

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory for dependences");
}

/* Makes room for one more element; grown is a variable for the array. */
#define GROW(grown, array, count, capacity)                                                        \
    (((grown) = grow_array((array), &(capacity), (count) + 1, sizeof *(array))) != NULL &&         \
     ((array) = (grown), true))

/* --- names -------------------------------------------------------------------------------------
 */

/* Copies text, cut off if it is too long, without control characters and octets that are not
 * UTF-8. Returns its length. */
static size_t copy_name(char copy[DEPENDENCES_NAME_BYTES], const char *text)
{
    const size_t size = strnlen(text, DEPENDENCES_NAME_BYTES - 1);
    memcpy(copy, text, size);
    copy[size] = 0;
    for (size_t i = 0, length; i < size; i += length) {
        length = utf8_length(copy + i, copy + size);
        if (length == 0) {
            copy[i] = '?';
            length = 1;
        }
    }
    printable_make(copy);
    return size;
}

/* Finds or stores the name. NULL in *name for an unknown one. */
static int intern(struct dependences *dependences, const char *text, const char **name,
                  struct bt_error *error)
{
    char copy[DEPENDENCES_NAME_BYTES];
    *name = NULL;
    if (!text || !*text)
        return 0;
    const size_t size = copy_name(copy, text);
    const uint32_t hash = hash_number(hash_octets(dependences->seed, copy, size));
    void *grown;
    struct hash_search search = hash_search(&dependences->by_name, hash);
    while (hash_search_next(&search))
        if (strcmp(dependences->names[search.number], copy) == 0) {
            *name = dependences->names[search.number];
            return 0;
        }
    char *stored = malloc(size + 1);
    if (!stored || dependences->name_count >= HASH_INDEX_NUMBER_MAX ||
        !GROW(grown, dependences->names, dependences->name_count, dependences->name_capacity) ||
        hash_index_add(&dependences->by_name, hash, (uint32_t)dependences->name_count) < 0) {
        free(stored);
        return no_memory(error);
    }
    memcpy(stored, copy, size + 1);
    dependences->names[dependences->name_count++] = stored;
    *name = stored;
    return 0;
}

int dependences_set_totals(struct dependences *dependences, const struct dependences_totals *totals,
                           struct bt_error *error)
{
    struct dependences_totals copy = *totals;
    int result = intern(dependences, totals->program, &copy.program, error);
    if (result == 0)
        result = intern(dependences, totals->ended, &copy.ended, error);
    if (result == 0)
        dependences->totals = copy;
    return result;
}

int dependences_add_note(struct dependences *dependences, const char *text, uint64_t count,
                         struct bt_error *error)
{
    struct dependence_note note = {.text = NULL, .count = count};
    void *grown;
    int result = intern(dependences, text, &note.text, error);
    if (result < 0 || !note.text)
        return result;
    if (!GROW(grown, dependences->notes, dependences->note_count, dependences->note_capacity))
        return no_memory(error);
    dependences->notes[dependences->note_count++] = note;
    return 0;
}

/* --- places ------------------------------------------------------------------------------------
 */

bool dependence_place_is_unknown(const struct dependence_place *place)
{
    return !place->file && !place->function && !place->module && place->line == 0 &&
           place->offset == DEPENDENCES_UNKNOWN && place->address == DEPENDENCES_UNKNOWN;
}

/* Names that are stored are equal if their addresses are. */
static bool same_place(const struct dependence_place *a, const struct dependence_place *b)
{
    return a->file == b->file && a->function == b->function && a->module == b->module &&
           a->line == b->line && a->offset == b->offset && a->address == b->address;
}

static uint32_t hash_place(const struct dependences *dependences,
                           const struct dependence_place *place)
{
    uint32_t hash = hash_pair((uintptr_t)place->file, dependences->seed + place->line);
    hash = hash_pair((uintptr_t)place->function, hash);
    hash = hash_pair((uintptr_t)place->module, hash);
    return hash_pair(place->offset, hash_pair(place->address, hash));
}

int dependences_add_place(struct dependences *dependences, const struct dependence_place *place,
                          uint32_t *number, struct bt_error *error)
{
    struct dependence_place copy = *place;
    int result = intern(dependences, place->file, &copy.file, error);
    if (result == 0)
        result = intern(dependences, place->function, &copy.function, error);
    if (result == 0)
        result = intern(dependences, place->module, &copy.module, error);
    if (result < 0)
        return result;
    if (!copy.file)
        copy.line = 0;
    if (!copy.module)
        copy.offset = DEPENDENCES_UNKNOWN;
    const uint32_t hash = hash_place(dependences, &copy);
    struct hash_search search = hash_search(&dependences->by_place, hash);
    while (hash_search_next(&search))
        if (same_place(&dependences->places[search.number], &copy)) {
            *number = search.number;
            return 0;
        }
    const size_t count = dependences->place_count;
    void *grown;
    if (count >= HASH_INDEX_NUMBER_MAX ||
        !GROW(grown, dependences->places, count, dependences->place_capacity) ||
        !GROW(grown, dependences->loop_of_place, count, dependences->loop_of_place_capacity) ||
        hash_index_add(&dependences->by_place, hash, (uint32_t)count) < 0)
        return no_memory(error);
    dependences->loop_of_place[count] = DEPENDENCES_NONE;
    dependences->places[count] = copy;
    dependences->place_count++;
    *number = (uint32_t)count;
    return 0;
}

/* --- loops -------------------------------------------------------------------------------------
 */

static void join_loop(struct dependence_loop *loop, const struct dependence_loop *other)
{
    loop->entries = saturating_add(loop->entries, other->entries);
    loop->iterations = saturating_add(loop->iterations, other->iterations);
    loop->instructions = saturating_add(loop->instructions, other->instructions);
    loop->carried |= other->carried;
}

int dependences_add_loop(struct dependences *dependences, const struct dependence_loop *loop,
                         uint32_t *number, struct bt_error *error)
{
    uint32_t *known = &dependences->loop_of_place[loop->place];
    void *grown;
    if (*known != DEPENDENCES_NONE) {
        join_loop(&dependences->loops[*known], loop);
        *number = *known;
        return 0;
    }
    if (dependence_place_is_unknown(&dependences->places[loop->place]))
        return bt_fail(error, BT_DATA, "nothing is known of the head of a loop");
    if (!GROW(grown, dependences->loops, dependences->loop_count, dependences->loop_capacity))
        return no_memory(error);
    struct dependence_loop *added = &dependences->loops[dependences->loop_count];
    *added = *loop;
    added->reasons = NULL;
    added->reason_count = added->reason_capacity = 0;
    *number = *known = (uint32_t)dependences->loop_count++;
    return 0;
}

int dependences_add_reason(struct dependences *dependences, uint32_t loop, const char *text,
                           struct bt_error *error)
{
    struct dependence_loop *of = &dependences->loops[loop];
    const char *name;
    void *grown;
    int result = intern(dependences, text, &name, error);
    if (result < 0 || !name)
        return result;
    if (!GROW(grown, of->reasons, of->reason_count, of->reason_capacity))
        return no_memory(error);
    of->reasons[of->reason_count++] = name;
    return 0;
}

/* --- rows --------------------------------------------------------------------------------------
 */

static bool same_row(const struct dependence *a, const struct dependence *b)
{
    return a->kind == b->kind && a->carried == b->carried && a->sink == b->sink &&
           a->source == b->source && a->top_sink == b->top_sink && a->top_source == b->top_source &&
           a->loop == b->loop && a->sink_thread == b->sink_thread &&
           a->source_thread == b->source_thread;
}

static uint32_t hash_row(const struct dependences *dependences, const struct dependence *row)
{
    const uint64_t flags = (uint64_t)row->kind << 1 | row->carried;
    uint32_t hash = hash_pair((uint64_t)row->sink << 32 | row->source, dependences->seed ^ flags);
    hash = hash_pair((uint64_t)row->top_sink << 32 | row->top_source, hash);
    return hash_pair((uint64_t)row->sink_thread << 32 | row->source_thread,
                     (uint64_t)row->loop << 32 | hash);
}

static void join_row(struct dependence *row, const struct dependence *other)
{
    row->count = saturating_add(row->count, other->count);
    row->sum = saturating_add(row->sum, other->sum);
    row->at_least |= other->at_least;
    if (other->least < row->least)
        row->least = other->least;
    if (other->greatest > row->greatest)
        row->greatest = other->greatest;
}

/* A top-level place, without those of which nothing is known. */
static uint32_t known_top(const struct dependences *dependences, uint32_t place)
{
    return place != DEPENDENCES_NONE && dependence_place_is_unknown(&dependences->places[place])
               ? DEPENDENCES_NONE
               : place;
}

int dependences_add(struct dependences *dependences, const struct dependence *row,
                    struct bt_error *error)
{
    struct dependence copy = *row;
    copy.top_sink = known_top(dependences, row->top_sink);
    copy.top_source = known_top(dependences, row->top_source);
    if (!row->carried) {
        copy.at_least = false;
        copy.least = copy.greatest = copy.sum = 0;
    }
    const uint32_t hash = hash_row(dependences, &copy);
    struct hash_search search = hash_search(&dependences->by_row, hash);
    while (hash_search_next(&search))
        if (same_row(&dependences->rows[search.number], &copy)) {
            join_row(&dependences->rows[search.number], &copy);
            return 0;
        }
    const size_t count = dependences->row_count;
    void *grown;
    if (count >= HASH_INDEX_NUMBER_MAX ||
        !GROW(grown, dependences->rows, count, dependences->row_capacity) ||
        hash_index_add(&dependences->by_row, hash, (uint32_t)count) < 0)
        return no_memory(error);
    dependences->rows[count] = copy;
    dependences->row_count++;
    return 0;
}

double dependence_mean(const struct dependence *row)
{
    return row->count > 0 ? (double)row->sum / (double)row->count : 0;
}

void dependences_sum_up(struct dependences *dependences)
{
    dependences->totals.rows = dependences->row_count;
    dependences->totals.count = 0;
    for (size_t i = 0; i < dependences->row_count; i++)
        dependences->totals.count =
            saturating_add(dependences->totals.count, dependences->rows[i].count);
}
