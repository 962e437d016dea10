#define _DEFAULT_SOURCE /* off64_t, which libelf's header needs */

#include "tools/symbols/image_names.h"

#include "formats/base/grow.h"
#include "formats/base/hash.h"
#include "formats/base/hash_index.h"
#include "formats/base/regular_file.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX (1u << 28) /* maximum number of symbols, or of lines */

/* Parts of the names to read. */
enum { ROUTINES = 1, VARIABLES = 2, LINES = 4, CODE = 8 };

/* State while names are read. */
struct reading {
    struct image_names *names;
    const struct image *image;
    bool data; /* read variables, else routines */
    size_t symbol_capacity;
    size_t line_capacity;
    size_t file_capacity;
    uint64_t seed;             /* for the hashes of paths */
    struct hash_index by_path; /* of names->files */
    const char *last_file;     /* path of the last file, as libdw returned it */
    uint32_t last_number;      /* number of the last file */
};

/* The end of the segment that contains an address, the nearest of several; 0: no code. */
static uint64_t segment_end(const struct image *image, uint64_t address)
{
    uint64_t end = 0;
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct image_segment *segment = &image->segments[i];
        const uint64_t its_end = segment->address + segment->size;
        if (address - segment->address < segment->size && (end == 0 || its_end < end))
            end = its_end;
    }
    return end;
}

/* Whether there is code at an address. */
static bool is_code(const struct image *image, uint64_t address)
{
    return segment_end(image, address) != 0;
}

/* --- symbols --- */

/* Whether a symbol is a variable, or a routine or label of assembler code. Excludes names that
 * assemblers and compilers generate ("$x", ".L1"). */
static bool wanted(const struct reading *reading, const GElf_Sym *symbol, const char *name)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || !name || name[0] == '\0' || name[0] == '$' ||
        name[0] == '.')
        return false;
    if (reading->data)
        return type == STT_OBJECT && symbol->st_size > 0;
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
        return false;
    return is_code(reading->image, symbol->st_value + reading->image->bias);
}

/* The end of a symbol's section in memory; UINT64_MAX: unknown. */
static uint64_t section_end(const struct reading *reading, Elf *elf, const GElf_Sym *symbol)
{
    GElf_Shdr header;
    Elf_Scn *section = symbol->st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol->st_shndx) : NULL;
    if (!section || !gelf_getshdr(section, &header) ||
        symbol->st_value - header.sh_addr >= header.sh_size)
        return UINT64_MAX;
    return header.sh_addr + header.sh_size + reading->image->bias;
}

static int add_symbol(struct reading *reading, Elf *elf, const GElf_Sym *symbol, const char *name)
{
    struct image_names *names = reading->names;
    struct image_symbol *rows = grow_array(names->symbols, &reading->symbol_capacity,
                                           names->symbol_count + 1, sizeof *rows);
    if (!rows)
        return BT_MEMORY;
    names->symbols = rows;
    char *copy = strdup(name);
    if (!copy)
        return BT_MEMORY;
    int type = GELF_ST_TYPE(symbol->st_info);
    rows[names->symbol_count++] =
        (struct image_symbol){.address = symbol->st_value + reading->image->bias,
                              .size = symbol->st_size,
                              .name = copy,
                              .end = section_end(reading, elf, symbol),
                              .routine = type == STT_FUNC || type == STT_GNU_IFUNC};
    return 0;
}

/* By address. Of several names of an address, the one with the fewest leading underscores is the
 * public one and is first. */
