#include "formats/dcfg/dcfg_trace_writer.h"

#include "formats/text/json_put.h"

#include <stdlib.h>
#include <string.h>

struct dcfg_trace_writer {
    struct text_writer *text_writer;
    struct json_put *put;
    struct edge_encoder *encoder; /* of the open process; NULL: none */
    uint64_t process_id;
    struct edge_encoder_text text;
};

static void put_text(struct json_put *put, const char *text)
{
    json_put_string(put, text, strlen(text));
}

/* The first row of a table; names end with NULL. */
static void put_header(struct json_put *put, const char *const *names)
{
    json_put_array(put);
    for (; *names; names++)
        put_text(put, *names);
    json_put_array_end(put);
}

struct dcfg_trace_writer *dcfg_trace_writer_new(struct text_writer *writer, struct bt_error *error)
{
    static const char *const columns[] = {"PROCESS_ID", "STRING_DICTIONARY", "TRANSITION_TABLE",
                                          "THREAD_DATA", NULL};
    struct dcfg_trace_writer *made = calloc(1, sizeof *made);
    if (!made) {
        bt_fail(error, BT_MEMORY, "no memory for a trace");
        return NULL;
    }
    made->text_writer = writer;
    made->put = json_put_new(writer, error);
    if (!made->put) {
        free(made);
        return NULL;
    }
    json_put_object(made->put);
    json_put_key(made->put, "MAJOR_VERSION");
    json_put_integer(made->put, 1);
    json_put_line(made->put);
    json_put_key(made->put, "MINOR_VERSION");
    json_put_integer(made->put, 0);
    json_put_line(made->put);
    json_put_key(made->put, "PROCESSES");
    json_put_array(made->put);
    put_header(made->put, columns);
    return made;
}

void dcfg_trace_writer_free(struct dcfg_trace_writer *writer)
{
    if (!writer)
        return;
    edge_encoder_free(writer->encoder);
    json_put_free(writer->put);
    free(writer->text.text);
    free(writer);
}

static void put_row(struct json_put *put, const struct transition_row *row, const uint32_t *edges)
{
    char code[TRANSITION_BITS_MAX];
    for (uint32_t i = 0; i < row->bits; i++)
        code[i] = row->code >> (31 - i) & 1 ? '1' : '0';
    json_put_line(put);
    json_put_array(put);
    json_put_integer(put, row->current);
    json_put_string(put, code, row->bits);
    json_put_array(put);
    for (uint32_t i = 0; i < row->count; i++)
        json_put_integer(put, edges[i]);
    json_put_array_end(put);
    json_put_array_end(put);
}

static void put_table(struct dcfg_trace_writer *writer)
{
    static const char *const columns[] = {"CURRENT_EDGE_ID", "TRANSITION_CODE", "NEXT_EDGE_IDS",
                                          NULL};
    struct transition_row row;
    uint32_t edges[EDGE_ENCODER_ROW_MAX];
    size_t position = 0;
    json_put_line(writer->put);
    json_put_array(writer->put);
    put_header(writer->put, columns);
    while (edge_encoder_row(writer->encoder, &position, &row, edges))
        put_row(writer->put, &row, edges);
    json_put_array_end(writer->put);
}

static int put_chunk(struct dcfg_trace_writer *writer, size_t i, struct bt_error *error)
{
    const struct edge_chunk *chunk = edge_encoder_chunk(writer->encoder, i);
    writer->text.length = 0;
    int result = edge_encoder_sequence(writer->encoder, i, &writer->text, error);
    if (result < 0)
        return result;
    json_put_line(writer->put);
    json_put_array(writer->put);
    json_put_integer(writer->put, chunk->preceding);
    json_put_integer(writer->put, chunk->instructions);
    json_put_integer(writer->put, chunk->edges);
    json_put_integer(writer->put, chunk->first);
    json_put_string(writer->put, writer->text.text, writer->text.length);
    json_put_array_end(writer->put);
    return 0;
}

/* The row of the thread of chunk *i; advances *i past its last chunk. */
static int put_thread(struct dcfg_trace_writer *writer, size_t *i, struct bt_error *error)
{
    static const char *const columns[] = {"PRECEDING_INSTR_COUNT", "INSTR_COUNT",      "EDGE_COUNT",
                                          "FIRST_EDGE_ID",         "EDGE_ID_SEQUENCE", NULL};
    uint32_t thread = edge_encoder_chunk(writer->encoder, *i)->thread;
    size_t count = edge_encoder_chunks(writer->encoder);
    int result = 0;
    json_put_line(writer->put);
    json_put_array(writer->put);
    json_put_integer(writer->put, thread);
    json_put_array(writer->put);
    put_header(writer->put, columns);
    while (*i < count && edge_encoder_chunk(writer->encoder, *i)->thread == thread && result == 0)
        result = put_chunk(writer, (*i)++, error);
    json_put_array_end(writer->put);
    json_put_array_end(writer->put);
    return result;
}

static int put_threads(struct dcfg_trace_writer *writer, struct bt_error *error)
{
    static const char *const columns[] = {"THREAD_ID", "TRACE_DATA", NULL};
    int result = 0;
    json_put_line(writer->put);
    json_put_array(writer->put);
    put_header(writer->put, columns);
    for (size_t i = 0; i < edge_encoder_chunks(writer->encoder) && result == 0;)
        result = put_thread(writer, &i, error);
    json_put_array_end(writer->put);
    return result;
}

/* Writes the open process. */
static int end_process(struct dcfg_trace_writer *writer, struct bt_error *error)
{
    if (!writer->encoder)
        return 0;
    int result = edge_encoder_finish(writer->encoder, error);
    if (result < 0)
        return result;
    json_put_line(writer->put);
    json_put_array(writer->put);
    json_put_integer(writer->put, writer->process_id);
    json_put_object(writer->put); /* STRING_DICTIONARY */
    json_put_object_end(writer->put);
    put_table(writer);
    result = put_threads(writer, error);
    json_put_array_end(writer->put);
    edge_encoder_free(writer->encoder);
    writer->encoder = NULL;
    return result;
}

int dcfg_trace_writer_process(struct dcfg_trace_writer *writer, uint64_t process_id,
                              const struct edge_encoder_settings *settings, struct bt_error *error)
{
    int result = end_process(writer, error);
    if (result < 0)
        return result;
    writer->process_id = process_id;
    return edge_encoder_new(&writer->encoder, settings, error);
}

int dcfg_trace_writer_put(struct dcfg_trace_writer *writer, uint32_t thread, const uint32_t *edges,
                          size_t count, struct bt_error *error)
{
    return edge_encoder_put(writer->encoder, thread, edges, count, error);
}

int dcfg_trace_writer_gap(struct dcfg_trace_writer *writer, uint32_t thread, uint64_t instructions,
                          struct bt_error *error)
{
    return edge_encoder_gap(writer->encoder, thread, instructions, error);
}

int dcfg_trace_writer_finish(struct dcfg_trace_writer *writer, struct bt_error *error)
{
    int result = end_process(writer, error);
    if (result < 0)
        return result;
    json_put_array_end(writer->put);
    json_put_object_end(writer->put);
    result = json_put_finish(writer->put, error);
    return result == 0 ? text_writer_put(writer->text_writer, "\n", 1, error) : result;
}
