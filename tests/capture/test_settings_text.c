/* Settings as users write them; those of rotate, stop and queue are tested where they are used. */
#include "capture/settings_text.h"
#include "tests/suites.h"

#include <string.h>

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

static const struct test_case cases[] = {
    {"a full disk", test_disk_full}, {"reconnecting", test_reconnect}, {NULL, NULL}};
TEST_SUITE(settings_text, cases)
