/*
 * The programs that a command knows: those of its options --image and --modules; without these,
 * the ones in the lists of modules that `bustap exec` writes beside its captures.
 */
#ifndef TOOLS_SYMBOLS_MODULE_LISTS_H
#define TOOLS_SYMBOLS_MODULE_LISTS_H

#include "tools/symbols/image.h"

/* The arguments of the options, which must outlive it. All zero: none is given. */
struct module_settings {
    const char *images[IMAGE_COUNT_MAX]; /* "ELF", "ELF@LOAD" or with times (image_times.h) */
    unsigned image_count;
    const char *list; /* a file that image_list_read() reads; NULL: none */
};

/* Option rows; member is a struct module_settings of the settings. */
#define MODULE_OPTIONS(type, member)                                                               \
    {OPTION_CALL,                                                                                  \
     0,                                                                                            \
     "image",                                                                                      \
     "ELF[@LOAD]",                                                                                 \
     "name addresses by the symbols of this program",                                              \
     offsetof(type, member),                                                                       \
     module_settings_take_image},                                                                  \
    {                                                                                              \
        OPTION_CALL, 0, "modules", "FILE",                                                         \
            "the same for the programs that bustap exec has listed (default: its list beside the " \
            "capture)",                                                                            \
            offsetof(type, member), module_settings_take_list                                      \
    }

/* Take the options; settings is the struct. 0 or BT_USAGE. */
int module_settings_take_image(void *settings, const char *argument, struct bt_error *error);
int module_settings_take_list(void *settings, const char *argument, struct bt_error *error);

bool module_settings_given(const struct module_settings *settings);

/* The captures whose lists are read if no program is given. */
struct module_captures {
    char *const *paths; /* files, or prefixes of running captures; those that have no list are
                           ignored, as is "-" */
    int count;
};

struct module_lists;

/* Reads the programs; those of one list may overlap those of another one. 0 or a negative code. */
int module_lists_new(struct module_lists **lists, const struct module_settings *settings,
                     const struct module_captures *captures, struct bt_error *error);
void module_lists_free(struct module_lists *lists);

/* The number of programs, each once, and one of them: those of the first list first. */
size_t module_lists_count(const struct module_lists *lists);
const struct image *module_lists_get(const struct module_lists *lists, size_t number);

/* The sets of programs: that of the options --image or one for each list; the first counts where
 * several have code at an address. */
size_t module_lists_set_count(const struct module_lists *lists);
const struct images *module_lists_get_set(const struct module_lists *lists, size_t number);

/* Prints one line for each rejected debug file, with the reason. */
void module_lists_print_refused(const struct module_lists *lists, FILE *out);

#endif
