#include "formats/record/record_text.h"

#include "formats/base/digits.h"

#include <string.h>

/*
 * Speed: formats/base/digits.h converts numbers. The classic dump's columns between address and
 * time (name, size, attribute, processor) have few values in a real trace and are cached, as text,
 * from the last record with the same key. A store may overwrite the next column, but never exceeds
 * the line's RECORD_TEXT_MAX_BYTES.
 */

/* The classic dump's second column by ordinal: the space after the address, the name, its tabs. */
static const char *const name_columns[REQUEST_TYPES + 1] = {
    " FETCH\t\t",    " MEMREAD\t", " MEMREADINV\t",   " MEMWRITE\t",   " IOREAD\t\t", " IOWRITE\t",
    " DEFERREPLY\t", " INTA\t\t",  " CNTRLAGNTRES\t", " BRTRACEREC\t", " SHUTDOWN\t", " FLUSH\t\t",
    " HALT\t\t",     " SYNC\t\t",  " FLUSHACK\t",     " STOPCLKAK\t",  " SMIACK\t\t", " "};

/* Cached text of the classic dump's columns between address and time. */
struct middle {
    char text[27]; /* " CNTRLAGNTRES\t255\tff\t255\t" has 25 characters */
    uint8_t length;
    uint32_t key; /* the record's type, size, attribute and processor */
};
_Static_assert(sizeof(struct middle) == 32, "copied whole, in two stores");

#define MIDDLES 512u

static inline char *put_text(char *out, const char *text, size_t length)
{
    memcpy(out, text, length);
    return out + length;
}

#define PUT_LITERAL(out, literal) put_text(out, literal, sizeof literal - 1)

static char *put_byte_hexadecimal(char *out, uint8_t value)
{
    *out++ = "0123456789abcdef"[value >> 4];
    *out++ = "0123456789abcdef"[value & 15];
    return out;
}

static void make_middle(struct middle *middle, const struct record *record, uint32_t key)
{
    char line[RECORD_TEXT_MAX_BYTES];
    const char *name = name_columns[request_type_ordinal(record->type)];
    char *out = put_text(line, name, strlen(name));
    if (record->size < 10)
        *out++ = ' ';
    out = digits_put_short_decimal(out, record->size);
    *out++ = '\t';
    out = put_byte_hexadecimal(out, record->attribute);
    *out++ = '\t';
    out = digits_put_short_decimal(out, record->processor);
    *out++ = '\t';
    middle->length = (uint8_t)(out - line);
    middle->key = key;
    memcpy(middle->text, line, middle->length);
}

/*
 * The cache slot of a key. The factor was found by search: it maps the usual requests (memory and
 * I/O of 4, 8 and 32 bytes, deferred replies, 8 processors) to different slots.
 */
static inline unsigned middle_slot(uint32_t key)
{
    return key * 0x500cce13u >> 23;
}

/* An empty slot holds a key of another slot: key 0 maps to slot 0, and key 1 does not. */
static void clear_middles(struct middle middles[MIDDLES])
{
    memset(middles, 0, MIDDLES * sizeof *middles);
    middles[0].key = 1;
}

/* "000\n" to "999\n" */
/* clang-format off */
#define LINE_ENDS_1(tens)                                                                          \
    tens "0\n" tens "1\n" tens "2\n" tens "3\n" tens "4\n"                                         \
    tens "5\n" tens "6\n" tens "7\n" tens "8\n" tens "9\n"
#define LINE_ENDS_2(hundreds)                                                                      \
    LINE_ENDS_1(hundreds "0") LINE_ENDS_1(hundreds "1") LINE_ENDS_1(hundreds "2")                  \
    LINE_ENDS_1(hundreds "3") LINE_ENDS_1(hundreds "4") LINE_ENDS_1(hundreds "5")                  \
    LINE_ENDS_1(hundreds "6") LINE_ENDS_1(hundreds "7") LINE_ENDS_1(hundreds "8")                  \
    LINE_ENDS_1(hundreds "9")
