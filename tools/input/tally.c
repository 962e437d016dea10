#include "tools/input/tally.h"

#include <string.h>

/*
 * Adjacent records mostly have the same type, size and processor: separate counters for LANES
 * adjacent records avoid store-to-load dependencies between increments.
 */
#define LANES 4u

struct lanes {
    uint32_t types[LANES][256];
    uint32_t processors[LANES][256];
    uint32_t sizes[LANES][256];
};

static void count_one(struct lanes *lanes, unsigned lane, const struct record *record)
{
    lanes->types[lane][record->type]++;
    lanes->processors[lane][record->processor]++;
    lanes->sizes[lane][record->size]++;
}

void tally_add(struct tally *tally, const struct record *records, size_t count)
{
    /* 32-bit counters cannot overflow in a piece of this many records */
    const size_t piece = (size_t)1 << 30;
    for (; count > piece; count -= piece, records += piece)
        tally_add(tally, records, piece);
    struct lanes lanes;
    memset(&lanes, 0, sizeof lanes);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (unsigned lane = 0; lane < LANES; lane++)
            count_one(&lanes, lane, &records[i + lane]);
    for (; i < count; i++)
        count_one(&lanes, 0, &records[i]);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned value = 0; value < 256; value++) {
            tally->types[value] += lanes.types[lane][value];
            tally->processors[value] += lanes.processors[lane][value];
            tally->sizes[value] += lanes.sizes[lane][value];
        }
}
