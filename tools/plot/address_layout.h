/*
 * Which addresses stand where on an axis with a bounded number of rows: all that lie between two
 * addresses, or those in use alone, with breaks where many that are not lie between them.
 */
#ifndef TOOLS_PLOT_ADDRESS_LAYOUT_H
#define TOOLS_PLOT_ADDRESS_LAYOUT_H

#include "tools/plot/address_map.h"
#include "tools/plot/figure.h"

/* Addresses that follow one another. */
struct address_band {
    uint32_t first, last; /* row numbers: address >> shift, both included */
    size_t place;         /* of its first row on the axis */
};

struct address_layout {
    unsigned shift; /* a row has 2^shift bytes, */
    size_t scale;   /* and so many places on the axis */
    size_t places;  /* on the axis, at least 1 */
    size_t gap;     /* places of a break between two bands */
    struct address_band *bands;
    size_t band_count; /* at least 1 */
};

/*
 * Lays out the rows of a map on an axis of at most `most` (at least 8) places. whole: no breaks,
 * all from the address from to the address to. 0 or BT_MEMORY; address_layout_free in any case.
 */
int address_layout_make(struct address_layout *layout, const struct address_map_row *rows,
                        size_t count, unsigned map_shift, size_t most, bool whole, uint32_t from,
                        uint32_t to, struct bt_error *error);
void address_layout_free(struct address_layout *layout);

/* The first place of an address that is in the map; the others of its row follow. */
size_t address_layout_position(const struct address_layout *layout, uint32_t address);

#define ADDRESS_LAYOUT_TICKS 64u
#define ADDRESS_LAYOUT_LABEL 12u

/*
 * Labels of addresses, at least `apart` places from one another: where the largest bands begin, and
 * round addresses in them. Returns how many.
 */
size_t address_layout_ticks(const struct address_layout *layout, size_t apart,
                            struct figure_tick ticks[ADDRESS_LAYOUT_TICKS],
                            char labels[ADDRESS_LAYOUT_TICKS][ADDRESS_LAYOUT_LABEL]);

#endif
