/*
 * Accesses to objects, the references of libCacheSim. An object is an aligned block of object_size
 * bytes (struct foreign_options); its id is the address divided by that. A reference that crosses
 * objects accesses each of them, in ascending order.
 */
#ifndef FORMATS_FOREIGN_OBJECTS_H
#define FORMATS_FOREIGN_OBJECTS_H

#include "formats/base/named_fields.h"
#include "formats/foreign/foreign_options.h"
#include "formats/foreign/foreign_source.h"
#include "formats/record/record.h"

#define OBJECT_SIZE_MIN     16u /* so that no reference crosses more than OBJECTS_OF_ONE_MAX */
#define OBJECT_SIZE_DEFAULT 64u
#define OBJECTS_OF_ONE_MAX  17u

/* Conversion of addresses to objects and of ticks to times. */
struct NAMED_FIELDS objects {
    unsigned shift;     /* of an address to get an object */
    uint64_t time_unit; /* times in a second; 0: times are ticks */
    uint64_t clock_hz;  /* ticks in a second; 0: unknown, and times are ticks */
};

void objects_begin(struct objects *objects, const struct foreign_options *options);

/* Bytes of an object. */
static inline uint32_t objects_size(const struct objects *objects)
{
    return UINT32_C(1) << objects->shift;
}

/* A record's first object and its number of objects; ids wrap at 2^32 bytes. */
static inline uint32_t objects_first(const struct objects *objects, const struct record *record)
{
    return record->address >> objects->shift;
}

static inline uint32_t objects_count(const struct objects *objects, const struct record *record)
{
    uint32_t offset = record->address & (objects_size(objects) - 1);
    uint64_t bytes = record->size ? record->size : 1;
    return (uint32_t)((offset + bytes - 1) >> objects->shift) + 1;
}

/* The largest id. */
static inline uint32_t objects_last(const struct objects *objects)
{
    return UINT32_MAX >> objects->shift;
}

/* A tick in units of time. */
uint64_t objects_time(const struct objects *objects, uint64_t tick);

/* Converts an access to a reference. */
void objects_reference(const struct objects *objects, struct foreign_item *item, uint64_t time,
                       uint64_t object, uint64_t size, uint8_t type);

#endif
