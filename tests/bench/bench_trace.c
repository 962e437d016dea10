/*
 * The trace of a program's edges as DCFG-trace: how many bytes an edge takes, how fast they are
 * encoded and expanded again; and what xz -6 makes of the edge ids, 4 bytes each.
 *
 * usage: bench_trace [MILLION_EDGES]     (20)
 */
#include "formats/base/bytes.h"
#include "formats/dcfg/dcfg_trace_reader.h"
#include "formats/dcfg/dcfg_trace_writer.h"
#include "tests/support/edge_program.h"
#include "tests/support/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS  3
#define PIECE 4096u

struct result {
    double encode; /* seconds of one core */
    double expand;
    size_t bytes;
};

static int encode(struct text_writer *text, const uint32_t *edges, size_t count, uint32_t edge_max,
                  struct bt_error *error)
{
    const struct edge_encoder_settings settings = {.edge_max = edge_max};
    struct dcfg_trace_writer *writer = dcfg_trace_writer_new(text, error);
    int result = writer ? dcfg_trace_writer_process(writer, 1, &settings, error) : BT_MEMORY;
    for (size_t at = 0; at < count && result == 0; at += PIECE)
        result = dcfg_trace_writer_put(writer, 0, edges + at,
                                       count - at < PIECE ? count - at : PIECE, error);
    if (result == 0)
        result = dcfg_trace_writer_finish(writer, error);
    dcfg_trace_writer_free(writer);
    return result;
}

/* Expands all, and compares. */
static int expand(const char *bytes, size_t size, const uint32_t *edges, size_t count,
                  struct bt_error *error)
{
    static uint32_t piece[PIECE];
    struct text_reader *text = text_reader_from_memory(bytes, size, "the trace", error);
    struct dcfg_trace_reader *reader = dcfg_trace_reader_new(text, NULL, error);
    struct dcfg_trace_chunk chunk;
    uint64_t process;
    uint32_t thread;
    size_t at = 0;
    int result = reader ? dcfg_trace_reader_process(reader, &process) : BT_MEMORY;
    if (result > 0)
        result = dcfg_trace_reader_thread(reader, &thread);
    while (result > 0 && (result = dcfg_trace_reader_chunk(reader, &chunk)) > 0) {
        long got;
        while ((got = dcfg_trace_reader_edges(reader, piece, PIECE)) > 0) {
            if ((size_t)got > count - at ||
                memcmp(edges + at, piece, (size_t)got * sizeof *piece) != 0)
                return bt_fail(error, BT_DATA, "the edges are not what they were");
            at += (size_t)got;
        }
        if (got < 0)
            result = (int)got;
    }
    dcfg_trace_reader_free(reader);
    text_reader_close(text);
    if (result == 0 && at != count)
        return bt_fail(error, BT_DATA, "%zu edges of %zu", at, count);
    return result;
}

static int run(const uint32_t *edges, size_t count, uint32_t edge_max, struct result *result,
               struct bt_error *error)
{
    struct measure measure;
    struct text_writer *text = text_writer_new_memory(error);
    if (!text)
        return BT_MEMORY;
    measure_begin(&measure);
    int code = encode(text, edges, count, edge_max, error);
    measure_end(&measure);
    result->encode = measure.cpu;
    if (code == 0) {
        const char *bytes = text_writer_memory(text, &result->bytes);
        measure_begin(&measure);
        code = expand(bytes, result->bytes, edges, count, error);
        measure_end(&measure);
        result->expand = measure.cpu;
    }
    text_writer_free(text);
    return code;
}

/* Bytes that xz makes of the ids; 0: it could not be run. */
static unsigned long xz_bytes(const uint32_t *edges, size_t count)
{
    unsigned long bytes = 0;
    FILE *ids = fopen("ids", "wb");
    for (size_t i = 0; ids && i < count; i++) {
        uint8_t id[4];
        bytes_put32(id, edges[i]);
        fwrite(id, 1, sizeof id, ids);
    }
    if (!ids || fclose(ids) != 0)
        return 0;
    FILE *xz = popen("xz -6 -c -T1 ids 2>/dev/null | wc -c", "r");
    if (xz && fscanf(xz, "%lu", &bytes) != 1)
        bytes = 0;
    if (xz)
        pclose(xz);
    remove("ids");
    return bytes;
}

static int measure_program(enum edge_program_kind kind, const char *name, uint32_t *edges,
                           size_t count)
{
    struct bt_error error = {.message = ""};
    struct result best = {0};
    uint32_t edge_max = edge_program_run(kind, 11, edges, count);
    for (int i = 0; i < RUNS; i++) {
        struct result result;
        if (run(edges, count, edge_max, &result, &error) != 0) {
            fprintf(stderr, "%s: %s\n", name, error.message);
            return -1;
        }
        if (i == 0 || result.encode < best.encode)
            best.encode = result.encode;
        if (i == 0 || result.expand < best.expand)
            best.expand = result.expand;
        best.bytes = result.bytes;
    }
    double millions = (double)count / 1e6;
    unsigned long xz = xz_bytes(edges, count);
    printf("  %-6s %6u different edges: %.4f bytes an edge, xz -6 of the ids %.4f; encoded %.1f, "
           "expanded %.1f million edges/s\n",
           name, edge_max, (double)best.bytes / (double)count, (double)xz / (double)count,
           millions / best.encode, millions / best.expand);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const names[EDGE_PROGRAM_KINDS] = {"loops", "calls", "data"};
    size_t count = (argc > 1 ? strtoul(argv[1], NULL, 10) : 20) * 1000000;
    uint32_t *edges = malloc((count + 1) * sizeof *edges);
    int result = edges ? 0 : -1;
    printf("trace: %zu million edges of one thread, one core, the best of %d runs\n",
           count / 1000000, RUNS);
    for (int kind = 0; kind < EDGE_PROGRAM_KINDS && result == 0; kind++)
        result = measure_program((enum edge_program_kind)kind, names[kind], edges, count);
    free(edges);
    return result == 0 ? 0 : 3;
}
