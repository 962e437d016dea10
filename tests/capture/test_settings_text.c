#include "capture/settings_text.h"

#include "tests/suites.h"

#include <string.h>

static void test_rotate(void)
{
    struct capture_settings settings = capture_settings_default();
    CU_ASSERT_EQUAL(settings_text_rotate(&settings, "size=64M", NULL), 0);
    CU_ASSERT_EQUAL(settings_text_rotate(&settings, "time=10m", NULL), 0);
    CU_ASSERT_EQUAL(settings_text_rotate(&settings, "every=1h", NULL), 0);
    CU_ASSERT_EQUAL(settings.rotate_bytes, 64u << 20);
    CU_ASSERT_EQUAL(settings.rotate_ns, 600000000000);
    CU_ASSERT_EQUAL(settings.rotate_every_ns, 3600000000000);
    CU_ASSERT_EQUAL(settings.stop_bytes, 0);
}

static void test_stop(void)
{
    struct capture_settings settings = capture_settings_default();
    CU_ASSERT_EQUAL(settings_text_stop(&settings, "time=10s", NULL), 0);
    CU_ASSERT_EQUAL(settings_text_stop(&settings, "records=1M", NULL), 0);
    CU_ASSERT_EQUAL(settings_text_stop(&settings, "size=1G", NULL), 0);
    CU_ASSERT_EQUAL(settings_text_stop(&settings, "files=3", NULL), 0);
    CU_ASSERT_EQUAL(settings_text_stop(&settings, "files=4", NULL), BT_USAGE);
    CU_ASSERT_EQUAL(settings.stop_ns, 10000000000);
    CU_ASSERT_EQUAL(settings.stop_records, 1000000);
    CU_ASSERT_EQUAL(settings.stop_bytes, 1u << 30);
    CU_ASSERT_EQUAL(settings.stop_files, 3);
    CU_ASSERT_EQUAL(settings.rotate_bytes, 0);
}

static void test_refused(void)
{
    static const struct {
        const char *text, *message;
    } rotate[] = {{"", "size=64M"},
                  {"size", "size=64M"},
                  {"=1", "every=1h"},
                  {"sizes=1M", "time=10m"},
                  {"records=1", "size=64M"},
                  {"size=", "rotate: size: "},
                  {"size=x", "rotate: size: "},
                  {"size=4095", "at least 4K"},
                  {"time=0", "at least 10ms"},
                  {"every=-1h", "rotate: every: "},
                  {"time=99999999999999999999h", "too large"}};
    static const struct {
        const char *text, *message;
    } stop[] = {{"every=1h", "files=3"},   {"files=0", "at least 1"},   {"records=0", "at least 1"},
                {"size=1", "at least 4K"}, {"time=0s", "at least 1ns"}, {"time", "records=1M"}};
    struct capture_settings settings = capture_settings_default();
    struct capture_settings before = settings;
    struct bt_error error;
    for (size_t i = 0; i < sizeof rotate / sizeof rotate[0]; i++) {
        CU_ASSERT_EQUAL(settings_text_rotate(&settings, rotate[i].text, &error), BT_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, rotate[i].message));
    }
    for (size_t i = 0; i < sizeof stop / sizeof stop[0]; i++) {
        CU_ASSERT_EQUAL(settings_text_stop(&settings, stop[i].text, &error), BT_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, stop[i].message));
    }
    CU_ASSERT_EQUAL(memcmp(&settings, &before, sizeof settings), 0);
}

