#include "formats/wet/wet_labels.h"

/* After a number of predicted labels follows what the next one is: predicted in another way (the
 * way's number), or one of these. */
enum label_form {
    LABEL_AGES = WET_PREDICTIONS, /* same ids and counts: an age for each range */
    LABEL_STEPS,                  /* the same: the difference to the last first instance */
    LABEL_SET                     /* plus the number of ranges: each has id, age, count */
};

static struct wet_predicted *set_of(struct wet_port *port)
{
    return port->count <= 1 ? &port->only : port->several;
}

void wet_port_reset(struct wet_port *port)
{
    *port = (struct wet_port){.several = port->several};
}

void wet_port_clear(struct wet_port *port)
{
    free(port->several);
    *port = (struct wet_port){.several = NULL};
}

/* Makes a set the last one. The ages of sets that are not predicted are not needed. */
static int remember(struct wet_port *port, uint64_t reader, const struct wet_writers *writers,
                    uint32_t count, const uint64_t *instances)
{
    if (count > WET_PREDICTED)
        count = 0;
    if (count > 1 && !port->several)
        port->several = calloc(WET_PREDICTED, sizeof *port->several);
    if (count > 1 && !port->several)
        return BT_MEMORY;
    port->count = count;
    port->reader = reader;
    struct wet_predicted *set = set_of(port);
    for (uint32_t i = 0; i < count; i++)
        set[i] = (struct wet_predicted){.writers = writers[i],
                                        .age = instances[writers[i].id] - writers[i].first};
    return 0;
}

/* The first instance of a range that one way predicts. */
static uint64_t predict(const struct wet_port *port, const struct wet_predicted *predicted,
                        enum wet_prediction way, uint64_t reader, const uint64_t *instances)
{
    switch (way) {
    case WET_SAME_AGE:
        return instances[predicted->writers.id] - predicted->age;
    case WET_SAME_DISTANCE:
        return predicted->writers.first + (reader - port->reader);
    default:
        return predicted->writers.first;
    }
}

/* --- writing -----------------------------------------------------------------------------------
 */

/* Whether a set has the ids and counts of the last one. */
static bool has_shape(struct wet_port *port, const struct wet_writers *writers, uint32_t count)
{
    const struct wet_predicted *set = set_of(port);
    bool same = count == port->count;
    for (uint32_t i = 0; i < count && same; i++)
        same = set[i].writers.id == writers[i].id && set[i].writers.count == writers[i].count;
    return same;
}

static bool is_predicted(struct wet_port *port, uint64_t reader, const struct wet_writers *writers,
                         enum wet_prediction way, const uint64_t *instances)
{
    const struct wet_predicted *set = set_of(port);
    bool same = true;
    for (uint32_t i = 0; i < port->count && same; i++)
        same = predict(port, &set[i], way, reader, instances) == writers[i].first;
    return same;
}

/* Appends a set of the last one's shape, by ages or by steps, whichever is shorter. */
static void put_shaped(struct wet_port *port, const struct wet_writers *writers,
                       const uint64_t *instances, struct wet_bytes *to)
{
    const struct wet_predicted *set = set_of(port);
    unsigned ages = 0, steps = 0;
    for (uint32_t i = 0; i < port->count; i++) {
        ages += wet_number_size(instances[writers[i].id] - writers[i].first);
        steps += wet_number_size(wet_zigzag(writers[i].first - set[i].writers.first));
    }
    wet_bytes_put(to, ages <= steps ? LABEL_AGES : LABEL_STEPS);
    for (uint32_t i = 0; i < port->count; i++)
        wet_bytes_put(to, ages <= steps ? instances[writers[i].id] - writers[i].first
                                        : wet_zigzag(writers[i].first - set[i].writers.first));
}

static void put_set(const struct wet_port *port, const struct wet_writers *writers, uint32_t count,
                    const uint64_t *instances, struct wet_bytes *to)
{
    uint64_t id = port->only.writers.id;
    wet_bytes_put(to, LABEL_SET + (uint64_t)count);
    for (uint32_t i = 0; i < count; i++) {
        wet_bytes_put(to, wet_zigzag(writers[i].id - id));
        wet_bytes_put(to, instances[writers[i].id] - writers[i].first);
        wet_bytes_put(to, writers[i].count - 1);
        id = writers[i].id;
    }
}

int wet_port_put_ranges(struct wet_port *port, uint64_t reader, const struct wet_writers *writers,
                        uint32_t count, const uint64_t *instances, struct wet_bytes *to)
{
    const bool shaped = has_shape(port, writers, count);
    unsigned way = WET_PREDICTIONS;
    if (shaped && is_predicted(port, reader, writers, (enum wet_prediction)port->way, instances)) {
        port->run++;
        return remember(port, reader, writers, count, instances);
    }
    wet_bytes_put(to, port->run);
    port->run = 0;
    for (unsigned other = 0; shaped && other < WET_PREDICTIONS && way == WET_PREDICTIONS; other++)
        if (is_predicted(port, reader, writers, (enum wet_prediction)other, instances))
            way = other;
    if (way < WET_PREDICTIONS) {
        wet_bytes_put(to, way);
        port->way = (uint8_t)way;
    } else if (shaped) {
        put_shaped(port, writers, instances, to);
    } else {
        put_set(port, writers, count, instances, to);
    }
    return to->out_of_memory ? BT_MEMORY : remember(port, reader, writers, count, instances);
}

