/* The values of a replay. */
#include "tools/wet/wet_replay_internal.h"

int wet_values_new(struct wet_replay *replay)
{
    replay->wanted &= ~(unsigned)WET_WANTS_VALUES;
    return 0;
}

void wet_values_free(struct wet_replay *replay)
{
    (void)replay;
}

int wet_values_begin(struct wet_replay *replay)
{
    (void)replay;
    return 0;
}

int wet_values_switch(struct wet_replay *replay, uint32_t thread)
{
    (void)replay;
    (void)thread;
    return 0;
}

int wet_values_fork(struct wet_replay *replay, uint32_t thread, uint32_t parent)
{
    (void)replay;
    (void)thread;
    (void)parent;
    return 0;
}

int wet_values_result(struct wet_replay *replay, uint64_t value)
{
    (void)replay;
    (void)value;
    return 0;
}

int wet_values_get(struct wet_replay *replay, uint32_t id, bool defines, const uint8_t **value)
{
    (void)replay;
    (void)id;
    (void)defines;
    *value = NULL;
    return 0;
}
