/*
 * Translated blocks that outlast a run: a file's bytes, looked up by a block's key, and the blocks
 * that this run has added. doc/translations-file.md describes the format. What is stored of a block
 * is opaque here (translate_store.c).
 *
 * A file may contain any bytes. Each record is checked against its checksum when it is found.
 */
#ifndef CAPTURE_EXEC_STORE_BLOCK_STORE_H
#define CAPTURE_EXEC_STORE_BLOCK_STORE_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_STORE_VERSION     2u
#define BLOCK_STORE_MAX         ((size_t)64 << 20) /* bytes of records in a file */
#define BLOCK_STORE_OWNER_BYTES 256u

struct block_store;

/* A part of a record. */
struct block_store_part {
    const void *bytes;
    size_t size;
};

/* An empty store. `owner` identifies what its blocks were translated for (process_store.c); a file
 * of another owner is not used. It is copied, at most BLOCK_STORE_OWNER_BYTES - 1 bytes of it.
 * NULL: no memory. */
struct block_store *block_store_new(const char *owner);
void block_store_free(struct block_store *store);

/* Makes the records of a file available to block_store_find(). The bytes stay the caller's and must
 * outlive the store. False: they are not a file of this version and owner, and are not used. */
bool block_store_read(struct block_store *store, const uint8_t *bytes, size_t size);

/* The record with a key in the file, and its size; NULL: there is none, or it is corrupt. Valid as
 * long as the file's bytes. */
const uint8_t *block_store_find(struct block_store *store, uint64_t key, size_t *size);

/* Adds a record, which block_store_find() does not find in this run. Nothing is added without
 * memory or beyond BLOCK_STORE_MAX. */
void block_store_add(struct block_store *store, uint64_t key, const struct block_store_part *parts,
                     unsigned count);

/* Whether enough was added for a new file. */
bool block_store_has_grown(const struct block_store *store);

/* Writes a file: the added records, and those of the old file with other keys. 0, or a negative
 * code with *error. */
int block_store_write(const struct block_store *store, int descriptor, struct bt_error *error);

#endif
