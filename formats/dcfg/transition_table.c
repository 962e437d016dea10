#include "formats/dcfg/transition_table.h"

#include "formats/base/grow.h"

#include <string.h>

#define WIDTH_MAX 10u
/* Padding that edge_walk.c may read after the last of the following edges. */
#define EDGES_BEHIND 16u

/* An edge that has rows. */
struct edge_rows {
    uint32_t edge;
    uint32_t row; /* its first */
    uint32_t first;
    uint8_t width;
};

struct transition_table {
    struct transition_row *rows;
    size_t row_count, row_capacity;
    uint32_t *edges;
    size_t edge_count, edge_capacity;
    struct edge_rows *states; /* one sentinel after the last, for the end of its rows */
    size_t state_count;
    struct transition *transitions; /* the first is for edges without successors */
    size_t transition_count;
    size_t bytes_max;
};

struct transition_table *transition_table_new(size_t bytes_max)
{
    struct transition_table *table = calloc(1, sizeof *table);
    if (table)
        table->bytes_max = bytes_max;
    return table;
}

void transition_table_free(struct transition_table *table)
{
    if (!table)
        return;
    free(table->rows);
    free(table->edges);
    free(table->states);
    free(table->transitions);
    free(table);
}

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory for the TRANSITION_TABLE");
}

static int too_large(const struct transition_table *table, struct bt_error *error)
{
    return bt_fail(error, BT_DATA, "a TRANSITION_TABLE of more than %zu octets", table->bytes_max);
}

static bool edge_id_is_good(uint32_t id)
{
    return id >= 1 && id <= EDGE_ID_MAX;
}

static int read_code(struct transition_row *row, const char *code, size_t length,
                     struct bt_error *error)
{
    if (length > TRANSITION_BITS_MAX)
        return bt_fail(error, BT_DATA, "a TRANSITION_CODE of %zu bits; %u are allowed", length,
                       TRANSITION_BITS_MAX);
    for (size_t i = 0; i < length; i++) {
        if (code[i] != '0' && code[i] != '1')
            return bt_fail(error, BT_DATA, "a TRANSITION_CODE with characters other than 0 and 1");
        row->code |= (uint32_t)(code[i] - '0') << (31 - i);
    }
    row->bits = (uint32_t)length;
    return 0;
}

static int check_row(const struct transition_table *table, uint32_t current, const uint32_t *next,
                     size_t count, struct bt_error *error)
{
    if (!edge_id_is_good(current))
        return bt_fail(error, BT_DATA, "CURRENT_EDGE_ID %u is not between 1 and 0x7fffffff",
                       current);
    if (count == 0)
        return bt_fail(error, BT_DATA, "NEXT_EDGE_IDS is empty");
    for (size_t i = 0; i < count; i++)
        if (!edge_id_is_good(next[i]))
            return bt_fail(error, BT_DATA, "edge id %u is not between 1 and 0x7fffffff", next[i]);
    if (table->row_count + 1 >= UINT32_MAX || count >= UINT32_MAX - table->edge_count)
        return too_large(table, error);
    size_t bytes = (table->row_count + 1) * sizeof(struct transition_row) +
                   (table->edge_count + count) * sizeof *next;
    return bytes > table->bytes_max ? too_large(table, error) : 0;
}

int transition_table_add(struct transition_table *table, uint32_t current, const char *code,
                         size_t code_length, const uint32_t *next, size_t count,
                         struct bt_error *error)
{
    struct transition_row row = {
        .current = current, .next = (uint32_t)table->edge_count, .count = (uint32_t)count};
    int result = check_row(table, current, next, count, error);
    if (result == 0)
        result = read_code(&row, code, code_length, error);
    if (result < 0)
        return result;
    struct transition_row *rows =
        grow_array(table->rows, &table->row_capacity, table->row_count + 1, sizeof *rows);
    if (!rows)
        return no_memory(error);
    table->rows = rows;
    uint32_t *edges = grow_array(table->edges, &table->edge_capacity,
                                 table->edge_count + count + EDGES_BEHIND, sizeof *edges);
    if (!edges)
        return no_memory(error);
    table->edges = edges;
    memcpy(edges + table->edge_count, next, count * sizeof *next);
    memset(edges + table->edge_count + count, 0, EDGES_BEHIND * sizeof *edges);
    table->edge_count += count;
    rows[table->row_count++] = row;
    return 0;
}

static int compare_rows(const void *left, const void *right)
{
    const struct transition_row *a = left;
    const struct transition_row *b = right;
    if (a->current != b->current)
        return a->current < b->current ? -1 : 1;
    if (a->code != b->code)
        return a->code < b->code ? -1 : 1;
    return a->bits < b->bits ? -1 : a->bits > b->bits;
}

/* Whether the code of row begins with the first bits of a code. */
static bool begins_with(uint32_t code, const struct transition_row *row)
{
    return row->bits == 0 || (code ^ row->code) >> (32 - row->bits) == 0;
}

static void code_text(char text[TRANSITION_BITS_MAX + 1], const struct transition_row *row)
{
    for (uint32_t i = 0; i < row->bits; i++)
        text[i] = row->code >> (31 - i) & 1 ? '1' : '0';
    text[row->bits] = '\0';
}

/* In sorted rows, a code that is a prefix of others directly precedes one of them. */
static int check_codes(const struct transition_table *table, struct bt_error *error)
{
    for (size_t i = 1; i < table->row_count; i++) {
        const struct transition_row *before = &table->rows[i - 1];
        const struct transition_row *row = &table->rows[i];
        char texts[2][TRANSITION_BITS_MAX + 1];
        if (before->current != row->current || !begins_with(row->code, before))
            continue;
        code_text(texts[0], before);
        code_text(texts[1], row);
        return bt_fail(error, BT_DATA,
                       "edge %u: the TRANSITION_CODEs \"%s\" and \"%s\" are ambiguous",
                       row->current, texts[0], texts[1]);
    }
    return 0;
}

