#include "tests/support/wet_made.h"

#include "formats/wet/wet_chunk.h"
#include "formats/wet/wet_file.h"
#include "formats/wet/wet_labels.h"
#include "formats/wet/wet_sequence.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_BEGIN = 1, BLOCK_LOOP, BLOCK_END };

struct making {
    struct wet_code code;
    struct wet_chunk chunk;
    struct wet_sequence sequence;
    struct wet_context context;
    struct wet_port port; /* of the load */
    struct wet_bytes labels;
    uint64_t counts[WET_MADE_IDS + 1]; /* instances so far */
    uint64_t instructions, blocks;     /* all; those of the chunk: */
    uint64_t chunk_instructions;
};

static void must(int good)
{
    if (!good)
        abort();
}

static void add_code(struct wet_code *code)
{
    static const struct {
        uint8_t size, line, bytes[5];
    } instructions[WET_MADE_IDS] = {{2, 3, {0x31, 0xc0}}, {5, 4, {0xb9, 3, 0, 0, 0}},
                                    {2, 5, {0x03, 0x07}}, {2, 6, {0x89, 0x07}},
                                    {2, 7, {0xff, 0xc9}}, {2, 7, {0x75, 0xf8}},
                                    {2, 0, {0x0f, 0x05}}};
    static const uint32_t ids[] = {1, 2, 3, 4, 5, 6, 7};
    uint64_t address = WET_MADE_START;
    must(wet_code_init(code) == 0);
    must(wet_code_add_function(code, WET_MADE_START, "main") == 1);
    must(wet_code_add_function(code, WET_MADE_START + 15, NULL) == 2);
    must(wet_code_add_file(code, "/src/made one.c") == 1);
    for (unsigned i = 0; i < WET_MADE_IDS; i++) {
        struct wet_instruction one = {.address = address,
                                      .function = i + 1 < WET_MADE_IDS ? 1 : 2,
                                      .file = i + 1 < WET_MADE_IDS,
                                      .line = instructions[i].line,
                                      .size = instructions[i].size};
        memcpy(one.bytes, instructions[i].bytes, one.size);
        must(wet_code_add_instruction(code, &one) == (int64_t)i + 1);
        address += one.size;
    }
    must(wet_code_add_block(code, ids, 6) == BLOCK_BEGIN);
    must(wet_code_add_block(code, ids + 2, 4) == BLOCK_LOOP);
    must(wet_code_add_block(code, ids + 6, 1) == BLOCK_END);
    must(wet_code_add_edge(code, 0, 1) == 0);
    must(wet_code_add_edge(code, 6, 3) == 1);
    must(wet_code_add_edge(code, 6, 7) == 2);
}

/* The load depends on the store of the iteration before. */
static void put_label(struct making *making)
{
    const uint64_t reader = making->counts[3] - 1;
    must(wet_port_put(&making->port, reader, reader > 0 ? 4 : 0, reader > 0 ? reader - 1 : 0,
                      making->counts, &making->labels) == 0);
}

static void execute(struct making *making, uint32_t number)
{
    struct wet_block *block = &making->code.blocks[number];
    const uint32_t *ids = wet_code_ids(&making->code, number);
    must(wet_sequence_reserve(&making->sequence, 64) == 0);
    wet_sequence_put(&making->sequence, &making->context, number + WET_FIRST_BLOCK - 1,
                     &making->chunk.streams[WET_STREAM_SEQUENCE]);
    block->executions++;
    for (uint32_t i = 0; i < block->count; i++)
        making->counts[ids[i]]++;
    if (number != BLOCK_END)
        put_label(making);
    making->instructions += block->count;
    making->chunk_instructions += block->count;
    making->blocks++;
}

/* The system call returns. */
static void put_result(struct making *making)
{
    wet_sequence_put(&making->sequence, &making->context, WET_EVENT_RESULT,
                     &making->chunk.streams[WET_STREAM_SEQUENCE]);
    wet_bytes_put(&making->chunk.streams[WET_STREAM_EVENTS], 0);
}

static void end_chunk(struct making *making, struct wet_writer *writer)
{
    struct bt_error error;
    uint32_t last = 0;
    must(wet_port_finish(&making->port, &making->labels) == 0);
    wet_chunk_put_labels(&making->chunk, 3, 0, &making->labels, &last);
    must(wet_sequence_finish(&making->sequence, &making->chunk.streams[WET_STREAM_SEQUENCE]) == 0);
    must(wet_writer_put(writer, &making->code, &making->chunk, making->chunk_instructions,
                        &error) == 0);
    wet_chunk_empty(&making->chunk);
    wet_sequence_reset(&making->sequence);
    wet_port_reset(&making->port);
    making->context = (struct wet_context){{0}};
    making->labels.size = 0;
    making->chunk_instructions = 0;
}

static void read_back(int descriptor, struct wet_bytes *file)
{
    uint8_t bytes[4096];
    ssize_t count;
    file->size = 0;
    must(lseek(descriptor, 0, SEEK_SET) == 0);
    while ((count = read(descriptor, bytes, sizeof bytes)) > 0)
        wet_bytes_append(file, bytes, (size_t)count);
    must(count == 0 && !file->out_of_memory);
}

void wet_made_loop(struct wet_bytes *file, unsigned iterations, unsigned first)
{
    const struct wet_header header = {.has_values = false, .command = "made 1"};
    struct making making = {.instructions = 0};
    struct bt_error error;
    FILE *stream = tmpfile();
    must(stream != NULL);
    struct wet_writer *writer = wet_writer_new(fileno(stream), &header, &error);
    must(writer && wet_sequence_init(&making.sequence) == 0);
    add_code(&making.code);
    for (unsigned i = 0; i < iterations; i++) {
        execute(&making, i == 0 ? BLOCK_BEGIN : BLOCK_LOOP);
        if (i + 1 == first)
            end_chunk(&making, writer);
    }
    execute(&making, BLOCK_END);
    put_result(&making);
    end_chunk(&making, writer);
    const struct wet_closing closing = {.ending = WET_EXITED,
                                        .value = 0,
                                        .instructions = making.instructions,
                                        .blocks = making.blocks};
    must(wet_writer_close(writer, &closing, &error) == 0);
    read_back(fileno(stream), file);
    wet_writer_free(writer);
    fclose(stream);
    wet_code_clear(&making.code);
    wet_chunk_clear(&making.chunk);
    wet_sequence_clear(&making.sequence);
    wet_port_clear(&making.port);
    free(making.labels.bytes);
}
