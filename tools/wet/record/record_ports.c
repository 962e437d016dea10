#include "tools/wet/record/record_ports.h"

void record_ports_clear(struct record_ports *ports)
{
    for (size_t i = 0; i < ports->port_count; i++) {
        struct record_port *port = record_ports_get(ports, i);
        wet_port_clear(&port->port);
        free(port->bytes.bytes);
    }
    for (size_t i = 0; i < ports->outcome_count; i++)
        free(record_ports_outcome(ports, i)->bytes.bytes);
    for (size_t i = 0; i < ports->port_count; i += RECORD_PORTS_AT_ONCE)
        free(ports->ports[i / RECORD_PORTS_AT_ONCE]);
    for (size_t i = 0; i < ports->outcome_count; i += RECORD_PORTS_AT_ONCE)
        free(ports->outcomes[i / RECORD_PORTS_AT_ONCE]);
    free(ports->ports);
    free(ports->outcomes);
    *ports = (struct record_ports){.ports = NULL};
}

struct record_port *record_ports_add(struct record_ports *ports, uint32_t id, uint32_t operand)
{
    const size_t row = ports->port_count / RECORD_PORTS_AT_ONCE;
    if (ports->port_count % RECORD_PORTS_AT_ONCE == 0) {
        struct record_port **larger =
            grow_array(ports->ports, &ports->port_capacity, row + 1, sizeof *larger);
        if (!larger)
            return NULL;
        ports->ports = larger;
        larger[row] = calloc(RECORD_PORTS_AT_ONCE, sizeof *larger[row]);
        if (!larger[row])
            return NULL;
    }
    struct record_port *port = record_ports_get(ports, ports->port_count++);
    port->id = id;
    port->operand = operand;
    return port;
}

struct record_outcome *record_ports_add_outcome(struct record_ports *ports, uint32_t id)
{
    const size_t row = ports->outcome_count / RECORD_PORTS_AT_ONCE;
    if (ports->outcome_count % RECORD_PORTS_AT_ONCE == 0) {
        struct record_outcome **larger =
            grow_array(ports->outcomes, &ports->outcome_capacity, row + 1, sizeof *larger);
        if (!larger)
            return NULL;
        ports->outcomes = larger;
        larger[row] = calloc(RECORD_PORTS_AT_ONCE, sizeof *larger[row]);
        if (!larger[row])
            return NULL;
    }
    struct record_outcome *outcome = record_ports_outcome(ports, ports->outcome_count++);
    outcome->id = id;
    return outcome;
}

static int finish_labels(struct record_ports *ports, struct wet_chunk *chunk)
{
    uint32_t last = 0;
    for (size_t i = 0; i < ports->port_count; i++) {
        struct record_port *port = record_ports_get(ports, i);
        if (wet_port_finish(&port->port, &port->bytes) < 0)
            return BT_MEMORY;
        if (port->bytes.size == 0)
            continue;
        wet_chunk_put_labels(chunk, port->id, port->operand, &port->bytes, &last);
        wet_port_reset(&port->port);
        port->bytes.size = 0;
    }
    return 0;
}

static int finish_outcomes(struct record_ports *ports, struct wet_chunk *chunk)
{
    uint32_t last = 0;
    for (size_t i = 0; i < ports->outcome_count; i++) {
        struct record_outcome *outcome = record_ports_outcome(ports, i);
        wet_outcomes_finish(&outcome->outcomes, &outcome->bytes);
        if (outcome->bytes.out_of_memory)
            return BT_MEMORY;
        if (outcome->bytes.size == 0)
            continue;
        wet_chunk_put_outcomes(chunk, outcome->id, &outcome->bytes, &last);
        outcome->outcomes = (struct wet_outcomes){.run = 0};
        outcome->bytes.size = 0;
    }
    return 0;
}

int record_ports_finish(struct record_ports *ports, struct wet_chunk *chunk)
{
    if (finish_labels(ports, chunk) < 0 || finish_outcomes(ports, chunk) < 0)
        return BT_MEMORY;
    for (unsigned i = 0; i < WET_STREAMS; i++)
        if (chunk->streams[i].out_of_memory)
            return BT_MEMORY;
    return 0;
}