static int by_address(const void *a, const void *b)
{
    const struct image_symbol *left = a;
    const struct image_symbol *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    if (left->size != right->size)
        return left->size > right->size ? -1 : 1;
    const size_t private_left = strspn(left->name, "_"), private_right = strspn(right->name, "_");
    if (private_left != private_right)
        return private_left < private_right ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* Extends a symbol without a size to the next one or the end of its section. Cuts sizes off at the
 * end of the segment: graphs require symbols within their image. */
static void close_symbols(struct image_names *names, const struct image *image)
{
    uint64_t next = UINT64_MAX; /* address of the next symbol */
    for (size_t i = names->symbol_count; i-- > 0;) {
        struct image_symbol *symbol = &names->symbols[i];
        const uint64_t end = segment_end(image, symbol->address);
        const uint64_t limit = symbol->end < next ? symbol->end : next;
        if (symbol->size == 0)
            symbol->size = (end != 0 && end < limit ? end : limit) - symbol->address;
        if (end != 0 && symbol->size > end - symbol->address)
            symbol->size = end - symbol->address;
        if (i > 0 && names->symbols[i - 1].address != symbol->address)
            next = symbol->address;
    }
}

/* Sorts the symbols and removes duplicates, which are in both symbol tables. */
static void sort_symbols(struct image_names *names, const struct image *image)
{
    size_t kept = 0;
    if (names->symbol_count > 0)
        qsort(names->symbols, names->symbol_count, sizeof *names->symbols, by_address);
    for (size_t i = 0; i < names->symbol_count; i++) {
        struct image_symbol *symbol = &names->symbols[i];
        const struct image_symbol *last = kept > 0 ? &names->symbols[kept - 1] : NULL;
        if (last && last->address == symbol->address && strcmp(last->name, symbol->name) == 0)
            free(symbol->name);
        else
            names->symbols[kept++] = *symbol;
    }
    names->symbol_count = kept;
    close_symbols(names, image);
}

static int read_symbols(struct reading *reading, Elf *elf)
{
    int result = 0;
    Elf_Scn *section = NULL;
    while (result == 0 && (section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_entsize == 0 ||
            (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        size_t count = data ? data->d_size / header.sh_entsize : 0;
        for (size_t i = 0; i < count && i < NAMES_MAX && result == 0; i++) {
            GElf_Sym symbol;
            if (!gelf_getsym(data, (int)i, &symbol))
                break;
            const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (wanted(reading, &symbol, name))
                result = add_symbol(reading, elf, &symbol, name);
        }
    }
    return result;
}

/* --- lines --- */

static int add_file(struct reading *reading, uint32_t hash, const char *path)
{
    struct image_names *names = reading->names;
    char **files =
        grow_array(names->files, &reading->file_capacity, names->file_count + 1, sizeof *files);
    if (!files)
        return BT_MEMORY;
    names->files = files;
    files[names->file_count] = strdup(path);
    if (!files[names->file_count])
        return BT_MEMORY;
    if (hash_index_add(&reading->by_path, hash, (uint32_t)names->file_count) == 0) {
        names->file_count++;
        return 0;
    }
    free(files[names->file_count]);
    return BT_MEMORY;
}

/* Finds or adds a file; compilation units that have the same path share its number. */
static int number_file(struct reading *reading, const char *path, uint32_t *number)
{
    if (path == reading->last_file) {
        *number = reading->last_number;
        return 0;
    }
    const uint32_t hash = (uint32_t)(hash_octets(reading->seed, path, strlen(path)) >> 32);
    struct hash_search search = hash_search(&reading->by_path, hash);
    bool found = false;
    while (!found && hash_search_next(&search))
        found = strcmp(reading->names->files[search.number], path) == 0;
    if (!found && add_file(reading, hash, path) != 0)
        return BT_MEMORY;
    reading->last_file = path;
    reading->last_number = *number =
        found ? search.number : (uint32_t)reading->names->file_count - 1;
    return 0;
}

/* Adds the code of a line, up to the next row or the end of the segment. Joins adjacent rows of the
 * same line. */
static int add_line(struct reading *reading, uint64_t address, uint64_t end, uint32_t file,
                    uint32_t number)
{
    struct image_names *names = reading->names;
    struct image_line *last = names->line_count ? &names->lines[names->line_count - 1] : NULL;
    const uint64_t limit = segment_end(reading->image, address);
    end = end < limit ? end : limit; /* 0: no code */
    if (end <= address || end - address > UINT32_MAX)
        return 0;
    uint32_t size = (uint32_t)(end - address);
    if (last && last->address + last->size == address && last->file == file &&
        last->line == number && last->size <= UINT32_MAX - size) {
        last->size += size;
        return 0;
    }
    if (names->line_count == NAMES_MAX)
        return 0;
    struct image_line *rows =
        grow_array(names->lines, &reading->line_capacity, names->line_count + 1, sizeof *rows);
    if (!rows)
        return BT_MEMORY;
    names->lines = rows;
    rows[names->line_count++] =
        (struct image_line){.address = address, .size = size, .file = file, .line = number};
    return 0;
}

static int read_unit(struct reading *reading, Dwarf_Lines *lines, size_t count)
{
    int result = 0;
    for (size_t i = 0; i + 1 < count && result == 0; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        Dwarf_Addr end;
        bool sequence_ends;
        int number;
        uint32_t file;
        if (dwarf_lineaddr(line, &address) != 0 ||
            dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &end) != 0 ||
            dwarf_lineendsequence(line, &sequence_ends) != 0 || sequence_ends ||
            dwarf_lineno(line, &number) != 0 || number <= 0)
            continue;
        const char *path = dwarf_linesrc(line, NULL, NULL);
        if (!path)
            continue;
        result = number_file(reading, path, &file);
        if (result == 0)
            result = add_line(reading, address + reading->image->bias, end + reading->image->bias,
                              file, (uint32_t)number);
    }
    return result;
}

static int by_line_address(const void *a, const void *b)
{
    const struct image_line *left = a;
    const struct image_line *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return left->line < right->line ? -1 : left->line > right->line;
}

static int read_lines(struct reading *reading, Elf *elf)
{
    int result = 0;
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dwarf && result == 0 &&
           dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
        Dwarf_Lines *lines;
        size_t count;
        reading->last_file = NULL;
        if (dwarf_getsrclines(&die, &lines, &count) == 0)
            result = read_unit(reading, lines, count);
    }
    dwarf_end(dwarf);
    struct image_names *names = reading->names;
    if (names->line_count > 0)
        qsort(names->lines, names->line_count, sizeof *names->lines, by_line_address);
    return result;
}

/* --- sections --- */

/* Finds the sections with code, and by their names the procedure linkage tables. */
static int read_sections(struct reading *reading, Elf *elf)
{
    struct image_names *names = reading->names;
    Elf_Scn *section = NULL;
    size_t strings;
    if (elf_getshdrstrndx(elf, &strings) != 0)
        return 0;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
            continue;
        uint64_t address = header.sh_addr + reading->image->bias;
        const char *name = elf_strptr(elf, strings, header.sh_name);
        if (names->section_count < IMAGE_SECTIONS_MAX)
            names->sections[names->section_count++] = address;
        if (name && (strcmp(name, ".plt") == 0 || strncmp(name, ".plt.", 5) == 0) &&
            names->stub_count < IMAGE_STUBS_MAX)
            names->stubs[names->stub_count++] =
                (struct image_stubs){.address = address, .size = header.sh_size};
    }
    return 0;
}

