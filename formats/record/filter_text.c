#include "formats/record/filter_text.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define PROCESSORS 8u

enum filter_field { FIELD_TYPE, FIELD_PROCESSOR, FIELD_ADDRESS };

struct filter_parser {
    const char *text;
    const char *at;
    struct filter *filter;
    struct bt_error *error;
    unsigned fields_seen; /* bit n: enum filter_field n */
};

/* One value, or a range of them. */
struct value_range {
    uint32_t low, high;
};

static void skip_space(struct filter_parser *parser)
{
    while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n' || *parser->at == '\r')
        parser->at++;
}

static int expected(const struct filter_parser *parser, const char *what)
{
    return bt_fail(parser->error, BT_USAGE, "filter, column %zu: expected %s",
                   (size_t)(parser->at - parser->text) + 1, what);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The length of the word of letters and digits at `at`; 0 if none. */
static size_t word_length(const char *at)
{
    size_t length = 0;
    if (is_letter(at[0]))
        while (is_letter(at[length]) || is_digit(at[length]))
            length++;
    return length;
}

static bool take_word(struct filter_parser *parser, const char *word)
{
    size_t length = word_length(parser->at);
    if (length != strlen(word) || strncasecmp(parser->at, word, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static bool take(struct filter_parser *parser, const char *token)
{
    size_t length = strlen(token);
    if (strncmp(parser->at, token, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

static int parse_number(struct filter_parser *parser, uint32_t *number, const char *what)
{
    const char *start = parser->at;
    int base = 10;
    if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X')) {
        base = 16;
        start += 2;
    }
    if (digit_value(*start) >= base)
        return expected(parser, what);
    uint64_t value = 0;
    const char *end = start;
    for (; digit_value(*end) < base && value <= UINT32_MAX; end++)
        value = value * (unsigned)base + (unsigned)digit_value(*end);
    if (value > UINT32_MAX)
        return expected(parser, "a number of at most 0xffffffff");
    if (is_letter(*end) || is_digit(*end))
        return expected(parser, what);
    parser->at = end;
    *number = (uint32_t)value;
    return 0;
}

/* number [ "-" number ], none above limit. */
static int parse_range(struct filter_parser *parser, struct value_range *value, uint32_t limit,
                       const char *what)
{
    const char *start = parser->at;
    int result = parse_number(parser, &value->low, what);
    if (result < 0)
        return result;
    value->high = value->low;
    skip_space(parser);
    if (take(parser, "-")) {
        skip_space(parser);
        result = parse_number(parser, &value->high, "a number, the end of the range");
        if (result < 0)
            return result;
    }
    const char *end = parser->at;
    parser->at = start;
    if (value->low > value->high)
        return expected(parser, "a range whose end is not below its start");
    if (value->high > limit)
        return expected(parser, what);
    parser->at = end;
    return 0;
}

/* Adds the types of a name or a range of numbers. */
static int parse_type(struct filter_parser *parser, uint32_t *types)
{
    static const char what[] = "a request type: FETCH, MEMREAD, MEMREADINV, MEMWRITE, IOREAD, "
                               "IOWRITE, DEFERREPLY, INTA, CNTRLAGNTRES, BRTRACEREC, SHUTDOWN, "
                               "FLUSH, HALT, SYNC, FLUSHACK, STOPCLKACK, SMIACK or its number";
    for (unsigned i = 0; i < REQUEST_TYPES; i++)
        if (take_word(parser, request_type_name(request_type_at(i)))) {
            *types |= 1u << i;
            return 0;
        }
    const char *start = parser->at;
    struct value_range value;
    int result = parse_range(parser, &value, 0xff, what);
    if (result < 0)
        return result;
    uint32_t found = 0;
    for (unsigned i = 0; i < REQUEST_TYPES; i++)
        if (request_type_at(i) >= value.low && request_type_at(i) <= value.high)
            found |= 1u << i;
    if (found == 0) {
        parser->at = start;
        return expected(parser, what);
    }
    *types |= found;
    return 0;
}

static int parse_processor(struct filter_parser *parser, uint32_t *processors)
{
    struct value_range value;
    int result = parse_range(parser, &value, PROCESSORS - 1, "a processor, 0 to 7");
    for (uint32_t i = value.low; result == 0 && i <= value.high; i++)
        *processors |= 1u << i;
    return result;
}

static int parse_address(struct filter_parser *parser)
{
    struct filter *filter = parser->filter;
    if (filter->range_count == FILTER_RANGES)
        return expected(parser, "no more than 8 address ranges");
    struct value_range value;
    int result = parse_range(parser, &value, UINT32_MAX, "an address, such as 0xfee00000");
    if (result == 0)
        filter->ranges[filter->range_count++] =
            (struct filter_range){.low = value.low, .high = value.high};
    return result;
}

/* value { "|" value } of one field, with what "!=" makes of it. */
static int parse_values(struct filter_parser *parser, enum filter_field field, bool negated)
{
    struct filter *filter = parser->filter;
    const struct filter all = filter_all();
    uint32_t bits = 0;
    int result;
    do {
        skip_space(parser);
        result = field == FIELD_TYPE        ? parse_type(parser, &bits)
                 : field == FIELD_PROCESSOR ? parse_processor(parser, &bits)
                                            : parse_address(parser);
        skip_space(parser);
    } while (result == 0 && take(parser, "|"));
    if (field == FIELD_TYPE)
        filter->types = negated ? all.types & ~bits : bits;
    else if (field == FIELD_PROCESSOR)
        filter->processors = (uint8_t)(negated ? all.processors & ~bits : bits);
    else
        filter->outside = negated;
    return result;
}

/* Returns the enum filter_field at the current position, or a negative code. */
static int parse_field(struct filter_parser *parser)
{
    static const struct {
        const char *name;
        enum filter_field field;
    } names[] = {{"type", FIELD_TYPE},
                 {"processor", FIELD_PROCESSOR},
                 {"proc", FIELD_PROCESSOR},
                 {"address", FIELD_ADDRESS},
                 {"addr", FIELD_ADDRESS}};
    const char *start = parser->at;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (take_word(parser, names[i].name)) {
            if (parser->fields_seen >> names[i].field & 1u) {
                parser->at = start;
                return expected(parser, "each of type, processor and address at most once");
            }
            parser->fields_seen |= 1u << names[i].field;
            return (int)names[i].field;
        }
    return expected(parser, "type, processor or address");
}

static int parse_clause(struct filter_parser *parser)
{
    skip_space(parser);
    int field = parse_field(parser);
    if (field < 0)
        return field;
    skip_space(parser);
    bool negated = take(parser, "!=");
    if (!negated && !take(parser, "="))
        return expected(parser, "= or !=");
    return parse_values(parser, (enum filter_field)field, negated);
}

int filter_parse(struct filter *filter, const char *text, struct bt_error *error)
{
    struct filter parsed = filter_all();
    struct filter_parser parser = {.text = text, .at = text, .filter = &parsed, .error = error};
    skip_space(&parser);
    while (*parser.at) {
        int result = parse_clause(&parser);
        if (result < 0)
            return result;
        if (*parser.at == '\0')
            break;
        if (!take(&parser, ",") && !take_word(&parser, "and"))
            return expected(&parser, "\"and\" or the end");
        skip_space(&parser);
        if (*parser.at == '\0')
            return expected(&parser, "type, processor or address");
    }
    *filter = parsed;
    return 0;
}
