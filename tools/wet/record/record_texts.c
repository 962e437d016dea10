#include "tools/wet/record/record_texts.h"

#include "formats/base/grow.h"

static uint32_t hash_of(const struct block *block)
{
    return hash_number((uintptr_t)block);
}

void record_texts_clear(struct record_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->texts[i].bytes);
    free(texts->texts);
    hash_index_clear(&texts->by_block);
    *texts = (struct record_texts){.texts = NULL};
}

uint8_t *record_texts_take(struct record_texts *texts, const struct block *block)
{
    struct hash_search search = hash_search(&texts->by_block, hash_of(block));
    while (hash_search_next(&search)) {
        const uint32_t number = search.number, last = (uint32_t)texts->count - 1;
        if (texts->texts[number].block != block)
            continue;
        uint8_t *bytes = texts->texts[number].bytes;
        hash_index_remove(&texts->by_block, hash_of(block), number);
        if (number != last) {
            texts->texts[number] = texts->texts[last];
            hash_index_renumber(&texts->by_block, hash_of(texts->texts[last].block), last, number);
        }
        texts->count--;
        return bytes;
    }
    return NULL;
}

int record_texts_add(struct record_texts *texts, const struct block *block, uint8_t *bytes)
{
    free(record_texts_take(texts, block));
    struct record_text *larger =
        grow_array(texts->texts, &texts->capacity, texts->count + 1, sizeof *larger);
    if (larger)
        texts->texts = larger;
    if (!larger || hash_index_add(&texts->by_block, hash_of(block), (uint32_t)texts->count) < 0) {
        free(bytes);
        return BT_MEMORY;
    }
    larger[texts->count++] = (struct record_text){.block = block, .bytes = bytes};
    return 0;
}
