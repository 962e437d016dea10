#include "tests/support/expression_twin.h"

#include "tests/support/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum twin_kind { TWIN_AND, TWIN_OR, TWIN_NOT, TWIN_TEST };

enum twin_field {
    TWIN_TYPE,
    TWIN_PROCESSOR,
    TWIN_ADDRESS,
    TWIN_SIZE,
    TWIN_ATTRIBUTE,
    TWIN_SYMBOL,
    TWIN_TIME,
    TWIN_INDEX,
    TWIN_FIELDS
};

enum twin_operator { TWIN_EQUAL, TWIN_UNEQUAL, TWIN_LESS, TWIN_AT_MOST, TWIN_MORE, TWIN_AT_LEAST };

#define VALUES_MAX 5

struct twin_value {
    uint64_t low, high;
    const char *name; /* NULL: low to high */
    bool ns;          /* times in ns, else in ticks */
};

struct expression_twin {
    enum twin_kind kind;
    struct expression_twin *left, *right;
    enum twin_field field;
    enum twin_operator operation;
    bool masked;
    uint64_t mask;
    int count;
    struct twin_value values[VALUES_MAX];
};

static const struct {
    const char *name;
    uint64_t low[2], high[2];
} symbols[] = {{"low", {0x100, 0x180}, {0x10f, 0x19f}}, {"high", {0xfffffff0, 1}, {UINT64_MAX, 0}}};

static int find_symbol(void *context, const char *name, struct interval_set *addresses,
                       struct bt_error *error)
{
    (void)context;
    if (strcmp(name, "none") == 0)
        return 0;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strcmp(name, symbols[i].name) == 0) {
            for (int j = 0; j < 2; j++)
                if (symbols[i].low[j] <= symbols[i].high[j] &&
                    interval_set_add(addresses, symbols[i].low[j], symbols[i].high[j]) < 0)
                    return bt_fail(error, BT_MEMORY, "no memory");
            return 0;
        }
    return bt_fail(error, BT_USAGE, "no symbol is called %s", name);
}

const struct expression_symbols expression_twin_symbols = {.find = find_symbol};

/* --- names ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint8_t types[8];
    int count;
} groups[] = {
    {"read", {0x01, 0x02}, 2},       {"write", {0x03}, 1},
    {"data", {0x01, 0x02, 0x03}, 3}, {"memory", {0x00, 0x01, 0x02, 0x03}, 4},
    {"io", {0x10, 0x11}, 2},         {"special", {0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37}, 7}};

static const struct {
    const char *name;
    uint8_t value;
} attributes[] = {{"uncacheable", 0},  {"UC", 0}, {"WriteThrough", 1}, {"wt", 1},
                  {"writeprotect", 2}, {"WP", 2}, {"writeback", 3},    {"wb", 3}};

static bool type_has_name(uint8_t type, const char *name)
{
    if (request_type_name(type) && strcmp(request_type_name(type), name) == 0)
        return true;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (int j = 0; j < groups[i].count && strcmp(groups[i].name, name) == 0; j++)
            if (groups[i].types[j] == type)
                return true;
    return false;
}

static bool attribute_has_name(uint8_t attribute, const char *name)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (strcmp(attributes[i].name, name) == 0)
            return attributes[i].value == attribute;
    return false;
}

static bool in_symbol(uint64_t address, const char *name)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        for (int j = 0; j < 2 && strcmp(symbols[i].name, name) == 0; j++)
            if (symbols[i].low[j] <= address && address <= symbols[i].high[j])
                return true;
    return false;
}

/* --- random expressions ---------------------------------------------------------------------- */

static uint64_t top(const struct expression_twin *test)
{
    return test->masked                                                ? test->mask
           : test->field == TWIN_ATTRIBUTE                             ? 3
           : test->field == TWIN_TIME || test->field == TWIN_INDEX     ? UINT64_MAX
           : test->field == TWIN_ADDRESS || test->field == TWIN_SYMBOL ? UINT32_MAX
                                                                       : 255;
}

