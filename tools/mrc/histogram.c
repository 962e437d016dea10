#include "tools/mrc/histogram.h"

#include "formats/base/grow.h"
#include "tools/common/large_memory.h"

void histogram_free(struct histogram *histogram)
{
    large_memory_free(histogram->counts, histogram->capacity * sizeof *histogram->counts);
    free(histogram->carries);
    *histogram = (struct histogram){.counts = NULL};
}

int histogram_reserve(struct histogram *histogram, size_t above, struct bt_error *error)
{
    const size_t size = sizeof *histogram->counts;
    size_t capacity = histogram->capacity ? histogram->capacity : 256;
    if (above <= histogram->capacity)
        return 0;
    while (capacity < above)
        capacity += capacity / 4;
    void *grown = large_memory_grow(histogram->counts, histogram->capacity * size, capacity * size);
    if (!grown)
        return bt_fail(error, BT_MEMORY, "no memory for the counts of %zu distances", capacity);
    histogram->counts = grown;
    histogram->capacity = capacity;
    return 0;
}

static int carry(struct histogram *histogram, uint32_t distance, uint64_t times,
                 struct bt_error *error)
{
    for (size_t i = 0; i < histogram->carry_count; i++) {
        if (histogram->carries[i] >> 32 == distance) {
            histogram->carries[i] += times;
            return 0;
        }
    }
    void *grown = grow_array(histogram->carries, &histogram->carry_capacity,
                             histogram->carry_count + 1, sizeof *histogram->carries);
    if (!grown)
        return bt_fail(error, BT_MEMORY, "no memory for the counts of distances");
    histogram->carries = grown;
    histogram->carries[histogram->carry_count++] = (uint64_t)distance << 32 | times;
    return 0;
}

int histogram_add(struct histogram *histogram, uint32_t distance, uint64_t times,
                  struct bt_error *error)
{
    const uint64_t sum = (uint64_t)histogram->counts[distance] + (times & UINT32_MAX);
    const uint64_t carries = (times >> 32) + (sum >> 32);
    histogram->counts[distance] = (uint32_t)sum;
    return carries == 0 ? 0 : carry(histogram, distance, carries, error);
}

uint64_t histogram_count(const struct histogram *histogram, size_t distance)
{
    uint64_t count = distance < histogram->capacity ? histogram->counts[distance] : 0;
    for (size_t i = 0; i < histogram->carry_count; i++)
        if (histogram->carries[i] >> 32 == distance)
            count += histogram->carries[i] << 32;
    return count;
}

size_t histogram_end(const struct histogram *histogram)
{
    size_t end = histogram->capacity;
    while (end > 0 && histogram->counts[end - 1] == 0 && histogram_count(histogram, end - 1) == 0)
        end--;
    return end;
}
