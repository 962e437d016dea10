/* Forward slices. */
#include "tools/wet/slice/slice_walk.h"

/* A replay that finds what depends on the criterion. */
struct forward {
    const struct wet_trace *trace;
    const struct slice_settings *settings;
    struct slice_result *result; /* members: the slice so far */
    struct slice_set criterion;
    bool has_links;
    struct slice_map links; /* distances of the members */
    struct slice_plain plain;
    uint32_t distance; /* of the current step, as known so far */
};

static bool is_member(void *context, struct wet_instance instance)
{
    const struct forward *forward = context;
    return forward->result->counts[instance.id] > 0 &&
           slice_set_has(&forward->result->members, instance.id, instance.instance);
}

/* Notes that the current step depends on a member. */
static int consider(void *context, enum slice_kind kind, struct wet_instance writer)
{
    struct forward *forward = context;
    const uint32_t found =
        forward->has_links ? slice_map_find(&forward->links, writer)->distance : 0;
    (void)kind;
    if (forward->distance > found + 1)
        forward->distance = found + 1;
    return 0;
}

static int take_step(void *context, const struct wet_step *step)
{
    struct forward *forward = context;
    struct slice_result *result = forward->result;
    const bool is_criterion = slice_set_has(&forward->criterion, step->id, step->instance);
    forward->distance = is_criterion ? 0 : UINT32_MAX;
    if (!is_criterion && result->instances > 0 && !forward->settings->data && step->control.id &&
        is_member(forward, step->control))
        consider(forward, SLICE_CONTROL, step->control);
    if ((is_criterion || result->instances > 0) &&
        slice_plain_step(&forward->plain, step, consider) < 0)
        return BT_MEMORY;
    const uint32_t distance = forward->distance;
    if (distance == UINT32_MAX || distance > forward->settings->depth)
        return 0;
    const struct slice_link link = {.instance = {.id = step->id, .instance = step->instance},
                                    .distance = distance};
    result->counts[step->id]++;
    result->last[step->id] = step->instance;
    result->instances++;
    if (forward->has_links && slice_map_put(&forward->links, &link) < 0)
        return BT_MEMORY;
    return slice_set_add(&result->members, step->id, step->instance) < 0 ? BT_MEMORY : 0;
}

static int replay_all(struct forward *forward, struct wet_replay *replay, struct bt_error *error)
{
    const struct slice_settings *settings = forward->settings;
    const size_t chunks = forward->trace->file.place_count;
    int result = 1;
    for (size_t chunk = 0; chunk < chunks && result > 0; chunk++) {
        result = wet_replay_next(replay, error);
        if (settings->progress)
            settings->progress(settings->context, chunk + 1, chunks);
    }
    return result < 0 ? result : 0;
}

int slice_forward(struct wet_trace *trace, const struct slice_criterion *criterion,
                  const struct slice_settings *settings, struct slice_result *result,
                  struct bt_error *error)
{
    static const struct wet_replay_operations operations = {.step = take_step};
    const unsigned wanted = WET_WANTS_MEMORY | WET_WANTS_REGISTERS |
                            (settings->data ? 0u : (unsigned)WET_WANTS_CONTROL);
    struct forward forward = {.trace = trace,
                              .settings = settings,
                              .result = result,
                              .has_links = settings->depth != SLICE_DEPTH_ALL};
    struct wet_replay *replay = NULL;
    int code = slice_result_init(result, trace);
    slice_set_init(&forward.criterion);
    slice_plain_init(&forward.plain, trace, settings->forms);
    forward.plain.wants = is_member;
    forward.plain.context = &forward;
    for (size_t i = 0; i < criterion->count && code >= 0; i++)
        code = slice_set_add(&forward.criterion, criterion->instances[i].id,
                             criterion->instances[i].instance);
    if (code < 0)
        bt_fail(error, BT_MEMORY, "no memory for the slice");
    else
        replay = wet_replay_new(trace, wanted, &operations, &forward, error);
    if (code >= 0)
        code = replay ? replay_all(&forward, replay, error) : error->code;
    wet_replay_free(replay);
    slice_set_clear(&forward.criterion);
    slice_map_clear(&forward.links);
    slice_plain_clear(&forward.plain);
    return code;
}
