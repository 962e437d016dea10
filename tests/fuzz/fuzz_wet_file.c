/*
 * Whole WET files, made of the input: an element for each member, of the kind (1 byte), the number
 * of its instructions, the size of its content (2 bytes each, little endian), and the content
 * before compression. So sizes and check sums are right, and all else is the input's. The file is
 * opened, checked and printed. The text does not depend on the memory; that of a good file is good.
 */
#define _GNU_SOURCE /* memfd_create */
#include "formats/base/bytes.h"
#include "formats/base/file_io.h"
#include "tools/wet/wet_check.h"
#include "tools/wet/wet_print.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ELEMENT_BYTES  5u
#define EXECUTIONS_MAX 100u /* of a block in a chunk: files of few bytes may claim any number */
#define TEXT_MAX       (1u << 22) /* longer texts are not compared */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int good)
{
    if (!good)
        abort();
}

/* --- the file --------------------------------------------------------------------------------- */

static void make_file(const uint8_t *data, size_t size, struct wet_bytes *file)
{
    static struct deflate_encoder *encoder;
    struct bt_error error;
    uint64_t first = 0;
    if (!encoder)
        encoder = deflate_encoder_new(DEFLATE_ZLIB, 1, &error);
    must(encoder != NULL);
    while (size >= ELEMENT_BYTES) {
        struct wet_member member = {.kind = (enum wet_member_kind)(1 + data[0] % 4),
                                    .first = first,
                                    .instructions = bytes_get16(data + 1)};
        size_t content = bytes_get16(data + 3);
        data += ELEMENT_BYTES;
        size -= ELEMENT_BYTES;
        if (content > size)
            content = size;
        const struct wet_bytes bytes = {.bytes = (uint8_t *)(uintptr_t)data, .size = content};
        must(wet_member_put(&member, encoder, &bytes, file, &error) == 0);
        first += member.kind == WET_MEMBER_CHUNK ? member.instructions : 0;
        data += content;
        size -= content;
    }
}

/* The path of a file with these bytes. */
static const char *write_file(const struct wet_bytes *bytes)
{
    static char path[64];
    static int descriptor = -1;
    if (descriptor < 0)
        descriptor = memfd_create("wet", MFD_CLOEXEC);
    must(descriptor >= 0 && ftruncate(descriptor, 0) == 0);
    must(bytes->size == 0 || file_write_at(descriptor, bytes->bytes, bytes->size, 0) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return path;
}

/* Limits the time that a file may take. */
static void limit_executions(struct wet_file *file)
{
    for (size_t i = 0; i < file->place_count; i++)
        for (size_t k = 0; k < file->places[i].execution_count; k++)
            if (file->places[i].executions[k].count > EXECUTIONS_MAX)
                file->places[i].executions[k].count = EXECUTIONS_MAX;
}

/* --- the text --------------------------------------------------------------------------------- */

static struct text_writer *print(struct wet_trace *trace, size_t memory,
                                 struct wet_printed *printed)
{
    const struct wet_print_settings settings = {.memory = memory, .progress = NULL};
    struct bt_error error;
    struct text_writer *out = text_writer_new_memory(&error);
    must(out && wet_print(trace, out, &settings, printed, &error) == 0);
    return out;
}

static void check_text(struct wet_trace *trace, const struct wet_check *check, bool is_good)
{
    struct wet_printed printed;
    struct bt_error error;
    size_t size, other;
    struct text_writer *out = print(trace, WET_PRINT_MEMORY, &printed);
    const char *text = text_writer_memory(out, &size);
    if (size <= TEXT_MAX) {
        struct text_writer *again = print(trace, 20000, &printed);
        const char *same = text_writer_memory(again, &other);
        must(size == other && memcmp(text, same, size) == 0);
        text_writer_free(again);
    }
    if (is_good) {
        struct wet_check found;
        struct text_reader *reader = text_reader_from_memory(text, size, "text", &error);
        must(reader && wet_check_text(reader, &found, &error) == 0);
        must(found.known_instructions == check->known_instructions);
        must(found.dependences == check->dependences);
        text_reader_close(reader);
    }
    text_writer_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wet_bytes file = {.bytes = NULL};
    struct bt_error error = {.message = ""};
    struct wet_trace trace;
    struct wet_check check;
    make_file(data, size, &file);
    const int result = wet_trace_open(&trace, write_file(&file), &error);
    must(result == 0 || (result == BT_DATA && error.message[0]));
    if (result == 0) {
        limit_executions(&trace.file);
        const int checked = wet_check_binary(&trace, &check, NULL, NULL, &error);
        must(checked == 0 || (checked == BT_DATA && error.message[0]));
        check_text(&trace, &check, checked == 0);
    }
    wet_trace_close(&trace);
    free(file.bytes);
    return 0;
}
