#include "driver/boards_watch.h"

#include "formats/base/clock.h"

#include <libusb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

/* libusb learns of devices from udevd. Without udevd a context never sees devices that are plugged
 * in after it was created; a new context does. */
#define RENEW_MS 1000

/* A device that is plugged in. It gets a new address each time. */
struct plugged {
    uint8_t bus, address;
    uint16_t vid, pid;
    bool open; /* this process may open it; udevd sets permissions after the node appears */
};

struct plugged_list {
    struct plugged *devices;
    size_t count;
};

struct boards_watch {
    pthread_mutex_t mutex; /* guards context and woken */
    pthread_cond_t changed;
    libusb_context *context; /* NULL: USB cannot be used */
    bool woken;

    /* Used by the waiting thread only. */
    struct plugged_list known;
    bool arrived; /* a device arrived and is not reported yet */
    int64_t renew_ms;
};

static void look_at(struct plugged *plugged, libusb_device *usb)
{
    struct libusb_device_descriptor descriptor = {0};
    char node[40];
    (void)libusb_get_device_descriptor(usb, &descriptor);
    *plugged = (struct plugged){.bus = libusb_get_bus_number(usb),
                                .address = libusb_get_device_address(usb),
                                .vid = descriptor.idVendor,
                                .pid = descriptor.idProduct};
    snprintf(node, sizeof node, "/dev/bus/usb/%03u/%03u", plugged->bus, plugged->address);
    plugged->open = access(node, R_OK | W_OK) == 0;
}

/* Called by libusb's event handling in boards_watch_wait. */
static int LIBUSB_CALL hear(libusb_context *context, libusb_device *device,
                            libusb_hotplug_event event, void *user)
{
    struct boards_watch *watch = user;
    struct plugged_list *known = &watch->known;
    struct plugged *grown = realloc(known->devices, (known->count + 2) * sizeof *grown);
    (void)context;
    (void)event;
    if (grown) {
        known->devices = grown;
        look_at(&grown[known->count++], device); /* known to the next comparison */
    }
    watch->arrived = true;
    return 0;
}

static struct plugged_list list_devices(libusb_context *context)
{
    struct plugged_list list = {NULL, 0};
    libusb_device **devices;
    ssize_t count = context ? libusb_get_device_list(context, &devices) : -1;
    if (count < 0)
        return list;
    list.devices = calloc((size_t)count + 1, sizeof *list.devices);
    for (; list.devices && list.count < (size_t)count; list.count++)
        look_at(&list.devices[list.count], devices[list.count]);
    libusb_free_device_list(devices, 1);
    return list;
}

/* Whether the device was already plugged in, and as accessible as now. */
static bool is_known(const struct plugged_list *known, const struct plugged *plugged)
{
    for (size_t i = 0; i < known->count; i++) {
        const struct plugged *before = &known->devices[i];
        if (before->bus == plugged->bus && before->address == plugged->address &&
            before->vid == plugged->vid && before->pid == plugged->pid)
            return before->open || !plugged->open;
    }
    return false;
}

/* Creates the context again and compares its devices with the known ones. */
static void renew(struct boards_watch *watch)
{
    pthread_mutex_lock(&watch->mutex);
    libusb_context *context = watch->context;
    watch->context = NULL;
    pthread_mutex_unlock(&watch->mutex);
    if (context)
        libusb_exit(context);
    if (libusb_init(&context) < 0)
        context = NULL;
    /* without hot-plug support the comparison of lists finds new devices */
    if (context)
        (void)libusb_hotplug_register_callback(context, LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED, 0,
                                               LIBUSB_HOTPLUG_MATCH_ANY, LIBUSB_HOTPLUG_MATCH_ANY,
                                               LIBUSB_HOTPLUG_MATCH_ANY, hear, watch, NULL);
    struct plugged_list now = list_devices(context);
    for (size_t i = 0; i < now.count; i++)
        watch->arrived = watch->arrived || !is_known(&watch->known, &now.devices[i]);
    free(watch->known.devices);
    watch->known = now;
    watch->renew_ms = clock_monotonic_ms() + RENEW_MS;
    pthread_mutex_lock(&watch->mutex);
    watch->context = context;
    pthread_mutex_unlock(&watch->mutex);
}

/* Waits until until_ms or until woken. */
static void wait_without_usb(struct boards_watch *watch, int64_t until_ms)
{
    struct timespec until = {(time_t)(until_ms / 1000), (long)(until_ms % 1000) * 1000000};
    pthread_mutex_lock(&watch->mutex);
    if (!watch->woken)
        pthread_cond_timedwait(&watch->changed, &watch->mutex, &until);
    pthread_mutex_unlock(&watch->mutex);
}

static void wait_for_events(struct boards_watch *watch, int64_t until_ms)
{
    int64_t left_ms = until_ms - clock_monotonic_ms();
    left_ms = left_ms > 0 ? left_ms : 0;
    struct timeval time = {(time_t)(left_ms / 1000), (suseconds_t)(left_ms % 1000) * 1000};
    if (libusb_handle_events_timeout_completed(watch->context, &time, NULL) < 0)
        wait_without_usb(watch, until_ms); /* avoids a busy loop */
}

static bool is_woken(struct boards_watch *watch)
{
    pthread_mutex_lock(&watch->mutex);
    bool woken = watch->woken;
    pthread_mutex_unlock(&watch->mutex);
    return woken;
}

/* Reports an arrival once, and consumes a wake. */
static bool take_news(struct boards_watch *watch)
{
    bool arrived = watch->arrived;
    watch->arrived = false;
    if (!arrived) {
        pthread_mutex_lock(&watch->mutex);
        watch->woken = false;
        pthread_mutex_unlock(&watch->mutex);
    }
    return arrived;
}

bool boards_watch_wait(struct boards_watch *watch, int timeout_ms)
{
    int64_t deadline_ms = timeout_ms < 0 ? INT64_MAX : clock_monotonic_ms() + timeout_ms;
    bool over = false;
    while (!over) {
        int64_t now_ms = clock_monotonic_ms();
        if (now_ms >= watch->renew_ms)
            renew(watch);
        if (watch->arrived || is_woken(watch))
            break;
        over = now_ms >= deadline_ms; /* one last check, without waiting */
        int64_t until_ms = deadline_ms < watch->renew_ms ? deadline_ms : watch->renew_ms;
        if (watch->context)
            wait_for_events(watch, until_ms);
        else
            wait_without_usb(watch, until_ms);
    }
    return take_news(watch);
}

void boards_watch_wake(struct boards_watch *watch)
{
    pthread_mutex_lock(&watch->mutex);
    watch->woken = true;
    if (watch->context)
        libusb_interrupt_event_handler(watch->context);
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
}

struct boards_watch *boards_watch_new(void)
{
    pthread_condattr_t attributes;
    struct boards_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&watch->mutex, NULL);
    renew(watch);
    watch->arrived = false;
    return watch;
}

void boards_watch_free(struct boards_watch *watch)
{
    if (!watch)
        return;
    if (watch->context)
        libusb_exit(watch->context);
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->mutex);
    free(watch->known.devices);
    free(watch);
}
