#include "formats/dcfg/dcfg_trace_reader.h"

#include "formats/base/grow.h"
#include "formats/dcfg/dcfg_table.h"
#include "formats/dcfg/edge_walk.h"

#include <string.h>

#define MAJOR_KNOWN 1u

/* The reader's position: each state is nested in the previous one. */
enum reader_state { AT_BEGINNING, IN_DOCUMENT, IN_PROCESS, IN_THREAD, AT_END };

enum { TAG_MAJOR = 1, TAG_MINOR, TAG_PROCESSES };
enum { PROCESS_ID = 1, STRING_DICTIONARY, TRANSITION_TABLE, THREAD_DATA };
enum { THREAD_ID = 1, TRACE_DATA };
enum { PRECEDING_INSTR_COUNT = 1, INSTR_COUNT, EDGE_COUNT, FIRST_EDGE_ID, EDGE_ID_SEQUENCE };
enum { CURRENT_EDGE_ID = 1, TRANSITION_CODE, NEXT_EDGE_IDS };

/* A string in separate memory. */
struct text_buffer {
    char *text;
    size_t length, capacity;
};

/* Edge ids in separate memory. */
struct id_buffer {
    uint32_t *ids;
    size_t count, capacity;
};

struct dcfg_trace_reader {
    struct dcfg_trace_reader_settings settings;
    struct json_pull *pull;
    struct bt_error inner; /* of functions that do not know the position */
    enum reader_state state;
    int failed; /* code of the first failure, which is final */
    uint32_t tags_seen;
    struct dcfg_table processes, threads, chunks;
    struct edge_dictionary *dictionary;
    struct transition_table *table;
    struct edge_sequence *sequence;
    struct edge_walk *walk;
    struct text_buffer text; /* of the chunk */
    struct id_buffer ids;
    struct dcfg_trace_chunk chunk;
    bool chunk_started;
};

struct dcfg_trace_reader_settings dcfg_trace_reader_settings_default(void)
{
    return (struct dcfg_trace_reader_settings){.json = json_pull_settings_default(),
                                               .dictionary_max = (size_t)256 << 20,
                                               .table_max = (size_t)1 << 30,
                                               .sequence_max = (size_t)256 << 20,
                                               .any_version = false};
}

struct dcfg_trace_reader *dcfg_trace_reader_new(struct text_reader *text,
                                                const struct dcfg_trace_reader_settings *settings,
                                                struct bt_error *error)
{
    struct dcfg_trace_reader *reader = calloc(1, sizeof *reader);
    if (reader) {
        reader->settings = settings ? *settings : dcfg_trace_reader_settings_default();
        reader->dictionary = edge_dictionary_new(reader->settings.dictionary_max);
        reader->sequence = edge_sequence_new();
        reader->walk = edge_walk_new();
    }
    if (!reader || !reader->dictionary || !reader->sequence || !reader->walk) {
        bt_fail(error, BT_MEMORY, "no memory for reading a trace");
        dcfg_trace_reader_free(reader);
        return NULL;
    }
    edge_sequence_set_limit(reader->sequence, edge_text_memory(reader->settings.sequence_max));
    reader->pull = json_pull_new(text, &reader->settings.json, error);
    if (!reader->pull) {
        dcfg_trace_reader_free(reader);
        return NULL;
    }
    return reader;
}

void dcfg_trace_reader_free(struct dcfg_trace_reader *reader)
{
    if (!reader)
        return;
    json_pull_free(reader->pull);
    edge_dictionary_free(reader->dictionary);
    transition_table_free(reader->table);
    edge_sequence_free(reader->sequence);
    edge_walk_free(reader->walk);
    free(reader->text.text);
    free(reader->ids.ids);
    free(reader);
}

static const struct json_pull_bounds any_id = {.minimum = 0, .maximum = UINT32_MAX};

/* Fails with reader->inner, at the current position. */
static int fail_here(struct dcfg_trace_reader *reader, int code)
{
    return json_pull_fail(reader->pull, code, "%s", reader->inner.message);
}

void dcfg_trace_reader_path(const struct dcfg_trace_reader *reader, char *path, size_t room)
{
    json_pull_path(reader->pull, path, room);
}

/* Keeps a failure for later calls. */
static int keep(struct dcfg_trace_reader *reader, int result)
{
    if (result < 0)
        reader->failed = result;
    return result;
}