/* --- starts --- */

#define EH_TABLE_AT    12u   /* header size: 4 bytes, the pointer to .eh_frame, the count */
#define EH_POINTERS    0x1bu /* relative to themselves, 4 bytes with a sign */
#define EH_COUNT       0x03u /* 4 bytes */
#define EH_TABLE       0x3bu /* pairs relative to the header, 4 bytes with a sign */
#define EH_TABLE_ENTRY 8u

static int by_start(const void *a, const void *b)
{
    const uint64_t *left = a;
    const uint64_t *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* Reads the search table of .eh_frame_hdr (LSB 5.0) in the encoding that linkers use. */
static int read_table_of_starts(struct image_names *names, const struct image *image,
                                const uint8_t *bytes, size_t size, uint64_t address)
{
    uint32_t count, offset;
    if (size < EH_TABLE_AT || bytes[0] != 1 || bytes[1] != EH_POINTERS || bytes[2] != EH_COUNT ||
        bytes[3] != EH_TABLE)
        return 0;
    memcpy(&count, bytes + 8, sizeof count);
    if (count > (size - EH_TABLE_AT) / EH_TABLE_ENTRY || count == 0)
        return 0;
    names->starts = malloc(count * sizeof *names->starts);
    if (!names->starts)
        return BT_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&offset, bytes + EH_TABLE_AT + (size_t)i * EH_TABLE_ENTRY, sizeof offset);
        names->starts[i] = address + (uint64_t)(int64_t)(int32_t)offset + image->bias;
    }
    names->start_count = count;
    qsort(names->starts, count, sizeof *names->starts, by_start);
    return 0;
}

