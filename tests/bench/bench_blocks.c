/*
 * Records of executed programs in each codec, one thread, members as large as the engine wants: how
 * many bytes a record takes, and how fast records are coded and decoded. `fed` is the encoder of
 * blocks when it gets blocks and addresses instead of records. Times are the best of some rounds.
 */
#include "formats/blocks/block_decoder.h"
#include "formats/blocks/block_encoder.h"
#include "formats/capture/capture_file.h"
#include "tests/support/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define ROUNDS 3
#define MEMBER (4 * CAPTURE_BLOCK_RECORDS)
#define CODECS 4u

static const char *const names[CODECS] = {"blocks", "fed", "programs", "zstd -3"};

struct figures {
    size_t size;
    double encode, decode; /* seconds */
};

/* What all codecs work with, and the blocks of the member for `fed`. */
struct rig {
    struct record_encoder *blocks, *programs;
    struct record_decoder *decoder;
    struct block_encoder *fed;
    struct block_decoder *walker;
    ZSTD_CCtx *compressor;
    ZSTD_DCtx *decompressor;
    uint8_t *out;
    size_t capacity;
    struct record *back;
    struct block_execution *executions;
    uint64_t *addresses;
    size_t count;
};

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench_blocks: %s\n", what);
    exit(3);
}

static struct rig rig_new(void)
{
    struct rig rig = {.blocks = record_encoder_new(RECORD_ENGINE_BLOCKS, -1, NULL),
                      .programs = record_encoder_new(RECORD_ENGINE_PROGRAMS, -1, NULL),
                      .decoder = record_decoder_new(NULL),
                      .fed = block_encoder_new(NULL),
                      .walker = block_decoder_new(NULL),
                      .compressor = ZSTD_createCCtx(),
                      .decompressor = ZSTD_createDCtx(),
                      .capacity = record_encode_bound(MEMBER),
                      .back = malloc(MEMBER * sizeof(struct record)),
                      .executions = malloc(MEMBER * sizeof *rig.executions),
                      .addresses = malloc(MEMBER * sizeof *rig.addresses)};
    rig.out = malloc(rig.capacity);
    must(rig.blocks && rig.programs && rig.decoder && rig.fed && rig.walker && rig.compressor &&
             rig.decompressor && rig.back && rig.executions && rig.addresses && rig.out,
         "no memory");
    return rig;
}

/* Takes apart the member at rig->out, which `blocks` has made, for `fed`. */
static void walk(struct rig *rig, size_t size, size_t records)
{
    struct block_step step;
    size_t at = 0;
    rig->count = 0;
    must(block_walk_begin(rig->walker, rig->out, size, records, NULL) == 0, "a walk");
    while (block_walk_next(rig->walker, &step, NULL) > 0) {
        must(!step.literals, "literals in a program");
        unsigned count = block_walk_template(rig->walker, step.template)->reference_count;
        rig->executions[rig->count++] = (struct block_execution){
            .template = step.template, .processor = step.processor, .attribute = step.attribute};
        memcpy(rig->addresses + at, step.addresses, count * sizeof *step.addresses);
        at += count;
    }
}

/* Codes what the walk has found. */
static size_t encode_fed(struct rig *rig)
{
    size_t size;
    uint32_t check;
    const uint64_t *addresses = rig->addresses;
    block_encoder_begin(rig->fed);
    for (uint32_t i = 0; i < block_walk_templates(rig->walker); i++) {
        const struct block_template *template = block_walk_template(rig->walker, i);
        uint8_t variable[BLOCK_TEMPLATE_RECORDS_MAX];
        for (unsigned k = 0; k < template->reference_count; k++)
            variable[k] = template->references[k].record;
        must(block_encoder_template(rig->fed, template->records, template->record_count, variable,
                                    template->reference_count) == i,
             "a template");
    }
    for (size_t i = 0; i < rig->count; i++) {
        must(block_encoder_execute(rig->fed, &rig->executions[i], addresses) == 0, "an execution");
        addresses += block_walk_template(rig->walker, rig->executions[i].template)->reference_count;
    }
    must(block_encoder_finish(rig->fed, rig->out, rig->capacity, &size, &check, NULL) == 0, "fed");
    return size;
}

