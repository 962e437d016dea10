/*
 * Labels of the memory ports of a WET trace: whom each instance depends on, as what a prediction
 * does not tell. A port predicts that an instance depends on the same writers as the one before, in
 * one of three ways; it stores how many instances in a row were predicted, then what was not.
 * Specified in doc/wet-file.md, "Labels".
 *
 * Writers are ranges of instances of one instruction. The age of a range is the number of the
 * instruction's instances so far, less the range's first one.
 */
#ifndef FORMATS_WET_WET_LABELS_H
#define FORMATS_WET_WET_LABELS_H

#include "formats/base/error.h"
#include "formats/wet/wet_bytes.h"

#define WET_PREDICTED 16u /* sets of more ranges are not predicted */

/* Instances first to first + count - 1 of an instruction. */
struct wet_writers {
    uint32_t id;
    uint64_t first, count; /* count > 0 */
};

enum wet_prediction {
    WET_SAME_AGE,
    WET_SAME_DISTANCE, /* the instances have increased as the reader's has */
    WET_SAME_INSTANCE,
    WET_PREDICTIONS
};

struct wet_predicted {
    struct wet_writers writers;
    uint64_t age;
};

/* A port; zeroed before its first instance. Free with wet_port_clear(). */
struct wet_port {
    uint64_t reader;               /* instance of the last label */
    uint64_t run;                  /* number of predicted labels: so far, or still to be read */
    struct wet_predicted only;     /* the set of the last label, if it has one range */
    struct wet_predicted *several; /* if it has several: WET_PREDICTED of them; NULL: never had */
    uint32_t count;                /* number of ranges */
    uint8_t way;                   /* enum wet_prediction */
    bool has_run;                  /* reading: `run` has been read */
};

/* Forgets the set and the prediction; keeps the memory. */
void wet_port_reset(struct wet_port *port);
void wet_port_clear(struct wet_port *port);

/*
 * Appends the label of the next instance of the port: `count` ranges, ascending by id, then first,
 * that neither overlap nor touch. instances: by id, the numbers of instances so far. 0 or
 * BT_MEMORY.
 */
int wet_port_put_ranges(struct wet_port *port, uint64_t reader, const struct wet_writers *writers,
                        uint32_t count, const uint64_t *instances, struct wet_bytes *to);

/* Ends the port's bytes. 0 or BT_MEMORY. */
int wet_port_finish(struct wet_port *port, struct wet_bytes *to);

/* Whether the port predicts one writer, or (id 0) none; then this is the label. */
static inline bool wet_port_is_predicted(const struct wet_port *port, uint64_t reader, uint32_t id,
                                         uint64_t instance, const uint64_t *instances)
{
    const struct wet_predicted *only = &port->only;
    if (id == 0 || port->count != 1)
        return id == 0 && port->count == 0;
    if (only->writers.id != id || only->writers.count != 1)
        return false;
    switch ((enum wet_prediction)port->way) {
    case WET_SAME_AGE:
        return instances[id] - instance == only->age;
    case WET_SAME_DISTANCE:
        return instance - only->writers.first == reader - port->reader;
    default:
        return instance == only->writers.first;
    }
}

/* Notes that the port's prediction of one writer, or of none, is the label. */
static inline void wet_port_hit(struct wet_port *port, uint64_t reader, uint64_t instance,
                                uint64_t age)
{
    port->run++;
    port->reader = reader;
    port->only.writers.first = instance;
    port->only.age = age;
}

/* Appends the label of an instance that depends on one writer, or (id 0) on none. 0 or BT_MEMORY.
 */
static inline int wet_port_put(struct wet_port *port, uint64_t reader, uint32_t id,
                               uint64_t instance, const uint64_t *instances, struct wet_bytes *to)
{
    if (wet_port_is_predicted(port, reader, id, instance, instances)) {
        wet_port_hit(port, reader, instance, instances[id] - instance);
        return 0;
    }
    const struct wet_writers writers = {.id = id, .first = instance, .count = 1};
    return wet_port_put_ranges(port, reader, &writers, id != 0, instances, to);
}

/* Growing ranges. Zeroed is empty; the caller frees ranges. */
struct wet_ranges {
    struct wet_writers *ranges;
    size_t count, capacity;
};

/*
 * Reads the label of the next instance. ids: number of instructions; instances: by id up to it. 0,
 * BT_MEMORY, or BT_DATA: the bytes are no label, or name instances that do not exist.
 */
int wet_port_get(struct wet_port *port, uint64_t reader, uint32_t ids, const uint64_t *instances,
                 struct wet_cursor *from, struct wet_ranges *ranges);

#endif
