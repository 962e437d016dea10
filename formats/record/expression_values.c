/* The values of a comparison, by field. */
#include "formats/record/expression_parser_internal.h"

#include "formats/base/extent.h"
#include "formats/base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_BYTES 256u

/* A name for several values of a field. */
struct named_values {
    const char *name;
    uint8_t values[8];
    size_t count;
};

static const struct named_values type_groups[] = {
    {"read", {REQUEST_MEMREAD, REQUEST_MEMREADINV}, 2},
    {"write", {REQUEST_MEMWRITE}, 1},
    {"data", {REQUEST_MEMREAD, REQUEST_MEMREADINV, REQUEST_MEMWRITE}, 3},
    {"memory", {REQUEST_FETCH, REQUEST_MEMREAD, REQUEST_MEMREADINV, REQUEST_MEMWRITE}, 4},
    {"io", {REQUEST_IOREAD, REQUEST_IOWRITE}, 2},
    {"special",
     {REQUEST_SHUTDOWN, REQUEST_FLUSH, REQUEST_HALT, REQUEST_SYNC, REQUEST_FLUSHACK,
      REQUEST_STOPCLKACK, REQUEST_SMIACK},
     7},
    {NULL, {0}, 0}};

static const struct named_values attributes[] = {{"uncacheable", {ATTRIBUTE_UNCACHEABLE}, 1},
                                                 {"uc", {ATTRIBUTE_UNCACHEABLE}, 1},
                                                 {"writethrough", {ATTRIBUTE_WRITE_THROUGH}, 1},
                                                 {"wt", {ATTRIBUTE_WRITE_THROUGH}, 1},
                                                 {"writeprotect", {ATTRIBUTE_WRITE_PROTECT}, 1},
                                                 {"wp", {ATTRIBUTE_WRITE_PROTECT}, 1},
                                                 {"writeback", {ATTRIBUTE_WRITE_BACK}, 1},
                                                 {"wb", {ATTRIBUTE_WRITE_BACK}, 1},
                                                 {NULL, {0}, 0}};

static int no_memory(const struct expression_parser *parser)
{
    return bt_fail(parser->error, BT_MEMORY, "no memory for a filter");
}

static int add(const struct expression_parser *parser, struct expression_node *node, uint64_t low,
               uint64_t high)
{
    return interval_set_add(&node->values, low, high) < 0 ? no_memory(parser) : 0;
}

/* --- numbers --------------------------------------------------------------------------------- */

/* What a field's values are, for errors. */
static const char *values_of(enum expression_field field)
{
    switch (field) {
    case FIELD_TYPE:
        return "a request type: FETCH, MEMREAD, MEMREADINV, MEMWRITE, IOREAD, IOWRITE, "
               "DEFERREPLY, INTA, CNTRLAGNTRES, BRTRACEREC, SHUTDOWN, FLUSH, HALT, SYNC, "
               "FLUSHACK, STOPCLKACK, SMIACK, a group (read, write, data, memory, io, special) or "
               "a number, 0 to 255";
    case FIELD_PROCESSOR:
        return "a processor, 0 to 255";
    case FIELD_ADDRESS:
        return "an address, such as 0xfee00000";
    case FIELD_SIZE:
        return "a number of bytes, 0 to 255";
    case FIELD_ATTRIBUTE:
        return "an attribute: uncacheable, writethrough, writeprotect, writeback, their short "
               "forms UC, WT, WP, WB, or a number, 0 to 3; other bits with a mask: attribute&4=4";
    case FIELD_TIME:
        return "a time with its unit, such as 1.5ms, 20us or 300ticks";
    default:
        return "an index, such as 1000 or 5k";
    }
}

/* Warns of a decimal address that looks like the hexadecimal ones that dump prints. */
static void suspect(struct expression_parser *parser, const char *start, uint64_t value)
{
    size_t length = strspn(start, "0123456789");
    bool odd = length >= 4 && (start[0] == '0' || length == 8 ||
                               (start[length - 1] == '0' && start[length - 2] == '0'));
    char *warning = parser->expression->warning;
    if (odd && strncasecmp(start, "0x", 2) != 0 && length <= 10 && !warning[0])
        snprintf(warning, sizeof parser->expression->warning,
                 "filter, column %zu: the address %.*s is decimal, that is 0x%" PRIx64
                 "; if it is hexadecimal, write 0x%.*s",
                 (size_t)(start - parser->text) + 1, (int)length, start, value, (int)length, start);
}

