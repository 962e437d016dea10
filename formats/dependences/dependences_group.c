/* Groups dependences by line or function, sorts them, and keeps the first ones. */
#include "formats/dependences/dependences.h"

#include <stdlib.h>
#include <string.h>

/* The place that a place becomes. */
static struct dependence_place coarser(const struct dependence_place *place, enum dependences_by by)
{
    struct dependence_place result = *place;
    const bool is_function = by == DEPENDENCES_BY_FUNCTION && place->function;
    const bool is_line = by == DEPENDENCES_BY_LINE && place->file && place->line > 0;
    if (is_function || is_line)
        result.offset = result.address = DEPENDENCES_UNKNOWN;
    if (is_function) {
        result.file = NULL;
        result.line = 0;
    }
    return result;
}

/* --- order -------------------------------------------------------------------------------------
 */

static int compare_names(const char *a, const char *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    return a == b ? 0 : strcmp(a, b);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* A place or a loop, with its number before it was sorted. */
struct sorted_place {
    struct dependence_place place;
    uint32_t number;
};

struct sorted_loop {
    struct dependence_loop loop;
    uint32_t number;
};

static int compare_places(const void *left, const void *right)
{
    const struct dependence_place *a = &((const struct sorted_place *)left)->place;
    const struct dependence_place *b = &((const struct sorted_place *)right)->place;
    int order = compare_names(a->file, b->file);
    if (order == 0)
        order = compare_numbers(a->line, b->line);
    if (order == 0)
        order = compare_names(a->function, b->function);
    if (order == 0)
        order = compare_names(a->module, b->module);
    if (order == 0)
        order = compare_numbers(a->offset, b->offset);
    return order ? order : compare_numbers(a->address, b->address);
}

/* Loops with the most instructions come first; a place is the head of one loop only. */
static int compare_loops(const void *left, const void *right)
{
    const struct dependence_loop *a = &((const struct sorted_loop *)left)->loop;
    const struct dependence_loop *b = &((const struct sorted_loop *)right)->loop;
    const int order = compare_numbers(b->instructions, a->instructions);
    return order ? order : compare_numbers(a->place, b->place);
}

/* Places and loops are sorted already: their numbers tell their order. */
static int compare_rows(const void *left, const void *right)
{
    const struct dependence *a = left, *b = right;
    const uint64_t as[] = {b->count,      a->kind, a->sink,    a->source,      a->top_sink,
                           a->top_source, a->loop, a->carried, a->sink_thread, a->source_thread};
    const uint64_t bs[] = {a->count,      b->kind, b->sink,    b->source,      b->top_sink,
                           b->top_source, b->loop, b->carried, b->sink_thread, b->source_thread};
    int order = 0;
    for (size_t i = 0; i < sizeof as / sizeof as[0] && order == 0; i++)
        order = compare_numbers(as[i], bs[i]);
    return order;
}

static uint32_t new_number(const uint32_t *numbers, uint32_t number)
{
    return number == DEPENDENCES_NONE ? DEPENDENCES_NONE : numbers[number];
}

/* Sorts the places. numbers[old] becomes the new number of a place. */
static int sort_places(struct dependences *dependences, uint32_t *numbers)
{
    const size_t count = dependences->place_count;
    struct sorted_place *sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted)
        return BT_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct sorted_place){dependences->places[i], i};
    qsort(sorted, count, sizeof *sorted, compare_places);
    for (uint32_t i = 0; i < count; i++) {
        dependences->places[i] = sorted[i].place;
        numbers[sorted[i].number] = i;
    }
    free(sorted);
    return 0;
}

static int sort_loops(struct dependences *dependences, uint32_t *numbers)
{
    const size_t count = dependences->loop_count;
    struct sorted_loop *sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted)
        return BT_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct sorted_loop){dependences->loops[i], i};
    qsort(sorted, count, sizeof *sorted, compare_loops);
    for (uint32_t i = 0; i < count; i++) {
        dependences->loops[i] = sorted[i].loop;
        numbers[sorted[i].number] = i;
    }
    free(sorted);
    return 0;
}

/* Sorts everything. The indexes are invalid after it: nothing can be found or added. */
static int sort(struct dependences *dependences)
{
    uint32_t *places = malloc((dependences->place_count + 1) * sizeof *places);
    uint32_t *loops = malloc((dependences->loop_count + 1) * sizeof *loops);
    int result = places && loops ? sort_places(dependences, places) : BT_MEMORY;
    for (size_t i = 0; i < dependences->loop_count && result == 0; i++)
        dependences->loops[i].place = places[dependences->loops[i].place];
    if (result == 0)
        result = sort_loops(dependences, loops);
    for (size_t i = 0; i < dependences->row_count && result == 0; i++) {
        struct dependence *row = &dependences->rows[i];
        row->sink = places[row->sink];
        row->source = places[row->source];
        row->top_sink = new_number(places, row->top_sink);
        row->top_source = new_number(places, row->top_source);
        row->loop = new_number(loops, row->loop);
    }
    if (result == 0 && dependences->row_count > 0)
        qsort(dependences->rows, dependences->row_count, sizeof *dependences->rows, compare_rows);
    free(places);
    free(loops);
    return result;
}

