#include "formats/dcfg/dcfg_bus.h"

#include "formats/dcfg/dcfg.h"
#include "formats/dcfg/dcfg_table.h"
#include "formats/text/json_members.h"

#include <string.h>

#define TAGS (5 + DCFG_BUS_COUNTS)

enum { TAG_UNIT = 1, TAG_MODEL, TAG_FOUND, TAG_NOISE_BITS, TAG_BLOCKS, TAG_COUNTS };

static const char *const tags[TAGS + 1] = {
    "UNIT",        "MODEL",    "MODEL_FROM",         "NOISE_BITS", "BLOCKS",
    "FETCHES",     "REPEATED", "PREFETCHED",         "NOISE",      "UNEXPLAINED",
    "IN_NO_IMAGE", "SAMPLE",   "SAMPLE_UNEXPLAINED", NULL};

const char *dcfg_bus_count_name(enum dcfg_bus_count count)
{
    return tags[TAG_COUNTS - 1 + count];
}

/* --- reading --- */

static int read_text(struct json_pull *pull, char *to, size_t room)
{
    struct json_pull_text text;
    int result = json_pull_string(pull, &text);
    if (result < 0)
        return result;
    size_t size = text.size < room ? text.size : room - 1;
    memcpy(to, text.text, size);
    to[size] = '\0';
    return 0;
}

static int read_bits(struct json_pull *pull, struct dcfg_bus *bus)
{
    uint64_t ignored;
    int result = json_pull_array(pull);
    for (uint32_t bit = 0; result >= 0 && (result = json_pull_element(pull)) > 0; bit++)
        result = json_pull_integer(pull, bit < DCFG_BUS_BITS ? &bus->noise_bits[bit] : &ignored);
    return result;
}

static int read_blocks(struct json_pull *pull, struct dcfg *graph)
{
    static const struct dcfg_column columns[] = {{"NODE_ID", false},
                                                 {"CERTAIN", false},
                                                 {"UNEXPLAINED", false},
                                                 {"FETCHES", false},
                                                 {NULL, false}};
    struct dcfg_table table;
    int result = dcfg_table_begin(&table, pull, columns);
    while (result >= 0 && (result = dcfg_table_row(&table)) > 0) {
        uint64_t values[] = {0, 0, 0, 0};
        while (result >= 0 && (result = dcfg_table_cell(&table)) > 0)
            result = json_pull_integer(pull, &values[result - 1]);
        if (result < 0)
            return result;
        if (values[0] == 0 || values[0] > DCFG_ID_MAX)
            return json_pull_fail(pull, BT_DATA, "NODE_ID is not 1 to %u", DCFG_ID_MAX);
        const struct dcfg_bus_block block = {.id = (uint32_t)values[0],
                                             .certain = values[1],
                                             .unexplained = values[2],
                                             .fetches = values[3]};
        struct bt_error error;
        result = dcfg_add_bus_block(graph, &block, &error);
        if (result < 0)
            return json_pull_fail(pull, result, "%s", error.message);
    }
    return result;
}

static int read_member(struct dcfg *graph, struct json_pull *pull, int tag)
{
    char word[16];
    int result;
    switch (tag) {
    case TAG_UNIT:
        result = read_text(pull, word, sizeof word);
        graph->bus->chunks = result == 0 && strcmp(word, "chunk") == 0;
        return result;
    case TAG_MODEL:
        return read_text(pull, graph->bus->model, sizeof graph->bus->model);
    case TAG_FOUND:
        result = read_text(pull, word, sizeof word);
        graph->bus->found = result == 0 && strcmp(word, "capture") == 0;
        return result;
    case TAG_NOISE_BITS:
        return read_bits(pull, graph->bus);
    case TAG_BLOCKS:
        return read_blocks(pull, graph);
    default:
        return json_pull_integer(pull, &graph->bus->counts[tag - TAG_COUNTS]);
    }
}

int dcfg_bus_read(struct dcfg *graph, struct json_pull *pull)
{
    static const struct dcfg_bus none;
    struct bt_error error;
    uint32_t seen = 0;
    if (dcfg_set_bus(graph, &none, &error) < 0)
        return json_pull_fail(pull, BT_MEMORY, "%s", error.message);
    int result = json_pull_object(pull);
    while (result >= 0 && (result = dcfg_object_next(pull, tags, &seen)) > 0)
        result = read_member(graph, pull, result);
    return result;
}

/* --- writing --- */

static void write_blocks(const struct dcfg_bus *bus, struct json_put *put,
                         uint32_t (*new_id)(const void *context, uint32_t id), const void *context)
{
    json_put_line(put);
    json_array(put, "BLOCKS");
    json_put_array(put);
    json_string(put, "NODE_ID");
    json_string(put, "CERTAIN");
    json_string(put, "UNEXPLAINED");
    json_string(put, "FETCHES");
    json_put_array_end(put);
    for (uint32_t i = 0; i < bus->block_count; i++) {
        const struct dcfg_bus_block *block = &bus->blocks[i];
        json_put_line(put);
        json_put_array(put);
        json_put_integer(put, new_id(context, block->id));
        json_put_integer(put, block->certain);
        json_put_integer(put, block->unexplained);
        json_put_integer(put, block->fetches);
        json_put_array_end(put);
    }
    json_put_array_end(put);
}

void dcfg_bus_write(const struct dcfg_bus *bus, struct json_put *put,
                    uint32_t (*new_id)(const void *context, uint32_t id), const void *context)
{
    json_put_object(put);
    json_text(put, "UNIT", bus->chunks ? "chunk" : "instruction");
    json_text(put, "MODEL", bus->model);
    json_text(put, "MODEL_FROM", bus->found ? "capture" : "option");
    for (unsigned i = 0; i < DCFG_BUS_COUNTS; i++)
        json_count(put, tags[TAG_COUNTS - 1 + i], bus->counts[i]);
    json_array(put, "NOISE_BITS");
    for (unsigned bit = 0; bit < DCFG_BUS_BITS; bit++)
        json_put_integer(put, bus->noise_bits[bit]);
    json_put_array_end(put);
    write_blocks(bus, put, new_id, context);
    json_put_object_end(put);
}
