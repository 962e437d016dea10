#define _GNU_SOURCE /* MAP_FIXED, ST_NOSUID */
#include "capture/exec/memory/load.h"

#include "capture/exec/memory/program_image.h"
#include "capture/exec/memory/sanitizer.h"
#include "capture/exec/memory/shebang.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* An open ELF file and its parsed headers. */
struct opened {
    int file; /* -1: none */
    uint64_t bytes;
    struct program_image image;
};

/* --- reading --- */

/* Reads up to size bytes from an offset. Returns the number of bytes, or a negative value. */
static ssize_t read_at(int file, void *bytes, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t count = pread(file, (uint8_t *)bytes + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        if (count == 0)
            break;
        done += (size_t)count;
    }
    return (ssize_t)done;
}

static int read_all(int file, void *bytes, size_t size, uint64_t offset, struct bt_error *error)
{
    ssize_t count = read_at(file, bytes, size, offset);
    if (count < 0)
        return bt_fail_errno(error, "cannot be read");
    if ((size_t)count < size)
        return bt_fail(error, BT_DATA, "became shorter while it was read");
    return 0;
}

/* Messages of this function and the following ones have no subject: the file's name is prepended.
 */
static int open_executable(struct opened *opened, const char *path, struct bt_error *error)
{
    struct stat status;
    /* a FIFO must not block */
    opened->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened->file < 0 || fstat(opened->file, &status) != 0) {
        bool is_ours = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        int code = bt_fail_errno(error, "cannot be opened");
        return error->code = is_ours ? code : BT_USAGE;
    }
    if (!S_ISREG(status.st_mode))
        return bt_fail(error, BT_USAGE, "is %s, not a program",
                       S_ISDIR(status.st_mode) ? "a folder" : "a special file");
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
        return bt_fail(error, BT_USAGE, "may not be executed (chmod +x makes it a program)");
    opened->bytes = (uint64_t)status.st_size;
    return 0;
}

static int read_table(struct opened *opened, struct bt_error *error)
{
    struct program_image *image = &opened->image;
    size_t size = (size_t)image->table_entries * PROGRAM_ENTRY_BYTES;
    uint8_t *table = malloc(size);
    if (!table)
        return bt_fail(error, BT_MEMORY, "no memory for its program headers");
    int result = read_all(opened->file, table, size, image->table_offset, error);
    if (result == 0)
        result = program_image_parse_table(image, table, opened->bytes, error);
    free(table);
    return result;
}

/* head: the first bytes of the file. */
static int understand(struct opened *opened, const uint8_t *head, size_t size,
                      struct bt_error *error)
{
    if (size > PROGRAM_HEADER_BYTES)
        size = PROGRAM_HEADER_BYTES;
    int result = program_image_parse_header(&opened->image, head, size, opened->bytes, error);
    return result < 0 ? result : read_table(opened, error);
}

static int read_head(const struct opened *opened, uint8_t *head, size_t *size,
                     struct bt_error *error)
{
    ssize_t count = read_at(opened->file, head, SHEBANG_HEAD_BYTES, 0);
    if (count < 0)
        return bt_fail_errno(error, "cannot be read");
    *size = (size_t)count;
    return 0;
}

/* --- scripts --- */

static void free_strings(char **strings)
{
    for (size_t i = 0; strings && strings[i]; i++)
        free(strings[i]);
    free(strings);
}

static char **copy_strings(const char *const *strings)
{
    size_t count = 0;
    while (strings[count])
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = strdup(strings[i]);
        if (!copy[i]) {
            free_strings(copy);
            return NULL;
        }
    }
    return copy;
}

/* Makes the arguments [interpreter, its argument if any, script, arguments of the script]. */
static int prepend_interpreter(struct load *load, const struct shebang *script, const char *path,
                               struct bt_error *error)
{
    size_t count = 0;
    while (load->arguments[count])
        count++;
    const char **longer = calloc(count + 4, sizeof *longer);
    char **copy = NULL;
    if (longer) {
        size_t at = 0;
        longer[at++] = script->interpreter;
        if (script->argument[0])
            longer[at++] = script->argument;
        longer[at++] = path;
        for (size_t i = 1; i < count; i++)
            longer[at++] = load->arguments[i];
        copy = copy_strings(longer);
    }
    free(longer);
    if (!copy)
        return bt_fail(error, BT_MEMORY, "no memory for the arguments of a script");
    free_strings(load->arguments);
    load->arguments = copy;
    return 0;
}

static int fail_within_file(struct bt_error *error, const char *path)
{
    return bt_fail_within(error, "%.200s", path);
}

/* --- rights --- */

static bool gives_rights(int file)
{
    struct statvfs system;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
           (fstatvfs(file, &system) != 0 || !(system.f_flag & ST_NOSUID));
}

