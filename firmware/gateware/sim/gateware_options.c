#include "firmware/gateware/sim/gateware_options.h"

#include "formats/base/quantity.h"
#include "formats/base/suggestion.h"

#include <string.h>

#define CORE_HZ  UINT64_C(66000000)
#define CORE_MIN UINT64_C(10000000) /* slower ones do not answer a host in time */
#define LINK_MIN UINT64_C(100000)

const char gateware_usage[] =
    "usage: bustap-gateware replay=FILE|smp=N [KEY=VALUE]...\n"
    "\n"
    "The board in logic, simulated, on standard input and output: a board for\n"
    "--board \"program:bustap-gateware replay=FILE\". Time passes for bus, board and\n"
    "link only while the reader of standard output keeps up.\n"
    "\n"
    "  replay=FILE  put the requests of this capture or of these BYU records on the bus\n"
    "  smp=N        or those of N processors that run a workload (1 to 8)\n"
    "  requests=N   end the bus after N requests (default: never, or with FILE)\n"
    "  bus=HZ       the bus's clock, 1M to 200M (default: that of FILE, or 100M)\n"
    "  core=HZ      the board's clock, 10M to 200M (default: 66M)\n"
    "  link=BYTES   bytes a second that the USB chip takes, 100k to 60M (default: 60M)\n"
    "  seed=N       vary the clocks' phases and the USB chip's pauses (default: none)\n"
    "  vcd=FILE     write all signals to FILE: 85 KB a microsecond\n"
    "  -h, --help   print this text\n";

static const struct key {
    const char *name;
    size_t offset;      /* of a uint64_t */
    uint64_t low, high; /* both 0: text */
} keys[] = {{"replay", 0, 0, 0},
            {"smp", 0, 1, 8},
            {"requests", offsetof(struct gateware_options, bus.requests), 1, UINT64_MAX - 1},
            {"bus", offsetof(struct gateware_options, bus_hz), GATEWARE_BUS_MIN, GATEWARE_BUS_MAX},
            {"core", offsetof(struct gateware_options, core_hz), CORE_MIN, GATEWARE_BUS_MAX},
            {"link", offsetof(struct gateware_options, link_bytes), LINK_MIN, GATEWARE_LINK_HZ},
            {"seed", offsetof(struct gateware_options, seed), 1, UINT64_MAX - 2},
            {"vcd", 0, 0, 0}};

#define KEYS (sizeof keys / sizeof *keys)

static int set_text(struct gateware_options *options, const struct key *key, const char *value,
                    struct bt_error *error)
{
    if (!value[0])
        return bt_fail(error, BT_USAGE, "%s= needs the name of a file", key->name);
    if (strcmp(key->name, "vcd") == 0) {
        options->vcd = value;
        return 0;
    }
    if (strcmp(value, "-") == 0)
        return bt_fail(error, BT_USAGE, "replay=-: standard input is the board's link");
    if (strlen(value) >= sizeof options->bus.replay)
        return bt_fail(error, BT_USAGE, "replay=: the name of the file is too long");
    strcpy(options->bus.replay, value);
    return 0;
}

static int set_number(struct gateware_options *options, const struct key *key, const char *value,
                      struct bt_error *error)
{
    uint64_t number;
    if (quantity_count(&number, value, error) < 0)
        return bt_fail_within(error, "%s=%s", key->name, value);
    if (number < key->low || number > key->high)
        return bt_fail(error, BT_USAGE, "%s=%s: %llu to %llu are allowed", key->name, value,
                       (unsigned long long)key->low, (unsigned long long)key->high);
    if (key->offset)
        memcpy((char *)options + key->offset, &number, sizeof number);
    else
        options->bus.processors = (uint32_t)number;
    return 0;
}

static int fail_unknown(const char *argument, struct bt_error *error)
{
    struct suggestion suggestion;
    char name[32] = "";
    strncat(name, argument, strcspn(argument, "=") < sizeof name ? strcspn(argument, "=") : 0);
    suggestion_begin(&suggestion, name);
    for (size_t i = 0; i < KEYS; i++)
        suggestion_try(&suggestion, keys[i].name);
    bt_fail(error, BT_USAGE, "no option '%.60s'", argument);
    return suggestion_add(error, suggestion.nearest);
}

static int parse_one(struct gateware_options *options, const char *argument, unsigned *seen,
                     struct bt_error *error)
{
    size_t length = strcspn(argument, "=");
    for (unsigned i = 0; i < KEYS; i++) {
        const struct key *key = &keys[i];
        if (strlen(key->name) != length || strncmp(argument, key->name, length) != 0)
            continue;
        if (!argument[length])
            return bt_fail(error, BT_USAGE, "%s needs a value: %s=...", argument, argument);
        if (*seen >> i & 1)
            return bt_fail(error, BT_USAGE, "%s is given twice", key->name);
        *seen |= 1u << i;
        const char *value = argument + length + 1;
        return key->high ? set_number(options, key, value, error)
                         : set_text(options, key, value, error);
    }
    return fail_unknown(argument, error);
}

int gateware_options_parse(struct gateware_options *options, int count, char *const *arguments,
                           struct bt_error *error)
{
    unsigned seen = 0;
    *options = (struct gateware_options){.core_hz = CORE_HZ, .link_bytes = GATEWARE_LINK_HZ};
    for (int i = 0; i < count; i++)
        if (parse_one(options, arguments[i], &seen, error) < 0)
            return BT_USAGE;
    if ((seen & 3) == 3)
        return bt_fail(error, BT_USAGE, "replay=FILE and smp=N exclude each other");
    if (!(seen & 3))
        return bt_fail(error, BT_USAGE, "what is on the bus? Give replay=FILE or smp=N");
    return 0;
}
