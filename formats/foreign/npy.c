#include "formats/foreign/npy.h"

#include "formats/base/spool.h"
#include "formats/foreign/foreign_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES     256u /* of a written file: a multiple of 64 */
#define PREAMBLE_BYTES 10u  /* magic, version, length of the rest: version 1 */
#define HEAD_BYTES_MAX 3000u
#define ITEM_BYTES_MAX 1024u /* limit of an element's size when reading */

enum npy_field {
    FIELD_ADDRESS,
    FIELD_TYPE,
    FIELD_SIZE,
    FIELD_ATTRIBUTE,
    FIELD_PROCESSOR,
    FIELD_TIME,
    FIELDS
};

static const char *const names[FIELDS] = {"address",   "type",      "size",
                                          "attribute", "processor", "time"};

/* --- reading --- */

struct npy_reader {
    bool headed;
    size_t item_bytes;
    uint64_t left; /* elements that the header declares and that are not yet read */
    struct {
        uint16_t offset;
        uint8_t bytes; /* 0: missing */
        bool is_signed;
    } fields[FIELDS];
};

/* Skips a word in quotes, which is *word. */
static bool take_quoted(struct foreign_line *line, struct foreign_line *word)
{
    foreign_line_skip_spaces(line);
    if (line->at == line->end || (*line->at != '\'' && *line->at != '"'))
        return false;
    uint8_t quote = *line->at++;
    const uint8_t *end = memchr(line->at, quote, (size_t)(line->end - line->at));
    if (!end)
        return false;
    *word = (struct foreign_line){.at = line->at, .end = end};
    line->at = end + 1;
    return true;
}

static bool past(struct foreign_line *line, char character)
{
    foreign_line_skip_spaces(line);
    return foreign_line_expect(line, character);
}

/* Finds the value of a key in the header; false if the key is missing or a duplicate. */
static bool find_key(struct foreign_line head, const char *key, struct foreign_line *value)
{
    struct foreign_line word;
    bool found = false;
    while (head.at < head.end) {
        if (*head.at != '\'' && *head.at != '"') {
            head.at++;
            continue;
        }
        if (!take_quoted(&head, &word))
            return false;
        if (foreign_line_is(&word, key) && past(&head, ':')) {
            if (found)
                return false;
            *value = head;
            found = true;
        }
    }
    return found;
}

/* One ('name', '<u4') of the type; *kind: 'u' or 'i' for a supported integer, else 0. */
static bool take_tuple(struct foreign_line *line, struct foreign_line *name, uint64_t *bytes,
                       uint8_t *kind)
{
    struct foreign_line type;
    if (!past(line, '(') || !take_quoted(line, name) || !past(line, ',') ||
        !take_quoted(line, &type))
        return false;
    bool little = type.at < type.end && (*type.at == '<' || *type.at == '|');
    bool big = type.at < type.end && (*type.at == '>' || *type.at == '=');
    type.at += little || big;
    *kind = type.at < type.end ? *type.at++ : 0;
    if (!foreign_line_decimal(&type, bytes) || type.at < type.end || *bytes == 0 ||
        *bytes > ITEM_BYTES_MAX)
        return false;
    if (*kind == 'U')
        *bytes *= 4;
    if ((*kind != 'u' && *kind != 'i') || *bytes > 8 || (!little && *bytes != 1))
        *kind = 0;
    past(line, ','); /* allowed at a tuple's end; shapes of fields are not supported */
    return past(line, ')');
}

static int take_type(struct npy_reader *npy, struct foreign_line line, struct bt_error *error)
{
    struct foreign_line name;
    uint64_t bytes;
    uint8_t kind;
    if (!past(&line, '['))
        return bt_fail(error, BT_DATA,
                       "its elements have no fields: a structured array is required");
    while (!past(&line, ']')) {
        if (!take_tuple(&line, &name, &bytes, &kind))
            return bt_fail(error, BT_DATA, "a field of its elements cannot be understood");
        for (int field = 0; field < FIELDS; field++)
            if (foreign_line_is(&name, names[field])) {
                if (kind == 0)
                    return bt_fail(error, BT_DATA, "its %s is not a little-endian integer",
                                   names[field]);
                if (npy->fields[field].bytes > 0)
                    return bt_fail(error, BT_DATA, "its elements have a duplicate field %s",
                                   names[field]);
                npy->fields[field].offset = (uint16_t)npy->item_bytes;
                npy->fields[field].bytes = (uint8_t)bytes;
                npy->fields[field].is_signed = kind == 'i';
            }
        npy->item_bytes += bytes;
        if (npy->item_bytes > ITEM_BYTES_MAX)
            return bt_fail(error, BT_DATA, "its elements have more than %u bytes", ITEM_BYTES_MAX);
        past(&line, ',');
    }
    if (npy->fields[FIELD_ADDRESS].bytes == 0 || npy->fields[FIELD_TYPE].bytes == 0)
        return bt_fail(error, BT_DATA, "its elements have no address, or no type");
    return 0;
}

