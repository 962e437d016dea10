#define _DEFAULT_SOURCE /* usleep */
#include "host/hotplug.h"
#include "tests/suites.h"
#include "tests/support/fake_usb.h"
#include "tests/support/folder.h"
#include "tests/support/full_disk.h"

#include <libusb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct runner_fixture {
    char folder[FOLDER_PATH_BYTES];
    struct config_capture settings;
    struct journal journal;
    int wake;
    struct runner *runner;
};

static void fixture_open(struct runner_fixture *fixture, const char *board)
{
    struct bt_error error = {0};
    memset(fixture, 0, sizeof *fixture);
    folder_make(fixture->folder);
    strcpy(fixture->settings.name, "test");
    strcpy(fixture->settings.board, board);
    fixture->settings.session = session_settings_default();
    fixture->settings.settings = capture_settings_default();
    snprintf(fixture->settings.settings.prefix, sizeof fixture->settings.settings.prefix, "%s/t",
             fixture->folder);
    fixture->settings.retry_ns = INT64_C(600000000000);
    fixture->journal = (struct journal){.lines = NULL};
    fixture->wake = eventfd(0, EFD_NONBLOCK);
    fixture->runner =
        runner_new(&fixture->settings, &fixture->journal, NULL, fixture->wake, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fixture->runner);
}

static void fixture_close(struct runner_fixture *fixture)
{
    runner_free(fixture->runner);
    close(fixture->wake);
    folder_remove(fixture->folder);
}

/* Whether the runner reaches a state within 20 seconds. */
static bool comes_to(struct runner_fixture *fixture, enum runner_state state)
{
    for (int i = 0; i < 20000; i++) {
        if (runner_state(fixture->runner) == state)
            return true;
        usleep(1000);
    }
    printf("\n    state is %s, not %s\n", runner_state_name(runner_state(fixture->runner)),
           runner_state_name(state));
    return false;
}

/* Stopping and starting a capture that waits for its board triggers an attempt. */
static void test_restart_while_waiting(void)
{
    struct runner_fixture fixture;
    fixture_open(&fixture, "ftdi:vid=fffe,pid=fffe");
    runner_start(fixture.runner);
    for (int i = 0; i < 20; i++) {
        CU_ASSERT_TRUE_FATAL(comes_to(&fixture, RUNNER_WAITING));
        runner_stop(fixture.runner);
        runner_start(fixture.runner);
    }
    CU_ASSERT_TRUE(comes_to(&fixture, RUNNER_WAITING));
    runner_stop(fixture.runner);
    CU_ASSERT_TRUE(comes_to(&fixture, RUNNER_STOPPED));
    fixture_close(&fixture);
}

/* A start that is cancelled at once. */
static void test_start_and_stop(void)
{
    struct runner_fixture fixture;
    fixture_open(&fixture, "ftdi:vid=fffe,pid=fffe");
    for (int i = 0; i < 200; i++) {
        runner_start(fixture.runner);
        runner_stop(fixture.runner);
        CU_ASSERT_TRUE_FATAL(comes_to(&fixture, RUNNER_STOPPED));
    }
    fixture_close(&fixture);
}

/* The board answers only after the stop: its capture ends as a stopped one. */
static void test_stop_while_opening(void)
{
    struct runner_fixture fixture;
    struct runner_report *report = malloc(sizeof *report);
    fixture_open(&fixture, "virtual:smp=1");
    runner_start(fixture.runner);
    usleep(5000); /* a session waits for 20 ms without data before its first command */
    runner_stop(fixture.runner);
    CU_ASSERT_TRUE(comes_to(&fixture, RUNNER_STOPPED));
    runner_report(fixture.runner, report);
    CU_ASSERT_EQUAL(report->error.code, 0);
    CU_ASSERT_TRUE(report->starts <= 1);
    if (report->starts == 1) {
        CU_ASSERT_EQUAL(report->status.end, CAPTURE_END_STOPPED);
        CU_ASSERT_FALSE(report->status.failed);
    }
    fixture_close(&fixture);
    free(report);
}

/* Whether the runner makes this number of attempts within 20 seconds, and waits again. */
static bool tried(struct runner_fixture *fixture, unsigned attempts)
{
    for (int i = 0; i < 20000; i++) {
        struct fake_usb *usb = fake_usb_take();
        bool reached = usb->opens == attempts;
        fake_usb_give();
        if (reached)
            return comes_to(fixture, RUNNER_WAITING);
        usleep(1000);
    }
    return false;
}

/* A device that is not a board, but that each attempt examines. */
static void plug(size_t count)
{
    struct fake_usb *usb = fake_usb_take();
    for (size_t i = 0; i < count; i++)
        usb->devices[i] = (struct fake_usb_device){
            .vid = 0x1209, .pid = 0x0001, .open_error = LIBUSB_ERROR_ACCESS};
    usb->device_count = count;
    fake_usb_give();
}

/* A poke or a new device triggers an attempt. The next regular attempt is minutes away. */
static void test_plugged_in(void)
{
    struct runner_fixture fixture;
    struct bt_error error = {0};
    fake_usb_reset();
    plug(1);
    fixture_open(&fixture, "ftdi:vid=1209,pid=0001");
    runner_start(fixture.runner);
    CU_ASSERT_TRUE(tried(&fixture, 1));
    runner_poke(fixture.runner);
    CU_ASSERT_TRUE(tried(&fixture, 2));
    struct hotplug *hotplug = hotplug_new(&fixture.runner, 1, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(hotplug);
    plug(2);
    CU_ASSERT_TRUE(tried(&fixture, 4)); /* two devices now */
    hotplug_free(hotplug);
    runner_stop(fixture.runner);
    runner_poke(fixture.runner); /* has no effect */
    CU_ASSERT_TRUE(comes_to(&fixture, RUNNER_STOPPED));
    fixture_close(&fixture);
    fake_usb_reset();
}

/* Whether a poke makes a waiting runner act within 200 ms. */
static bool is_roused(struct runner_fixture *fixture)
{
    uint64_t changes;
    while (read(fixture->wake, &changes, sizeof changes) > 0)
        continue;
    runner_poke(fixture->runner);
    usleep(200000);
    return read(fixture->wake, &changes, sizeof changes) > 0;
}

/* A new device does not wake a capture that waits for disk space. */
static void test_plugged_in_while_full(void)
{
    struct runner_fixture fixture;
    struct runner_report *report = malloc(sizeof *report);
    fixture_open(&fixture, "virtual:smp=1");
    full_disk_begin(0);
    runner_start(fixture.runner);
    CU_ASSERT_TRUE(comes_to(&fixture, RUNNER_WAITING));
    runner_report(fixture.runner, report);
    CU_ASSERT_EQUAL(report->error.code, BT_FULL);
    CU_ASSERT_FALSE(is_roused(&fixture));
    full_disk_end();
    fixture_close(&fixture);
    free(report);
}

static const struct test_case cases[] = {
    {"restarted while waiting", test_restart_while_waiting},
    {"started and stopped at once", test_start_and_stop},
    {"stopped while opening", test_stop_while_opening},
    {"a device is plugged in", test_plugged_in},
    {"plugged in, but the disk is full", test_plugged_in_while_full},
    {NULL, NULL}};
TEST_SUITE(runner, cases)
