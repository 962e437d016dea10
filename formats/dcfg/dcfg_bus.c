#include "formats/dcfg/dcfg_bus.h"

#include "formats/dcfg/dcfg.h"
#include "formats/dcfg/dcfg_table.h"
#include "formats/text/json_members.h"

#include <string.h>

#define TAGS (5 + DCFG_BUS_COUNTS)

enum { TAG_UNIT = 1, TAG_MODEL, TAG_FOUND, TAG_NOISE_BITS, TAG_BLOCKS, TAG_COUNTS };

/* The values of UNIT and MODEL_FROM; the second one of each is true. */
static const char *const units[] = {"instruction", "chunk"};
static const char *const origins[] = {"option", "capture"};

static const char *const tags[TAGS + 1] = {
    "UNIT",        "MODEL",    "MODEL_FROM",         "NOISE_BITS", "BLOCKS",
    "FETCHES",     "REPEATED", "PREFETCHED",         "NOISE",      "UNEXPLAINED",
    "IN_NO_IMAGE", "SAMPLE",   "SAMPLE_UNEXPLAINED", NULL};

const char *dcfg_bus_count_name(enum dcfg_bus_count count)
{
    return tags[TAG_COUNTS - 1 + count];
}

/* --- reading --- */

static int read_model(struct json_pull *pull, char model[DCFG_BUS_MODEL_BYTES])
{
    struct json_pull_text text;
    int result = json_pull_string(pull, &text);
    if (result < 0)
        return result;
    if (text.size >= DCFG_BUS_MODEL_BYTES)
        return json_pull_fail(pull, BT_DATA, "MODEL has more than %u bytes",
                              DCFG_BUS_MODEL_BYTES - 1);
    memcpy(model, text.text, text.size);
    model[text.size] = '\0';
    return 0;
}

/* Reads one of two words. */
static int read_word(struct json_pull *pull, const char *tag, const char *const words[2],
                     bool *is_second)
{
    struct json_pull_text text;
    int result = json_pull_string(pull, &text);
    if (result < 0)
        return result;
    for (int i = 0; i < 2; i++) {
        *is_second = i == 1;
        if (text.size == strlen(words[i]) && memcmp(text.text, words[i], text.size) == 0)
            return 0;
    }
    return json_pull_fail(pull, BT_DATA, "%s is neither %s nor %s", tag, words[0], words[1]);
}

/* Reads a count for each bit of an address. Only strict readers require all of them. */
static int read_bits(struct json_pull *pull, struct dcfg_bus *bus)
{
    uint32_t bit = 0;
    int result = json_pull_array(pull);
    for (; result >= 0 && (result = json_pull_element(pull)) > 0 && bit < DCFG_BUS_BITS; bit++)
        result = json_pull_integer(pull, &bus->noise_bits[bit]);
    if (result > 0 || (result == 0 && bit < DCFG_BUS_BITS && json_pull_is_strict(pull)))
        return json_pull_fail(pull, BT_DATA, "NOISE_BITS has not %u counts", DCFG_BUS_BITS);
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

/* Without a program nothing verifies the sample: its count is null. */
static int read_count(struct json_pull *pull, struct dcfg_bus *bus, enum dcfg_bus_count count)
{
    if (count == DCFG_BUS_SAMPLE_UNEXPLAINED && json_pull_kind(pull) == JSON_PULL_NULL)
        return json_pull_skip(pull);
    return json_pull_integer(pull, &bus->counts[count]);
}

static int read_member(struct dcfg *graph, struct json_pull *pull, int tag)
{
    struct dcfg_bus *bus = graph->bus;
    switch (tag) {
    case TAG_UNIT:
        return read_word(pull, "UNIT", units, &bus->chunks);
    case TAG_MODEL:
        return read_model(pull, bus->model);
    case TAG_FOUND:
        return read_word(pull, "MODEL_FROM", origins, &bus->found);
    case TAG_NOISE_BITS:
        return read_bits(pull, bus);
    case TAG_BLOCKS:
        return read_blocks(pull, graph);
    default:
        return read_count(pull, bus, (enum dcfg_bus_count)(tag - TAG_COUNTS));
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
    for (int tag = 0; result == 0 && tag < TAGS && json_pull_is_strict(pull); tag++)
        if (!(seen >> tag & 1))
            return json_pull_fail(pull, BT_DATA, DCFG_BUS_TAG " has no %s", tags[tag]);
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
    json_text(put, "UNIT", units[bus->chunks]);
    json_text(put, "MODEL", bus->model);
    json_text(put, "MODEL_FROM", origins[bus->found]);
    for (unsigned i = 0; i < DCFG_BUS_COUNTS; i++)
        if (bus->chunks && i == DCFG_BUS_SAMPLE_UNEXPLAINED)
            json_null(put, tags[TAG_COUNTS - 1 + i]);
        else
            json_count(put, tags[TAG_COUNTS - 1 + i], bus->counts[i]);
    json_array(put, "NOISE_BITS");
    for (unsigned bit = 0; bit < DCFG_BUS_BITS; bit++)
        json_put_integer(put, bus->noise_bits[bit]);
    json_put_array_end(put);
    write_blocks(bus, put, new_id, context);
    json_put_object_end(put);
}
