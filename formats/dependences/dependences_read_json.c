#include "formats/base/grow.h"
#include "formats/dependences/dependences_columns_internal.h"
#include "formats/dependences/dependences_members_internal.h"
#include "formats/dependences/dependences_read.h"

#include <inttypes.h>
#include <stdio.h>

static void fail(struct json_file *file, enum dependences_rule rule, const char *message)
{
    dependences_failures_add(file->judge.failures, rule, file->where, "%s", message);
}

/* --- tables ------------------------------------------------------------------------------------
 */

/* The number of an element that was read before; one that does not exist breaks the rule, and is
 * none. */
static int pull_number(struct json_file *file, const struct numbers *table,
                       enum dependences_rule rule, uint32_t *number)
{
    uint64_t read = 0;
    int result = json_pull_integer(file->pull, &read);
    if (result >= 0 && read < table->count)
        *number = table->numbers[read];
    else if (result >= 0)
        dependences_failures_add(file->judge.failures, rule, file->where,
                                 "number %" PRIu64 " of %zu", read, table->count);
    return result;
}

static int pull_place_number(struct json_file *file, void *field)
{
    return pull_number(file, &file->places, DEPENDENCES_RULE_PLACE, field);
}

static int pull_top_number(struct json_file *file, void *field)
{
    int result = members_null(file);
    return result ? result : pull_place_number(file, field);
}

static int pull_loop_number(struct json_file *file, void *field)
{
    int result = members_null(file);
    return result ? result : pull_number(file, &file->loops, DEPENDENCES_RULE_LOOP, field);
}

static int remember(struct json_file *file, struct numbers *table, uint32_t number)
{
    uint32_t *grown = grow_array(table->numbers, &table->capacity, table->count + 1, sizeof *grown);
    if (!grown)
        return bt_fail(file->error, BT_MEMORY, "no memory to read dependences");
    table->numbers = grown;
    grown[table->count++] = number;
    return 0;
}

/* --- places ------------------------------------------------------------------------------------
 */

struct read_place {
    struct dependence_place place;
    char file[DEPENDENCES_NAME_BYTES], function[DEPENDENCES_NAME_BYTES],
        module[DEPENDENCES_NAME_BYTES];
};

#define PLACE(member) offsetof(struct read_place, member)

static const struct member place_members[] = {{"file", members_name, PLACE(file)},
                                              {"line", members_line, PLACE(place.line)},
                                              {"function", members_name, PLACE(function)},
                                              {"module", members_name, PLACE(module)},
                                              {"offset", members_optional, PLACE(place.offset)},
                                              {"address", members_optional, PLACE(place.address)},
                                              {NULL, NULL, 0}};

static int pull_place(struct json_file *file)
{
    struct read_place read = {
        .place = {.offset = DEPENDENCES_UNKNOWN, .address = DEPENDENCES_UNKNOWN}};
    unsigned seen;
    uint32_t number = 0;
    const size_t before = file->judge.dependences->place_count;
    int result = members_pull(file, place_members, &read, &seen);
    if (result < 0)
        return result;
    read.place.file = read.file;
    read.place.function = read.function;
    read.place.module = read.module;
    dependences_judge_place(&file->judge, file->where, &read.place);
    result = dependences_add_place(file->judge.dependences, &read.place, &number, file->error);
    if (result < 0)
        return result;
    if (file->judge.dependences->place_count == before)
        fail(file, DEPENDENCES_RULE_TWICE, "the same as another place");
    return remember(file, &file->places, number);
}

/* --- loops -------------------------------------------------------------------------------------
 */

struct read_loop {
    struct dependence_loop loop;
    struct dependences *reasons; /* as its notes: they are added when the loop is */
};

static int pull_reasons(struct json_file *file, void *field)
{
    char reason[DEPENDENCES_NAME_BYTES];
    int result = json_pull_array(file->pull);
    while (result >= 0 && (result = json_pull_element(file->pull)) > 0) {
        result = members_name(file, reason);
        if (result >= 0 && !reason[0])
            return json_pull_fail(file->pull, BT_DATA, "a reason is a string that is not empty");
        if (result >= 0)
            result = dependences_add_note(*(struct dependences **)field, reason, 0, file->error);
    }
    return result;
}

#define LOOP(member) offsetof(struct read_loop, member)

static const struct member loop_members[] = {
    {"place", pull_place_number, LOOP(loop.place)},
    {"verdict", members_verdict, LOOP(loop.verdict)},
    {"distance", members_optional, LOOP(loop.distance)},
    {"carried", members_kinds, LOOP(loop.carried)},
    {"entries", members_count, LOOP(loop.entries)},
    {"iterations", members_count, LOOP(loop.iterations)},
    {"instructions", members_count, LOOP(loop.instructions)},
    {"reasons", pull_reasons, LOOP(reasons)},
    {NULL, NULL, 0}};

