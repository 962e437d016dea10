#include "tests/support/varied_trace.h"

#include "tests/support/random.h"

#include <math.h>

/* What a trace is for, and what it draws from. */
struct maker {
    uint64_t state;
    uint32_t sets, lines;
    uint32_t *trace;
    size_t count;
};

static double uniform(struct maker *maker)
{
    return (double)(random_below(&maker->state, 1u << 30) + 1) / (double)(1u << 30);
}

/* A number of lines from low to high times those of the cache, evenly on a logarithmic scale. */
static uint32_t footprint(struct maker *maker, double low, double high)
{
    const double lines = maker->lines * low * pow(high / low, uniform(maker));
    return lines < 2 ? 2 : (uint32_t)lines;
}

static uint32_t scrambled(uint32_t number)
{
    number = (number ^ number >> 15) * 0x2c1b3c6du;
    return (number ^ number >> 12) * 0x297a2d39u >> 8;
}

/* Several arrays, each swept again and again. */
static void make_loops(struct maker *maker)
{
    for (size_t i = 0; i < maker->count;) {
        const uint32_t length = footprint(maker, 0.2, 3);
        const uint32_t base = (uint32_t)random_below(&maker->state, 1 << 20);
        const uint64_t rounds = 1 + random_below(&maker->state, 6);
        for (uint64_t step = 0; step < rounds * length && i < maker->count; step++)
            maker->trace[i++] = base + (uint32_t)(step % length);
    }
}

static void make_zipf(struct maker *maker)
{
    const double exponent = 0.5 + uniform(maker);
    const double most = 8 * (double)maker->lines;
    const double power = 1 - exponent;
    for (size_t i = 0; i < maker->count; i++) {
        const double u = uniform(maker);
        const double rank =
            fabs(power) < 0.01 ? pow(most, u) : pow(1 + u * (pow(most, power) - 1), 1 / power);
        maker->trace[i] = scrambled((uint32_t)rank);
    }
}

/* Loops whose steps leave out sets. */
static void make_strided(struct maker *maker)
{
    for (size_t i = 0; i < maker->count;) {
        const uint32_t step = 1u << random_below(&maker->state, 7);
        const uint32_t length = 1 + footprint(maker, 0.5, 4) / step;
        const uint32_t base = (uint32_t)random_below(&maker->state, 1 << 20);
        for (uint64_t n = 0; n < 5 * (uint64_t)length && i < maker->count; n++)
            maker->trace[i++] = base + (uint32_t)(n % length) * step;
    }
}

/* New lines, with a few old ones among them. */
static void make_streaming(struct maker *maker)
{
    const uint64_t old = random_below(&maker->state, 30);
    const uint32_t some = footprint(maker, 0.05, 1);
    uint32_t line = 1 << 22;
    for (size_t i = 0; i < maker->count; i++)
        maker->trace[i] = random_below(&maker->state, 100) < old
                              ? (uint32_t)random_below(&maker->state, some)
                              : line++;
}

static void make_random(struct maker *maker)
{
    const uint32_t some = footprint(maker, 0.3, 8);
    for (size_t i = 0; i < maker->count; i++)
        maker->trace[i] = (uint32_t)random_below(&maker->state, some);
}

/* Few sets have most of the misses. */
static void make_hot_sets(struct maker *maker)
{
    const uint64_t hot = 1 + random_below(&maker->state, 1 + maker->sets / 8);
    const uint64_t share = 2 + random_below(&maker->state, 90);
    const uint64_t tags = 2 + random_below(&maker->state, 3 * (maker->lines / maker->sets));
    const uint64_t rest = footprint(maker, 0.3, 3);
    for (size_t i = 0; i < maker->count; i++)
        if (random_below(&maker->state, 100) < share)
            maker->trace[i] = scrambled((uint32_t)random_below(&maker->state, hot)) % maker->sets +
                              maker->sets * (uint32_t)random_below(&maker->state, tags);
        else
            maker->trace[i] = (uint32_t)random_below(&maker->state, rest);
}

