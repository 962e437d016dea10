#include "tools/symbols/image_times.h"

#include "formats/base/grow.h"
#include "tools/symbols/images.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE 4096u
#define TOP  0xfffff000u /* images are moved below this address */

/* --- the times of an image --- */

static bool parse_number(const char **text, uint64_t *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

static bool parse_time(const char **text, struct image_time *time)
{
    if (!parse_number(text, &time->first) || **text != '-')
        return false;
    ++*text;
    time->last = UINT64_MAX;
    return ((**text == ',' || **text == '\0') || parse_number(text, &time->last)) &&
           time->last >= time->first;
}

bool image_times_parse(const char *text, struct image_time **times, size_t *count)
{
    struct image_time time, *grown;
    uint64_t before = 0;
    size_t capacity = 0;
    bool memory = true;
    *times = NULL;
    *count = 0;
    for (bool more = true; more;) {
        if (!parse_time(&text, &time) || (*count > 0 && time.first <= before) ||
            (*text != ',' && *text != '\0')) {
            free(*times);
            *times = NULL;
            *count = 0;
            return false;
        }
        before = time.last;
        more = *text++ == ',';
        grown = memory ? grow_array(*times, &capacity, *count + 1, sizeof *grown) : NULL;
        memory = grown != NULL;
        if (memory)
            *times = grown;
        if (memory)
            grown[*count] = time;
        ++*count;
    }
    if (!memory) {
        free(*times);
        *times = NULL;
    }
    return true;
}

bool image_times_meet(const struct image *one, const struct image *other)
{
    if (one->time_count == 0 || other->time_count == 0)
        return true;
    for (size_t i = 0; i < one->time_count; i++)
        for (size_t j = 0; j < other->time_count; j++)
            if (one->times[i].first <= other->times[j].last &&
                other->times[j].first <= one->times[i].last)
                return true;
    return false;
}

/* --- addresses of their own --- */

void images_allow_times(struct images *images)
{
    images->allow_times = true;
}

static bool overlap(uint64_t one, uint64_t one_size, uint64_t other, uint64_t other_size)
{
    return one < other + other_size && other < one + one_size;
}

/* The highest free range below *end, which becomes its begin. False: there is none. */
static bool find_free(const struct images *images, uint64_t size, uint64_t *end)
{
    uint64_t start = *end;
    for (uint32_t i = 0; i <= images->count;) {
        if (i == 0 && start < size + PAGE)
            return false;
        if (i == 0)
            start -= size;
        if (i == images->count)
            break;
        const struct image *image = &images->images[i];
        uint64_t lowest = UINT64_MAX;
        if (overlap(start, size, image->memory_address, image->size))
            lowest = image->memory_address;
        if (overlap(start, size, image->load_address, image->size) && image->load_address < lowest)
            lowest = image->load_address;
        i = lowest == UINT64_MAX ? i + 1 : 0;
        if (lowest != UINT64_MAX)
            start = lowest - lowest % PAGE;
    }
    *end = start;
    return true;
}

static void move(struct image *image, uint64_t address)
{
    uint64_t distance = address - image->load_address;
    image->load_address += distance;
    image->bias += distance;
    for (size_t i = 0; i < image->segment_count; i++)
        image->segments[i].address += distance;
}

static int by_address(const void *a, const void *b)
{
    const struct image *one = a;
    const struct image *other = b;
    return (one->load_address > other->load_address) - (one->load_address < other->load_address);
}

static void note_moved(struct images *images, const struct image *image)
{
    const uint64_t start = image->memory_address, end = start + image->size;
    images->low = images->are_separate && images->low < start ? images->low : start;
    images->high = images->are_separate && images->high > end ? images->high : end;
    images->moved = image->load_address; /* from the highest addresses down */
    images->are_separate = true;
}

int images_separate(struct images *images, struct bt_error *error)
{
    uint64_t end = TOP;
    for (uint32_t i = 0; i < images->count; i++) {
        struct image *image = &images->images[i];
        if (image->time_count == 0)
            continue;
        /* with free pages on both sides, so that nothing continues into another image */
        uint64_t size = image->size + PAGE - 1 - (image->size - 1) % PAGE + PAGE;
        if (!find_free(images, size, &end))
            return bt_fail(error, BT_USAGE, "%s: no free addresses are left for it", image->path);
        move(image, end + PAGE);
        note_moved(images, image);
    }
    if (images->count > 0)
        qsort(images->images, images->count, sizeof *images->images, by_address);
    return 0;
}

bool images_are_separate(const struct images *images)
{
    return images && images->are_separate;
}

static bool is_present(const struct image *image, uint64_t tick)
{
    for (size_t i = 0; i < image->time_count; i++)
        if (tick >= image->times[i].first && tick <= image->times[i].last)
            return true;
    return false;
}

int images_place(const struct images *images, uint64_t tick, uint32_t *address,
                 struct bt_error *error)
{
    const uint64_t at = *address;
    if ((at < images->low || at >= images->high) && at < images->moved)
        return 0;
    for (uint32_t i = 0; i < images->count; i++) {
        const struct image *image = &images->images[i];
        if (image->time_count == 0)
            continue;
        if (at - image->load_address < image->size)
            return bt_fail(error, BT_DATA,
                           "code is executed at 0x%x, where the graph has the code of %s, which "
                           "shares its addresses with other files",
                           *address, image->path);
        if (at - image->memory_address < image->size && is_present(image, tick))
            *address = (uint32_t)(at - image->memory_address + image->load_address);
    }
    return 0;
}
