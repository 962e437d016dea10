/*
 * Codecs of the records of a capture, both ways, in one thread: ours, with the check that members
 * have, beside zstd and zlib (what gzip runs) on the same blocks of the same records. Times are the
 * best of some rounds, in which all codecs take turns.
 */
#include "formats/capture/capture_file.h"
#include "tests/support/large_trace.h"
#include "tests/support/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>
#include <zstd.h>

#define RECORDS     ((size_t)12 * CAPTURE_BLOCK_RECORDS)
#define ROUNDS      5
#define SMALL_BLOCK 16384u /* of a capture that is to be read while it runs */

enum library { OURS, ZSTD, ZLIB };

struct codec {
    const char *name;
    enum library library;
    enum record_engine engine;
    int level;
};

static const struct codec codecs[] = {
    {"columns 1", OURS, RECORD_ENGINE_COLUMNS, 1}, {"columns 2", OURS, RECORD_ENGINE_COLUMNS, 2},
    {"columns 3", OURS, RECORD_ENGINE_COLUMNS, 3}, {"columns 4", OURS, RECORD_ENGINE_COLUMNS, 4},
    {"records", OURS, RECORD_ENGINE_RECORDS, -1},  {"zstd -1", ZSTD, RECORD_ENGINE_BEST, 1},
    {"zstd -3", ZSTD, RECORD_ENGINE_BEST, 3},      {"gzip -1", ZLIB, RECORD_ENGINE_BEST, 1}};

#define CODECS (sizeof codecs / sizeof *codecs)

/* What a codec has made of all blocks. */
struct result {
    size_t size;
    double compress, decompress; /* seconds */
};

/* Shared by all codecs. */
struct room {
    uint8_t *out;
    size_t capacity;
    struct record *back;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_columns: %s\n", what);
    exit(3);
}

/* Processor time in seconds. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* --- one block ------------------------------------------------------------------------------- */

/* The state of a codec. */
struct machine {
    const struct codec *codec;
    struct record_encoder *encoder;
    struct record_decoder *decoder;
    ZSTD_CCtx *compressor;
    ZSTD_DCtx *decompressor;
    struct record_content content; /* of the block; of a library, only the size */
};

static void start(struct machine *machine, const struct codec *codec)
{
    *machine = (struct machine){.codec = codec};
    machine->encoder =
        record_encoder_new(codec->engine, codec->library == OURS ? codec->level : -1, NULL);
    machine->decoder = record_decoder_new(NULL);
    machine->compressor = ZSTD_createCCtx();
    machine->decompressor = ZSTD_createDCtx();
    if (!machine->encoder || !machine->decoder || !machine->compressor || !machine->decompressor)
        die("no memory");
}

static void stop(struct machine *machine)
{
    record_encoder_free(machine->encoder);
    record_decoder_free(machine->decoder);
    ZSTD_freeCCtx(machine->compressor);
    ZSTD_freeDCtx(machine->decompressor);
}

static void compress_block(struct machine *machine, const struct record *records, size_t count,
                           const struct room *room)
{
    const size_t size = count * RECORD_BYTES;
    uLongf zlib_size = (uLongf)room->capacity;
    struct bt_error error;
    switch (machine->codec->library) {
    case OURS:
        if (record_encode(machine->encoder, records, count, room->out, room->capacity,
                          &machine->content, &error) < 0)
            die(error.message);
        break;
    case ZSTD:
        machine->content.size = ZSTD_compressCCtx(machine->compressor, room->out, room->capacity,
                                                  records, size, machine->codec->level);
        break;
    case ZLIB:
        if (compress2(room->out, &zlib_size, (const Bytef *)records, (uLong)size,
                      machine->codec->level) != Z_OK)
            die("zlib failed");
        machine->content.size = zlib_size;
    }
}

