/* The part of an expression that a board can do. */
#include "formats/record/expression_internal.h"

#define ALL_TYPES      ((1u << REQUEST_TYPES) - 1u)
#define ALL_PROCESSORS 0xffu
#define PROCESSORS     8u

/* Requests by sets of each field: those in all three. A superset of those that match, unless
 * exact. */
struct product {
    uint32_t types;      /* bit n: ordinal n */
    uint32_t processors; /* bit n: processor n */
    struct interval_set addresses;
    bool exact;
};

static bool is_empty(const struct product *product)
{
    return product->types == 0 || product->processors == 0 || product->addresses.count == 0;
}

static int set_all(struct product *product)
{
    *product = (struct product){.types = ALL_TYPES, .processors = ALL_PROCESSORS, .exact = true};
    return interval_set_add(&product->addresses, 0, UINT32_MAX);
}

static bool includes(const struct interval_set *set, const struct interval_set *part)
{
    for (size_t i = 0; i < part->count; i++)
        if (!interval_set_covers(set, part->intervals[i].low, part->intervals[i].high))
            return false;
    return true;
}

static bool contains(const struct product *a, const struct product *b)
{
    return (b->types & ~a->types) == 0 && (b->processors & ~a->processors) == 0 &&
           includes(&a->addresses, &b->addresses);
}

static int intersect(struct product *product, const struct product *other)
{
    product->types &= other->types;
    product->processors &= other->processors;
    product->exact = product->exact && other->exact;
    return interval_set_intersect(&product->addresses, &other->addresses);
}

/* Number of fields in which two products differ. */
static unsigned differences(const struct product *a, const struct product *b)
{
    return (a->types != b->types) + (a->processors != b->processors) +
           !interval_set_equal(&a->addresses, &b->addresses);
}

static int unite(struct product *product, const struct product *other)
{
    if (product->exact && contains(product, other))
        return 0;
    bool exact = (other->exact && contains(other, product)) ||
                 (product->exact && other->exact && differences(product, other) <= 1);
    if (is_empty(other))
        return 0;
    if (is_empty(product)) {
        product->types = other->types;
        product->processors = other->processors;
        product->addresses.count = 0;
        product->exact = other->exact;
        return interval_set_unite(&product->addresses, &other->addresses);
    }
    product->exact = exact;
    product->types |= other->types;
    product->processors |= other->processors;
    return interval_set_unite(&product->addresses, &other->addresses);
}

static void keep_types(const struct expression_node *node, struct product *product)
{
    for (unsigned i = 0; i < REQUEST_TYPES; i++)
        if (!interval_set_has(&node->values, request_type_at(i) & node->mask))
            product->types &= ~(1u << i);
}

static void keep_processors(const struct expression_node *node, struct product *product)
{
    for (unsigned i = 0; i < PROCESSORS; i++)
        if (!interval_set_has(&node->values, i & node->mask))
            product->processors &= ~(1u << i);
}

static int product_of_test(const struct expression_node *node, struct product *product)
{
    int result = set_all(product);
    if (result < 0)
        return result;
    if (node->field == FIELD_TYPE) {
        keep_types(node, product);
    } else if (node->field == FIELD_PROCESSOR) {
        keep_processors(node, product);
    } else if (node->field == FIELD_ADDRESS && node->mask == UINT32_MAX) {
        result = interval_set_intersect(&product->addresses, &node->values);
    } else if (!node->on_clock && node->values.count == 0) {
        product->types = 0;
    } else {
        product->exact = !node->on_clock && interval_set_covers(&node->values, 0, node->mask);
    }
    return result;
}

static int product_of(const struct expression_node *node, struct product *product)
{
    if (node->kind == EXPRESSION_TEST)
        return product_of_test(node, product);
    const bool conjunction = node->kind == EXPRESSION_AND;
    int result = product_of(node->children, product);
    for (node = node->children->next; node && result == 0; node = node->next) {
        struct product other;
        result = product_of(node, &other);
        if (result == 0)
            result = conjunction ? intersect(product, &other) : unite(product, &other);
        interval_set_clear(&other.addresses);
    }
    return result;
}

/* Sets the filter's ranges: inside the addresses, or outside of the others, whatever is fewer; more
 * than a board holds are widened. */
static int set_ranges(struct filter *filter, struct product *product)
{
    struct interval_set *inside = &product->addresses;
    struct interval_set outside = {.count = 0};
    if (interval_set_unite(&outside, inside) < 0 ||
        interval_set_complement(&outside, UINT32_MAX) < 0) {
        interval_set_clear(&outside);
        return BT_MEMORY;
    }
    filter->outside = outside.count < inside->count && outside.count <= FILTER_RANGES;
    if (!filter->outside && inside->count > FILTER_RANGES) {
        interval_set_widen(inside, FILTER_RANGES);
        product->exact = false;
    }
    const struct interval_set *ranges = filter->outside ? &outside : inside;
    for (size_t i = 0; i < ranges->count; i++)
        filter->ranges[filter->range_count++] = (struct filter_range){
            .low = (uint32_t)ranges->intervals[i].low, .high = (uint32_t)ranges->intervals[i].high};
    interval_set_clear(&outside);
    return 0;
}

int expression_board_part(const struct expression *expression, struct filter *filter, bool *whole)
{
    if (expression->has_indices) {
        *filter = filter_all();
        *whole = false;
        return 0;
    }
    struct product product = {.exact = true};
    int result = expression->root ? product_of(expression->root, &product) : set_all(&product);
    *filter = filter_all();
    if (result == 0 && is_empty(&product))
        filter->types = filter->processors = 0;
    else if (result == 0 && !interval_set_covers(&product.addresses, 0, UINT32_MAX))
        result = set_ranges(filter, &product);
    if (result == 0 && !is_empty(&product)) {
        filter->types = product.types;
        filter->processors = (uint8_t)product.processors;
    }
    *whole = product.exact || is_empty(&product);
    interval_set_clear(&product.addresses);
    return result;
}
