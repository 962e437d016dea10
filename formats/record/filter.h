/*
 * A filter of requests by type, processor and address, with the meaning of the configure command
 * (doc/wire-protocol.md, "Configure"). The board applies it. Freestanding.
 */
#ifndef FORMATS_RECORD_FILTER_H
#define FORMATS_RECORD_FILTER_H

#include "formats/base/named_fields.h"
#include "formats/record/record.h"

#include <stdbool.h>

#define FILTER_RANGES 8u
#define FILTER_BYTES  80u /* in a configure command */

struct NAMED_FIELDS filter_range {
    uint32_t low, high; /* both included */
};

struct filter {
    uint32_t types;      /* bit n: requests whose type has ordinal n pass */
    uint8_t processors;  /* bit n: processor n passes */
    uint8_t range_count; /* 0: every address passes */
    bool outside;        /* addresses outside all ranges pass, instead of those inside one */
    struct filter_range ranges[FILTER_RANGES];
};

/* A filter that passes everything. */
struct filter filter_all(void);

/* Whether the record passes. A type without an ordinal, or a processor above 7, passes only if the
 * filter does not restrict that field. */
bool filter_match(const struct filter *filter, const struct record *record);

#endif
