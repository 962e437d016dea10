#include "tools/wet/replay/wet_flows.h"

#include "formats/base/grow.h"

#include <string.h>

static int add_parts(struct wet_flows *flows, const struct data_flow_part *parts, unsigned count)
{
    struct data_flow_part *larger = grow_array(flows->parts, &flows->part_capacity,
                                               flows->part_count + count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    flows->parts = larger;
    memcpy(larger + flows->part_count, parts, count * sizeof *parts);
    flows->part_count += count;
    return 0;
}

static struct wet_flow compact(const struct data_flow *full,
                               const struct decode_instruction *decoded, size_t first)
{
    struct wet_flow flow = {.first = (uint32_t)first,
                            .port_count = full->port_count,
                            .definition_count = full->definition_count,
                            .has_value = full->has_value,
                            .value_size = full->value_size,
                            .value_is_outcome =
                                full->has_value && full->value.condition != DATA_FLOW_ALWAYS,
                            .kind = decoded->kind,
                            .x87_pushes = full->x87_pushes,
                            .resets_x87 = full->resets_x87,
                            .target = decoded->target};
    for (unsigned i = 0; i < full->port_count; i++)
        flow.memory_ports += full->ports[i].kind == DATA_FLOW_MEMORY;
    for (unsigned i = 0; i < full->definition_count; i++)
        flow.has_outcome |= full->definitions[i].condition != DATA_FLOW_ALWAYS;
    flow.has_outcome |= flow.value_is_outcome;
    return flow;
}

int wet_flows_update(struct wet_flows *flows, const struct wet_code *code)
{
    struct data_flow full;
    struct decode_instruction decoded;
    struct wet_flow *larger =
        grow_array(flows->flows, &flows->capacity, code->instruction_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    flows->flows = larger;
    if (flows->count == 0)
        larger[flows->count++] = (struct wet_flow){.kind = DECODE_STRAIGHT};
    while (flows->count < code->instruction_count) {
        const struct wet_instruction *instruction = &code->instructions[flows->count];
        decode(&decoded, instruction->bytes, instruction->size, instruction->address);
        data_flow_of(&full, &decoded);
        larger[flows->count++] = compact(&full, &decoded, flows->part_count);
        if (add_parts(flows, full.ports, full.port_count) < 0 ||
            add_parts(flows, full.definitions, full.definition_count) < 0)
            return BT_MEMORY;
    }
    return 0;
}

void wet_flows_clear(struct wet_flows *flows)
{
    free(flows->flows);
    free(flows->parts);
    *flows = (struct wet_flows){.flows = NULL};
}
