#include "formats/base/grow.h"
#include "formats/dependences/dependences_columns_internal.h"
#include "formats/dependences/dependences_judge_internal.h"
#include "formats/dependences/dependences_read.h"
#include "formats/text/json_pull.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct json_file {
    struct dependences_judge judge;
    struct json_pull *pull;
    struct bt_error *error;
    struct dependences_totals totals;
    uint32_t *places, *loops; /* by number in the file: the number in the dependences */
    size_t place_count, place_capacity, loop_count, loop_capacity;
    unsigned seen; /* members: bits 1 << enum member */
    char where[DEPENDENCES_WHERE_BYTES];
    char program[DEPENDENCES_NAME_BYTES], ended[DEPENDENCES_NAME_BYTES];
    char name[3][DEPENDENCES_NAME_BYTES]; /* of a place, reason or note */
};

static const struct json_pull_bounds narrow = {.minimum = 0, .maximum = UINT32_MAX - 1};

/* --- values ------------------------------------------------------------------------------------
 */

/* A string in name, cut off if it is too long; "" for null. A NUL in it becomes '?'. */
static int pull_name(struct json_file *file, char name[DEPENDENCES_NAME_BYTES])
{
    struct json_pull_text text;
    int result = json_pull_kind(file->pull);
    name[0] = 0;
    if (result == JSON_PULL_NULL)
        return json_pull_skip(file->pull);
    if (result >= 0)
        result = json_pull_string(file->pull, &text);
    if (result < 0)
        return result;
    const size_t size = text.size < DEPENDENCES_NAME_BYTES ? text.size : DEPENDENCES_NAME_BYTES - 1;
    for (size_t i = 0; i < size; i++)
        name[i] = text.text[i] ? text.text[i] : '?';
    name[size] = 0;
    return 0;
}

/* One of the names, which are in an array of count. */
static int pull_word(struct json_file *file, const char *const *names, unsigned count,
                     unsigned *number)
{
    struct json_pull_text text;
    int result = json_pull_string(file->pull, &text);
    if (result < 0)
        return result;
    for (*number = 0; *number < count; (*number)++)
        if (json_pull_text_is(&text, names[*number]))
            return 0;
    return json_pull_fail(file->pull, BT_DATA, "unknown word \"%.*s\"",
                          text.size < 40 ? (int)text.size : 40, text.text);
}

/* An array of kinds, as bits. */
static int pull_kinds(struct json_file *file, unsigned *kinds)
{
    int result = json_pull_array(file->pull);
    *kinds = 0;
    while (result >= 0 && (result = json_pull_element(file->pull)) > 0) {
        unsigned kind;
        result = pull_word(file, dependence_kind_names, DEPENDENCE_KINDS, &kind);
        if (result >= 0)
            *kinds |= 1u << kind;
    }
    return result;
}

/* A number, or `none` for null. *present counts numbers. */
static int pull_optional(struct json_file *file, uint64_t none, uint64_t *number, unsigned *present)
{
    int result = json_pull_kind(file->pull);
    *number = none;
    if (result == JSON_PULL_NULL)
        return json_pull_skip(file->pull);
    if (result >= 0)
        result = json_pull_integer(file->pull, number);
    *present += result >= 0;
    return result;
}

/* A number of a table, or null if that is allowed. Numbers that do not exist break the rule. */
static int pull_number(struct json_file *file, const uint32_t *numbers, size_t count, bool optional,
                       enum dependences_rule rule, uint32_t *number)
{
    uint64_t read = 0;
    unsigned present = 0;
    int result =
        optional ? pull_optional(file, 0, &read, &present) : json_pull_integer(file->pull, &read);
    *number = DEPENDENCES_NONE;
    if (result < 0 || (optional && present == 0))
        return result;
    if (read < count)
        *number = numbers[read];
    else
        dependences_failures_add(file->judge.failures, rule, file->where,
                                 "number %" PRIu64 " of %zu", read, count);
    return result;
}

static int pull_bool(struct json_file *file, bool *value)
{
    int result = json_pull_kind(file->pull);
    *value = result == JSON_PULL_TRUE;
    if (result < 0)
        return result;
    if (result != JSON_PULL_TRUE && result != JSON_PULL_FALSE)
        return json_pull_fail(file->pull, BT_DATA, "neither true nor false");
    return json_pull_skip(file->pull);
}

