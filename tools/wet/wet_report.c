#include "tools/wet/wet_report.h"

/* --- loads -------------------------------------------------------------------------------------
 */

/* The writers of one load. */
struct writers {
    const struct wet_store *latest; /* store; NULL: none */
    bool has_system, has_lost;
    struct wet_depth depth;
};

/* Takes instances of one instruction, from the latest backwards. */
static void take_range(const struct wet_report *report, const struct wet_step *step,
                       const struct wet_writers *range, struct writers *found)
{
    uint64_t count = range->count;
    if (range->id == step->id && range->first + count - 1 == step->instance)
        count--; /* a repeated move that reads what itself has written */
    for (uint64_t i = count; i-- > 0;) {
        const struct wet_store *store = wet_stores_get(&report->kept, range->id, range->first + i);
        if (!store) {
            found->has_lost = true;
            return; /* those before it are older */
        }
        wet_depth_raise(&found->depth, &store->depth);
        found->has_system |= !store->is_store;
        if (store->is_store && (!found->latest || store->number > found->latest->number))
            found->latest = store;
    }
}

/* Counts a load. */
static void count_load(struct wet_report *report, const struct wet_step *step,
                       const struct writers *found)
{
    struct wet_report_load *load = &report->load_of[step->id];
    report->loads++;
    report->cut += found->has_lost;
    load->loads++;
    if (!found->latest) {
        report->sources[found->has_system ? WET_REPORT_SYSTEM
                        : found->has_lost ? WET_REPORT_FARTHER
                                          : WET_REPORT_NOTHING]++;
        return;
    }
    const uint64_t distance = report->stores - found->latest->stores - 1;
    report->sources[WET_REPORT_STORE]++;
    report->by_stores[wet_report_bucket(distance)]++;
    report->by_instructions[wet_report_bucket(step->number - found->latest->number)]++;
    if (load->stores++ == 0 || distance < load->nearest)
        load->nearest = distance;
    load->near += distance < report->settings.within;
}

/* --- instructions ------------------------------------------------------------------------------
 */

/* The depth of an instance; counts its loads. */
static struct wet_depth find_depth(struct wet_report *report, const struct wet_step *step)
{
    const struct wet_flow *flow = &report->trace->flows.flows[step->id];
    const struct data_flow_part *ports = wet_flows_ports(&report->trace->flows, flow);
    const bool accesses = step->defines || !report->kinds[step->id].is_repeated;
    struct wet_depth depth = {.data = 0}, control;
    uint32_t at = 0;
    for (unsigned i = 0; i < flow->port_count; i++) {
        struct writers found = {.latest = NULL};
        for (; at < step->ends[i]; at++) {
            const struct wet_writers *range = &step->writers[at];
            if (ports[i].kind == DATA_FLOW_MEMORY)
                take_range(report, step, range, &found);
            else
                found.depth = wet_depths_get(&report->depths, range->id, range->first);
            wet_depth_raise(&depth, &found.depth);
        }
        if (ports[i].kind == DATA_FLOW_MEMORY && accesses)
            count_load(report, step, &found);
    }
    if (step->control.id) {
        control = wet_depths_get(&report->depths, step->control.id, step->control.instance);
        depth.all = depth.all > control.all ? depth.all : control.all;
    }
    return (struct wet_depth){.data = depth.data + 1, .all = depth.all + 1};
}

static int take_step(void *context, const struct wet_step *step)
{
    struct wet_report *report = context;
    const struct wet_report_kind *kind = &report->kinds[step->id];
    const struct wet_instance instance = {.id = step->id, .instance = step->instance};
    const struct wet_depth depth = find_depth(report, step);
    wet_depth_raise(&report->path, &depth);
    int result = wet_depths_put(&report->depths, report->replay, instance, depth);
    if (result == 0 && (kind->stores || kind->is_system)) {
        const struct wet_store store = {.number = step->number,
                                        .stores = report->stores,
                                        .depth = depth,
                                        .id = step->id,
                                        .is_store = kind->stores};
        result = wet_stores_put(&report->kept, step->instance, &store);
        report->stores += kind->stores && (step->defines || !kind->is_repeated);
    }
    if (result == 0 && step->value)
        result = wet_locality_add(&report->locality, step->id, step->value,
                                  report->trace->flows.flows[step->id].value_size);
    return result;
}

