/*
 * JSON: the first octet selects how it is read. The reader must accept the same texts as a slow
 * reference parser. Values that are read one by one and written again must read identically.
 */
#include "formats/text/json_pull.h"
#include "formats/text/json_put.h"
#include "tests/support/json_twin.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int copy_value(struct json_pull *pull, struct json_put *put);

static int copy_members(struct json_pull *pull, struct json_put *put, bool object)
{
    struct json_pull_text key;
    int result = object ? json_pull_object(pull) : json_pull_array(pull);
    if (object)
        json_put_object(put);
    else
        json_put_array(put);
    while (result >= 0 &&
           (result = object ? json_pull_key(pull, &key) : json_pull_element(pull)) > 0) {
        if (object) {
            char *text = calloc(1, key.size + 1);
            memcpy(text, key.text, key.size);
            json_put_key(put, text);
            free(text);
        }
        result = copy_value(pull, put);
    }
    if (object)
        json_put_object_end(put);
    else
        json_put_array_end(put);
    return result;
}

/* Recursion, no deeper than json_pull's limit. */
static int copy_value(struct json_pull *pull, struct json_put *put)
{
    struct json_pull_text text;
    uint64_t number = 0;
    int result = json_pull_kind(pull);
    switch (result) {
    case JSON_PULL_ARRAY:
    case JSON_PULL_OBJECT:
        return copy_members(pull, put, result == JSON_PULL_OBJECT);
    case JSON_PULL_STRING:
        result = json_pull_string(pull, &text);
        if (result == 0)
            json_put_string(put, text.text, text.size);
        return result;
    case JSON_PULL_NUMBER:
        result = json_pull_integer(pull, &number);
        json_put_integer(put, number);
        return result;
    case JSON_PULL_TRUE:
    case JSON_PULL_FALSE:
        json_put_integer(put, result == JSON_PULL_TRUE);
        return json_pull_skip(pull);
    case JSON_PULL_NULL:
        json_put_integer(put, 0);
        return json_pull_skip(pull);
    default:
        return result;
    }
}

/* Reads and writes the size bytes at text; NULL if they are not JSON. Free the result with
 * text_writer_free. */
static struct text_writer *copy(const void *text, size_t size)
{
    struct bt_error error;
    struct text_reader *reader = text_reader_from_memory(text, size, "input", &error);
    struct text_writer *writer = text_writer_new_memory(&error);
    struct json_pull *pull = json_pull_new(reader, NULL, &error);
    struct json_put *put = json_put_new(writer, &error);
    int result = copy_value(pull, put);
    if (result == 0)
        result = json_pull_end(pull);
    if (json_put_finish(put, &error) < 0)
        abort();
    json_put_free(put);
    json_pull_free(pull);
    text_reader_close(reader);
    if (result == 0)
        return writer;
    text_writer_free(writer);
    return NULL;
}

static void walk(const uint8_t *data, size_t size)
{
    struct text_writer *once = copy(data, size);
    if (!once)
        return;
    size_t once_size, twice_size;
    const char *once_text = text_writer_memory(once, &once_size);
    struct text_writer *twice = copy(once_text, once_size);
    if (!twice)
        abort();
    const char *twice_text = text_writer_memory(twice, &twice_size);
    if (once_size != twice_size || memcmp(once_text, twice_text, once_size) != 0)
        abort();
    text_writer_free(twice);
    text_writer_free(once);
}

static void skip(const uint8_t *data, size_t size)
{
    struct bt_error error;
    struct json_pull_settings settings = json_pull_settings_default();
    settings.strict = true;
    struct text_reader *reader = text_reader_from_memory(data, size, "input", &error);
    struct json_pull *pull = json_pull_new(reader, &settings, &error);
    bool good = json_pull_skip(pull) == 0 && json_pull_end(pull) == 0;
    json_pull_free(pull);
    text_reader_close(reader);
    bool compressed = size >= 2 && ((data[0] == 0x1f && data[1] == 0x8b) || data[0] == 'B');
    /* the reference has no limit on a number's length */
    if (!compressed && size < 512 && good != json_twin_valid((const char *)data, size))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 2)
        walk(data + 1, size - 1);
    else
        skip(data + 1, size - 1);
    return 0;
}
