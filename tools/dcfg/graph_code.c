#include "tools/dcfg/graph_code.h"

#include "tools/common/words.h"
#include "tools/dcfg/graph/build.h"
#include "tools/symbols/image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PAGE 4096u
/* Bytes of the files that a graph names, which may be one large file many times. */
#define CODE_MAX (UINT64_C(4) << 30)

/* The file of one image of the graph. */
struct image_code {
    struct images *images; /* with one image at most; NULL: no code */
    char *missing;         /* why there is no code; NULL: there is code, or no file has a name */
};

struct graph_code {
    const struct dcfg_process *process;
    struct images *placed;     /* given with their addresses */
    struct image_code *images; /* by image of the process */
    uint64_t size;             /* of the code of the files that the graph names */
};

/* --- the files that users give --- */

int graph_code_files_add(void *files, const char *argument, struct bt_error *error)
{
    struct graph_code_files *given = files;
    if (given->count == GRAPH_CODE_FILES)
        return bt_fail(error, BT_USAGE, "--image: more than %u files", GRAPH_CODE_FILES);
    given->at[given->count++] = argument;
    return 0;
}

/* The image of the graph with the same file name, if it has no other file yet; or DCFG_NONE. */
static uint32_t image_called(const struct graph_code *code, const char *path)
{
    const struct dcfg_process *process = code->process;
    for (uint32_t i = 0; i < process->image_count; i++) {
        const char *name = dcfg_file_name(process->graph, process->images[i].file_name_id);
        if (name && strcmp(words_file_name(name), words_file_name(path)) == 0 &&
            !code->images[i].images)
            return i;
    }
    return DCFG_NONE;
}

static int add_file(struct graph_code *code, uint32_t image, const char *path,
                    struct bt_error *error)
{
    struct images *images = images_new(error);
    if (!images)
        return error->code;
    int result = images_add_at(images, path, code->process->images[image].load_address, error);
    if (result == 0)
        code->images[image].images = images;
    else
        images_free(images);
    return result;
}

static int add_given(struct graph_code *code, const char *file, struct bt_error *error)
{
    uint32_t image = image_called(code, file);
    return image == DCFG_NONE ? images_add(code->placed, file, error)
                              : add_file(code, image, file, error);
}

/* --- the files that the graph names --- */

/* A graph may name anything: only regular files are opened. */
static int add_named(struct graph_code *code, uint32_t image)
{
    struct image_code *at = &code->images[image];
    const struct dcfg_image *row = &code->process->images[image];
    const char *path = dcfg_file_name(code->process->graph, row->file_name_id);
    struct bt_error error = {0};
    struct stat status;
    int result;
    if (at->images || row->blocks.count == 0 || !path)
        return 0;
    if (strcmp(path, BUILD_UNKNOWN_IMAGE) == 0)
        result = bt_fail(&error, BT_DATA, "the graph was built without the image of some code");
    else if (stat(path, &status) != 0)
        result = bt_fail_errno(&error, "%s", path);
    else if (!S_ISREG(status.st_mode))
        result = bt_fail(&error, BT_DATA, "%s: is not a file", path);
    else if (code->size + (uint64_t)status.st_size > CODE_MAX)
        result = bt_fail(&error, BT_DATA, "%s: the graph's files have more than 4 GiB", path);
    else
        result = add_file(code, image, path, &error);
    if (result == 0) {
        code->size += (uint64_t)status.st_size;
        return 0;
    }
    at->missing = strdup(error.message);
    return at->missing ? 0 : BT_MEMORY;
}

struct graph_code *graph_code_new(const struct dcfg_process *process, const char *const *files,
                                  size_t count, struct bt_error *error)
{
    struct graph_code *code = calloc(1, sizeof *code);
    if (!code) {
        bt_fail(error, BT_MEMORY, "no memory for code");
        return NULL;
    }
    code->process = process;
    code->images = calloc((size_t)process->image_count + 1, sizeof *code->images);
    code->placed = code->images ? images_new(error) : NULL;
    int result = code->placed ? 0 : bt_fail(error, BT_MEMORY, "no memory for code");
    for (size_t i = 0; i < count && result == 0; i++)
        result = add_given(code, files[i], error);
    for (uint32_t i = 0; i < process->image_count && result == 0; i++)
        if (add_named(code, i) < 0)
            result = bt_fail(error, BT_MEMORY, "no memory for code");
    if (result == 0)
        return code;
    graph_code_free(code);
    return NULL;
}

void graph_code_free(struct graph_code *code)
{
    if (!code)
        return;
    for (uint32_t i = 0; code->images && i < code->process->image_count; i++) {
        images_free(code->images[i].images);
        free(code->images[i].missing);
    }
    free(code->images);
    images_free(code->placed);
    free(code);
}

/* --- asking --- */

const uint8_t *graph_code_at(const struct graph_code *code, uint32_t image, uint64_t offset,
                             size_t *size, unsigned *bits)
{
    const struct dcfg_image *row = &code->process->images[image];
    uint64_t address = row->load_address + offset;
    const struct images *images = code->placed;
    const uint8_t *bytes = images_code(images, address, size);
    if (!bytes && (images = code->images[image].images) != NULL) {
        /* dcfg build begins an image a page early if its first byte was executed */
        if (row->size == images_get(images, 0)->size + PAGE)
            address -= PAGE;
        bytes = images_code(images, address, size);
    }
    if (bytes)
        *bits = images_get(images, images_find(images, address))->bits;
    return bytes;
}

const char *graph_code_missing(const struct graph_code *code, uint32_t image)
{
    return code->images[image].missing;
}