static void decompress_block(struct machine *machine, size_t count, const struct room *room)
{
    const size_t size = count * RECORD_BYTES;
    uLongf zlib_size = (uLongf)size;
    uint32_t check;
    struct bt_error error;
    switch (machine->codec->library) {
    case OURS:
        if (record_decode(machine->decoder, machine->content.codec, room->out,
                          machine->content.size, room->back, count, &check, &error) < 0 ||
            check != machine->content.check)
            die("records are damaged");
        break;
    case ZSTD:
        if (ZSTD_decompressDCtx(machine->decompressor, room->back, size, room->out,
                                machine->content.size) != size)
            die("zstd failed");
        break;
    case ZLIB:
        if (uncompress((Bytef *)room->back, &zlib_size, room->out, (uLong)machine->content.size) !=
            Z_OK)
            die("zlib failed");
    }
}

/* --- all blocks ------------------------------------------------------------------------------ */

static struct result run(struct machine *machine, const struct record *records, size_t count,
                         size_t block, const struct room *room)
{
    struct result result = {0};
    for (size_t at = 0; at < count; at += block) {
        const size_t left = count - at;
        const size_t here = left < block ? left : block;
        const double begin = now();
        compress_block(machine, records + at, here, room);
        const double middle = now();
        decompress_block(machine, here, room);
        result.decompress += now() - middle;
        result.compress += middle - begin;
        result.size += machine->content.size;
        if (memcmp(room->back, records + at, here * sizeof *records) != 0)
            die("other records come back");
    }
    return result;
}

static void compare(const char *what, const struct record *records, size_t count, size_t block,
                    const struct room *room)
{
    struct machine machines[CODECS];
    struct result best[CODECS] = {{.size = 0}};
    const double megabytes = (double)count * RECORD_BYTES / 1e6;
    for (size_t i = 0; i < CODECS; i++)
        start(&machines[i], &codecs[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < CODECS; i++) {
            const struct result result = run(&machines[i], records, count, block, room);
            if (round == 0)
                best[i] = result;
            if (result.compress < best[i].compress)
                best[i].compress = result.compress;
            if (result.decompress < best[i].decompress)
                best[i].decompress = result.decompress;
        }
    printf("%s, %zu records in blocks of %zu\n", what, count, block);
    for (size_t i = 0; i < CODECS; i++) {
        printf("  %-9s  ratio %6.2f  compress %5.0f MB/s (%5.1f M records/s)  decompress %5.0f "
               "MB/s\n",
               codecs[i].name, megabytes * 1e6 / (double)best[i].size, megabytes / best[i].compress,
               megabytes / RECORD_BYTES / best[i].compress, megabytes / best[i].decompress);
        stop(&machines[i]);
    }
}

int main(void)
{
    const char *shared = getenv("SHARED");
    char path[4096];
    uint64_t random = 1;
    struct room room = {.capacity = capture_data_member_bound(CAPTURE_BLOCK_RECORDS)};
    struct record *records = malloc(RECORDS * sizeof *records);
    room.out = malloc(room.capacity);
    room.back = malloc(CAPTURE_BLOCK_RECORDS * sizeof *room.back);
    if (!records || !room.out || !room.back)
        die("no memory");
    snprintf(path, sizeof path, "%s/data/pentium2.byu", shared ? shared : "../shared");
    FILE *file = fopen(path, "rb");
    if (file) {
        const size_t count = fread(records, sizeof *records, RECORDS, file);
        fclose(file);
        compare("a Pentium II trace", records, count, CAPTURE_BLOCK_RECORDS, &room);
        compare("a Pentium II trace", records, count, SMALL_BLOCK, &room);
        large_trace_fill(records, RECORDS, path);
        compare("the trace enlarged", records, RECORDS, CAPTURE_BLOCK_RECORDS, &room);
    }
    records_fill_like_a_bus(records, RECORDS, &random);
    compare("random records like a bus", records, RECORDS, CAPTURE_BLOCK_RECORDS, &room);
    free(room.out);
    free(room.back);
    free(records);
    return 0;
}
