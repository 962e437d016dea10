/* Opening, listing and writing to FTDI boards, on a fake USB with the real libftdi. */
#include "driver/ftdi.h"

#include "tests/suites.h"
#include "tests/support/fake_usb.h"

#include <libusb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FT232H  0x0900
#define FT2232H 0x0700
#define FT232R  0x0600

static const struct fake_usb_device good = {.vid = 0x0403,
                                            .pid = 0x6014,
                                            .chip = FT232H,
                                            .manufacturer = "Maker",
                                            .product = "Bus tap",
                                            .serial = "BT0001",
                                            .speed = LIBUSB_SPEED_HIGH,
                                            .eeprom = 0x0001,
                                            .packet_bytes = 512};

/* Plugs in exactly these devices. */
static void plug(const struct fake_usb_device *devices, size_t count)
{
    fake_usb_reset();
    struct fake_usb *usb = fake_usb_take();
    for (size_t i = 0; i < count; i++)
        usb->devices[i] = devices[i];
    usb->device_count = count;
    fake_usb_give();
}

/* Checks that nothing is left open, and that nothing in use was closed. */
static void check_clean(void)
{
    struct fake_usb *usb = fake_usb_take();
    CU_ASSERT_EQUAL(usb->misuse, 0);
    CU_ASSERT_EQUAL(usb->handles, 0);
    CU_ASSERT_EQUAL(usb->inits, 0);
    CU_ASSERT_EQUAL(usb->transfers, 0);
    CU_ASSERT_EQUAL(usb->queued, 0);
    fake_usb_give();
    fake_usb_reset();
}

static struct stream *open_board(const char *options)
{
    struct stream *stream = NULL;
    struct bt_error error = {0};
    CU_ASSERT_EQUAL(ftdi_open(&stream, options, &error), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    return stream;
}

/* Checks that the only device cannot be opened, and the reason. */
static void refuses(const struct fake_usb_device *device, const char *options, int code,
                    const char *sentence)
{
    struct stream *stream = NULL;
    struct bt_error error = {0};
    plug(device, 1);
    CU_ASSERT_EQUAL(ftdi_open(&stream, options, &error), code);
    CU_ASSERT_PTR_NULL(stream);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, sentence));
    if (!strstr(error.message, sentence))
        printf("\n    got: %s\n", error.message);
    check_clean();
}

static void test_open(void)
{
    static const uint8_t data[] = "a frame, perhaps";
    uint8_t got[100];
    struct bt_error error = {0};
    plug(&good, 1);
    struct stream *stream = open_board("");
    CU_ASSERT_STRING_EQUAL(stream_name(stream), "Bus tap serial BT0001");
    CU_ASSERT_EQUAL(fake_usb_take()->mode, 0x40ff); /* synchronous FIFO */
    fake_usb_give();
    fake_usb_send(data, sizeof data, 512);
    CU_ASSERT_EQUAL(stream_read(stream, got, sizeof got, 20000, &error), sizeof data);
    CU_ASSERT_EQUAL(memcmp(got, data, sizeof data), 0);
    CU_ASSERT_EQUAL(stream_write(stream, data, sizeof data, 1000, &error), 0);
    struct fake_usb *usb = fake_usb_take();
    CU_ASSERT_EQUAL(usb->written_size, sizeof data);
    CU_ASSERT_EQUAL(memcmp(usb->written, data, sizeof data), 0);
    fake_usb_give();
    stream_close(stream);
    CU_ASSERT_EQUAL(fake_usb_take()->mode, 0);
    fake_usb_give();
    check_clean();
}

static void test_channel_b(void)
{
    struct fake_usb_device device = good;
    device.chip = FT2232H;
    device.pid = 0x6010;
    device.eeprom = 0x0100;
    device.serial = NULL;
    plug(&device, 1);
    struct stream *stream = open_board("channel=B");
    CU_ASSERT_STRING_EQUAL(stream_name(stream), "Bus tap");
    CU_ASSERT_EQUAL(fake_usb_take()->mode, 0);
    fake_usb_give();
    stream_close(stream);
    check_clean();
    refuses(&good, "channel=B", BT_USAGE, "has no channel B");
}

