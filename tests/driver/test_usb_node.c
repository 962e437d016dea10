/* Reading a system's data about USB devices, from a folder that replaces the system's root. */
#include "driver/usb_node.h"

#include "driver/ftdi_ring.h"
#include "driver/udev_rules.h"
#include "tests/suites.h"
#include "tests/support/fake_system.h"
#include "tests/support/fake_usb.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_a_device(void)
{
    char root[FOLDER_PATH_BYTES];
    char path[2 * FOLDER_PATH_BYTES];
    struct usb_node node;
    folder_make(root);
    fake_system_device(root, 3);
    fake_system_device(root, 33);
    fake_system_file(root, "/sys/bus/usb/devices/9-3/manufacturer", "Maker\n");
    fake_system_file(root, "/sys/bus/usb/devices/9-3/product", "Bus\x1b tap\n");
    fake_system_file(root, "/sys/bus/usb/devices/9-3/serial", "BT0003\n");
    fake_system_file(root, "/sys/bus/usb/devices/9-3:1.0/ttyUSB4/dev", "188:4\n");
    fake_system_link(root, "/sys/bus/usb/devices/9-3:1.0/driver", "../../drivers/ftdi_sio");
    fake_system_link(root, "/sys/bus/usb/devices/9-33:1.0/driver", "../../drivers/usbfs");
    /* minor number: 128 a bus, from the first */
    fake_system_file(root, "/run/udev/data/c189:31874", "I:1\nE:ID_BUSTAP=1\nG:uaccess\n");
    fake_system_file(root, "/run/udev/data/c189:31904", "E:ID_BUSTAP=0\nE:XID_BUSTAP=1\n");
    snprintf(path, sizeof path, "%s/dev/bus/usb/250/003", root);
    CU_ASSERT_EQUAL(chmod(path, 0620), 0);
    usb_node_read(&node, root, FAKE_USB_BUS, 3, 0);
    CU_ASSERT_STRING_EQUAL(node.path, "/dev/bus/usb/250/003");
    CU_ASSERT_TRUE(node.exists);
    CU_ASSERT_TRUE(node.open);
    CU_ASSERT_EQUAL(node.mode, 0620);
    CU_ASSERT_TRUE(node.owner[0] && node.group[0] && node.in_group);
    CU_ASSERT_STRING_EQUAL(node.driver, "ftdi_sio");
    CU_ASSERT_STRING_EQUAL(node.tty, "ttyUSB4");
    CU_ASSERT_STRING_EQUAL(node.manufacturer, "Maker");
    CU_ASSERT_STRING_EQUAL(node.product, "Bus? tap");
    CU_ASSERT_STRING_EQUAL(node.serial, "BT0003");
    CU_ASSERT_TRUE(node.identified);
    CU_ASSERT_EQUAL(node.holder_count, 0);
    usb_node_read(&node, root, FAKE_USB_BUS, 3, 1); /* the other channel */
    CU_ASSERT_STRING_EQUAL(node.driver, "");
    CU_ASSERT_STRING_EQUAL(node.tty, "");
    usb_node_read(&node, root, FAKE_USB_BUS, 33, 0);
    CU_ASSERT_STRING_EQUAL(node.driver, "usbfs");
    CU_ASSERT_STRING_EQUAL(node.serial, "");
    CU_ASSERT_FALSE(node.identified);
    usb_node_read(&node, root, FAKE_USB_BUS, 4, 0); /* nothing of it exists */
    CU_ASSERT_FALSE(node.exists || node.open || node.identified);
    CU_ASSERT_STRING_EQUAL(node.driver, "");
    usb_node_read(&node, root, 0, 0, 0);
    CU_ASSERT_FALSE(node.exists);
    folder_remove(root);
}

