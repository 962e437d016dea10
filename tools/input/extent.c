#include "tools/input/extent.h"

#include "formats/base/quantity.h"

#include <string.h>

#define WORD_BYTES 40u

int extent_parse(struct extent *extent, const char *text, struct bt_error *error)
{
    static const char tail[] = "ticks";
    const size_t size = strlen(text);
    const size_t number = size - (sizeof tail - 1);
    const char *given = text;
    char word[WORD_BYTES];
    int64_t nanoseconds;
    *extent = (struct extent){.unit = EXTENT_REQUESTS};
    if (size >= sizeof tail && number < WORD_BYTES && strcmp(text + number, tail) == 0) {
        memcpy(word, text, number);
        word[number] = '\0';
        text = word;
        extent->unit = EXTENT_TICKS;
    }
    if (quantity_count(&extent->length, text, error) == 0 && extent->length > 0)
        return 0;
    if (extent->unit == EXTENT_REQUESTS && text[strcspn(text, "smhdu")] != 0 &&
        quantity_duration(&nanoseconds, text, error) == 0 && nanoseconds > 0) {
        *extent = (struct extent){.unit = EXTENT_TIME, .length = (uint64_t)nanoseconds};
        return 0;
    }
    return bt_fail(error, BT_USAGE,
                   "'%.40s' is neither a time (10ms), nor a number of requests (1M) or ticks "
                   "(1Mticks)",
                   given);
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