/* The index of the key in keys, which end with NULL; and its bit in *seen. Their number for another
 * one. */
static unsigned find_key(const struct json_pull_text *key, const char *const *keys, unsigned *seen)
{
    unsigned number = 0;
    while (keys[number] && !json_pull_text_is(key, keys[number]))
        number++;
    if (keys[number])
        *seen |= 1u << number;
    return number;
}

/* Reports the first missing key. Returns whether all are there. */
static bool has_all(struct json_file *file, const char *const *keys, unsigned seen)
{
    for (unsigned number = 0; keys[number]; number++)
        if (!(seen >> number & 1)) {
            dependences_failures_add(file->judge.failures, DEPENDENCES_RULE_FORMAT, file->where,
                                     "%s is missing", keys[number]);
            return false;
        }
    return true;
}

static int remember(struct json_file *file, uint32_t **numbers, size_t *count, size_t *capacity,
                    uint32_t number)
{
    uint32_t *grown = grow_array(*numbers, capacity, *count + 1, sizeof **numbers);
    if (!grown)
        return bt_fail(file->error, BT_MEMORY, "no memory to read dependences");
    *numbers = grown;
    grown[(*count)++] = number;
    return 0;
}

/* --- places ------------------------------------------------------------------------------------
 */

static const char *const place_keys[] = {"file",   "line",    "function", "module",
                                         "offset", "address", NULL};

static int pull_place_member(struct json_file *file, unsigned key, struct dependence_place *place)
{
    uint64_t line;
    unsigned present = 0;
    int result;
    switch (key) {
    case 0:
        place->file = file->name[0];
        return pull_name(file, file->name[0]);
    case 1:
        result = pull_optional(file, 0, &line, &present);
        place->line = (uint32_t)line;
        if (result >= 0 && (line > UINT32_MAX || (present && line == 0)))
            return json_pull_fail(file->pull, BT_DATA, "a line is from 1 to 2^32 - 1");
        return result;
    case 2:
        place->function = file->name[1];
        return pull_name(file, file->name[1]);
    case 3:
        place->module = file->name[2];
        return pull_name(file, file->name[2]);
    case 4:
        return pull_optional(file, DEPENDENCES_UNKNOWN, &place->offset, &present);
    case 5:
        return pull_optional(file, DEPENDENCES_UNKNOWN, &place->address, &present);
    default:
        return json_pull_skip(file->pull);
    }
}

static int pull_place(struct json_file *file)
{
    struct dependence_place place = {.offset = DEPENDENCES_UNKNOWN, .address = DEPENDENCES_UNKNOWN};
    struct json_pull_text key;
    unsigned seen = 0;
    uint32_t number = 0;
    const size_t before = file->judge.dependences->place_count;
    int result = json_pull_object(file->pull);
    while (result >= 0 && (result = json_pull_key(file->pull, &key)) > 0)
        result = pull_place_member(file, find_key(&key, place_keys, &seen), &place);
    if (result < 0)
        return result;
    has_all(file, place_keys, seen);
    dependences_judge_place(&file->judge, file->where, &place);
    result = dependences_add_place(file->judge.dependences, &place, &number, file->error);
    if (result < 0)
        return result;
    if (file->judge.dependences->place_count == before)
        dependences_failures_add(file->judge.failures, DEPENDENCES_RULE_TWICE, file->where,
                                 "the same as another place");
    return remember(file, &file->places, &file->place_count, &file->place_capacity, number);
}

/* --- loops -------------------------------------------------------------------------------------
 */

static const char *const loop_keys[] = {"place",        "verdict", "distance",
                                        "carried",      "entries", "iterations",
                                        "instructions", "reasons", NULL};

/* Reads the reasons into a note-like list: they are added when the loop is. */
static int pull_reasons(struct json_file *file, struct dependences *reasons)
{
    int result = json_pull_array(file->pull);
    while (result >= 0 && (result = json_pull_element(file->pull)) > 0) {
        result = pull_name(file, file->name[0]);
        if (result >= 0 && !file->name[0][0])
            return json_pull_fail(file->pull, BT_DATA, "a reason is a string that is not empty");
        if (result >= 0)
            result = dependences_add_note(reasons, file->name[0], 0, file->error);
    }
    return result;
}

