#include "formats/dcfg/dcfg_table.h"

#include <stddef.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The header in the specification's section 2.11 has a space after the name. */
static void trim(struct json_pull_text *text)
{
    while (text->size > 0 && is_space(text->text[0])) {
        text->text++;
        text->size--;
    }
    while (text->size > 0 && is_space(text->text[text->size - 1]))
        text->size--;
}

static int header_cell(struct dcfg_table *table)
{
    struct json_pull_text name;
    if (table->width == DCFG_TABLE_COLUMNS_MAX)
        return json_pull_fail(table->pull, BT_DATA, "more than %u columns: the limit",
                              DCFG_TABLE_COLUMNS_MAX);
    int result = json_pull_string(table->pull, &name);
    if (result < 0)
        return result;
    if (!json_pull_is_strict(table->pull))
        trim(&name);
    uint8_t found = 0;
    for (uint8_t i = 0; table->columns[i].name && found == 0; i++)
        if (json_pull_text_is(&name, table->columns[i].name))
            found = (uint8_t)(i + 1);
    table->order[table->width++] = found;
    if (found == 0)
        return 0;
    uint32_t bit = UINT32_C(1) << (found - 1);
    if (table->present & bit)
        return json_pull_fail(table->pull, BT_DATA, "duplicate column %s",
                              table->columns[found - 1].name);
    table->present |= bit;
    return 0;
}

int dcfg_table_begin(struct dcfg_table *table, struct json_pull *pull,
                     const struct dcfg_column *columns)
{
    memset(table, 0, offsetof(struct dcfg_table, order));
    table->run = 0;
    table->pull = pull;
    table->columns = columns;
    for (unsigned i = 0; columns[i].name; i++)
        if (!columns[i].optional)
            table->required |= UINT32_C(1) << i;
    int result = json_pull_array(pull);
    if (result < 0)
        return result;
    result = json_pull_element(pull);
    if (result < 0)
        return result;
    if (result == 0) {
        table->pull = NULL; /* already left */
        return 0;
    }
    result = json_pull_array(pull);
    while (result >= 0 && (result = json_pull_element(pull)) > 0)
        result = header_cell(table);
    if (result < 0)
        return result;
    for (unsigned i = 0; columns[i].name; i++)
        if (table->required & ~table->present & UINT32_C(1) << i)
            return json_pull_fail(pull, BT_DATA, "the table lacks the column %s", columns[i].name);
    return 0;
}

int dcfg_table_row(struct dcfg_table *table)
{
    if (!table->pull)
        return 0;
    int result = json_pull_element(table->pull);
    if (result <= 0)
        return result;
    table->seen = 0;
    table->position = 0;
    result = json_pull_array(table->pull);
    return result < 0 ? result : 1;
}

static int row_end(const struct dcfg_table *table)
{
    uint32_t missing = table->required & ~table->seen;
    for (unsigned i = 0; missing != 0; i++, missing >>= 1)
        if (missing & 1)
            return json_pull_fail(table->pull, BT_DATA, "the row ends before %s",
                                  table->columns[i].name);
    return 0;
}

int dcfg_table_cell(struct dcfg_table *table)
{
    for (;;) {
        int result = json_pull_element(table->pull);
        if (result < 0)
            return result;
        if (result == 0)
            return row_end(table);
        uint32_t position = table->position;
        table->position += position < table->width; /* rows may be longer than 2^32 cells */
        uint8_t column = position < table->width ? table->order[position] : 0;
        if (column > 0) {
            table->seen |= UINT32_C(1) << (column - 1);
            return column;
        }
        if (position >= table->width && json_pull_is_strict(table->pull))
            return json_pull_fail(table->pull, BT_DATA, "the row has more cells than the header");
        result = json_pull_skip(table->pull);
        if (result < 0)
            return result;
    }
}

/* Number of cells from this one on that are integers or unknown, and their bounds. */
static uint8_t find_run(const struct dcfg_table *table,
                        const struct json_pull_bounds *const *bounds, struct json_pull_bounds *run)
{
    static const struct json_pull_bounds any = {.minimum = 0, .maximum = UINT64_MAX};
    uint8_t room = 0;
    while (room < DCFG_TABLE_RUN_MAX && table->position + room < table->width) {
        uint8_t column = table->order[table->position + room];
        if (column > 0 && !bounds[column - 1])
            break;
        run[room++] = column > 0 ? *bounds[column - 1] : any;
    }
    return room;
}

void dcfg_table_integers(struct dcfg_table *table, const struct json_pull_bounds *const *bounds,
                         uint64_t *values)
{
    struct json_pull_bounds later[DCFG_TABLE_RUN_MAX];
    const struct json_pull_bounds *run = later;
    uint64_t cells[DCFG_TABLE_RUN_MAX];
    size_t room;
    if (table->position == 0) {
        if (table->run == 0)
            table->run = (uint8_t)(1 + find_run(table, bounds, table->run_bounds));
        room = table->run - 1u;
        run = table->run_bounds;
    } else {
        room = find_run(table, bounds, later);
    }
    size_t count = json_pull_integers(table->pull, run, false, cells, room);
    for (size_t i = 0; i < count; i++) {
        uint8_t column = table->order[table->position++];
        if (column == 0)
            continue;
        values[column - 1] = cells[i];
        table->seen |= UINT32_C(1) << (column - 1);
    }
}

uint32_t dcfg_table_position(const struct dcfg_table *table, uint32_t column)
{
    for (uint32_t i = 0; i < table->width; i++)
        if (table->order[i] == column + 1)
            return i;
    return 0;
}

int dcfg_object_next(struct json_pull *pull, const char *const *tags, uint32_t *seen)
{
    struct json_pull_text key;
    int result;
    while ((result = json_pull_key(pull, &key)) > 0) {
        for (unsigned i = 0; tags[i]; i++) {
            if (!json_pull_text_is(&key, tags[i]))
                continue;
            *seen |= UINT32_C(1) << i;
            return (int)i + 1;
        }
        result = json_pull_skip(pull);
        if (result < 0)
            return result;
    }
    return result;
}
