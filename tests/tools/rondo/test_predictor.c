/* Predictors of direction: every prediction against the slow ones of doc/predictors.md on random
 * streams, including wrong paths; known results of the literature. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/slow_predictors.h"
#include "tools/rondo/predictor.h"

#include <stdio.h>
#include <string.h>

#define STREAMS  2500u
#define BRANCHES 300u
#define PLACES   12u

/* Recurring branches with patterns, correlations and noise. */
struct branch_stream {
    uint64_t random;
    struct branch places[PLACES];
    unsigned periods[PLACES], counts[PLACES];
    uint64_t past;
};

static void stream_begin(struct branch_stream *stream, uint64_t seed)
{
    memset(stream, 0, sizeof *stream);
    stream->random = random_seed(seed);
    for (unsigned i = 0; i < PLACES; i++) {
        stream->places[i].address = random_next(&stream->random) & 0xffffff;
        stream->places[i].target = random_next(&stream->random) & 0xffffff;
        stream->places[i].next = stream->places[i].address + 2;
        stream->periods[i] = (unsigned)random_below(&stream->random, 9) + 1;
    }
}

static struct branch stream_next(struct branch_stream *stream)
{
    unsigned i = (unsigned)random_below(&stream->random, PLACES);
    struct branch branch = stream->places[i];
    switch (i % 4) {
    case 0:
        branch.taken = stream->counts[i]++ % stream->periods[i] != 0;
        break;
    case 1:
        branch.taken = (stream->past >> stream->periods[i] & 1) != 0;
        break;
    case 2:
        branch.taken = random_one_in(&stream->random, 2);
        break;
    default:
        branch.taken = random_one_in(&stream->random, 10);
    }
    stream->past = stream->past << 1 | branch.taken;
    return branch;
}

static unsigned pick(uint64_t *random, unsigned least, unsigned most)
{
    return least + (unsigned)random_below(random, most - least + 1);
}

/* Predictors with small tables, so that branches conflict. */
static void random_predictor(uint64_t *random, char *text, size_t size)
{
    unsigned first;
    switch (random_below(random, 8)) {
    case 0:
        snprintf(text, size, "bimodal:entries=%u,bits=%u", 1u << pick(random, 0, 6),
                 pick(random, 1, 8));
        return;
    case 1:
        snprintf(text, size, "gshare:entries=%u,history=%u,bits=%u", 1u << pick(random, 0, 8),
                 pick(random, 0, 64), pick(random, 1, 4));
        return;
    case 2:
        snprintf(text, size, "local:histories=%u,history=%u,bits=%u", 1u << pick(random, 0, 5),
                 pick(random, 1, 10), pick(random, 1, 4));
        return;
    case 3:
        snprintf(text, size, "tournament:histories=%u,local=%u,local-bits=%u,history=%u,bits=%u",
                 1u << pick(random, 0, 5), pick(random, 1, 8), pick(random, 1, 4),
                 pick(random, 1, 8), pick(random, 1, 4));
        return;
    case 4:
        snprintf(text, size, "perceptron:entries=%u,history=%u,bits=%u", 1u << pick(random, 0, 4),
                 pick(random, 1, 64), pick(random, 2, 9));
        return;
    case 5:
        snprintf(text, size, "%s", random_one_in(random, 2) ? "backward" : "taken");
        return;
    default:
        first = pick(random, 1, 12);
        snprintf(text, size,
                 "tage:base=%u,tables=%u,entries=%u,history=%u..%u,tag=%u,bits=%u,useful=%u,"
                 "period=%u",
                 1u << pick(random, 0, 5), pick(random, 2, 9), 1u << pick(random, 0, 6), first,
                 first + pick(random, 9, 200), pick(random, 2, 12), pick(random, 2, 4),
                 pick(random, 1, 3), pick(random, 1, 200));
    }
}

