#include "formats/capture_info.h"

const char *capture_end_name(enum capture_end end)
{
    static const char *const names[CAPTURE_ENDS] = {
        "none",         "rotated",       "stopped",     "limit reached",
        "source ended", "device failed", "disk failed", "recovered"};
    return (unsigned)end < CAPTURE_ENDS ? names[end] : "unknown";
}
