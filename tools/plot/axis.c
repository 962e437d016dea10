#include "tools/plot/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* largest magnitude that can still be rounded up and down */
#define LARGEST 1e290

/* A prefix or a larger unit. */
struct prefix {
    double size; /* in the axis's base unit */
    const char *name;
};

static const struct prefix number_prefixes[] = {{1e-6, "µ"}, {1e-3, "m"}, {1, ""},     {1e3, "k"},
                                                {1e6, "M"},  {1e9, "G"},  {1e12, "T"}, {1e15, "P"},
                                                {1e18, "E"}, {0, NULL}};
static const struct prefix byte_prefixes[] = {{1, "B"},        {0x1p10, "KiB"}, {0x1p20, "MiB"},
                                              {0x1p30, "GiB"}, {0x1p40, "TiB"}, {0x1p50, "PiB"},
                                              {0x1p60, "EiB"}, {0, NULL}};
static const struct prefix share_prefixes[] = {{0.01, "%"}, {0, NULL}};
/* a unit is used from twice its size, except fractions of seconds */
static const struct prefix second_prefixes[] = {{1e-9, "ns"}, {1e-6, "µs"},        {1e-3, "ms"},
                                                {1, "s"},     {60, "min"},         {3600, "h"},
                                                {86400, "d"}, {31557600, "years"}, {0, NULL}};
static const struct prefix address_prefixes[] = {{1, ""}, {0, NULL}};

static const struct prefix *prefixes_of(enum figure_unit unit)
{
    switch (unit) {
    case FIGURE_BYTES:
        return byte_prefixes;
    case FIGURE_SHARE:
        return share_prefixes;
    case FIGURE_SECONDS:
        return second_prefixes;
    case FIGURE_ADDRESS:
        return address_prefixes;
    default:
        return number_prefixes;
    }
}

/* The prefix for a value of this magnitude. */
static const struct prefix *choose_prefix(enum figure_unit unit, double magnitude)
{
    const struct prefix *prefix = prefixes_of(unit);
    if (unit == FIGURE_NUMBER) /* 0.05 is printed as is, not as 50 m */
        prefix += magnitude < 1e-3 ? 0 : 2;
    if (magnitude == 0 && unit == FIGURE_NUMBER)
        return &number_prefixes[2];
    while (prefix[1].name &&
           magnitude >= prefix[1].size * (unit == FIGURE_SECONDS && prefix[1].size > 1 ? 2 : 1))
        prefix++;
    return prefix;
}

/* Prints value with a prefix and a number of decimals. */
static void put_label(char *label, enum figure_unit unit, const struct prefix *prefix, double value,
                      int digits)
{
    if (unit == FIGURE_ADDRESS) {
        double whole = fmin(fmax(value, 0), 0x1p63);
        snprintf(label, AXIS_LABEL_BYTES, "0x%08llx", (unsigned long long)whole);
        return;
    }
    snprintf(label, AXIS_LABEL_BYTES, "%.*f%s%s", digits, value / prefix->size,
             *prefix->name && value != 0 ? " " : "", value != 0 ? prefix->name : "");
    if (value == 0)
        snprintf(label, AXIS_LABEL_BYTES, "0");
}

/* Decimals that a number of this size needs for `digits` significant digits, without trailing
 * zeros. */
static int digits_needed(double value, int digits)
{
    double size = fabs(value);
    int decimals = size < 1 ? digits : digits - 1 - (int)floor(log10(size));
    while (decimals > 0) {
        double shorter = value * pow(10, decimals - 1);
        if (fabs(shorter - round(shorter)) > 1e-6 * fmax(1, fabs(shorter)))
            break;
        decimals--;
    }
    return decimals < 0 ? 0 : decimals;
}

/* The value with 3 digits, so that 999.9 k is printed as 1 M. */
static double round_to_digits(double value, int digits)
{
    if (value == 0 || !isfinite(value))
        return value;
    double power = pow(10, digits - 1 - floor(log10(fabs(value))));
    return isfinite(power) && power > 0 ? round(value * power) / power : value;
}

char *axis_label(char *label, enum figure_unit unit, double value)
{
    if (unit != FIGURE_ADDRESS && unit != FIGURE_BYTES)
        value = round_to_digits(value, 3);
    const struct prefix *prefix = choose_prefix(unit, fabs(value));
    put_label(label, unit, prefix, value, digits_needed(value / prefix->size, 3));
    return label;
}

bool axis_is_logarithmic(const struct figure_axis *description)
{
    return description->scale != FIGURE_LINEAR;
}

static struct axis_tick *add_tick(struct axis *axis, double at)
{
    if (axis->tick_count == AXIS_TICKS_MAX)
        return NULL;
    struct axis_tick *tick = &axis->ticks[axis->tick_count++];
    tick->at = at;
    return tick;
}

/* --- linear ---------------------------------------------------------------------------------- */

/* The smallest round step of at least `wanted`: 1, 2 or 5 times a power of 10; for bytes and
 * addresses a power of 2. */