/* BT_USAGE: execve(2) would give the program other rights than those of bustap. */
static int check_rights(int file, struct bt_error *error)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return bt_fail_errno(error, "cannot be examined");
    bool user = (status.st_mode & S_ISUID) && status.st_uid != geteuid();
    bool group =
        (status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid();
    bool more = geteuid() != 0 && fgetxattr(file, "security.capability", NULL, 0) > 0;
    if (!gives_rights(file) || !(user || group || more))
        return 0;
    if (!user && !group)
        return bt_fail(error, BT_USAGE,
                       "runs with capabilities that it would not have here; run bustap as root");
    return bt_fail(error, BT_USAGE,
                   "runs with the rights of another %s, which it would not have here; run "
                   "bustap as that %s",
                   user ? "user" : "group", user ? "user" : "group");
}

/* --- the program --- */

/* The absolute path of the file. */
static char *path_of(int file, const char *path)
{
    char link[32], found[PROGRAM_PATH_BYTES_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, found, sizeof found);
    return length > 0 && (size_t)length < sizeof found ? strndup(found, (size_t)length)
                                                       : realpath(path, NULL);
}

static int understand_program(struct load *load, struct opened *opened, const char *path,
                              const uint8_t *head, size_t size, struct bt_error *error)
{
    int result = understand(opened, head, size, error);
    if (result == 0)
        result = check_rights(opened->file, error);
    load->path = result == 0 ? path_of(opened->file, path) : NULL;
    if (result == 0 && !load->path)
        result = bt_fail_errno(error, "has no path");
    return result;
}

/* Opens the program's file, or the interpreter of a script, and so on. */
static int open_program(struct load *load, const char *file, struct opened *opened,
                        struct bt_error *error)
{
    char path[PROGRAM_PATH_BYTES_MAX];
    snprintf(path, sizeof path, "%s", load->name);
    for (int depth = 0;; depth++) {
        uint8_t head[SHEBANG_HEAD_BYTES];
        size_t size = 0;
        struct shebang script;
        int result = open_executable(opened, depth == 0 && file ? file : path, error);
        if (result == 0)
            result = read_head(opened, head, &size, error);
        if (result == 0 && !shebang_parse(&script, head, size)) {
            result = understand_program(load, opened, path, head, size, error);
            return result < 0 ? fail_within_file(error, path) : 0;
        }
        if (result == 0 && script.interpreter[0] == '\0')
            result = bt_fail(error, BT_USAGE, "names no interpreter after its #!");
        else if (result == 0 && depth == SHEBANG_DEPTH_MAX)
            result =
                bt_fail(error, BT_USAGE, "is a script that needs more than %d nested interpreters",
                        SHEBANG_DEPTH_MAX);
        if (result == 0)
            result = prepend_interpreter(load, &script, path, error);
        if (result < 0)
            return fail_within_file(error, path);
        close(opened->file);
        opened->file = -1;
        snprintf(path, sizeof path, "%s", script.interpreter);
    }
}

static int check_sanitizer(const struct opened *program, const char *name, struct bt_error *error)
{
    const char *sanitizer = sanitizer_find(program->file);
    if (!sanitizer)
        return 0;
    bt_fail(error, BT_USAGE,
            "is built with -fsanitize=%s, which needs addresses above 4 GiB; build it without",
            sanitizer);
    return fail_within_file(error, name);
}

/* Opens the dynamic loader that the program names. */
static int open_interpreter(const struct opened *program, struct opened *opened, const char *name,
                            struct bt_error *error)
{
    char path[PROGRAM_PATH_BYTES_MAX];
    const struct program_image *image = &program->image;
    int result =
        read_all(program->file, path, image->interpreter_bytes, image->interpreter_offset, error);
    if (result == 0)
        result = program_image_check_interpreter(image, (const uint8_t *)path, error);
    if (result < 0)
        return fail_within_file(error, name);
    uint8_t head[SHEBANG_HEAD_BYTES];
    size_t size = 0;
    result = open_executable(opened, path, error);
    if (result == 0)
        result = read_head(opened, head, &size, error);
    if (result == 0)
        result = understand(opened, head, size, error);
    if (result < 0) {
        fail_within_file(error, path);
        return bt_fail_within(error, "%.200s: its loader", name);
    }
    return 0;
}

/* --- mapping --- */

static int map_part(struct space *space, uint64_t start, uint64_t end, uint32_t protection,
                    int file, uint64_t offset, struct bt_error *error)
{
    if (start == end)
        return 0;
    int flags = MAP_PRIVATE | MAP_FIXED | (file < 0 ? MAP_ANONYMOUS : 0);
    int64_t result =
        space_mmap(space, start, end - start, protection, (uint64_t)flags, file, offset);
    if (result >= 0)
        return 0;
    errno = (int)-result;
    return bt_fail_errno(error, "cannot be mapped at 0x%" PRIx64, start);
}

