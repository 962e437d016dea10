#include "tools/wet/slice/slice_facts.h"

#include "formats/base/grow.h"

#include <string.h>

/* --- values ------------------------------------------------------------------------------------
 */

void slice_values_clear(struct slice_values *values)
{
    hash_index_clear(&values->index);
    free(values->values);
    *values = (struct slice_values){.values = NULL};
}

struct slice_value *slice_values_find(const struct slice_values *values,
                                      struct wet_instance instance)
{
    struct hash_search search =
        hash_search(&values->index, hash_pair(instance.id, instance.instance));
    while (hash_search_next(&search)) {
        struct slice_value *value = &values->values[search.number];
        if (value->instance.id == instance.id && value->instance.instance == instance.instance)
            return value;
    }
    return NULL;
}

int slice_values_want(struct slice_values *values, struct wet_instance instance)
{
    if (slice_values_find(values, instance))
        return 0;
    struct slice_value *larger =
        grow_array(values->values, &values->capacity, values->count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    values->values = larger;
    larger[values->count] = (struct slice_value){.instance = instance};
    if (hash_index_add(&values->index, hash_pair(instance.id, instance.instance),
                       (uint32_t)values->count) < 0)
        return BT_MEMORY;
    values->count++;
    return 0;
}

struct value_reading {
    const struct wet_trace *trace;
    struct slice_values *values;
};

static int take_value(void *context, const struct wet_step *step)
{
    struct value_reading *reading = context;
    const struct wet_flow *flow = &reading->trace->flows.flows[step->id];
    struct slice_value *value = slice_values_find(
        reading->values, (struct wet_instance){.id = step->id, .instance = step->instance});
    if (!value)
        return 0;
    value->number = step->number;
    if (!step->value || flow->value_size > SLICE_VALUE_BYTES)
        return 0;
    value->size = flow->value_size;
    memcpy(value->bytes, step->value, value->size);
    return 0;
}

/* A system call's value is what it returns. */
static int take_result(void *context, uint32_t thread, struct wet_instance call, uint64_t result)
{
    struct value_reading *reading = context;
    struct slice_value *value = slice_values_find(reading->values, call);
    (void)thread;
    if (!value)
        return 0;
    value->size = 8;
    for (unsigned i = 0; i < 8; i++)
        value->bytes[i] = (uint8_t)(result >> 8 * i);
    return 0;
}

int slice_values_read(struct slice_values *values, struct wet_trace *trace, struct bt_error *error)
{
    static const struct wet_replay_operations operations = {.step = take_value,
                                                            .result = take_result};
    struct value_reading reading = {.trace = trace, .values = values};
    struct wet_replay *replay =
        wet_replay_new(trace, WET_WANTS_VALUES, &operations, &reading, error);
    const int result = replay ? wet_replay_all(replay, error) : error->code;
    wet_replay_free(replay);
    return result;
}

/* --- edges -------------------------------------------------------------------------------------
 */

void slice_edges_clear(struct slice_edges *edges)
{
    hash_index_clear(&edges->index);
    free(edges->edges);
    *edges = (struct slice_edges){.edges = NULL};
}

static int count_edge(struct slice_edges *edges, uint32_t from, uint32_t to, enum slice_kind kind)
{
    const uint32_t hash = hash_pair((uint64_t)from << 2 | kind, to);
    struct hash_search search = hash_search(&edges->index, hash);
    while (hash_search_next(&search)) {
        struct slice_edge *edge = &edges->edges[search.number];
        if (edge->from == from && edge->to == to && edge->kind == kind) {
            edge->count++;
            return 0;
        }
    }
    struct slice_edge *larger =
        grow_array(edges->edges, &edges->capacity, edges->count + 1, sizeof *larger);
    if (!larger || hash_index_add(&edges->index, hash, (uint32_t)edges->count) < 0) {
        edges->edges = larger ? larger : edges->edges;
        return BT_MEMORY;
    }
    edges->edges = larger;
    larger[edges->count++] =
        (struct slice_edge){.from = from, .to = to, .kind = (uint8_t)kind, .count = 1};
    return 0;
}

struct edge_reading {
    const struct slice_rows *rows;
    const struct slice_set *members;
    struct slice_edges *edges;
    struct slice_plain plain;
    uint32_t from; /* row of the current step */
};

static bool is_row(void *context, struct wet_instance instance)
{
    const struct edge_reading *reading = context;
    return reading->rows->row_of[instance.id] != SLICE_ROW_NONE &&
           slice_set_has(reading->members, instance.id, instance.instance);
}

static int take_writer(void *context, enum slice_kind kind, struct wet_instance writer)
{
    const struct edge_reading *reading = context;
    return count_edge(reading->edges, reading->from, reading->rows->row_of[writer.id], kind);
}

static int take_edges(void *context, const struct wet_step *step)
{
    struct edge_reading *reading = context;
    const struct wet_instance instance = {.id = step->id, .instance = step->instance};
    const bool is_member = is_row(reading, instance);
    int result = 0;
    reading->from = reading->rows->row_of[step->id];
    if (is_member && step->control.id && is_row(reading, step->control))
        result = take_writer(reading, SLICE_CONTROL, step->control);
    if (result == 0)
        result = slice_plain_step(&reading->plain, step, is_member ? take_writer : NULL);
    return result;
}

static int compare_edges(const void *a, const void *b)
{
    const struct slice_edge *left = a, *right = b;
    if (left->from != right->from)
        return left->from < right->from ? -1 : 1;
    if (left->to != right->to)
        return left->to < right->to ? -1 : 1;
    return left->kind - right->kind;
}

int slice_edges_read(struct slice_edges *edges, struct wet_trace *trace,
                     const struct slice_rows *rows, const struct slice_set *members,
                     const struct slice_form *forms, bool data, struct bt_error *error)
{
    static const struct wet_replay_operations operations = {.step = take_edges};
    const unsigned wanted =
        WET_WANTS_MEMORY | WET_WANTS_REGISTERS | (data ? 0u : (unsigned)WET_WANTS_CONTROL);
    struct edge_reading reading = {.rows = rows, .members = members, .edges = edges};
    slice_plain_init(&reading.plain, trace, forms);
    reading.plain.wants = is_row;
    reading.plain.context = &reading;
    struct wet_replay *replay = wet_replay_new(trace, wanted, &operations, &reading, error);
    const int result = replay ? wet_replay_all(replay, error) : error->code;
    wet_replay_free(replay);
    if (edges->count > 0)
        qsort(edges->edges, edges->count, sizeof *edges->edges, compare_edges);
    hash_index_clear(&edges->index);
    slice_plain_clear(&reading.plain);
    return result;
}
