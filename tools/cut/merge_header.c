#include "tools/cut/merge_header.h"

#include "formats/base/hash.h"

#include <string.h>

/* The same inputs, merged in the same way, give the same id, so that merging is reproducible. Parts
 * of one capture that begin alike differ in their size. */
static void make_id(uint8_t id[CAPTURE_ID_BYTES], const struct merge_input *inputs, size_t count)
{
    uint64_t halves[2] = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x84222325cbf29ce4)};
    for (size_t i = 0; i < count; i++) {
        const struct capture_info *info = inputs[i].info;
        const uint64_t numbers[] = {info->first_index, inputs[i].later, inputs[i].clock_hz,
                                    inputs[i].bytes, inputs[i].processors};
        for (int half = 0; half < 2; half++) {
            uint64_t *value = &halves[half];
            *value = hash_octets(*value, (const char *)info->id, sizeof info->id);
            *value = hash_octets(*value, info->filter, strlen(info->filter) + 1);
            *value = hash_octets(*value, (const char *)numbers, sizeof numbers);
        }
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
