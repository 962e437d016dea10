/* The configuration file of a hierarchy: bustap-cache(1), "CONFIGURATION". */
#include "formats/text/ini.h"
#include "tools/cache/cache_settings_text.h"

#include "formats/base/quantity.h"
#include "formats/base/suggestion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX (1u << 20)

#define SECTIONS (1 + CACHE_LEVELS * 3) /* [hierarchy]; 3 for each level */
#define KEYS_MAX 24u                    /* exceeds the keys of any section */

/* Keys that a section has so far; a section may be continued later in the file. */
struct keys {
    char names[KEYS_MAX][INI_WORD_BYTES];
    unsigned count;
};

struct section {
    struct keys keys[SECTIONS];
    bool whole; /* [hierarchy]; false: a level's section */
    bool begun;
    unsigned level;
    enum settings_sides sides;
};

static int begin_section(struct section *section, const struct ini_line *line,
                         struct bt_error *error)
{
    static const char *const kinds[] = {"level", "instruction", "data"};
    section->begun = true;
    section->whole = strcmp(line->section, "hierarchy") == 0 && line->name[0] == '\0';
    if (section->whole)
        return 0;
    for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        if (strcmp(kinds[kind], line->section) != 0 || line->name[0] < '1' ||
            line->name[0] > '0' + (int)CACHE_LEVELS || line->name[1] != '\0')
            continue;
        section->sides = (enum settings_sides)kind;
        section->level = (unsigned)(line->name[0] - '1');
        return 0;
    }
    return bt_fail(error, BT_USAGE,
                   "a section can be [hierarchy], [level N], [instruction N] or [data N], N from 1 "
                   "to %u",
                   CACHE_LEVELS);
}

static int set_flag(bool *flag, bool when, const char *value, struct bt_error *error)
{
    bool said = false;
    int result = settings_text_bool(&said, value, error);
    if (result == 0)
        *flag = said == when;
    return result;
}

static int set_whole(struct settings_text *text, const struct ini_line *line,
                     struct bt_error *error)
{
    struct hierarchy_settings *settings = &text->settings;
    int result;
    if (strcmp(line->key, "coherence") == 0)
        result = settings_text_coherence(text, line->value, error);
    else if (strcmp(line->key, "attributes") == 0)
        result = settings_text_attributes(text, line->value, error);
    else if (strcmp(line->key, "readinv") == 0)
        result = settings_text_readinv(text, line->value, error);
    else if (strcmp(line->key, "seed") == 0)
        result = quantity_count(&settings->seed, line->value, error);
    else if (strcmp(line->key, "memory-latency") == 0)
        result = settings_text_latency(&settings->memory_latency, line->value, error);
    else if (strcmp(line->key, "classify") == 0)
        result = set_flag(&settings->classify, true, line->value, error);
    else if (strcmp(line->key, "optimum") == 0)
        result = set_flag(&settings->optimum, true, line->value, error);
    else if (strcmp(line->key, "flush") == 0)
        result = set_flag(&settings->no_flush, false, line->value, error);
    else {
        bt_fail(error, BT_USAGE,
                "unknown key; known are coherence, readinv, attributes, seed, memory-latency, "
                "classify, optimum and flush");
        result = suggestion_add_listed(error, line->key);
    }
    return result < 0 ? bt_fail_within(error, "%s", line->key) : 0;
}

static struct keys *keys_of(struct section *section)
{
    return &section->keys[section->whole ? 0 : 1 + section->level * 3 + section->sides];
}

/* Refuses a key that the section has already: which value is meant is ambiguous. */
static int check_key(struct section *section, const char *key, struct bt_error *error)
{
    const struct keys *keys = keys_of(section);
    for (unsigned i = 0; i < keys->count; i++)
        if (strcmp(keys->names[i], key) == 0)
            return bt_fail(error, BT_USAGE, "duplicate key %s in this section", key);
    return 0;
}

/* Records a known key. */
static void note_key(struct section *section, const char *key)
{
    struct keys *keys = keys_of(section);
    if (keys->count < KEYS_MAX)
        snprintf(keys->names[keys->count++], INI_WORD_BYTES, "%s", key);
}

static int take_line(struct settings_text *text, struct section *section,
                     const struct ini_line *line, struct bt_error *error)
{
    if (line->section[0]) {
        int result = begin_section(section, line, error);
        if (result == 0 && !section->whole) {
            text->given[section->level] = true;
            if (section->sides != SETTINGS_BOTH)
                text->settings.levels[section->level].split = true;
        }
        return result;
    }
    if (!section->begun)
        return bt_fail(error, BT_USAGE, "a key needs a section before it, [level 1] for instance");
    int result = check_key(section, line->key, error);
    if (result == 0 && section->whole)
        result = set_whole(text, line, error);
    else if (result == 0)
        result =
            settings_text_set(text, section->level, section->sides, line->key, line->value, error);
    if (result == 0)
        note_key(section, line->key);
    return result;
}

int settings_file_parse(struct settings_text *text, const char *name, const char *content,
                        size_t size, struct bt_error *error)
{
    struct section section = {.begun = false};
    struct ini_line *line = malloc(sizeof *line);
    struct ini ini;
    int result;
    if (!line)
        return bt_fail(error, BT_MEMORY, "no memory to read %.200s", name);
    ini_begin(&ini, content, size);
    while ((result = ini_next(&ini, line, error)) > 0) {
        result = take_line(text, &section, line, error);
        if (result < 0)
            break;
    }
    if (result < 0)
        bt_fail_within(error, "%.200s:%u", name, line->number);
    free(line);
    return result;
}

int settings_file_read(struct settings_text *text, const char *path, struct bt_error *error)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return bt_fail_errno(error, "cannot open %.300s", path);
    int result = 0;
    char *content = malloc(FILE_BYTES_MAX + 1);
    size_t size = content ? fread(content, 1, FILE_BYTES_MAX + 1, file) : 0;
    if (!content)
        result = bt_fail(error, BT_MEMORY, "no memory to read %.200s", path);
    else if (ferror(file))
        result = bt_fail_errno(error, "cannot read %.300s", path);
    else if (size > FILE_BYTES_MAX)
        result = bt_fail(error, BT_USAGE, "%.300s: a configuration has at most %u bytes", path,
                         FILE_BYTES_MAX);
    else
        result = settings_file_parse(text, path, content, size, error);
    free(content);
    fclose(file);
    return result;
}
