#include "capture/board_capture.h"

#include "capture/rules.h"
#include "driver/boards.h"
#include "driver/reconnect.h"

#include <string.h>

/* A virtual board loses nothing where its bus waits for it; a bus of metal waits for nobody. */
static bool can_wait(const char *specification)
{
    return strncmp(specification, "virtual", 7) == 0;
}

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
    struct capture_settings settings = *capture_settings;
    settings.hurry = !can_wait(specification);
    return capture_new(&settings, source, error);
}
