/*
 * A source that removes the records of another one that do not match an expression: the part of a
 * capture's filter that its board cannot do. What remains keeps its ticks and losses; indices count
 * the remaining records and the losses. Removed records count as filtered, not as accepted.
 */
#ifndef CAPTURE_FILTER_SOURCE_H
#define CAPTURE_FILTER_SOURCE_H

#include "formats/record/expression.h"
#include "formats/record/source.h"

/*
 * Takes ownership of the source and of the expression, also on failure. board_filter: the text of
 * the filter that the source itself applies, "" for none, for capture_info. source_next returns 1
 * also for a batch from which every record was removed. NULL and *error on failure; BT_USAGE if the
 * expression needs a clock and the source has none.
 */
struct source *filter_source_new(struct source *source, struct expression *expression,
                                 const char *board_filter, struct bt_error *error);

#endif
