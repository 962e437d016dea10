#include "tools/dcfg/path_text.h"

#include "formats/base/grow.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct path_line {
    uint32_t place; /* of its file: order on the path */
    uint32_t file, line;
    const char *name;
};

__attribute__((format(printf, 2, 3))) static int append(struct path_text *text, const char *format,
                                                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *grown = grow_array(text->text, &text->capacity, text->used + (size_t)size + 1, 1);
    if (!grown)
        return BT_MEMORY;
    text->text = grown;
    va_start(arguments, format);
    vsnprintf(text->text + text->used, (size_t)size + 1, format, arguments);
    va_end(arguments);
    text->used += (size_t)size;
    return 0;
}

static int begin(struct path_text *text)
{
    text->used = 0;
    return append(text, "%s", "");
}

int path_text_steps(struct path_text *text, const struct dcfg_process *process,
                    const struct hot_step *steps, uint32_t count)
{
    int result = begin(text);
    for (uint32_t i = 0; i < count && result == 0; i++)
        result = append(text, steps[i].loop ? "%s[0x%" PRIx64 "]" : "%s0x%" PRIx64,
                        i > 0 ? " " : "", dcfg_block_address(process, steps[i].block));
    return result;
}

int path_text_blocks(struct path_text *text, const struct dcfg_process *process,
                     const uint32_t *blocks, uint32_t count)
{
    int result = begin(text);
    for (uint32_t i = 0; i < count && result == 0; i++)
        result =
            append(text, "%s0x%" PRIx64, i > 0 ? " " : "", dcfg_block_address(process, blocks[i]));
    return result;
}

/* --- lines ----------------------------------------------------------------------------------- */

/* By file, in the order of first use, then by line. */
static int compare_lines(const void *left, const void *right)
{
    const struct path_line *a = left;
    const struct path_line *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->line != b->line ? (a->line < b->line ? -1 : 1) : 0;
}

static int add_line(struct path_text *text, const struct code_location *location)
{
    struct path_line line = {.place = (uint32_t)text->line_count,
                             .file = location->file_number,
                             .line = location->line,
                             .name = location->file};
    for (size_t i = 0; i < text->line_count; i++)
        if (text->lines[i].file == line.file) {
            line.place = text->lines[i].place;
            break;
        }
    struct path_line *lines =
        grow_array(text->lines, &text->line_capacity, text->line_count + 1, sizeof *lines);
    if (!lines)
        return BT_MEMORY;
    text->lines = lines;
    lines[text->line_count++] = line;
    return 0;
}

static int add_block(struct path_text *text, const struct view *view, uint32_t block)
{
    const struct dcfg_block *row = &view->process->blocks[block];
    const uint32_t image = dcfg_image_of_block(view->process, block);
    const uint64_t end = row->offset + row->size;
    struct code_location location;
    for (uint64_t at = row->offset; at < end; at = location.line_end) {
        names_at(view->names, image, at, &location);
        if (location.file && add_line(text, &location) != 0)
            return BT_MEMORY;
        if (location.line_end <= at)
            break;
    }
    return 0;
}

/* The lines from the first one that are consecutive; returns the index after the last one. */
static size_t end_of_run(const struct path_line *lines, size_t first, size_t count)
{
    size_t i = first + 1;
    while (i < count && lines[i].place == lines[first].place &&
           lines[i].line - lines[i - 1].line <= 1)
        i++;
    return i;
}

int path_text_lines(struct path_text *text, const struct view *view, const struct hot_step *steps,
                    uint32_t count)
{
    int result = begin(text);
    text->line_count = 0;
    for (uint32_t i = 0; i < count && result == 0; i++)
        if (!steps[i].loop)
            result = add_block(text, view, steps[i].block);
    const struct path_line *lines = text->lines;
    if (text->line_count > 0)
        qsort(text->lines, text->line_count, sizeof *lines, compare_lines);
    for (size_t i = 0, end; i < text->line_count && result == 0; i = end) {
        end = end_of_run(lines, i, text->line_count);
        if (i > 0 && lines[i].place == lines[i - 1].place)
            result = append(text, ",%" PRIu32, lines[i].line);
        else
            result = append(text, "%s%s:%" PRIu32, i > 0 ? " " : "", lines[i].name, lines[i].line);
        if (result == 0 && lines[end - 1].line != lines[i].line)
            result = append(text, "-%" PRIu32, lines[end - 1].line);
    }
    return result;
}

/* --- for people ------------------------------------------------------------------------------ */

const char *path_text_short(struct path_text *text, size_t size)
{
    if (!text->text || text->used <= size)
        return text->text;
    size_t kept = size;
    while (kept > 0 && text->text[kept] != ' ' && text->text[kept] != ',')
        kept--;
    kept = kept > 0 ? kept : text->used;
    free(text->brief);
    text->brief = malloc(kept + sizeof " ...");
    if (text->brief) {
        memcpy(text->brief, text->text, kept);
        strcpy(text->brief + kept, kept < text->used ? " ..." : "");
    }
    return text->brief;
}

void path_text_clear(struct path_text *text)
{
    free(text->text);
    free(text->brief);
    free(text->lines);
    *text = (struct path_text){0};
}
