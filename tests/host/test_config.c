#include "host/config.h"
#include "tests/suites.h"

#include <stdio.h>
#include <string.h>

static struct bt_error error;

static struct config *parse(const char *text)
{
    struct config *config = NULL;
    memset(&error, 0, sizeof error);
    int result = config_parse(&config, "test.conf", text, strlen(text), &error);
    CU_ASSERT_EQUAL(result, error.code);
    CU_ASSERT((config == NULL) == (result < 0));
    return config;
}

/* Whether text is refused with exactly this message. */
static void refused(const char *text, const char *sentence)
{
    struct config *config = parse(text);
    CU_ASSERT_PTR_NULL(config);
    CU_ASSERT_EQUAL(error.code, BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, sentence);
    if (strcmp(error.message, sentence) != 0)
        printf("\n    got: %s\n", error.message);
    config_free(config);
}

static void test_everything(void)
{
    struct config *config = parse("# comment\n"
                                  "\n"
                                  "[daemon]\n"
                                  "socket = /tmp/socket\r\n"
                                  "  [ capture\tfirst ]  \n"
                                  "board = virtual:smp=4,seed=3\n"
                                  "output=/data/first; #1\n"
                                  "rotate = size=64M, every=1h\n"
                                  "rotate = time=10m\n"
                                  "keep = 24\n"
                                  "stop = records=5k\n"
                                  "filter = type=FETCH and processor=0-1\n"
                                  "packing = plain\n"
                                  "stall = yes\n"
                                  "queue = 128M\n"
                                  "workers = 3\n"
                                  "when-full = drop\n"
                                  "start = manual\n"
                                  "retry = 250ms\n"
                                  "; another\n"
                                  "[capture second]\n"
                                  "trigger = type=SHUTDOWN or type=STOPCLKACK\n"
                                  "pre = 10K\n"
                                  "post = 5ms\n"
                                  "stop-on = address=0xfee00000\n"
                                  "ring = 16M\n"
                                  "board=ftdi\n"
                                  "output=/data/second");
    CU_ASSERT_PTR_NOT_NULL_FATAL(config);
    CU_ASSERT_STRING_EQUAL(config->socket, "/tmp/socket");
    CU_ASSERT_EQUAL_FATAL(config->count, 2);
    const struct config_capture *first = &config->captures[0];
    CU_ASSERT_STRING_EQUAL(first->name, "first");
    CU_ASSERT_STRING_EQUAL(first->board, "virtual:smp=4,seed=3");
    CU_ASSERT_STRING_EQUAL(first->settings.prefix, "/data/first; #1");
    CU_ASSERT_EQUAL(first->settings.rotate_bytes, 64u << 20);
    CU_ASSERT_EQUAL(first->settings.rotate_ns, 600000000000);
    CU_ASSERT_EQUAL(first->settings.rotate_every_ns, 3600000000000);
    CU_ASSERT_EQUAL(first->settings.keep, 24);
    CU_ASSERT_EQUAL(first->settings.stop_records, 5000);
    CU_ASSERT_STRING_EQUAL(first->filter, "type=FETCH and processor=0-1");
    CU_ASSERT_EQUAL(first->session.packing, WIRE_PLAIN);
    CU_ASSERT_TRUE(first->session.stall);
    CU_ASSERT_EQUAL(first->settings.queue_bytes, 128u << 20);
    CU_ASSERT_EQUAL(first->settings.workers, 3);
    CU_ASSERT_EQUAL(first->settings.when_full, CAPTURE_DROP);
    CU_ASSERT_FALSE(first->automatic);
    CU_ASSERT_EQUAL(first->retry_ns, 250000000);
    CU_ASSERT_EQUAL(first->line, 5);
    const struct config_capture *second = &config->captures[1];
    CU_ASSERT_STRING_EQUAL(second->name, "second");
    CU_ASSERT_TRUE(second->automatic);
    CU_ASSERT_EQUAL(second->retry_ns, 5000000000);
    CU_ASSERT_EQUAL(second->settings.keep, 0);
    CU_ASSERT_EQUAL(second->session.packing, WIRE_DELTA);
    CU_ASSERT_FALSE(second->session.stall);
    const struct trigger_settings *trigger = &second->settings.trigger;
    CU_ASSERT_STRING_EQUAL(trigger->trigger, "type=SHUTDOWN or type=STOPCLKACK");
    CU_ASSERT_EQUAL(trigger->pre_records, 10000);
    CU_ASSERT_EQUAL(trigger->pre_ns, 0);
    CU_ASSERT_EQUAL(trigger->post_records, 0);
    CU_ASSERT_EQUAL(trigger->post_ns, 5000000);
    CU_ASSERT_STRING_EQUAL(trigger->stop_on, "address=0xfee00000");
    CU_ASSERT_EQUAL(trigger->ring_bytes, 16u << 20);
    config_free(config);
}