static int pull_loop_member(struct json_file *file, unsigned key, struct dependence_loop *loop,
                            struct dependences *reasons)
{
    unsigned number = 0, present = 0;
    int result;
    switch (key) {
    case 0:
        return pull_number(file, file->places, file->place_count, false, DEPENDENCES_RULE_PLACE,
                           &loop->place);
    case 1:
        result = pull_word(file, dependence_verdict_names, DEPENDENCE_VERDICTS, &number);
        loop->verdict = (enum dependence_verdict)number;
        return result;
    case 2:
        return pull_optional(file, 0, &loop->distance, &present);
    case 3:
        return pull_kinds(file, &loop->carried);
    case 4:
        return json_pull_integer(file->pull, &loop->entries);
    case 5:
        return json_pull_integer(file->pull, &loop->iterations);
    case 6:
        return json_pull_integer(file->pull, &loop->instructions);
    case 7:
        return pull_reasons(file, reasons);
    default:
        return json_pull_skip(file->pull);
    }
}

/* Adds a loop that was read, unless its place is missing or unknown. */
static int add_loop(struct json_file *file, const struct dependence_loop *loop,
                    const struct dependences *reasons)
{
    struct dependences *dependences = file->judge.dependences;
    const size_t before = dependences->loop_count;
    uint32_t number = DEPENDENCES_NONE;
    int result = 0;
    dependences_judge_loop(&file->judge, file->where, loop);
    if (loop->place == DEPENDENCES_NONE) {
        /* reported with the place */
    } else if (dependence_place_is_unknown(&dependences->places[loop->place])) {
        dependences_failures_add(file->judge.failures, DEPENDENCES_RULE_LOOP, file->where,
                                 "nothing is known of its head");
    } else {
        result = dependences_add_loop(dependences, loop, &number, file->error);
        if (result == 0 && dependences->loop_count == before)
            dependences_failures_add(file->judge.failures, DEPENDENCES_RULE_TWICE, file->where,
                                     "another loop has the same head");
        for (size_t i = 0; i < reasons->note_count && result == 0; i++)
            result =
                dependences_add_reason(dependences, number, reasons->notes[i].text, file->error);
    }
    return result < 0
               ? result
               : remember(file, &file->loops, &file->loop_count, &file->loop_capacity, number);
}

static int pull_loop(struct json_file *file)
{
    struct dependence_loop loop = {.place = DEPENDENCES_NONE};
    struct dependences *reasons = dependences_new(file->error);
    struct json_pull_text key;
    unsigned seen = 0;
    int result = reasons ? json_pull_object(file->pull) : BT_MEMORY;
    while (result >= 0 && (result = json_pull_key(file->pull, &key)) > 0)
        result = pull_loop_member(file, find_key(&key, loop_keys, &seen), &loop, reasons);
    if (result >= 0) {
        has_all(file, loop_keys, seen);
        result = add_loop(file, &loop, reasons);
    }
    dependences_free(reasons);
    return result;
}

/* --- rows --------------------------------------------------------------------------------------
 */

enum row_key {
    KEY_KIND,
    KEY_SINK,
    KEY_SOURCE,
    KEY_TOP_SINK,
    KEY_TOP_SOURCE,
    KEY_COUNT,
    KEY_LOOP,
    KEY_CARRIED,
    KEY_LEAST,
    KEY_MEAN,
    KEY_GREATEST,
    KEY_SUM,
    KEY_AT_LEAST,
    KEY_SINK_THREAD,
    KEY_SOURCE_THREAD
};

