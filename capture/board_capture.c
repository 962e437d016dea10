#include "capture/board_capture.h"

#include "capture/rules.h"
#include "driver/boards.h"
#include "driver/reconnect.h"

struct capture *board_capture_new(const char *specification,
                                  const struct session_settings *session_settings,
                                  const struct capture_settings *capture_settings,
                                  struct bt_error *error)
{
    if (rules_check(capture_settings, error) < 0)
        return NULL;
    struct source *source = reconnect_source(boards_open, specification, session_settings, error);
    if (!source)
        return NULL;
    return capture_new(capture_settings, source, error);
}