static void test_holders(void)
{
    char root[FOLDER_PATH_BYTES];
    char path[64];
    struct usb_node node;
    folder_make(root);
    fake_system_device(root, 3);
    fake_system_file(root, "/proc/12/comm", "bustapd\n");
    fake_system_link(root, "/proc/12/fd/0", "/dev/null");
    fake_system_link(root, "/proc/12/fd/7", "/dev/bus/usb/250/003");
    fake_system_link(root, "/proc/13/fd/7", "/dev/bus/usb/250/0033");
    fake_system_link(root, "/proc/14/fd/7", "/dev/bus/usb/250/00");
    fake_system_link(root, "/proc/self/fd/7", "/dev/bus/usb/250/003");
    snprintf(path, sizeof path, "/proc/%ld/fd/5", (long)getpid());
    fake_system_link(root, path, "/dev/bus/usb/250/003");
    usb_node_read(&node, root, FAKE_USB_BUS, 3, 0);
    CU_ASSERT_EQUAL_FATAL(node.holder_count, 1);
    CU_ASSERT_EQUAL(node.holders[0].process, 12);
    CU_ASSERT_STRING_EQUAL(node.holders[0].name, "bustapd");
    for (unsigned i = 0; i < 2 * USB_NODE_HOLDERS; i++) {
        snprintf(path, sizeof path, "/proc/%u/fd/1", 2000 + i);
        fake_system_link(root, path, "/dev/bus/usb/250/003");
    }
    usb_node_read(&node, root, FAKE_USB_BUS, 3, 0);
    CU_ASSERT_EQUAL(node.holder_count, USB_NODE_HOLDERS);
    folder_remove(root);
}

/* This machine's own: whatever it has, it is read without harm. */
static void test_own_system(void)
{
    struct usb_node node;
    usb_node_read(&node, "", 1, 1, 0);
    CU_ASSERT_STRING_EQUAL(node.path, "/dev/bus/usb/001/001");
}

static void test_rules(void)
{
    char root[FOLDER_PATH_BYTES];
    char path[UDEV_RULES_PATH_BYTES];
    folder_make(root);
    size_t length = strlen(root);
    CU_ASSERT_EQUAL(udev_rules_find(root, UDEV_RULES_IDENTIFY, path), UDEV_RULES_MISSING);
    CU_ASSERT_STRING_EQUAL(path, "");
    static const char *const folders[] = {"/lib", "/usr/lib", "/usr/local/lib", "/run", "/etc"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char file[64];
        snprintf(file, sizeof file, "%s/udev/rules.d/60-bustap.rules", folders[i]);
        fake_system_file(root, file, "rule\n");
        CU_ASSERT_EQUAL(udev_rules_find(root, UDEV_RULES_IDENTIFY, path), UDEV_RULES_THERE);
        CU_ASSERT_STRING_EQUAL(path + length, file);
    }
    CU_ASSERT_EQUAL(udev_rules_find(root, UDEV_RULES_ACCESS, path), UDEV_RULES_MISSING);
    fake_system_link(root, "/run/udev/rules.d/61-bustap-access.rules", "/dev/null");
    fake_system_file(root, "/usr/lib/udev/rules.d/61-bustap-access.rules", "rule\n");
    CU_ASSERT_EQUAL(udev_rules_find(root, UDEV_RULES_ACCESS, path), UDEV_RULES_MASKED);
    CU_ASSERT_STRING_EQUAL(path + length, "/run/udev/rules.d/61-bustap-access.rules");
    folder_remove(root);
}

static void test_limit(void)
{
    char root[FOLDER_PATH_BYTES];
    folder_make(root);
    CU_ASSERT_EQUAL(ftdi_ring_limit_mib(root), 16);
    fake_system_file(root, FTDI_RING_LIMIT_FILE, "1000\n");
    CU_ASSERT_EQUAL(ftdi_ring_limit_mib(root), 1000);
    fake_system_file(root, FTDI_RING_LIMIT_FILE, "0\n");
    CU_ASSERT_EQUAL(ftdi_ring_limit_mib(root), 0);
    fake_system_file(root, FTDI_RING_LIMIT_FILE, "none\n");
    CU_ASSERT_EQUAL(ftdi_ring_limit_mib(root), 16);
    folder_remove(root);
}

static const struct test_case cases[] = {
    {"a device", test_a_device},        {"who has it open", test_holders},
    {"this machine", test_own_system},  {"udev rules", test_rules},
    {"the kernel's limit", test_limit}, {NULL, NULL}};
TEST_SUITE(usb_node, cases)