/* Predicts a wrong path of up to 20 branches. True: no difference. */
static bool compare_wrong_path(struct predictor *fast, struct slow_predictor *slow,
                               const struct branch *branch, struct branch_stream *stream)
{
    bool same = true;
    struct branch_stream before = *stream;
    predictor_save(fast);
    predictor_flip(fast, branch);
    slow_predictor_wrong_begin(slow, branch);
    for (uint64_t i = random_below(&before.random, 20); i > 0; i--) {
        struct branch wrong = stream_next(&before);
        bool taken = predictor_predict(fast, &wrong);
        predictor_shift(fast, &wrong, taken);
        same = slow_predictor_wrong(slow, &wrong) == taken && same;
    }
    predictor_restore(fast);
    slow_predictor_wrong_end(slow);
    return same;
}

static bool compare(uint64_t seed, char *text, size_t size)
{
    struct predictor_settings settings;
    struct branch_stream stream;
    stream_begin(&stream, seed);
    random_predictor(&stream.random, text, size);
    if (predictor_settings_read(&settings, text, NULL) < 0)
        return false;
    struct predictor *fast = predictor_new(&settings, NULL);
    struct slow_predictor *slow = slow_predictor_new(&settings);
    bool same = true;
    for (unsigned i = 0; i < BRANCHES && same; i++) {
        struct branch branch = stream_next(&stream);
        bool taken = predictor_predict(fast, &branch);
        predictor_train(fast, &branch);
        predictor_shift(fast, &branch, branch.taken);
        same = slow_predictor_put(slow, &branch) == taken;
        if (taken != branch.taken && random_one_in(&stream.random, 4))
            same = compare_wrong_path(fast, slow, &branch, &stream) && same;
    }
    predictor_free(fast);
    slow_predictor_free(slow);
    return same;
}

static void test_twin(void)
{
    unsigned failed = 0;
    for (uint64_t seed = 1; seed <= STREAMS; seed++) {
        char text[PREDICTOR_TEXT_BYTES] = "";
        if (!compare(seed, text, sizeof text) && failed++ < 3)
            fprintf(stderr, "seed %u: %s\n", (unsigned)seed, text);
    }
    CU_ASSERT_EQUAL(failed, 0);
}

/* Aged entries, histories that wrap in their ring, full tables. */
static void test_twin_long(void)
{
    static const char *const texts[] = {"tage:entries=64,history=3..1000,tables=15,period=777",
                                        "tage:tables=1,history=900,entries=16,tag=3",
                                        "gshare:entries=64,history=64", "tournament",
                                        "perceptron:history=64"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        struct predictor_settings settings;
        struct branch_stream stream;
        CU_ASSERT_EQUAL_FATAL(predictor_settings_read(&settings, texts[t], NULL), 0);
        struct predictor *fast = predictor_new(&settings, NULL);
        struct slow_predictor *slow = slow_predictor_new(&settings);
        unsigned different = 0;
        stream_begin(&stream, t);
        for (unsigned i = 0; i < 6000; i++) {
            struct branch branch = stream_next(&stream);
            bool taken = predictor_predict(fast, &branch);
            predictor_train(fast, &branch);
            predictor_shift(fast, &branch, branch.taken);
            different += slow_predictor_put(slow, &branch) != taken;
        }
        CU_ASSERT_EQUAL(different, 0);
        predictor_free(fast);
        slow_predictor_free(slow);
    }
}

/* Mispredictions of a branch that is executed learning + count times, without the first `learning`;
 * outcome(i) is its direction. */
static unsigned wrong_of(const char *text, bool (*outcome)(unsigned), unsigned learning,
                         unsigned count)
{
    struct predictor_settings settings;
    unsigned wrong = 0;
    CU_ASSERT_EQUAL_FATAL(predictor_settings_read(&settings, text, NULL), 0);
    struct predictor *predictor = predictor_new(&settings, NULL);
    for (unsigned i = 0; i < learning + count; i++) {
        struct branch branch = {
            .address = 0x401234, .next = 0x401236, .target = 0x401200, .taken = outcome(i)};
        wrong += predictor_predict(predictor, &branch) != branch.taken && i >= learning;
        predictor_train(predictor, &branch);
        predictor_shift(predictor, &branch, branch.taken);
    }
    predictor_free(predictor);
    return wrong;
}

static bool loop_of_10(unsigned i)
{
    return i % 10 != 9;
}

static bool loop_of_50(unsigned i)
{
    return i % 50 != 49;
}

