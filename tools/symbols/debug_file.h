/*
 * Separate debug files: the symbols and source lines that were removed from an ELF file, such as in
 * Debian's -dbg packages. GDB searches the same folders ("Debugging Information in Separate
 * Files" of its manual).
 */
#ifndef TOOLS_SYMBOLS_DEBUG_FILE_H
#define TOOLS_SYMBOLS_DEBUG_FILE_H

#include <libelf.h>

/* Folders to search. */
struct debug_folders {
    const char *root;  /* the global folder, /usr/lib/debug */
    const char *cache; /* the cache of debuginfod clients; NULL: none */
};

#define DEBUG_FOLDER_BYTES 4096u

struct debug_file {
    char *path;    /* NULL: none */
    char *refused; /* sentence why a candidate is not used; NULL: none was rejected */
};

/* The folders of this machine. cache is the buffer for the name of the cache folder. */
struct debug_folders debug_folders_usual(char cache[DEBUG_FOLDER_BYTES]);

/*
 * Finds the debug file of the ELF file at a path, unless that contains symbols and lines itself: by
 * its build id (.build-id in the root, the cache), then by its debug link (the ELF file's folder,
 * its subfolder .debug, the same folder in the root). The build ids must be equal; a file found by
 * the debug link must have the link's CRC. None if memory is short. Free with debug_file_clear().
 */
struct debug_file debug_file_find(Elf *elf, const char *path, const struct debug_folders *folders);

void debug_file_clear(struct debug_file *file);

#endif
