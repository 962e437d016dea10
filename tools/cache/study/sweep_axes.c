#include "tools/cache/study/sweep.h"

#include "formats/base/quantity.h"

#include <string.h>

#define WORD_BYTES 40u

enum axis { SIZE, LINE, WAYS, LEVEL, AXES };

static const char *const axis_names[AXES] = {"size", "line", "ways", "level"};

static int add_value(struct sweep_axes *axes, enum axis axis, uint64_t value,
                     struct bt_error *error)
{
    unsigned *count = axis == SIZE   ? &axes->size_count
                      : axis == LINE ? &axes->line_count
                                     : &axes->ways_count;
    if (axis == LEVEL) {
        if (value < 1 || value > CACHE_LEVELS)
            return bt_fail(error, BT_USAGE, "level can be 1 to %u", CACHE_LEVELS);
        axes->level = (unsigned)value - 1;
        return 0;
    }
    if (*count == SWEEP_VALUES_MAX)
        return bt_fail(error, BT_USAGE, "%s can have %u values at most", axis_names[axis],
                       SWEEP_VALUES_MAX);
    if (axis != SIZE && value > UINT32_MAX / 2)
        return bt_fail(error, BT_USAGE, "%s is too large", axis_names[axis]);
    if (axis == SIZE)
        axes->sizes[(*count)++] = value;
    else if (axis == LINE)
        axes->lines[(*count)++] = (uint32_t)value;
    else
        axes->ways[(*count)++] = (uint32_t)value;
    return 0;
}

/* "4K" or "4K..1M" */
static int add_word(struct sweep_axes *axes, enum axis axis, char *word, struct bt_error *error)
{
    uint64_t from;
    uint64_t to;
    if (axis == WAYS && strcmp(word, "full") == 0)
        return add_value(axes, axis, 0, error);
    char *dots = strstr(word, "..");
    if (dots)
        *dots = '\0';
    if (quantity_bytes(&from, word, error) < 0 ||
        quantity_bytes(&to, dots ? dots + 2 : word, error) < 0)
        return bt_fail_within(error, "%s", axis_names[axis]);
    if (from == 0 || from > to)
        return bt_fail(error, BT_USAGE, "%s can go from 1 up to more, not from %.20s to %.20s",
                       axis_names[axis], word, dots ? dots + 2 : word);
    int result = 0;
    for (; from <= to && result == 0; from *= 2) {
        result = add_value(axes, axis, from, error);
        if (from > UINT64_MAX / 2)
            break;
    }
    return result;
}

static int find_axis(const char *name, size_t size)
{
    for (int axis = 0; axis < AXES; axis++)
        if (strlen(axis_names[axis]) == size && memcmp(axis_names[axis], name, size) == 0)
            return axis;
    return -1;
}

int sweep_axes_parse(struct sweep_axes *axes, const char *text, struct bt_error *error)
{
    int axis = -1;
    int result = 0;
    *axes = (struct sweep_axes){.level = 0};
    while (*text && result == 0) {
        char word[WORD_BYTES];
        size_t size = strcspn(text, ",");
        const char *equals = memchr(text, '=', size);
        const char *value = equals ? equals + 1 : text;
        if (equals)
            axis = find_axis(text, (size_t)(equals - text));
        size_t length = (size_t)(text + size - value);
        if (axis < 0 || length >= sizeof word)
            return bt_fail(
                error, BT_USAGE,
                "a sweep is over size, line and ways, 'size=4K..1M,ways=1..8,line=32,64' "
                "for instance, and perhaps of level=2; '%.40s' is not that",
                text);
        memcpy(word, value, length);
        word[length] = '\0';
        result = add_word(axes, (enum axis)axis, word, error);
        text += size + (text[size] == ',');
    }
    return result;
}
