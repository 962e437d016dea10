/* Prints the records of batches, as `bustap dump` and `bustap follow` do. */
#ifndef TOOLS_COMMON_RECORD_PRINT_H
#define TOOLS_COMMON_RECORD_PRINT_H

#include "formats/record/batch.h"
#include "formats/record/record_text.h"
#include "tools/common/output.h"

/* How records are printed. */
struct record_print {
    struct output *output; /* not owned */
    enum record_text form;
    bool raw; /* as records of 12 bytes; form is not used */
};

/* Prints the heading of the form, if there is one. 0, or a negative code of output_reserve. */
int record_print_heading(const struct record_print *print, struct bt_error *error);

/* Prints the records of a batch whose bits of selected are set (expression_select); NULL: all. 0,
 * or a negative code of output_reserve. */
int record_print_batch(const struct record_print *print, const struct batch *batch,
                       const uint64_t *selected, struct bt_error *error);

#endif
