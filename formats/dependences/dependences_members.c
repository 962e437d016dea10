#include "formats/dependences/dependences_members_internal.h"

int members_pull(struct json_file *file, const struct member *members, void *into, unsigned *seen)
{
    struct json_pull_text key;
    unsigned number;
    int result = json_pull_object(file->pull);
    *seen = 0;
    while (result >= 0 && (result = json_pull_key(file->pull, &key)) > 0) {
        for (number = 0; members[number].key; number++)
            if (json_pull_text_is(&key, members[number].key))
                break;
        if (members[number].key) {
            *seen |= 1u << number;
            result = members[number].pull(file, (char *)into + members[number].offset);
        } else {
            result = json_pull_skip(file->pull);
        }
    }
    for (number = 0; result >= 0 && members[number].key; number++)
        if (!(*seen >> number & 1)) {
            dependences_failures_add(file->judge.failures, DEPENDENCES_RULE_FORMAT, file->where,
                                     "%s is missing", members[number].key);
            return 0;
        }
    return result < 0 ? result : 1;
}

int members_null(struct json_file *file)
{
    int result = json_pull_kind(file->pull);
    if (result < 0 || result != JSON_PULL_NULL)
        return result < 0 ? result : 0;
    result = json_pull_skip(file->pull);
    return result < 0 ? result : 1;
}

/* A name is cut off if it is too long, "" for null; a NUL in it becomes '?'. */
int members_name(struct json_file *file, void *field)
{
    struct json_pull_text text;
    char *name = field;
    name[0] = 0;
    int result = members_null(file);
    if (result != 0 || (result = json_pull_string(file->pull, &text)) < 0)
        return result;
    const size_t size = text.size < DEPENDENCES_NAME_BYTES ? text.size : DEPENDENCES_NAME_BYTES - 1;
    for (size_t i = 0; i < size; i++)
        name[i] = text.text[i] ? text.text[i] : '?';
    name[size] = 0;
    return 0;
}

/* One of count words. */
static int pull_word(struct json_file *file, const char *const *words, unsigned count,
                     unsigned *number)
{
    struct json_pull_text text;
    int result = json_pull_string(file->pull, &text);
    if (result < 0)
        return result;
    for (*number = 0; *number < count; (*number)++)
        if (json_pull_text_is(&text, words[*number]))
            return 0;
    return json_pull_fail(file->pull, BT_DATA, "unknown word \"%.*s\"",
                          text.size < 40 ? (int)text.size : 40, text.text);
}

int members_kind(struct json_file *file, void *field)
{
    unsigned kind = 0;
    int result = pull_word(file, dependence_kind_names, DEPENDENCE_KINDS, &kind);
    *(enum dependence_kind *)field = (enum dependence_kind)kind;
    return result;
}

int members_by(struct json_file *file, void *field)
{
    unsigned by = 0;
    int result = pull_word(file, dependences_by_names, DEPENDENCES_BYS, &by);
    *(enum dependences_by *)field = (enum dependences_by)by;
    return result;
}

int members_level(struct json_file *file, void *field)
{
    unsigned level = 0;
    int result = pull_word(file, dependences_level_names, DEPENDENCES_LEVELS, &level);
    *(enum dependences_level *)field = (enum dependences_level)level;
    return result;
}

int members_verdict(struct json_file *file, void *field)
{
    unsigned verdict = 0;
    int result = pull_word(file, dependence_verdict_names, DEPENDENCE_VERDICTS, &verdict);
    *(enum dependence_verdict *)field = (enum dependence_verdict)verdict;
    return result;
}

int members_kinds(struct json_file *file, void *field)
{
    unsigned *kinds = field;
    int result = json_pull_array(file->pull);
    *kinds = 0;
    while (result >= 0 && (result = json_pull_element(file->pull)) > 0) {
        enum dependence_kind kind;
        result = members_kind(file, &kind);
        *kinds |= 1u << kind;
    }
    return result;
}

int members_count(struct json_file *file, void *field)
{
    return json_pull_integer(file->pull, field);
}

int members_optional(struct json_file *file, void *field)
{
    int result = members_null(file);
    return result ? result : json_pull_integer(file->pull, field);
}

static int pull_within(struct json_file *file, uint64_t minimum, uint64_t maximum, uint32_t *field)
{
    const struct json_pull_bounds bounds = {.minimum = minimum, .maximum = maximum};
    uint64_t number = 0;
    int result = json_pull_integer_within(file->pull, &bounds, &number);
    *field = (uint32_t)number;
    return result;
}

int members_line(struct json_file *file, void *field)
{
    int result = members_null(file);
    return result ? result : pull_within(file, 1, UINT32_MAX, field);
}

int members_thread(struct json_file *file, void *field)
{
    return pull_within(file, 0, UINT32_MAX - 1, field);
}

int members_bool(struct json_file *file, void *field)
{
    int result = json_pull_kind(file->pull);
    *(bool *)field = result == JSON_PULL_TRUE;
    if (result < 0)
        return result;
    if (result != JSON_PULL_TRUE && result != JSON_PULL_FALSE)
        return json_pull_fail(file->pull, BT_DATA, "neither true nor false");
    return json_pull_skip(file->pull);
}
