/*
 * Bytes that are put aside and read again later: in a file without a name, in $TMPDIR or /tmp, that
 * is gone when the program ends, however it ends.
 */
#ifndef FORMATS_BASE_SPOOL_H
#define FORMATS_BASE_SPOOL_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct spool;

/* 0, BT_IO, BT_FULL or BT_MEMORY. */
int spool_new(struct spool **spool, struct bt_error *error);
void spool_free(struct spool *spool);

/* Appends; spool_size before is where it can be read again. 0, BT_IO or BT_FULL. */
int spool_put(struct spool *spool, const void *data, size_t size, struct bt_error *error);
uint64_t spool_size(const struct spool *spool);

/* Reads size bytes that were put. 0 or BT_IO. */
int spool_read(struct spool *spool, uint64_t offset, void *data, size_t size,
               struct bt_error *error);

#endif