/* Multiplies by the suffix at parser->at, if any: k, M, G, T. */
static int take_suffix(struct expression_parser *parser, uint64_t factor, uint64_t highest,
                       uint64_t *number)
{
    static const char *const suffixes[] = {"k", "M", "G", "T"};
    uint64_t product = 1;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        product *= factor;
        if (strncasecmp(parser->at, suffixes[i], 1) != 0)
            continue;
        parser->at++;
        uint64_t value;
        if (__builtin_mul_overflow(*number, product, &value) || value > highest)
            return expression_expected(parser, "a smaller number");
        *number = value;
    }
    return expression_word_length(parser->at) == 0
               ? 0
               : expression_expected(parser, "k, M, G, T or nothing after the number");
}

/* A number of at most `highest` with a suffix. */
static int take_scaled(struct expression_parser *parser, uint64_t factor, uint64_t highest,
                       const char *what, uint64_t *number)
{
    /* expression_number refuses letters after the digits */
    char digits[24];
    size_t length = strspn(parser->at, "0123456789");
    if (length == 0 || length >= sizeof digits || parser->at[length] == 'x' ||
        parser->at[length] == 'X' || !strchr("kKmMgGtT", parser->at[length]) ||
        parser->at[length] == '\0')
        return expression_number(parser, highest, what, number);
    memcpy(digits, parser->at, length);
    digits[length] = '\0';
    struct expression_parser inner = *parser;
    inner.at = inner.text = digits;
    inner.error = NULL;
    if (expression_number(&inner, highest, what, number) < 0)
        return expression_expected(parser, "a smaller number");
    parser->at += length;
    return take_suffix(parser, factor, highest, number);
}

static int take_number(struct expression_parser *parser, const struct expression_node *node,
                       const char *what, uint64_t *number)
{
    const char *start = parser->at;
    if (node->field == FIELD_INDEX)
        return take_scaled(parser, 1000, node->mask, what, number);
    int result = expression_number(parser, node->mask, what, number);
    if (result == 0 && node->field == FIELD_ADDRESS)
        suspect(parser, start, *number);
    return result;
}

/* The "+" SIZE after an address: the last address of so many bytes. */
static int take_extent(struct expression_parser *parser, uint64_t highest, uint64_t low,
                       uint64_t *high)
{
    expression_skip_space(parser);
    const char *start = parser->at;
    uint64_t bytes;
    int result = take_scaled(parser, 1024, UINT64_C(1) << 32,
                             "a number of bytes, such as 4096, 4K or 0x1000", &bytes);
    if (result < 0)
        return result;
    if (bytes == 0 || bytes - 1 > highest - low) {
        parser->at = start;
        return expression_expected(parser, "a number of bytes, at least 1, that ends within 4 GiB");
    }
    *high = low + bytes - 1;
    return 0;
}

static bool take_dash(struct expression_parser *parser)
{
    expression_skip_space(parser);
    bool taken = expression_take(parser, "-") || expression_take(parser, "..");
    if (taken)
        expression_skip_space(parser);
    return taken;
}

/* number [ ( "-" | ".." ) number | "+" size ] */
static int take_range(struct expression_parser *parser, const struct expression_node *node,
                      uint64_t *low, uint64_t *high)
{
    const char *start = parser->at;
    int result = take_number(parser, node, values_of(node->field), low);
    if (result < 0)
        return result;
    *high = *low;
    if (take_dash(parser))
        result = take_number(parser, node, "a number, the end of the range", high);
    else if (node->field == FIELD_ADDRESS && expression_take(parser, "+"))
        result = take_extent(parser, node->mask, *low, high);
    if (result == 0 && *low > *high) {
        parser->at = start;
        return expression_expected(parser, "a range whose end is not below its start");
    }
    return result;
}

/* --- names ----------------------------------------------------------------------------------- */

/* Adds the values of the name at parser->at. 1 if it is one of names, 0 if not, or BT_MEMORY. */
static int take_named(struct expression_parser *parser, struct expression_node *node,
                      const struct named_values *names)
{
    for (; names->name; names++)
        if (expression_take_word(parser, names->name)) {
            int result = 0;
            for (size_t i = 0; i < names->count && result == 0; i++)
                result = add(parser, node, names->values[i], names->values[i]);
            return result < 0 ? result : 1;
        }
    return 0;
}

static int take_type_name(struct expression_parser *parser, struct expression_node *node)
{
    for (unsigned i = 0; i < REQUEST_TYPES; i++)
        if (expression_take_word(parser, request_type_name(request_type_at(i)))) {
            int result = add(parser, node, request_type_at(i), request_type_at(i));
            return result < 0 ? result : 1;
        }
    return take_named(parser, node, type_groups);
}

