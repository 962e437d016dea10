/* Findings of bustap doctor with a fake USB and a folder in place of the system's files. */
#include "tools/doctor/checks.h"

#include "driver/ftdi_ring.h"
#include "tests/suites.h"
#include "tests/support/fake_board.h"
#include "tests/support/fake_system.h"
#include "tests/support/fake_usb.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FT2232H 0x0700
#define FT232R  0x0600

static const struct fake_usb_device good = {.vid = 0x0403,
                                            .pid = 0x6014,
                                            .chip = 0x0900,
                                            .manufacturer = "Maker",
                                            .product = "Bus tap",
                                            .serial = "BT0001",
                                            .speed = LIBUSB_SPEED_HIGH,
                                            .eeprom = 0x0001,
                                            .packet_bytes = 512};

struct doctor_rig {
    char root[FOLDER_PATH_BYTES];
    struct findings findings;
    struct ftdi_diagnoses found;
};

/* A system with all udev rules and these devices. */
static void rig_begin(struct doctor_rig *rig, const struct fake_usb_device *devices, size_t count)
{
    memset(rig, 0, sizeof *rig);
    folder_make(rig->root);
    fake_system_rules(rig->root);
    fake_system_file(rig->root, FTDI_RING_LIMIT_FILE, "16\n");
    fake_usb_reset();
    struct fake_usb *usb = fake_usb_take();
    for (size_t i = 0; i < count; i++) {
        usb->devices[i] = devices[i];
        fake_system_device(rig->root, (unsigned)i + 1);
    }
    usb->device_count = count;
    fake_usb_give();
}

static void rig_end(struct doctor_rig *rig)
{
    struct fake_usb *usb = fake_usb_take();
    CU_ASSERT_EQUAL(usb->handles, 0);
    CU_ASSERT_EQUAL(usb->inits, 0);
    CU_ASSERT_EQUAL(usb->mode, 0);
    fake_usb_give();
    fake_usb_reset();
    ftdi_diagnoses_free(&rig->found);
    findings_free(&rig->findings);
    folder_remove(rig->root);
}

/* Examines the boards that options select (NULL: all). Returns the number of usable links. */
static unsigned examine(struct doctor_rig *rig, const char *options)
{
    struct ftdi_options parsed;
    unsigned links = 0;
    CU_ASSERT_EQUAL_FATAL(options ? ftdi_options_parse(&parsed, options, NULL) : 0, 0);
    CU_ASSERT_EQUAL_FATAL(
        ftdi_diagnosis_list(&rig->found, options ? &parsed : NULL, rig->root, NULL), 0);
    check_machine(&rig->findings, &rig->found, rig->root);
    for (size_t i = 0; i < rig->found.count; i++)
        links +=
            check_board(&rig->findings, &rig->found, i, options ? parsed.channel : 'A', rig->root);
    return links;
}

static bool says(const struct findings *findings, enum finding_level level, const char *check,
                 const char *text, const char *advice)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->all[i];
        if (finding->level == level && strcmp(finding->check, check) == 0 &&
            strstr(finding->text, text) && strstr(finding->advice, advice))
            return true;
    }
    for (size_t i = 0; i < findings->count; i++)
        printf("\n    %s %s: %s; %s", findings_level_name(findings->all[i].level),
               findings->all[i].check, findings->all[i].text, findings->all[i].advice);
    return false;
}

/* Examines one device: expects the finding, and no other problem or warning. */
static void finds(const struct fake_usb_device *device, const char *options,
                  enum finding_level level, const char *check, const char *text, const char *advice)
{
    struct doctor_rig rig;
    rig_begin(&rig, device, 1);
    CU_ASSERT_EQUAL(examine(&rig, options), level == FINDING_PROBLEM ? 0 : 1);
    CU_ASSERT_TRUE(says(&rig.findings, level, check, text, advice));
    CU_ASSERT_EQUAL(rig.findings.problems, level == FINDING_PROBLEM ? 1 : 0);
    CU_ASSERT_EQUAL(rig.findings.warnings, level == FINDING_WARNING ? 1 : 0);
    rig_end(&rig);
}

