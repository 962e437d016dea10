#include "formats/record/capture_info.h"

#include <string.h>

bool capture_info_has_id(const struct capture_info *info)
{
    static const uint8_t none[CAPTURE_ID_BYTES] = {0};
    return memcmp(info->id, none, sizeof none) != 0;
}

bool capture_info_same_capture(const struct capture_info *a, const struct capture_info *b)
{
    return capture_info_has_id(a) && !a->derived && !b->derived &&
           memcmp(a->id, b->id, sizeof a->id) == 0;
}

const char *capture_end_name(enum capture_end end)
{
    static const char *const names[CAPTURE_ENDS] = {
        "none",         "rotated",       "stopped",     "limit reached",
        "source ended", "device failed", "disk failed", "recovered"};
    return (unsigned)end < CAPTURE_ENDS ? names[end] : "unknown";
}
