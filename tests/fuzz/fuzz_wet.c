/*
 * Parts of WET files and texts. A text that is read without an error is read again from what was
 * written of it. Labels name instances that exist, blocks are in range, and a member that is good
 * has the content that its header says.
 */
#include "formats/wet/wet_labels.h"
#include "formats/wet/wet_members.h"
#include "formats/wet/wet_sequence.h"
#include "formats/wet/wet_text.h"

#include <string.h>

#define IDS    7u
#define LABELS 2000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- text --------------------------------------------------------------------------------------
 */

static char *put_event(char *out, const struct wet_text_event *event)
{
    switch (event->kind) {
    case WET_TEXT_COUNT:
        return wet_text_put_count(out, event->count);
    case WET_TEXT_INSTRUCTION:
        return wet_text_put_instruction(out, &event->instruction);
    case WET_TEXT_SIZE:
        return wet_text_put_size(out, event->count);
    case WET_TEXT_DEPENDENCE:
        return wet_text_put_dependence(out, event->instance, event->id, event->writer);
    case WET_TEXT_VALUES:
        return wet_text_put_values(out, event->count);
    case WET_TEXT_VALUE: /* the digits are not needed */
        return wet_text_put_value(out, event->instance, (const uint8_t *)"\x01", 1);
    case WET_TEXT_NO_VALUES:
        break;
    }
    return wet_text_put_no_values(out);
}

/* Reads a text, and writes it as far as it is good. Returns the reader's last result. */
static int copy_text(const void *text, size_t size, struct wet_bytes *again)
{
    struct bt_error error = {.message = ""};
    struct wet_text_event event;
    struct text_reader *input = text_reader_from_memory(text, size, "input", &error);
    struct wet_text_reader *reader = input ? wet_text_reader_new(input, &error) : NULL;
    int result;
    if (!reader)
        abort();
    while ((result = wet_text_reader_next(reader, &event, &error)) == 1) {
        char *bytes = grow_array(again->bytes, &again->capacity, again->size + WET_TEXT_BYTES, 1);
        if (!bytes)
            abort();
        again->bytes = (uint8_t *)bytes;
        again->size = (size_t)(put_event(bytes + again->size, &event) - bytes);
    }
    if (result < 0 && error.message[0] == '\0')
        abort();
    wet_text_reader_free(reader);
    text_reader_close(input);
    return result;
}

static void check_text(const uint8_t *data, size_t size)
{
    struct wet_bytes once = {.bytes = NULL}, twice = {.bytes = NULL};
    if (copy_text(data, size, &once) == 0 &&
        (copy_text(once.bytes, once.size, &twice) != 0 || twice.size != once.size ||
         memcmp(once.bytes, twice.bytes, once.size) != 0))
        abort();
    free(once.bytes);
    free(twice.bytes);
}

/* --- streams -----------------------------------------------------------------------------------
 */

static void check_labels(const uint8_t *data, size_t size)
{
    uint64_t instances[IDS + 1] = {0, 1, 2, 50, 1000, UINT32_MAX, UINT64_MAX, 0};
    struct wet_cursor from = {.at = data, .end = data + size};
    struct wet_port port = {.run = 0};
    struct wet_ranges ranges = {.ranges = NULL};
    int result = 0;
    for (uint64_t reader = 0; reader < LABELS && result == 0; reader++) {
        result = wet_port_get(&port, reader, IDS, instances, &from, &ranges);
        for (size_t i = 0; i < ranges.count && result == 0; i++) {
            const struct wet_writers *writers = &ranges.ranges[i];
            if (writers->id == 0 || writers->id > IDS || writers->count == 0 ||
                writers->first + writers->count > instances[writers->id])
                abort();
        }
        instances[reader % 5 + 1]++;
    }
    if (result != 0 && result != BT_DATA)
        abort();
    free(ranges.ranges);
    wet_port_clear(&port);
}

static void check_sequence(const uint8_t *data, size_t size)
{
    struct wet_sequence sequence = {.by_context = NULL};
    struct wet_context contexts[2] = {{.before = {0}}};
    struct wet_cursor from = {.at = data, .end = data + size};
    int result = wet_sequence_init(&sequence);
    for (uint32_t i = 0, number; i < LABELS && result == 0; i++) {
        result = wet_sequence_get(&sequence, &contexts[i % 2], i, &from, &number);
        if (result == 0 && number > i)
            abort();
    }
    if (result != 0 && result != BT_DATA)
        abort();
    wet_sequence_clear(&sequence);
}

static void check_member(const uint8_t *data, size_t size)
{
    struct bt_error error = {.message = ""};
    struct wet_bytes content = {.bytes = NULL};
    struct wet_member member;
    struct deflate_decoder *decoder = deflate_decoder_new(&error);
    if (!decoder)
        abort();
    if (wet_member_get(&member, data, size, &error) == 1 && member.member_bytes <= size &&
        wet_member_content(&member, decoder, data, &content, &error) == 0 &&
        content.size != member.content_bytes)
        abort();
    free(content.bytes);
    deflate_decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_text(data, size);
    check_labels(data, size);
    check_sequence(data, size);
    check_member(data, size);
    return 0;
}
