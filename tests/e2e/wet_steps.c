/*
 * Prints a WET file for twins, as a replay yields it: a line for each instruction,
 *
 *     I id size-of-value loads stores repeated system-call
 *
 * then one for each execution,
 *
 *     S id instance defines control-id#instance value ports
 *
 * where value is hexadecimal, the lowest byte first, or -, and a port is r or m, followed by
 * :id#first+count for each range of its writers.
 */
#include "tools/wet/replay/wet_replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct steps {
    struct wet_trace trace;
    uint64_t number; /* of the next one */
    bool wrong;      /* steps are not numbered one by one */
};

static void print_value(const struct wet_flow *flow, const uint8_t *value)
{
    if (!value)
        fputs(" -", stdout);
    for (unsigned i = 0; value && i < flow->value_size; i++)
        printf("%s%02x", i == 0 ? " " : "", value[i]);
}

static int print_step(void *context, const struct wet_step *step)
{
    struct steps *steps = context;
    const struct wet_flow *flow = &steps->trace.flows.flows[step->id];
    const struct data_flow_part *ports = wet_flows_ports(&steps->trace.flows, flow);
    uint32_t at = 0;
    steps->wrong |= step->number != steps->number++;
    printf("S %" PRIu32 " %" PRIu64 " %d %" PRIu32 "#%" PRIu64, step->id, step->instance,
           step->defines, step->control.id, step->control.id ? step->control.instance : 0);
    print_value(flow, step->value);
    for (unsigned i = 0; i < flow->port_count; i++) {
        printf(" %c", ports[i].kind == DATA_FLOW_MEMORY ? 'm' : 'r');
        for (; at < step->ends[i]; at++)
            printf(":%" PRIu32 "#%" PRIu64 "+%" PRIu64, step->writers[at].id,
                   step->writers[at].first, step->writers[at].count);
    }
    putchar('\n');
    return 0;
}

static void print_instructions(const struct wet_trace *trace)
{
    const struct wet_flows *flows = &trace->flows;
    for (size_t id = 1; id < flows->count; id++) {
        const struct wet_flow *flow = &flows->flows[id];
        const struct data_flow_part *definitions = wet_flows_definitions(flows, flow);
        bool stores = false, repeated = false;
        for (unsigned i = 0; i < flow->definition_count; i++) {
            stores |= definitions[i].kind == DATA_FLOW_MEMORY;
            repeated |= definitions[i].condition == DATA_FLOW_IF_REPEATED;
        }
        printf("I %zu %u %d %d %d %d\n", id, flow->value_size, flow->memory_ports > 0, stores,
               repeated, flow->kind == DECODE_SYSTEM_CALL);
    }
}

int main(int argc, char **argv)
{
    static const struct wet_replay_operations operations = {.step = print_step};
    struct steps steps = {.number = 0};
    struct wet_replay *replay = NULL;
    struct bt_error error = {.message = "usage: wet_steps FILE.wet"};
    int result = argc == 2 ? wet_trace_open(&steps.trace, argv[1], &error) : -1;
    if (result == 0) {
        print_instructions(&steps.trace);
        replay = wet_replay_new(&steps.trace,
                                WET_WANTS_CONTROL | WET_WANTS_MEMORY | WET_WANTS_REGISTERS |
                                    WET_WANTS_VALUES,
                                &operations, &steps, &error);
        result = replay ? wet_replay_all(replay, &error) : -1;
    }
    if (result < 0)
        fprintf(stderr, "%s\n", error.message);
    wet_replay_free(replay);
    if (argc == 2)
        wet_trace_close(&steps.trace);
    return result < 0 || steps.wrong;
}