static int take_head(struct npy_reader *npy, struct foreign_line head, struct bt_error *error)
{
    struct foreign_line value;
    if (!find_key(head, "descr", &value))
        return bt_fail(error, BT_DATA, "its header must contain one descr");
    int result = take_type(npy, value, error);
    if (result < 0)
        return result;
    if (!find_key(head, "shape", &value) || !past(&value, '('))
        return bt_fail(error, BT_DATA, "its header must contain one shape");
    foreign_line_skip_spaces(&value);
    if (!foreign_line_decimal(&value, &npy->left) || !past(&value, ',') || !past(&value, ')'))
        return bt_fail(error, BT_DATA, "it must have one dimension");
    npy->headed = true;
    return 0;
}

/* The offset and length of the header's text; 0 if more bytes are needed. */
static size_t find_head(const uint8_t *bytes, size_t size, size_t *length)
{
    if (size < PREAMBLE_BYTES + 2)
        return 0;
    bool wide = bytes[NPY_MAGIC_BYTES] > 1; /* versions 2 and 3 */
    *length = wide ? bytes_get32(bytes + 8) : bytes_get16(bytes + 8);
    return wide ? PREAMBLE_BYTES + 2 : PREAMBLE_BYTES;
}

static int decode_head(struct npy_reader *npy, const uint8_t *bytes, size_t size,
                       struct foreign_item *item, struct bt_error *error)
{
    size_t length = 0;
    if (size >= NPY_MAGIC_BYTES && memcmp(bytes, NPY_MAGIC, NPY_MAGIC_BYTES) != 0)
        return bt_fail(error, BT_DATA, "it does not begin like an array of NumPy");
    size_t start = find_head(bytes, size, &length);
    if (start == 0)
        return 0;
    if (length > HEAD_BYTES_MAX)
        return bt_fail(error, BT_DATA, "its header has more than %u bytes", HEAD_BYTES_MAX);
    if (size < start + length)
        return 0;
    int result = take_head(
        npy, (struct foreign_line){.at = bytes + start, .end = bytes + start + length}, error);
    item->used = result < 0 ? 0 : start + length;
    return result;
}

static uint64_t get_field(const struct npy_reader *npy, const uint8_t *bytes, enum npy_field field)
{
    uint64_t value = 0;
    for (unsigned i = npy->fields[field].bytes; i-- > 0;)
        value = value << 8 | bytes[npy->fields[field].offset + i];
    return value;
}

/* The first negative field of an element; FIELDS: none. */
static enum npy_field negative_field(const struct npy_reader *npy, const uint8_t *bytes)
{
    for (enum npy_field field = 0; field < FIELDS; field++)
        if (npy->fields[field].is_signed &&
            bytes[npy->fields[field].offset + npy->fields[field].bytes - 1u] & 0x80)
            return field;
    return FIELDS;
}

static int decode(void *state, const uint8_t *bytes, size_t size, bool last,
                  struct foreign_item *item, struct bt_error *error)
{
    struct npy_reader *npy = state;
    struct foreign_reference *reference = &item->references[0];
    (void)last;
    if (!npy->headed)
        return decode_head(npy, bytes, size, item, error);
    if (npy->left == 0)
        return bt_fail(error, BT_DATA, "bytes follow the elements that its header declares");
    if (size < npy->item_bytes)
        return 0;
    uint64_t type = get_field(npy, bytes, FIELD_TYPE);
    uint64_t attribute = npy->fields[FIELD_ATTRIBUTE].bytes ? get_field(npy, bytes, FIELD_ATTRIBUTE)
                                                            : ATTRIBUTE_WRITE_BACK;
    enum npy_field negative = negative_field(npy, bytes);
    item->used = npy->item_bytes;
    npy->left--;
    if (negative < FIELDS)
        return bt_fail(error, BT_DATA, "its %s is negative", names[negative]);
    if (type > UINT8_MAX || attribute > UINT8_MAX)
        return bt_fail(error, BT_DATA, "its %s is not a number from 0 to 255",
                       names[type > UINT8_MAX ? FIELD_TYPE : FIELD_ATTRIBUTE]);
    *reference = (struct foreign_reference){.address = get_field(npy, bytes, FIELD_ADDRESS),
                                            .size = get_field(npy, bytes, FIELD_SIZE),
                                            .type = (uint8_t)type,
                                            .attribute = (uint8_t)attribute,
                                            .processor = get_field(npy, bytes, FIELD_PROCESSOR)};
    item->timed = npy->fields[FIELD_TIME].bytes ? FOREIGN_TIME_SINCE : FOREIGN_TIMELESS;
    item->time = get_field(npy, bytes, FIELD_TIME);
    item->count = 1;
    return 0;
}