#define GOOD "[capture a]\nboard=b\noutput=/o\n"

/* A capture's own settings, and those of [daemon], wherever it is. */
static void test_pack(void)
{
    struct config *config = parse("[capture a]\nboard=b\noutput=/a\n"
                                  "[capture b]\nboard=b\noutput=/b\npack-after = never\n"
                                  "[capture c]\nboard=b\noutput=/c\npack-level = 7\n"
                                  "[daemon]\npack-after = 2h\npack-level = 3\n"
                                  "[capture d]\nboard=b\noutput=/d\npack-after = 0s\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(config);
    static const int64_t after_ns[] = {7200000000000, CONFIG_PACK_NEVER, 7200000000000, 0};
    static const int levels[] = {3, 3, 7, 3};
    for (size_t i = 0; i < config->count; i++) {
        CU_ASSERT_EQUAL(config->captures[i].pack_after_ns, after_ns[i]);
        CU_ASSERT_EQUAL(config->captures[i].pack_level, levels[i]);
    }
    config_free(config);
    config = parse("[capture a]\nboard=b\noutput=/a\npack-after=1d\n"
                   "[capture b]\nboard=b\noutput=/b\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(config);
    CU_ASSERT_EQUAL(config->captures[0].pack_after_ns, 86400000000000);
    CU_ASSERT_EQUAL(config->captures[0].pack_level, 5);
    CU_ASSERT_EQUAL(config->captures[1].pack_after_ns, CONFIG_PACK_NEVER);
    config_free(config);
    refused(GOOD "pack-after=4000d\n", "test.conf:4: pack-after is 0s to 3650d, or never");
    refused("[daemon]\npack-after=soon\n",
            "test.conf:2: pack-after: \"soon\" is not a number such as 250ms, 10s, 5m or 1h");
    refused(GOOD "pack-level=8\n", "test.conf:4: pack-level is 1 to 7");
    refused(GOOD "pack-level=0\n", "test.conf:4: pack-level is 1 to 7");
    refused(GOOD "pack-level=3\n", "test.conf:1: [capture a]: pack-level needs pack-after");
}

static void test_empty(void)
{
    struct config *config = parse("");
    CU_ASSERT_PTR_NOT_NULL_FATAL(config);
    CU_ASSERT_EQUAL(config->count, 0);
    CU_ASSERT_STRING_EQUAL(config->socket, "");
    config_free(config);
}

static void test_places(void)
{
    refused("board=x\n", "test.conf:1: \"board\" precedes the first [section]");
    refused("\n\n[deamon]\n",
            "test.conf:3: unknown section [deamon]; there are [daemon] and [capture NAME]");
    refused("[daemon x]\n",
            "test.conf:1: unknown section [daemon x]; there are [daemon] and [capture NAME]");
    refused("[daemon]\n[daemon]\n", "test.conf:2: the section [daemon] occurs twice");
    refused("[daemon]\nport=1\n",
            "test.conf:2: unknown key \"port\" in [daemon]; there are socket, stop-timeout, "
            "pack-after, pack-level");
    refused("[daemon]\nsocket=a\nsocket=b\n", "test.conf:3: duplicate key socket in [daemon]");
    refused("[daemon]\nstop-timeout=2s\nstop-timeout=2s\n",
            "test.conf:3: duplicate key stop-timeout in [daemon]");
    refused("[daemon]\nstop-timeout=1ms\n", "test.conf:2: stop-timeout: the time is 100ms to 1h");
    refused(
        GOOD "colour=red\n",
        "test.conf:4: unknown key \"colour\" in [capture a]; there are board, output, rotate, "
        "keep, stop, filter, packing, stall, queue, workers, when-full, start, retry, disk-full, "
        "engine, level, reconnect, trigger, pre, post, stop-on, ring, exec-on-file, pack-after, "
        "pack-level");
    refused(GOOD "board=c\n", "test.conf:4: duplicate key board in [capture a]");
    refused(GOOD "rotate=size=1M\nrotate=time=1s,size=1M\n",
            "test.conf:5: rotate: size is given twice");
    refused(GOOD "stop=time=1s,time=2s\n", "test.conf:4: stop: time is given twice");
    refused(GOOD GOOD, "test.conf:4: the capture a is already defined at line 1");
    refused("\n[capture a]\noutput=/o\n", "test.conf:2: [capture a] needs a board");
    refused("[capture a]\nboard=b\n", "test.conf:1: [capture a] needs an output");
    refused(GOOD "[capture b]\nboard=b\noutput=/o\n",
            "test.conf:4: [capture b] has the same output as [capture a]");
    refused(GOOD "[capture b]\nboard=b\noutput=/./o\n",
            "test.conf:4: [capture b] has the same output as [capture a]");
    refused("[capture a]\nboard=a\noutput=x\n[capture b]\nboard=b\noutput=./x\n",
            "test.conf:4: [capture b] has the same output as [capture a]");
    refused("[capture]\n",
            "test.conf:1: a capture needs a name, other than \"all\": [capture NAME]");
    refused("[capture all]\n",
            "test.conf:1: a capture needs a name, other than \"all\": [capture NAME]");
}

static void test_lines(void)
{
    refused("[daemon\n", "test.conf:1: a section's name ends with ]");
    refused("[]\n",
            "test.conf:1: a section is [kind] or [kind NAME], both at most 63 letters, digits, "
            "dots, dashes and underscores");
    refused("[capture a/b]\n",
            "test.conf:1: a section is [kind] or [kind NAME], both at most 63 letters, digits, "
            "dots, dashes and underscores");
    refused("nonsense\n", "test.conf:1: expected \"key = value\", a [section] or a # comment");
    refused("= 3\n", "test.conf:1: the text before = is not a key");
    refused(GOOD "keep=\001\n", "test.conf:4: there is a control character in this line");
}

static void test_values(void)
{
    refused(GOOD "keep=many\n",
            "test.conf:4: keep: \"many\" is not a number such as 1000, 5k, 2M or 0x100");
    refused(GOOD "keep=2M\n", "test.conf:4: keep: 2M is more than 1000000");
    refused(GOOD "packing=zip\n", "test.conf:4: packing: \"zip\" is not plain or delta");
    refused(GOOD "stall=1\n", "test.conf:4: stall: \"1\" is not no or yes");
    refused(GOOD "when-full=\n", "test.conf:4: when-full: \"\" is not wait or drop");
    refused(GOOD "start=never\n", "test.conf:4: start: \"never\" is not auto or manual");
    refused(GOOD "queue=65G\n", "test.conf:4: queue: a queue of more than 64G is not possible");
    refused(GOOD "workers=65\n", "test.conf:4: workers: 65 is more than 64");
    refused(GOOD "retry=0\n", "test.conf:4: retry is 100ms to 1d");
    refused("[capture a]\nboard=\n", "test.conf:2: board: a value is missing");
    refused(GOOD "stop=files=3\n",
            "test.conf:1: [capture a]: a stop after a number of files needs a rule that begins new "
            "ones: rotate by size=64M, time=10m or every=1h");
    char text[300] = "[daemon]\nsocket=";
    memset(text + strlen(text), 's', 108);
    refused(text, "test.conf:2: socket: the value has 108 bytes; 107 are allowed");
}

/* Triggers are checked as those of `bustap capture`. */
static void test_triggers(void)
{
    refused(GOOD "trigger=type=NONSENSE\n",
            "test.conf:4: trigger: filter, column 6: expected a request type: FETCH, MEMREAD, "
            "MEMREADINV, MEMWRITE, IOREAD, IOWRITE, DEFERREPLY, INTA, CNTRLAGNTRES, BRTRACEREC, "
            "SHUTDOWN, FLUSH, HALT, SYNC, FLUSHACK, STOPCLKACK, SMIACK, a group (read, write, "
            "data, memory, io, special) or a number, 0 to 255");
    refused(GOOD "trigger=\n", "test.conf:4: trigger: the expression is empty");
    refused(GOOD "trigger=type=FETCH\npre=some\n",
            "test.conf:5: pre: 'some' is neither a time (10ms), nor a number of requests (1M) or "
            "ticks (1Mticks)");
    refused(GOOD "pre=10\n", "test.conf:1: [capture a]: records before a match need a trigger");
    refused(GOOD "post=10\n",
            "test.conf:1: [capture a]: records after a match need a trigger or a stop");
    refused(
        GOOD "trigger=type=FETCH\npre=1000000M\n",
        "test.conf:1: [capture a]: the records before a match would take more than 16G of memory, "
        "which is twice the ring: choose a smaller ring, or fewer records before a match");
    refused(GOOD "trigger=type=FETCH\nrotate=time=1s\n",
            "test.conf:1: [capture a]: with a trigger each window is a file: rotate takes only "
            "size=, such as size=64M");
    refused(GOOD "ring=1\n", "test.conf:4: ring: at least 4K, which is memory for 341 records");
    refused(GOOD "ring=much\n",
            "test.conf:4: ring: \"much\" is not a number such as 4096, 64K, 20M or 1G");
    refused(
        GOOD "stop_on=type=FETCH\n",
        "test.conf:4: unknown key \"stop_on\" in [capture a]; there are board, output, rotate, "
        "keep, stop, filter, packing, stall, queue, workers, when-full, start, retry, disk-full, "
        "engine, level, reconnect, trigger, pre, post, stop-on, ring, exec-on-file, "
        "pack-after, pack-level, did you "
        "mean 'stop-on'?");
    static const char longest[] = GOOD "stop-on=";
    char text[sizeof longest + TRIGGER_TEXT_BYTES + 1] = GOOD "stop-on=";
    memset(text + strlen(text), 'x', TRIGGER_TEXT_BYTES);
    refused(text, "test.conf:4: stop-on: the expression is too long: at most 255 bytes");
}

/* Every prefix of a good file, and the file with every byte changed, is read or refused. */
static void test_damage(void)
{
    static const char good[] = "[daemon]\nsocket = /s\n[capture a]\nboard = virtual:smp=2\n"
                               "output = /o\nrotate = size=1M\nstop = files=3\n"
                               "trigger = type=FETCH\npre = 10K\npost = 5ms\nring = 1M\n";
    for (size_t size = 0; size < sizeof good; size++) {
        struct config *config;
        config_parse(&config, "x", good, size, &error);
        config_free(config);
        for (unsigned c = 0; c < 256; c++) {
            char copy[sizeof good];
            memcpy(copy, good, sizeof good);
            copy[size] = (char)c;
            config_parse(&config, "x", copy, sizeof good - 1, &error);
            config_free(config);
        }
    }
}

static const struct test_case cases[] = {{"all keys and sections", test_everything},
                                         {"packing of old files", test_pack},
                                         {"an empty file", test_empty},
                                         {"keys and sections out of place", test_places},
                                         {"invalid lines", test_lines},
                                         {"invalid values", test_values},
                                         {"triggers", test_triggers},
                                         {"damage", test_damage},
                                         {NULL, NULL}};
TEST_SUITE(config, cases)