static const char line_ends[] =
    LINE_ENDS_2("0") LINE_ENDS_2("1") LINE_ENDS_2("2") LINE_ENDS_2("3") LINE_ENDS_2("4")
    LINE_ENDS_2("5") LINE_ENDS_2("6") LINE_ENDS_2("7") LINE_ENDS_2("8") LINE_ENDS_2("9");
/* clang-format on */

/* "%u\n". Most times of a real trace are below 1000, nearly all below 10^8. */
static inline char *put_line_end(char *out, uint32_t time)
{
    if (__builtin_expect(time < 1000, 1)) {
        unsigned leading = (time < 100) + (time < 10);
        uint32_t characters = bytes_get32((const uint8_t *)line_ends + 4 * time);
        bytes_put32((uint8_t *)out, characters >> 8 * leading);
        return out + 4 - leading;
    }
    out = digits_put_decimal(out, time);
    *out++ = '\n';
    return out;
}

static size_t put_classic(char *out, const struct record *records, size_t count)
{
    char *start = out;
    struct middle middles[MIDDLES];
    clear_middles(middles);
    for (const struct record *r = records; r < records + count; r++) {
        out = digits_put_hexadecimal(out, r->address);
        uint32_t key;
        memcpy(&key, &r->type, sizeof key);
        struct middle *middle = &middles[middle_slot(key)];
        if (__builtin_expect(middle->key != key, 0))
            make_middle(middle, r, key);
        memcpy(out, middle, sizeof *middle);
        out = put_line_end(out + middle->length, r->time);
    }
    return (size_t)(out - start);
}

/* The type's name, or 0x and two digits. */
static char *put_type(char *out, uint8_t type)
{
    const char *name = request_type_name(type);
    if (name)
        return put_text(out, name, strlen(name));
    *out++ = '0';
    *out++ = 'x';
    return put_byte_hexadecimal(out, type);
}

static char *put_csv(char *out, const struct record *record, uint64_t index, uint64_t tick)
{
    out = digits_put_decimal(out, index);
    *out++ = ',';
    out = digits_put_decimal(out, tick);
    out = PUT_LITERAL(out, ",0x");
    out = digits_put_hexadecimal(out, record->address);
    *out++ = ',';
    out = put_type(out, record->type);
    *out++ = ',';
    out = digits_put_short_decimal(out, record->size);
    *out++ = ',';
    out = digits_put_short_decimal(out, record->attribute);
    *out++ = ',';
    out = digits_put_short_decimal(out, record->processor);
    *out++ = ',';
    out = digits_put_decimal(out, record->time);
    *out++ = '\n';
    return out;
}

static char *put_json(char *out, const struct record *record, uint64_t index, uint64_t tick)
{
    out = PUT_LITERAL(out, "{\"index\":");
    out = digits_put_decimal(out, index);
    out = PUT_LITERAL(out, ",\"tick\":");
    out = digits_put_decimal(out, tick);
    out = PUT_LITERAL(out, ",\"address\":\"0x");
    out = digits_put_hexadecimal(out, record->address);
    out = PUT_LITERAL(out, "\",\"type\":\"");
    out = put_type(out, record->type);
    out = PUT_LITERAL(out, "\",\"size\":");
    out = digits_put_short_decimal(out, record->size);
    out = PUT_LITERAL(out, ",\"attribute\":");
    out = digits_put_short_decimal(out, record->attribute);
    out = PUT_LITERAL(out, ",\"processor\":");
    out = digits_put_short_decimal(out, record->processor);
    out = PUT_LITERAL(out, ",\"time\":");
    out = digits_put_decimal(out, record->time);
    return PUT_LITERAL(out, "}\n");
}

const char *record_text_header(enum record_text form)
{
    return form == RECORD_TEXT_CSV ? "index,tick,address,type,size,attribute,processor,time\n" : "";
}

size_t record_text_put(enum record_text form, char *out, const struct record *records, size_t count,
                       uint64_t index, uint64_t tick)
{
    if (form == RECORD_TEXT_B2A)
        return put_classic(out, records, count);
    char *start = out;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            tick += records[i].time;
        out = form == RECORD_TEXT_CSV ? put_csv(out, &records[i], index + i, tick)
                                      : put_json(out, &records[i], index + i, tick);
    }
    return (size_t)(out - start);
}
