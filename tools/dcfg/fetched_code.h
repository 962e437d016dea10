/*
 * Which code was fetched: a row for each chunk, or for each function of images. Memory is constant
 * per distinct chunk.
 */
#ifndef TOOLS_DCFG_FETCHED_CODE_H
#define TOOLS_DCFG_FETCHED_CODE_H

#include "formats/record/batch.h"
#include "tools/symbols/image_names.h"

struct fetched_row {
    uint64_t address;       /* of the function or chunk */
    uint64_t size;          /* of it, in bytes */
    uint64_t fetches;       /* the number of them */
    uint64_t chunks;        /* distinct ones; a chunk may have bytes of several functions */
    uint64_t bytes;         /* distinct bytes of the row that were fetched */
    uint64_t first, last;   /* ticks */
    uint64_t processors[4]; /* a bit for each */
    const char *name;       /* of the function; NULL: none */
};

struct fetched_code;

/* NULL and *error without memory. */
struct fetched_code *fetched_code_new(struct bt_error *error);
void fetched_code_free(struct fetched_code *code);

/* Adds the fetches of a batch. 0 or BT_MEMORY. */
int fetched_code_put(struct fetched_code *code, const struct batch *batch, struct bt_error *error);

/*
 * The rows, in order of addresses: of each chunk, or with names (of images_count(images) images)
 * of each function. A fetch counts for the function of its first byte that is in one; a chunk
 * without a function is a row of its own. The caller frees the rows, which refer to the names. NULL
 * without memory.
 */
struct fetched_row *fetched_code_rows(const struct fetched_code *code, size_t *count);
struct fetched_row *fetched_code_by_function(const struct fetched_code *code,
                                             const struct image_names *names, size_t images,
                                             size_t *count);

#endif
