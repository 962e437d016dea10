/*
 * Separate debug files: the symbols and source lines that were taken out of an ELF file, as
 * Debian's -dbg packages have them. GDB looks for them at the same places ("Debugging Information
 * in Separate Files" of its manual).
 */
#ifndef TOOLS_SYMBOLS_DEBUG_FILE_H
#define TOOLS_SYMBOLS_DEBUG_FILE_H

#include <libelf.h>

/* Where to look. */
struct debug_folders {
    const char *root;  /* the global folder, /usr/lib/debug */
    const char *cache; /* the cache of debuginfod clients; NULL: none */
};

#define DEBUG_FOLDER_BYTES 4096u

struct debug_file {
    char *path;    /* NULL: none */
    char *refused; /* why a candidate is not used: a sentence; NULL: none was refused */
};

/* The folders that this machine has; cache is where the name of the second one goes. */
struct debug_folders debug_folders_usual(char cache[DEBUG_FOLDER_BYTES]);

/*
 * Finds the debug file of the ELF file at a path, unless that has symbols and lines itself: by its
 * build id (.build-id in the root, the cache), then by its debug link (its own folder, .debug
 * there, the same folder in the root). Its build id, or else the link's CRC, must be the ELF
 * file's. Without memory there is none. Free with debug_file_clear().
 */
struct debug_file debug_file_find(Elf *elf, const char *path, const struct debug_folders *folders);

void debug_file_clear(struct debug_file *file);

#endif