/* The names of a field's values, for suggestions; NULL: it has none. */
static const char *names_of(enum expression_field field)
{
    switch (field) {
    case FIELD_TYPE:
        return "FETCH MEMREAD MEMREADINV MEMWRITE IOREAD IOWRITE DEFERREPLY INTA CNTRLAGNTRES "
               "BRTRACEREC SHUTDOWN FLUSH HALT SYNC FLUSHACK STOPCLKACK SMIACK "
               "read write data memory io special";
    case FIELD_ATTRIBUTE:
        return "uncacheable writethrough writeprotect writeback UC WT WP WB";
    default:
        return NULL;
    }
}

/* Adds the field's name or range at parser->at. */
static int take_value(struct expression_parser *parser, struct expression_node *node)
{
    uint64_t low, high;
    int result = node->field == FIELD_TYPE        ? take_type_name(parser, node)
                 : node->field == FIELD_ATTRIBUTE ? take_named(parser, node, attributes)
                                                  : 0;
    if (result != 0)
        return result < 0 ? result : 0;
    const char *names = names_of(node->field);
    if (names && expression_word_length(parser->at) > 0)
        return expression_expected_among(parser, values_of(node->field), names);
    result = take_range(parser, node, &low, &high);
    return result < 0 ? result : add(parser, node, low, high);
}

/* --- symbols --------------------------------------------------------------------------------- */

/* Length of a symbol's name at `at`, without quotes. */
static size_t symbol_length(const char *at)
{
    size_t length = 0;
    while (at[length] &&
           ((unsigned char)at[length] >= 0x80 || strchr("._$@:~*", at[length]) ||
            expression_word_length(at + length) > 0 || (at[length] >= '0' && at[length] <= '9')))
        length++;
    return length;
}

static int take_symbol(struct expression_parser *parser, struct expression_node *node)
{
    char name[NAME_BYTES];
    const char *start = parser->at;
    char quote = *start == '"' || *start == '\'' ? *start : '\0';
    const char *from = start + (quote != '\0');
    const char *end = quote ? strchr(from, quote) : from + symbol_length(from);
    if (!end)
        return expression_expected(parser, "a symbol's name with a quote at both ends");
    size_t length = (size_t)(end - from);
    if (length == 0 || length >= sizeof name)
        return expression_expected(parser, "a symbol's name, in quotes if it has other characters "
                                           "than letters, digits and ._$@:~*");
    if (!parser->symbols)
        return bt_fail(parser->error, BT_USAGE,
                       "filter, column %zu: symbols take the modules of an executed program, which "
                       "are not known here: give addresses",
                       (size_t)(start - parser->text) + 1);
    memcpy(name, from, length);
    name[length] = '\0';
    struct interval_set found = {.count = 0};
    struct bt_error why = {0};
    int result = parser->symbols->find(parser->symbols->context, name, &found, &why);
    if (result == BT_USAGE)
        bt_fail(parser->error, result, "filter, column %zu: %.400s",
                (size_t)(start - parser->text) + 1, why.message);
    else if (result < 0)
        bt_fail(parser->error, result, "%s", why.message);
    else if (interval_set_unite(&node->values, &found) < 0)
        result = no_memory(parser);
    interval_set_clear(&found);
    parser->at = result < 0 ? start : end + (quote != '\0');
    return result;
}

/* --- times ----------------------------------------------------------------------------------- */

/* Length of a number at `at`: digits, perhaps with a point, which ".." is not; or hexadecimal. */
static size_t number_length(const char *at)
{
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        const size_t digits = strspn(at + 2, "0123456789abcdefABCDEF");
        return digits > 0 ? 2 + digits : 0;
    }
    size_t length = strspn(at, "0123456789");
    if (length > 0 && at[length] == '.' && at[length + 1] != '.')
        length += 1 + strspn(at + length + 1, "0123456789");
    return length;
}

/* A number with its unit; unit_else: the unit if it has none, may be "". */
static int take_time(struct expression_parser *parser, const char *unit_else, uint64_t *time,
                     bool *ns)
{
    const char *at = parser->at;
    const size_t length = number_length(at);
    const size_t own_unit = expression_word_length(at + length);
    const char *unit = own_unit ? at + length : unit_else;
    const size_t unit_length = own_unit ? own_unit : strlen(unit_else);
    const bool zero = length > 0 && strspn(at, "0") == length && unit_length == 0;
    char text[48];
    struct extent extent = {.unit = EXTENT_TICKS};
    int result = zero ? 0 : BT_USAGE;
    if (length > 0 && unit_length > 0 && length + unit_length < sizeof text) {
        snprintf(text, sizeof text, "%.*s%.*s", (int)length, at, (int)unit_length, unit);
        result = extent_parse_time(&extent, text, NULL);
    }
    if (result < 0)
        return expression_expected(parser, values_of(FIELD_TIME));
    *ns = extent.unit == EXTENT_TIME;
    *time = extent.length;
    parser->at = at + length + own_unit;
    return 0;
}

