#include "capture/exec/memory/space_text.h"

#include "capture/exec/memory/maps.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#define NAME_COLUMN 73 /* column of names in the kernel's format */

/* Device and inode, between the offset and the name of a line. */
static void split(const struct maps_line *line, char *device, size_t size, const char **name)
{
    size_t skip = strcspn(line->what, " ");
    skip += strspn(line->what + skip, " ");
    size_t length = (size_t)(line->name - line->what) - skip;
    if (length > size - 1)
        length = size - 1;
    memcpy(device, line->what + skip, length);
    device[length] = '\0';
    while (length > 0 && device[length - 1] == ' ')
        device[--length] = '\0';
    *name = line->name;
}

static void write_piece(FILE *stream, const struct maps_line *line,
                        const struct space_mapping *piece)
{
    char device[64];
    const char *name;
    split(line, device, sizeof device, &name);
    bool file = name[0] == '/';
    if (piece->flags & SPACE_STACK)
        name = "[stack]";
    else if (piece->flags & SPACE_HEAP)
        name = "[heap]";
    int column = fprintf(stream, "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64 " %s",
                         piece->start, piece->end, piece->protection & PROT_READ ? 'r' : '-',
                         piece->protection & PROT_WRITE ? 'w' : '-',
                         piece->protection & PROT_EXEC ? 'x' : '-', line->shared ? 's' : 'p',
                         file ? line->offset + (piece->start - line->start) : line->offset, device);
    if (name[0])
        fprintf(stream, "%*s%s", column < NAME_COLUMN ? NAME_COLUMN - column : 1, "", name);
    else
        fputc(' ', stream);
    fputc('\n', stream);
}

int space_write_text(struct space *space, FILE *stream, struct bt_error *error)
{
    struct maps_line line;
    struct maps *maps = maps_open(error);
    if (!maps)
        return error ? error->code : BT_IO;
    int result;
    while ((result = maps_next(maps, &line, error)) > 0 && line.start < SPACE_END) {
        struct space_mapping piece;
        for (uint64_t at = line.start; space_next(space, &at, line.end, &piece);)
            write_piece(stream, &line, &piece);
    }
    maps_close(maps);
    return result < 0 ? result : 0;
}
