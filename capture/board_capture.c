#include "capture/board_capture.h"

#include "capture/filter_source.h"
#include "capture/rules.h"
#include "driver/boards.h"
#include "driver/reconnect.h"

/* Parses session->filter_text; session->filter becomes what the board does of it. *whole: that is
 * all. 0 or a negative code. */
static int parse_filter(struct session_settings *session, struct expression **expression,
                        bool *whole, struct bt_error *error)
{
    *whole = true;
    if (!session->filter_text)
        return 0;
    int result = expression_parse(expression, session->filter_text, NULL, error);
    if (result < 0)
        return result;
    result = expression_board_part(*expression, &session->filter, whole);
    if (result < 0)
        bt_fail(error, result, "no memory for a filter");
    else if (session->filter.types == 0 || session->filter.processors == 0)
        result = bt_fail(error, BT_USAGE, "the filter excludes every request that a bus can have");
    if (result < 0)
        expression_free(*expression);
    return result;
}

struct capture *board_capture_new(const char *specification,
                                  const struct session_settings *session_settings,
                                  const struct capture_settings *capture_settings,
                                  struct bt_error *error)
{
    if (rules_check(capture_settings, error) < 0)
        return NULL;
    struct expression *expression = NULL;
    struct session_settings session = *session_settings;
    bool whole;
    if (parse_filter(&session, &expression, &whole, error) < 0)
        return NULL;
    struct source *source = reconnect_source(boards_open, specification, &session, error);
    if (source && !whole) {
        char board_filter[FILTER_WORDS_BYTES];
        source = filter_source_new(source, expression, filter_words(board_filter, &session.filter),
                                   error);
    } else {
        expression_free(expression);
    }
    if (!source)
        return NULL;
    return capture_new(capture_settings, source, error);
}
