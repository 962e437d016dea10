#define _DEFAULT_SOURCE     /* off64_t, which libelf's header needs */
#define _XOPEN_SOURCE   700 /* realpath */

#include "tools/symbols/image_times.h"
#include "tools/symbols/images.h"

#include "formats/base/printable.h"
#include "formats/base/regular_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE         4096u
#define SEGMENTS_MAX 64u

static void image_clear(struct image *image)
{
    for (size_t i = 0; i < image->segment_count; i++)
        free(image->segments[i].bytes);
    free(image->segments);
    free(image->path);
    free(image->full_path);
    free(image->times);
    debug_file_clear(&image->debug);
}

struct images *images_new(struct bt_error *error)
{
    struct images *images = calloc(1, sizeof *images);
    if (!images) {
        bt_fail(error, BT_MEMORY, "no memory for images");
        return NULL;
    }
    ZydisDecoderInit(&images->decoder32, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
    ZydisDecoderInit(&images->decoder64, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return images;
}

void images_free(struct images *images)
{
    if (!images)
        return;
    for (uint32_t i = 0; i < images->count; i++)
        image_clear(&images->images[i]);
    free(images->images);
    free(images);
}

/* --- "FILE@ADDRESS" --- */

/* Cuts an address off the end of path, if it has one. */
static bool split_specification(char *path, uint64_t *address)
{
    char *at = strrchr(path, '@');
    char *end;
    if (!at || at == path || at[1] < '0' || at[1] > '9')
        return false;
    errno = 0;
    *address = strtoull(at + 1, &end, 0);
    if (errno != 0 || *end != '\0')
        return false;
    *at = '\0';
    return true;
}

/* --- the file --- */

/* Cuts times off the end of the path, if it has some after an address. 0 or BT_MEMORY. */
static int split_times(struct image *image, struct bt_error *error)
{
    char *at = strrchr(image->path, '@');
    if (!at || at == image->path)
        return 0;
    *at = '\0';
    const char *before = strrchr(image->path, '@');
    bool timed = before && before[1] >= '0' && before[1] <= '9' &&
                 image_times_parse(at + 1, &image->times, &image->time_count);
    if (!timed)
        *at = '@';
    if (timed && !image->times)
        return bt_fail(error, BT_MEMORY, "no memory for images");
    return 0;
}

/* The range of pages that the file needs in memory. */
static int measure(Elf *elf, size_t headers, uint64_t *first, uint64_t *end, struct bt_error *error)
{
    *first = UINT64_MAX;
    *end = 0;
    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD || header.p_memsz == 0)
            continue;
        if (header.p_vaddr > UINT64_MAX - header.p_memsz)
            return bt_fail(error, BT_DATA, "program header %zu is too long for memory", i);
        if (header.p_vaddr < *first)
            *first = header.p_vaddr;
        if (header.p_vaddr + header.p_memsz > *end)
            *end = header.p_vaddr + header.p_memsz;
    }
    if (*end == 0)
        return bt_fail(error, BT_DATA, "nothing in it is loaded into memory");
    *first -= *first % PAGE;
    return 0;
}

static int read_segment(struct image *image, Elf *elf, const GElf_Phdr *header,
                        struct bt_error *error)
{
    struct image_segment *segment = &image->segments[image->segment_count];
    uint64_t size = header->p_filesz < header->p_memsz ? header->p_filesz : header->p_memsz;
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header->p_offset, size, ELF_T_BYTE);
    if (!data || data->d_size < size)
        return bt_fail(error, BT_DATA, "the file ends within its code");
    segment->bytes = malloc(size);
    if (!segment->bytes)
        return bt_fail(error, BT_MEMORY, "no memory for its code");
    memcpy(segment->bytes, data->d_buf, size);
    segment->address = header->p_vaddr + image->bias;
    segment->size = size;
    image->segment_count++;
    return 0;
}

static int read_code(struct image *image, Elf *elf, size_t headers, struct bt_error *error)
{
    image->segments = calloc(SEGMENTS_MAX, sizeof *image->segments);
    if (!image->segments)
        return bt_fail(error, BT_MEMORY, "no memory for its code");
    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
            !(header.p_flags & PF_X) || header.p_filesz == 0)
            continue;
        if (image->segment_count == SEGMENTS_MAX)
            return bt_fail(error, BT_DATA, "more than %u pieces of code", SEGMENTS_MAX);
        int result = read_segment(image, elf, &header, error);
        if (result != 0)
            return result;
    }
    if (image->segment_count == 0)
        return bt_fail(error, BT_DATA, "nothing in it can be executed");
    return 0;
}

static int check_machine(const GElf_Ehdr *header, struct bt_error *error)
{
    if (header->e_machine != EM_386 && header->e_machine != EM_X86_64)
        return bt_fail(error, BT_USAGE, "is not for x86");
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return bt_fail(error, BT_USAGE, "is neither an executable nor a shared object");
    return 0;
}

/* Where an image is loaded. */
struct placement {
    const uint64_t *wanted; /* its load address; NULL: the file's own */
    uint64_t address_max;   /* maximum load address */
};