static double nice_step(enum figure_unit unit, double wanted)
{
    if (unit == FIGURE_BYTES || unit == FIGURE_ADDRESS)
        return exp2(ceil(log2(wanted) - 1e-9));
    double power = pow(10, floor(log10(wanted)));
    double factor = wanted / power;
    return power * (factor <= 1.000001 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

/* Decimals that print multiples of this step exactly, as far as 9 do: 2 of 0.25. */
static int step_digits(double step)
{
    int digits = 0;
    for (double scaled = step; digits < 9 && fabs(scaled - round(scaled)) > 1e-6 * scaled;
         scaled *= 10)
        digits++;
    return digits;
}

static void linear_ticks(struct axis *axis, const struct figure_axis *description, unsigned most,
                         bool rounded)
{
    double magnitude = fmax(fabs(axis->from), fabs(axis->to));
    const struct prefix *prefix = choose_prefix(description->unit, magnitude);
    double step =
        prefix->size * nice_step(description->unit, (axis->to - axis->from) / prefix->size / most);
    if (!(step > 0) || magnitude / step > 1e15) /* below the resolution of a double */
        return;
    if (rounded) {
        axis->from = floor(axis->from / step + 1e-9) * step;
        axis->to = ceil(axis->to / step - 1e-9) * step;
    }
    double first = ceil(axis->from / step - 1e-9);
    for (double i = first; i * step <= axis->to + step * 1e-6; i++) {
        struct axis_tick *tick = add_tick(axis, i * step);
        if (!tick)
            break;
        put_label(tick->label, description->unit, prefix, tick->at,
                  step_digits(step / prefix->size));
    }
}

/* --- logarithmic ----------------------------------------------------------------------------- */

static void log_tick(struct axis *axis, enum figure_unit unit, double at)
{
    bool inside = at >= axis->from * (1 - 1e-9) && at <= axis->to * (1 + 1e-9);
    struct axis_tick *tick = inside ? add_tick(axis, at) : NULL;
    if (tick)
        axis_label(tick->label, unit, at);
}

static void logarithmic_ticks(struct axis *axis, const struct figure_axis *description,
                              unsigned most, bool rounded)
{
    double base = description->scale == FIGURE_LOG2 ? 2 : 10;
    double low = log(axis->from) / log(base);
    double high = log(axis->to) / log(base);
    if (rounded) {
        low = floor(low + 1e-9);
        high = fmax(ceil(high - 1e-9), low + 1);
        axis->from = pow(base, low);
        axis->to = pow(base, high);
    }
    double stride = fmax(1, ceil((high - low) / most));
    bool between = base == 10 && (high - low) * 3 <= most; /* also label 2 and 5 */
    for (double i = floor(low / stride) * stride; i <= high + 1e-9; i += stride) {
        log_tick(axis, description->unit, pow(base, i));
        if (between) {
            log_tick(axis, description->unit, 2 * pow(base, i));
            log_tick(axis, description->unit, 5 * pow(base, i));
        }
    }
}

/* --- both ------------------------------------------------------------------------------------ */

/* Makes the ends finite, ordered and distinct. */
static void set_ends(struct axis *axis, const struct figure_axis *description, double low,
                     double high, bool rounded)
{
    bool logarithmic = axis_is_logarithmic(description);
    bool fixed = description->from < description->to && (!logarithmic || description->from > 0);
    axis->from = fixed ? description->from : low;
    axis->to = fixed ? description->to : high;
    if (!(axis->from <= axis->to) || !isfinite(axis->from) || !isfinite(axis->to)) {
        axis->from = logarithmic ? 1 : 0;
        axis->to = logarithmic ? 2 : 1;
    }
    axis->from = fmin(fmax(axis->from, logarithmic ? 1 / LARGEST : -LARGEST), LARGEST);
    axis->to = fmin(fmax(axis->to, axis->from), LARGEST);
    if (!fixed && rounded && !logarithmic && axis->from > 0)
        axis->from = 0;
    if (axis->to - axis->from > fabs(axis->to) * 1e-9)
        return;
    if (logarithmic) {
        axis->from /= 2;
        axis->to *= 2;
    } else {
        double half = axis->to != 0 ? fmax(fabs(axis->to) / 2, 1 / LARGEST) : 0.5;
        axis->from = rounded && axis->from == 0 ? 0 : axis->from - half;
        axis->to += half;
    }
}

void axis_lay_out(struct axis *axis, const struct figure_axis *description, double low, double high,
                  unsigned most, bool rounded)
{
    bool fixed = description->from < description->to;
    memset(axis, 0, sizeof *axis);
    set_ends(axis, description, low, high, rounded);
    if (description->ticks)
        return;
    if (!axis_is_logarithmic(description)) {
        linear_ticks(axis, description, most, rounded && !fixed);
        return;
    }
    logarithmic_ticks(axis, description, most, rounded && !fixed);
    if (axis->tick_count < 3 && axis->to < 10 * axis->from) {
        axis->tick_count = 0; /* a short axis has hardly any power */
        linear_ticks(axis, description, most, false);
    }
}
