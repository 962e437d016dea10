#define _GNU_SOURCE /* memmem */
#include "capture/exec/memory/sanitizer.h"

#include <libelf.h>
#include <stddef.h>
#include <string.h>

/* Initializers that instrumented code calls: __asan_init, ... */
#define INIT "san_init"

static const struct {
    const char *symbol;
    const char *name;
} sanitizers[] = {{"__asan_init", "address"},     {"__tsan_init", "thread"},
                  {"__msan_init", "memory"},      {"__lsan_init", "leak"},
                  {"__hwasan_init", "hwaddress"}, {"__dfsan_init", "dataflow"}};

/* The sanitizer whose symbol ends with INIT. In a string table a NUL precedes each string. */
static const char *name_at(const char *strings, const char *init)
{
    const char *end = init + strlen(INIT);
    for (size_t i = 0; i < sizeof sanitizers / sizeof *sanitizers; i++) {
        size_t length = strlen(sanitizers[i].symbol);
        if ((size_t)(end - strings) > length && end[-(ptrdiff_t)length - 1] == '\0' &&
            memcmp(end - length, sanitizers[i].symbol, length) == 0)
            return sanitizers[i].name;
    }
    return NULL;
}

static const char *find_in(const char *strings, size_t size)
{
    const char *name = NULL;
    const char *at = strings;
    while (!name && (at = memmem(at, size - (size_t)(at - strings), INIT, sizeof INIT)) != NULL)
        name = name_at(strings, at++);
    return name;
}

const char *sanitizer_find(int file)
{
    const char *name = NULL;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
    for (Elf_Scn *section = NULL; elf && !name && (section = elf_nextscn(elf, section)) != NULL;) {
        Elf64_Shdr *header = elf64_getshdr(section);
        Elf_Data *data =
            header && header->sh_type == SHT_STRTAB ? elf_getdata(section, NULL) : NULL;
        if (data && data->d_buf)
            name = find_in(data->d_buf, data->d_size);
    }
    elf_end(elf);
    return name;
}
