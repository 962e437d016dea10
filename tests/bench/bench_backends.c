/*
 * What could compress the columns of an archive: zstd -19 and liblzma -9 over each stream of
 * columns, and over the records as they are, beside the record model of bustap pack. One block, one
 * thread, processor time, with splitting and joining. The ways take turns; the best of some rounds
 * counts.
 *
 * usage: backends [FILE.byu...]    without files, the Pentium II trace, or records like those of a
 * bus
 */
#include "formats/columns/column_split.h"
#include "formats/columns/record_model.h"
#include "tests/support/records.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#define SHORT       100000u /* records of a capture that is measured in several rounds */
#define ROUNDS      3
#define ZSTD_LEVEL  19
#define LZMA_PRESET 9u

enum library { ZSTD, LZMA };

struct way {
    const char *name;
    enum { RECORDS, COLUMNS, MODEL } what;
    int with; /* enum library, or enum record_model_method */
};

static const struct way ways[] = {{"records, zstd -19", RECORDS, ZSTD},
                                  {"records, xz -9", RECORDS, LZMA},
                                  {"columns, zstd -19", COLUMNS, ZSTD},
                                  {"columns, xz -9", COLUMNS, LZMA},
                                  {"model, nibbles", MODEL, RECORD_MODEL_NIBBLES},
                                  {"model, few", MODEL, RECORD_MODEL_FEW},
                                  {"model, many", MODEL, RECORD_MODEL_MANY}};
#define WAYS (sizeof ways / sizeof *ways)

struct room {
    struct record *back;
    uint8_t *out;
    size_t capacity;
    size_t sizes[COLUMN_STREAMS]; /* of the coded streams, one after the other in out */
    struct columns columns;
    struct record_model *model;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_backends: %s\n", what);
    exit(3);
}

/* Processor time in seconds. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t compress(int library, const void *in, size_t size, uint8_t *out, size_t capacity)
{
    if (library == ZSTD) {
        const size_t coded = ZSTD_compress(out, capacity, in, size, ZSTD_LEVEL);
        if (ZSTD_isError(coded))
            die("zstd failed");
        return coded;
    }
    size_t at = 0;
    if (lzma_easy_buffer_encode(LZMA_PRESET, LZMA_CHECK_NONE, NULL, in, size, out, &at, capacity) !=
        LZMA_OK)
        die("liblzma failed");
    return at;
}

static void decompress(int library, const uint8_t *in, size_t coded, void *out, size_t size)
{
    uint64_t memory = UINT64_MAX;
    size_t from = 0, at = 0;
    const bool good = library == ZSTD ? ZSTD_decompress(out, size, in, coded) == size
                                      : lzma_stream_buffer_decode(&memory, 0, NULL, in, &from,
                                                                  coded, out, &at, size) == LZMA_OK;
    if (!good)
        die("a block does not decode");
}

/* Returns the size of the block. */
static size_t encode(const struct way *way, struct room *room, const struct record *records,
                     size_t count)
{
    size_t size = 0;
    switch (way->what) {
    case RECORDS:
        return compress(way->with, records, count * RECORD_BYTES, room->out, room->capacity);
    case COLUMNS:
        columns_split(&room->columns, records, count);
        for (int i = 0; i < COLUMN_STREAMS; i++) {
            const size_t bytes = room->columns.elements[i] * column_width((enum column_stream)i);
            room->sizes[i] = compress(way->with, room->columns.bytes[i], bytes, room->out + size,
                                      room->capacity - size);
            size += room->sizes[i];
        }
        return size;
    default:
        if (record_model_encode(room->model, (enum record_model_method)way->with, records, count,
                                room->out, &size, NULL) < 0)
            die("no memory");
        return size;
    }
}

static void decode(const struct way *way, struct room *room, size_t size, size_t count)
{
    const uint8_t *in = room->out;
    switch (way->what) {
    case RECORDS:
        decompress(way->with, in, size, room->back, count * RECORD_BYTES);
        return;
    case COLUMNS:
        for (int i = 0; i < COLUMN_STREAMS; i++) {
            decompress(way->with, in, room->sizes[i], room->columns.bytes[i],
                       room->columns.elements[i] * column_width((enum column_stream)i));
            in += room->sizes[i];
        }
        if (!columns_join(&room->columns, room->back, count))
            die("columns do not fit");
        return;
    default:
        if (record_model_decode(room->model, in, size, room->back, count, NULL) < 0)
            die("a block does not decode");
    }
}

static void compare(const char *name, const struct record *records, size_t count)
{
    struct room room = {.capacity = 2 * count * RECORD_BYTES + 65536};
    double best[WAYS][2];
    size_t sizes[WAYS];
    room.back = malloc(count * RECORD_BYTES);
    room.out = malloc(room.capacity);
    room.model = record_model_new(count);
    if (!room.back || !room.out || !room.model || columns_reserve(&room.columns, count, NULL) < 0)
        die("no memory");
    const int rounds = count < SHORT ? ROUNDS : 1;
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < WAYS; i++) {
            const double begin = now();
            sizes[i] = encode(&ways[i], &room, records, count);
            const double middle = now();
            decode(&ways[i], &room, sizes[i], count);
            const double end = now();
            if (memcmp(room.back, records, count * RECORD_BYTES) != 0)
                die("other records come back");
            if (round == 0 || middle - begin < best[i][0])
                best[i][0] = middle - begin;
            if (round == 0 || end - middle < best[i][1])
                best[i][1] = end - middle;
        }
    const double megabytes = (double)count * RECORD_BYTES / 1e6;
    printf("%s, %zu records\n", name, count);
    for (size_t i = 0; i < WAYS; i++)
        printf("  %-18s  ratio %7.2f  write %6.1f MB/s  read %6.1f MB/s\n", ways[i].name,
               megabytes * 1e6 / (double)sizes[i], megabytes / best[i][0], megabytes / best[i][1]);
    fflush(stdout);
    record_model_free(room.model);
    columns_clear(&room.columns);
    free(room.out);
    free(room.back);
}

/* The records of a file of plain records; 0: it cannot be read. */
static size_t read_records(const char *path, struct record *records)
{
    FILE *file = fopen(path, "rb");
    const size_t count = file ? fread(records, sizeof *records, RECORD_MODEL_MOST, file) : 0;
    if (file)
        fclose(file);
    return count;
}

int main(int count, char **arguments)
{
    const char *shared = getenv("SHARED");
    char path[4096];
    uint64_t random = 1;
    struct record *records = malloc(RECORD_MODEL_MOST * sizeof *records);
    if (!records)
        die("no memory");
    for (int i = 1; i < count; i++) {
        const size_t found = read_records(arguments[i], records);
        if (found == 0)
            die("a file has no records");
        compare(arguments[i], records, found);
    }
    if (count < 2) {
        snprintf(path, sizeof path, "%s/data/pentium2.byu", shared ? shared : "../shared");
        size_t found = read_records(path, records);
        if (found == 0) {
            found = 30000;
            records_fill_like_a_bus(records, found, &random);
        }
        compare(found == 30000 ? "records like a bus's" : "a Pentium II trace", records, found);
    }
    free(records);
    return 0;
}