/* --- copying -----------------------------------------------------------------------------------
 */

/* A copy in the making. Numbers of places and loops in it, by number in the original;
 * DEPENDENCES_NONE: not in it yet. */
struct copy {
    const struct dependences *from;
    struct dependences *to;
    enum dependences_by by;
    uint32_t *places, *heads, *loops; /* heads: places of loops, which do not become coarser */
    struct bt_error *error;
};

static int copy_place(struct copy *copy, uint32_t number, uint32_t *numbers, bool is_head,
                      uint32_t *result)
{
    *result = DEPENDENCES_NONE;
    if (number == DEPENDENCES_NONE)
        return 0;
    if (numbers[number] == DEPENDENCES_NONE) {
        const struct dependence_place place =
            coarser(&copy->from->places[number], is_head ? DEPENDENCES_BY_INSTRUCTION : copy->by);
        int failed = dependences_add_place(copy->to, &place, &numbers[number], copy->error);
        if (failed < 0)
            return failed;
    }
    *result = numbers[number];
    return 0;
}

static int copy_loop(struct copy *copy, uint32_t number, uint32_t *result)
{
    *result = DEPENDENCES_NONE;
    if (number == DEPENDENCES_NONE)
        return 0;
    if (copy->loops[number] == DEPENDENCES_NONE) {
        const struct dependence_loop *from = &copy->from->loops[number];
        struct dependence_loop loop = *from;
        int failed = copy_place(copy, from->place, copy->heads, true, &loop.place);
        if (failed == 0)
            failed = dependences_add_loop(copy->to, &loop, &copy->loops[number], copy->error);
        for (size_t i = 0; i < from->reason_count && failed == 0; i++)
            failed = dependences_add_reason(copy->to, copy->loops[number], from->reasons[i],
                                            copy->error);
        if (failed < 0)
            return failed;
    }
    *result = copy->loops[number];
    return 0;
}

static int copy_row(struct copy *copy, const struct dependence *from)
{
    struct dependence row = *from;
    int result = copy_place(copy, from->sink, copy->places, false, &row.sink);
    if (result == 0)
        result = copy_place(copy, from->source, copy->places, false, &row.source);
    if (result == 0)
        result = copy_place(copy, from->top_sink, copy->places, false, &row.top_sink);
    if (result == 0)
        result = copy_place(copy, from->top_source, copy->places, false, &row.top_source);
    if (result == 0)
        result = copy_loop(copy, from->loop, &row.loop);
    return result < 0 ? result : dependences_add(copy->to, &row, copy->error);
}

static uint32_t *new_numbers(size_t count)
{
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    if (numbers)
        memset(numbers, 0xff, (count + 1) * sizeof *numbers); /* DEPENDENCES_NONE */
    return numbers;
}

/* Copies all judged loops, the first rows, and what they use. */
static int copy_all(struct copy *copy, size_t rows)
{
    const struct dependences *from = copy->from;
    uint32_t ignored;
    int result = dependences_set_totals(copy->to, &from->totals, copy->error);
    for (uint32_t i = 0; i < from->loop_count && result == 0; i++)
        if (from->loops[i].verdict != DEPENDENCE_UNJUDGED)
            result = copy_loop(copy, i, &ignored);
    for (size_t i = 0; i < rows && result == 0; i++)
        result = copy_row(copy, &from->rows[i]);
    for (size_t i = 0; i < from->note_count && result == 0; i++)
        result =
            dependences_add_note(copy->to, from->notes[i].text, from->notes[i].count, copy->error);
    copy->to->totals.by = copy->by;
    return result;
}

/* A sorted copy by line or function. NULL without memory. */
static struct dependences *copy_sorted(const struct dependences *from, enum dependences_by by,
                                       size_t rows, struct bt_error *error)
{
    struct copy copy = {.from = from,
                        .to = dependences_new(error),
                        .by = by,
                        .places = new_numbers(from->place_count),
                        .heads = new_numbers(from->place_count),
                        .loops = new_numbers(from->loop_count),
                        .error = error};
    int result = copy.places && copy.heads && copy.loops
                     ? 0
                     : bt_fail(error, BT_MEMORY, "no memory for dependences");
    if (copy.to && result == 0)
        result = copy_all(&copy, rows);
    if (copy.to && result == 0 && sort(copy.to) < 0)
        result = bt_fail(error, BT_MEMORY, "no memory to sort dependences");
    free(copy.places);
    free(copy.heads);
    free(copy.loops);
    if (result == 0)
        return copy.to;
    dependences_free(copy.to);
    return NULL;
}

struct dependences *dependences_group(const struct dependences *from, enum dependences_by by,
                                      size_t top, struct bt_error *error)
{
    struct dependences *all = copy_sorted(from, by, from->row_count, error);
    if (!all)
        return NULL;
    dependences_sum_up(all);
    if (top >= all->row_count)
        return all;
    struct dependences *first = copy_sorted(all, by, top, error);
    dependences_free(all);
    return first;
}
