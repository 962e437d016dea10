/* Compresses one stream of columns: the methods of doc/capture-file.md, "Columns". */
#ifndef FORMATS_COLUMNS_COLUMN_BACKEND_H
#define FORMATS_COLUMNS_COLUMN_BACKEND_H

#include "formats/columns/column_split.h"

/* Stable numbers: they are in files. */
enum column_method { COLUMN_STORED = 0, COLUMN_ZSTD = 1 };

#define COLUMN_LEVELS        4 /* levels of live captures are 1 to this */
#define COLUMN_LEVEL_NIBBLES 5 /* and the next two are for archives, see record_model.h */
#define COLUMN_LEVEL_FEW     6
#define COLUMN_LEVEL_MOST    7
#define COLUMN_LEVEL_DEFAULT 1

struct column_backend;

/* NULL and *error on failure. */
struct column_backend *column_backend_new(struct bt_error *error);
void column_backend_free(struct column_backend *backend);

/* The most memory that compression on the level takes, in bytes. */
size_t column_backend_memory(unsigned level);

/*
 * Compresses the size bytes of a stream into out, and sets *method and *out_size. Stores what does
 * not become smaller. 0; BT_FULL if capacity does not suffice, BT_MEMORY.
 */
int column_backend_encode(struct column_backend *backend, unsigned level, const uint8_t *in,
                          size_t size, uint8_t *out, size_t capacity, size_t *out_size,
                          uint8_t *method);

/* The reverse: exactly out_size bytes. False: damaged, an unknown method, or no memory. */
bool column_backend_decode(struct column_backend *backend, unsigned method, const uint8_t *in,
                           size_t size, uint8_t *out, size_t out_size);

#endif
