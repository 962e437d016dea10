#include "formats/base/extent.h"

#include "formats/base/quantity.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define WORD_BYTES 64u

/* The length of text without the unit "ticks" or "tick" at its end; all of it without one. */
static size_t before_unit(const char *text)
{
    static const char *const units[] = {"ticks", "tick"};
    const size_t size = strlen(text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t unit = strlen(units[i]);
        if (size > unit && strcasecmp(text + size - unit, units[i]) == 0)
            return size - unit;
    }
    return size;
}

/* A whole number: 1.5M is one, 1.5 is not. */
static bool take_count(uint64_t *count, const char *text, size_t length)
{
    char word[WORD_BYTES];
    if (length == 0 || length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    const bool part = strchr(word, '.') && word[length - 1] >= '0' && word[length - 1] <= '9';
    return !part && quantity_count(count, word, NULL) == 0;
}

static bool take_ticks(struct extent *extent, const char *text)
{
    const size_t length = before_unit(text);
    *extent = (struct extent){.unit = EXTENT_TICKS};
    return text[length] && take_count(&extent->length, text, length);
}

static bool take_time(struct extent *extent, const char *text)
{
    int64_t nanoseconds;
    if (quantity_duration(&nanoseconds, text, NULL) < 0)
        return false;
    *extent = (struct extent){.unit = EXTENT_TIME, .length = (uint64_t)nanoseconds};
    return true;
}

int extent_parse_or_zero(struct extent *extent, const char *text, struct bt_error *error)
{
    if (take_ticks(extent, text))
        return 0;
    *extent = (struct extent){.unit = EXTENT_REQUESTS};
    if (take_count(&extent->length, text, strlen(text)))
        return 0;
    /* "1.5" has no unit */
    if (*text && strchr("0123456789", text[strlen(text) - 1]) == NULL && take_time(extent, text))
        return 0;
    *extent = (struct extent){.unit = EXTENT_NONE};
    return bt_fail(error, BT_USAGE,
                   "'%.40s' is neither a time (10ms), nor a number of requests (1M) or ticks "
                   "(1Mticks)",
                   text);
}

int extent_parse(struct extent *extent, const char *text, struct bt_error *error)
{
    const int result = extent_parse_or_zero(extent, text, error);
    if (result == 0 && extent->length == 0)
        return bt_fail(error, BT_USAGE, "'%.40s' is not above 0", text);
    return result;
}

int extent_parse_time(struct extent *extent, const char *text, struct bt_error *error)
{
    if (take_ticks(extent, text) || take_time(extent, text))
        return 0;
    *extent = (struct extent){.unit = EXTENT_NONE};
    return bt_fail(error, BT_USAGE, "'%.40s' is neither a time (10ms, 1.5s) nor ticks (1Mticks)",
                   text);
}

int extent_in_ticks(struct extent *extent, uint64_t clock_hz, struct bt_error *error)
{
    if (extent->unit != EXTENT_TIME)
        return 0;
    if (clock_hz == 0)
        return bt_fail(error, BT_USAGE,
                       "the trace does not specify its clock: give ticks or requests");
    const double ticks = (double)extent->length / 1e9 * (double)clock_hz;
    extent->unit = EXTENT_TICKS;
    extent->length = ticks < 1 ? 1 : ticks >= 0x1p63 ? UINT64_MAX / 2 : (uint64_t)(ticks + 0.5);
    return 0;
}