static size_t encode(struct rig *rig, unsigned codec, const struct record *records, size_t count,
                     struct record_content *content)
{
    struct record_encoder *encoder = codec == 0 ? rig->blocks : rig->programs;
    content->codec = RECORD_CODEC_BLOCKS;
    switch (codec) {
    case 1:
        return encode_fed(rig);
    case 3:
        return ZSTD_compressCCtx(rig->compressor, rig->out, rig->capacity, records,
                                 count * sizeof *records, 3);
    default:
        must(record_encode(encoder, records, count, rig->out, rig->capacity, content, NULL) == 0,
             names[codec]);
        return content->size;
    }
}

static void decode(struct rig *rig, unsigned codec, size_t size, size_t count,
                   const struct record_content *content)
{
    uint32_t check;
    const size_t bytes = count * sizeof *rig->back;
    must(codec == 3
             ? ZSTD_decompressDCtx(rig->decompressor, rig->back, bytes, rig->out, size) == bytes
             : record_decode(rig->decoder, content->codec, rig->out, size, rig->back, count, &check,
                             NULL) == 0,
         names[codec]);
}

/* One member in one codec, added to the figures. */
static void run(struct rig *rig, unsigned codec, const struct record *records, size_t count,
                struct figures *figures)
{
    struct measure measure;
    struct record_content content;
    measure_begin(&measure);
    size_t size = encode(rig, codec, records, count, &content);
    measure_end(&measure);
    figures->size += size;
    figures->encode += measure.cpu;
    measure_begin(&measure);
    decode(rig, codec, size, count, &content);
    measure_end(&measure);
    figures->decode += measure.cpu;
    must(memcmp(rig->back, records, count * sizeof *records) == 0, "other records");
    if (codec == 0)
        walk(rig, size, count);
}

static void measure_program(struct rig *rig, const char *name, const struct record *records,
                            size_t count)
{
    struct figures best[CODECS] = {{0}};
    for (int round = 0; round < ROUNDS; round++) {
        struct figures figures[CODECS] = {{0}};
        for (size_t at = 0; at < count; at += MEMBER)
            for (unsigned codec = 0; codec < CODECS; codec++)
                run(rig, codec, records + at, count - at < MEMBER ? count - at : MEMBER,
                    &figures[codec]);
        for (unsigned codec = 0; codec < CODECS; codec++) {
            if (round == 0)
                best[codec] = figures[codec];
            if (figures[codec].encode < best[codec].encode)
                best[codec].encode = figures[codec].encode;
            if (figures[codec].decode < best[codec].decode)
                best[codec].decode = figures[codec].decode;
        }
    }
    for (unsigned codec = 0; codec < CODECS; codec++)
        printf("  %-8s %-8s %7.4f bytes a record, %6.1f to 1; coded %6.1f, decoded %6.1f million "
               "records/s\n",
               name, names[codec], (double)best[codec].size / (double)count,
               (double)count * sizeof *records / (double)best[codec].size,
               (double)count / best[codec].encode / 1e6, (double)count / best[codec].decode / 1e6);
}

int main(void)
{
    static const char *const programs[] = {"compute", "gzip", "sqlite3", "cc1"};
    struct rig rig = rig_new();
    must(system("bash \"$TOP/tests/bench/program_records.sh\"") == 0, "program_records.sh failed");
    puts("blocks: records of programs, one core");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char path[32];
        snprintf(path, sizeof path, "%s.byu", programs[i]);
        FILE *file = fopen(path, "rb");
        if (!file)
            continue; /* it is not installed */
        must(fseek(file, 0, SEEK_END) == 0, path);
        size_t count = (size_t)ftell(file) / sizeof(struct record);
        struct record *records = malloc(count * sizeof *records);
        rewind(file);
        must(records && fread(records, sizeof *records, count, file) == count, path);
        fclose(file);
        measure_program(&rig, programs[i], records, count);
        free(records);
    }
    return 0;
}
