#include "tools/cut/merge_header.h"

#include <string.h>

/* FNV-1a. */
static uint64_t hash(uint64_t value, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        value = (value ^ at[i]) * UINT64_C(0x100000001b3);
    return value;
}

/* The same inputs, merged in the same way, give the same id, so that merging is reproducible. Parts
 * of one capture that begin alike differ in their size. */
static void make_id(uint8_t id[CAPTURE_ID_BYTES], const struct merge_input *inputs, size_t count)
{
    uint64_t halves[2] = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x84222325cbf29ce4)};
    for (size_t i = 0; i < count; i++)
        for (int half = 0; half < 2; half++) {
            const struct capture_info *info = inputs[i].info;
            uint64_t *value = &halves[half];
            *value = hash(*value, info->id, sizeof info->id);
            *value = hash(*value, info->filter, strlen(info->filter) + 1);
            *value = hash(*value, &info->first_index, sizeof info->first_index);
            *value = hash(*value, &inputs[i].later, sizeof inputs[i].later);
            *value = hash(*value, &inputs[i].clock_hz, sizeof inputs[i].clock_hz);
            *value = hash(*value, &inputs[i].bytes, sizeof inputs[i].bytes);
            *value = hash(*value, &inputs[i].processors, sizeof inputs[i].processors);
        }
    memcpy(id, halves, CAPTURE_ID_BYTES);
}

int merge_header_make(struct capture_info *info, const struct merge_clock *clock,
                      const struct merge_input *inputs, size_t count, struct bt_error *error)
{
    *info = *inputs[0].info;
    for (size_t i = 1; i < count; i++) {
        const struct capture_info *other = inputs[i].info;
        if (info->bus[0] && other->bus[0] && strcmp(info->bus, other->bus) != 0)
            return bt_fail(error, BT_USAGE, "%.150s is of a bus '%s', %.150s of '%s'",
                           inputs[0].name, info->bus, inputs[i].name, other->bus);
        if (!info->bus[0])
            memcpy(info->bus, other->bus, sizeof info->bus);
        if (strcmp(info->filter, other->filter) != 0)
            info->filter[0] = '\0';
        if (strcmp(inputs[0].info->board, other->board) != 0)
            strcpy(info->board, MERGE_BOARD_SEVERAL);
    }
    make_id(info->id, inputs, count);
    info->clock_hz = clock->clock_hz;
    info->started_ns = clock->started_ns;
    return 0;
}