static int no_memory(struct dcfg_trace_reader *reader)
{
    return json_pull_fail(reader->pull, BT_MEMORY, "no memory to read a trace");
}

/* As dcfg_table_begin. In strict mode, all columns are required, in this order, for streaming
 * readers. */
static int begin_table(struct dcfg_trace_reader *reader, struct dcfg_table *table,
                       const struct dcfg_column *columns)
{
    int result = dcfg_table_begin(table, reader->pull, columns);
    if (result < 0 || !table->pull || !reader->settings.json.strict)
        return result;
    uint32_t before = 0;
    for (uint32_t i = 0; columns[i].name; i++) {
        uint32_t position = dcfg_table_position(table, i);
        if (!(table->present & 1u << i))
            return json_pull_fail(reader->pull, BT_DATA, "the table lacks the column %s",
                                  columns[i].name);
        if (position < before)
            return json_pull_fail(reader->pull, BT_DATA, "the column %s must come after %s",
                                  columns[i].name, columns[i - 1].name);
        before = position;
    }
    return 0;
}

/* As dcfg_table_row; may be repeated at the end. */
static int next_row(struct dcfg_table *table)
{
    int result = dcfg_table_row(table);
    if (result == 0)
        table->pull = NULL;
    return result;
}

/* Reads a string of at most maximum characters. */
static int read_text(struct dcfg_trace_reader *reader, struct text_buffer *text, size_t maximum)
{
    struct json_pull_text piece;
    text->length = 0;
    int result = json_pull_string_begin(reader->pull);
    while (result >= 0 && (result = json_pull_string_piece(reader->pull, &piece)) > 0) {
        if (piece.size > maximum - text->length)
            return json_pull_fail(reader->pull, BT_DATA, "more than %zu characters: the limit",
                                  maximum);
        char *grown = grow_array(text->text, &text->capacity, text->length + piece.size, 1);
        if (!grown)
            return no_memory(reader);
        text->text = grown;
        memcpy(grown + text->length, piece.text, piece.size);
        text->length += piece.size;
    }
    return result;
}

/* --- dictionary and table --------------------------------------------------------------------- */

/* Whether the key has only the characters that section 3.4 allows. */
static bool good_key(const char *key, size_t size)
{
    static const char characters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    for (size_t i = 0; i < size; i++)
        if (key[i] == '\0' || !strchr(characters, key[i]))
            return false;
    return size > 0;
}

static int read_dictionary(struct dcfg_trace_reader *reader)
{
    struct json_pull_text key;
    struct text_buffer name = {.text = NULL, .length = 0, .capacity = 0};
    int result = json_pull_object(reader->pull);
    while (result >= 0 && (result = json_pull_key(reader->pull, &key)) > 0) {
        char *grown = grow_array(name.text, &name.capacity, key.size + 1, 1);
        if (!grown) {
            result = no_memory(reader);
            break;
        }
        name.text = grown;
        name.length = key.size;
        memcpy(grown, key.text, key.size);
        if (reader->settings.json.strict && !good_key(grown, name.length)) {
            result = json_pull_fail(reader->pull, BT_DATA,
                                    "keys consist of A to Z, a to z, 0 to 9, + and -");
            break;
        }
        result = read_text(reader, &reader->text, reader->settings.dictionary_max);
        if (result < 0)
            break;
        result = edge_dictionary_add(reader->dictionary, name.text, name.length,
                                     reader->text.length ? reader->text.text : "",
                                     reader->text.length, &reader->inner);
        if (result < 0)
            result = fail_here(reader, result);
    }
    free(name.text);
    if (result < 0)
        return result;
    result = edge_dictionary_finish(reader->dictionary, &reader->inner);
    return result < 0 ? fail_here(reader, result) : 0;
}

static int read_ids(struct dcfg_trace_reader *reader)
{
    struct id_buffer *ids = &reader->ids;
    ids->count = 0;
    int result = json_pull_array(reader->pull);
    while (result >= 0 && (result = json_pull_element(reader->pull)) > 0) {
        uint64_t id = 0;
        result = json_pull_integer_within(reader->pull, &any_id, &id);
        if (result < 0)
            break;
        uint32_t *grown = grow_array(ids->ids, &ids->capacity, ids->count + 1, sizeof *grown);
        if (!grown)
            return no_memory(reader);
        ids->ids = grown;
        grown[ids->count++] = (uint32_t)id;
        if (ids->count > reader->settings.table_max / sizeof *grown)
            return json_pull_fail(reader->pull, BT_DATA,
                                  "a TRANSITION_TABLE of more than %zu octets",
                                  reader->settings.table_max);
    }
    return result;
}

