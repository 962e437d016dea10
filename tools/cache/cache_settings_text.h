/* Cache hierarchies as text: options of `bustap cache` and keys of its configuration file. */
#ifndef TOOLS_CACHE_CACHE_SETTINGS_TEXT_H
#define TOOLS_CACHE_CACHE_SETTINGS_TEXT_H

#include "tools/cache/model/hierarchy.h"

/* For completion: keys and words of settings_text_take, and of settings_text_coherence. */
#define SETTINGS_CACHE_WORDS                                                                       \
    "line= ways= hash= replacement= write= allocate= sub-block= prefetch= victim= latency= "       \
    "prefetcher= "                                                                                 \
    "degree= distance= page= prefetch-latency= shared private split unified neither inclusive "    \
    "exclusive"
#define SETTINGS_COHERENCE_WORDS "none msi mesi mesif moesi"

/* A hierarchy that is being described. */
struct settings_text {
    struct hierarchy_settings settings;
    bool given[CACHE_LEVELS]; /* levels described so far */
    bool coherence_given;     /* otherwise automatic where that is possible */
    char incoherent[160];     /* why automatic coherence is impossible; "" if it is not */
};

/* Caches of a level that a setting applies to. */
enum settings_sides { SETTINGS_BOTH, SETTINGS_INSTRUCTION, SETTINGS_DATA };

#define SETTINGS_LEVEL_BYTES 400u

void settings_text_begin(struct settings_text *text);

/*
 * Sets a key of a level, 0 to CACHE_LEVELS - 1: "size" "32K", "line" "64", "ways" "8" or "full",
 * "hash" "xor", "replacement", "write" "back" or "through", "allocate" "yes" or "no", "sub-block",
 * "prefetch", "victim", and of whole levels "shared", "split" "yes" or "no", "inclusion", "latency"
 * in cycles. 0 or BT_USAGE.
 */
int settings_text_set(struct settings_text *text, unsigned level, enum settings_sides sides,
                      const char *key, const char *value, struct bt_error *error);

/* Sets a level from an option: "SIZE,key=value,...". "shared", "private", "split", "unified",
 * "inclusive" and "exclusive" need no value; the size is optional. 0 or BT_USAGE. */
int settings_text_take(struct settings_text *text, unsigned level, enum settings_sides sides,
                       const char *words, struct bt_error *error);

/* "none", "msi", "mesi", "mesif" or "moesi". */
int settings_text_coherence(struct settings_text *text, const char *value, struct bt_error *error);

/* What MEMREADINV does with coherence: "own" or "read". */
int settings_text_readinv(struct settings_text *text, const char *value, struct bt_error *error);

/* "honour" or "ignore". */
int settings_text_attributes(struct settings_text *text, const char *value, struct bt_error *error);

#define SETTINGS_LATENCY_MAX 1000000u

/* A number of cycles, 1 to SETTINGS_LATENCY_MAX. 0 or BT_USAGE. */
int settings_text_latency(uint32_t *cycles, const char *value, struct bt_error *error);

/* "yes" or "no". */
int settings_text_bool(bool *value, const char *text, struct bt_error *error);

/*
 * Sets the defaults and checks all settings. Without any level: 32 KiB of 8 ways for instructions
 * and for data, private, above 1 MiB of 16 ways, shared. A line is as long as in the level above,
 * 64 bytes in level 1. Level 1 is private, the others are shared. 0 or BT_USAGE.
 */
int settings_text_end(struct settings_text *text, struct bt_error *error);

/* Reads a configuration file with sections [hierarchy], [level N], [instruction N] and [data N].
 * Errors name path and line. 0, BT_USAGE, BT_IO or BT_MEMORY. */
int settings_file_read(struct settings_text *text, const char *path, struct bt_error *error);
int settings_file_parse(struct settings_text *text, const char *name, const char *content,
                        size_t size, struct bt_error *error);

/*
 * Writes "level 1 data, private: 32 KiB, lines of 64 bytes, 8 ways, lru, ..." to out, of
 * SETTINGS_LEVEL_BYTES bytes, and returns it. Size, lines and ways of a swept level are left out.
 */
char *settings_text_level(char *out, const struct hierarchy_settings *settings, unsigned level,
                          enum cache_side side, bool swept);

/* Names of values, as options and reports have them. */
const char *settings_hash_name(enum cache_hash hash);
const char *settings_prefetch_name(enum cache_prefetch prefetch);
const char *settings_prefetcher_name(enum cache_prefetcher prefetcher);
const char *settings_inclusion_name(enum cache_inclusion inclusion);
const char *settings_coherence_name(enum cache_coherence coherence);

#endif
