#include "tests/support/fake_usb.h"

#include <libusb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIO_SET_BITMODE 0x0b
#define SIO_READ_EEPROM 0x90

/* What libusb hides from its users. Here a device is its position in the list; a context holds the
 * number of devices that it knows, and the callback for new ones. */
struct libusb_context {
    size_t known; /* number of devices */
    libusb_hotplug_callback_fn hear;
    void *user;
};
struct libusb_device {
    struct fake_usb_device *fake;
};
struct libusb_device_handle {
    struct fake_usb_device *fake;
};

/* Precedes each transfer in memory. */
struct transfer {
    struct transfer *next;
    bool queued, cancelled;
};

static struct transfer *inside(struct libusb_transfer *public)
{
    return (struct transfer *)(void *)public - 1;
}

static struct libusb_transfer *outside(struct transfer *transfer)
{
    return (struct libusb_transfer *)(void *)(transfer + 1);
}

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct fake_usb usb;
    struct libusb_device devices[FAKE_USB_DEVICES];
    struct transfer *first; /* queued ones, the oldest first */
    uint8_t *data;          /* on the way to the host */
    size_t data_at, data_size, packet_bytes;
} fake = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct fake_usb *fake_usb_take(void)
{
    pthread_mutex_lock(&fake.mutex);
    return &fake.usb;
}

void fake_usb_give(void)
{
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.mutex);
}

void fake_usb_reset(void)
{
    fake_usb_take();
    fake.usb = (struct fake_usb){.device_count = 0};
    free(fake.data);
    fake.data = NULL;
    fake.data_at = fake.data_size = 0;
    fake_usb_give();
}

void fake_usb_send(const uint8_t *bytes, size_t size, size_t packet_bytes)
{
    fake_usb_take();
    uint8_t *grown = realloc(fake.data, fake.data_size + size);
    if (!grown)
        abort();
    memcpy(grown + fake.data_size, bytes, size);
    fake.data = grown;
    fake.data_size += size;
    fake.packet_bytes = packet_bytes;
    fake_usb_give();
}

/* --- transfers and events --- */

struct libusb_transfer *libusb_alloc_transfer(int iso_packets)
{
    (void)iso_packets;
    struct transfer *transfer = calloc(1, sizeof *transfer + sizeof(struct libusb_transfer));
    fake_usb_take()->transfers++;
    fake_usb_give();
    return transfer ? outside(transfer) : NULL;
}

void libusb_free_transfer(struct libusb_transfer *public)
{
    if (!public)
        return;
    struct transfer *transfer = inside(public);
    struct fake_usb *usb = fake_usb_take();
    usb->misuse += transfer->queued;
    usb->transfers--;
    fake_usb_give();
    free(transfer);
}

int libusb_submit_transfer(struct libusb_transfer *public)
{
    struct transfer *transfer = inside(public);
    struct fake_usb *usb = fake_usb_take();
    int result = usb->submit_error;
    if (transfer->queued)
        result = LIBUSB_ERROR_BUSY;
    else if (usb->unplugged)
        result = LIBUSB_ERROR_NO_DEVICE;
    else if (usb->queue_max && usb->queued >= usb->queue_max)
        result = LIBUSB_ERROR_NO_MEM;
    if (result == 0) {
        struct transfer **last = &fake.first;
        while (*last)
            last = &(*last)->next;
        *last = transfer;
        transfer->next = NULL;
        transfer->queued = true;
        transfer->cancelled = false;
        usb->queued++;
    }
    fake_usb_give();
    return result;
}

int libusb_cancel_transfer(struct libusb_transfer *public)
{
    struct transfer *transfer = inside(public);
    struct fake_usb *usb = fake_usb_take();
    int result = transfer->queued ? 0 : LIBUSB_ERROR_NOT_FOUND;
    usb->cancelled += transfer->queued;
    transfer->cancelled = transfer->queued;
    fake_usb_give();
    return result;
}

