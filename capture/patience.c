#include "capture/patience.h"

bool patience_ask(struct patience *patience, int64_t now_ns)
{
    if (patience->asked_ns != 0 && !patience->over)
        return false;
    patience->asked_ns = now_ns;
    patience->over = false;
    return true;
}

int64_t patience_quiet(struct patience *patience, int64_t now_ns)
{
    if (patience->asked_ns == 0 || patience->over)
        return INT64_MAX;
    int64_t left = patience->asked_ns + PATIENCE_NS - now_ns;
    patience->over = left <= 0;
    return patience->over ? INT64_MAX : left;
}
