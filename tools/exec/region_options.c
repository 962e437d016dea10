#include "tools/exec/region_options.h"

#include "capture/program/exec_lanes.h"
#include "formats/base/printable.h"
#include "formats/base/quantity.h"
#include "tools/common/own_stream.h"

#include <string.h>

/* --- options -----------------------------------------------------------------------------------
 */

int region_option_place(void *place, const char *argument, struct bt_error *error)
{
    struct exec_symbol symbol;
    if (strlen(argument) >= EXEC_PLACE_BYTES)
        return bt_fail(error, BT_USAGE, "the place's name is too long");
    const int result = exec_symbol_parse(&symbol, argument, error);
    if (result == 0)
        exec_symbol_clear(&symbol);
    *(const char **)place = argument;
    return result;
}

int region_option_sample(void *options, const char *argument, struct bt_error *error)
{
    struct region_options *region = options;
    char on[32];
    const char *slash = strchr(argument, '/');
    const size_t length = slash ? (size_t)(slash - argument) : 0;
    if (length == 0 || length >= sizeof on)
        return bt_fail(error, BT_USAGE, "\"%.60s\" should be ON/OFF, such as 1M/99M", argument);
    memcpy(on, argument, length);
    on[length] = '\0';
    if (quantity_count(&region->on, on, error) < 0 ||
        quantity_count(&region->off, slash + 1, error) < 0)
        return error->code;
    if (region->on == 0 || region->off == 0 || region->on > UINT64_MAX / 2 ||
        region->off > UINT64_MAX / 2)
        return bt_fail(error, BT_USAGE, "\"%.60s\" should be two counts, each at least 1",
                       argument);
    return 0;
}

int region_options_check(const struct region_options *options, struct bt_error *error)
{
    const bool places = options->from || options->until;
    if (options->ends && !options->limit && !options->until)
        return bt_fail(error, BT_USAGE, "--exit needs --count or --stop-at");
    if (options->repeats && !(options->from && options->until))
        return bt_fail(error, BT_USAGE, "--repeat needs --start-at and --stop-at");
    if ((options->calls && (places || options->markers)) || (options->markers && places))
        return bt_fail(error, BT_USAGE,
                       "--calls, --markers and --start-at or --stop-at exclude each other");
    return 0;
}

struct process_regions region_options_regions(const struct region_options *options)
{
    return (struct process_regions){
        .from = options->from || options->calls ? PROCESS_ADDRESS_UNKNOWN : 0,
        .skip = options->skip,
        .limit = options->limit,
        .until = options->until ? PROCESS_ADDRESS_UNKNOWN : 0,
        .on = options->on,
        .off = options->off,
        .repeats = options->repeats,
        .calls = options->calls != NULL,
        .markers = options->markers,
        .ends = options->ends};
}

/* --- places ------------------------------------------------------------------------------------
 */

static int parse(struct exec_symbol *symbol, const char *text, struct bt_error *error)
{
    return text && *text ? exec_symbol_parse(symbol, text, error) : 0;
}

int region_places_parse(struct region_places *places, const char *from, const char *until,
                        struct bt_error *error)
{
    const int result = parse(&places->from, from, error);
    return result == 0 ? parse(&places->until, until, error) : result;
}

void region_places_clear(struct region_places *places)
{
    exec_symbol_clear(&places->from);
    exec_symbol_clear(&places->until);
}

const struct exec_symbol *region_places_look(struct region_places *places,
                                             const struct modules *modules)
{
    const bool from = exec_symbol_look(&places->from, modules) || !places->from.text;
    const bool until = exec_symbol_look(&places->until, modules) || !places->until.text;
    return !until ? &places->until : !from ? &places->from : NULL;
}

static uint64_t address_of(const struct exec_symbol *symbol)
{
    return symbol->address ? symbol->address : symbol->text ? PROCESS_ADDRESS_UNKNOWN : 0;
}

void region_places_addresses(const struct region_places *places, uint64_t *from, uint64_t *until)
{
    *from = address_of(&places->from);
    *until = address_of(&places->until);
}

/* --- messages ----------------------------------------------------------------------------------
 */

void region_places_report_missing(const struct exec_symbol *symbol, FILE *messages)
{
    own_stream_say(messages, "no file that the program loaded has a function %s",
                   PRINTABLE(symbol->name));
    if (symbol->refused)
        own_stream_say(messages, "%s", PRINTABLE(symbol->refused));
}

void region_places_report(const struct region_places *places, bool opened, bool markers,
                          FILE *messages)
{
    const struct exec_symbol *from = &places->from;
    if (places->until.text && !places->until.address)
        region_places_report_missing(&places->until, messages);
    if (opened)
        return;
    if (from->text && !from->address)
        region_places_report_missing(from, messages);
    else if (from->text)
        own_stream_say(messages, "the program never reached %s", PRINTABLE(from->text));
    else if (markers)
        own_stream_say(messages, "the program never reached BUSTAP_BEGIN of bustap/mark.h");
    else
        own_stream_say(messages,
                       "the program ended before the instructions of --skip were executed");
}
