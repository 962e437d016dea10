/* Watching for boards on a fake USB, with and without hot-plug events. */
#include "driver/boards_watch.h"

#include "formats/base/clock.h"
#include "tests/suites.h"
#include "tests/support/fake_usb.h"

#include <libusb.h>
#include <pthread.h>

#define LONG_MS 20000 /* never waited for, unless the test fails */

static void plug_one_more(void)
{
    struct fake_usb *usb = fake_usb_take();
    usb->devices[usb->device_count++] = (struct fake_usb_device){.vid = 0x1209, .pid = 0x0001};
    fake_usb_give();
}

/* A USB with one device from the start. */
static struct boards_watch *begin(bool no_hotplug)
{
    fake_usb_reset();
    plug_one_more();
    fake_usb_take()->no_hotplug = no_hotplug;
    fake_usb_give();
    struct boards_watch *watch = boards_watch_new();
    CU_ASSERT_PTR_NOT_NULL_FATAL(watch);
    return watch;
}

static void end(struct boards_watch *watch)
{
    boards_watch_free(watch);
    struct fake_usb *usb = fake_usb_take();
    CU_ASSERT_EQUAL(usb->inits, 0);
    CU_ASSERT_EQUAL(usb->handles, 0);
    CU_ASSERT_EQUAL(usb->misuse, 0);
    fake_usb_give();
    fake_usb_reset();
}

static void test_hot_plug(void)
{
    struct boards_watch *watch = begin(false);
    CU_ASSERT_FALSE(boards_watch_wait(watch, 0));
    CU_ASSERT_FALSE(boards_watch_wait(watch, 5));
    plug_one_more();
    CU_ASSERT_TRUE(boards_watch_wait(watch, LONG_MS));
    CU_ASSERT_FALSE(boards_watch_wait(watch, 5));
    plug_one_more();
    CU_ASSERT_TRUE(boards_watch_wait(watch, 0)); /* between two waits */
    CU_ASSERT_FALSE(boards_watch_wait(watch, 0));
    CU_ASSERT_FALSE(
        boards_watch_wait(watch, 1300)); /* and the next context's list does not repeat it */
    CU_ASSERT_TRUE(fake_usb_take()->contexts >= 2);
    fake_usb_give();
    end(watch);
}

/* Without udevd a context gets no events: only a new context sees the device. */
static void test_without_udevd(void)
{
    struct boards_watch *watch = begin(true);
    plug_one_more();
    CU_ASSERT_TRUE(boards_watch_wait(watch, LONG_MS));
    CU_ASSERT_TRUE(fake_usb_take()->contexts >= 2);
    fake_usb_give();
    CU_ASSERT_FALSE(boards_watch_wait(watch, 5));
    /* the same place, but another device */
    fake_usb_take()->devices[0].pid = 0x0002;
    fake_usb_give();
    CU_ASSERT_TRUE(boards_watch_wait(watch, LONG_MS));
    /* unplugging is not reported */
    fake_usb_take()->device_count = 1;
    fake_usb_give();
    CU_ASSERT_FALSE(boards_watch_wait(watch, 1300));
    end(watch);
}

/* A machine without USB, until it has one. */
static void test_without_usb(void)
{
    fake_usb_reset();
    fake_usb_take()->init_error = LIBUSB_ERROR_OTHER;
    fake_usb_give();
    struct boards_watch *watch = boards_watch_new();
    CU_ASSERT_PTR_NOT_NULL_FATAL(watch);
    CU_ASSERT_FALSE(boards_watch_wait(watch, 0));
    CU_ASSERT_FALSE(boards_watch_wait(watch, 20));
    boards_watch_wake(watch);
    CU_ASSERT_FALSE(boards_watch_wait(watch, LONG_MS));
    plug_one_more();
    fake_usb_take()->init_error = 0;
    fake_usb_give();
    CU_ASSERT_TRUE(boards_watch_wait(watch, LONG_MS));
    end(watch);
}

/* Failing events must not make the wait a busy loop. */
static void test_failing_events(void)
{
    struct boards_watch *watch = begin(false);
    fake_usb_take()->event_error = LIBUSB_ERROR_IO;
    fake_usb_give();
    CU_ASSERT_FALSE(boards_watch_wait(watch, 200));
    CU_ASSERT_TRUE(fake_usb_take()->waits <= 4);
    fake_usb_give();
    end(watch);
}

static void *wake_later(void *watch)
{
    const struct timespec moment = {.tv_nsec = 30000000};
    nanosleep(&moment, NULL);
    boards_watch_wake(watch);
    return NULL;
}

static void test_wake(void)
{
    struct boards_watch *watch = begin(false);
    pthread_t thread;
    boards_watch_wake(watch);
    CU_ASSERT_FALSE(boards_watch_wait(watch, -1));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, wake_later, watch), 0);
    CU_ASSERT_FALSE(boards_watch_wait(watch, -1));
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(fake_usb_take()->interrupts, 2);
    fake_usb_give();
    CU_ASSERT_FALSE(boards_watch_wait(watch, 5));
    boards_watch_wake(watch); /* is not lost while another event is pending */
    plug_one_more();
    /* nor is that event, which comes first if a new context was due */
    bool news = boards_watch_wait(watch, LONG_MS);
    CU_ASSERT_EQUAL(boards_watch_wait(watch, LONG_MS), !news);
    end(watch);
}

static const struct test_case cases[] = {
    {"hot-plug", test_hot_plug},       {"without udevd", test_without_udevd},
    {"without USB", test_without_usb}, {"events that fail", test_failing_events},
    {"waking it", test_wake},          {NULL, NULL}};
TEST_SUITE(boards_watch, cases)