/* Mostly near those of expression_twin_record. */
static uint64_t random_number(const struct expression_twin *test, uint64_t *random)
{
    const uint64_t limit = top(test);
    uint64_t number = test->field == TWIN_ADDRESS     ? 0xf0 + random_below(random, 0xc0)
                      : test->field == TWIN_TYPE      ? random_below(random, 0x40)
                      : test->field == TWIN_PROCESSOR ? random_below(random, 10)
                      : test->field == TWIN_TIME      ? random_below(random, 2000)
                      : test->field == TWIN_INDEX     ? random_below(random, 400)
                                                      : random_below(random, 40);
    if (random_one_in(random, 12))
        number = random_one_in(random, 2) ? limit : random_next(random);
    return number <= limit ? number : number & limit;
}

static struct twin_value random_value(const struct expression_twin *test, uint64_t *random)
{
    struct twin_value value = {.low = random_number(test, random)};
    value.high = value.low;
    if (test->field == TWIN_TYPE && !random_one_in(random, 4))
        value.name =
            random_one_in(random, 3)
                ? groups[random_below(random, sizeof groups / sizeof *groups)].name
                : request_type_name(request_type_at((unsigned)random_below(random, REQUEST_TYPES)));
    if (test->field == TWIN_ATTRIBUTE && !test->masked && random_one_in(random, 2))
        value.name = attributes[random_below(random, sizeof attributes / sizeof *attributes)].name;
    if (test->field == TWIN_SYMBOL)
        value.name = random_one_in(random, 2) ? "low" : random_one_in(random, 4) ? "none" : "high";
    if (!value.name && random_one_in(random, 2)) {
        uint64_t other = random_number(test, random);
        value.low = other < value.low ? other : value.low;
        value.high = other > value.high ? other : value.high;
    }
    if (test->field == TWIN_TIME && value.high < 2000 && random_one_in(random, 2)) {
        value.ns = true;
        value.low = value.low * 333333 + random_below(random, 2);
        value.high = value.high * 333333 + 1;
    }
    return value;
}

static struct expression_twin *random_test(uint64_t *random, bool without_places)
{
    struct expression_twin *test = calloc(1, sizeof *test);
    if (!test)
        abort();
    test->kind = TWIN_TEST;
    test->field = (enum twin_field)random_below(random, without_places ? TWIN_TIME : TWIN_FIELDS);
    bool ordered =
        test->field != TWIN_TYPE && test->field != TWIN_ATTRIBUTE && test->field != TWIN_SYMBOL;
    test->masked =
        test->field != TWIN_TIME && test->field != TWIN_SYMBOL && random_one_in(random, 5);
    uint64_t highest = top(test);
    if (test->masked && test->field == TWIN_ATTRIBUTE)
        highest = 255;
    else if (test->masked) {
        test->masked = false;
        highest = top(test);
        test->masked = true;
    }
    test->mask = random_next(random) & highest;
    if (random_one_in(random, 3))
        test->mask &= 0x3f;
    test->operation = (enum twin_operator)random_below(random, ordered ? 6 : 2);
    test->count = test->operation > TWIN_UNEQUAL || random_one_in(random, 2)
                      ? 1
                      : 1 + (int)random_below(random, VALUES_MAX);
    for (int i = 0; i < test->count; i++)
        test->values[i] = random_value(test, random);
    if (test->operation > TWIN_UNEQUAL)
        test->values[0].high = test->values[0].low;
    return test;
}

struct expression_twin *expression_twin_new(uint64_t *random, unsigned size, bool without_places)
{
    if (size <= 1 && !random_one_in(random, 6))
        return random_test(random, without_places);
    struct expression_twin *twin = calloc(1, sizeof *twin);
    if (!twin)
        abort();
    if (size <= 1 || random_one_in(random, 5)) {
        twin->kind = TWIN_NOT;
        twin->left = size <= 1 ? random_test(random, without_places)
                               : expression_twin_new(random, size, without_places);
        return twin;
    }
    unsigned left = 1 + (unsigned)random_below(random, size - 1);
    twin->kind = random_one_in(random, 2) ? TWIN_AND : TWIN_OR;
    twin->left = expression_twin_new(random, left, without_places);
    twin->right = expression_twin_new(random, size - left, without_places);
    return twin;
}

void expression_twin_free(struct expression_twin *twin)
{
    if (!twin)
        return;
    expression_twin_free(twin->left);
    expression_twin_free(twin->right);
    free(twin);
}