/* Adds a loop that was read, unless its place is missing or unknown. */
static int add_loop(struct json_file *file, const struct read_loop *read)
{
    struct dependences *dependences = file->judge.dependences;
    const struct dependence_loop *loop = &read->loop;
    const size_t before = dependences->loop_count;
    uint32_t number = DEPENDENCES_NONE;
    int result = 0;
    dependences_judge_loop(&file->judge, file->where, loop);
    if (loop->place == DEPENDENCES_NONE) {
        /* reported with the place */
    } else if (dependence_place_is_unknown(&dependences->places[loop->place])) {
        fail(file, DEPENDENCES_RULE_LOOP, "nothing is known of its head");
    } else {
        result = dependences_add_loop(dependences, loop, &number, file->error);
        if (result == 0 && dependences->loop_count == before)
            fail(file, DEPENDENCES_RULE_TWICE, "another loop has the same head");
        for (size_t i = 0; i < read->reasons->note_count && result == 0; i++)
            result = dependences_add_reason(dependences, number, read->reasons->notes[i].text,
                                            file->error);
    }
    return result < 0 ? result : remember(file, &file->loops, number);
}

static int pull_loop(struct json_file *file)
{
    struct read_loop read = {.loop = {.place = DEPENDENCES_NONE},
                             .reasons = dependences_new(file->error)};
    unsigned seen;
    int result = read.reasons ? members_pull(file, loop_members, &read, &seen) : BT_MEMORY;
    if (result >= 0)
        result = add_loop(file, &read);
    dependences_free(read.reasons);
    return result;
}

/* --- rows --------------------------------------------------------------------------------------
 */

/* 1: the distance is null. */
static int begin_distance(struct json_file *file)
{
    int result = members_null(file);
    file->distances += result == 0;
    return result;
}

static int pull_distance(struct json_file *file, void *field)
{
    int result = begin_distance(file);
    return result ? result : json_pull_integer(file->pull, field);
}

static int pull_mean(struct json_file *file, void *field)
{
    int result = begin_distance(file);
    return result ? result : json_pull_number(file->pull, field);
}

static int pull_at_least(struct json_file *file, void *field)
{
    int result = begin_distance(file);
    return result ? result : members_bool(file, field);
}

#define ROW(member) offsetof(struct dependences_read_row, member)

static const struct member row_members[] = {
    {"kind", members_kind, ROW(row.kind)},
    {"sink", pull_place_number, ROW(row.sink)},
    {"source", pull_place_number, ROW(row.source)},
    {"top_sink", pull_top_number, ROW(row.top_sink)},
    {"top_source", pull_top_number, ROW(row.top_source)},
    {"count", members_count, ROW(row.count)},
    {"loop", pull_loop_number, ROW(row.loop)},
    {"carried", members_bool, ROW(row.carried)},
    {"distance_least", pull_distance, ROW(row.least)},
    {"distance_mean", pull_mean, ROW(mean)},
    {"distance_greatest", pull_distance, ROW(row.greatest)},
    {"distance_sum", pull_distance, ROW(row.sum)},
    {"distance_at_least", pull_at_least, ROW(row.at_least)},
    {"sink_thread", members_thread, ROW(row.sink_thread)},
    {"source_thread", members_thread, ROW(row.source_thread)},
    {NULL, NULL, 0}};

static int pull_row(struct json_file *file)
{
    struct dependences_read_row read = {.row = {.sink = DEPENDENCES_NONE,
                                                .source = DEPENDENCES_NONE,
                                                .top_sink = DEPENDENCES_NONE,
                                                .top_source = DEPENDENCES_NONE,
                                                .loop = DEPENDENCES_NONE}};
    unsigned seen;
    file->distances = 0;
    int result = members_pull(file, row_members, &read, &seen);
    if (result <= 0 || read.row.sink == DEPENDENCES_NONE || read.row.source == DEPENDENCES_NONE)
        return result < 0 ? result : 0; /* reported */
    read.distances = file->distances;
    return dependences_judge_row(&file->judge, file->where, &read, file->error);
}

/* --- notes -------------------------------------------------------------------------------------
 */

struct read_note {
    char text[DEPENDENCES_NAME_BYTES];
    uint64_t count;
};

static const struct member note_members[] = {
    {"text", members_name, offsetof(struct read_note, text)},
    {"count", members_count, offsetof(struct read_note, count)},
    {NULL, NULL, 0}};

static int pull_note(struct json_file *file)
{
    struct read_note read = {.count = 0};
    unsigned seen;
    int result = members_pull(file, note_members, &read, &seen);
    if (result < 0)
        return result;
    if (result > 0 && !read.text[0])
        fail(file, DEPENDENCES_RULE_FORMAT, "a note without text");
    return dependences_add_note(file->judge.dependences, read.text, read.count, file->error);
}

