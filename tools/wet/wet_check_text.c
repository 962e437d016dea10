#include "formats/base/grow.h"
#include "formats/base/hash_index.h"
#include "formats/text/text_lines.h"
#include "formats/wet/wet_history.h"
#include "formats/wet/wet_text.h"
#include "tools/wet/wet_check.h"

#include <inttypes.h>
#include <string.h>

/* An instruction that others depend on. */
struct referred {
    uint32_t id;
    uint64_t instance, line; /* the largest instance, and where it is named */
};

struct text_check {
    struct wet_text_reader *reader;
    struct wet_check *check;
    uint64_t count;   /* N */
    uint64_t *limits; /* by id: number of instances; 0: not known */
    size_t limit_capacity;
    struct referred *referred;
    size_t referred_count, referred_capacity;
    struct hash_index index; /* of referred, by id */

    /* of the current instruction */
    uint32_t id;
    uint64_t instances; /* the largest one in a line, plus 1 */
    uint64_t values;

    /* of the current port, or of the values */
    uint64_t lines;
    struct wet_text_event last;
    uint64_t numbered; /* different instances so far */
};

static int fail(const struct text_check *text, const char *what, struct bt_error *error)
{
    return bt_fail(error, BT_DATA, "line %" PRIu64 ": %s", wet_text_reader_line(text->reader),
                   what);
}

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory to check the text");
}

/* --- comprehensive text ----------------------------------------------------------------------- */

/* Notes that an instance is depended on. */
static int refer(struct text_check *text, uint32_t id, uint64_t instance, struct bt_error *error)
{
    const uint64_t line = wet_text_reader_line(text->reader);
    struct hash_search search = hash_search(&text->index, hash_number(id));
    while (hash_search_next(&search)) {
        struct referred *found = &text->referred[search.number];
        if (found->id != id)
            continue;
        if (instance > found->instance)
            *found = (struct referred){.id = id, .instance = instance, .line = line};
        return 0;
    }
    struct referred *larger = grow_array(text->referred, &text->referred_capacity,
                                         text->referred_count + 1, sizeof *larger);
    if (!larger)
        return no_memory(error);
    text->referred = larger;
    if (hash_index_add(&text->index, hash_number(id), (uint32_t)text->referred_count) < 0)
        return no_memory(error);
    larger[text->referred_count++] =
        (struct referred){.id = id, .instance = instance, .line = line};
    return 0;
}

/* An instruction that defines a value each time has as many instances as values; of others the text
 * does not tell. */
static int end_instruction(struct text_check *text, struct bt_error *error)
{
    uint64_t *larger =
        grow_array(text->limits, &text->limit_capacity, (size_t)text->id + 1, sizeof *larger);
    if (!larger)
        return no_memory(error);
    text->limits = larger;
    larger[text->id] = text->values > 0 && text->values == text->instances ? text->instances : 0;
    return 0;
}

static int check_instruction(struct text_check *text, const struct wet_text_event *event,
                             struct bt_error *error)
{
    const int result = end_instruction(text, error);
    if (result < 0)
        return result;
    if (event->instruction.id != text->id + 1)
        return fail(text, "ids must ascend from 1, without gaps", error);
    text->id++;
    text->instances = text->values = 0;
    return 0;
}

static bool is_after(const struct wet_text_event *event, const struct wet_text_event *last)
{
    if (event->instance != last->instance)
        return event->instance > last->instance;
    return event->id > last->id || (event->id == last->id && event->writer > last->writer);
}

static void note_instance(struct text_check *text, const struct wet_text_event *event)
{
    text->numbered += text->lines == 0 || event->instance != text->last.instance;
    text->lines++;
    text->last = *event;
    if (event->instance >= text->instances)
        text->instances = event->instance + 1;
}

static int check_dependence(struct text_check *text, const struct wet_text_event *event,
                            struct bt_error *error)
{
    if (event->id == 0 || event->id > text->count)
        return fail(text, "the instruction depended on does not exist", error);
    if (text->lines > 0 && !is_after(event, &text->last))
        return fail(text, "dependences must ascend by X, then by Y and Z", error);
    note_instance(text, event);
    text->check->dependences++;
    /* a port that is numbered without gaps does not tell its instances */
    if (event->id == text->id && event->writer > event->instance &&
        text->numbered != event->instance + 1)
        return fail(text, "an instance depends on a later one", error);
    return refer(text, event->id, event->writer, error);
}

