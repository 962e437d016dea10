/* The header of a merged capture: what the headers of its inputs have in common. */
#ifndef TOOLS_CUT_MERGE_HEADER_H
#define TOOLS_CUT_MERGE_HEADER_H

#include "tools/cut/merge_clock.h"

/* Makes the header for count inputs, whose clocks are joined. Its id depends on all of theirs,
 * since indices of the merged capture are its own. 0; BT_USAGE if their buses differ. */
int merge_header_make(struct capture_info *info, const struct merge_clock *clock,
                      const struct merge_input *inputs, size_t count, struct bt_error *error);

#endif
