#include "capture/board_capture.h"

#include "capture/rules.h"
#include "driver/boards.h"

struct capture *board_capture_new(const char *specification,
                                  const struct session_settings *session_settings,
                                  const struct capture_settings *capture_settings,
                                  struct bt_error *error)
{
    struct stream *stream;
    if (rules_check(capture_settings, error) < 0 || boards_open(&stream, specification, error) < 0)
        return NULL;
    struct session *session = session_new(stream, error);
    if (!session)
        return NULL;
    if (session_arm(session, session_settings, error) < 0) {
        session_free(session);
        return NULL;
    }
    return capture_new(capture_settings, session_source(session), error);
}
