#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "capture/exec/memory/modules.h"

#include "capture/exec/memory/maps.h"
#include "capture/exec/memory/program_image.h"
#include "formats/base/grow.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Identifies a file even if its path now names another one. */
struct file_identity {
    dev_t device;
    ino_t inode;
    struct timespec changed;
};

struct known_module {
    struct module module;
    struct file_identity file;
    bool seen; /* in the current refresh */
    size_t span_capacity;
    uint64_t began; /* number of the change that added it */
};

struct modules {
    struct space *space;
    pthread_mutex_t mutex;
    struct known_module **entries;
    size_t count, capacity;
    uint64_t time; /* instructions put so far */
    uint64_t changes;
    uint64_t first_gone; /* number of the change that unmapped a module first; 0: none was */
};

struct modules *modules_new(struct space *space, struct bt_error *error)
{
    struct modules *modules = calloc(1, sizeof *modules);
    if (!modules) {
        bt_fail(error, BT_MEMORY, "no memory for the list of loaded files");
        return NULL;
    }
    modules->space = space;
    pthread_mutex_init(&modules->mutex, NULL);
    return modules;
}

void modules_free(struct modules *modules)
{
    if (!modules)
        return;
    for (size_t i = 0; i < modules->count; i++) {
        free((char *)(uintptr_t)modules->entries[i]->module.path);
        free(modules->entries[i]->module.spans);
        free(modules->entries[i]);
    }
    free(modules->entries);
    pthread_mutex_destroy(&modules->mutex);
    free(modules);
}

/* --- where a file was loaded ------------------------------------------------------------------ */

static bool read_image(int file, struct program_image *image, struct file_identity *identity)
{
    struct stat status;
    uint8_t head[PROGRAM_HEADER_BYTES];
    struct bt_error error;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
        pread(file, head, sizeof head, 0) != (ssize_t)sizeof head ||
        program_image_parse_header(image, head, sizeof head, (uint64_t)status.st_size, &error) != 0)
        return false;
    *identity = (struct file_identity){status.st_dev, status.st_ino, status.st_mtim};
    size_t size = (size_t)image->table_entries * PROGRAM_ENTRY_BYTES;
    uint8_t *table = malloc(size);
    bool good = table && pread(file, table, size, (off_t)image->table_offset) == (ssize_t)size &&
                program_image_parse_segments(image, table, (uint64_t)status.st_size, &error) == 0;
    free(table);
    return good;
}

/* Finds the address of the first page of an ELF file, whose code at an offset is mapped at an
 * address, and identifies the file. */
static bool find_load_address(const char *path, uint64_t address, uint64_t offset,
                              uint64_t *load_address, struct file_identity *identity)
{
    const uint64_t mask = SPACE_PAGE - 1;
    struct program_image image = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool good = file >= 0 && read_image(file, &image, identity);
    if (file >= 0)
        close(file);
    for (size_t i = 0; good && i < image.segment_count; i++) {
        const struct program_segment *segment = &image.segments[i];
        uint64_t start = segment->offset & ~mask;
        if (!(segment->protection & PROT_EXEC) || offset < start ||
            offset >= segment->offset + segment->file_bytes)
            continue;
        *load_address = address - (offset - start) - (segment->address & ~mask) + image.low;
        return true;
    }
    return false;
}

/* --- current mappings ------------------------------------------------------------------------- */

static bool is_same_file(const struct file_identity *one, const struct file_identity *other)
{
    return one->device == other->device && one->inode == other->inode &&
           one->changed.tv_sec == other->changed.tv_sec &&
           one->changed.tv_nsec == other->changed.tv_nsec;
}

/* The module is mapped from now on. Without memory its times are lost. */
static void begin_span(struct modules *modules, struct known_module *entry)
{
    struct module *module = &entry->module;
    modules->changes++;
    if (module->span_count == MODULE_SPANS_MAX) {
        module->spans[MODULE_SPANS_MAX - 1].last = UINT64_MAX;
        return;
    }
    struct module_span *larger =
        grow_array(module->spans, &entry->span_capacity, module->span_count + 1, sizeof *larger);
    if (!larger)
        return;
    module->spans = larger;
    larger[module->span_count++] = (struct module_span){modules->time + 1, UINT64_MAX};
}