static int finish_reading(void *state, struct bt_error *error)
{
    const struct npy_reader *npy = state;
    if (!npy->headed || npy->left == 0)
        return 0;
    return bt_fail(error, BT_DATA, "%" PRIu64 " elements that its header declares are missing",
                   npy->left);
}

const struct foreign_decoder npy_decoder = {.timed = true,
                                            .state_bytes = sizeof(struct npy_reader),
                                            .decode = decode,
                                            .finish = finish_reading};

/* --- writing --- */

struct npy_writer {
    uint64_t count;
    struct spool *spool; /* of all elements, if the header cannot be rewritten at the end */
};

/* A header of HEAD_BYTES for this number of elements. */
static void put_head(char *out, uint64_t count)
{
    memset(out, ' ', HEAD_BYTES);
    memcpy(out, NPY_MAGIC "\x01", NPY_MAGIC_BYTES + 2);
    bytes_put16((uint8_t *)out + 8, HEAD_BYTES - PREAMBLE_BYTES);
    char text[HEAD_BYTES];
    int length = snprintf(text, sizeof text,
                          "{'descr': [('address', '<u4'), ('type', '|u1'), ('size', '|u1'), "
                          "('attribute', '|u1'), ('processor', '|u1'), ('time', '<u4')], "
                          "'fortran_order': False, 'shape': (%" PRIu64 ",), }",
                          count);
    memcpy(out + PREAMBLE_BYTES, text, (size_t)length);
    out[HEAD_BYTES - 1] = '\n';
}

static int begin(void *state, const struct foreign_options *options, struct text_writer *writer,
                 char *out, size_t *filled, struct bt_error *error)
{
    struct npy_writer *npy = state;
    (void)options;
    if (!text_writer_can_patch(writer))
        return spool_new(&npy->spool, error);
    put_head(out, 0);
    *filled = HEAD_BYTES;
    return 0;
}

static char *encode(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error)
{
    struct npy_writer *npy = state;
    size_t size = run->count * RECORD_BYTES;
    records_put((uint8_t *)out, run->records, run->count);
    loss->written += run->count;
    npy->count += run->count;
    if (!npy->spool)
        return out + size;
    return spool_put(npy->spool, out, size, error) == 0 ? out : NULL;
}

/* The header, and the spooled elements. */
static int unspool(const struct npy_writer *npy, struct text_writer *writer, const char *head,
                   struct bt_error *error)
{
    char piece[32768];
    int result = text_writer_put(writer, head, HEAD_BYTES, error);
    uint64_t size = spool_size(npy->spool);
    for (uint64_t done = 0; done < size && result == 0; done += sizeof piece) {
        size_t some = size - done < sizeof piece ? (size_t)(size - done) : sizeof piece;
        result = spool_read(npy->spool, done, piece, some, error);
        if (result == 0)
            result = text_writer_put(writer, piece, some, error);
    }
    return result;
}

static int finish(void *state, struct text_writer *writer, struct foreign_loss *loss,
                  struct bt_error *error)
{
    const struct npy_writer *npy = state;
    char head[HEAD_BYTES];
    (void)loss;
    put_head(head, npy->count);
    return npy->spool ? unspool(npy, writer, head, error)
                      : text_writer_patch(writer, 0, head, HEAD_BYTES, error);
}

static void release(void *state)
{
    spool_free(((struct npy_writer *)state)->spool);
}

const struct foreign_encoder npy_encoder = {.state_bytes = sizeof(struct npy_writer),
                                            .record_bytes = RECORD_BYTES,
                                            .head_bytes = HEAD_BYTES,
                                            .times_between = true,
                                            .begin = begin,
                                            .encode = encode,
                                            .finish = finish,
                                            .release = release};
