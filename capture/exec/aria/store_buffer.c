#include "capture/exec/aria/store_buffer.h"

#include "formats/base/grow.h"
#include "formats/base/hash_index.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64u

struct buffer_line {
    uint64_t number; /* address / LINE */
    uint64_t known;  /* a bit for each byte */
    uint8_t bytes[LINE];
};

struct store_buffer {
    struct buffer_line *lines;
    size_t count, capacity;
    struct hash_index by_number;
    bool failed;
};

struct store_buffer *store_buffer_new(void)
{
    return calloc(1, sizeof(struct store_buffer));
}

void store_buffer_free(struct store_buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->lines);
    hash_index_clear(&buffer->by_number);
    free(buffer);
}

void store_buffer_clear(struct store_buffer *buffer)
{
    /* in reverse order few lines move within the index */
    for (; buffer->count > 0; buffer->count--)
        hash_index_remove(&buffer->by_number, hash_number(buffer->lines[buffer->count - 1].number),
                          (uint32_t)buffer->count - 1);
    buffer->failed = false;
}

static struct buffer_line *find(const struct store_buffer *buffer, uint64_t number)
{
    struct hash_search search = hash_search(&buffer->by_number, hash_number(number));
    while (hash_search_next(&search))
        if (buffer->lines[search.number].number == number)
            return &buffer->lines[search.number];
    return NULL;
}

/* Finds or adds a line. NULL: no memory. */
static struct buffer_line *make(struct store_buffer *buffer, uint64_t number)
{
    struct buffer_line *line = find(buffer, number);
    if (line)
        return line;
    struct buffer_line *grown =
        grow_array(buffer->lines, &buffer->capacity, buffer->count + 1, sizeof *grown);
    if (!grown)
        return NULL;
    buffer->lines = grown;
    if (hash_index_add(&buffer->by_number, hash_number(number), (uint32_t)buffer->count) != 0)
        return NULL;
    line = &grown[buffer->count++];
    *line = (struct buffer_line){.number = number};
    return line;
}

void store_buffer_assign(struct store_buffer *to, const struct store_buffer *from)
{
    if (to == from)
        return;
    store_buffer_clear(to);
    to->failed = from->failed;
    for (size_t i = 0; i < from->count; i++) {
        struct buffer_line *line = make(to, from->lines[i].number);
        if (line)
            *line = from->lines[i];
        else
            to->failed = true;
    }
}

/* Reduces [address, address + *size) to the line of its first byte: offset *at and *size. */
static uint64_t cut(uint64_t address, size_t *at, size_t *size)
{
    *at = address % LINE;
    if (*size > LINE - *at)
        *size = LINE - *at;
    return (*size < LINE ? ((uint64_t)1 << *size) - 1 : UINT64_MAX) << *at;
}

void store_buffer_put(struct store_buffer *buffer, uint64_t address, const void *from, size_t size)
{
    const uint8_t *bytes = from;
    for (size_t at, part; size > 0; address += part, bytes += part, size -= part) {
        part = size;
        const uint64_t mask = cut(address, &at, &part);
        struct buffer_line *line = make(buffer, address / LINE);
        if (!line) {
            buffer->failed = true;
            return;
        }
        memcpy(line->bytes + at, bytes, part);
        line->known |= mask;
    }
}

void store_buffer_get(const struct store_buffer *buffer, void *to, uint64_t address, size_t size)
{
    uint8_t *bytes = to;
    for (size_t at, part; size > 0; address += part, bytes += part, size -= part) {
        part = size;
        const uint64_t mask = cut(address, &at, &part);
        const struct buffer_line *line = find(buffer, address / LINE);
        if (!line)
            continue;
        for (uint64_t known = line->known & mask; known != 0; known &= known - 1) {
            const size_t place = (size_t)__builtin_ctzll(known);
            bytes[place - at] = line->bytes[place];
        }
    }
}

bool store_buffer_holds(const struct store_buffer *buffer, uint64_t address, size_t size)
{
    for (size_t at, part; size > 0; address += part, size -= part) {
        part = size;
        const uint64_t mask = cut(address, &at, &part);
        const struct buffer_line *line = find(buffer, address / LINE);
        if (line && (line->known & mask))
            return true;
    }
    return false;
}

bool store_buffer_failed(const struct store_buffer *buffer)
{
    return buffer->failed;
}