/* The module is no longer mapped. A span without instructions is none. */
static void end_span(struct modules *modules, struct module *module)
{
    module->gone = true;
    modules->changes++;
    if (modules->first_gone == 0)
        modules->first_gone = modules->changes;
    if (module->span_count == 0)
        return;
    struct module_span *span = &module->spans[module->span_count - 1];
    span->last = modules->time;
    if (span->first > span->last)
        module->span_count--;
}

static void add(struct modules *modules, const char *path, const struct file_identity *file,
                uint64_t load_address, uint64_t start, uint64_t end)
{
    struct known_module *entry = calloc(1, sizeof *entry);
    char *copy = strdup(path);
    struct known_module **larger =
        grow_array(modules->entries, &modules->capacity, modules->count + 1, sizeof *larger);
    if (larger)
        modules->entries = larger;
    if (!entry || !copy || !larger) {
        free(copy);
        free(entry);
        return;
    }
    entry->file = *file;
    entry->module.path = copy;
    entry->module.load_address = load_address;
    entry->module.start = start;
    entry->module.end = end;
    entry->seen = true;
    larger[modules->count++] = entry;
    begin_span(modules, entry);
    entry->began = modules->changes;
}

/* A file that is mapped again at its former address is the same module: programs may load and
 * unload a file repeatedly. */
static bool extend(struct modules *modules, struct known_module *entry,
                   const struct file_identity *file, uint64_t start, uint64_t end)
{
    struct module *module = &entry->module;
    if (module->gone && !is_same_file(&entry->file, file))
        return false;
    if (module->gone)
        begin_span(modules, entry);
    module->start = !module->gone && module->start < start ? module->start : start;
    module->end = !module->gone && module->end > end ? module->end : end;
    module->gone = false;
    return entry->seen = true;
}

/* Adds code of a file, mapped from an offset on. */
static void see(struct modules *modules, const char *path, uint64_t start, uint64_t end,
                uint64_t offset)
{
    uint64_t load_address;
    struct file_identity file;
    for (size_t i = 0; i < modules->count; i++) {
        struct known_module *entry = modules->entries[i];
        if (!entry->module.gone && start >= entry->module.start && end <= entry->module.end &&
            strcmp(entry->module.path, path) == 0) {
            entry->seen = true;
            return;
        }
    }
    if (!find_load_address(path, start, offset, &load_address, &file))
        return;
    for (size_t i = 0; i < modules->count; i++) {
        struct known_module *entry = modules->entries[i];
        if (entry->module.load_address == load_address && strcmp(entry->module.path, path) == 0 &&
            extend(modules, entry, &file, start, end))
            return;
    }
    add(modules, path, &file, load_address, start, end);
}

/* Adds the parts of a mapping of the kernel that are executable for the program. */
static void see_line(struct modules *modules, const struct maps_line *line)
{
    struct space_mapping piece;
    uint64_t at = line->start;
    while (space_next(modules->space, &at, line->end, &piece))
        if ((piece.protection & PROT_EXEC) && !(piece.flags & SPACE_FOREIGN))
            see(modules, line->name, piece.start, piece.end,
                line->offset + (piece.start - line->start));
}

static void look(struct modules *modules)
{
    struct maps_line line;
    struct maps *maps = maps_open(NULL);
    if (!maps)
        return;
    for (size_t i = 0; i < modules->count; i++)
        modules->entries[i]->seen = false;
    int result;
    while ((result = maps_next(maps, &line, NULL)) > 0 && line.start < SPACE_END)
        if (line.name[0] == '/')
            see_line(modules, &line);
    maps_close(maps);
    for (size_t i = 0; i < modules->count && result >= 0; i++)
        if (!modules->entries[i]->seen && !modules->entries[i]->module.gone)
            end_span(modules, &modules->entries[i]->module);
}

void modules_set_time(struct modules *modules, uint64_t instructions)
{
    pthread_mutex_lock(&modules->mutex);
    modules->time = instructions;
    pthread_mutex_unlock(&modules->mutex);
}

