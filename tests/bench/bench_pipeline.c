/*
 * The host's pipeline: frames in memory -> session -> capture -> files. An FT601 delivers at most
 * 400 MB/s, 33.3 million plain records a second.
 *
 * In the same run, on the same records: gzip -1 and igzip -1.
 */
#include "capture/capture.h"
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tests/support/memory_board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_RECORDS ((size_t)8 << 20)
#define ROUNDS        16u
#define GOAL          33.3e6 /* records a second */

static void die(const struct bt_error *error)
{
    fprintf(stderr, "bench_pipeline: %s\n", error->message);
    exit(3);
}

/* One capture; returns its processor time in seconds a record. */
static double run(const struct record *records, enum wire_packing packing,
                  enum record_engine engine, unsigned rounds)
{
    struct bt_error error;
    struct capture_status status;
    struct capture_settings settings = capture_settings_default();
    struct measure measure;
    strcpy(settings.prefix, "pipeline/trace");
    settings.append = true; /* one prefix for all rounds */
    settings.rotate_bytes = 256u << 20;
    settings.keep = 4;
    settings.engine = engine;
    struct stream *board =
        memory_board_new(records, ROUND_RECORDS, (uint64_t)ROUND_RECORDS * rounds, packing);
    struct source *source = memory_board_source(board, packing);
    size_t memory = measure_resident_bytes();
    measure_begin(&measure);
    struct capture *capture = capture_new(&settings, source, &error);
    if (!capture)
        die(&error);
    size_t peak = 0;
    while (!capture_wait(capture, 50)) {
        size_t now = measure_resident_bytes();
        peak = now > peak ? now : peak;
    }
    measure_end(&measure);
    capture_get_status(capture, &status);
    uint64_t link_bytes = memory_board_bytes(board);
    capture_free(capture);
    if (status.failed)
        die(&status.error);
    if (status.records != (uint64_t)ROUND_RECORDS * rounds)
        printf("INCOMPLETE: %llu records\n", (unsigned long long)status.records);
    double rate = (double)status.records / measure.wall;
    printf("%-7s %-6s %6.1f M records/s  %5.0f MB/s  %.2f cores  (33.3 M/s takes %.2f)  ratio %.2f"
           "  %.1f bytes a record on the link  +%zu MiB resident, %zu MiB allowed\n",
           packing == WIRE_DELTA ? "packed" : "plain", record_engine_name(engine), rate / 1e6,
           rate * RECORD_BYTES / 1e6, measure.cpu / measure.wall,
           measure.cpu * GOAL / (double)status.records,
           (double)status.raw_bytes / (double)status.compressed_bytes,
           (double)link_bytes / (double)status.records, peak > memory ? (peak - memory) >> 20 : 0,
           capture_memory(&settings) >> 20);
    return measure.cpu / (double)status.records;
}

static void write_raw(const struct record *records)
{
    static uint8_t bytes[RECORD_BYTES * 4096];
    FILE *file = fopen("raw.byu", "wb");
    for (size_t i = 0; file && i < ROUND_RECORDS; i += 4096) {
        records_put(bytes, records + i, 4096);
        fwrite(bytes, sizeof bytes, 1, file);
    }
    if (!file || fclose(file) != 0) {
        fputs("bench_pipeline: cannot write raw.byu\n", stderr);
        exit(3);
    }
}

/* Runs another program on the same records, and prints its time relative to ours (seconds a
 * record). */
static void peer(const char *program, double ours)
{
    char command[80];
    struct measure measure;
    long long bytes = 0;
    snprintf(command, sizeof command, "%s -1 -c raw.byu 2>/dev/null | wc -c", program);
    measure_begin(&measure);
    FILE *pipe = popen(command, "r");
    if (!pipe || fscanf(pipe, "%lld", &bytes) != 1)
        bytes = 0;
    if (pipe)
        pclose(pipe);
    measure_end(&measure);
    if (bytes < 1000) {
        printf("%-14s is not installed\n", program);
        return;
    }
    double theirs = measure.cpu_children / (double)ROUND_RECORDS;
    printf("%-7s -1     %6.1f M records/s  %5.0f MB/s  of one core    (33.3 M/s takes %.2f)  ratio "
           "%.2f; the whole pipeline takes %.2f times its processor time\n",
           program, 1e-6 / theirs, RECORD_BYTES * 1e-6 / theirs, theirs * GOAL,
           (double)ROUND_RECORDS * RECORD_BYTES / (double)bytes, ours / theirs);
}

int main(void)
{
    const char *shared = getenv("SHARED");
    char path[4096];
    struct record *records = malloc(ROUND_RECORDS * sizeof *records);
    if (!records)
        return 3;
    snprintf(path, sizeof path, "%s/data/pentium2.byu", shared ? shared : "../shared");
    bool real = large_trace_fill(records, ROUND_RECORDS, path);
    printf("records: %s, enlarged to %zu, sent %u times\n",
           real ? "a real Pentium II trace" : "made up", ROUND_RECORDS, ROUNDS);
    double ours = run(records, WIRE_PLAIN, RECORD_ENGINE_BEST, ROUNDS);
    run(records, WIRE_DELTA, RECORD_ENGINE_BEST, ROUNDS);
    run(records, WIRE_PLAIN, RECORD_ENGINE_COLUMNS, ROUNDS);
    if (record_engine_exists(RECORD_ENGINE_ISAL))
        run(records, WIRE_PLAIN, RECORD_ENGINE_ISAL, ROUNDS / 2);
    run(records, WIRE_PLAIN, RECORD_ENGINE_ZLIB, ROUNDS / 8);
    write_raw(records);
    peer("gzip", ours);
    peer("igzip", ours);
    free(records);
    return 0;
}
