#include "formats/wet/wet_chunk.h"

#include <string.h>

void wet_bytes_append(struct wet_bytes *to, const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return;
    if (to->capacity - to->size < size) {
        uint8_t *larger = grow_array(to->bytes, &to->capacity, to->size + size, 1);
        if (!larger) {
            to->out_of_memory = true;
            return;
        }
        to->bytes = larger;
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

void wet_chunk_clear(struct wet_chunk *chunk)
{
    for (unsigned i = 0; i < WET_STREAMS; i++)
        free(chunk->streams[i].bytes);
    *chunk = (struct wet_chunk){.streams = {{.bytes = NULL}}};
}

void wet_chunk_empty(struct wet_chunk *chunk)
{
    for (unsigned i = 0; i < WET_STREAMS; i++) {
        chunk->streams[i].size = 0;
        chunk->streams[i].out_of_memory = false;
    }
}

int wet_chunk_copy(struct wet_chunk *to, const struct wet_chunk *from)
{
    bool out_of_memory = false;
    wet_chunk_empty(to);
    for (unsigned i = 0; i < WET_STREAMS; i++) {
        wet_bytes_append(&to->streams[i], from->streams[i].bytes, from->streams[i].size);
        out_of_memory |= to->streams[i].out_of_memory;
    }
    return out_of_memory ? BT_MEMORY : 0;
}

/* --- index -------------------------------------------------------------------------------------
 */

void wet_chunk_put_outcomes(struct wet_chunk *chunk, uint32_t id, const struct wet_bytes *bytes,
                            uint32_t *last)
{
    struct wet_bytes *index = &chunk->streams[WET_STREAM_OUTCOME_INDEX];
    wet_bytes_put(index, id - *last);
    wet_bytes_put(index, bytes->size);
    wet_bytes_append(&chunk->streams[WET_STREAM_OUTCOMES], bytes->bytes, bytes->size);
    index->out_of_memory |= bytes->out_of_memory;
    *last = id;
}

void wet_chunk_put_labels(struct wet_chunk *chunk, uint32_t id, uint32_t operand,
                          const struct wet_bytes *bytes, uint32_t *last)
{
    struct wet_bytes *index = &chunk->streams[WET_STREAM_LABEL_INDEX];
    wet_bytes_put(index, id - *last);
    wet_bytes_put(index, operand);
    wet_bytes_put(index, bytes->size);
    wet_bytes_append(&chunk->streams[WET_STREAM_LABELS], bytes->bytes, bytes->size);
    index->out_of_memory |= bytes->out_of_memory;
    *last = id;
}

int wet_chunk_index(const struct wet_chunk *chunk, bool labels, uint32_t ids,
                    struct wet_extent **extents, size_t *count, struct bt_error *error)
{
    const struct wet_bytes *index =
        &chunk->streams[labels ? WET_STREAM_LABEL_INDEX : WET_STREAM_OUTCOME_INDEX];
    const size_t size = chunk->streams[labels ? WET_STREAM_LABELS : WET_STREAM_OUTCOMES].size;
    struct wet_cursor from = {.at = index->bytes,
                              .end = index->size > 0 ? index->bytes + index->size : index->bytes};
    struct wet_extent last = {.id = 0};
    size_t capacity = 0, offset = 0;
    *extents = NULL;
    *count = 0;
    while (from.at < from.end) {
        const uint64_t more = wet_cursor_get(&from);
        const uint64_t operand = labels ? wet_cursor_get(&from) : 0;
        const uint64_t bytes = wet_cursor_get(&from);
        struct wet_extent *larger = grow_array(*extents, &capacity, *count + 1, sizeof *larger);
        if (!larger)
            return bt_fail(error, BT_MEMORY, "no memory for a chunk of the trace");
        *extents = larger;
        if (from.failed || more >= ids - last.id || bytes > size - offset || operand > UINT8_MAX ||
            (more == 0 && (last.id == 0 || !labels || operand <= last.operand)))
            return bt_fail(error, BT_DATA, "the index of a chunk is damaged");
        last = (struct wet_extent){.id = last.id + (uint32_t)more,
                                   .operand = (uint32_t)operand,
                                   .offset = offset,
                                   .size = (size_t)bytes};
        larger[(*count)++] = last;
        offset += (size_t)bytes;
    }
    return 0;
}

/* --- members -----------------------------------------------------------------------------------
 */

int wet_chunk_put(const struct wet_chunk *chunk, struct wet_bytes *to)
{
    for (unsigned i = 0; i < WET_STREAMS; i++) {
        wet_bytes_put(to, chunk->streams[i].size);
        to->out_of_memory |= chunk->streams[i].out_of_memory;
    }
    for (unsigned i = 0; i < WET_STREAMS; i++)
        wet_bytes_append(to, chunk->streams[i].bytes, chunk->streams[i].size);
    return to->out_of_memory ? BT_MEMORY : 0;
}

int wet_chunk_get(struct wet_chunk *chunk, const struct wet_bytes *content, struct bt_error *error)
{
    struct wet_cursor from = wet_cursor_of(content);
    uint64_t sizes[WET_STREAMS];
    for (unsigned i = 0; i < WET_STREAMS; i++)
        sizes[i] = wet_cursor_get(&from);
    wet_chunk_empty(chunk);
    for (unsigned i = 0; i < WET_STREAMS; i++) {
        if (from.failed || sizes[i] > (size_t)(from.end - from.at))
            return bt_fail(error, BT_DATA, "a chunk ends in the middle of a stream");
        wet_bytes_append(&chunk->streams[i], from.at, (size_t)sizes[i]);
        if (chunk->streams[i].out_of_memory)
            return bt_fail(error, BT_MEMORY, "no memory for a chunk of the trace");
        from.at += sizes[i];
    }
    if (from.at != from.end)
        return bt_fail(error, BT_DATA, "a chunk has bytes after its streams");
    return 0;
}

/* --- outcomes ----------------------------------------------------------------------------------
 */

void wet_outcomes_put(struct wet_outcomes *outcomes, bool outcome, struct wet_bytes *to)
{
    if (!outcomes->has_run)
        *outcomes = (struct wet_outcomes){.current = true, .has_run = true};
    if (outcome != outcomes->current) {
        wet_bytes_put(to, outcomes->run);
        outcomes->run = 0;
        outcomes->current = outcome;
    }
    outcomes->run++;
}

void wet_outcomes_finish(struct wet_outcomes *outcomes, struct wet_bytes *to)
{
    if (outcomes->has_run)
        wet_bytes_put(to, outcomes->run);
    *outcomes = (struct wet_outcomes){.current = false};
}

int wet_outcomes_get(struct wet_outcomes *outcomes, struct wet_cursor *from, bool *outcome)
{
    if (!outcomes->has_run)
        *outcomes =
            (struct wet_outcomes){.current = true, .has_run = true, .run = wet_cursor_get(from)};
    if (outcomes->run == 0) {
        outcomes->current = !outcomes->current;
        outcomes->run = wet_cursor_get(from);
        if (outcomes->run == 0)
            return BT_DATA;
    }
    if (from->failed)
        return BT_DATA;
    outcomes->run--;
    *outcome = outcomes->current;
    return 0;
}