/* The references to sets, and the tags in them, have a Pareto distribution. */
static void make_heavy_tails(struct maker *maker)
{
    const double tail = 0.4 + 2 * uniform(maker);
    const uint64_t tags = 2 + random_below(&maker->state, 4 * (maker->lines / maker->sets));
    for (size_t i = 0; i < maker->count; i++) {
        const double rank = pow(uniform(maker), -1 / tail) - 1;
        const uint32_t set =
            scrambled(rank < 1e6 ? (uint32_t)(rank * maker->sets / 16) : 0) % maker->sets;
        const uint64_t some = 1 + scrambled(set + 77) % tags;
        maker->trace[i] = set + maker->sets * (uint32_t)random_below(&maker->state, some);
    }
}

/* Columns of a matrix beside its rows. */
static void make_matrix(struct maker *maker)
{
    const uint32_t columns = 1 + (uint32_t)random_below(&maker->state, 2 * maker->sets);
    const uint32_t rows = 1 + footprint(maker, 0.5, 6) / columns;
    for (size_t i = 0; i < maker->count;)
        for (uint32_t a = 0; a < columns && i < maker->count; a++)
            for (uint32_t b = 0; b < rows && i < maker->count; b++) {
                maker->trace[i++] = b * columns + a;
                if (i < maker->count)
                    maker->trace[i++] = (1 << 20) + a * rows + b;
            }
}

/* Sets differ by their numbers: an uneven locality in each. */
static void make_uneven(struct maker *maker)
{
    const uint32_t period = 2 + (uint32_t)random_below(&maker->state, 15);
    const uint32_t ways = maker->lines / maker->sets;
    for (size_t i = 0; i < maker->count; i++) {
        const uint32_t set = (uint32_t)random_below(&maker->state, maker->sets);
        const uint64_t some = 1 + ways * (uint64_t)(set % period) / 2;
        maker->trace[i] =
            set + maker->sets *
                      (uint32_t)random_below(&maker->state, 1 + random_below(&maker->state, some));
    }
}

/* A few lines whose neighbours are used together, in places that follow one another at random. */
static void make_objects(struct maker *maker)
{
    const uint32_t length = 1 + (uint32_t)random_below(&maker->state, 40);
    const uint32_t some = 1 + footprint(maker, 0.3, 6) / length;
    for (size_t i = 0; i < maker->count;) {
        const double u = uniform(maker);
        const uint32_t object = scrambled((uint32_t)(some * u * u)) & 0xfffff;
        for (uint32_t n = 0; n < length && i < maker->count; n++)
            maker->trace[i++] = object * 48 + n;
    }
}

typedef void (*make_fn)(struct maker *maker);

static const make_fn plain[] = {make_loops,  make_zipf,     make_strided,     make_streaming,
                                make_random, make_hot_sets, make_heavy_tails, make_matrix,
                                make_uneven, make_objects};
#define PLAIN (sizeof plain / sizeof *plain)

/* Phases of different kinds. */
static void make_phases(struct maker *maker)
{
    const size_t phases = 2 + random_below(&maker->state, 5);
    struct maker part = *maker;
    part.count = maker->count / phases;
    for (size_t i = 0; i < phases; i++, part.trace += part.count) {
        if (i + 1 == phases)
            part.count = maker->count - i * part.count;
        plain[random_below(&part.state, PLAIN)](&part);
    }
}

/* Two kinds at the same time, in places of their own. */
static void make_mixture(struct maker *maker)
{
    struct maker half = *maker;
    const uint64_t share = 5 + random_below(&half.state, 90);
    plain[random_below(&half.state, PLAIN)](&half);
    uint32_t other[256];
    struct maker few = half;
    few.trace = other;
    few.count = 0;
    for (size_t i = 0, used = 256; i < maker->count; i++) {
        if (used == 256) {
            few.count = used = 256;
            few.sets = maker->sets;
            make_fn make = plain[(half.state >> 20) % PLAIN];
            make(&few);
            used = 0;
        }
        if (random_below(&half.state, 100) < share)
            maker->trace[i] = (1u << 24) + other[used++];
    }
}

void varied_trace(uint64_t seed, uint32_t sets, uint32_t lines, uint32_t *trace, size_t count)
{
    struct maker maker = {
        .state = random_seed(seed), .sets = sets, .lines = lines, .trace = trace, .count = count};
    const uint64_t kind = seed % VARIED_KINDS;
    if (kind < PLAIN)
        plain[kind](&maker);
    else if (kind == PLAIN)
        make_phases(&maker);
    else
        make_mixture(&maker);
}
