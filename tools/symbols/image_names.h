/* The names of an image's addresses: symbols (DCFG 1.00, section 2.11) and source lines (section
 * 2.12). */
#ifndef TOOLS_SYMBOLS_IMAGE_NAMES_H
#define TOOLS_SYMBOLS_IMAGE_NAMES_H

#include "tools/symbols/image.h"

struct image_symbol {
    uint64_t address; /* in memory */
    uint64_t size;
    char *name;
    uint64_t end; /* of its section; UINT64_MAX: unknown */
    bool routine; /* of type STT_FUNC or STT_GNU_IFUNC, not a label */
};

struct image_line {
    uint64_t address; /* in memory */
    uint32_t size;    /* bytes of code, 1 at least */
    uint32_t file;    /* index into image_names.files */
    uint32_t line;
};

/* Procedure linkage tables: code that only jumps to routines of other images. */
struct image_stubs {
    uint64_t address; /* in memory */
    uint64_t size;
};

#define IMAGE_STUBS_MAX    4u
#define IMAGE_SECTIONS_MAX 32u

struct image_names {
    struct image_symbol *symbols; /* by address; the public one of several names first */
    size_t symbol_count;
    struct image_line *lines; /* by address */
    size_t line_count;
    char **files; /* paths, each once */
    size_t file_count;
    struct image_stubs stubs[IMAGE_STUBS_MAX];
    size_t stub_count;
    uint64_t sections[IMAGE_SECTIONS_MAX]; /* addresses at which sections with code begin */
    size_t section_count;
    uint64_t *starts; /* ascending, of all routines that can be unwound, with a name or not */
    size_t start_count;
};

/*
 * Reads the names of an image's code from its file and its debug file. 0, BT_DATA (the file has
 * changed), BT_IO or BT_MEMORY; free with image_names_clear.
 */
int image_names_read(struct image_names *names, const struct image *image, struct bt_error *error);

/* Reads the symbols of its variables. */
int image_names_read_variables(struct image_names *names, const struct image *image,
                               struct bt_error *error);

/* Faster parts of image_names_read: all but lines; lines. */
int image_names_read_routines(struct image_names *names, const struct image *image,
                              struct bt_error *error);
int image_names_read_lines(struct image_names *names, const struct image *image,
                           struct bt_error *error);
void image_names_clear(struct image_names *names);

#endif