static int check_value(struct text_check *text, const struct wet_text_event *event,
                       struct bt_error *error)
{
    if (text->lines > 0 && event->instance <= text->last.instance)
        return fail(text, "values must ascend by X", error);
    note_instance(text, event);
    text->values++;
    text->check->values++;
    return 0;
}

static int check_event(struct text_check *text, const struct wet_text_event *event,
                       struct bt_error *error)
{
    switch (event->kind) {
    case WET_TEXT_COUNT:
        text->count = event->count;
        return event->count > UINT32_MAX ? fail(text, "too many instructions", error) : 0;
    case WET_TEXT_INSTRUCTION:
        return check_instruction(text, event, error);
    case WET_TEXT_DEPENDENCE:
        return check_dependence(text, event, error);
    case WET_TEXT_VALUE:
        return check_value(text, event, error);
    default:
        text->lines = text->numbered = 0;
        return 0;
    }
}

/* Whether the instances that others depend on exist. */
static int check_referred(struct text_check *text, struct bt_error *error)
{
    const int result = end_instruction(text, error);
    for (size_t i = 0; i < text->referred_count && result == 0; i++) {
        const struct referred *referred = &text->referred[i];
        const uint64_t limit = text->limits[referred->id];
        if (limit > 0 && referred->instance >= limit)
            return bt_fail(error, BT_DATA,
                           "line %" PRIu64 ": instance %" PRIu64 " of instruction %" PRIu32
                           " does not exist; there are %" PRIu64,
                           referred->line, referred->instance, referred->id, limit);
    }
    return result;
}

static int check_comprehensive(struct text_reader *reader, struct wet_check *check,
                               struct bt_error *error)
{
    struct text_check text = {.check = check};
    struct wet_text_event event;
    text.reader = wet_text_reader_new(reader, error);
    int result = text.reader ? 1 : error->code;
    while (result == 1) {
        result = wet_text_reader_next(text.reader, &event, error);
        const int checked = result == 1 ? check_event(&text, &event, error) : 0;
        result = checked < 0 ? checked : result;
    }
    if (result == 0)
        result = check_referred(&text, error);
    check->known_instructions = text.id;
    check->lines = text.reader ? wet_text_reader_line(text.reader) : 0;
    wet_text_reader_free(text.reader);
    free(text.limits);
    free(text.referred);
    hash_index_clear(&text.index);
    return result;
}

/* --- limited history -------------------------------------------------------------------------- */

static int check_history(struct text_reader *reader, struct wet_check *check,
                         struct bt_error *error)
{
    struct text_lines *lines = text_lines_new(reader, WET_HISTORY_BYTES, error);
    struct wet_history_line dependence;
    struct text_line line;
    int result = lines ? 1 : error->code;
    while (result == 1 && (result = text_lines_next(lines, &line, error)) == 1) {
        check->lines = check->dependences = line.number;
        if (line.is_cut || !wet_history_get(line.text, line.size, &dependence))
            result =
                bt_fail(error, BT_DATA, "line %" PRIu64 ": expected 0xA#b --> 0xX#y", line.number);
    }
    text_lines_free(lines);
    return result;
}

int wet_check_text(struct text_reader *reader, struct wet_check *check, struct bt_error *error)
{
    char begin[2] = "";
    size_t size;
    *check = (struct wet_check){.form = WET_CHECK_TEXT};
    const int result = text_reader_peek(reader, begin, sizeof begin, &size, error);
    if (result < 0)
        return result;
    if (size == 2 && memcmp(begin, "0x", 2) == 0) {
        check->form = WET_CHECK_HISTORY;
        return check_history(reader, check, error);
    }
    if (size > 0 && begin[0] >= '0' && begin[0] <= '9')
        return check_comprehensive(reader, check, error);
    return bt_fail(error, BT_DATA, "it is neither a WET file nor one of the texts of a trace");
}
