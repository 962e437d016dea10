#include "driver/boards.h"
#include "formats/record/record.h"
#include "tests/suites.h"
#include "tests/support/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void open_good(const char *text)
{
    struct stream *stream = NULL;
    struct bt_error error = {0};
    CU_ASSERT_EQUAL(boards_check(text, &error), 0);
    CU_ASSERT_EQUAL(boards_check(text, NULL), 0);
    CU_ASSERT_EQUAL(boards_open(&stream, text, &error), 0);
    if (!stream) {
        printf("\n%s: %s\n", text, error.message);
        return;
    }
    CU_ASSERT_STRING_EQUAL(stream_name(stream), text);
    CU_ASSERT_EQUAL(stream_diagnose(stream, &error), 0);
    stream_close(stream);
}

static void test_good_specifications(void)
{
    static const char *const good[] = {
        "virtual:smp=1",           "virtual:smp=8,seed=0x10,requests=1M,rate=max,clock=66M,queue=4",
        "virtual:smp=2,rate=real", "virtual:smp=2,rate=2.5M,queue=65535",
        "virtual:smp=2,link=1M",   "program:cat",
        "program: /bin/cat - \t",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        open_good(good[i]);
}

/* A trace does not contain its clock rate; a replay in real time needs the rate. */
static void test_replay(void)
{
    static const char *const options[] = {"", ",loop,rate=real,clock=100M,requests=5"};
    static const struct record record = {.type = REQUEST_MEMREAD, .size = 4};
    struct test_path *path = test_path_file(&record, sizeof record);
    char text[4096];
    struct stream *stream;
    struct bt_error error;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        snprintf(text, sizeof text, "virtual:replay=%s%s", test_path_name(path), options[i]);
        open_good(text);
    }
    snprintf(text, sizeof text, "virtual:replay=%s,rate=real", test_path_name(path));
    CU_ASSERT_EQUAL(boards_open(&stream, text, &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "clock=HZ"));
    test_path_free(path);
    path = test_path_pipe("", 0);
    snprintf(text, sizeof text, "virtual:replay=%s", test_path_name(path));
    CU_ASSERT_EQUAL(boards_open(&stream, text, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "holds no records"));
    test_path_free(path);
}

static void test_bad_specifications(void)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "virtual:smp=N"},
        {"usb", "ftdi[:serial=S]"},
        {"virtual", "virtual:replay=FILE"},
        {"virtual:", "replay=FILE or smp=N"},
        {"virtual:seed=3,smp=2", "replay=FILE or smp=N"},
        {"virtual:smp=0", "1 to 8"},
        {"virtual:smp=9", "1 to 8"},
        {"virtual:smp=two", "smp=two"},
        {"virtual:smp=2,loop", "seed=S, requests=N"},
        {"virtual:smp=2,loop=1", "takes no value"},
        {"virtual:smp=2,,", "no option ''"},
        {"virtual:smp=2,rate", "needs a value"},
        {"virtual:smp=2,rate=0", "max, real, or a number"},
        {"virtual:smp=2,rate=fast", "max, real, or a number"},
        {"virtual:smp=2,smp=3", "twice"},
        {"virtual:smp=2,replay=x", "seed=S, requests=N"},
        {"virtual:smp=2,queue=3", "4 to 65535"},
        {"virtual:smp=2,queue=65536", "4 to 65535"},
        {"virtual:smp=2,link=999", "1000 to 1000000000000"},
        {"virtual:smp=2,clock=20G", "10000000000"},
        {"virtual:smp=2,requests=0", "requests=0"},
        {"virtual:smp=2,colour=red", "no option 'colour'"},
        {"virtual:replay=,loop", "name of a trace file"},
        {"virtual:replay=no/such.byu", "no/such.byu"},
        {"virtual:replay=/dev/null,seed=3", "loop, requests=N"},
        {"virtual:replay=/dev/null", "/dev/null holds no records"},
        {"virtual:replay=/dev/null,loop", "/dev/null holds no records"},
        {"virtual:replay=-,loop", "standard input"},
        {"program", "program:COMMAND"},
        {"program: ", "the command is empty"},
        {"program:no-such-program x", "there is no program no-such-program"},
        {"program:/etc/passwd", "/etc/passwd is not an executable program"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct stream *stream;
        struct bt_error error = {0};
        CU_ASSERT(boards_open(&stream, bad[i].text, &error) < 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, bad[i].part));
        if (!strstr(error.message, bad[i].part))
            printf("\n%s: %s\n", bad[i].text, error.message);
        CU_ASSERT(boards_open(&stream, bad[i].text, NULL) < 0);
    }
}

/* A check reports the same errors as opening, but does not look for the board. */
static void test_check(void)
{
    static const char *const senseless[] = {"",
                                            "usb",
                                            "virtual:",
                                            "virtual:smp=9",
                                            "virtual:smp=2,loop",
                                            "virtual:replay=",
                                            "ftdi:serial=",
                                            "ftdi:serial=a,",
                                            "ftdi:vid=0403",
                                            "ftdi:channel=C",
                                            "program:"};
    static const char *const elsewhere[] = {"ftdi",
                                            "ftdi:",
                                            "ftdi:serial=none,channel=b",
                                            "ftdi:vid=1,pid=2",
                                            "virtual:replay=no/such",
                                            "virtual:replay=-",
                                            "program:no-such-program"};
    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++) {
        struct stream *stream;
        struct bt_error error = {0}, opening = {0};
        CU_ASSERT_EQUAL(boards_check(senseless[i], &error), BT_USAGE);
        CU_ASSERT_EQUAL(boards_check(senseless[i], NULL), BT_USAGE);
        CU_ASSERT_EQUAL(boards_open(&stream, senseless[i], &opening), BT_USAGE);
        CU_ASSERT_STRING_EQUAL(error.message, opening.message);
    }
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        CU_ASSERT_EQUAL(boards_check(elsewhere[i], NULL), 0);
}

static void test_a_name_that_is_too_long(void)
{
    struct stream *stream;
    struct bt_error error = {0};
    char *text = malloc(20000);
    memset(text, 'x', 20000);
    memcpy(text, "virtual:replay=", 15);
    for (size_t length = 4090; length < 4400; length++) {
        text[length] = '\0';
        CU_ASSERT(boards_open(&stream, text, &error) < 0);
        text[length] = 'x';
    }
    text[19999] = '\0';
    CU_ASSERT_EQUAL(boards_open(&stream, text, &error), BT_USAGE);
    memcpy(text, "program:xxxxxxx", 15);
    CU_ASSERT_EQUAL(boards_check(text, &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "the command is too long"));
    free(text);
}

static const struct test_case cases[] = {{"valid specifications", test_good_specifications},
                                         {"replays", test_replay},
                                         {"invalid specifications", test_bad_specifications},
                                         {"specifications that are only checked", test_check},
                                         {"a name that is too long", test_a_name_that_is_too_long},
                                         {NULL, NULL}};
TEST_SUITE(boards, cases)
