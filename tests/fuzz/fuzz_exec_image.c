/*
 * The head of an executable, as a script and as an ELF file with its table of program headers. It
 * is only read and checked: nothing is mapped. An accepted head must satisfy the loader's
 * assumptions.
 */
#include "capture/exec/memory/program_image.h"
#include "capture/exec/memory/shebang.h"
#include "capture/exec/memory/space_table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_script(const uint8_t *data, size_t size)
{
    struct shebang script;
    size_t head = size < SHEBANG_HEAD_BYTES ? size : SHEBANG_HEAD_BYTES;
    if (shebang_parse(&script, data, head) && strpbrk(script.interpreter, " \t\n"))
        abort();
}

static void check_image(const struct program_image *image, uint64_t file_bytes)
{
    uint64_t end = image->low;
    if (image->segment_count == 0 || image->low % SPACE_PAGE != 0 || image->high >= SPACE_END ||
        image->alignment < SPACE_PAGE || (image->alignment & (image->alignment - 1)) != 0 ||
        image->entry < image->low || image->entry >= image->high)
        abort();
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct program_segment *segment = &image->segments[i];
        if (segment->address < end || segment->file_bytes > segment->memory_bytes ||
            segment->offset + segment->file_bytes > file_bytes || segment->memory_bytes == 0)
            abort();
        end = segment->address + segment->memory_bytes;
    }
    if (end > image->high)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bt_error error = {0, ""};
    struct program_image image;
    check_script(data, size);
    size_t head = size < PROGRAM_HEADER_BYTES ? size : PROGRAM_HEADER_BYTES;
    if (program_image_parse_header(&image, data, head, size, &error) < 0)
        return 0;
    /* a separate block, so that the sanitizer sees an access outside of it */
    size_t bytes = (size_t)image.table_entries * PROGRAM_ENTRY_BYTES;
    uint8_t *table = malloc(bytes);
    if (!table)
        return 0;
    memcpy(table, data + image.table_offset, bytes);
    if (program_image_parse_table(&image, table, size, &error) == 0) {
        check_image(&image, size);
        if (image.interpreter_bytes)
            program_image_check_interpreter(&image, data + image.interpreter_offset, &error);
    } else if (error.message[0] == '\0') {
        abort();
    }
    free(table);
    return 0;
}
