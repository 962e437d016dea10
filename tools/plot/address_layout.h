/* Maps addresses to an axis with a bounded number of rows: either all addresses of a range, or only
 * those in use, with breaks in place of long unused stretches. */
#ifndef TOOLS_PLOT_ADDRESS_LAYOUT_H
#define TOOLS_PLOT_ADDRESS_LAYOUT_H

#include "tools/plot/address_map.h"
#include "tools/plot/figure.h"

/* Consecutive addresses. */
struct address_band {
    uint32_t first, last; /* row numbers, address >> shift, both included */
    size_t position;      /* position of the first row on the axis */
};

struct address_layout {
    unsigned shift; /* a row is 2^shift bytes */
    size_t scale;   /* positions of each row on the axis */
    size_t length;  /* length of the axis, at least 1 */
    size_t gap;     /* positions of a break between two bands */
    struct address_band *bands;
    size_t band_count; /* at least 1 */
};

/* Lays out the rows of a map on an axis of at most `most` (at least 8) positions. whole: all
 * addresses `from` to `to`, without breaks. 0 or BT_MEMORY; address_layout_free in any case. */
int address_layout_make(struct address_layout *layout, const struct address_map_row *rows,
                        size_t count, unsigned map_shift, size_t most, bool whole, uint32_t from,
                        uint32_t to, struct bt_error *error);
void address_layout_free(struct address_layout *layout);

/* The first position of the row of an address, which is in the map. */
size_t address_layout_position(const struct address_layout *layout, uint32_t address);

#define ADDRESS_LAYOUT_TICKS 64u
#define ADDRESS_LAYOUT_LABEL 12u

/* Makes labels at least `apart` positions from one another, at the start of the largest bands and
 * at round addresses. Returns their number. */
size_t address_layout_ticks(const struct address_layout *layout, size_t apart,
                            struct figure_tick ticks[ADDRESS_LAYOUT_TICKS],
                            char labels[ADDRESS_LAYOUT_TICKS][ADDRESS_LAYOUT_LABEL]);

#endif