static void test_all_well(void)
{
    finds(&good, NULL, FINDING_OK, "usb", "1 of 1 USB devices may be boards", "");
    finds(&good, "", FINDING_OK, "permission", "/dev/bus/usb/250/001 is open to ", "");
    finds(&good, "serial=BT0001", FINDING_OK, "port", "high speed (480 Mbit/s), 512-byte", "");
    finds(&good, NULL, FINDING_OK, "eeprom", "0001: 245 FIFO mode", "");
    finds(&good, NULL, FINDING_OK, "memory", "16 MiB for all USB transfers, of which 1 board", "");
    finds(&good, NULL, FINDING_OK, "driver", "no kernel driver", "");
    finds(&good, NULL, FINDING_OK, "rules", "/61-bustap-access.rules opens them to users", "");
}

static void test_no_board(void)
{
    struct doctor_rig rig;
    rig_begin(&rig, &good, 0);
    CU_ASSERT_EQUAL(examine(&rig, NULL), 0);
    CU_ASSERT_TRUE(
        says(&rig.findings, FINDING_PROBLEM, "usb", "no USB device is present", "virtual board"));
    CU_ASSERT_EQUAL(rig.findings.problems, 1);
    rig_end(&rig);
    rig_begin(&rig, &good, 1);
    CU_ASSERT_EQUAL(examine(&rig, "serial=BT0002"), 0);
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_PROBLEM, "usb", "none of 1 USB devices", "plug"));
    rig_end(&rig);
    struct bt_error error = {0};
    fake_usb_take()->init_error = LIBUSB_ERROR_OTHER;
    fake_usb_give();
    CU_ASSERT_EQUAL(ftdi_diagnosis_list(&rig.found, NULL, "", &error), BT_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "USB cannot be used on this machine"));
    fake_usb_reset();
}

static void test_hardware(void)
{
    struct fake_usb_device device = good;
    device.speed = LIBUSB_SPEED_FULL;
    device.packet_bytes = 64;
    finds(&device, NULL, FINDING_PROBLEM, "port",
          "slow port: full speed (12 Mbit/s), 64-byte packets", "USB 2 or USB 3 port");
    device = good;
    device.chip = FT232R;
    finds(&device, NULL, FINDING_PROBLEM, "chip", "0600 is that of a chip without", "FT232H");
    finds(&good, "channel=B", FINDING_PROBLEM, "chip", "FT232H has no channel B", "channel=");
    device = good;
    device.eeprom = 0xffff;
    finds(&device, NULL, FINDING_PROBLEM, "eeprom", "ffff: not 245 FIFO mode", "ftdi_eeprom");
    device.refuses = true;
    device.refused = 0x90;
    finds(&device, NULL, FINDING_WARNING, "eeprom", "cannot be read", "");
    device = good;
    device.chip = FT2232H;
    device.eeprom = 0x0100;
    finds(&device, "channel=B", FINDING_OK, "eeprom", "0100: 245 FIFO", "");
    finds(&device, NULL, FINDING_PROBLEM, "eeprom", "0100: not 245 FIFO", "");
}

/* The link of the chosen channel is measured. */
static void test_channel(void)
{
    struct fake_usb_device device = good;
    struct doctor_rig rig;
    device.chip = FT2232H;
    device.pid = 0x6010;
    device.eeprom = 0x0101;
    rig_begin(&rig, &device, 1);
    CU_ASSERT_EQUAL(examine(&rig, "channel=B"), 1);
    CU_ASSERT_STRING_EQUAL(rig.found.boards[0].specification,
                           "ftdi:vid=0403,pid=6010,channel=B,serial=BT0001");
    rig_end(&rig);
    rig_begin(&rig, &device, 1);
    CU_ASSERT_EQUAL(examine(&rig, NULL), 1);
    CU_ASSERT_STRING_EQUAL(rig.found.boards[0].specification, "ftdi:serial=BT0001");
    rig_end(&rig);
}

