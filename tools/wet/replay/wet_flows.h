/*
 * What the instructions of a WET trace read and define: data_flow_of() of each, compact, by id.
 */
#ifndef TOOLS_WET_REPLAY_WET_FLOWS_H
#define TOOLS_WET_REPLAY_WET_FLOWS_H

#include "capture/exec/translate/data_flow.h"
#include "formats/wet/wet_code.h"

/* An instruction. Its data ports are parts[first] and so on, then come its definitions. */
struct wet_flow {
    uint32_t first;
    uint8_t port_count, definition_count; /* ports without the control one */
    uint8_t memory_ports;                 /* number of ports of memory: they have labels */
    bool has_outcome;      /* some definition, or the value, depends on the execution */
    bool has_value;        /* VALUES */
    bool value_is_outcome; /* the value is defined only if the outcome is true */
    uint8_t value_size;    /* in bytes */
    uint8_t kind;          /* enum decode_kind */
    int8_t x87_pushes;
    bool resets_x87;
    uint64_t target; /* of direct branches */
};

/* Zeroed is empty. */
struct wet_flows {
    struct wet_flow *flows; /* by id; 0 is none */
    size_t count;           /* the largest id plus 1 */
    struct data_flow_part *parts;
    size_t part_count;
    size_t capacity, part_capacity; /* private */
};

/* Adds the instructions of the code that are not there yet. 0 or BT_MEMORY. */
int wet_flows_update(struct wet_flows *flows, const struct wet_code *code);
void wet_flows_clear(struct wet_flows *flows);

static inline const struct data_flow_part *wet_flows_ports(const struct wet_flows *flows,
                                                           const struct wet_flow *flow)
{
    return flows->parts + flow->first;
}

static inline const struct data_flow_part *wet_flows_definitions(const struct wet_flows *flows,
                                                                 const struct wet_flow *flow)
{
    return flows->parts + flow->first + flow->port_count;
}

/* Number of ports in the text: with the control one. */
static inline uint32_t wet_flow_ports(const struct wet_flow *flow)
{
    return flow->port_count + 1u;
}

#endif
