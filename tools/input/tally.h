/* Counts records by type, processor and size. */
#ifndef TOOLS_INPUT_TALLY_H
#define TOOLS_INPUT_TALLY_H

#include "formats/base/named_fields.h"
#include "formats/record/record.h"

#include <stdbool.h>

/* Counts for each value of an octet. */
struct NAMED_FIELDS tally {
    uint64_t types[256];
    uint64_t processors[256];
    uint64_t sizes[256];
};

/* Adds count records. */
void tally_add(struct tally *tally, const struct record *records, size_t count);

#endif