static const char *const row_keys[] = {[KEY_KIND] = "kind",
                                       [KEY_SINK] = "sink",
                                       [KEY_SOURCE] = "source",
                                       [KEY_TOP_SINK] = "top_sink",
                                       [KEY_TOP_SOURCE] = "top_source",
                                       [KEY_COUNT] = "count",
                                       [KEY_LOOP] = "loop",
                                       [KEY_CARRIED] = "carried",
                                       [KEY_LEAST] = "distance_least",
                                       [KEY_MEAN] = "distance_mean",
                                       [KEY_GREATEST] = "distance_greatest",
                                       [KEY_SUM] = "distance_sum",
                                       [KEY_AT_LEAST] = "distance_at_least",
                                       [KEY_SINK_THREAD] = "sink_thread",
                                       [KEY_SOURCE_THREAD] = "source_thread",
                                       [KEY_SOURCE_THREAD + 1] = NULL};

/* A distance, mean distance, or distance_at_least; or null. */
static int pull_distance(struct json_file *file, enum row_key key,
                         struct dependences_read_row *read)
{
    int result = json_pull_kind(file->pull);
    if (result < 0 || result == JSON_PULL_NULL)
        return result < 0 ? result : json_pull_skip(file->pull);
    read->distances++;
    switch (key) {
    case KEY_LEAST:
        return json_pull_integer(file->pull, &read->row.least);
    case KEY_MEAN:
        return json_pull_number(file->pull, &read->mean);
    case KEY_GREATEST:
        return json_pull_integer(file->pull, &read->row.greatest);
    case KEY_SUM:
        return json_pull_integer(file->pull, &read->row.sum);
    default:
        return pull_bool(file, &read->row.at_least);
    }
}

static int pull_thread(struct json_file *file, uint32_t *thread)
{
    uint64_t number = 0;
    int result = json_pull_integer_within(file->pull, &narrow, &number);
    *thread = (uint32_t)number;
    return result;
}

static int pull_row_place(struct json_file *file, bool optional, uint32_t *place)
{
    return pull_number(file, file->places, file->place_count, optional, DEPENDENCES_RULE_PLACE,
                       place);
}

static int pull_row_member(struct json_file *file, unsigned key, struct dependences_read_row *read)
{
    struct dependence *row = &read->row;
    unsigned number = 0;
    int result;
    switch (key) {
    case KEY_KIND:
        result = pull_word(file, dependence_kind_names, DEPENDENCE_KINDS, &number);
        row->kind = (enum dependence_kind)number;
        return result;
    case KEY_SINK:
        return pull_row_place(file, false, &row->sink);
    case KEY_SOURCE:
        return pull_row_place(file, false, &row->source);
    case KEY_TOP_SINK:
        return pull_row_place(file, true, &row->top_sink);
    case KEY_TOP_SOURCE:
        return pull_row_place(file, true, &row->top_source);
    case KEY_COUNT:
        return json_pull_integer(file->pull, &row->count);
    case KEY_LOOP:
        return pull_number(file, file->loops, file->loop_count, true, DEPENDENCES_RULE_LOOP,
                           &row->loop);
    case KEY_CARRIED:
        return pull_bool(file, &row->carried);
    case KEY_LEAST:
    case KEY_MEAN:
    case KEY_GREATEST:
    case KEY_SUM:
    case KEY_AT_LEAST:
        return pull_distance(file, key, read);
    case KEY_SINK_THREAD:
        return pull_thread(file, &row->sink_thread);
    case KEY_SOURCE_THREAD:
        return pull_thread(file, &row->source_thread);
    default:
        return json_pull_skip(file->pull);
    }
}

static int pull_row(struct json_file *file)
{
    struct dependences_read_row read = {.row = {.sink = DEPENDENCES_NONE,
                                                .source = DEPENDENCES_NONE,
                                                .top_sink = DEPENDENCES_NONE,
                                                .top_source = DEPENDENCES_NONE,
                                                .loop = DEPENDENCES_NONE}};
    struct json_pull_text key;
    unsigned seen = 0;
    int result = json_pull_object(file->pull);
    while (result >= 0 && (result = json_pull_key(file->pull, &key)) > 0)
        result = pull_row_member(file, find_key(&key, row_keys, &seen), &read);
    if (result < 0)
        return result;
    if (!has_all(file, row_keys, seen) || read.row.sink == DEPENDENCES_NONE ||
        read.row.source == DEPENDENCES_NONE)
        return 0; /* reported */
    return dependences_judge_row(&file->judge, file->where, &read, file->error);
}

