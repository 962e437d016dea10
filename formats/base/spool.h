/*
 * Bytes stored temporarily: in memory, then in a file without a name in $TMPDIR or /tmp, which the
 * kernel removes when the program ends.
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

/* Appends; the spool_size() before the call is the offset for spool_read(). 0, BT_IO or BT_FULL. */
int spool_put(struct spool *spool, const void *data, size_t size, struct bt_error *error);
uint64_t spool_size(const struct spool *spool);

/* Reads size bytes from offset. 0 or BT_IO. */
int spool_read(struct spool *spool, uint64_t offset, void *data, size_t size,
               struct bt_error *error);

#endif
