/* Small ELF files with code in them, for tests. */
#ifndef TESTS_SUPPORT_ELF_FILE_H
#define TESTS_SUPPORT_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_FILE_SYMBOLS 16u
#define ELF_FILE_OFFSET  0x1000u /* of the code, in the file and from the load address */

struct elf_file {
    unsigned bits;         /* 32 or 64 */
    bool anywhere;         /* position independent */
    uint32_t load_address; /* of the file's first page; the code is ELF_FILE_OFFSET after it */
    const uint8_t *code;
    size_t code_size;
    struct {
        const char *name; /* NULL after the last one */
        uint32_t offset;  /* from the load address */
        uint32_t size;
    } symbols[ELF_FILE_SYMBOLS];
};

/* Writes the file. Ends the test program on failure. */
void elf_file_write(const struct elf_file *file, const char *path);

#endif
