#include "tools/cache/study/results_message.h"

#include <stdlib.h>
#include <string.h>

/* Message layout: this header, the caches, the lines, the intervals, the accesses. */
struct head {
    uint64_t cache_count, line_count, interval_count, access_count, accesses_least;
    struct hierarchy_counters counters;
};

static int send_results(const struct cache_results *results, struct cluster *cluster,
                        struct bt_error *error)
{
    struct head head = {.cache_count = results->cache_count,
                        .line_count = results->line_count,
                        .interval_count = results->intervals.count,
                        .access_count = results->access_count,
                        .accesses_least = results->accesses_least,
                        .counters = results->counters};
    size_t caches = results->cache_count * sizeof *results->caches;
    size_t lines = results->line_count * sizeof *results->lines;
    size_t intervals = results->intervals.count * sizeof *results->intervals.intervals;
    size_t accesses = results->access_count * sizeof *results->accesses;
    size_t size = sizeof head + caches + lines + intervals + accesses;
    char *message = malloc(size);
    if (!message)
        return bt_fail(error, BT_MEMORY, "no memory for the results");
    memcpy(message, &head, sizeof head);
    memcpy(message + sizeof head, results->caches, caches);
    if (lines > 0)
        memcpy(message + sizeof head + caches, results->lines, lines);
    if (intervals > 0)
        memcpy(message + sizeof head + caches + lines, results->intervals.intervals, intervals);
    if (accesses > 0)
        memcpy(message + size - accesses, results->accesses, accesses);
    int result = cluster_send(cluster, 0, message, size, error);
    free(message);
    return result;
}

/* Parses a message; the results own their memory. */
static int unpack(struct cache_results *results, const char *message, size_t size,
                  struct bt_error *error)
{
    struct head head;
    if (size < sizeof head)
        return bt_fail(error, BT_DATA, "another process sent %zu bytes instead of results", size);
    memcpy(&head, message, sizeof head);
    size_t caches = head.cache_count * sizeof *results->caches;
    size_t lines = head.line_count * sizeof *results->lines;
    size_t intervals = head.interval_count * sizeof *results->intervals.intervals;
    size_t accesses = head.access_count * sizeof *results->accesses;
    if (size != sizeof head + caches + lines + intervals + accesses)
        return bt_fail(error, BT_DATA, "another process sent results that are cut");
    results->counters = head.counters;
    results->cache_count = head.cache_count;
    results->line_count = head.line_count;
    results->access_count = head.access_count;
    results->accesses_least = head.accesses_least;
    results->caches = malloc(caches + 1);
    results->lines = malloc(lines + 1);
    results->intervals.count = head.interval_count;
    results->intervals.intervals = malloc(intervals + 1);
    results->accesses = malloc(accesses + 1);
    if (!results->caches || !results->lines || !results->intervals.intervals || !results->accesses)
        return bt_fail(error, BT_MEMORY, "no memory for another process's results");
    memcpy(results->caches, message + sizeof head, caches);
    memcpy(results->lines, message + sizeof head + caches, lines);
    memcpy(results->intervals.intervals, message + sizeof head + caches + lines, intervals);
    memcpy(results->accesses, message + size - accesses, accesses);
    return 0;
}

static int receive_results(struct cache_results *results, struct cluster *cluster, int from,
                           struct bt_error *error)
{
    struct cache_results more = {.cache_count = 0};
    void *message;
    size_t size;
    int result = cluster_receive(cluster, from, &message, &size, error);
    if (result == 0)
        result = unpack(&more, message, size, error);
    if (result == 0)
        result = cache_results_add(results, &more, error);
    cache_results_clear(&more);
    free(message);
    return result;
}

int cache_results_gather(struct cache_results *results, struct cluster *cluster,
                         struct bt_error *error)
{
    if (cluster_rank(cluster) > 0)
        return send_results(results, cluster, error);
    int result = 0;
    for (int from = 1; from < cluster_size(cluster) && result == 0; from++)
        result = receive_results(results, cluster, from, error);
    return result;
}
