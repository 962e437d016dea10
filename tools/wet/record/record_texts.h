/*
 * Copies of the machine code of translated blocks, from their translation until they are first
 * executed: the program may change its code before the entries of that execution are read.
 */
#ifndef TOOLS_WET_RECORD_RECORD_TEXTS_H
#define TOOLS_WET_RECORD_RECORD_TEXTS_H

#include "capture/exec/translate/code_cache.h"
#include "formats/base/hash_index.h"

struct record_text {
    const struct block *block;
    uint8_t *bytes;
};

/* Zeroed is empty. */
struct record_texts {
    struct record_text *texts;
    size_t count, capacity;
    struct hash_index by_block;
};

void record_texts_clear(struct record_texts *texts);

/* Keeps the code of a block, in place of one whose memory it has taken. The array `bytes` then
 * belongs to the texts. 0 or BT_MEMORY, with `bytes` freed. */
int record_texts_add(struct record_texts *texts, const struct block *block, uint8_t *bytes);

/* Takes the code of a block out; the caller frees it. NULL: it is missing. */
uint8_t *record_texts_take(struct record_texts *texts, const struct block *block);

#endif
