#include "formats/foreign/objects.h"

#include "formats/base/scale.h"

void objects_begin(struct objects *objects, const struct foreign_options *options)
{
    uint32_t size = options->object_size ? options->object_size : OBJECT_SIZE_DEFAULT;
    objects->shift = 31u - (unsigned)__builtin_clz(size);
    objects->time_unit = options->time_unit;
    objects->clock_hz = options->clock_hz;
}

uint64_t objects_time(const struct objects *objects, uint64_t tick)
{
    uint64_t unit = objects->time_unit;
    uint64_t clock = objects->clock_hz;
    if (unit == 0 || clock == 0)
        return tick;
    return scale_down(tick, unit, clock);
}

void objects_reference(const struct objects *objects, struct foreign_item *item, uint64_t time,
                       uint64_t object, uint64_t size, uint8_t type)
{
    /* an id beyond 64-bit addresses stays above the addresses that a record holds */
    uint64_t address =
        object > UINT64_MAX >> objects->shift ? UINT64_MAX : object << objects->shift;
    item->references[0] = (struct foreign_reference){
        .address = address, .size = size, .type = type, .attribute = ATTRIBUTE_WRITE_BACK};
    item->timed = FOREIGN_TICK;
    item->tick = time;
    item->clock_hz = objects->time_unit;
    item->count = 1;
}