static int read_starts(struct reading *reading, Elf *elf)
{
    size_t headers;
    if (elf_getphdrnum(elf, &headers) != 0)
        return 0;
    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_GNU_EH_FRAME)
            continue;
        Elf_Data *data =
            elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
        return data && data->d_buf ? read_table_of_starts(reading->names, reading->image,
                                                          data->d_buf, data->d_size, header.p_vaddr)
                                   : 0;
    }
    return 0;
}

/* Reads parts (`what`) of the names from the image's file or its debug file. */
static int read_file(struct reading *reading, const char *path, unsigned what,
                     struct bt_error *error)
{
    int file = regular_file_open(path, error);
    if (file < 0)
        return bt_fail_within(error, "%.200s", path);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    int result = elf && elf_kind(elf) == ELF_K_ELF ? 0 : BT_DATA;
    if (result != 0)
        bt_fail(error, BT_DATA, "%s: is no longer an ELF file", path);
    if (result == 0 && (what & (ROUTINES | VARIABLES)))
        result = read_symbols(reading, elf);
    if (result == 0 && (what & CODE))
        result = read_sections(reading, elf);
    if (result == 0 && (what & CODE))
        result = read_starts(reading, elf);
    if (result == 0 && (what & LINES))
        result = read_lines(reading, elf);
    elf_end(elf);
    close(file);
    if (result == BT_MEMORY)
        bt_fail(error, BT_MEMORY, "%s: no memory for its names", path);
    return result;
}

static int read_names(struct image_names *names, const struct image *image, unsigned what,
                      struct bt_error *error)
{
    struct reading reading = {.names = names, .image = image, .data = what & VARIABLES};
    reading.seed = hash_seed(&reading);
    *names = (struct image_names){.symbol_count = 0};
    int result = read_file(&reading, image->path, what, error);
    if (names->line_count > 0)
        what &= ~(unsigned)LINES;
    if (result == 0 && image->debug.path)
        result = read_file(&reading, image->debug.path, what & ~(unsigned)CODE, error);
    sort_symbols(names, image);
    hash_index_clear(&reading.by_path);
    if (result != 0)
        image_names_clear(names);
    return result;
}

int image_names_read(struct image_names *names, const struct image *image, struct bt_error *error)
{
    return read_names(names, image, ROUTINES | LINES | CODE, error);
}

int image_names_read_variables(struct image_names *names, const struct image *image,
                               struct bt_error *error)
{
    return read_names(names, image, VARIABLES, error);
}

int image_names_read_routines(struct image_names *names, const struct image *image,
                              struct bt_error *error)
{
    return read_names(names, image, ROUTINES | CODE, error);
}

int image_names_read_lines(struct image_names *names, const struct image *image,
                           struct bt_error *error)
{
    return read_names(names, image, LINES, error);
}

void image_names_clear(struct image_names *names)
{
    for (size_t i = 0; i < names->symbol_count; i++)
        free(names->symbols[i].name);
    for (size_t i = 0; i < names->file_count; i++)
        free(names->files[i]);
    free(names->symbols);
    free(names->lines);
    free(names->files);
    free(names->starts);
    *names = (struct image_names){.symbol_count = 0};
}