static int read_code(struct dcfg_trace_reader *reader, char code[TRANSITION_BITS_MAX + 1],
                     size_t *length)
{
    struct json_pull_text text;
    int result = json_pull_string(reader->pull, &text);
    if (result < 0)
        return result;
    /* one character too many suffices for the error */
    *length = text.size <= TRANSITION_BITS_MAX ? text.size : TRANSITION_BITS_MAX + 1;
    memcpy(code, text.text, *length);
    return 0;
}

static int read_transition(struct dcfg_trace_reader *reader, struct dcfg_table *rows)
{
    char code[TRANSITION_BITS_MAX + 1];
    size_t length = 0;
    uint64_t current = 0;
    int column;
    while ((column = dcfg_table_cell(rows)) > 0) {
        int result = column == CURRENT_EDGE_ID
                         ? json_pull_integer_within(reader->pull, &any_id, &current)
                     : column == TRANSITION_CODE ? read_code(reader, code, &length)
                                                 : read_ids(reader);
        if (result < 0)
            return result;
    }
    if (column < 0)
        return column;
    int result = transition_table_add(reader->table, (uint32_t)current, code, length,
                                      reader->ids.ids, reader->ids.count, &reader->inner);
    return result < 0 ? fail_here(reader, result) : 0;
}

static int read_table(struct dcfg_trace_reader *reader)
{
    static const struct dcfg_column columns[] = {{"CURRENT_EDGE_ID", false},
                                                 {"TRANSITION_CODE", false},
                                                 {"NEXT_EDGE_IDS", false},
                                                 {NULL, false}};
    struct dcfg_table rows;
    transition_table_free(reader->table);
    reader->table = transition_table_new(reader->settings.table_max);
    if (!reader->table)
        return no_memory(reader);
    int result = begin_table(reader, &rows, columns);
    while (result >= 0 && (result = dcfg_table_row(&rows)) > 0)
        result = read_transition(reader, &rows);
    if (result < 0)
        return result;
    result = transition_table_finish(reader->table, &reader->inner);
    return result < 0 ? fail_here(reader, result) : 0;
}

/* --- chunks ----------------------------------------------------------------------------------- */

static int read_chunk_cell(struct dcfg_trace_reader *reader, int column, uint64_t *first)
{
    switch (column) {
    case PRECEDING_INSTR_COUNT:
        return json_pull_integer(reader->pull, &reader->chunk.preceding);
    case INSTR_COUNT:
        return json_pull_integer(reader->pull, &reader->chunk.instructions);
    case EDGE_COUNT:
        return json_pull_integer(reader->pull, &reader->chunk.edges);
    case FIRST_EDGE_ID:
        return json_pull_integer(reader->pull, first);
    default:
        return read_text(reader, &reader->text, reader->settings.sequence_max);
    }
}

static void forget_chunk(struct dcfg_trace_reader *reader)
{
    reader->chunk = (struct dcfg_trace_chunk){.preceding = 0};
    reader->chunk_started = false;
    reader->text.length = 0;
}

static int next_chunk(struct dcfg_trace_reader *reader)
{
    uint64_t first = 0;
    forget_chunk(reader);
    int result = next_row(&reader->chunks);
    if (result <= 0)
        return result;
    int column;
    while ((column = dcfg_table_cell(&reader->chunks)) > 0) {
        result = read_chunk_cell(reader, column, &first);
        if (result < 0)
            return result;
    }
    if (column < 0)
        return column;
    if (reader->chunk.edges > 0 && (first < 1 || first > EDGE_ID_MAX))
        return json_pull_fail(reader->pull, BT_DATA,
                              "FIRST_EDGE_ID is not between 1 and 0x7fffffff");
    reader->chunk.first = (uint32_t)first;
    return 1;
}

/* Compiles the chunk's text, unless the chunk is skipped. */
static int start_chunk(struct dcfg_trace_reader *reader)
{
    int result = edge_sequence_start(reader->sequence, reader->dictionary,
                                     reader->text.length ? reader->text.text : "",
                                     reader->text.length, &reader->inner);
    if (result < 0)
        return fail_here(reader, result);
    edge_walk_start(reader->walk, reader->table, reader->sequence, reader->chunk.first,
                    reader->chunk.edges);
    reader->chunk_started = true;
    return 0;
}

