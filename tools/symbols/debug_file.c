#define _DEFAULT_SOURCE     /* off64_t, which libelf's header needs */
#define _XOPEN_SOURCE   700 /* realpath */

#include "tools/symbols/debug_file.h"

#include "formats/base/regular_file.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define ROOT           "/usr/lib/debug"
#define BUILD_ID_BYTES 64u /* maximum; linkers write fewer */
#define CHUNK          65536u

/* A search for the debug file of an ELF file. */
struct search {
    const char *path; /* absolute path of the ELF file */
    struct stat status;
    char build_id[2 * BUILD_ID_BYTES + 1]; /* its build id, hexadecimal; "": none */
    const char *link;                      /* its debug link; NULL: none */
    GElf_Word crc;                         /* CRC in the debug link */
    struct debug_file found;
};

__attribute__((format(printf, 2, 3))) static bool make_path(char path[DEBUG_FOLDER_BYTES],
                                                            const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, DEBUG_FOLDER_BYTES, format, arguments);
    va_end(arguments);
    return length > 0 && length < (int)DEBUG_FOLDER_BYTES;
}

struct debug_folders debug_folders_usual(char cache[DEBUG_FOLDER_BYTES])
{
    const char *own = getenv("DEBUGINFOD_CACHE_PATH");
    const char *caches = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    bool known = false;
    if (own && *own)
        known = make_path(cache, "%s", own);
    else if (caches && *caches)
        known = make_path(cache, "%s/debuginfod_client", caches);
    else if (home && *home)
        known = make_path(cache, "%s/.cache/debuginfod_client", home);
    return (struct debug_folders){.root = ROOT, .cache = known ? cache : NULL};
}

/* --- whether a file belongs to the ELF file --- */

static void read_build_id(Elf *elf, char text[2 * BUILD_ID_BYTES + 1])
{
    const void *id;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
    text[0] = '\0';
    for (ssize_t i = 0; size <= (ssize_t)BUILD_ID_BYTES && i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
}

static bool has_crc(int file, GElf_Word wanted)
{
    uint8_t *bytes = malloc(CHUNK);
    uLong crc = crc32(0, NULL, 0);
    off_t at = 0;
    ssize_t count = -1;
    while (bytes && (count = pread(file, bytes, CHUNK, at)) > 0) {
        crc = crc32(crc, bytes, (uInt)count);
        at += count;
    }
    free(bytes);
    return count == 0 && crc == wanted;
}

/* NULL if the file belongs to the ELF file, else the reason why not. */
static const char *check(const struct search *search, int file, bool linked)
{
    char build_id[2 * BUILD_ID_BYTES + 1];
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    bool sound = elf && elf_kind(elf) == ELF_K_ELF;
    if (sound)
        read_build_id(elf, build_id);
    elf_end(elf);
    if (!sound)
        return "it is not an ELF file";
    if (linked ? build_id[0] && search->build_id[0] && strcmp(build_id, search->build_id) != 0
               : strcmp(build_id, search->build_id) != 0)
        return "it has another build id";
    if (linked && !has_crc(file, search->crc))
        return "its CRC is not that of the debug link";
    return NULL;
}

static char *sentence(const char *path, const char *of, const char *why)
{
    size_t size = strlen(path) + strlen(of) + strlen(why) + 64;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%s is not used as the debug file of %s: %s", path, of, why);
    return text;
}

/* Checks a candidate. True: it is the debug file. */
static bool try_file(struct search *search, const char *path, bool linked)
{
    struct stat status;
    const char *why = NULL;
    int file = regular_file_open(path, NULL);
    if (file < 0)
        return false;
    bool usable =
        fstat(file, &status) == 0 && status.st_size > 0 &&
        (status.st_ino != search->status.st_ino || status.st_dev != search->status.st_dev);
    if (usable)
        why = check(search, file, linked);
    close(file);
    if (usable && why && !search->found.refused)
        search->found.refused = sentence(path, search->path, why);
    if (usable && !why)
        search->found.path = strdup(path);
    return search->found.path != NULL;
}

/* --- where debug files are searched for --- */

static bool find_by_build_id(struct search *search, const struct debug_folders *folders)
{
    char path[DEBUG_FOLDER_BYTES];
    const char *id = search->build_id;
    if (strlen(id) <= 2)
        return false;
    if (make_path(path, "%s/.build-id/%.2s/%s.debug", folders->root, id, id + 2) &&
        try_file(search, path, false))
        return true;
    return folders->cache && make_path(path, "%s/%s/debuginfo", folders->cache, id) &&
           try_file(search, path, false);
}

static bool find_by_link(struct search *search, const struct debug_folders *folders)
{
    char path[DEBUG_FOLDER_BYTES];
    int folder = (int)(strrchr(search->path, '/') - search->path);
    if (!search->link || strchr(search->link, '/'))
        return false;
    if (make_path(path, "%.*s/%s", folder, search->path, search->link) &&
        try_file(search, path, true))
        return true;
    if (make_path(path, "%.*s/.debug/%s", folder, search->path, search->link) &&
        try_file(search, path, true))
        return true;
    return make_path(path, "%s%.*s/%s", folders->root, folder, search->path, search->link) &&
           try_file(search, path, true);
}

/* Whether the ELF file itself contains symbols and lines. */
static bool is_whole(Elf *elf)
{
    Elf_Scn *section = NULL;
    bool symbols = false, lines = false;
    size_t strings;
    if (elf_getshdrstrndx(elf, &strings) != 0)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, strings, header.sh_name) : NULL;
        symbols |= name && header.sh_type == SHT_SYMTAB;
        lines |= name && header.sh_type != SHT_NOBITS &&
                 (strcmp(name, ".debug_line") == 0 || strcmp(name, ".zdebug_line") == 0);
    }
    return symbols && lines;
}

struct debug_file debug_file_find(Elf *elf, const char *path, const struct debug_folders *folders)
{
    struct search search = {.found = {.path = NULL}};
    if (is_whole(elf))
        return search.found;
    char *whole = realpath(path, NULL);
    if (whole && stat(whole, &search.status) == 0) {
        search.path = whole;
        read_build_id(elf, search.build_id);
        search.link = dwelf_elf_gnu_debuglink(elf, &search.crc);
        if (find_by_build_id(&search, folders) || find_by_link(&search, folders)) {
            free(search.found.refused);
            search.found.refused = NULL;
        }
    }
    free(whole);
    return search.found;
}

void debug_file_clear(struct debug_file *file)
{
    free(file->path);
    free(file->refused);
    *file = (struct debug_file){.path = NULL};
}
