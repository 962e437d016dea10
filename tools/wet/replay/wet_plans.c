#include "tools/wet/replay/wet_plans.h"

#include "formats/base/grow.h"
#include "tools/wet/replay/wet_registers.h"

static int add_node(struct wet_plans *plans, uint32_t node)
{
    uint32_t *larger =
        grow_array(plans->nodes, &plans->node_capacity, plans->node_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    plans->nodes = larger;
    larger[plans->node_count++] = node;
    return 0;
}

/* Adds the bytes of a definition that no later instruction of the block writes. */
static int add_write(struct wet_plans *plans, size_t first, unsigned reg, uint64_t bytes,
                     uint32_t index)
{
    for (size_t i = first; i < plans->write_count; i++)
        if (plans->writes[i].reg == reg)
            bytes &= ~plans->writes[i].bytes;
    if (bytes == 0)
        return 0;
    struct wet_plan_write *larger =
        grow_array(plans->writes, &plans->write_capacity, plans->write_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    plans->writes = larger;
    larger[plans->write_count++] =
        (struct wet_plan_write){.bytes = bytes, .reg = (uint8_t)reg, .index = (uint8_t)index};
    return 0;
}

/* Whether what an instruction writes is known without its execution. */
static bool is_plain(const struct wet_flows *flows, const struct wet_flow *flow)
{
    const struct data_flow_part *definitions = wet_flows_definitions(flows, flow);
    if (flow->x87_pushes || flow->resets_x87)
        return false;
    for (unsigned i = 0; i < flow->definition_count; i++)
        if (definitions[i].kind == DATA_FLOW_X87 || definitions[i].condition != DATA_FLOW_ALWAYS)
            return false;
    return true;
}

/* The writes of a block, from its last instruction to its first. */
static int plan_writes(struct wet_plans *plans, struct wet_plan *plan, const uint32_t *ids,
                       uint32_t count, const struct wet_flows *flows)
{
    plan->first_write = (uint32_t)plans->write_count;
    plan->is_plain = true;
    for (uint32_t k = count; k-- > 0 && plan->is_plain;) {
        const struct wet_flow *flow = &flows->flows[ids[k]];
        const struct data_flow_part *definitions = wet_flows_definitions(flows, flow);
        plan->is_plain = is_plain(flows, flow);
        for (unsigned i = 0; plan->is_plain && i < flow->definition_count; i++)
            if (definitions[i].kind != DATA_FLOW_MEMORY &&
                add_write(plans, plan->first_write, wet_register_of(&definitions[i], 0),
                          definitions[i].bytes, k) < 0)
                return BT_MEMORY;
    }
    plan->write_count = (uint32_t)(plans->write_count - plan->first_write);
    return 0;
}

int wet_plans_make(struct wet_plans *plans, const struct wet_code *code,
                   const struct wet_flows *flows, const struct wet_graph *graph)
{
    *plans = (struct wet_plans){.plans = calloc(code->block_count + 1, sizeof *plans->plans)};
    if (!plans->plans)
        return BT_MEMORY;
    for (uint32_t block = 1; block < code->block_count; block++) {
        const uint32_t *ids = wet_code_ids(code, block), count = code->blocks[block].count;
        struct wet_plan *plan = &plans->plans[block];
        plan->first_node = (uint32_t)plans->node_count;
        for (uint32_t k = 0; k < count; k++)
            if (graph->begins_node[ids[k]] && add_node(plans, graph->node_of[ids[k]]) < 0)
                return BT_MEMORY;
        plan->node_count = (uint32_t)plans->node_count - plan->first_node;
        if (plan_writes(plans, plan, ids, count, flows) < 0)
            return BT_MEMORY;
    }
    return 0;
}

void wet_plans_clear(struct wet_plans *plans)
{
    free(plans->plans);
    free(plans->nodes);
    free(plans->writes);
    *plans = (struct wet_plans){.plans = NULL};
}