long dcfg_trace_reader_edges(struct dcfg_trace_reader *reader, uint32_t *edges, size_t capacity)
{
    if (reader->failed < 0)
        return reader->failed;
    if (reader->state != IN_THREAD)
        return 0;
    if (!reader->chunk_started) {
        int result = keep(reader, start_chunk(reader));
        if (result < 0)
            return result;
    }
    long result = edge_walk_read(reader->walk, edges, capacity, &reader->inner);
    if (result < 0)
        return keep(reader, fail_here(reader, (int)result));
    return result;
}

uint64_t dcfg_trace_reader_unused(const struct dcfg_trace_reader *reader)
{
    return reader->chunk_started ? edge_walk_unused(reader->walk) : 0;
}

/* --- threads ---------------------------------------------------------------------------------- */

static int begin_chunks(struct dcfg_trace_reader *reader, bool has_id)
{
    static const struct dcfg_column columns[] = {
        {"PRECEDING_INSTR_COUNT", false}, {"INSTR_COUNT", false},     {"EDGE_COUNT", false},
        {"FIRST_EDGE_ID", false},         {"EDGE_ID_SEQUENCE", true}, {NULL, false}};
    if (!has_id)
        return json_pull_fail(reader->pull, BT_DATA, "TRACE_DATA comes before THREAD_ID");
    int result = begin_table(reader, &reader->chunks, columns);
    if (result < 0)
        return result;
    forget_chunk(reader);
    reader->state = IN_THREAD;
    return 0;
}

/* Skips the rest of the thread, and of its row. */
static int leave_thread(struct dcfg_trace_reader *reader)
{
    int result;
    while ((result = next_chunk(reader)) > 0)
        ;
    if (result < 0)
        return result;
    reader->state = IN_PROCESS;
    while ((result = dcfg_table_cell(&reader->threads)) > 0) {
        result = json_pull_skip(reader->pull);
        if (result < 0)
            return result;
    }
    return result;
}

/* Advances to the TRACE_DATA of the next thread. */
static int next_thread(struct dcfg_trace_reader *reader, uint32_t *thread)
{
    uint64_t id = 0;
    bool has_id = false;
    int result = 0;
    if (reader->state == IN_THREAD)
        result = leave_thread(reader);
    if (result < 0)
        return result;
    result = next_row(&reader->threads);
    if (result <= 0)
        return result;
    while ((result = dcfg_table_cell(&reader->threads)) > 0) {
        if (result == TRACE_DATA) {
            result = begin_chunks(reader, has_id);
            *thread = (uint32_t)id;
            return result < 0 ? result : 1;
        }
        result = json_pull_integer_within(reader->pull, &any_id, &id);
        if (result < 0)
            return result;
        has_id = true;
    }
    return result; /* dcfg_table_cell reports a row without TRACE_DATA */
}

/* --- processes -------------------------------------------------------------------------------- */

static int begin_threads(struct dcfg_trace_reader *reader)
{
    static const struct dcfg_column columns[] = {
        {"THREAD_ID", false}, {"TRACE_DATA", false}, {NULL, false}};
    uint32_t needed = 1u << (PROCESS_ID - 1) | 1u << (TRANSITION_TABLE - 1);
    needed |= reader->processes.present & 1u << (STRING_DICTIONARY - 1);
    if (needed & ~reader->processes.seen)
        return json_pull_fail(reader->pull, BT_DATA,
                              "THREAD_DATA comes before the tables that decode it");
    int result = begin_table(reader, &reader->threads, columns);
    if (result < 0)
        return result;
    reader->state = IN_PROCESS;
    return 0;
}

static int read_process_cell(struct dcfg_trace_reader *reader, int column, uint64_t *process_id)
{
    switch (column) {
    case PROCESS_ID:
        return json_pull_integer(reader->pull, process_id);
    case STRING_DICTIONARY:
        return read_dictionary(reader);
    case TRANSITION_TABLE:
        return read_table(reader);
    default:
        return begin_threads(reader);
    }
}

/* Skips the rest of the process, and of its row. */
static int leave_process(struct dcfg_trace_reader *reader)
{
    uint32_t thread;
    int result;
    while ((result = next_thread(reader, &thread)) > 0)
        ;
    if (result < 0)
        return result;
    reader->state = IN_DOCUMENT;
    while ((result = dcfg_table_cell(&reader->processes)) > 0) {
        result = json_pull_skip(reader->pull);
        if (result < 0)
            return result;
    }
    return result;
}

