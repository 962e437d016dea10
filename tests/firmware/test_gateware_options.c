#include "firmware/gateware/sim/gateware_options.h"
#include "tests/suites.h"

#include <stdio.h>
#include <string.h>

#define ARGUMENTS 9

static int parse(struct gateware_options *options, struct bt_error *error, const char *text)
{
    static char copy[5000];
    char *arguments[ARGUMENTS];
    int count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *rest = copy, *word; count < ARGUMENTS && (word = strtok_r(rest, " ", &rest));)
        arguments[count++] = word;
    return gateware_options_parse(options, count, arguments, error);
}

static void test_good(void)
{
    struct gateware_options options;
    struct bt_error error;
    CU_ASSERT_EQUAL(parse(&options, &error, "smp=3"), 0);
    CU_ASSERT_EQUAL(options.bus.processors, 3);
    CU_ASSERT_EQUAL(options.bus.requests, 0);
    CU_ASSERT_EQUAL(options.bus_hz, 0);
    CU_ASSERT_EQUAL(options.core_hz, 66000000);
    CU_ASSERT_EQUAL(options.link_bytes, 60000000);
    CU_ASSERT_EQUAL(options.seed, 0);
    CU_ASSERT_PTR_NULL(options.vcd);
    CU_ASSERT_EQUAL(
        parse(&options, &error, "seed=7 requests=1M bus=100M core=50M link=1M vcd=a=b replay=x=y"),
        0);
    CU_ASSERT_STRING_EQUAL(options.bus.replay, "x=y");
    CU_ASSERT_STRING_EQUAL(options.vcd, "a=b");
    CU_ASSERT_EQUAL(options.bus.requests, 1000000);
    CU_ASSERT_EQUAL(options.bus_hz, 100000000);
    CU_ASSERT_EQUAL(options.core_hz, 50000000);
    CU_ASSERT_EQUAL(options.link_bytes, 1000000);
    CU_ASSERT_EQUAL(options.seed, 7);
}

static void test_bad(void)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "replay=FILE or smp=N"},
        {"bus=66M", "replay=FILE or smp=N"},
        {"smp=0", "smp=0: 1 to 8"},
        {"smp", "smp needs a value"},
        {"smp=2 smp=2", "smp is given twice"},
        {"smp=2 replay=x", "exclude each other"},
        {"replay=", "replay= needs the name of a file"},
        {"replay=-", "standard input is the board's link"},
        {"smp=2 vcd=", "vcd= needs the name of a file"},
        {"smp=2 core=9999999", "10000000 to 200000000"},
        {"smp=2 bus=201M", "bus=201M: 1000000 to 200000000"},
        {"smp=2 link=61M", "100000 to 60000000"},
        {"smp=2 seed=0", "seed=0"},
        {"smp=2 seed=x", "seed=x"},
        {"smp=2 lnik=1M", "did you mean 'link'"},
        {"smp=2 colour=red", "no option 'colour=red'"},
        {"smp=2 =", "no option '='"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gateware_options options;
        struct bt_error error = {0};
        CU_ASSERT_EQUAL(parse(&options, &error, bad[i].text), BT_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, bad[i].part));
        if (!strstr(error.message, bad[i].part))
            printf("\n%s: %s\n", bad[i].text, error.message);
    }
}

static void test_long_name(void)
{
    struct gateware_options options;
    struct bt_error error = {0};
    char text[4900] = "replay=";
    memset(text + 7, 'x', sizeof text - 8);
    CU_ASSERT_EQUAL(parse(&options, &error, text), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "too long"));
}

static const struct test_case cases[] = {{"valid options", test_good},
                                         {"invalid options", test_bad},
                                         {"a name that is too long", test_long_name},
                                         {NULL, NULL}};
TEST_SUITE(gateware_options, cases)
