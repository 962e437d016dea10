#include "tests/lab/ftdi_chip.h"

#include "formats/base/bytes.h"

#include <stdlib.h>
#include <string.h>

#define STATUS_BYTES   2u
#define FIFO_FT232H    1024u
#define FIFO_FT2232H   4096u
#define EEPROM_WORDS   128u
#define CHANNELS       2u
#define LATENCY_MS     16u
#define MODEM_STATUS   0x32u /* as an idle FT232H answers: CTS, DSR */
#define LINE_STATUS    0x60u /* transmitter empty */
#define MODE_RESET     0x00u
#define MODE_SYNC_FIFO 0x40u
#define MILLISECOND_NS 1000000

#define VENDOR        0x0403u
#define PRODUCT_232H  0x6014u
#define PRODUCT_2232H 0x6010u
#define RELEASE_232H  0x0900u
#define RELEASE_2232H 0x0700u

/* bRequest */
enum {
    STANDARD_GET_STATUS = 0,
    STANDARD_CLEAR_FEATURE = 1,
    STANDARD_SET_FEATURE = 3,
    STANDARD_GET_DESCRIPTOR = 6,
    SIO_RESET = 0,
    SIO_MODEM_CONTROL = 1,
    SIO_FLOW_CONTROL = 2,
    SIO_BAUD = 3,
    SIO_DATA = 4,
    SIO_MODEM_STATUS = 5,
    SIO_EVENT_CHARACTER = 6,
    SIO_ERROR_CHARACTER = 7,
    SIO_SET_LATENCY = 9,
    SIO_GET_LATENCY = 10,
    SIO_BIT_MODE = 11,
    SIO_PINS = 12,
    SIO_EEPROM_READ = 0x90
};

/* wValue of SIO_RESET; the directions are the chip's. */
enum { RESET_ALL = 0, RESET_FROM_HOST = 1, RESET_TO_HOST = 2 };

enum { DESCRIPTOR_DEVICE = 1, DESCRIPTOR_CONFIGURATION, DESCRIPTOR_STRING };
enum { STRING_LANGUAGES, STRING_MANUFACTURER, STRING_PRODUCT, STRING_SERIAL };

/* A ring of bytes. */
struct fifo {
    uint8_t bytes[FIFO_FT2232H];
    size_t capacity, first, count;
};

struct channel {
    struct fifo to_host, from_host;
    uint8_t mode;
    unsigned latency_ms;
    int64_t sent_ns; /* when the last packet left */
};

