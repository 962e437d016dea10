#include "formats/base/grow.h"
#include "formats/base/hash.h"
#include "formats/dependences/dependence_trace.h"
#include "formats/dependences/dependences_columns_internal.h"
#include "formats/dependences/dependences_judge_internal.h"
#include "formats/dependences/dependences_read.h"

#include <inttypes.h>
#include <string.h>

#define NAME_SHOWN 200 /* bytes of a name in a message */

/* A function that was entered. */
struct entered {
    char *name;
    uint64_t open; /* entered and not left */
};

struct trace_check {
    struct dependences_failures *failures;
    struct dependences_summary *summary;
    struct entered *functions;
    size_t count, capacity;
    struct hash_index by_name;
    uint64_t seed;
    uint64_t pseudo, frozen; /* of the last sink */
    char *sink;              /* token of the last sink */
    char where[DEPENDENCES_WHERE_BYTES];
};

static void trace_check_free(struct trace_check *check)
{
    for (size_t i = 0; i < check->count; i++)
        free(check->functions[i].name);
    free(check->functions);
    free(check->sink);
    hash_index_clear(&check->by_name);
}

/* --- entering and leaving ----------------------------------------------------------------------
 */

static struct entered *find(const struct trace_check *check, const char *name, uint32_t hash)
{
    struct hash_search search = hash_search(&check->by_name, hash);
    while (hash_search_next(&search))
        if (strcmp(check->functions[search.number].name, name) == 0)
            return &check->functions[search.number];
    return NULL;
}

static uint32_t hash_of(const struct trace_check *check, const char *name)
{
    return hash_number(hash_octets(check->seed, name, strlen(name)));
}

static int take_enter(struct trace_check *check, const char *name)
{
    const uint32_t hash = hash_of(check, name);
    struct entered *entered = find(check, name, hash);
    check->summary->entered++;
    if (entered) {
        entered->open++;
        return 0;
    }
    struct entered *grown =
        grow_array(check->functions, &check->capacity, check->count + 1, sizeof *check->functions);
    if (!grown)
        return BT_MEMORY;
    check->functions = grown;
    char *copy = check->count < HASH_INDEX_NUMBER_MAX ? strdup(name) : NULL;
    if (!copy || hash_index_add(&check->by_name, hash, (uint32_t)check->count) < 0) {
        free(copy);
        return BT_MEMORY;
    }
    check->functions[check->count++] = (struct entered){copy, 1};
    return 0;
}

static void take_leave(struct trace_check *check, const char *name)
{
    struct entered *entered = find(check, name, hash_of(check, name));
    check->summary->left++;
    if (entered && entered->open > 0)
        entered->open--;
    else
        dependences_failures_add(check->failures, DEPENDENCES_RULE_LEAVE, check->where,
                                 "%.*s is left more often than entered", NAME_SHOWN, name);
}

/* --- dependences -------------------------------------------------------------------------------
 */

static void check_times(const struct trace_check *check, const struct dependence_event *event)
{
    const bool is_rep = event->pseudo_source == event->pseudo_sink &&
                        strcmp(event->source, event->sink) == 0; /* within a string instruction */
    if (event->pseudo_source == 0)
        dependences_failures_add(check->failures, DEPENDENCES_RULE_TIME, check->where,
                                 "pseudo time 0 is before the first reference");
    if (event->pseudo_source >= event->pseudo_sink && !is_rep)
        dependences_failures_add(check->failures, DEPENDENCES_RULE_TIME, check->where,
                                 "source at pseudo time %" PRIu64 ", sink at %" PRIu64,
                                 event->pseudo_source, event->pseudo_sink);
    if (event->pseudo_sink < check->pseudo)
        dependences_failures_add(check->failures, DEPENDENCES_RULE_TIME, check->where,
                                 "sink at pseudo time %" PRIu64 " after %" PRIu64,
                                 event->pseudo_sink, check->pseudo);
    if (event->pseudo_sink == check->pseudo && check->sink && strcmp(event->sink, check->sink) != 0)
        dependences_failures_add(check->failures, DEPENDENCES_RULE_TIME, check->where,
                                 "another sink at pseudo time %" PRIu64, event->pseudo_sink);
}

/* Each reference of a DETAIL function increments both times, each other one pseudo time only. */
static void check_frozen(const struct trace_check *check, const struct dependence_event *event)
{
    if (event->frozen_sink < check->frozen)
        dependences_failures_add(check->failures, DEPENDENCES_RULE_FROZEN, check->where,
                                 "sink at frozen time %" PRIu64 " after %" PRIu64,
                                 event->frozen_sink, check->frozen);
    else if (event->pseudo_sink >= check->pseudo &&
             event->frozen_sink - check->frozen > event->pseudo_sink - check->pseudo)
        dependences_failures_add(check->failures, DEPENDENCES_RULE_FROZEN, check->where,
                                 "frozen time grows by %" PRIu64 ", pseudo time by %" PRIu64,
                                 event->frozen_sink - check->frozen,
                                 event->pseudo_sink - check->pseudo);
    if (event->frozen_source > event->frozen_sink || event->frozen_source > event->pseudo_source ||
        (event->pseudo_source <= event->pseudo_sink &&
         event->frozen_sink - event->frozen_source > event->pseudo_sink - event->pseudo_source))
        dependences_failures_add(check->failures, DEPENDENCES_RULE_FROZEN, check->where,
                                 "frozen times %" PRIu64 " of the source and %" PRIu64
                                 " of the sink, at pseudo times %" PRIu64 " and %" PRIu64,
                                 event->frozen_source, event->frozen_sink, event->pseudo_source,
                                 event->pseudo_sink);
}