static bool alternating(unsigned i)
{
    return i % 2 == 0;
}

static void test_loops(void)
{
    /* 2-bit counters mispredict the exit of each round only */
    CU_ASSERT_EQUAL(wrong_of("bimodal", loop_of_10, 100, 1000), 100);
    CU_ASSERT_EQUAL(wrong_of("bimodal:bits=1", loop_of_10, 100, 1000), 200);
    CU_ASSERT_EQUAL(wrong_of("backward", loop_of_10, 0, 1000), 100);
    CU_ASSERT_EQUAL(wrong_of("taken", loop_of_10, 0, 1000), 100);
    CU_ASSERT_EQUAL(wrong_of("not-taken", loop_of_10, 0, 1000), 900);
    /* a history that holds the last exit predicts the next one */
    CU_ASSERT_EQUAL(wrong_of("gshare:history=10", loop_of_10, 200, 1000), 0);
    CU_ASSERT_EQUAL(wrong_of("gshare:history=9", loop_of_10, 200, 1000), 0);
    CU_ASSERT_EQUAL(wrong_of("local:history=10", loop_of_10, 200, 1000), 0);
    CU_ASSERT_EQUAL(wrong_of("local:history=9", loop_of_10, 200, 1000), 0);
    CU_ASSERT_EQUAL(wrong_of("tournament", loop_of_10, 300, 1000), 0);
    CU_ASSERT_EQUAL(wrong_of("perceptron", loop_of_10, 500, 1000), 0);
    CU_ASSERT_EQUAL(wrong_of("tage", loop_of_10, 500, 1000), 0);
    /* a history of eight is all taken before the last two iterations */
    CU_ASSERT_EQUAL(wrong_of("gshare:history=8", loop_of_10, 200, 1000), 200);
    CU_ASSERT_EQUAL(wrong_of("local:history=8", loop_of_10, 200, 1000), 200);
    /* a loop of 50 needs more than 12 outcomes; 130 suffice */
    CU_ASSERT_EQUAL(wrong_of("gshare", loop_of_50, 1000, 1000), 20);
    CU_ASSERT_EQUAL(wrong_of("tage", loop_of_50, 5000, 1000), 0);
}

static void test_alternating(void)
{
    /* the counter begins weakly not taken and alternates one step late */
    CU_ASSERT_EQUAL(wrong_of("bimodal", alternating, 100, 1000), 1000);
    CU_ASSERT_EQUAL(wrong_of("gshare", alternating, 100, 1000), 0);
    CU_ASSERT_EQUAL(wrong_of("local", alternating, 100, 1000), 0);
    CU_ASSERT_EQUAL(wrong_of("tournament", alternating, 100, 1000), 0);
    CU_ASSERT_EQUAL(wrong_of("perceptron", alternating, 100, 1000), 0);
    CU_ASSERT_EQUAL(wrong_of("tage", alternating, 100, 1000), 0);
}

/* The misprediction ratio for branches that repeat an outcome of 38 and 39 branches before. */
static double share_wrong(const char *text)
{
    struct predictor_settings settings;
    uint64_t random = random_seed(7), past = 0;
    unsigned wrong = 0;
    CU_ASSERT_EQUAL_FATAL(predictor_settings_read(&settings, text, NULL), 0);
    struct predictor *predictor = predictor_new(&settings, NULL);
    for (unsigned i = 0; i < 200000; i++) {
        unsigned place = i % 40;
        struct branch branch = {.address = 0x400000 + place * 7, .target = 0x500000};
        branch.taken = place == 0   ? random_one_in(&random, 2)
                       : place < 38 ? place % 3 == 0
                                    : (past >> (place - 1) & 1) != 0;
        past = past << 1 | branch.taken;
        wrong += predictor_predict(predictor, &branch) != branch.taken && i >= 100000;
        predictor_train(predictor, &branch);
        predictor_shift(predictor, &branch, branch.taken);
    }
    predictor_free(predictor);
    return wrong / 100000.0;
}

