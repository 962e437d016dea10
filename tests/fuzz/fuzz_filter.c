/* A filter expression from a user: it parses to one that selects the same records in both ways and
 * whose part for a board is a filter that boards accept, or is refused with an error message. */
#include "formats/record/expression.h"
#include "formats/wire/wire.h"
#include "tests/support/expression_twin.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS 70u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_board_part(const struct expression *expression)
{
    struct wire_configuration configuration = {0};
    uint8_t body[WIRE_CONFIGURATION_BYTES];
    bool whole;
    if (expression_board_part(expression, &configuration.filter, &whole) < 0)
        return;
    wire_configuration_put(body, &configuration);
    if (wire_configuration_get(&configuration, body, sizeof body) < 0)
        abort();
}

static void check_selection(const struct expression *expression, uint64_t random)
{
    struct record records[RECORDS];
    uint64_t selected[2];
    for (size_t i = 0; i < RECORDS; i++)
        records[i] = expression_twin_record(&random, false);
    const struct batch batch = {.records = records, .count = RECORDS, .first_tick = 1000};
    size_t count = expression_select(expression, &batch, 5, selected);
    uint64_t tick = batch.first_tick;
    for (size_t i = 0; i < RECORDS; i++) {
        tick += i ? records[i].time : 0;
        bool matches = expression_match(expression, &records[i], 5 + i, tick);
        if (matches != (selected[i / 64] >> i % 64 & 1))
            abort();
        count -= matches;
    }
    if (count != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    char excerpt[EXPRESSION_EXCERPT_BYTES];
    struct expression *expression = NULL;
    struct bt_error error = {0};
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    int result = expression_parse(&expression, text, &expression_twin_symbols, &error);
    expression_excerpt(excerpt, text, &expression_twin_symbols);
    if (result == 0 && expression_clock(expression, EXPRESSION_TWIN_CLOCK, &error) == 0) {
        check_board_part(expression);
        check_selection(expression, random_seed(size));
    }
    if (result != 0 && (result != BT_USAGE || error.message[0] == '\0' || excerpt[0] == '\0'))
        abort();
    expression_free(expression);
    free(text);
    return 0;
}