/* The missing step that keeps a user from the board. */
static void test_permission(void)
{
    struct fake_usb_device device = good;
    struct doctor_rig rig;
    device.open_error = LIBUSB_ERROR_ACCESS;
    finds(&device, NULL, FINDING_PROBLEM, "permission", "is closed to", "not applied to the board");
    rig_begin(&rig, &device, 1); /* the group may open it, but its mode forbids it */
    fake_system_file(rig.root, "/run/udev/data/c189:31872", "E:ID_BUSTAP=1\n");
    (void)examine(&rig, NULL);
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_PROBLEM, "permission", "who is in its group",
                        "not applied to the board"));
    rig_end(&rig);
    rig_begin(&rig, &device, 1);
    fake_system_remove(rig.root, "/etc/udev/rules.d/61-bustap-access.rules");
    CU_ASSERT_EQUAL(examine(&rig, NULL), 0);
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_PROBLEM, "rules",
                        "61-bustap-access.rules, which opens them to users, is in none",
                        "copy doc/61-bustap-access.rules to /etc/udev/rules.d"));
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_PROBLEM, "permission", "is closed to",
                        "install the missing udev rules"));
    CU_ASSERT_EQUAL(rig.findings.problems, 2);
    rig_end(&rig);
    device.vid = 0x1209;
    finds(&device, "vid=1209,pid=6014", FINDING_PROBLEM, "permission", "is closed to",
          "ATTR{idVendor}==\"1209\", ATTR{idProduct}==\"6014\", ENV{ID_BUSTAP}=\"1\"");
    device = good;
    device.open_error = LIBUSB_ERROR_IO;
    finds(&device, NULL, FINDING_PROBLEM, "open", "LIBUSB_ERROR_IO", "plug the board in again");
    /* a container with /sys, but without /dev/bus/usb */
    device.open_error = LIBUSB_ERROR_NO_DEVICE;
    rig_begin(&rig, &device, 1);
    fake_system_remove(rig.root, "/dev/bus/usb/250/001");
    CU_ASSERT_EQUAL(examine(&rig, NULL), 0);
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_PROBLEM, "open",
                        "/dev/bus/usb/250/001 does not exist", "a container needs access"));
    CU_ASSERT_EQUAL(rig.findings.problems, 1);
    rig_end(&rig);
    /* a warning only, if the user may open the board */
    rig_begin(&rig, &good, 1);
    fake_system_link(rig.root, "/run/udev/rules.d/60-bustap.rules", "/dev/null");
    CU_ASSERT_EQUAL(examine(&rig, NULL), 1);
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_WARNING, "rules", "is switched off by",
                        "/run/udev/rules.d/60-bustap.rules"));
    rig_end(&rig);
}

/* The kernel knows the strings of a board that may not be opened, so it can still be chosen. */
static void test_closed_board_by_serial(void)
{
    struct fake_usb_device device = good;
    struct doctor_rig rig;
    device.open_error = LIBUSB_ERROR_ACCESS;
    rig_begin(&rig, &device, 1);
    fake_system_file(rig.root, "/sys/bus/usb/devices/9-1/serial", "BT0001\n");
    (void)examine(&rig, "serial=BT0001");
    CU_ASSERT_EQUAL_FATAL(rig.found.count, 1);
    CU_ASSERT_STRING_EQUAL(rig.found.boards[0].specification, "ftdi:serial=BT0001");
    rig_end(&rig);
}

static void test_drivers(void)
{
    struct doctor_rig rig;
    rig_begin(&rig, &good, 1);
    fake_system_file(rig.root, "/sys/bus/usb/devices/9-1:1.0/ttyUSB0/dev", "");
    fake_system_link(rig.root, "/sys/bus/usb/devices/9-1:1.0/driver", "x/ftdi_sio");
    fake_system_link(rig.root, "/proc/77/fd/3", "/dev/bus/usb/250/001");
    fake_system_file(rig.root, "/proc/77/comm", "qemu\n");
    CU_ASSERT_EQUAL(examine(&rig, NULL), 1);
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_WARNING, "driver",
                        "driver ftdi_sio has the board, as /dev/ttyUSB0",
                        "reattaches it afterwards"));
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_WARNING, "programs",
                        "also open in qemu (process 77)", "end that program"));
    rig_end(&rig);
}