/* --- text ------------------------------------------------------------------------------------ */

static const char *one_of(uint64_t *random, const char *const *texts, size_t count)
{
    return texts[random_below(random, count)];
}

#define ONE_OF(random, ...)                                                                        \
    one_of(random, (const char *const[]){__VA_ARGS__},                                             \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void put_number(uint64_t number, uint64_t *random, FILE *out)
{
    fprintf(out, random_one_in(random, 2) ? "%" PRIu64 : "0x%" PRIx64, number);
}

static void put_time(uint64_t time, bool ns, uint64_t *random, FILE *out)
{
    if (ns && random_one_in(random, 2))
        fprintf(out, "%" PRIu64 ".%06" PRIu64 "ms", time / 1000000, time % 1000000);
    else
        fprintf(out, "%" PRIu64 "%s", time, ns ? "ns" : ONE_OF(random, "ticks", "tick", "TICKS"));
}

static void put_value(const struct expression_twin *test, const struct twin_value *value,
                      uint64_t *random, FILE *out)
{
    const bool range = value->low != value->high;
    const bool symbol = test->field == TWIN_SYMBOL;
    if (value->name) {
        const char *quote = symbol ? ONE_OF(random, "", "\"", "'") : "";
        fprintf(out, "%s%s%s", quote, value->name, quote);
    } else if (test->field == TWIN_TIME) {
        put_time(value->low, value->ns, random, out);
        if (range) {
            fputs(ONE_OF(random, "-", "..", " - "), out);
            put_time(value->high, value->ns, random, out);
        }
    } else {
        put_number(value->low, random, out);
        if (test->field == TWIN_ADDRESS && range && random_one_in(random, 3)) {
            fputs(ONE_OF(random, "+", " + "), out);
            put_number(value->high - value->low + 1, random, out);
        } else if (range) {
            fputs(ONE_OF(random, "-", "..", " .. "), out);
            put_number(value->high, random, out);
        }
    }
}

static void put_test(const struct expression_twin *test, uint64_t *random, FILE *out)
{
    static const char *const fields[TWIN_FIELDS][2] = {
        {"type", "TYPE"},      {"processor", "cpu"}, {"address", "addr"}, {"size", "Size"},
        {"attribute", "attr"}, {"symbol", "symbol"}, {"time", "Time"},    {"index", "index"}};
    static const char *const operators[] = {"=", "!=", "<", "<=", ">", ">="};
    const char *space = ONE_OF(random, "", " ", "\t");
    fprintf(out, "%s%s", fields[test->field][random_one_in(random, 2)], space);
    if (test->masked) {
        fprintf(out, "&%s", space);
        put_number(test->mask, random, out);
    }
    fprintf(out, "%s%s%s", space,
            test->operation == TWIN_EQUAL ? ONE_OF(random, "=", "==") : operators[test->operation],
            space);
    for (int i = 0; i < test->count; i++) {
        fputs(i ? ONE_OF(random, "|", " | ") : "", out);
        put_value(test, &test->values[i], random, out);
    }
}

static void put_operand(const struct expression_twin *twin, bool bare, uint64_t *random, FILE *out)
{
    bool parentheses = !bare || random_one_in(random, 6);
    fputs(parentheses ? ONE_OF(random, "(", "( ") : "", out);
    expression_twin_put(twin, random, out);
    fputs(parentheses ? ONE_OF(random, ")", " )") : "", out);
}

void expression_twin_put(const struct expression_twin *twin, uint64_t *random, FILE *out)
{
    const bool conjunction = twin->kind == TWIN_AND;
    if (twin->kind == TWIN_TEST) {
        put_test(twin, random, out);
        return;
    }
    if (twin->kind == TWIN_NOT) {
        fputs(ONE_OF(random, "not ", "!", "NOT "), out);
        put_operand(twin->left, twin->left->kind == TWIN_TEST || twin->left->kind == TWIN_NOT,
                    random, out);
        return;
    }
    /* "and" binds stronger than "or" */
    put_operand(twin->left, twin->left->kind != TWIN_OR || !conjunction, random, out);
    fputs(conjunction ? ONE_OF(random, " and ", ",", " && ", " AND ")
                      : ONE_OF(random, " or ", "||"),
          out);
    put_operand(twin->right, twin->right->kind != TWIN_OR || !conjunction, random, out);
}

/* --- evaluation ------------------------------------------------------------------------------ */

static int compare(wide a, wide b)
{
    return a < b ? -1 : a > b;
}

/* Compares the tick with a time: -1 before, 0 at, 1 after it. */
static int compare_time(uint64_t tick, uint64_t time, bool ns)
{
    if (!ns)
        return compare(tick, time);
    return compare((wide)tick * 1000000000, (wide)time * (wide)EXPRESSION_TWIN_CLOCK);
}

static bool equals(const struct expression_twin *test, const struct twin_value *value,
                   uint64_t number)
{
    switch (test->field) {
    case TWIN_SYMBOL:
        return in_symbol(number, value->name);
    case TWIN_TYPE:
        if (value->name)
            return number == (uint8_t)number && type_has_name((uint8_t)number, value->name);
        break;
    case TWIN_ATTRIBUTE:
        if (value->name)
            return attribute_has_name((uint8_t)number, value->name);
        break;
    case TWIN_TIME:
        if (value->ns && value->low == value->high) /* the tick that is current then */
            return compare_time(number, value->low, true) <= 0 &&
                   compare_time(number + 1, value->low, true) > 0;
        return compare_time(number, value->low, value->ns) >= 0 &&
               compare_time(number, value->high, value->ns) <= 0;
    default:
        break;
    }
    return value->low <= number && number <= value->high;
}

static uint64_t number_of(const struct expression_twin *test, const struct record *record,
                          uint64_t index, uint64_t tick)
{
    const uint64_t numbers[TWIN_FIELDS] = {record->type,
                                           record->processor,
                                           record->address,
                                           record->size,
                                           record->attribute,
                                           record->address,
                                           tick,
                                           index};
    uint64_t number = numbers[test->field];
    if (test->masked)
        return number & test->mask;
    return test->field == TWIN_ATTRIBUTE ? number & ATTRIBUTE_MASK : number;
}

static bool test_matches(const struct expression_twin *test, uint64_t number)
{
    const struct twin_value *value = &test->values[0];
    bool any = false;
    for (int i = 0; i < test->count; i++)
        any = any || equals(test, &test->values[i], number);
    int order = test->field == TWIN_TIME ? compare_time(number, value->low, value->ns)
                                         : compare(number, value->low);
    switch (test->operation) {
    case TWIN_EQUAL:
        return any;
    case TWIN_UNEQUAL:
        return !any;
    case TWIN_LESS:
        return order < 0;
    case TWIN_AT_MOST:
        return order <= 0;
    case TWIN_MORE:
        return order > 0;
    default:
        return order >= 0;
    }
}

bool expression_twin_match(const struct expression_twin *twin, const struct record *record,
                           uint64_t index, uint64_t tick)
{
    switch (twin->kind) {
    case TWIN_AND:
        return expression_twin_match(twin->left, record, index, tick) &&
               expression_twin_match(twin->right, record, index, tick);
    case TWIN_OR:
        return expression_twin_match(twin->left, record, index, tick) ||
               expression_twin_match(twin->right, record, index, tick);
    case TWIN_NOT:
        return !expression_twin_match(twin->left, record, index, tick);
    default:
        return test_matches(twin, number_of(twin, record, index, tick));
    }
}

struct record expression_twin_record(uint64_t *random, bool on_board)
{
    struct record record = {.address = 0xf0 + (uint32_t)random_below(random, 0xc0),
                            .type = request_type_at((unsigned)random_below(random, REQUEST_TYPES)),
                            .size = (uint8_t)random_below(random, 40),
                            .attribute = (uint8_t)random_below(random, 8),
                            .processor = (uint8_t)random_below(random, 8),
                            .time = (uint32_t)random_below(random, 12)};
    if (random_one_in(random, 8))
        record.address = random_next32(random) | (random_one_in(random, 2) ? 0xfffffff0 : 0);
    if (random_one_in(random, 8))
        record.size = (uint8_t)random_next32(random);
    if (!on_board && random_one_in(random, 8)) {
        record.type = (uint8_t)random_next32(random);
        record.attribute = (uint8_t)random_next32(random);
        record.processor = (uint8_t)random_next32(random);
    }
    return record;
}
