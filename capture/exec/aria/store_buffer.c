#include "capture/exec/aria/store_buffer.h"

#include "formats/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define LINE      64u
#define SLOTS_MIN 64u /* a power of two */

struct line {
    uint64_t number; /* address / LINE */
    uint64_t known;  /* a bit for each byte */
    uint8_t bytes[LINE];
};

struct store_buffer {
    struct line *lines;
    size_t count, capacity;
    uint32_t *slots; /* open addressing: index of a line plus 1; 0: free */
    size_t slot_count;
    bool failed;
};

struct store_buffer *store_buffer_new(void)
{
    struct store_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return NULL;
    buffer->slot_count = SLOTS_MIN;
    buffer->slots = calloc(SLOTS_MIN, sizeof *buffer->slots);
    if (buffer->slots)
        return buffer;
    free(buffer);
    return NULL;
}

void store_buffer_free(struct store_buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->lines);
    free(buffer->slots);
    free(buffer);
}

/* The slot of a line, or the free one where it belongs. */
static uint32_t *slot_of(const struct store_buffer *buffer, uint64_t number)
{
    size_t slot = (size_t)(number * 0x9e3779b97f4a7c15u >> 32) & (buffer->slot_count - 1);
    while (buffer->slots[slot] != 0 && buffer->lines[buffer->slots[slot] - 1].number != number)
        slot = (slot + 1) & (buffer->slot_count - 1);
    return &buffer->slots[slot];
}

void store_buffer_clear(struct store_buffer *buffer)
{
    /* in reverse order no slot is in the probe sequence of a line still present */
    for (; buffer->count > 0; buffer->count--)
        *slot_of(buffer, buffer->lines[buffer->count - 1].number) = 0;
    buffer->failed = false;
}

static bool grow(struct store_buffer *buffer)
{
    struct line *lines =
        grow_array(buffer->lines, &buffer->capacity, buffer->count + 1, sizeof *lines);
    if (!lines)
        return false;
    buffer->lines = lines;
    if (buffer->count < buffer->slot_count / 2)
        return true;
    uint32_t *slots = calloc(2 * buffer->slot_count, sizeof *slots);
    if (!slots)
        return false;
    free(buffer->slots);
    buffer->slots = slots;
    buffer->slot_count *= 2;
    for (size_t i = 0; i < buffer->count; i++)
        *slot_of(buffer, lines[i].number) = (uint32_t)i + 1;
    return true;
}

static const struct line *find(const struct store_buffer *buffer, uint64_t number)
{
    uint32_t place = buffer->count > 0 ? *slot_of(buffer, number) : 0;
    return place != 0 ? &buffer->lines[place - 1] : NULL;
}

/* Finds or adds a line. NULL: no memory. */
static struct line *make(struct store_buffer *buffer, uint64_t number)
{
    uint32_t *slot = slot_of(buffer, number);
    if (*slot != 0)
        return &buffer->lines[*slot - 1];
    if (!grow(buffer))
        return NULL;
    buffer->lines[buffer->count] = (struct line){.number = number};
    *slot_of(buffer, number) = (uint32_t)buffer->count + 1;
    return &buffer->lines[buffer->count++];
}

void store_buffer_assign(struct store_buffer *to, const struct store_buffer *from)
{
    if (to == from)
        return;
    store_buffer_clear(to);
    to->failed = from->failed;
    for (size_t i = 0; i < from->count; i++) {
        struct line *line = make(to, from->lines[i].number);
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
        struct line *line = make(buffer, address / LINE);
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
        const struct line *line = find(buffer, address / LINE);
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
        const struct line *line = find(buffer, address / LINE);
        if (line && (line->known & mask))
            return true;
    }
    return false;
}

bool store_buffer_failed(const struct store_buffer *buffer)
{
    return buffer->failed;
}
