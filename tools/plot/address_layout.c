#include "tools/plot/address_layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_SHARE  20u /* unused rows are kept if they are less than this fraction of all rows */
#define BREAK_SHARE 60u /* a break takes this fraction of the axis */

/* Finds the bands of rows of 2^shift bytes. Returns their number; *used becomes the number of their
 * rows. */
static size_t find_bands(struct address_band *bands, const struct address_map_row *rows,
                         size_t count, unsigned down, size_t kept, size_t *used)
{
    size_t found = 0;
    *used = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = (uint32_t)((uint64_t)rows[i].number >> down);
        if (found == 0 || row - bands[found - 1].last > kept + 1)
            bands[found++] = (struct address_band){.first = row, .last = row};
        bands[found - 1].last = row;
    }
    for (size_t i = 0; i < found; i++)
        *used += (size_t)(bands[i].last - bands[i].first) + 1;
    return found;
}

/* Assigns positions to the bands; on a small axis each row is larger. */
static void place_bands(struct address_layout *layout, size_t used, size_t most)
{
    size_t breaks = (layout->band_count - 1) * layout->gap;
    layout->scale = used > 0 && most - breaks > used ? (most - breaks) / used : 1;
    size_t position = 0;
    for (size_t i = 0; i < layout->band_count; i++) {
        struct address_band *band = &layout->bands[i];
        band->position = position;
        position += ((size_t)(band->last - band->first) + 1) * layout->scale;
        position += i + 1 < layout->band_count ? layout->gap : 0;
    }
    layout->length = position;
}

int address_layout_make(struct address_layout *layout, const struct address_map_row *rows,
                        size_t count, unsigned map_shift, size_t most, bool whole, uint32_t from,
                        uint32_t to, struct bt_error *error)
{
    size_t used;
    *layout = (struct address_layout){.shift = map_shift};
    layout->gap = most / BREAK_SHARE > 1 ? most / BREAK_SHARE : 2;
    layout->bands = calloc(count + 1, sizeof *layout->bands);
    if (!layout->bands)
        return bt_fail(error, BT_MEMORY, "no memory for an axis of addresses");
    for (;; layout->shift++) {
        unsigned down = layout->shift - map_shift;
        if (whole || count == 0) {
            layout->bands[0] =
                (struct address_band){.first = (uint32_t)((uint64_t)from >> layout->shift),
                                      .last = (uint32_t)((uint64_t)to >> layout->shift)};
            layout->band_count = 1;
            used = (size_t)(layout->bands[0].last - layout->bands[0].first) + 1;
        } else {
            layout->band_count =
                find_bands(layout->bands, rows, count, down, most / KEPT_SHARE, &used);
        }
        if (used + (layout->band_count - 1) * layout->gap <= most)
            break;
    }
    place_bands(layout, used, most);
    return 0;
}

void address_layout_free(struct address_layout *layout)
{
    free(layout->bands);
}

size_t address_layout_position(const struct address_layout *layout, uint32_t address)
{
    uint32_t row = (uint32_t)((uint64_t)address >> layout->shift);
    size_t low = 0;
    size_t high = layout->band_count - 1;
    while (low < high) { /* find the last band that begins at or below the row */
        size_t middle = (low + high + 1) / 2;
        if (layout->bands[middle].first <= row)
            low = middle;
        else
            high = middle - 1;
    }
    const struct address_band *band = &layout->bands[low];
    return band->position + (size_t)(row - band->first) * layout->scale;
}

/* --- labels --- */

struct tick_list {
    struct figure_tick *ticks;
    char (*labels)[ADDRESS_LAYOUT_LABEL];
    size_t count;
    size_t apart;
};

static void add_tick(struct tick_list *list, const struct address_layout *layout,
                     const struct address_band *band, uint32_t row)
{
    size_t position = band->position + (size_t)(row - band->first) * layout->scale;
    if (list->count == ADDRESS_LAYOUT_TICKS)
        return;
    for (size_t i = 0; i < list->count; i++) {
        double distance = (double)position - list->ticks[i].at;
        if (distance < (double)list->apart && -distance < (double)list->apart)
            return;
    }
    char *label = list->labels[list->count];
    snprintf(label, ADDRESS_LAYOUT_LABEL, "0x%08" PRIx32,
             (uint32_t)((uint64_t)row << layout->shift));
    list->ticks[list->count++] = (struct figure_tick){.at = (double)position, .label = label};
}

/* Labels round addresses, at multiples of a power of 2 of rows, as far as there is room. */
static void add_round(struct tick_list *list, const struct address_layout *layout,
                      const struct address_band *band)
{
    uint64_t step = 1;
    while (step * layout->scale < list->apart)
        step *= 2;
    for (uint64_t row = (band->first + step - 1) / step * step; row <= band->last; row += step)
        add_tick(list, layout, band, (uint32_t)row);
}

static size_t band_rows(const struct address_band *band)
{
    return (size_t)(band->last - band->first) + 1;
}

size_t address_layout_ticks(const struct address_layout *layout, size_t apart,
                            struct figure_tick ticks[ADDRESS_LAYOUT_TICKS],
                            char labels[ADDRESS_LAYOUT_TICKS][ADDRESS_LAYOUT_LABEL])
{
    struct tick_list list = {.ticks = ticks, .labels = labels, .count = 0, .apart = apart};
    size_t largest = 0;
    for (size_t i = 0; i < layout->band_count; i++)
        if (band_rows(&layout->bands[i]) > largest)
            largest = band_rows(&layout->bands[i]);
    for (; largest > 0; largest /= 2) /* larger bands get their labels first */
        for (size_t i = 0; i < layout->band_count; i++)
            if (band_rows(&layout->bands[i]) >= largest)
                add_tick(&list, layout, &layout->bands[i], layout->bands[i].first);
    for (size_t i = 0; i < layout->band_count; i++)
        add_round(&list, layout, &layout->bands[i]);
    return list.count;
}