static size_t count_states(const struct transition_table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->row_count; i++)
        count += i == 0 || table->rows[i].current != table->rows[i - 1].current;
    return count;
}

/*
 * Number of bits of the index of a state's transitions: as many as its longest code, but limited in
 * proportion to its rows; longer codes, which are rare, are searched.
 */
static uint8_t index_width(const struct transition_row *rows, size_t count)
{
    uint8_t width = 2;
    uint32_t longest = 0;
    while ((size_t)1 << (width - 2) < count && width < WIDTH_MAX)
        width++;
    for (size_t i = 0; i < count; i++)
        if (rows[i].bits > longest)
            longest = rows[i].bits;
    return longest < width ? (uint8_t)longest : width;
}

static int make_states(struct transition_table *table, struct bt_error *error)
{
    size_t count = count_states(table);
    size_t left = table->bytes_max - table->row_count * sizeof *table->rows -
                  table->edge_count * sizeof *table->edges;
    if (count >= left / sizeof *table->states)
        return too_large(table, error);
    left -= (count + 1) * sizeof *table->states;
    table->states = calloc(count + 1, sizeof *table->states);
    if (!table->states)
        return no_memory(error);
    struct edge_rows *state = table->states;
    for (size_t i = 0; i < table->row_count; i++)
        if (i == 0 || table->rows[i].current != table->rows[i - 1].current)
            *state++ = (struct edge_rows){.edge = table->rows[i].current, .row = (uint32_t)i};
    state->row = (uint32_t)table->row_count;
    table->state_count = count;
    table->transition_count = 1;
    for (size_t i = 0; i < count; i++) {
        state = &table->states[i];
        state->width = index_width(table->rows + state->row, state[1].row - state->row);
        state->first = (uint32_t)table->transition_count;
        table->transition_count += (size_t)1 << state->width;
    }
    if (table->transition_count > left / sizeof *table->transitions ||
        table->transition_count > UINT32_MAX)
        return too_large(table, error);
    return 0;
}

static const struct edge_rows *find_state(const struct transition_table *table, uint32_t edge)
{
    size_t low = 0;
    size_t high = table->state_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->states[middle].edge == edge)
            return &table->states[middle];
        if (table->states[middle].edge < edge)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static struct transition transition_of(const struct transition_table *table,
                                       const struct transition_row *row)
{
    const struct edge_rows *then = find_state(table, table->edges[row->next + row->count - 1]);
    return (struct transition){.next = row->next,
                               .count = row->count,
                               .then_first = then ? then->first : 0,
                               .bits = (uint8_t)row->bits,
                               .kind = TRANSITION_KNOWN,
                               .then_width = then ? then->width : 0};
}

/* Enters row i of a state at every index that its code is a prefix of or has as a prefix. */
static void enter_row(struct transition_table *table, const struct edge_rows *state, uint32_t i)
{
    const struct transition_row *row = &table->rows[i];
    uint64_t spread = (uint64_t)1 << 32;
    uint64_t begin = ((uint64_t)row->code << state->width) / spread;
    struct transition *to = &table->transitions[state->first + begin];
    if (row->bits > state->width) {
        if (to->kind == TRANSITION_NONE)
            *to = (struct transition){.next = i, .kind = TRANSITION_LONG};
        to->count = i + 1;
        return;
    }
    struct transition made = transition_of(table, row);
    for (size_t copies = (size_t)1 << (state->width - row->bits); copies > 0; copies--)
        *to++ = made;
}

int transition_table_finish(struct transition_table *table, struct bt_error *error)
{
    bool sorted = true;
    for (size_t i = 1; i < table->row_count && sorted; i++)
        sorted = compare_rows(&table->rows[i - 1], &table->rows[i]) <= 0;
    if (!sorted)
        qsort(table->rows, table->row_count, sizeof *table->rows, compare_rows);
    int result = check_codes(table, error);
    if (result == 0)
        result = make_states(table, error);
    if (result < 0)
        return result;
    table->transitions = calloc(table->transition_count, sizeof *table->transitions);
    if (!table->transitions)
        return no_memory(error);
    for (size_t i = 0; i < table->state_count; i++)
        for (uint32_t row = table->states[i].row; row < table->states[i + 1].row; row++)
            enter_row(table, &table->states[i], row);
    return 0;
}

const struct transition_row *transition_table_rows(const struct transition_table *table,
                                                   size_t *count)
{
    *count = table->row_count;
    return table->rows;
}

const uint32_t *transition_table_edges(const struct transition_table *table)
{
    return table->edges;
}

bool transition_table_from(const struct transition_table *table, uint32_t edge, uint32_t *first,
                           uint8_t *width)
{
    const struct edge_rows *state = find_state(table, edge);
    *first = state ? state->first : 0;
    *width = state ? state->width : 0;
    return state != NULL;
}

const struct transition *transition_table_transitions(const struct transition_table *table)
{
    return table->transitions;
}

struct transition transition_table_search(const struct transition_table *table,
                                          struct transition found, uint32_t bits)
{
    size_t low = found.next;
    size_t high = found.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->rows[middle].code <= bits)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == found.next || !begins_with(bits, &table->rows[low - 1]))
        return (struct transition){.kind = TRANSITION_NONE};
    return transition_of(table, &table->rows[low - 1]);
}