void modules_refresh(struct modules *modules)
{
    pthread_mutex_lock(&modules->mutex);
    look(modules);
    pthread_mutex_unlock(&modules->mutex);
}

/* --- system calls ----------------------------------------------------------------------------- */

/* Whether a mapped module has code in a range. */
static bool is_touched(const struct modules *modules, uint64_t start, uint64_t size)
{
    uint64_t end = size > UINT64_MAX - start ? UINT64_MAX : start + size;
    for (size_t i = 0; i < modules->count; i++) {
        const struct module *module = &modules->entries[i]->module;
        if (!module->gone && start < module->end && end > module->start)
            return true;
    }
    return false;
}

static bool changes(const struct modules *modules, uint64_t number, const uint64_t arguments[6],
                    int64_t result)
{
    switch (number) {
    case SYS_mmap:
        return ((arguments[2] & PROT_EXEC) && !(arguments[3] & MAP_ANONYMOUS)) ||
               is_touched(modules, (uint64_t)result, arguments[1]);
    case SYS_munmap:
        return is_touched(modules, arguments[0], arguments[1]);
    default:
        return is_touched(modules, arguments[0], arguments[1]) ||
               is_touched(modules, (uint64_t)result, arguments[2]);
    }
}

bool modules_may_change(struct modules *modules, uint64_t number, const uint64_t arguments[6],
                        int64_t result)
{
    if (result < 0 || (number != SYS_mmap && number != SYS_munmap && number != SYS_mremap))
        return false;
    pthread_mutex_lock(&modules->mutex);
    bool may = changes(modules, number, arguments, result);
    pthread_mutex_unlock(&modules->mutex);
    return may;
}

/* --- output ----------------------------------------------------------------------------------- */

size_t modules_count(const struct modules *modules)
{
    return modules->count;
}

const struct module *modules_get(const struct modules *modules, size_t number)
{
    return &modules->entries[number]->module;
}

const struct module *modules_find(const struct modules *modules, uint64_t address)
{
    for (size_t i = 0; i < modules->count; i++) {
        const struct module *module = &modules->entries[i]->module;
        if (!module->gone && address >= module->start && address < module->end)
            return module;
    }
    return NULL;
}

uint64_t modules_changes(const struct modules *modules)
{
    return modules->changes;
}

static bool is_same(const struct module *one, const struct module *other)
{
    return one->load_address == other->load_address && strcmp(one->path, other->path) == 0;
}

/* Whether other modules may have been where the module is, before or after it. */
static bool is_timed(const struct modules *modules, const struct known_module *entry)
{
    return entry->module.gone || entry->module.span_count > 1 ||
           (modules->first_gone > 0 && entry->began > modules->first_gone);
}

/* Writes the spans of all modules with the path and address of the given one. out may be NULL.
 * Returns their number. */
static size_t write_spans(const struct modules *modules, size_t from, FILE *out)
{
    char separator = '@';
    size_t count = 0;
    for (size_t i = from; i < modules->count; i++) {
        const struct module *module = modules_get(modules, i);
        if (!is_same(module, modules_get(modules, from)))
            continue;
        count += module->span_count;
        for (size_t s = 0; s < module->span_count && out; s++) {
            fprintf(out, "%c%" PRIu64 "-", separator, module->spans[s].first);
            if (module->spans[s].last != UINT64_MAX)
                fprintf(out, "%" PRIu64, module->spans[s].last);
            separator = ',';
        }
    }
    return count;
}

void modules_write(const struct modules *modules, bool timed, FILE *out)
{
    for (size_t i = 0; i < modules->count; i++) {
        const struct module *module = modules_get(modules, i);
        bool written = false;
        for (size_t j = 0; j < i && !written; j++)
            written = is_same(modules_get(modules, j), module);
        /* no instruction was put while it was mapped, and others may be there since */
        bool unused = timed && module->gone && write_spans(modules, i, NULL) == 0;
        if (written || unused)
            continue;
        fprintf(out, "%s@0x%" PRIx64, module->path, module->load_address);
        if (timed && is_timed(modules, modules->entries[i]))
            write_spans(modules, i, out);
        fputc('\n', out);
    }
}
