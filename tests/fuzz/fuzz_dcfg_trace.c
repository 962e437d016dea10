/*
 * DCFG-traces: reads everything, except that EDGE_COUNTs without end are left after a while. A
 * trace that was read completely is written, and must read back unchanged.
 */
#include "formats/dcfg/dcfg_trace_reader.h"
#include "formats/dcfg/dcfg_trace_writer.h"

#include <stdlib.h>
#include <string.h>

#define EDGES_MAX 20000u
#define ID_MAX    5000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The edges of the first thread, for writing them again. */
struct kept {
    uint32_t edges[EDGES_MAX];
    size_t count;
    bool good;
};

static struct dcfg_trace_reader_settings settings(void)
{
    struct dcfg_trace_reader_settings made = dcfg_trace_reader_settings_default();
    made.dictionary_max = made.table_max = made.sequence_max = (size_t)16 << 20;
    return made;
}

static void read_chunk(struct dcfg_trace_reader *reader, struct kept *kept)
{
    long added = 1;
    while (added > 0 && kept->count < EDGES_MAX) {
        size_t room = EDGES_MAX - kept->count;
        added = dcfg_trace_reader_edges(reader, kept->edges + kept->count, room < 77 ? room : 77);
        kept->count += added > 0 ? (size_t)added : 0;
    }
    kept->good = added == 0;
}

/* Reads everything, into one stream per chunk; keeps the last. Returns 0 or negative. */
static int read_all(const void *data, size_t size, struct kept *kept)
{
    struct bt_error error;
    struct dcfg_trace_reader_settings limits = settings();
    struct text_reader *text = text_reader_from_memory(data, size, "input", &error);
    struct dcfg_trace_reader *reader = text ? dcfg_trace_reader_new(text, &limits, &error) : NULL;
    uint64_t process;
    uint32_t thread;
    struct dcfg_trace_chunk chunk;
    int result = BT_MEMORY;
    if (!reader)
        goto out;
    while ((result = dcfg_trace_reader_process(reader, &process)) > 0)
        while ((result = dcfg_trace_reader_thread(reader, &thread)) > 0)
            while ((result = dcfg_trace_reader_chunk(reader, &chunk)) > 0) {
                kept->count = 0;
                read_chunk(reader, kept);
            }
out:
    dcfg_trace_reader_free(reader);
    text_reader_close(text);
    return result;
}

static void write_and_read(const struct kept *kept)
{
    static struct kept again;
    struct bt_error error;
    struct text_writer *text = text_writer_new_memory(&error);
    struct dcfg_trace_writer *writer = text ? dcfg_trace_writer_new(text, &error) : NULL;
    const struct edge_encoder_settings encoder = {
        .edge_max = ID_MAX, .chunk_edges = 997, .instructions = NULL};
    again.count = 0;
    if (!writer || dcfg_trace_writer_process(writer, 1, &encoder, &error) < 0)
        goto out;
    for (size_t i = 0; i < kept->count; i++)
        if (kept->edges[i] > ID_MAX)
            goto out;
    if (dcfg_trace_writer_put(writer, 0, kept->edges, kept->count, &error) < 0 ||
        dcfg_trace_writer_finish(writer, &error) < 0 || text_writer_finish(text, &error) < 0)
        abort();
    size_t size;
    const char *written = text_writer_memory(text, &size);
    if (read_all(written, size, &again) != 0 || !again.good)
        abort();
    size_t tail = again.count; /* of the last chunk, the only one kept */
    if (tail > kept->count ||
        memcmp(again.edges, kept->edges + kept->count - tail, tail * sizeof *again.edges) != 0)
        abort();
out:
    dcfg_trace_writer_free(writer);
    text_writer_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct kept kept;
    kept.count = 0;
    kept.good = false;
    if (read_all(data, size, &kept) == 0 && kept.good && kept.count > 0)
        write_and_read(&kept);
    return 0;
}
