/*
 * Filter expressions of the host, over every field of a record and its place in the trace:
 *
 *     type=FETCH|MEMREAD and (processor=0 or address=0x1000-0x1fff) and not time>=2ms
 *
 * doc/filter.md has the grammar. A board applies a part of an expression (formats/record/filter.h).
 */
#ifndef FORMATS_RECORD_EXPRESSION_H
#define FORMATS_RECORD_EXPRESSION_H

#include "formats/base/error.h"
#include "formats/base/interval_set.h"
#include "formats/record/batch.h"
#include "formats/record/filter.h"

/* A parsed expression, ready to select records. Used by one thread at a time. */
struct expression;

/* Where `symbol=NAME` finds its addresses. */
struct expression_symbols {
    /* Adds the addresses of the symbol to the set. 0; BT_USAGE with a sentence if there is no such
     * symbol; or another negative code. */
    int (*find)(void *context, const char *name, struct interval_set *addresses,
                struct bt_error *error);
    void *context;
};

/*
 * Parses text; an empty or blank one selects every record. symbols may be NULL: then `symbol` is an
 * error. 0 and *expression, for expression_free; BT_USAGE with the column and what is allowed there
 * (expression_excerpt shows the place); BT_MEMORY; or what symbols->find returns.
 */
int expression_parse(struct expression **expression, const char *text,
                     const struct expression_symbols *symbols, struct bt_error *error);

/* NULL is allowed. */
void expression_free(struct expression *expression);

/*
 * After expression_parse has failed: two lines, the text around the place, and a caret under the
 * place, both indented by two spaces and each with a newline; "" if the text is valid. Returns out.
 */
#define EXPRESSION_EXCERPT_BYTES 400u
char *expression_excerpt(char out[EXPRESSION_EXCERPT_BYTES], const char *text,
                         const struct expression_symbols *symbols);

/* What looks like a mistake although it is valid (a decimal address such as 4000 that looks
 * hexadecimal): a sentence, valid as long as the expression; NULL: nothing. */
const char *expression_warning(const struct expression *expression);

/*
 * Gives times in seconds their ticks; before the first selection. clock_hz of 0: ticks of unknown
 * length. 0; BT_USAGE if the expression has times in seconds and the clock is unknown; BT_MEMORY.
 */
int expression_clock(struct expression *expression, uint64_t clock_hz, struct bt_error *error);

/* Whether every record matches, whatever it holds. */
bool expression_is_all(const struct expression *expression);

/*
 * Sets bit i % 64 of selected[i / 64] if batch->records[i] matches, and clears it otherwise; clears
 * the bits after the last record. selected has (batch->count + 63) / 64 words. first_index: index
 * of records[0]. Returns the number of records that match.
 */
size_t expression_select(const struct expression *expression, const struct batch *batch,
                         uint64_t first_index, uint64_t *selected);

/* Whether one record at this index and tick matches. */
bool expression_match(const struct expression *expression, const struct record *record,
                      uint64_t index, uint64_t tick);

/*
 * The part of the expression that a board can do: a filter that passes every record that matches,
 * of those that boards deliver (types of byutr.h, processors 0 to 7). *whole: it passes no other
 * one, so that nothing is left to the host. Indices count the requests that the board passes: an
 * expression with them leaves nothing to the board. 0 or BT_MEMORY.
 */
int expression_board_part(const struct expression *expression, struct filter *filter, bool *whole);

#endif