int wet_port_finish(struct wet_port *port, struct wet_bytes *to)
{
    if (port->run > 0)
        wet_bytes_put(to, port->run);
    port->run = 0;
    return to->out_of_memory ? BT_MEMORY : 0;
}

/* --- reading -----------------------------------------------------------------------------------
 */

/* Whether all instances of a range exist. */
static bool exists(const struct wet_writers *writers, uint32_t ids, const uint64_t *instances)
{
    return writers->id > 0 && writers->id <= ids && writers->count > 0 &&
           writers->count <= instances[writers->id] &&
           writers->first <= instances[writers->id] - writers->count;
}

/* Whether a range comes after the last one, and does not touch it. */
static bool follows(const struct wet_ranges *ranges, const struct wet_writers *writers)
{
    const struct wet_writers *last = ranges->count > 0 ? &ranges->ranges[ranges->count - 1] : NULL;
    return !last || last->id < writers->id ||
           (last->id == writers->id && writers->first > last->first + last->count);
}

static int add(struct wet_ranges *ranges, const struct wet_writers *writers, uint32_t ids,
               const uint64_t *instances)
{
    if (!exists(writers, ids, instances) || !follows(ranges, writers))
        return BT_DATA;
    struct wet_writers *larger =
        grow_array(ranges->ranges, &ranges->capacity, ranges->count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    ranges->ranges = larger;
    larger[ranges->count++] = *writers;
    return 0;
}

static int get_predicted(struct wet_port *port, uint64_t reader, uint32_t ids,
                         const uint64_t *instances, struct wet_ranges *ranges)
{
    const struct wet_predicted *set = set_of(port);
    int result = 0;
    for (uint32_t i = 0; i < port->count && result == 0; i++) {
        struct wet_writers writers = set[i].writers;
        writers.first = predict(port, &set[i], (enum wet_prediction)port->way, reader, instances);
        result = add(ranges, &writers, ids, instances);
    }
    return result;
}

static int get_shaped(struct wet_port *port, enum label_form form, uint32_t ids,
                      const uint64_t *instances, struct wet_cursor *from, struct wet_ranges *ranges)
{
    const struct wet_predicted *set = set_of(port);
    int result = 0;
    for (uint32_t i = 0; i < port->count && result == 0; i++) {
        struct wet_writers writers = set[i].writers;
        const uint64_t number = wet_cursor_get(from);
        writers.first = form == LABEL_AGES ? instances[writers.id] - number
                                           : writers.first + wet_unzigzag(number);
        result = from->failed ? BT_DATA : add(ranges, &writers, ids, instances);
    }
    return result;
}

static int get_set(const struct wet_port *port, uint64_t count, uint32_t ids,
                   const uint64_t *instances, struct wet_cursor *from, struct wet_ranges *ranges)
{
    uint64_t id = port->only.writers.id;
    int result = 0;
    for (uint64_t i = 0; i < count && result == 0; i++) {
        id += wet_unzigzag(wet_cursor_get(from));
        const uint64_t age = wet_cursor_get(from), more = wet_cursor_get(from);
        if (from->failed || id == 0 || id > ids)
            return BT_DATA;
        const struct wet_writers writers = {
            .id = (uint32_t)id, .first = instances[id] - age, .count = more + 1};
        result = add(ranges, &writers, ids, instances);
    }
    return result;
}

static int get_label(struct wet_port *port, uint64_t reader, uint32_t ids,
                     const uint64_t *instances, struct wet_cursor *from, struct wet_ranges *ranges)
{
    const uint64_t form = wet_cursor_get(from);
    port->has_run = false;
    if (from->failed)
        return BT_DATA;
    if (form < WET_PREDICTIONS) {
        port->way = (uint8_t)form;
        return get_predicted(port, reader, ids, instances, ranges);
    }
    if (form < LABEL_SET)
        return get_shaped(port, (enum label_form)form, ids, instances, from, ranges);
    return get_set(port, form - LABEL_SET, ids, instances, from, ranges);
}

int wet_port_get(struct wet_port *port, uint64_t reader, uint32_t ids, const uint64_t *instances,
                 struct wet_cursor *from, struct wet_ranges *ranges)
{
    int result;
    ranges->count = 0;
    if (!port->has_run) {
        /* predicted labels at the end are not followed by another one */
        port->run = wet_cursor_get(from);
        port->has_run = true;
    }
    if (from->failed)
        return BT_DATA;
    if (port->run > 0) {
        port->run--;
        result = get_predicted(port, reader, ids, instances, ranges);
    } else {
        result = get_label(port, reader, ids, instances, from, ranges);
    }
    return result == 0 ? remember(port, reader, ranges->ranges, (uint32_t)ranges->count, instances)
                       : result;
}