/* The unit of the end of the range "1-2s" at parser->at; "" if it is none. */
static void unit_of_end(const struct expression_parser *parser, char unit[8])
{
    struct expression_parser ahead = *parser;
    unit[0] = '\0';
    ahead.at += number_length(ahead.at);
    if (!take_dash(&ahead))
        return;
    ahead.at += number_length(ahead.at);
    size_t length = expression_word_length(ahead.at);
    if (length < 8) {
        memcpy(unit, ahead.at, length);
        unit[length] = '\0';
    }
}

static int add_times(const struct expression_parser *parser, struct expression_node *node,
                     const struct expression_times *times)
{
    struct expression_times *grown =
        grow_array(node->times, &node->times_capacity, node->times_count + 1, sizeof *node->times);
    if (!grown)
        return no_memory(parser);
    node->times = grown;
    node->times[node->times_count++] = *times;
    parser->expression->on_clock = true;
    parser->expression->in_seconds |= times->low_ns || times->high_ns;
    return 0;
}

/* time [ ( "-" | ".." ) time ] */
static int take_times(struct expression_parser *parser, struct expression_node *node)
{
    struct expression_times times = {.moment = true};
    const char *start = parser->at;
    char unit[8];
    unit_of_end(parser, unit);
    int result = take_time(parser, unit, &times.low, &times.low_ns);
    if (result < 0)
        return result;
    times.high = times.low;
    times.high_ns = times.low_ns;
    if (take_dash(parser)) {
        times.moment = false;
        result = take_time(parser, "", &times.high, &times.high_ns);
        if (result < 0)
            return result;
    }
    if (times.low_ns == times.high_ns && times.low > times.high) {
        parser->at = start;
        return expression_expected(parser, "a range whose end is not below its start");
    }
    return add_times(parser, node, &times);
}

/* --- comparisons ----------------------------------------------------------------------------- */

/* The one value after <, <=, > or >=. */
static int take_bound(struct expression_parser *parser, struct expression_node *node,
                      enum expression_comparison comparison)
{
    const uint64_t highest = node->mask;
    uint64_t bound;
    int result = take_number(parser, node, values_of(node->field), &bound);
    if (result < 0)
        return result;
    switch (comparison) {
    case COMPARE_LESS:
        return bound == 0 ? 0 : add(parser, node, 0, bound - 1);
    case COMPARE_AT_MOST:
        return add(parser, node, 0, bound);
    case COMPARE_GREATER:
        return bound == highest ? 0 : add(parser, node, bound + 1, highest);
    default:
        return add(parser, node, bound, highest);
    }
}

static int take_time_bound(struct expression_parser *parser, struct expression_node *node,
                           enum expression_comparison comparison)
{
    uint64_t time;
    bool ns;
    int result = take_time(parser, "", &time, &ns);
    if (result < 0)
        return result;
    struct expression_times times = {.high = UINT64_MAX};
    if (comparison == COMPARE_LESS || comparison == COMPARE_AT_MOST) {
        times.high = time;
        times.high_ns = ns;
        times.below_high = comparison == COMPARE_LESS;
    } else {
        times.low = time;
        times.low_ns = ns;
        times.above_low = comparison == COMPARE_GREATER;
    }
    return add_times(parser, node, &times);
}

/* value { "|" value } */
static int take_set(struct expression_parser *parser, struct expression_node *node, bool symbol)
{
    int result;
    bool more;
    do {
        expression_skip_space(parser);
        result = symbol           ? take_symbol(parser, node)
                 : node->on_clock ? take_times(parser, node)
                                  : take_value(parser, node);
        expression_skip_space(parser);
        more = result == 0 && parser->at[0] == '|' && parser->at[1] != '|';
        parser->at += more;
    } while (more);
    return result;
}

int expression_take_values(struct expression_parser *parser, struct expression_node *node,
                           enum expression_comparison comparison, bool symbol)
{
    bool set = comparison == COMPARE_EQUAL || comparison == COMPARE_NOT_EQUAL;
    node->on_clock = node->field == FIELD_TIME;
    expression_skip_space(parser);
    int result = set              ? take_set(parser, node, symbol)
                 : node->on_clock ? take_time_bound(parser, node, comparison)
                                  : take_bound(parser, node, comparison);
    if (result < 0 || comparison != COMPARE_NOT_EQUAL)
        return result;
    node->negated = node->on_clock;
    if (!node->on_clock && interval_set_complement(&node->values, node->mask) < 0)
        return no_memory(parser);
    return 0;
}