/* Packs bytes for one transfer as the chip does: each packet begins with its status. */
static int fill(unsigned char *out, size_t capacity)
{
    size_t size = 0;
    do {
        size_t left = fake.data_size - fake.data_at;
        size_t part = left < fake.packet_bytes - 2 ? left : fake.packet_bytes - 2;
        if (capacity - size < part + 2)
            break;
        out[size++] = 0x31;
        out[size++] = 0x60;
        memcpy(out + size, fake.data + fake.data_at, part);
        size += part;
        fake.data_at += part;
    } while (fake.data_at < fake.data_size);
    return (int)size;
}

/* Takes the finished transfer from the queue. NULL if none is finished. The lock is held. */
static struct transfer *take_done(bool waited)
{
    struct fake_usb *usb = &fake.usb;
    struct transfer **at = &fake.first;
    while (*at && !(*at)->cancelled && !usb->unplugged)
        at = &(*at)->next;
    struct transfer *done = *at;
    int status = done && done->cancelled ? LIBUSB_TRANSFER_CANCELLED : LIBUSB_TRANSFER_NO_DEVICE;
    bool data = fake.data_at < fake.data_size;
    if (!done && (data || usb->status || (waited && !usb->silent))) {
        at = &fake.first;
        done = *at;
        status = usb->status;
    }
    if (!done)
        return NULL;
    *at = done->next;
    done->queued = false;
    usb->queued--;
    struct libusb_transfer *public = outside(done);
    public->status = (enum libusb_transfer_status)status;
    public->actual_length = 0;
    if (status == LIBUSB_TRANSFER_COMPLETED && data)
    public->actual_length = fill(public->buffer, (size_t) public->length);
    else if (status == LIBUSB_TRANSFER_COMPLETED) public->actual_length =
        2; /* an idle chip's status */
    return done;
}

/* Announces the next device that the context does not know. */
static bool announce_plugged(libusb_context *context)
{
    struct fake_usb *usb = fake_usb_take();
    bool news = context && context->hear && !usb->no_hotplug && context->known < usb->device_count;
    libusb_device *device = news ? &fake.devices[context->known] : NULL;
    if (news)
        device->fake = &usb->devices[context->known++];
    fake_usb_give();
    if (news)
        context->hear(context, device, LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED, context->user);
    return news;
}

int libusb_handle_events_timeout_completed(libusb_context *context, struct timeval *time,
                                           int *completed)
{
    (void)time; /* a chip's latency is shorter */
    (void)completed;
    if (announce_plugged(context))
        return 0;
    struct fake_usb *usb = fake_usb_take();
    usb->waits++;
    while (usb->stopped > 0) {
        unsigned milliseconds = usb->stopped;
        usb->stopped = 0;
        fake_usb_give();
        nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000,
                                     .tv_nsec = milliseconds % 1000 * 1000000L},
                  NULL);
        fake_usb_take();
    }
    int error = usb->event_error;
    struct transfer *done = error ? NULL : take_done(false);
    if (!error && !done) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&fake.changed, &fake.mutex, &until);
        done = take_done(true);
    }
    pthread_mutex_unlock(&fake.mutex);
    if (done)
        outside(done)->callback(outside(done));
    return error;
}