static void test_correlated(void)
{
    const double gshare = share_wrong("gshare:entries=16K");
    const double tage = share_wrong("tage");
    const double perceptron = share_wrong("perceptron:history=48");
    /* Of 40 branches one is random, and two depend on it. With a history that reaches it, 1 of 80
     * predictions is wrong; with a shorter one, 2 of 80. */
    CU_ASSERT(gshare > 0.023 && gshare < 0.030);
    CU_ASSERT(tage > 0.010 && tage < 0.020);
    CU_ASSERT(perceptron > 0.010 && perceptron < 0.020);
}

static void refused(const char *text, const char *reason)
{
    struct predictor_settings settings;
    struct bt_error error = {.code = 0};
    CU_ASSERT_EQUAL(predictor_settings_read(&settings, text, &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, reason);
}

static void full(const char *text, const char *wanted, uint64_t bits)
{
    struct predictor_settings settings;
    char written[PREDICTOR_TEXT_BYTES];
    CU_ASSERT_EQUAL(predictor_settings_read(&settings, text, NULL), 0);
    CU_ASSERT_STRING_EQUAL(predictor_settings_text(written, &settings), wanted);
    CU_ASSERT_EQUAL(predictor_settings_storage(&settings), bits);
}

static void test_text(void)
{
    full("taken", "taken", 0);
    full("bimodal:entries=2K", "bimodal:entries=2048,bits=2", 4096);
    full("gshare:entries=16", "gshare:entries=16,history=4,bits=2", 36);
    full("local", "local:histories=1024,history=10,bits=2", 12288);
    full("tournament", "tournament:histories=1024,local=10,local-bits=3,history=12,bits=2",
         10240 + 3072 + 16384 + 12);
    full("tage:tables=2,history=4..9,entries=1",
         "tage:base=4096,tables=2,entries=1,history=4..9,tag=9,bits=3,useful=2,period=262144",
         8192 + 9 + 28);
    full("tage:tables=1,history=7",
         "tage:base=4096,tables=1,entries=1024,history=7,tag=9,bits=3,useful=2,period=262144",
         8192 + 7 + 14336);
    full("perceptron:entries=1,history=3", "perceptron:entries=1,history=3,bits=8", 35);
    refused("local:", "no parameter follows the colon of 'local:'");
    refused("gshore", "can be taken, not-taken, backward, bimodal, gshare, local, tournament, tage "
                      "or perceptron, not 'gshore'");
    refused("gshare:entries=1000", "gshare: entries is a power of two, not 1000");
    refused("gshare:history=65", "gshare: history can be 0 to 64, not 65");
    refused("gshare:size=5", "gshare: there is no parameter 'size': entries, history, bits");
    refused("taken:bits=2", "taken: there is no parameter 'bits': it has none");
    refused("bimodal:4096", "bimodal: '4096' is not parameter=value");
    refused("bimodal:bits=", "bimodal: bits is a number, not ''");
    refused("tage:tables=1", "tage: one table has one history, as in history=12");
    refused("tage:history=9..5", "tage: history 9..5 has no lengths for 7 tables");
    refused("tage:history=5..", "tage: history is a number, not ''");
}

static void test_lengths(void)
{
    static const uint32_t seven[] = {5, 9, 15, 25, 44, 76, 130};
    static const uint32_t close[] = {1, 2, 3, 4, 5, 6};
    struct predictor_settings settings;
    uint32_t lengths[TAGE_TABLES_MAX];
    CU_ASSERT_EQUAL(predictor_settings_read(&settings, "tage", NULL), 0);
    predictor_lengths(&settings, lengths);
    CU_ASSERT_EQUAL(memcmp(lengths, seven, sizeof seven), 0);
    CU_ASSERT_EQUAL(predictor_settings_read(&settings, "tage:tables=6,history=1..6", NULL), 0);
    predictor_lengths(&settings, lengths);
    CU_ASSERT_EQUAL(memcmp(lengths, close, sizeof close), 0);
}

static const struct test_case cases[] = {{"every prediction equals the slow one", test_twin},
                                         {"long streams", test_twin_long},
                                         {"histories learn loops", test_loops},
                                         {"alternating outcomes", test_alternating},
                                         {"correlation over distance", test_correlated},
                                         {"predictors as text", test_text},
                                         {"lengths of histories", test_lengths},
                                         {NULL, NULL}};
TEST_SUITE(predictor, cases)
