/*
 * Where translations are kept: a file for each program in the folder bustap/ of the user's cache
 * folder. Only the user may write to either.
 */
#ifndef CAPTURE_EXEC_STORE_STORE_FILE_H
#define CAPTURE_EXEC_STORE_STORE_FILE_H

#include "capture/exec/store/block_store.h"

#define STORE_FILE_ALL ((uint64_t)512 << 20) /* bytes of all files */

struct store_file;

/*
 * Opens the translations for an owner (block_store.h), which may not exist yet. `folder`, an
 * absolute path, is $XDG_CACHE_HOME; NULL: the value in the environment, or $HOME/.cache.
 *
 * NULL: no such folder is known (no HOME; rights of another user), or it cannot be used, with the
 * reason in *refusal: a sentence, or empty.
 */
struct store_file *store_file_open(const char *folder, const char *owner, struct bt_error *refusal);

/* Does not save. NULL is allowed. */
void store_file_free(struct store_file *file);

struct block_store *store_file_blocks(struct store_file *file);

/*
 * If block_store_has_grown(), replaces the file atomically by one with the new blocks, and removes
 * the least recently used files beyond STORE_FILE_ALL. Nothing is written by another user than the
 * one who opened it, nor under a limit of file sizes. 0, or a negative code with *error, a
 * sentence: the old file is as before.
 */
int store_file_save(struct store_file *file, struct bt_error *error);

#endif
