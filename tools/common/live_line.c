#include "tools/common/live_line.h"

#include "tools/common/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PARTS 7u

/* In the order of the line; a higher rank is omitted earlier. */
struct part {
    unsigned rank;
    char text[32];
};

static size_t length_up_to(const struct part *parts, unsigned rank)
{
    size_t length = 0;
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i].text[0] && parts[i].rank <= rank)
            length += (length ? strlen(", ") : 0) + strlen(parts[i].text);
    return length;
}

char *live_line(char line[LIVE_LINE_BYTES], const struct capture_status *status, double rate,
                size_t width)
{
    struct part parts[PARTS] = {{2, ""}, {4, ""}, {6, ""}, {5, ""}, {3, ""}, {0, ""}, {1, ""}};
    unsigned fill = status->queue_size ? 100 * status->queue_fill / status->queue_size : 0;
    const size_t size = sizeof parts[0].text;
    snprintf(parts[0].text, size, "%" PRIu64 " records", status->records);
    snprintf(parts[1].text, size, "%.2f M/s", rate / 1e6);
    snprintf(parts[2].text, size, "%.1f MB/s", rate * RECORD_BYTES / 1e6);
    snprintf(parts[3].text, size, "%.2f to 1",
             words_ratio(status->raw_bytes, status->compressed_bytes));
    snprintf(parts[4].text, size, "queue %u %%", fill);
    snprintf(parts[5].text, size, "lost %" PRIu64, words_lost(status->lost));
    if (status->absent.code)
        snprintf(parts[6].text, size, "board down");
    unsigned rank = PARTS - 1;
    while (rank > 0 && length_up_to(parts, rank) > width)
        rank--;
    size_t used = 0;
    line[0] = '\0';
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i].text[0] && parts[i].rank <= rank)
            used += (size_t)snprintf(line + used, LIVE_LINE_BYTES - used, "%s%s", used ? ", " : "",
                                     parts[i].text);
    if (used > width)
        line[width] = '\0';
    return line;
}
