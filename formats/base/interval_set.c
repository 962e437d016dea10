#include "formats/base/interval_set.h"

#include "formats/base/error.h"
#include "formats/base/grow.h"

#include <string.h>

void interval_set_clear(struct interval_set *set)
{
    free(set->intervals);
    *set = (struct interval_set){.count = 0};
}

/* Index of the first interval that ends at number or above. */
static size_t find(const struct interval_set *set, uint64_t number)
{
    size_t low = 0;
    size_t high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->intervals[middle].high < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int interval_set_add(struct interval_set *set, uint64_t low, uint64_t high)
{
    struct interval *intervals =
        grow_array(set->intervals, &set->capacity, set->count + 1, sizeof *intervals);
    if (!intervals)
        return BT_MEMORY;
    set->intervals = intervals;
    /* those from `first` to `last` - 1 overlap or touch the new one */
    size_t first = find(set, low ? low - 1 : 0);
    size_t last = first;
    while (last < set->count && (high == UINT64_MAX || intervals[last].low <= high + 1)) {
        low = intervals[last].low < low ? intervals[last].low : low;
        high = intervals[last].high > high ? intervals[last].high : high;
        last++;
    }
    memmove(intervals + first + 1, intervals + last, (set->count - last) * sizeof *intervals);
    intervals[first] = (struct interval){.low = low, .high = high};
    set->count = set->count + 1 - (last - first);
    return 0;
}

int interval_set_unite(struct interval_set *set, const struct interval_set *other)
{
    int result = 0;
    for (size_t i = 0; i < other->count && result == 0; i++)
        result = interval_set_add(set, other->intervals[i].low, other->intervals[i].high);
    return result;
}

int interval_set_complement(struct interval_set *set, uint64_t highest)
{
    struct interval_set made = {.count = 0};
    uint64_t next = 0; /* after the last interval */
    int result = 0;
    for (size_t i = 0; i < set->count && result == 0; i++) {
        const struct interval *interval = &set->intervals[i];
        if (interval->low > highest)
            break;
        if (interval->low > next)
            result = interval_set_add(&made, next, interval->low - 1);
        next = interval->high + 1;
        if (interval->high >= highest)
            goto complete;
    }
    if (result == 0)
        result = interval_set_add(&made, next, highest);
complete:
    if (result < 0) {
        interval_set_clear(&made);
        return result;
    }
    interval_set_clear(set);
    *set = made;
    return 0;
}

int interval_set_intersect(struct interval_set *set, const struct interval_set *other)
{
    struct interval_set made = {.count = 0};
    int result = 0;
    for (size_t i = 0, j = 0; i < set->count && j < other->count && result == 0;) {
        const struct interval *a = &set->intervals[i];
        const struct interval *b = &other->intervals[j];
        uint64_t low = a->low > b->low ? a->low : b->low;
        uint64_t high = a->high < b->high ? a->high : b->high;
        if (low <= high)
            result = interval_set_add(&made, low, high);
        if (a->high < b->high)
            i++;
        else
            j++;
    }
    if (result < 0) {
        interval_set_clear(&made);
        return result;
    }
    interval_set_clear(set);
    *set = made;
    return 0;
}

bool interval_set_has(const struct interval_set *set, uint64_t number)
{
    return interval_set_covers(set, number, number);
}

bool interval_set_covers(const struct interval_set *set, uint64_t low, uint64_t high)
{
    size_t i = find(set, high);
    return i < set->count && set->intervals[i].low <= low;
}

bool interval_set_meets(const struct interval_set *set, uint64_t low, uint64_t high)
{
    size_t i = find(set, low);
    return i < set->count && set->intervals[i].low <= high;
}

bool interval_set_equal(const struct interval_set *a, const struct interval_set *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (a->intervals[i].low != b->intervals[i].low ||
            a->intervals[i].high != b->intervals[i].high)
            return false;
    return a->count == b->count;
}

void interval_set_widen(struct interval_set *set, size_t most)
{
    struct interval *intervals = set->intervals;
    while (set->count > most) {
        size_t least = 1;
        for (size_t i = 2; i < set->count; i++)
            if (intervals[i].low - intervals[i - 1].high <
                intervals[least].low - intervals[least - 1].high)
                least = i;
        intervals[least - 1].high = intervals[least].high;
        memmove(intervals + least, intervals + least + 1,
                (set->count - least - 1) * sizeof *intervals);
        set->count--;
    }
}