/* --- notes -------------------------------------------------------------------------------------
 */

static const char *const note_keys[] = {"text", "count", NULL};

static int pull_note(struct json_file *file)
{
    struct json_pull_text key;
    unsigned seen = 0;
    uint64_t count = 0;
    file->name[0][0] = 0;
    int result = json_pull_object(file->pull);
    while (result >= 0 && (result = json_pull_key(file->pull, &key)) > 0)
        switch (find_key(&key, note_keys, &seen)) {
        case 0:
            result = pull_name(file, file->name[0]);
            break;
        case 1:
            result = json_pull_integer(file->pull, &count);
            break;
        default:
            result = json_pull_skip(file->pull);
        }
    if (result < 0)
        return result;
    if (has_all(file, note_keys, seen) && !file->name[0][0])
        dependences_failures_add(file->judge.failures, DEPENDENCES_RULE_FORMAT, file->where,
                                 "a note without text");
    return dependences_add_note(file->judge.dependences, file->name[0], count, file->error);
}

/* --- the whole ---------------------------------------------------------------------------------
 */

enum member {
    MEMBER_FORMAT,
    MEMBER_VERSION,
    MEMBER_PROGRAM,
    MEMBER_ENDED,
    MEMBER_BY,
    MEMBER_LEVEL,
    MEMBER_KINDS,
    MEMBER_REFERENCES,
    MEMBER_WRITES,
    MEMBER_INSTRUCTIONS,
    MEMBER_ROWS,
    MEMBER_COUNT,
    MEMBER_PLACES,
    MEMBER_LOOPS,
    MEMBER_DEPENDENCES,
    MEMBER_NOTES
};

static const char *const members[] = {[MEMBER_FORMAT] = "format",
                                      [MEMBER_VERSION] = "version",
                                      [MEMBER_PROGRAM] = "program",
                                      [MEMBER_ENDED] = "ended",
                                      [MEMBER_BY] = "by",
                                      [MEMBER_LEVEL] = "level",
                                      [MEMBER_KINDS] = "kinds",
                                      [MEMBER_REFERENCES] = "references",
                                      [MEMBER_WRITES] = "writes",
                                      [MEMBER_INSTRUCTIONS] = "instructions",
                                      [MEMBER_ROWS] = "dependences_total",
                                      [MEMBER_COUNT] = "count_total",
                                      [MEMBER_PLACES] = "places",
                                      [MEMBER_LOOPS] = "loops",
                                      [MEMBER_DEPENDENCES] = "dependences",
                                      [MEMBER_NOTES] = "notes",
                                      [MEMBER_NOTES + 1] = NULL};

/* Whether all members before `member` were read: rows refer to loops, and both to places. */
static int need_before(struct json_file *file, enum member member)
{
    if ((file->seen & ((1u << member) - 1)) != (1u << member) - 1)
        return json_pull_fail(file->pull, BT_DATA, "format to %s must precede %s",
                              members[member - 1], members[member]);
    return dependences_set_totals(file->judge.dependences, &file->totals, file->error);
}

static int pull_array(struct json_file *file, enum member member,
                      int (*pull)(struct json_file *file))
{
    int result = need_before(file, member);
    if (result == 0)
        result = json_pull_array(file->pull);
    for (size_t i = 0; result >= 0 && (result = json_pull_element(file->pull)) > 0; i++) {
        snprintf(file->where, sizeof file->where, "%s[%zu]", members[member], i);
        result = pull(file);
    }
    file->where[0] = 0;
    return result;
}

static int pull_version(struct json_file *file)
{
    uint64_t version = 0;
    int result = json_pull_integer(file->pull, &version);
    if (result >= 0 && version != DEPENDENCES_VERSION) {
        dependences_failures_add(file->judge.failures, DEPENDENCES_RULE_VERSION, "",
                                 "version %" PRIu64 ", known is %u", version, DEPENDENCES_VERSION);
        return BT_NOTE; /* the rest cannot be judged */
    }
    return result;
}