static void test_refusals(void)
{
    struct fake_usb_device device = good;
    device.speed = LIBUSB_SPEED_FULL;
    refuses(&device, "", BT_DEVICE, "slow port: full speed (12 Mbit/s), 512-byte packets");
    device = good;
    device.packet_bytes = 64;
    refuses(&device, "", BT_DEVICE, "slow port: high speed (480 Mbit/s), 64-byte packets");
    device = good;
    device.speed = LIBUSB_SPEED_LOW;
    refuses(&device, "", BT_DEVICE, "low speed (1.5 Mbit/s)");
    device = good;
    device.eeprom = 0xffff;
    refuses(&device, "", BT_DEVICE, "EEPROM of its USB chip is not set to 245 FIFO mode");
    device = good;
    device.chip = FT232R;
    refuses(&device, "", BT_DEVICE, "an FT232H or FT2232H is needed");
    device = good;
    device.claim_error = LIBUSB_ERROR_BUSY;
    refuses(&device, "", BT_BUSY, "in use by another program");
    device = good;
    device.open_error = LIBUSB_ERROR_ACCESS;
    refuses(&device, "", BT_DEVICE,
            "no permission for the FTDI device 0403:6014; the udev rules 60-bustap.rules, which "
            "identifies boards, and 61-bustap-access.rules");
    device.vid = 0x1209;
    refuses(&device, "vid=1209,pid=6014", BT_DEVICE,
            "identifies boards and needs a line for these ids");
    device.vid = 0x0403;
    device.open_error = LIBUSB_ERROR_IO;
    refuses(&device, "", BT_DEVICE, "0403:6014 cannot be opened: LIBUSB_ERROR_IO");
    refuses(&good, "serial=BT0002", BT_DEVICE, "no FTDI board with serial number BT0002");
    refuses(&good, "vid=1209,pid=beef", BT_DEVICE, "no such FTDI board is plugged in");
}

/* A board with an unreadable EEPROM is accepted. */
static void test_unreadable_eeprom(void)
{
    struct fake_usb_device device = good;
    device.refuses = true;
    device.refused = 0x90;
    plug(&device, 1);
    stream_close(open_board(""));
    check_clean();
}

static void test_failing_chip(void)
{
    static const struct {
        uint8_t request;
        uint16_t value;
        const char *sentence;
    } failures[] = {{0x0b, 0, "its mode cannot be reset"},
                    {0x0b, 0x40ff, "synchronous FIFO mode cannot be set"},
                    {0x09, 0, "its latency timer cannot be set"},
                    {0x02, 0, "its flow control cannot be set"},
                    {0x00, 2, "its buffers cannot be emptied"}};
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        struct fake_usb_device device = good;
        device.refused = failures[i].request;
        device.refuses = true;
        device.refused_value = failures[i].value;
        refuses(&device, "", BT_DEVICE, failures[i].sentence);
    }
}