/* A board that is capturing is left alone. */
static void test_in_use(void)
{
    struct doctor_rig rig;
    rig_begin(&rig, &good, 1);
    fake_system_link(rig.root, "/sys/bus/usb/devices/9-1:1.0/driver", "x/usbfs");
    CU_ASSERT_EQUAL(examine(&rig, NULL), 0);
    CU_ASSERT_TRUE(
        says(&rig.findings, FINDING_WARNING, "driver", "in use by a program", "bustap ctl stop"));
    CU_ASSERT_EQUAL(rig.findings.problems, 0);
    CU_ASSERT_FALSE(rig.found.boards[0].eeprom_known);
    rig_end(&rig);
    rig_begin(&rig, &good, 1);
    fake_system_link(rig.root, "/sys/bus/usb/devices/9-1:1.0/driver", "x/usbfs");
    fake_system_link(rig.root, "/proc/9/fd/3", "/dev/bus/usb/250/001");
    fake_system_file(rig.root, "/proc/9/comm", "bustapd\n");
    (void)examine(&rig, NULL);
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_WARNING, "driver", "in use by bustapd (process 9)",
                        "left alone"));
    rig_end(&rig);
}

/* An FTDI chip with other ids may be anything: unless it is named or identified, only its
 * descriptors are read. */
static void test_private_ids(void)
{
    struct fake_usb_device device = good;
    struct doctor_rig rig;
    device.vid = 0x15ba;
    rig_begin(&rig, &device, 1);
    CU_ASSERT_EQUAL(examine(&rig, NULL), 0);
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_WARNING, "ids", "may not be a board",
                        "bustap doctor ftdi:vid=15ba,pid=6014,serial=BT0001"));
    CU_ASSERT_FALSE(rig.found.boards[0].eeprom_known);
    CU_ASSERT_EQUAL(rig.findings.problems, 0);
    rig_end(&rig);
    finds(&device, "vid=15ba,pid=6014", FINDING_OK, "eeprom", "245 FIFO mode", "");
    rig_begin(&rig, &device, 1);
    fake_system_file(rig.root, "/run/udev/data/c189:31872", "E:ID_BUSTAP=1\n");
    CU_ASSERT_EQUAL(examine(&rig, NULL), 1);
    CU_ASSERT_EQUAL(rig.findings.warnings + rig.findings.problems, 0);
    rig_end(&rig);
}

static void test_several(void)
{
    struct fake_usb_device devices[3] = {good, good, good};
    struct doctor_rig rig;
    devices[1].serial = "BT0002";
    rig_begin(&rig, devices, 2);
    CU_ASSERT_EQUAL(examine(&rig, NULL), 2);
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_WARNING, "memory",
                        "16 MiB for all USB transfers are too few: 2 boards need 16 MiB",
                        "echo 64 > /sys/module/usbcore/parameters/usbfs_memory_mb"));
    rig_end(&rig);
    rig_begin(&rig, devices, 3);
    fake_system_file(rig.root, FTDI_RING_LIMIT_FILE, "0\n");
    CU_ASSERT_EQUAL(examine(&rig, NULL), 1); /* two have the same serial number */
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_PROBLEM, "serial", "same ids and serial number",
                        "ftdi_eeprom"));
    CU_ASSERT_TRUE(says(&rig.findings, FINDING_OK, "memory", "no limit", ""));
    CU_ASSERT_EQUAL(rig.findings.problems, 2);
    rig_end(&rig);
    rig_begin(&rig, &good, 1);
    fake_system_file(rig.root, FTDI_RING_LIMIT_FILE, "8\n");
    CU_ASSERT_EQUAL(examine(&rig, NULL), 1);
    CU_ASSERT_EQUAL(rig.findings.warnings, 1);
    CU_ASSERT_EQUAL(rig.findings.problems, 0);
    rig_end(&rig);
}