/* --- interface ---------------------------------------------------------------------------------
 */

static struct wet_report_kind kind_of(const struct wet_flows *flows, const struct wet_flow *flow)
{
    const struct data_flow_part *definitions = wet_flows_definitions(flows, flow);
    struct wet_report_kind kind = {.loads = flow->memory_ports > 0,
                                   .is_system = flow->kind == DECODE_SYSTEM_CALL};
    for (unsigned i = 0; i < flow->definition_count; i++) {
        kind.stores |= definitions[i].kind == DATA_FLOW_MEMORY;
        kind.is_repeated |= definitions[i].condition == DATA_FLOW_IF_REPEATED;
    }
    return kind;
}

/* How many stores are kept: never more than can be in the file. */
static uint32_t store_limit(const struct wet_report *report)
{
    const struct wet_file *file = &report->trace->file;
    uint64_t limit = report->settings.max_memory / 2 / WET_STORES_BYTES, instructions = 1;
    for (size_t i = 0; i < file->place_count; i++)
        instructions +=
            file->places[i].instructions < UINT32_MAX ? file->places[i].instructions : UINT32_MAX;
    limit = limit < instructions ? limit : instructions;
    return limit < UINT32_MAX / 2 ? (uint32_t)limit : UINT32_MAX / 2;
}

int wet_report_init(struct wet_report *report, struct wet_trace *trace,
                    const struct wet_report_settings *settings, struct bt_error *error)
{
    static const struct wet_replay_operations operations = {.step = take_step};
    const size_t ids = trace->file.code.instruction_count;
    const unsigned wanted =
        WET_WANTS_CONTROL | WET_WANTS_MEMORY | WET_WANTS_REGISTERS | WET_WANTS_VALUES;
    *report = (struct wet_report){.trace = trace,
                                  .settings = *settings,
                                  .has_values = trace->file.header.has_values,
                                  .load_of = calloc(ids, sizeof *report->load_of),
                                  .kinds = calloc(ids, sizeof *report->kinds)};
    if (!report->load_of || !report->kinds ||
        wet_stores_init(&report->kept, ids, store_limit(report)) < 0 ||
        wet_locality_init(&report->locality, ids,
                          (size_t)(settings->max_memory / 2 / WET_LOCALITY_BYTES)) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the report; --max-memory may be smaller");
    for (size_t id = 1; id < ids; id++)
        report->kinds[id] = kind_of(&trace->flows, &trace->flows.flows[id]);
    report->replay = wet_replay_new(trace, wanted, &operations, report, error);
    return report->replay ? 0 : BT_MEMORY;
}

void wet_report_clear(struct wet_report *report)
{
    wet_replay_free(report->replay);
    wet_stores_clear(&report->kept);
    wet_locality_clear(&report->locality);
    wet_depths_clear(&report->depths);
    free(report->load_of);
    free(report->kinds);
    *report = (struct wet_report){.trace = NULL};
}

int wet_report_next(struct wet_report *report, struct bt_error *error)
{
    return wet_replay_next(report->replay, error);
}

uint64_t wet_report_instructions(const struct wet_report *report)
{
    return wet_replay_instructions(report->replay);
}

enum wet_report_class wet_report_class(const struct wet_report *report, uint32_t id)
{
    return report->kinds[id].loads    ? WET_REPORT_LOADS
           : report->kinds[id].stores ? WET_REPORT_STORES
                                      : WET_REPORT_OTHERS;
}

unsigned wet_report_bucket(uint64_t distance)
{
    return distance ? 64u - (unsigned)__builtin_clzll(distance) : 0;
}

uint64_t wet_report_bucket_start(unsigned bucket)
{
    return bucket ? UINT64_C(1) << (bucket - 1) : 0;
}
