#include "formats/record/filter.h"

#define ALL_TYPES ((1u << REQUEST_TYPES) - 1u)

struct filter filter_all(void)
{
    return (struct filter){.types = ALL_TYPES, .processors = 0xff};
}

static bool type_matches(const struct filter *filter, uint8_t type)
{
    unsigned ordinal = request_type_ordinal(type);
    return ordinal < REQUEST_TYPES ? filter->types >> ordinal & 1u : filter->types == ALL_TYPES;
}

static bool address_matches(const struct filter *filter, uint32_t address)
{
    for (unsigned i = 0; i < filter->range_count; i++)
        if (address >= filter->ranges[i].low && address <= filter->ranges[i].high)
            return !filter->outside;
    return filter->range_count == 0 || filter->outside;
}

bool filter_match(const struct filter *filter, const struct record *record)
{
    bool processor = record->processor < 8 ? filter->processors >> record->processor & 1
                                           : filter->processors == 0xff;
    return processor && type_matches(filter, record->type) &&
           address_matches(filter, record->address);
}
