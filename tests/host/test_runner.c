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

struct pc_map_entry {
    char folder[FOLDER_PATH_BYTES];
    struct config_capture settings;
    struct journal journal;
    int wake;
    struct runner *runner;
};

static void place_open(struct pc_map_entry *place, const char *board)
{
    struct bt_error error = {0};
    memset(place, 0, sizeof *place);
    folder_make(place->folder);
    strcpy(place->settings.name, "test");
    strcpy(place->settings.board, board);
    place->settings.session = session_settings_default();
    place->settings.settings = capture_settings_default();
    snprintf(place->settings.settings.prefix, sizeof place->settings.settings.prefix, "%s/t",
             place->folder);
    place->settings.retry_ns = INT64_C(600000000000);
    place->journal = (struct journal){.lines = NULL};
    place->wake = eventfd(0, EFD_NONBLOCK);
    place->runner = runner_new(&place->settings, &place->journal, place->wake, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(place->runner);
}

static void place_close(struct pc_map_entry *place)
{
    runner_free(place->runner);
    close(place->wake);
    folder_remove(place->folder);
}

/* Whether the runner comes to a state within 20 seconds. */
static bool comes_to(struct pc_map_entry *place, enum runner_state state)
{
    for (int i = 0; i < 20000; i++) {
        if (runner_state(place->runner) == state)
            return true;
        usleep(1000);
    }
    printf("\n    state is %s, not %s\n", runner_state_name(runner_state(place->runner)),
           runner_state_name(state));
    return false;
}

/* Stopping and starting a capture that waits for its board triggers an attempt. */
static void test_restart_while_waiting(void)
{
    struct pc_map_entry place;
    place_open(&place, "ftdi:vid=fffe,pid=fffe");
    runner_start(place.runner);
    for (int i = 0; i < 20; i++) {
        CU_ASSERT_TRUE_FATAL(comes_to(&place, RUNNER_WAITING));
        runner_stop(place.runner);
        runner_start(place.runner);
    }
    CU_ASSERT_TRUE(comes_to(&place, RUNNER_WAITING));
    runner_stop(place.runner);
    CU_ASSERT_TRUE(comes_to(&place, RUNNER_STOPPED));
    place_close(&place);
}

/* A start that is cancelled at once. */
static void test_start_and_stop(void)
{
    struct pc_map_entry place;
    place_open(&place, "ftdi:vid=fffe,pid=fffe");
    for (int i = 0; i < 200; i++) {
        runner_start(place.runner);
        runner_stop(place.runner);
        CU_ASSERT_TRUE_FATAL(comes_to(&place, RUNNER_STOPPED));
    }
    place_close(&place);
}

/* The board answers only after the stop: its capture ends as one that was stopped. */
static void test_stop_while_opening(void)
{
    struct pc_map_entry place;
    struct runner_report *report = malloc(sizeof *report);
    place_open(&place, "virtual:smp=1");
    runner_start(place.runner);
    usleep(5000); /* a session waits 20 ms for a quiet line before it asks anything */
    runner_stop(place.runner);
    CU_ASSERT_TRUE(comes_to(&place, RUNNER_STOPPED));
    runner_report(place.runner, report);
    CU_ASSERT_EQUAL(report->error.code, 0);
    CU_ASSERT_TRUE(report->starts <= 1);
    if (report->starts == 1) {
        CU_ASSERT_EQUAL(report->status.end, CAPTURE_END_STOPPED);
        CU_ASSERT_FALSE(report->status.failed);
    }
    place_close(&place);
    free(report);
}

/* Whether the runner has tried so often, within 20 seconds, and waits again. */
static bool tried(struct pc_map_entry *place, unsigned attempts)
{
    for (int i = 0; i < 20000; i++) {
        struct fake_usb *usb = fake_usb_take();
        bool reached = usb->opens == attempts;
        fake_usb_give();
        if (reached)
            return comes_to(place, RUNNER_WAITING);
        usleep(1000);
    }
    return false;
}

/* One device that is no board, but that an attempt has to look at. */
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
    struct pc_map_entry place;
    struct bt_error error = {0};
    fake_usb_reset();
    plug(1);
    place_open(&place, "ftdi:vid=1209,pid=0001");
    runner_start(place.runner);
    CU_ASSERT_TRUE(tried(&place, 1));
    runner_poke(place.runner);
    CU_ASSERT_TRUE(tried(&place, 2));
    struct hotplug *hotplug = hotplug_new(&place.runner, 1, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(hotplug);
    plug(2);
    CU_ASSERT_TRUE(tried(&place, 4)); /* it now looks at two */
    hotplug_free(hotplug);
    runner_stop(place.runner);
    runner_poke(place.runner); /* has no effect */
    CU_ASSERT_TRUE(comes_to(&place, RUNNER_STOPPED));
    place_close(&place);
    fake_usb_reset();
}

/* Whether a poke has the runner, which waits, do anything within 200 ms. */
static bool is_roused(struct pc_map_entry *place)
{
    uint64_t changes;
    while (read(place->wake, &changes, sizeof changes) > 0)
        continue;
    runner_poke(place->runner);
    usleep(200000);
    return read(place->wake, &changes, sizeof changes) > 0;
}

/* A new device does not wake a capture that waits for disk space. */
static void test_plugged_in_while_full(void)
{
    struct pc_map_entry place;
    struct runner_report *report = malloc(sizeof *report);
    place_open(&place, "virtual:smp=1");
    full_disk_begin(0);
    runner_start(place.runner);
    CU_ASSERT_TRUE(comes_to(&place, RUNNER_WAITING));
    runner_report(place.runner, report);
    CU_ASSERT_EQUAL(report->error.code, BT_FULL);
    CU_ASSERT_FALSE(is_roused(&place));
    full_disk_end();
    place_close(&place);
    free(report);
}

static const struct test_case cases[] = {
    {"restarted while waiting", test_restart_while_waiting},
    {"started and stopped at once", test_start_and_stop},
    {"stopped while opening", test_stop_while_opening},
    {"something is plugged in", test_plugged_in},
    {"plugged in, but the disk is full", test_plugged_in_while_full},
    {NULL, NULL}};
TEST_SUITE(runner, cases)