static int read_version(struct dcfg_trace_reader *reader, int tag)
{
    uint64_t value = 0;
    int result = json_pull_integer_within(reader->pull, &any_id, &value);
    if (result < 0)
        return result;
    if (tag == TAG_MAJOR && value > MAJOR_KNOWN && !reader->settings.any_version)
        return json_pull_fail(reader->pull, BT_DATA,
                              "major version %llu of the format; only 0 and 1 are known",
                              (unsigned long long)value);
    return 0;
}

/* In strict mode, checks that the tags before this one have occurred. */
static int check_order(struct dcfg_trace_reader *reader, int tag)
{
    uint32_t before = (1u << (tag - 1)) - 1;
    if (reader->settings.json.strict && (before & ~reader->tags_seen))
        return json_pull_fail(reader->pull, BT_DATA,
                              "MAJOR_VERSION, MINOR_VERSION and PROCESSES must come in this order");
    return 0;
}

/* Advances to the next relevant tag of the document: 1 within PROCESSES, 0 at the end. */
static int next_section(struct dcfg_trace_reader *reader)
{
    static const char *const tags[] = {"MAJOR_VERSION", "MINOR_VERSION", "PROCESSES", NULL};
    static const struct dcfg_column columns[] = {{"PROCESS_ID", false},
                                                 {"STRING_DICTIONARY", true},
                                                 {"TRANSITION_TABLE", false},
                                                 {"THREAD_DATA", false},
                                                 {NULL, false}};
    int result;
    while ((result = dcfg_object_next(reader->pull, tags, &reader->tags_seen)) > 0) {
        int order = check_order(reader, result);
        if (order < 0)
            return order;
        if (result == TAG_PROCESSES) {
            result = begin_table(reader, &reader->processes, columns);
            return result < 0 ? result : 1;
        }
        result = read_version(reader, result);
        if (result < 0)
            return result;
    }
    if (result == 0)
        result = json_pull_end(reader->pull);
    if (result == 0 && !(reader->tags_seen & 1u << (TAG_MAJOR - 1)))
        return json_pull_fail(reader->pull, BT_DATA,
                              "MAJOR_VERSION is missing: this is not a DCFG-trace");
    if (result == 0 && !(reader->tags_seen & 1u << (TAG_PROCESSES - 1)))
        return json_pull_fail(reader->pull, BT_DATA, "PROCESSES is missing");
    return result;
}

/* Advances to the THREAD_DATA of the next process. */
static int next_process(struct dcfg_trace_reader *reader, uint64_t *process_id)
{
    int result = 0;
    if (reader->state == AT_BEGINNING) {
        result = json_pull_object(reader->pull);
        if (result >= 0)
            result = next_section(reader);
        if (result <= 0)
            return result;
        reader->state = IN_DOCUMENT;
    }
    if (reader->state != IN_DOCUMENT)
        result = leave_process(reader);
    if (result >= 0)
        result = next_row(&reader->processes);
    if (result < 0)
        return result;
    if (result == 0) {
        reader->state = AT_END;
        return next_section(reader);
    }
    while ((result = dcfg_table_cell(&reader->processes)) > 0) {
        int column = result;
        result = read_process_cell(reader, column, process_id);
        if (result < 0 || column == THREAD_DATA)
            return result < 0 ? result : 1;
    }
    return result;
}

int dcfg_trace_reader_process(struct dcfg_trace_reader *reader, uint64_t *process_id)
{
    if (reader->failed < 0 || reader->state == AT_END)
        return reader->failed;
    return keep(reader, next_process(reader, process_id));
}

const struct transition_table *dcfg_trace_reader_table(const struct dcfg_trace_reader *reader)
{
    return reader->table;
}

int dcfg_trace_reader_thread(struct dcfg_trace_reader *reader, uint32_t *thread)
{
    if (reader->failed < 0 || (reader->state != IN_PROCESS && reader->state != IN_THREAD))
        return reader->failed;
    return keep(reader, next_thread(reader, thread));
}

int dcfg_trace_reader_chunk(struct dcfg_trace_reader *reader, struct dcfg_trace_chunk *chunk)
{
    if (reader->failed < 0 || reader->state != IN_THREAD)
        return reader->failed;
    int result = keep(reader, next_chunk(reader));
    *chunk = reader->chunk;
    return result;
}
