#include "tools/cache/tlb_settings.h"

#include "formats/base/power.h"
#include "formats/base/quantity.h"
#include "formats/base/suggestion.h"
#include "tools/cache/cache_settings_text.h"
#include "tools/common/words.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BYTES  80u
#define ENTRIES_MAX (1u << 20)

static const char *const buffer_names[TLB_BUFFERS] = {"l1i", "l1d", "l2"};

/* Takes "-NAME" off the end of a key. */
static bool take_end(char *key, const char *name)
{
    const size_t size = strlen(key), tail = strlen(name);
    if (size <= tail + 1 || key[size - tail - 1] != '-' || strcmp(key + size - tail, name) != 0)
        return false;
    key[size - tail - 1] = '\0';
    return true;
}

/* Entries or ways of an array; "full": one set. */
static int take_array(struct tlb_array *array, bool ways, const char *value, struct bt_error *error)
{
    uint64_t number = 0;
    if (ways && strcmp(value, "full") == 0) {
        array->ways = 0;
        return 0;
    }
    if (quantity_count(&number, value, error) < 0)
        return error->code;
    if (number == 0 || number > ENTRIES_MAX)
        return bt_fail(error, BT_USAGE, "can be 1 to %u%s, not %.40s", ENTRIES_MAX,
                       ways ? ", or full" : "", value);
    if (ways)
        array->ways = (uint32_t)number;
    else
        array->entries = (uint32_t)number;
    return 0;
}

/* Sets "l1d", "l1d-2M", "l1d-ways", "l1d-2M-ways"; without a page size, of 4 KiB pages. */
static int take_key(struct tlb_settings *settings, const char *given, const char *value,
                    struct bt_error *error)
{
    char key[WORD_BYTES];
    unsigned pages = TLB_4K, buffer = 0;
    if (strcmp(given, "walk") == 0)
        return settings_text_latency(&settings->walk_latency, value, error);
    if (strcmp(given, "l2-latency") == 0)
        return settings_text_latency(&settings->second_latency, value, error);
    memcpy(key, given, strlen(given) + 1);
    const bool ways = take_end(key, "ways");
    for (unsigned i = 0; i < TLB_PAGES; i++)
        if (take_end(key, tlb_pages_name(i)))
            pages = i;
    while (buffer < TLB_BUFFERS && strcmp(key, buffer_names[buffer]) != 0)
        buffer++;
    if (buffer == TLB_BUFFERS) {
        bt_fail(error, BT_USAGE,
                "unknown key; known are l1i, l1d and l2, with -4K, -2M or -1G and with "
                "-ways, l2-latency and walk");
        return suggestion_add_listed(error, key);
    }
    return take_array(&settings->arrays[buffer][pages], ways, value, error);
}

static int check(const struct tlb_settings *settings, struct bt_error *error)
{
    for (unsigned buffer = 0; buffer < TLB_BUFFERS; buffer++)
        for (unsigned pages = 0; pages < TLB_PAGES; pages++) {
            const struct tlb_array *array = &settings->arrays[buffer][pages];
            const uint32_t sets = array->ways ? array->entries / array->ways : 1;
            if (array->ways && (array->entries % array->ways || !power_is(sets)))
                return bt_fail(
                    error, BT_USAGE,
                    "%s-%s: %u entries in sets of %u: the number of sets must be a power of two",
                    buffer_names[buffer], tlb_pages_name(pages), array->entries, array->ways);
        }
    if (!settings->walk_latency != !settings->second_latency)
        return bt_fail(error, BT_USAGE, "walk and l2-latency need each other");
    return 0;
}

int tlb_settings_take(struct tlb_settings *settings, const char *words, struct bt_error *error)
{
    while (*words) {
        char word[WORD_BYTES];
        const char *next = words_next(words, word, sizeof word);
        if (!next)
            return bt_fail(error, BT_USAGE, "'%.40s...' is too long", words);
        words = next;
        char *equals = strchr(word, '=');
        if (!equals)
            return bt_fail(error, BT_USAGE, "'%.40s' is not key=value, such as l1d=64", word);
        *equals = '\0';
        if (take_key(settings, word, equals + 1, error) < 0)
            return bt_fail_within(error, "%.40s", word);
    }
    return check(settings, error);
}

static int take_address(uint32_t *address, const char *text, char **end, struct bt_error *error)
{
    const unsigned long long number = strtoull(text, end, 0);
    if (*end == text || *text == '-' || number > UINT32_MAX)
        return bt_fail(error, BT_USAGE, "'%.40s' does not begin with an address up to 0xffffffff",
                       text);
    *address = (uint32_t)number;
    return 0;
}

int tlb_settings_take_pages(struct tlb_settings *settings, const char *text, struct bt_error *error)
{
    const char *at = strchr(text, '@');
    const size_t size = at ? (size_t)(at - text) : strlen(text);
    struct tlb_range range;
    unsigned pages = 0;
    char *end;
    while (pages < TLB_PAGES && (size != strlen(tlb_pages_name(pages)) ||
                                 strncmp(text, tlb_pages_name(pages), size) != 0))
        pages++;
    if (pages == TLB_PAGES)
        return bt_fail(error, BT_USAGE, "pages can have 4K, 2M or 1G, not '%.40s'", text);
    range.pages = (enum tlb_pages)pages;
    if (!at) {
        settings->pages = range.pages;
        return 0;
    }
    if (take_address(&range.low, at + 1, &end, error) < 0)
        return error->code;
    if (*end != '-')
        return bt_fail(error, BT_USAGE, "'%.60s' is not a range such as 2M@0x400000-0x7fffff",
                       text);
    if (take_address(&range.high, end + 1, &end, error) < 0)
        return error->code;
    if (*end || range.high < range.low)
        return bt_fail(error, BT_USAGE, "'%.60s' is not a range such as 2M@0x400000-0x7fffff",
                       text);
    if (settings->range_count == TLB_RANGES_MAX)
        return bt_fail(error, BT_USAGE, "more than %u ranges", TLB_RANGES_MAX);
    settings->ranges[settings->range_count++] = range;
    return 0;
}
