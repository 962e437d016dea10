#include "tools/symbols/module_lists.h"

#include "formats/base/grow.h"
#include "tools/symbols/image_list.h"
#include "tools/symbols/image_times.h"
#include "tools/symbols/module_list_path.h"

#include <stdlib.h>
#include <string.h>

struct module_lists {
    struct images **sets; /* one for each list, and one for the images given */
    size_t set_count, set_capacity;
    const struct image **images; /* of all sets */
    size_t count, capacity;
};

int module_settings_take_image(void *settings, const char *argument, struct bt_error *error)
{
    struct module_settings *modules = settings;
    if (modules->image_count == IMAGE_COUNT_MAX)
        return bt_fail(error, BT_USAGE, "more than %u images", IMAGE_COUNT_MAX);
    modules->images[modules->image_count++] = argument;
    return 0;
}

int module_settings_take_list(void *settings, const char *argument, struct bt_error *error)
{
    struct module_settings *modules = settings;
    if (!*argument)
        return bt_fail(error, BT_USAGE, "the name of the list is empty");
    modules->list = argument;
    return 0;
}

bool module_settings_given(const struct module_settings *settings)
{
    return settings->image_count > 0 || settings->list;
}

/* Whether a capture before this one has the same list. */
static bool is_repeated(const struct module_captures *captures, int number, const char *list)
{
    bool repeated = false;
    for (int i = 0; i < number && !repeated; i++) {
        char *other = module_list_beside(captures->paths[i]);
        repeated = other && strcmp(other, list) == 0;
        free(other);
    }
    return repeated;
}

/* A new set of images for one list. NULL and *error: no memory. */
static struct images *add_set(struct module_lists *lists, struct bt_error *error)
{
    struct images **sets =
        grow_array(lists->sets, &lists->set_capacity, lists->set_count + 1, sizeof *sets);
    if (!sets) {
        bt_fail(error, BT_MEMORY, "no memory for images");
        return NULL;
    }
    lists->sets = sets;
    struct images *images = images_new(error);
    if (images)
        sets[lists->set_count++] = images;
    return images;
}

/* Takes the programs of a complete set that are not in an earlier one. */
static int take_set(struct module_lists *lists, struct images *images, struct bt_error *error)
{
    const int result = images_separate(images, error);
    for (uint32_t i = 0; i < images_count(images) && result == 0; i++) {
        const struct image *image = images_get(images, i);
        bool known = false;
        for (size_t j = 0; j < lists->count && !known; j++)
            known = lists->images[j]->memory_address == image->memory_address &&
                    strcmp(lists->images[j]->path, image->path) == 0;
        if (known)
            continue;
        const struct image **all =
            grow_array(lists->images, &lists->capacity, lists->count + 1, sizeof(*all));
        if (!all)
            return bt_fail(error, BT_MEMORY, "no memory for images");
        lists->images = all;
        all[lists->count++] = image;
    }
    return result;
}

static int read_list(struct module_lists *lists, const char *list, struct bt_error *error)
{
    struct images *images = add_set(lists, error);
    if (!images)
        return error->code;
    images_allow_times(images);
    const int result = image_list_read(images, list, error);
    return result < 0 ? result : take_set(lists, images, error);
}

static int read_given(struct module_lists *lists, const struct module_settings *settings,
                      struct bt_error *error)
{
    struct images *images = settings->image_count > 0 ? add_set(lists, error) : NULL;
    int result = images || settings->image_count == 0 ? 0 : error->code;
    if (images)
        images_allow_times(images);
    for (unsigned i = 0; i < settings->image_count && result == 0; i++)
        result = images_add(images, settings->images[i], error);
    if (result == 0 && images)
        result = take_set(lists, images, error);
    if (result == 0 && settings->list)
        result = read_list(lists, settings->list, error);
    return result;
}

static int read_beside(struct module_lists *lists, const struct module_captures *captures,
                       struct bt_error *error)
{
    int result = 0;
    for (int i = 0; i < captures->count && result == 0; i++) {
        char *list = module_list_beside(captures->paths[i]);
        if (list && !is_repeated(captures, i, list))
            result = read_list(lists, list, error);
        free(list);
    }
    return result;
}

int module_lists_new(struct module_lists **lists, const struct module_settings *settings,
                     const struct module_captures *captures, struct bt_error *error)
{
    *lists = calloc(1, sizeof **lists);
    if (!*lists)
        return bt_fail(error, BT_MEMORY, "no memory for lists of modules");
    const int result = module_settings_given(settings) ? read_given(*lists, settings, error)
                                                       : read_beside(*lists, captures, error);
    if (result < 0) {
        module_lists_free(*lists);
        *lists = NULL;
    }
    return result;
}

void module_lists_free(struct module_lists *lists)
{
    if (!lists)
        return;
    for (size_t i = 0; i < lists->set_count; i++)
        images_free(lists->sets[i]);
    free(lists->sets);
    free(lists->images);
    free(lists);
}

size_t module_lists_count(const struct module_lists *lists)
{
    return lists->count;
}

const struct image *module_lists_get(const struct module_lists *lists, size_t number)
{
    return lists->images[number];
}

size_t module_lists_set_count(const struct module_lists *lists)
{
    return lists->set_count;
}

const struct images *module_lists_get_set(const struct module_lists *lists, size_t number)
{
    return lists->sets[number];
}

void module_lists_print_refused(const struct module_lists *lists, FILE *out)
{
    for (size_t i = 0; i < lists->set_count; i++)
        images_print_refused(lists->sets[i], out);
}
