/* The life of expressions, and what does not depend on their text. */
#include "formats/record/expression_internal.h"

#include "formats/base/scale.h"

#include <stdlib.h>

#define SECOND_NS UINT64_C(1000000000)

uint64_t expression_highest(enum expression_field field)
{
    switch (field) {
    case FIELD_TIME:
    case FIELD_INDEX:
        return UINT64_MAX;
    case FIELD_ADDRESS:
        return UINT32_MAX;
    default:
        return UINT8_MAX;
    }
}

void expression_node_free(struct expression_node *node)
{
    while (node) {
        struct expression_node *next = node->next;
        expression_node_free(node->children); /* as deep as the parser allows */
        interval_set_clear(&node->values);
        free(node->times);
        free(node);
        node = next;
    }
}

int expression_node_add(struct expression_node *parent, struct expression_node *child)
{
    struct expression_node **end = &parent->children;
    for (; *end; end = &(*end)->next) {
        struct expression_node *other = *end;
        if (child->kind != EXPRESSION_TEST || other->kind != EXPRESSION_TEST || child->on_clock ||
            other->on_clock || child->field != other->field || child->mask != other->mask)
            continue;
        int result = parent->kind == EXPRESSION_AND
                         ? interval_set_intersect(&other->values, &child->values)
                         : interval_set_unite(&other->values, &child->values);
        expression_node_free(child);
        return result;
    }
    *end = child;
    return 0;
}

void expression_free(struct expression *expression)
{
    if (!expression)
        return;
    expression_node_free(expression->root);
    free(expression);
}

const char *expression_warning(const struct expression *expression)
{
    return expression->warning[0] ? expression->warning : NULL;
}

static bool covers_all(const struct expression_node *node)
{
    return node->kind == EXPRESSION_TEST && !node->on_clock &&
           interval_set_covers(&node->values, 0, expression_highest(node->field) & node->mask);
}

bool expression_is_all(const struct expression *expression)
{
    return !expression->root || covers_all(expression->root);
}

/* --- the clock ------------------------------------------------------------------------------- */

/* First tick at or, if above, after the time. *none: it is beyond all ticks. */
static uint64_t first_tick(uint64_t time, bool ns, bool above, uint64_t clock_hz, bool *none)
{
    uint64_t tick = !ns     ? time
                    : above ? scale_down(time, clock_hz, SECOND_NS)
                            : scale_up(time, clock_hz, SECOND_NS);
    *none = above && tick == UINT64_MAX;
    return tick + (above && !*none);
}

/* Last tick at or, if below, before the time. *none: there is none. */
static uint64_t last_tick(uint64_t time, bool ns, bool below, uint64_t clock_hz, bool *none)
{
    uint64_t tick = !ns     ? time
                    : below ? scale_up(time, clock_hz, SECOND_NS)
                            : scale_down(time, clock_hz, SECOND_NS);
    *none = below && tick == 0;
    return tick - (below && !*none);
}

static int add_times(struct interval_set *ticks, const struct expression_times *times,
                     uint64_t clock_hz)
{
    bool none_low, none_high;
    uint64_t low = first_tick(times->low, times->low_ns, times->above_low, clock_hz, &none_low);
    uint64_t high = last_tick(times->high, times->high_ns, times->below_high, clock_hz, &none_high);
    if (times->moment)
        low = high;
    return none_low || none_high || low > high ? 0 : interval_set_add(ticks, low, high);
}

static int set_clock(struct expression_node *node, uint64_t clock_hz)
{
    int result = 0;
    for (struct expression_node *child = node->children; child && result == 0; child = child->next)
        result = set_clock(child, clock_hz);
    if (!node->on_clock || result < 0)
        return result;
    interval_set_clear(&node->values);
    for (size_t i = 0; i < node->times_count && result == 0; i++)
        result = add_times(&node->values, &node->times[i], clock_hz);
    if (node->negated && result == 0)
        result = interval_set_complement(&node->values, UINT64_MAX);
    return result;
}

int expression_clock(struct expression *expression, uint64_t clock_hz, struct bt_error *error)
{
    if (!expression->root)
        return 0;
    if (expression->in_seconds && clock_hz == 0)
        return bt_fail(error, BT_USAGE,
                       "the filter has times in seconds, and the clock of the records is not "
                       "known: give them in ticks");
    if (set_clock(expression->root, clock_hz) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for a filter");
    expression_prepare(expression->root);
    return 0;
}