/* Sets the load address of an image. */
static int place(struct image *image, uint64_t first, uint64_t end, bool anywhere,
                 const struct placement *placement, struct bt_error *error)
{
    const uint64_t *wanted = placement->wanted;
    if (!wanted && anywhere)
        return bt_fail(error, BT_USAGE,
                       "can be loaded anywhere: say where it was, as FILE@ADDRESS");
    image->load_address = wanted ? *wanted : first;
    image->memory_address = image->load_address;
    image->bias = image->load_address - first;
    image->size = end - first;
    if (image->load_address > UINT64_MAX - image->size)
        return bt_fail(error, BT_USAGE, "does not fit into memory at 0x%llx",
                       (unsigned long long)image->load_address);
    if (image->load_address > placement->address_max)
        return bt_fail(error, BT_USAGE,
                       "is at 0x%llx, and captures hold addresses of 32 bits: say where it was, as "
                       "FILE@ADDRESS",
                       (unsigned long long)image->load_address);
    return 0;
}

static int read_image(struct image *image, Elf *elf, const struct placement *placement,
                      struct bt_error *error)
{
    GElf_Ehdr header;
    size_t headers;
    uint64_t first;
    uint64_t end;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
        elf_getphdrnum(elf, &headers) != 0)
        return bt_fail(error, BT_DATA, "is not an ELF file");
    image->bits = header.e_machine == EM_X86_64 && header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    int result = check_machine(&header, error);
    if (result == 0)
        result = measure(elf, headers, &first, &end, error);
    if (result == 0)
        result = place(image, first, end, header.e_type == ET_DYN, placement, error);
    if (result == 0)
        result = read_code(image, elf, headers, error);
    return result;
}

static int open_image(struct image *image, const struct placement *placement,
                      struct bt_error *error)
{
    int file = regular_file_open(image->path, error);
    if (file < 0)
        return file;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    int result = elf ? read_image(image, elf, placement, error)
                     : bt_fail(error, BT_DATA, "is not an ELF file");
    if (result == 0) {
        char cache[DEBUG_FOLDER_BYTES];
        const struct debug_folders folders = debug_folders_usual(cache);
        image->debug = debug_file_find(elf, image->path, &folders);
        image->full_path = realpath(image->path, NULL);
    }
    elf_end(elf);
    close(file);
    return result;
}

/* --- the set --- */

/* Inserts an image in order of addresses. */
static int insert(struct images *images, const struct image *image, struct bt_error *error)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < images->count; i++) {
        const struct image *other = &images->images[i];
        place += other->load_address < image->load_address;
        if (other->load_address < image->load_address + image->size &&
            image->load_address < other->load_address + other->size &&
            (!images->allow_times || image_times_meet(image, other)))
            return bt_fail(error, BT_USAGE, "overlaps %s", other->path);
    }
    struct image *larger = realloc(images->images, (images->count + 1) * sizeof *images->images);
    if (!larger)
        return bt_fail(error, BT_MEMORY, "no memory for images");
    memmove(larger + place + 1, larger + place, (images->count - place) * sizeof *larger);
    larger[place] = *image;
    images->images = larger;
    images->count++;
    return 0;
}

/* Adds the image whose path is set, and takes the path. */
static int add(struct images *images, struct image *image, const struct placement *placement,
               struct bt_error *error)
{
    int result = open_image(image, placement, error);
    if (result == 0)
        result = insert(images, image, error);
    if (result != 0) {
        bt_fail_within(error, "%.200s", image->path);
        image_clear(image);
    }
    return result;
}

int images_add(struct images *images, const char *specification, struct bt_error *error)
{
    struct image image = {.path = strdup(specification)};
    uint64_t address;
    if (images->count == IMAGE_COUNT_MAX) {
        free(image.path);
        return bt_fail(error, BT_USAGE, "more than %u images", IMAGE_COUNT_MAX);
    }
    if (!image.path)
        return bt_fail(error, BT_MEMORY, "no memory for images");
    if (split_times(&image, error) != 0) {
        image_clear(&image);
        return BT_MEMORY;
    }
    bool placed = split_specification(image.path, &address);
    const struct placement placement = {placed ? &address : NULL, UINT32_MAX};
    return add(images, &image, &placement, error);
}

int images_add_at(struct images *images, const char *path, uint64_t address, struct bt_error *error)
{
    struct image image = {.path = strdup(path)};
    const struct placement placement = {&address, UINT64_MAX};
    return image.path ? add(images, &image, &placement, error)
                      : bt_fail(error, BT_MEMORY, "no memory for images");
}

void images_print_refused(const struct images *images, FILE *out)
{
    for (uint32_t i = 0; i < images_count(images); i++)
        if (images->images[i].debug.refused)
            fprintf(out, "bustap: %s\n", PRINTABLE(images->images[i].debug.refused));
}

uint32_t images_count(const struct images *images)
{
    return images ? images->count : 0;
}

const struct image *images_get(const struct images *images, uint32_t number)
{
    return &images->images[number];
}

uint32_t images_find(const struct images *images, uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = images_count(images);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct image *image = &images->images[middle];
        if (address < image->load_address)
            high = middle;
        else if (address - image->load_address >= image->size)
            low = middle + 1;
        else
            return middle;
    }
    return IMAGE_NONE;
}

const uint8_t *images_code(const struct images *images, uint64_t address, size_t *size)
{
    uint32_t number = images_find(images, address);
    if (number == IMAGE_NONE)
        return NULL;
    const struct image *image = &images->images[number];
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct image_segment *segment = &image->segments[i];
        if (address - segment->address < segment->size) {
            *size = (size_t)(segment->size - (address - segment->address));
            return segment->bytes + (address - segment->address);
        }
    }
    return NULL;
}
