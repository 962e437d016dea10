/* The names of an image's addresses: symbols (DCFG 1.00, section 2.11) and source lines (section
 * 2.12). */
#ifndef TOOLS_SYMBOLS_IMAGE_NAMES_H
#define TOOLS_SYMBOLS_IMAGE_NAMES_H

#include "tools/symbols/image.h"

struct image_symbol {
    uint64_t address; /* in memory */
    uint64_t size;
    char *name;
};

struct image_line {
    uint64_t address; /* in memory */
    uint32_t size;    /* bytes of code, 1 at least */
    uint32_t file;    /* in files */
    uint32_t line;
};

/* Code that only leads to other images' routines: procedure linkage tables. */
struct image_stubs {
    uint64_t address; /* in memory */
    uint64_t size;
};

#define IMAGE_STUBS_MAX 4u

struct image_names {
    struct image_symbol
        *symbols; /* in order of their addresses; of one thing the best name first */
    size_t symbol_count;
    struct image_line *lines; /* in order of their addresses */
    size_t line_count;
    char **files; /* paths, each once */
    size_t file_count;
    struct image_stubs stubs[IMAGE_STUBS_MAX]; /* if they were requested */
    size_t stub_count;
    uint64_t *starts; /* of all routines that can be unwound, named or not; the same */
    size_t start_count;
};

/*
 * Reads the names in image->path for the code of the image, if it has any. 0, BT_DATA (the file has
 * changed), BT_IO or BT_MEMORY; free with image_names_clear.
 */
int image_names_read(struct image_names *names, const struct image *image, struct bt_error *error);

/* The same for its variables: symbols only. */
int image_names_read_variables(struct image_names *names, const struct image *image,
                               struct bt_error *error);

/* A part each of image_names_read, which is quicker: symbols, with stubs and starts; lines. */
int image_names_read_routines(struct image_names *names, const struct image *image,
                              struct bt_error *error);
int image_names_read_lines(struct image_names *names, const struct image *image,
                           struct bt_error *error);
void image_names_clear(struct image_names *names);

#endif