/* --- the whole ---------------------------------------------------------------------------------
 */

/* The arrays are the last of these, in this order: what one refers to comes before it. */
enum { ARRAY_FIRST = 12, ARRAYS = 4 };
static const struct member file_members[ARRAY_FIRST + ARRAYS + 1];

static int pull_array(struct json_file *file, unsigned array, int (*pull)(struct json_file *file))
{
    const struct member *member = &file_members[ARRAY_FIRST + array];
    const unsigned before = (1u << (ARRAY_FIRST + array)) - 1;
    if ((file->seen & before) != before)
        return json_pull_fail(file->pull, BT_DATA, "format to %s must precede %s", member[-1].key,
                              member->key);
    file->judge.kinds = file->totals.kinds;
    int result = dependences_set_totals(file->judge.dependences, &file->totals, file->error);
    if (result == 0)
        result = json_pull_array(file->pull);
    for (size_t i = 0; result >= 0 && (result = json_pull_element(file->pull)) > 0; i++) {
        snprintf(file->where, sizeof file->where, "%s[%zu]", member->key, i);
        result = pull(file);
    }
    file->where[0] = 0;
    return result;
}

static int pull_places(struct json_file *file, void *unused)
{
    (void)unused;
    return pull_array(file, 0, pull_place);
}

static int pull_loops(struct json_file *file, void *unused)
{
    (void)unused;
    return pull_array(file, 1, pull_loop);
}

static int pull_rows(struct json_file *file, void *unused)
{
    (void)unused;
    return pull_array(file, 2, pull_row);
}

static int pull_notes(struct json_file *file, void *unused)
{
    (void)unused;
    return pull_array(file, 3, pull_note);
}

static int pull_format(struct json_file *file, void *unused)
{
    struct json_pull_text text;
    int result = json_pull_string(file->pull, &text);
    (void)unused;
    if (result >= 0 && !json_pull_text_is(&text, DEPENDENCES_FORMAT))
        return json_pull_fail(file->pull, BT_DATA, "format is not " DEPENDENCES_FORMAT);
    return result;
}

static int pull_version(struct json_file *file, void *unused)
{
    uint64_t version = 0;
    int result = json_pull_integer(file->pull, &version);
    (void)unused;
    if (result >= 0 && version != DEPENDENCES_VERSION) {
        dependences_failures_add(file->judge.failures, DEPENDENCES_RULE_VERSION, "",
                                 "version %" PRIu64 ", known is %u", version, DEPENDENCES_VERSION);
        return BT_NOTE; /* the rest cannot be judged */
    }
    return result;
}

#define FILE_MEMBER(member) offsetof(struct json_file, member)

static const struct member file_members[ARRAY_FIRST + ARRAYS + 1] = {
    {"format", pull_format, 0},
    {"version", pull_version, 0},
    {"program", members_name, FILE_MEMBER(program)},
    {"ended", members_name, FILE_MEMBER(ended)},
    {"by", members_by, FILE_MEMBER(totals.by)},
    {"level", members_level, FILE_MEMBER(totals.level)},
    {"kinds", members_kinds, FILE_MEMBER(totals.kinds)},
    {"references", members_count, FILE_MEMBER(totals.references)},
    {"writes", members_count, FILE_MEMBER(totals.writes)},
    {"instructions", members_optional, FILE_MEMBER(totals.instructions)},
    {"dependences_total", members_count, FILE_MEMBER(totals.rows)},
    {"count_total", members_count, FILE_MEMBER(totals.count)},
    [ARRAY_FIRST] = {"places", pull_places, 0},
    {"loops", pull_loops, 0},
    {"dependences", pull_rows, 0},
    {"notes", pull_notes, 0},
    {NULL, NULL, 0}};

static int pull_file(struct json_file *file)
{
    const int read = members_pull(file, file_members, file, &file->seen);
    const int result = read < 0 ? read : json_pull_end(file->pull);
    if (result >= 0 && read > 0)
        dependences_judge_totals(&file->judge);
    if (result == BT_DATA)
        fail(file, DEPENDENCES_RULE_FORMAT, file->error->message);
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
        file->totals.program = file->program;
        file->totals.ended = file->ended;
        file->error = error;
        file->pull = json_pull_new(reader, &settings, error);
        result = file->pull ? pull_file(file) : BT_MEMORY;
        json_pull_free(file->pull);
        free(file->places.numbers);
        free(file->loops.numbers);
    } else {
        bt_fail(error, BT_MEMORY, "no memory to read dependences");
    }
    free(file);
    if (result == 0)
        return dependences;
    dependences_free(dependences);
    return NULL;
}
