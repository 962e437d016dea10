#include "tools/depend/depend_detail.h"

#include "formats/base/grow.h"
#include "formats/text/text_lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 65536u /* longest line: names of C++ templates are long */

static int add_name(struct depend_detail *detail, const char *name, size_t size,
                    struct bt_error *error)
{
    struct detail_name *larger =
        grow_array(detail->names, &detail->capacity, detail->count + 1, sizeof *larger);
    char *copy = malloc(size + 1);
    if (larger)
        detail->names = larger;
    if (!larger || !copy) {
        free(copy);
        return bt_fail(error, BT_MEMORY, "no memory for names of functions");
    }
    memcpy(copy, name, size);
    copy[size] = '\0';
    larger[detail->count++] = (struct detail_name){.name = copy};
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Adds the name in a line, if there is one. */
static int add_line(struct depend_detail *detail, const struct text_line *line,
                    struct bt_error *error)
{
    const char *comment = memchr(line->text, '#', line->size);
    const char *begin = line->text;
    const char *end = comment ? comment : line->text + line->size;
    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    return begin < end ? add_name(detail, begin, (size_t)(end - begin), error) : 0;
}

static int read_lines(struct depend_detail *detail, struct text_reader *reader,
                      struct bt_error *error)
{
    struct text_line line;
    struct text_lines *lines = text_lines_new(reader, NAME_BYTES, error);
    int result = lines ? 0 : error->code;
    while (result == 0 && (result = text_lines_next(lines, &line, error)) > 0)
        result = add_line(detail, &line, error);
    text_lines_free(lines);
    return result;
}

int depend_detail_read(struct depend_detail *detail, const char *path, struct bt_error *error)
{
    *detail = (struct depend_detail){.names = NULL};
    if (!path && access(DEPEND_DETAIL_FILE, F_OK) != 0)
        return 0;
    struct text_reader *reader = text_reader_open(path ? path : DEPEND_DETAIL_FILE, error);
    if (!reader)
        return error->code;
    detail->is_listed = true;
    detail->demangler = demangler_new();
    const int result = read_lines(detail, reader, error);
    text_reader_close(reader);
    return result;
}

void depend_detail_clear(struct depend_detail *detail)
{
    for (size_t i = 0; i < detail->count; i++)
        free(detail->names[i].name);
    free(detail->names);
    if (detail->demangler)
        demangler_free(detail->demangler);
}

static bool is_named(struct depend_detail *detail, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < detail->count; i++)
        if (strcmp(detail->names[i].name, name) == 0)
            found = detail->names[i].found = true;
    return found;
}

bool depend_detail_has(struct depend_detail *detail, const struct function *function,
                       const struct module *own)
{
    if (!detail->is_listed)
        return function->module && function->module == own;
    if (is_named(detail, function->name))
        return true;
    char *demangled =
        detail->demangler && function->symbol ? demangle(detail->demangler, function->name) : NULL;
    const bool found = demangled && is_named(detail, demangled);
    free(demangled);
    return found;
}