static void check_top(const struct trace_check *check, const struct dependence_event *event)
{
    if (event->frozen_sink == 0 && strcmp(event->top_sink, "?:0") != 0)
        dependences_failures_add(check->failures, DEPENDENCES_RULE_TOP, check->where,
                                 "the sink at frozen time 0 has a top-level place");
    if (event->frozen_source == 0 && strcmp(event->top_source, "?:0") != 0)
        dependences_failures_add(check->failures, DEPENDENCES_RULE_TOP, check->where,
                                 "the source at frozen time 0 has a top-level place");
}

static int take_dependence(struct trace_check *check, const struct dependence_event *event)
{
    check_times(check, event);
    check_frozen(check, event);
    check_top(check, event);
    check->summary->found++;
    check->summary->references = check->pseudo = event->pseudo_sink;
    check->summary->detail = check->frozen = event->frozen_sink;
    if (check->sink && strcmp(check->sink, event->sink) == 0)
        return 0;
    free(check->sink);
    check->sink = strdup(event->sink);
    return check->sink ? 0 : BT_MEMORY;
}

static int take_event(struct trace_check *check, const struct dependence_event *event)
{
    switch (event->kind) {
    case DEPENDENCE_ENTER:
        return take_enter(check, event->function);
    case DEPENDENCE_LEAVE:
        take_leave(check, event->function);
        return 0;
    default:
        return take_dependence(check, event);
    }
}

int dependences_check_trace(struct text_reader *reader, struct dependences_failures *failures,
                            struct dependences_summary *summary, struct bt_error *error)
{
    *summary = (struct dependences_summary){.file = DEPENDENCES_FILE_TRACE};
    struct trace_check check = {.failures = failures, .summary = summary};
    struct dependence_trace_reader *trace = dependence_trace_reader_new(reader, error);
    struct dependence_event event;
    int result = trace ? 1 : BT_MEMORY;
    check.seed = hash_seed(trace);
    while (result >= 0 && (result = dependence_trace_reader_next(trace, &event, error)) != 0) {
        snprintf(check.where, sizeof check.where, "line %" PRIu64,
                 dependence_trace_reader_line(trace));
        if (result == BT_DATA) {
            const bool is_last = dependence_trace_reader_failed(trace);
            dependences_failures_add(failures, DEPENDENCES_RULE_FORMAT, is_last ? "" : check.where,
                                     "%s", error->message);
            result = 0;
        } else if (result > 0 && take_event(&check, &event) < 0) {
            result = bt_fail(error, BT_MEMORY, "no memory to check a trace");
        }
    }
    dependence_trace_reader_free(trace);
    trace_check_free(&check);
    return result;
}

/* --- any file ----------------------------------------------------------------------------------
 */

/* The format that text begins with. */
static enum dependences_file guess(const char *text, size_t size)
{
    static const char heading[] = "kind,";
    const char *key = heading;
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    if (at < size && text[at] == '{')
        return DEPENDENCES_FILE_JSON;
    return size >= strlen(key) && memcmp(text, key, strlen(key)) == 0 ? DEPENDENCES_FILE_CSV
                                                                      : DEPENDENCES_FILE_TRACE;
}

int dependences_check(struct text_reader *reader, struct dependences_failures *failures,
                      struct dependences_summary *summary, struct bt_error *error)
{
    char first[TEXT_READER_PEEK_MAX];
    size_t size = 0;
    int result = text_reader_peek(reader, first, sizeof first, &size, error);
    if (result < 0 && result != BT_DATA)
        return result;
    const enum dependences_file file = guess(first, size);
    if (size == 0)
        dependences_failures_add(failures, DEPENDENCES_RULE_FORMAT, "",
                                 "it is empty: the program was killed, or nothing was traced");
    if (file == DEPENDENCES_FILE_TRACE)
        return dependences_check_trace(reader, failures, summary, error);
    struct dependences *dependences = file == DEPENDENCES_FILE_CSV
                                          ? dependences_read_csv(reader, failures, error)
                                          : dependences_read_json(reader, failures, error);
    *summary = (struct dependences_summary){.file = file};
    if (!dependences)
        return error->code;
    summary->places = dependences->place_count;
    summary->loops = dependences->loop_count;
    summary->rows = dependences->row_count;
    dependences_free(dependences);
    return 0;
}