struct ftdi_chip {
    struct ftdi_chip_settings settings;
    struct channel channels[CHANNELS];
    unsigned opened;
    uint16_t eeprom[EEPROM_WORDS];
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t fifo_put(struct fifo *fifo, const uint8_t *bytes, size_t size)
{
    size = smaller(size, fifo->capacity - fifo->count);
    size_t at = (fifo->first + fifo->count) % fifo->capacity;
    size_t straight = smaller(size, fifo->capacity - at);
    memcpy(fifo->bytes + at, bytes, straight);
    memcpy(fifo->bytes, bytes + straight, size - straight);
    fifo->count += size;
    return size;
}

static size_t fifo_get(struct fifo *fifo, uint8_t *bytes, size_t capacity)
{
    size_t size = smaller(capacity, fifo->count);
    size_t straight = smaller(size, fifo->capacity - fifo->first);
    memcpy(bytes, fifo->bytes + fifo->first, straight);
    memcpy(bytes + straight, fifo->bytes, size - straight);
    fifo->first = (fifo->first + size) % fifo->capacity;
    fifo->count -= size;
    return size;
}

/* --- EEPROM and power ------------------------------------------------------------------------- */

static bool two_channels(const struct ftdi_chip *chip)
{
    return chip->settings.type == FTDI_CHIP_FT2232H;
}

static uint16_t product(const struct ftdi_chip *chip)
{
    return two_channels(chip) ? PRODUCT_2232H : PRODUCT_232H;
}

static uint16_t release(const struct ftdi_chip *chip)
{
    return two_channels(chip) ? RELEASE_2232H : RELEASE_232H;
}

/* Fills in the words that are read, and the checksum of all. */
static void write_eeprom(struct ftdi_chip *chip)
{
    uint16_t *words = chip->eeprom;
    if (chip->settings.eeprom == FTDI_CHIP_BLANK) {
        memset(words, 0xff, sizeof chip->eeprom);
        return;
    }
    memset(words, 0, sizeof chip->eeprom);
    if (chip->settings.eeprom == FTDI_CHIP_FIFO)
        words[0] = two_channels(chip) ? 0x0101 : 0x0001;
    words[1] = VENDOR;
    words[2] = product(chip);
    words[3] = release(chip);
    words[4] = 0xfac0; /* self-powered, 500 mA */
    uint16_t checksum = 0xaaaa;
    for (unsigned i = 0; i < EEPROM_WORDS - 1; i++) {
        checksum ^= words[i];
        checksum = (uint16_t)(checksum << 1 | checksum >> 15);
    }
    words[EEPROM_WORDS - 1] = checksum;
}

void ftdi_chip_power_on(struct ftdi_chip *chip, const struct ftdi_chip_settings *settings)
{
    struct ftdi_chip_settings copy = *settings; /* may be the chip's own */
    memset(chip, 0, sizeof *chip);
    chip->settings = copy;
    write_eeprom(chip);
    for (unsigned i = 0; i < CHANNELS; i++) {
        struct channel *channel = &chip->channels[i];
        channel->to_host.capacity = channel->from_host.capacity =
            two_channels(chip) ? FIFO_FT2232H : FIFO_FT232H;
        channel->latency_ms = LATENCY_MS;
    }
}

struct ftdi_chip *ftdi_chip_new(const struct ftdi_chip_settings *settings)
{
    struct ftdi_chip *chip = malloc(sizeof *chip);
    if (chip)
        ftdi_chip_power_on(chip, settings);
    return chip;
}

void ftdi_chip_free(struct ftdi_chip *chip)
{
    free(chip);
}

const struct ftdi_chip_settings *ftdi_chip_settings(const struct ftdi_chip *chip)
{
    return &chip->settings;
}

size_t ftdi_chip_packet_bytes(const struct ftdi_chip *chip)
{
    return chip->settings.full_speed ? 64 : 512;
}

unsigned ftdi_chip_opened(const struct ftdi_chip *chip)
{
    return chip->opened;
}

unsigned ftdi_chip_latency(const struct ftdi_chip *chip)
{
    return chip->channels[0].latency_ms;
}

/* --- descriptors -------------------------------------------------------------------------------
 */

static int device_descriptor(const struct ftdi_chip *chip, uint8_t *data)
{
    static const uint8_t fixed[18] = {18,
                                      DESCRIPTOR_DEVICE,
                                      0,
                                      2, /* USB 2.0 */
                                      0,
                                      0,
                                      0,
                                      64,
                                      0,
                                      0,
                                      0,
                                      0,
                                      0,
                                      0,
                                      STRING_MANUFACTURER,
                                      STRING_PRODUCT,
                                      STRING_SERIAL,
                                      1};
    memcpy(data, fixed, sizeof fixed);
    bytes_put16(data + 8, VENDOR);
    bytes_put16(data + 10, product(chip));
    bytes_put16(data + 12, release(chip));
    return sizeof fixed;
}

static uint8_t *put_endpoint(uint8_t *at, uint8_t address, size_t packet_bytes)
{
    const uint8_t endpoint[7] = {7, 5, address, 2 /* bulk */, 0, 0, 0};
    memcpy(at, endpoint, sizeof endpoint);
    bytes_put16(at + 4, (uint16_t)packet_bytes);
    return at + sizeof endpoint;
}

static int configuration_descriptor(const struct ftdi_chip *chip, uint8_t *data)
{
    const unsigned interfaces = two_channels(chip) ? 2 : 1;
    const uint8_t configuration[9] = {9, DESCRIPTOR_CONFIGURATION, 0, 0, (uint8_t)interfaces, 1,
                                      0, 0xc0 /* self-powered */,  50};
    uint8_t *at = data + sizeof configuration;
    memcpy(data, configuration, sizeof configuration);
    for (unsigned i = 0; i < interfaces; i++) {
        const uint8_t interface[9] = {9, 4, (uint8_t)i, 0, 2, 0xff, 0xff, 0xff, STRING_PRODUCT};
        memcpy(at, interface, sizeof interface);
        at = put_endpoint(at + sizeof interface, (uint8_t)(0x81 + 2 * i),
                          ftdi_chip_packet_bytes(chip));
        at = put_endpoint(at, (uint8_t)(0x02 + 2 * i), ftdi_chip_packet_bytes(chip));
    }
    bytes_put16(data + 2, (uint16_t)(at - data));
    return (int)(at - data);
}

static int string_descriptor(const struct ftdi_chip *chip, unsigned number, uint8_t *data)
{
    static const char *const products[] = {"Single RS232-HS", "Dual RS232-HS"};
    const char *text;
    switch (number) {
    case STRING_LANGUAGES:
        memcpy(data, (const uint8_t[]){4, DESCRIPTOR_STRING, 0x09, 0x04}, 4);
        return 4;
    case STRING_MANUFACTURER:
        text = "FTDI";
        break;
    case STRING_PRODUCT:
        text = products[two_channels(chip)];
        break;
    case STRING_SERIAL:
        text = chip->settings.serial;
        break;
    default:
        return -1;
    }
    size_t length = strlen(text);
    data[0] = (uint8_t)(2 + 2 * length);
    data[1] = DESCRIPTOR_STRING;
    for (size_t i = 0; i < length; i++)
        bytes_put16(data + 2 + 2 * i, (uint8_t)text[i]);
    return data[0];
}

static int standard_request(const struct ftdi_chip *chip, const struct ftdi_chip_request *request,
                            uint8_t *data)
{
    if (request->request == STANDARD_CLEAR_FEATURE || request->request == STANDARD_SET_FEATURE)
        return 0;
    if (request->request == STANDARD_GET_STATUS) {
        memset(data, 0, 2);
        data[0] = (request->type & 0x1f) == 0; /* the device is self-powered */
        return 2;
    }
    if (request->request != STANDARD_GET_DESCRIPTOR)
        return -1;
    switch (request->value >> 8) {
    case DESCRIPTOR_DEVICE:
        return device_descriptor(chip, data);
    case DESCRIPTOR_CONFIGURATION:
        return configuration_descriptor(chip, data);
    case DESCRIPTOR_STRING:
        return string_descriptor(chip, request->value & 0xff, data);
    default:
        return -1;
    }
}

/* --- vendor requests ----------------------------------------------------------------------------
 */

static void reset(struct channel *channel, unsigned what)
{
    if (what == RESET_ALL || what == RESET_FROM_HOST)
        channel->from_host.count = 0;
    if (what == RESET_ALL || what == RESET_TO_HOST)
        channel->to_host.count = 0;
}

/* Only channel A has a synchronous FIFO, if the EEPROM selects 245 FIFO. */
static void set_mode(struct ftdi_chip *chip, struct channel *channel, uint8_t mode)
{
    bool possible = channel == &chip->channels[0] && chip->settings.eeprom == FTDI_CHIP_FIFO;
    if (mode == MODE_SYNC_FIFO && !possible)
        return;
    channel->mode = mode;
    if (mode == MODE_SYNC_FIFO)
        chip->opened++;
}

static int vendor_in(const struct ftdi_chip *chip, const struct ftdi_chip_request *request,
                     const struct channel *channel, uint8_t *data)
{
    switch (request->request) {
    case SIO_MODEM_STATUS:
        data[0] = MODEM_STATUS;
        data[1] = LINE_STATUS;
        return 2;
    case SIO_GET_LATENCY:
        data[0] = (uint8_t)channel->latency_ms;
        return 1;
    case SIO_PINS:
        data[0] = 0;
        return 1;
    case SIO_EEPROM_READ:
        if (request->index >= EEPROM_WORDS)
            return -1;
        bytes_put16(data, chip->eeprom[request->index]);
        return 2;
    default:
        return -1;
    }
}

static int vendor_out(struct ftdi_chip *chip, const struct ftdi_chip_request *request,
                      struct channel *channel)
{
    switch (request->request) {
    case SIO_RESET:
        reset(channel, request->value);
        return 0;
    case SIO_SET_LATENCY:
        if ((request->value & 0xff) == 0)
            return -1;
        channel->latency_ms = request->value & 0xff;
        return 0;
    case SIO_BIT_MODE:
        set_mode(chip, channel, (uint8_t)(request->value >> 8));
        return 0;
    case SIO_MODEM_CONTROL:
    case SIO_FLOW_CONTROL:
    case SIO_BAUD:
    case SIO_DATA:
    case SIO_EVENT_CHARACTER:
    case SIO_ERROR_CHARACTER:
        return 0; /* not a FIFO's request */
    default:
        return -1;
    }
}

int ftdi_chip_control(struct ftdi_chip *chip, const struct ftdi_chip_request *request,
                      uint8_t data[512])
{
    int size = -1;
    /* the low byte of the index names the channel: 0 or 1 for A, 2 for B */
    struct channel *channel = &chip->channels[(request->index & 0xff) == 2 && two_channels(chip)];
    switch (request->type & 0xe0) {
    case 0x80:
    case 0x00:
        size = standard_request(chip, request, data);
        break;
    case 0xc0:
        /* the EEPROM's index is a word, not a channel */
        size = vendor_in(chip, request, channel, data);
        break;
    case 0x40:
        size = vendor_out(chip, request, channel);
        break;
    default:
        break;
    }
    return size > request->length ? request->length : size;
}

/* --- bulk ---------------------------------------------------------------------------------------
 */

static struct channel *channel_of(struct ftdi_chip *chip, uint8_t endpoint)
{
    unsigned number = (endpoint & 0x0fu) > 2;
    return number && !two_channels(chip) ? NULL : &chip->channels[number];
}

int64_t ftdi_chip_due_ns(const struct ftdi_chip *chip, uint8_t endpoint)
{
    const struct channel *channel = &chip->channels[(endpoint & 0x0fu) > 2];
    return channel->sent_ns + (int64_t)channel->latency_ms * MILLISECOND_NS;
}

size_t ftdi_chip_in(struct ftdi_chip *chip, uint8_t endpoint, uint8_t *packet, int64_t now_ns)
{
    struct channel *channel = channel_of(chip, endpoint);
    if (!channel)
        return 0;
    size_t room = ftdi_chip_packet_bytes(chip) - STATUS_BYTES;
    if (channel->to_host.count < room && now_ns < ftdi_chip_due_ns(chip, endpoint))
        return 0;
    packet[0] = MODEM_STATUS;
    packet[1] = LINE_STATUS;
    channel->sent_ns = now_ns;
    return STATUS_BYTES + fifo_get(&channel->to_host, packet + STATUS_BYTES, room);
}

size_t ftdi_chip_out(struct ftdi_chip *chip, uint8_t endpoint, const uint8_t *bytes, size_t size)
{
    struct channel *channel = channel_of(chip, endpoint);
    return channel ? fifo_put(&channel->from_host, bytes, size) : size;
}

size_t ftdi_chip_put(struct ftdi_chip *chip, const uint8_t *bytes, size_t size)
{
    struct channel *channel = &chip->channels[0];
    return channel->mode == MODE_SYNC_FIFO ? fifo_put(&channel->to_host, bytes, size) : 0;
}

size_t ftdi_chip_get(struct ftdi_chip *chip, uint8_t *bytes, size_t capacity)
{
    struct channel *channel = &chip->channels[0];
    return channel->mode == MODE_SYNC_FIFO ? fifo_get(&channel->from_host, bytes, capacity) : 0;
}
