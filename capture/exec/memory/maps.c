#include "capture/exec/memory/maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct maps {
    FILE *file;
    char *line;
    size_t capacity;
};

struct maps *maps_open(struct bt_error *error)
{
    struct maps *maps = calloc(1, sizeof *maps);
    if (!maps) {
        bt_fail(error, BT_MEMORY, "no memory to read /proc/self/maps");
        return NULL;
    }
    maps->file = fopen("/proc/self/maps", "re");
    if (!maps->file) {
        bt_fail_errno(error, "/proc/self/maps (is /proc mounted?)");
        free(maps);
        return NULL;
    }
    return maps;
}

void maps_close(struct maps *maps)
{
    if (!maps)
        return;
    fclose(maps->file);
    free(maps->line);
    free(maps);
}

static bool parse(const char *text, struct maps_line *line)
{
    char rights[5];
    int rest = 0;
    int name = 0;
    if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %n%" SCNx64 " %*s %*s %n", &line->start,
               &line->end, rights, &rest, &line->offset, &name) < 4 ||
        name == 0)
        return false;
    line->protection = (rights[0] == 'r' ? PROT_READ : 0u) | (rights[1] == 'w' ? PROT_WRITE : 0u) |
                       (rights[2] == 'x' ? PROT_EXEC : 0u);
    line->shared = rights[3] == 's';
    line->what = text + rest;
    line->name = text + name;
    return true;
}

int maps_next(struct maps *maps, struct maps_line *line, struct bt_error *error)
{
    errno = 0;
    ssize_t length = getline(&maps->line, &maps->capacity, maps->file);
    if (length < 0)
        return feof(maps->file) && !errno ? 0 : bt_fail_errno(error, "/proc/self/maps");
    if (length > 0 && maps->line[length - 1] == '\n')
        maps->line[length - 1] = '\0';
    if (!parse(maps->line, line))
        return bt_fail(error, BT_DATA, "/proc/self/maps has a malformed line: %.80s", maps->line);
    return 1;
}
