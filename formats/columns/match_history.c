#include "formats/columns/match_history_internal.h"

#include <stdlib.h>
#include <string.h>

bool match_history_init(struct match_history *history, size_t most)
{
    history->kinds = malloc(most + 1);
    history->ranks = malloc(most + 1);
    return history->kinds && history->ranks;
}

void match_history_free(struct match_history *history)
{
    free(history->ranks);
    free(history->kinds);
}

void match_history_clear(struct match_history *history, const struct record *past)
{
    history->past = past;
    memset(&history->moment, 0, sizeof history->moment);
    history->match = history->moved = (struct follower){0};
    memset(history->matches, 0, sizeof history->matches);
    memset(history->moves, 0, sizeof history->moves);
    memset(history->followers, 0, sizeof history->followers);
    memset(history->page_addresses, 0, sizeof history->page_addresses);
    memset(history->last, 0, sizeof history->last);
    memset(history->before, 0, sizeof history->before);
    memset(history->tokens, 0, sizeof history->tokens);
    memset(history->pages, 0xff, sizeof history->pages); /* of no address */
    history->page_count = 0;
}