static void test_disk_full(void)
{
    struct capture_settings settings = capture_settings_default();
    struct bt_error error;
    CU_ASSERT_FALSE(settings.wait_for_room);
    CU_ASSERT_EQUAL(settings_text_disk_full(&settings, "wait", &error), 0);
    CU_ASSERT(settings.wait_for_room);
    CU_ASSERT_EQUAL(settings_text_disk_full(&settings, "end", &error), 0);
    CU_ASSERT_FALSE(settings.wait_for_room);
    CU_ASSERT_EQUAL(settings_text_disk_full(&settings, "endless", &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "disk-full: \"endless\" is neither end nor wait");
    CU_ASSERT_EQUAL(settings_text_disk_full(&settings, "", &error), BT_USAGE);
}

static void test_engine(void)
{
    struct capture_settings settings = capture_settings_default();
    struct bt_error error;
    CU_ASSERT_EQUAL(settings_text_engine(&settings, "columns", &error), 0);
    CU_ASSERT_EQUAL(settings.engine, RECORD_ENGINE_COLUMNS);
    CU_ASSERT_EQUAL(settings_text_engine(&settings, "zlib", &error), 0);
    CU_ASSERT_EQUAL(settings.engine, RECORD_ENGINE_ZLIB);
    CU_ASSERT_EQUAL(settings_text_engine(&settings, "best", &error), BT_USAGE);
    CU_ASSERT_EQUAL(settings_text_engine(&settings, "lz4", &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "columns"));
    CU_ASSERT_EQUAL(settings_text_engine_level(&settings, "3", &error), 0);
    CU_ASSERT_EQUAL(settings.level, 3);
    CU_ASSERT_EQUAL(settings_text_engine_level(&settings, "10", &error), BT_USAGE);
    CU_ASSERT_EQUAL(settings_text_engine_level(&settings, "-1", &error), BT_USAGE);
    CU_ASSERT_EQUAL(settings.level, 3);
}

static void test_reconnect(void)
{
    struct session_settings settings = session_settings_default();
    struct bt_error error;
    CU_ASSERT_EQUAL(settings.reconnect_ns, SESSION_RECONNECT_FOR_EVER);
    CU_ASSERT_EQUAL(settings_text_reconnect(&settings, "never", &error), 0);
    CU_ASSERT_EQUAL(settings.reconnect_ns, 0);
    CU_ASSERT_EQUAL(settings_text_reconnect(&settings, "90s", &error), 0);
    CU_ASSERT_EQUAL(settings.reconnect_ns, INT64_C(90000000000));
    CU_ASSERT_EQUAL(settings_text_reconnect(&settings, "forever", &error), 0);
    CU_ASSERT_EQUAL(settings.reconnect_ns, SESSION_RECONNECT_FOR_EVER);
    CU_ASSERT_EQUAL(settings_text_reconnect(&settings, "soon", &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "never, forever or a time"));
}

static void test_windows(void)
{
    struct trigger_settings trigger = {.pre_records = 7};
    struct bt_error error;
    CU_ASSERT_EQUAL(settings_text_pre(&trigger, "10K", &error), 0);
    CU_ASSERT_EQUAL(settings_text_post(&trigger, "5ms", &error), 0);
    CU_ASSERT(trigger.pre_records == 10000 && trigger.pre_ticks == 0 && trigger.pre_ns == 0);
    CU_ASSERT(trigger.post_records == 0 && trigger.post_ticks == 0 && trigger.post_ns == 5000000);
    CU_ASSERT_EQUAL(settings_text_pre(&trigger, "2kticks", &error), 0);
    CU_ASSERT(trigger.pre_records == 0 && trigger.pre_ticks == 2000 && trigger.pre_ns == 0);
    CU_ASSERT_EQUAL(settings_text_post(&trigger, "0", &error), 0);
    CU_ASSERT(trigger.post_records == 0 && trigger.post_ticks == 0 && trigger.post_ns == 0);
    CU_ASSERT_EQUAL(settings_text_pre(&trigger, "many", &error), BT_USAGE);
    CU_ASSERT(trigger.pre_ticks == 2000);
}

static void test_ring(void)
{
    struct trigger_settings trigger = {.ring_bytes = 7};
    struct bt_error error;
    CU_ASSERT_EQUAL(settings_text_ring(&trigger, "0", &error), BT_USAGE);
    CU_ASSERT_EQUAL(settings_text_ring(&trigger, "4095", &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "at least 4K"));
    CU_ASSERT_EQUAL(settings_text_ring(&trigger, "much", &error), BT_USAGE);
    CU_ASSERT_EQUAL(trigger.ring_bytes, 7);
    CU_ASSERT_EQUAL(settings_text_ring(&trigger, "4K", &error), 0);
    CU_ASSERT_EQUAL(trigger.ring_bytes, 4096);
}

static const struct test_case cases[] = {{"rotation rules", test_rotate},
                                         {"stop rules", test_stop},
                                         {"refused rules", test_refused},
                                         {"a full disk", test_disk_full},
                                         {"engine and level", test_engine},
                                         {"reconnecting", test_reconnect},
                                         {"around a match", test_windows},
                                         {"memory for records before a match", test_ring},
                                         {NULL, NULL}};
TEST_SUITE(settings_text, cases)
