#include "formats/dependences/dependences_columns_internal.h"
#include "formats/dependences/dependences_write_internal.h"
#include "formats/text/json_members.h"

static void put_kinds(struct json_put *json, const char *key, unsigned kinds)
{
    json_array(json, key);
    for (unsigned kind = 0; kind < DEPENDENCE_KINDS; kind++)
        if (kinds >> kind & 1)
            json_string(json, dependence_kind_names[kind]);
    json_put_array_end(json);
}

static void put_name(struct json_put *json, const char *key, const char *name)
{
    json_text_or_null(json, key, name ? name : "");
}

/* A number, or null if there is none. */
static void put_number(struct json_put *json, const char *key, bool has, uint64_t number)
{
    if (has)
        json_count(json, key, number);
    else
        json_null(json, key);
}

static void put_address(struct json_put *json, const char *key, uint64_t address)
{
    json_put_key(json, key);
    if (address == DEPENDENCES_UNKNOWN)
        json_put_null(json);
    else
        json_put_hex(json, address);
}

static void put_totals(struct json_put *json, const struct dependences *dependences)
{
    const struct dependences_totals *totals = &dependences->totals;
    json_text(json, "format", DEPENDENCES_FORMAT);
    json_count(json, "version", DEPENDENCES_VERSION);
    put_name(json, "program", totals->program);
    put_name(json, "ended", totals->ended);
    json_text(json, "by", dependences_by_names[totals->by]);
    json_text(json, "level", dependences_level_names[totals->level]);
    put_kinds(json, "kinds", totals->kinds);
    json_count(json, "references", totals->references);
    json_count(json, "writes", totals->writes);
    put_number(json, "instructions", totals->instructions != DEPENDENCES_UNKNOWN,
               totals->instructions);
    json_count(json, "dependences_total", totals->rows);
    json_count(json, "count_total", totals->count);
}

static void put_place(struct json_put *json, const struct dependence_place *place)
{
    json_put_object(json);
    put_name(json, "file", place->file);
    put_number(json, "line", place->line > 0, place->line);
    put_name(json, "function", place->function);
    put_name(json, "module", place->module);
    put_address(json, "offset", place->offset);
    put_address(json, "address", place->address);
    json_put_object_end(json);
}

static void put_loop(struct json_put *json, const struct dependence_loop *loop)
{
    json_put_object(json);
    json_count(json, "place", loop->place);
    json_text(json, "verdict", dependence_verdict_names[loop->verdict]);
    put_number(json, "distance", loop->verdict == DEPENDENCE_DISTANCE, loop->distance);
    put_kinds(json, "carried", loop->carried);
    json_count(json, "entries", loop->entries);
    json_count(json, "iterations", loop->iterations);
    json_count(json, "instructions", loop->instructions);
    json_array(json, "reasons");
    for (size_t i = 0; i < loop->reason_count; i++)
        json_string(json, loop->reasons[i]);
    json_put_array_end(json);
    json_put_object_end(json);
}

static void put_distances(struct json_put *json, const struct dependence *row)
{
    put_number(json, "distance_least", row->carried, row->least);
    json_put_key(json, "distance_mean");
    if (row->carried)
        json_put_number(json, "%.6g", dependence_mean(row));
    else
        json_put_null(json);
    put_number(json, "distance_greatest", row->carried, row->greatest);
    put_number(json, "distance_sum", row->carried, row->sum);
    json_put_key(json, "distance_at_least");
    if (row->carried)
        json_put_boolean(json, row->at_least);
    else
        json_put_null(json);
}

static void put_row(struct json_put *json, const struct dependence *row)
{
    json_put_object(json);
    json_text(json, "kind", dependence_kind_names[row->kind]);
    json_count(json, "sink", row->sink);
    json_count(json, "source", row->source);
    put_number(json, "top_sink", row->top_sink != DEPENDENCES_NONE, row->top_sink);
    put_number(json, "top_source", row->top_source != DEPENDENCES_NONE, row->top_source);
    json_count(json, "count", row->count);
    put_number(json, "loop", row->loop != DEPENDENCES_NONE, row->loop);
    json_bool(json, "carried", row->carried);
    put_distances(json, row);
    json_count(json, "sink_thread", row->sink_thread);
    json_count(json, "source_thread", row->source_thread);
    json_put_object_end(json);
}

int dependences_write_json(const struct dependences *dependences, FILE *out, struct bt_error *error)
{
    struct json_put *json = json_put_new_stream(out, true);
    if (!json)
        return bt_fail(error, BT_MEMORY, "no memory to write dependences");
    json_put_object(json);
    put_totals(json, dependences);
    json_array(json, "places");
    for (size_t i = 0; i < dependences->place_count && !json_put_failed(json); i++)
        put_place(json, &dependences->places[i]);
    json_put_array_end(json);
    json_array(json, "loops");
    for (size_t i = 0; i < dependences->loop_count && !json_put_failed(json); i++)
        put_loop(json, &dependences->loops[i]);
    json_put_array_end(json);
    json_array(json, "dependences");
    for (size_t i = 0; i < dependences->row_count && !json_put_failed(json); i++)
        put_row(json, &dependences->rows[i]);
    json_put_array_end(json);
    json_array(json, "notes");
    for (size_t i = 0; i < dependences->note_count; i++) {
        json_put_object(json);
        json_text(json, "text", dependences->notes[i].text);
        json_count(json, "count", dependences->notes[i].count);
        json_put_object_end(json);
    }
    json_put_array_end(json);
    json_put_object_end(json);
    (void)json_put_finish(json, NULL); /* the caller checks the stream */
    json_put_free(json);
    return 0;
}