static int pull_format(struct json_file *file)
{
    struct json_pull_text text;
    int result = json_pull_string(file->pull, &text);
    if (result >= 0 && !json_pull_text_is(&text, DEPENDENCES_FORMAT))
        return json_pull_fail(file->pull, BT_DATA, "format is not " DEPENDENCES_FORMAT);
    return result;
}

static int pull_total(struct json_file *file, enum member member)
{
    struct dependences_totals *totals = &file->totals;
    unsigned number = 0;
    int result;
    switch (member) {
    case MEMBER_PROGRAM:
        totals->program = file->program;
        return pull_name(file, file->program);
    case MEMBER_ENDED:
        totals->ended = file->ended;
        return pull_name(file, file->ended);
    case MEMBER_BY:
        result = pull_word(file, dependences_by_names, DEPENDENCES_BYS, &number);
        totals->by = (enum dependences_by)number;
        return result;
    case MEMBER_LEVEL:
        result = pull_word(file, dependences_level_names, DEPENDENCES_LEVELS, &number);
        totals->level = (enum dependences_level)number;
        return result;
    case MEMBER_KINDS:
        result = pull_kinds(file, &totals->kinds);
        file->judge.kinds = totals->kinds;
        return result;
    case MEMBER_REFERENCES:
        return json_pull_integer(file->pull, &totals->references);
    case MEMBER_WRITES:
        return json_pull_integer(file->pull, &totals->writes);
    case MEMBER_INSTRUCTIONS:
        return pull_optional(file, DEPENDENCES_UNKNOWN, &totals->instructions, &number);
    case MEMBER_ROWS:
        return json_pull_integer(file->pull, &totals->rows);
    default:
        return json_pull_integer(file->pull, &totals->count);
    }
}

static int pull_member(struct json_file *file, unsigned member)
{
    switch (member) {
    case MEMBER_FORMAT:
        return pull_format(file);
    case MEMBER_VERSION:
        return pull_version(file);
    case MEMBER_PLACES:
        return pull_array(file, MEMBER_PLACES, pull_place);
    case MEMBER_LOOPS:
        return pull_array(file, MEMBER_LOOPS, pull_loop);
    case MEMBER_DEPENDENCES:
        return pull_array(file, MEMBER_DEPENDENCES, pull_row);
    case MEMBER_NOTES:
        return pull_array(file, MEMBER_NOTES, pull_note);
    case MEMBER_NOTES + 1:
        return json_pull_skip(file->pull);
    default:
        return pull_total(file, (enum member)member);
    }
}

/* Rows are judged against the kinds that were traced, loops against the instructions. */
static int pull_file(struct json_file *file)
{
    struct json_pull_text key;
    int result = json_pull_object(file->pull);
    while (result >= 0 && (result = json_pull_key(file->pull, &key)) > 0)
        result = pull_member(file, find_key(&key, members, &file->seen));
    if (result >= 0)
        result = json_pull_end(file->pull);
    if (result >= 0 && has_all(file, members, file->seen))
        dependences_judge_totals(&file->judge);
    if (result == BT_DATA)
        dependences_failures_add(file->judge.failures, DEPENDENCES_RULE_FORMAT, "", "%s",
                                 file->error->message);
    return result == BT_DATA || result == BT_NOTE || result > 0 ? 0 : result;
}

struct dependences *dependences_read_json(struct text_reader *reader,
                                          struct dependences_failures *failures,
                                          struct bt_error *error)
{
    struct json_file *file = calloc(1, sizeof *file);
    struct json_pull_settings settings = json_pull_settings_default();
    settings.strict = true;
    struct dependences *dependences = file ? dependences_new(error) : NULL;
    int result = BT_MEMORY;
    if (dependences) {
        file->judge = (struct dependences_judge){
            .dependences = dependences, .failures = failures, .last_count = UINT64_MAX};
        file->totals = dependences->totals;
        file->error = error;
        file->pull = json_pull_new(reader, &settings, error);
        result = file->pull ? pull_file(file) : BT_MEMORY;
        json_pull_free(file->pull);
        free(file->places);
        free(file->loops);
    } else {
        bt_fail(error, BT_MEMORY, "no memory to read dependences");
    }
    free(file);
    if (result == 0)
        return dependences;
    dependences_free(dependences);
    return NULL;
}
