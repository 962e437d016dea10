#define _DEFAULT_SOURCE /* off64_t, which libelf's header needs */
#include "tools/symbols/exec_symbol.h"

#include "formats/base/regular_file.h"
#include "tools/symbols/debug_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_MASK UINT64_C(0xfff)

static int parse_number(uint64_t *number, const char *text)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 16);
    return strncmp(text, "0x", 2) == 0 && end != text + 2 && !*end && errno == 0 ? 0 : -1;
}

int exec_symbol_parse(struct exec_symbol *symbol, const char *text, struct bt_error *error)
{
    *symbol = (struct exec_symbol){.text = text};
    if (strncmp(text, "0x", 2) == 0) {
        if (parse_number(&symbol->address, text) < 0 || symbol->address == 0)
            return bt_fail(error, BT_USAGE, "\"%.60s\" is not an address", text);
        return 0;
    }
    const char *plus = strrchr(text, '+');
    size_t length = plus ? (size_t)(plus - text) : strlen(text);
    if (length == 0 || (plus && parse_number(&symbol->offset, plus + 1) < 0))
        return bt_fail(error, BT_USAGE,
                       "\"%.60s\" should be FUNCTION, FUNCTION+0xOFFSET or "
                       "0xADDRESS",
                       text);
    symbol->name = strndup(text, length);
    return symbol->name ? 0 : bt_fail(error, BT_MEMORY, "no memory for a name");
}

void exec_symbol_clear(struct exec_symbol *symbol)
{
    free(symbol->name);
    free(symbol->refused);
    symbol->name = NULL;
    symbol->refused = NULL;
}

/* Address in the file of its first loaded page. */
static uint64_t first_page(Elf *elf)
{
    size_t count = 0;
    uint64_t lowest = UINT64_MAX;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
            header.p_vaddr < lowest)
            lowest = header.p_vaddr;
    }
    return lowest & ~PAGE_MASK;
}

static bool is_function(const GElf_Sym *symbol)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

/* Finds the function in one section of symbols; 0: not found. */
static uint64_t find_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                        struct exec_symbol *wanted)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || !is_function(&symbol))
            continue;
        const char *other = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (other && strcmp(other, wanted->name) == 0) {
            wanted->size = symbol.st_size;
            return symbol.st_value;
        }
    }
    return 0;
}

/* Returns the symbol's address in the file, and that of the first loaded page in *page. 0: not
 * found; then *debug is the file's debug file, unless debug is NULL. */
static uint64_t find_in_file(const char *path, struct exec_symbol *wanted, uint64_t *page,
                             struct debug_file *debug)
{
    uint64_t value = 0;
    int file = regular_file_open(path, NULL);
    if (file < 0 || elf_version(EV_CURRENT) == EV_NONE) {
        if (file >= 0)
            close(file);
        return 0;
    }
    Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    Elf_Scn *section = NULL;
    while (elf && value == 0 && (section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            value = find_in(elf, section, &header, wanted);
    }
    *page = elf ? first_page(elf) : 0;
    if (elf && value == 0 && debug) {
        char cache[DEBUG_FOLDER_BYTES];
        const struct debug_folders folders = debug_folders_usual(cache);
        *debug = debug_file_find(elf, path, &folders);
    }
    elf_end(elf);
    close(file);
    return value;
}

/* The same, also in the debug file. Keeps why the first rejected debug file was rejected. */
static uint64_t find(struct exec_symbol *symbol, const char *path, uint64_t *page)
{
    struct debug_file debug = {.path = NULL};
    uint64_t other;
    uint64_t value = find_in_file(path, symbol, page, &debug);
    if (value == 0 && debug.path)
        value = find_in_file(debug.path, symbol, &other, NULL);
    if (!symbol->refused) {
        symbol->refused = debug.refused;
        debug.refused = NULL;
    }
    debug_file_clear(&debug);
    return value;
}

bool exec_symbol_look(struct exec_symbol *symbol, const struct modules *modules)
{
    while (symbol->name && symbol->address == 0 && symbol->looked < modules_count(modules)) {
        const struct module *module = modules_get(modules, symbol->looked++);
        uint64_t page;
        uint64_t value = find(symbol, module->path, &page);
        if (value != 0)
            symbol->address = value - page + module->load_address + symbol->offset;
    }
    return symbol->address != 0;
}