static int map_segment(struct space *space, const struct opened *opened,
                       const struct program_segment *segment, uint64_t bias, struct bt_error *error)
{
    const uint64_t mask = SPACE_PAGE - 1;
    uint64_t address = segment->address + bias;
    uint64_t start = address & ~mask;
    uint64_t file_end = address + segment->file_bytes;
    uint64_t zeros = segment->file_bytes ? (file_end + mask) & ~mask : start;
    uint64_t end = (address + segment->memory_bytes + mask) & ~mask;
    int result = map_part(space, start, zeros, segment->protection, opened->file,
                          segment->offset & ~mask, error);
    if (result < 0)
        return result;
    /* memory after the segment's end must be zero; read-only segments keep the file's bytes */
    if (segment->memory_bytes > segment->file_bytes && zeros > file_end && segment->file_bytes &&
        (segment->protection & PROT_WRITE))
        memset((void *)(uintptr_t)file_end, 0, zeros - file_end);
    return zeros < end ? map_part(space, zeros, end, segment->protection, -1, 0, error) : 0;
}

static uint64_t align_up(uint64_t address, uint64_t alignment)
{
    return (address + alignment - 1) & ~(alignment - 1);
}

static bool is_free(struct space *space, uint64_t start, uint64_t end)
{
    struct space_mapping piece;
    return end <= SPACE_END && !space_next(space, &start, end, &piece);
}

/* Chooses the load bias. preferred 0: any address. */
static int choose_bias(struct space *space, const struct program_image *image, uint64_t preferred,
                       uint64_t *bias, struct bt_error *error)
{
    *bias = 0;
    if (!image->movable)
        return is_free(space, image->low, image->high)
                   ? 0
                   : bt_fail(error, BT_USAGE,
                             "must be loaded at 0x%" PRIx64 ", where other memory is mapped",
                             image->low);
    uint64_t low = image->low & ~(image->alignment - 1);
    uint64_t size = image->high - low;
    uint64_t place = align_up(preferred, image->alignment);
    if (preferred == 0 || !is_free(space, place, place + size)) {
        place = space_find_free(space, size + image->alignment - SPACE_PAGE);
        if (place == 0)
            return bt_fail(error, BT_USAGE,
                           "needs %" PRIu64 " contiguous bytes, which are not free below 4 GiB",
                           size);
        place = align_up(place, image->alignment);
    }
    *bias = place - low;
    return 0;
}

static int map_image(struct space *space, const struct opened *opened, uint64_t preferred,
                     struct loaded_image *loaded, struct bt_error *error)
{
    const struct program_image *image = &opened->image;
    uint64_t bias;
    int result = choose_bias(space, image, preferred, &bias, error);
    for (size_t i = 0; result == 0 && i < image->segment_count; i++)
        result = map_segment(space, opened, &image->segments[i], bias, error);
    if (result < 0)
        return result;
    loaded->bias = bias;
    loaded->low = image->low + bias;
    loaded->high = image->high + bias;
    loaded->entry = image->entry + bias;
    loaded->table = image->table_address ? image->table_address + bias : 0;
    loaded->table_entries = image->table_entries;
    return 0;
}

static int map_both(struct load *load, struct space *space, const struct opened *program,
                    const struct opened *interpreter, struct bt_error *error)
{
    uint64_t preferred = space_layout_of(space)->image;
    int result = map_image(space, program, preferred, &load->program, error);
    if (result == 0)
        space_set_break(space, load->program.high);
    if (result == 0 && interpreter->file >= 0)
        result = map_image(space, interpreter, 0, &load->interpreter, error);
    load->stack_executable = program->image.stack_executable;
    return result < 0 ? fail_within_file(error, load->name) : 0;
}

struct load *load_new(struct space *space, const char *path, const char *file,
                      const char *const *arguments, struct bt_error *error)
{
    struct opened program = {.file = -1};
    struct opened interpreter = {.file = -1};
    int result;
    struct load *load = calloc(1, sizeof *load);
    if (!load || !(load->name = strdup(path)) || !(load->arguments = copy_strings(arguments))) {
        result = bt_fail(error, BT_MEMORY, "no memory to load a program");
        goto out;
    }
    result = strlen(path) < PROGRAM_PATH_BYTES_MAX
                 ? open_program(load, file, &program, error)
                 : bt_fail(error, BT_USAGE, "a path of %zu bytes is too long", strlen(path));
    if (result == 0)
        result = check_sanitizer(&program, load->name, error);
    if (result == 0 && program.image.interpreter_bytes)
        result = open_interpreter(&program, &interpreter, load->name, error);
    if (result == 0)
        result = map_both(load, space, &program, &interpreter, error);
out:
    if (program.file >= 0)
        close(program.file);
    if (interpreter.file >= 0)
        close(interpreter.file);
    if (result == 0)
        return load;
    load_free(load);
    return NULL;
}

void load_free(struct load *load)
{
    if (!load)
        return;
    free_strings(load->arguments);
    free(load->path);
    free(load->name);
    free(load);
}
