/*
 * The labels and outcomes of a chunk that is being recorded: for each memory port and each
 * conditional instruction the bytes so far, with the state of their predictor.
 */
#ifndef TOOLS_WET_RECORD_RECORD_PORTS_H
#define TOOLS_WET_RECORD_RECORD_PORTS_H

#include "formats/wet/wet_chunk.h"
#include "formats/wet/wet_labels.h"

#define RECORD_PORTS_AT_ONCE 512u

struct record_port {
    struct wet_port port;
    struct wet_bytes bytes;
    uint32_t id, operand;
};

struct record_outcome {
    struct wet_outcomes outcomes;
    struct wet_bytes bytes;
    uint32_t id;
};

/* Zeroed is empty. Elements keep their addresses. */
struct record_ports {
    struct record_port **ports; /* RECORD_PORTS_AT_ONCE each */
    size_t port_count, port_capacity;
    struct record_outcome **outcomes;
    size_t outcome_count, outcome_capacity;
};

void record_ports_clear(struct record_ports *ports);

/* The port of an instruction's memory operand, or an instruction's outcomes. They are added
 * ascending by id, then operand. NULL: no memory. */
struct record_port *record_ports_add(struct record_ports *ports, uint32_t id, uint32_t operand);
struct record_outcome *record_ports_add_outcome(struct record_ports *ports, uint32_t id);

/* The port with a number, from 0 in the order in which they were added. */
static inline struct record_port *record_ports_get(const struct record_ports *ports, size_t number)
{
    return &ports->ports[number / RECORD_PORTS_AT_ONCE][number % RECORD_PORTS_AT_ONCE];
}

static inline struct record_outcome *record_ports_outcome(const struct record_ports *ports,
                                                          size_t number)
{
    return &ports->outcomes[number / RECORD_PORTS_AT_ONCE][number % RECORD_PORTS_AT_ONCE];
}

/* Moves all labels and outcomes into a chunk, and resets the predictors. 0 or BT_MEMORY. */
int record_ports_finish(struct record_ports *ports, struct wet_chunk *chunk);

#endif