int libusb_bulk_transfer(libusb_device_handle *handle, unsigned char endpoint, unsigned char *data,
                         int length, int *transferred, unsigned timeout_ms)
{
    (void)handle;
    (void)endpoint;
    struct fake_usb *usb = fake_usb_take();
    size_t size = (size_t)length;
    bool slow = usb->write_piece && size > usb->write_piece;
    if (slow)
        size = usb->write_piece;
    int error = usb->unplugged ? LIBUSB_ERROR_NO_DEVICE : usb->write_error;
    usb->writes++;
    usb->write_time_ms += timeout_ms;
    for (size_t i = 0; !error && i < size && usb->written_size < sizeof usb->written; i++)
        usb->written[usb->written_size++] = data[i];
    fake_usb_give();
    *transferred = error ? 0 : (int)size;
    struct timespec pause = {.tv_sec = timeout_ms / 1000,
                             .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
    if (slow || error == LIBUSB_ERROR_TIMEOUT)
        nanosleep(&pause, NULL);
    return slow && !error ? LIBUSB_ERROR_TIMEOUT : error;
}

/* --- devices --- */

int libusb_init(libusb_context **context)
{
    struct fake_usb *usb = fake_usb_take();
    int error = usb->init_error;
    *context = error ? NULL : calloc(1, sizeof **context);
    if (*context) {
        (*context)->known = usb->device_count;
        usb->inits++;
        usb->contexts++;
    }
    fake_usb_give();
    return error ? error : *context ? 0 : LIBUSB_ERROR_NO_MEM;
}

void libusb_exit(libusb_context *context)
{
    struct fake_usb *usb = fake_usb_take();
    usb->misuse += usb->handles > 0 && usb->inits == 1;
    usb->inits--;
    fake_usb_give();
    free(context);
}

int libusb_hotplug_register_callback(libusb_context *context, int events, int flags, int vid,
                                     int pid, int class, libusb_hotplug_callback_fn hear,
                                     void *user, libusb_hotplug_callback_handle *handle)
{
    (void)events;
    (void)flags;
    (void)vid;
    (void)pid;
    (void)class;
    (void)handle;
    context->hear = hear;
    context->user = user;
    return 0;
}

void libusb_interrupt_event_handler(libusb_context *context)
{
    (void)context;
    fake_usb_take()->interrupts++;
    fake_usb_give();
}

ssize_t libusb_get_device_list(libusb_context *context, libusb_device ***list)
{
    *list = calloc(FAKE_USB_DEVICES + 1, sizeof **list);
    struct fake_usb *usb = fake_usb_take();
    size_t count = usb->no_hotplug ? context->known : usb->device_count;
    for (size_t i = 0; *list && i < count; i++) {
        fake.devices[i].fake = &usb->devices[i];
        (*list)[i] = &fake.devices[i];
    }
    fake_usb_give();
    return *list ? (ssize_t)count : LIBUSB_ERROR_NO_MEM;
}

uint8_t libusb_get_bus_number(libusb_device *device)
{
    (void)device;
    return FAKE_USB_BUS;
}

uint8_t libusb_get_device_address(libusb_device *device)
{
    return (uint8_t)(device - fake.devices + 1);
}

void libusb_free_device_list(libusb_device **list, int unref)
{
    (void)unref;
    free(list);
}

libusb_device *libusb_ref_device(libusb_device *device)
{
    return device;
}

void libusb_unref_device(libusb_device *device)
{
    (void)device;
}

int libusb_get_device_speed(libusb_device *device)
{
    return device->fake->speed;
}

int libusb_get_device_descriptor(libusb_device *device, struct libusb_device_descriptor *descriptor)
{
    *descriptor = (struct libusb_device_descriptor){.idVendor = device->fake->vid,
                                                    .idProduct = device->fake->pid,
                                                    .bcdDevice = device->fake->chip,
                                                    .iManufacturer = 1,
                                                    .iProduct = 2,
                                                    .iSerialNumber = device->fake->serial ? 3 : 0,
                                                    .bNumConfigurations = 1};
    return 0;
}

int libusb_open(libusb_device *device, libusb_device_handle **handle)
{
    fake_usb_take()->opens++;
    fake_usb_give();
    if (device->fake->open_error)
        return device->fake->open_error;
    *handle = calloc(1, sizeof **handle);
    if (!*handle)
        return LIBUSB_ERROR_NO_MEM;
    (*handle)->fake = device->fake;
    fake_usb_take()->handles++;
    fake_usb_give();
    return 0;
}

void libusb_close(libusb_device_handle *handle)
{
    struct fake_usb *usb = fake_usb_take();
    usb->misuse += usb->queued > 0;
    usb->handles--;
    fake_usb_give();
    free(handle);
}

int libusb_get_string_descriptor_ascii(libusb_device_handle *handle, uint8_t index,
                                       unsigned char *out, int capacity)
{
    const char *text = index == 1   ? handle->fake->manufacturer
                       : index == 2 ? handle->fake->product
                                    : handle->fake->serial;
    size_t size = text ? strlen(text) : 0;
    size = size < (size_t)capacity ? size : (size_t)capacity;
    if (size > 0)
        memcpy(out, text, size);
    return (int)size;
}

int libusb_get_config_descriptor(libusb_device *device, uint8_t index,
                                 struct libusb_config_descriptor **config)
{
    struct parts {
        struct libusb_config_descriptor config; /* first */
        struct libusb_interface interfaces[2];
        struct libusb_interface_descriptor setting;
        struct libusb_endpoint_descriptor endpoints[2];
    } *parts = calloc(1, sizeof *parts);
    (void)index;
    if (!parts)
        return LIBUSB_ERROR_NO_MEM;
    for (int i = 0; i < 2; i++)
        parts->endpoints[i] =
            (struct libusb_endpoint_descriptor){.bEndpointAddress = i == 0 ? 0x81 : 0x02,
                                                .bmAttributes = LIBUSB_TRANSFER_TYPE_BULK,
                                                .wMaxPacketSize = device->fake->packet_bytes};
    uint8_t class = device->fake->foreign ? LIBUSB_CLASS_MASS_STORAGE : LIBUSB_CLASS_VENDOR_SPEC;
    parts->setting = (struct libusb_interface_descriptor){.bInterfaceClass = class,
                                                          .bInterfaceSubClass = 0xff,
                                                          .bInterfaceProtocol = 0xff,
                                                          .bNumEndpoints = 2,
                                                          .endpoint = parts->endpoints};
    for (int i = 0; i < 2; i++)
        parts->interfaces[i] =
            (struct libusb_interface){.altsetting = &parts->setting, .num_altsetting = 1};
    parts->config.bNumInterfaces = device->fake->chip == FAKE_USB_TWO_CHANNELS ? 2 : 1;
    parts->config.bConfigurationValue = 1;
    parts->config.interface = parts->interfaces;
    *config = &parts->config;
    return 0;
}

void libusb_free_config_descriptor(struct libusb_config_descriptor *config)
{
    free(config);
}

int libusb_get_configuration(libusb_device_handle *handle, int *configuration)
{
    (void)handle;
    *configuration = 1;
    return 0;
}

int libusb_set_auto_detach_kernel_driver(libusb_device_handle *handle, int enable)
{
    (void)handle;
    (void)enable;
    return 0;
}

int libusb_claim_interface(libusb_device_handle *handle, int interface)
{
    (void)interface;
    return handle->fake->claim_error;
}

int libusb_release_interface(libusb_device_handle *handle, int interface)
{
    (void)handle;
    (void)interface;
    return 0;
}

int libusb_control_transfer(libusb_device_handle *handle, uint8_t type, uint8_t request,
                            uint16_t value, uint16_t index, unsigned char *data, uint16_t length,
                            unsigned timeout_ms)
{
    (void)type;
    (void)index;
    (void)timeout_ms;
    const struct fake_usb_device *device = handle->fake;
    if (device->refuses && device->refused == request &&
        (!device->refused_value || device->refused_value == value))
        return LIBUSB_ERROR_PIPE;
    struct fake_usb *usb = fake_usb_take();
    if (request == SIO_SET_BITMODE)
        usb->mode = value;
    fake_usb_give();
    if (request == SIO_READ_EEPROM && length >= 2) {
        data[0] = (unsigned char)device->eeprom;
        data[1] = (unsigned char)(device->eeprom >> 8);
    }
    return length;
}
