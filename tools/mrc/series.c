#include "tools/mrc/series.h"

#include "formats/base/grow.h"
#include "tools/mrc/buckets.h"
#include "tools/mrc/sample.h"

#include <string.h>

#define GROUP_COUNTS (SAMPLE_GROUPS * (BUCKETS_DISTANCE + 1))

struct series *series_new(bool sampled, size_t *window_counts_left, struct bt_error *error)
{
    struct series *series = calloc(1, sizeof *series);
    if (series && sampled)
        series->groups = calloc(GROUP_COUNTS, sizeof *series->groups);
    if (!series || (sampled && !series->groups)) {
        free(series);
        bt_fail(error, BT_MEMORY, "no memory for the counts of a curve");
        return NULL;
    }
    series->window_counts_left = window_counts_left;
    return series;
}

void series_free(struct series *series)
{
    if (!series)
        return;
    histogram_free(&series->distances);
    free(series->windows);
    free(series->groups);
    free(series);
}

/* Makes room for more windows before or after the existing ones. 0 or a negative code. */
static int add_windows(struct series *series, uint64_t front, uint64_t back, size_t size,
                       struct bt_error *error)
{
    const size_t old = series->window_count;
    const size_t most = series->window_capacity + *series->window_counts_left / size;
    if (front > most || back > most || old + front + back > most)
        return bt_fail(
            error, BT_USAGE,
            "the trace has more than %zu windows of time: choose longer windows with --window",
            most);
    const size_t count = old + (size_t)front + (size_t)back;
    if (count > series->window_capacity) {
        const size_t capacity =
            count < old + old / 2 && old + old / 2 < most ? old + old / 2 : count;
        uint64_t *grown = realloc(series->windows, capacity * size * sizeof *grown);
        if (!grown)
            return bt_fail(error, BT_MEMORY, "no memory for %zu windows of time", capacity);
        *series->window_counts_left -= (capacity - series->window_capacity) * size;
        series->windows = grown;
        series->window_capacity = capacity;
    }
    uint64_t *windows = series->windows;
    memmove(windows + front * size, windows, old * size * sizeof *windows);
    memset(windows, 0, front * size * sizeof *windows);
    memset(windows + (front + old) * size, 0, back * size * sizeof *windows);
    series->window_count = count;
    series->first_window -= front;
    return 0;
}

uint64_t *series_window(struct series *series, uint64_t window, unsigned buckets,
                        struct bt_error *error)
{
    const size_t size = buckets + 1;
    if (series->window_count == 0)
        series->first_window = window;
    const uint64_t front = window < series->first_window ? series->first_window - window : 0;
    const uint64_t end = series->first_window + series->window_count;
    const uint64_t back = window >= end ? window - end + 1 : 0;
    if ((front > 0 || back > 0) && add_windows(series, front, back, size, error) < 0)
        return NULL;
    return series->windows + (window - series->first_window) * size;
}

int numbers_put(struct numbers *numbers, uint64_t value, struct bt_error *error)
{
    void *grown = grow_array(numbers->values, &numbers->capacity, numbers->count + 1, sizeof value);
    if (!grown)
        return bt_fail(error, BT_MEMORY, "no memory for counts that are put together");
    numbers->values = grown;
    numbers->values[numbers->count++] = value;
    return 0;
}

/* Appends the length of a row, then the row. */
static int put_row(struct numbers *numbers, const uint64_t *row, size_t count,
                   struct bt_error *error)
{
    int result = numbers_put(numbers, count, error);
    for (size_t i = 0; result == 0 && i < count; i++)
        result = numbers_put(numbers, row[i], error);
    return result;
}

int series_pack(const struct series *series, unsigned buckets, struct numbers *numbers,
                struct bt_error *error)
{
    const size_t end = histogram_end(&series->distances);
    const uint64_t totals[] = {series->references, series->cold, series->first_window};
    if (put_row(numbers, totals, 3, error) < 0 || numbers_put(numbers, end, error) < 0)
        return error->code;
    for (size_t i = 0; i < end; i++)
        if (numbers_put(numbers, histogram_count(&series->distances, i), error) < 0)
            return error->code;
    if (put_row(numbers, series->windows, series->window_count * (buckets + 1), error) < 0 ||
        put_row(numbers, series->groups, series->groups ? GROUP_COUNTS : 0, error) < 0)
        return error->code;
    return 0;
}

/* Reads a row and its length, both checked; *place moves past it. NULL: corrupt. */
static const uint64_t *take_row(const struct numbers *numbers, size_t *place, size_t *count)
{
    if (*place >= numbers->count || numbers->values[*place] > numbers->count - *place - 1)
        return NULL;
    const uint64_t *row = numbers->values + *place + 1;
    *count = (size_t)row[-1];
    *place += 1 + *count;
    return row;
}

static int add_distances(struct series *series, const uint64_t *row, size_t count,
                         struct bt_error *error)
{
    int result = histogram_reserve(&series->distances, count, error);
    for (size_t i = 0; result == 0 && i < count; i++)
        if (row[i] > 0)
            result = histogram_add(&series->distances, (uint32_t)i, row[i], error);
    return result;
}

static int add_window_row(struct series *series, uint64_t first, const uint64_t *row, size_t count,
                          unsigned buckets, struct bt_error *error)
{
    const uint64_t last = first + count / (buckets + 1) - 1;
    if (count % (buckets + 1) != 0 || last < first)
        return bt_fail(error, BT_DATA, "the counts of another process are inconsistent");
    if (!series_window(series, last, buckets, error))
        return error->code;
    uint64_t *counts = series_window(series, first, buckets, error);
    if (!counts)
        return error->code;
    for (size_t i = 0; i < count; i++)
        counts[i] += row[i];
    return 0;
}

int series_add_packed(struct series *series, unsigned buckets, const struct numbers *numbers,
                      size_t *place, struct bt_error *error)
{
    size_t totals = 0, distances = 0, windows = 0, groups = 0;
    const uint64_t *total = take_row(numbers, place, &totals);
    const uint64_t *distance = take_row(numbers, place, &distances);
    const uint64_t *window = take_row(numbers, place, &windows);
    const uint64_t *group = take_row(numbers, place, &groups);
    if (!total || !distance || !window || !group || totals != 3 || distances > UINT32_MAX ||
        (groups != 0 && (groups != GROUP_COUNTS || !series->groups)))
        return bt_fail(error, BT_DATA, "the counts of another process are inconsistent");
    series->references += total[0];
    series->cold += total[1];
    if (add_distances(series, distance, distances, error) < 0)
        return error->code;
    if (windows > 0 && add_window_row(series, total[2], window, windows, buckets, error) < 0)
        return error->code;
    for (size_t i = 0; i < groups; i++)
        series->groups[i] += group[i];
    return 0;
}
