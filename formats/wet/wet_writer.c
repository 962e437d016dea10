/* Writing WET files: doc/wet-file.md. */
#include "formats/base/file_io.h"
#include "formats/wet/wet_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFLATE_LEVEL 1 /* streams of numbers gain little from more */

struct wet_writer {
    int descriptor;
    struct deflate_encoder *encoder;
    struct wet_bytes content, members;
    uint64_t instructions, bytes;
};

/* Adds a member with the content. */
static int add_member(struct wet_writer *writer, enum wet_member_kind kind, uint64_t instructions,
                      struct bt_error *error)
{
    struct wet_member member = {
        .kind = kind, .first = writer->instructions, .instructions = instructions};
    const int result =
        wet_member_put(&member, writer->encoder, &writer->content, &writer->members, error);
    writer->content.size = 0;
    return result;
}

/* Writes the members that were added. A write that fails may have written, all or a part: what the
 * file has of it is taken back, unless it is a pipe. */
static int flush(struct wet_writer *writer, struct bt_error *error)
{
    size_t done = 0;
    const size_t size = writer->members.size;
    const off_t at = lseek(writer->descriptor, 0, SEEK_CUR);
    struct stat before;
    const bool ends = at >= 0 && fstat(writer->descriptor, &before) == 0 && before.st_size == at;
    const int result = file_write(writer->descriptor, writer->members.bytes, size, &done);
    writer->members.size = 0;
    if (result < 0)
        bt_fail_errno(error, "cannot write the WET file");
    if (result < 0 && ends && ftruncate(writer->descriptor, at) == 0 &&
        lseek(writer->descriptor, at, SEEK_SET) == at)
        done = 0;
    writer->bytes += done;
    return result < 0 ? error->code : 0;
}

static int put_header(struct wet_writer *writer, const struct wet_header *header,
                      struct bt_error *error)
{
    const size_t size = strnlen(header->command, WET_COMMAND_BYTES);
    wet_bytes_put(&writer->content, header->has_values);
    wet_bytes_put(&writer->content, size);
    wet_bytes_append(&writer->content, (const uint8_t *)header->command, size);
    const int result = add_member(writer, WET_MEMBER_HEADER, 0, error);
    return result == 0 ? flush(writer, error) : result;
}

struct wet_writer *wet_writer_new(int descriptor, const struct wet_header *header,
                                  struct bt_error *error)
{
    struct wet_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        bt_fail(error, BT_MEMORY, "no memory to write a WET file");
        return NULL;
    }
    writer->descriptor = descriptor;
    /* Two recordings of one execution are equal, which ISA-L would not ensure. */
    writer->encoder = deflate_encoder_new(DEFLATE_LIBDEFLATE, DEFLATE_LEVEL, error);
    if (writer->encoder && put_header(writer, header, error) == 0)
        return writer;
    wet_writer_free(writer);
    return NULL;
}

void wet_writer_free(struct wet_writer *writer)
{
    if (!writer)
        return;
    deflate_encoder_free(writer->encoder);
    free(writer->content.bytes);
    free(writer->members.bytes);
    free(writer);
}

int wet_writer_put(struct wet_writer *writer, struct wet_code *code, const struct wet_chunk *chunk,
                   uint64_t instructions, struct bt_error *error)
{
    if (wet_code_put(code, &writer->content) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for a chunk of the trace");
    int result = add_member(writer, WET_MEMBER_CODE, instructions, error);
    if (result == 0 && wet_chunk_put(chunk, &writer->content) < 0)
        result = bt_fail(error, BT_MEMORY, "no memory for a chunk of the trace");
    if (result == 0)
        result = add_member(writer, WET_MEMBER_CHUNK, instructions, error);
    writer->instructions += instructions;
    return result == 0 ? flush(writer, error) : result;
}

int wet_writer_close(struct wet_writer *writer, const struct wet_closing *closing,
                     struct bt_error *error)
{
    struct wet_bytes *to = &writer->content;
    const struct wet_instruction *fault = &closing->fault;
    wet_bytes_put(to, closing->ending);
    wet_bytes_put(to, closing->value);
    wet_bytes_put(to, closing->thread);
    wet_bytes_put(to, closing->instructions);
    wet_bytes_put(to, closing->blocks);
    wet_bytes_put(to, closing->unknown_calls);
    wet_bytes_put(to, closing->has_fault);
    if (closing->has_fault) {
        wet_bytes_put(to, fault->address);
        wet_bytes_put(to, fault->function);
        wet_bytes_put(to, fault->file);
        wet_bytes_put(to, fault->line);
        wet_bytes_put(to, fault->size);
        wet_bytes_append(to, fault->bytes, fault->size);
    }
    const int result = add_member(writer, WET_MEMBER_CLOSING, 0, error);
    return result == 0 ? flush(writer, error) : result;
}

uint64_t wet_writer_bytes(const struct wet_writer *writer)
{
    return writer->bytes;
}