/* --- the link ------------------------------------------------------------------------------- */

static void test_link(void)
{
    struct findings findings = {.subject = "board"};
    struct fake_board *board = fake_board_new();
    check_link(&findings, &board->stream, 0);
    CU_ASSERT_TRUE(says(&findings, FINDING_OK, "protocol", "version 1", ""));
    CU_ASSERT_EQUAL(findings.count, 2);
    board = fake_board_new();
    board->pattern_bad = 3;
    check_link(&findings, &board->stream, 1);
    CU_ASSERT_TRUE(says(&findings, FINDING_PROBLEM, "link", "3 wrong bytes and 0 of", "cable"));
    board = fake_board_new();
    board->pattern_missing = 2;
    board->impatient = true;
    check_link(&findings, &board->stream, 1);
    CU_ASSERT_TRUE(says(&findings, FINDING_PROBLEM, "link", "0 wrong bytes and 2 of", "cable"));
    CU_ASSERT_EQUAL(findings.problems, 2);
    findings_free(&findings);
}

/* Wraps a stream and slows it down: at least a millisecond for 16 KiB. */
struct slow_stream {
    struct stream stream; /* first */
    struct stream *inner;
};

static long slow_read(struct stream *stream, uint8_t *bytes, size_t capacity, int timeout_ms,
                      struct bt_error *error)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    nanosleep(&moment, NULL);
    return stream_read(((struct slow_stream *)stream)->inner, bytes,
                       capacity < 16384 ? capacity : 16384, timeout_ms, error);
}

static int slow_write(struct stream *stream, const uint8_t *bytes, size_t size, int timeout_ms,
                      struct bt_error *error)
{
    return stream_write(((struct slow_stream *)stream)->inner, bytes, size, timeout_ms, error);
}

static const char *slow_name(struct stream *stream)
{
    return stream_name(((struct slow_stream *)stream)->inner);
}

static void slow_close(struct stream *stream)
{
    stream_close(((struct slow_stream *)stream)->inner);
}

static void test_slow_link(void)
{
    static const struct stream_operations operations = {
        .read = slow_read, .write = slow_write, .name = slow_name, .close = slow_close};
    struct findings findings = {.subject = "board"};
    struct slow_stream slow = {{&operations}, &fake_board_new()->stream};
    check_link(&findings, &slow.stream, 1);
    CU_ASSERT_TRUE(says(&findings, FINDING_WARNING, "link", "slow: ", "without a hub"));
    CU_ASSERT_EQUAL(findings.warnings + findings.problems, 1);
    findings_free(&findings);
}

static void test_boards_that_do_not_answer(void)
{
    struct findings findings = {.subject = "board"};
    struct fake_board *board = fake_board_new();
    board->version = 7;
    check_link(&findings, &board->stream, 1);
    CU_ASSERT_TRUE(
        says(&findings, FINDING_PROBLEM, "protocol", "protocol 7, this bustap speaks 1", ""));
    board = fake_board_new();
    board->closes = true;
    board->silent = 10;
    check_link(&findings, &board->stream, 1);
    CU_ASSERT_EQUAL(findings.problems, 2);
    board = fake_board_new();
    board->ignored_codes = 1u << WIRE_SELF_TEST;
    board->impatient = true;
    check_link(&findings, &board->stream, 1);
    CU_ASSERT_TRUE(says(&findings, FINDING_PROBLEM, "link", "sent no pattern", "power"));
    findings_free(&findings);
}

static const struct test_case cases[] = {
    {"no problem", test_all_well},
    {"no board", test_no_board},
    {"port, chip and EEPROM", test_hardware},
    {"the channel", test_channel},
    {"permission", test_permission},
    {"a closed board by its serial number", test_closed_board_by_serial},
    {"drivers", test_drivers},
    {"a board in use", test_in_use},
    {"private ids", test_private_ids},
    {"several boards", test_several},
    {"the link", test_link},
    {"a slow link", test_slow_link},
    {"boards that do not answer", test_boards_that_do_not_answer},
    {NULL, NULL}};
TEST_SUITE(doctor, cases)