static void test_several(void)
{
    struct fake_usb_device devices[3] = {good, good, good};
    struct stream *stream = NULL;
    struct bt_error error = {0};
    devices[1].serial = "BT0002";
    devices[2].vid = 0x1d6b; /* not a board */
    plug(devices, 3);
    CU_ASSERT_EQUAL(ftdi_open(&stream, "", &error), BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(error.message,
                           "more than one FTDI board matches, with serial numbers BT0001 and "
                           "BT0002; name one: ftdi:serial=BT0001");
    stream = open_board("serial=BT0002");
    CU_ASSERT_STRING_EQUAL(stream_name(stream), "Bus tap serial BT0002");
    stream_close(stream);
    check_clean();
}

static void test_list(void)
{
    struct fake_usb_device devices[4] = {good, good, good, good};
    struct board_listing *listings;
    struct bt_error error = {0};
    size_t count;
    devices[0].product = "a\x1b[31mb";
    devices[1].serial = "a,b";
    devices[1].speed = LIBUSB_SPEED_FULL;
    devices[2].open_error = LIBUSB_ERROR_ACCESS;
    devices[3].pid = 0x6001;
    devices[3].chip = FT232R;
    plug(devices, 4);
    CU_ASSERT_EQUAL(ftdi_list(&listings, &count, &error), 0);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    CU_ASSERT_STRING_EQUAL(listings[0].specification, "ftdi:serial=BT0001");
    CU_ASSERT_STRING_EQUAL(listings[0].description,
                           "Maker a?[31mb, serial BT0001, high speed (480 Mbit/s)");
    CU_ASSERT_STRING_EQUAL(listings[1].specification, "ftdi:vid=0403,pid=6014");
    CU_ASSERT_STRING_EQUAL(listings[1].description,
                           "Maker Bus tap, serial a,b, full speed (12 Mbit/s)");
    CU_ASSERT_STRING_EQUAL(listings[2].description, "0403:6014, cannot be opened: no permission");
    free(listings);
    check_clean();
}

/* Boards with private ids are recognized by their descriptors; other devices are not opened. */
static void test_list_private_ids(void)
{
    struct fake_usb_device devices[4] = {good, good, good, good};
    struct board_listing *listings;
    struct bt_error error = {0};
    size_t count;
    for (size_t i = 0; i < 4; i++)
        devices[i].vid = 0x1209;
    devices[1].chip = FT2232H;
    devices[1].serial = "a,b";
    devices[2].chip = FT232R;
    devices[2].serial = "other";
    devices[3].foreign = true;
    devices[3].serial = "other";
    plug(devices, 4);
    CU_ASSERT_EQUAL(ftdi_list(&listings, &count, &error), 0);
    CU_ASSERT_EQUAL_FATAL(count, 2);
    CU_ASSERT_STRING_EQUAL(listings[0].specification, "ftdi:vid=1209,pid=6014,serial=BT0001");
    CU_ASSERT_STRING_EQUAL(listings[1].specification, "ftdi:vid=1209,pid=6014");
    free(listings);
    CU_ASSERT_EQUAL(fake_usb_take()->opens, 2);
    fake_usb_give();
    stream_close(open_board("vid=1209,pid=6014,serial=BT0001"));
    check_clean();
}

/* The time limit applies to the whole write, however few bytes the chip takes at a time. */
static void test_slow_write(void)
{
    uint8_t command[64] = {0};
    struct bt_error error = {0};
    plug(&good, 1);
    struct stream *stream = open_board("");
    fake_usb_take()->write_piece = 1;
    fake_usb_give();
    CU_ASSERT_EQUAL(stream_write(stream, command, sizeof command, 30, &error), BT_TIMEOUT);
    struct fake_usb *usb = fake_usb_take();
    CU_ASSERT_TRUE(usb->write_time_ms <= 30 + usb->writes);
    usb->write_piece = 0;
    usb->write_error = LIBUSB_ERROR_TIMEOUT;
    fake_usb_give();
    CU_ASSERT_EQUAL(stream_write(stream, command, sizeof command, 5, &error), BT_TIMEOUT);
    CU_ASSERT_STRING_EQUAL(error.message, "board Bus tap serial BT0001 accepts no commands");
    CU_ASSERT_EQUAL(stream_write(stream, command, sizeof command, 0, &error), BT_TIMEOUT);
    usb = fake_usb_take();
    usb->write_error = 0;
    usb->write_time_ms = 0;
    fake_usb_give();
    CU_ASSERT_EQUAL(stream_write(stream, command, sizeof command, -1, &error), 0);
    CU_ASSERT_EQUAL(fake_usb_take()->write_time_ms, 0); /* in libusb: no limit */
    fake_usb_give();
    fake_usb_take()->write_error = LIBUSB_ERROR_PIPE;
    fake_usb_give();
    CU_ASSERT_EQUAL(stream_write(stream, command, sizeof command, 5, &error), BT_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "cannot be sent: LIBUSB_ERROR_PIPE"));
    fake_usb_take()->unplugged = true;
    fake_usb_give();
    CU_ASSERT_EQUAL(stream_write(stream, command, sizeof command, 5, &error), BT_CLOSED);
    CU_ASSERT_EQUAL(stream_read(stream, command, sizeof command, -1, &error), BT_CLOSED);
    stream_close(stream);
    check_clean();
}

static const struct test_case cases[] = {{"opening", test_open},
                                         {"channel B", test_channel_b},
                                         {"boards that are refused", test_refusals},
                                         {"an EEPROM that cannot be read", test_unreadable_eeprom},
                                         {"a chip that fails", test_failing_chip},
                                         {"several boards", test_several},
                                         {"the list", test_list},
                                         {"boards with private ids", test_list_private_ids},
                                         {"commands and time", test_slow_write},
                                         {NULL, NULL}};
TEST_SUITE(ftdi_open, cases)
