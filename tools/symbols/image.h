/*
 * The programs whose instructions were fetched: ELF files, where they were loaded, and what the
 * instruction at an address is. x86, 32 and 64 bits wide.
 */
#ifndef TOOLS_SYMBOLS_IMAGE_H
#define TOOLS_SYMBOLS_IMAGE_H

#include "formats/base/error.h"
#include "tools/symbols/debug_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define IMAGE_NONE        UINT32_MAX
#define IMAGE_INSTRUCTION 15u /* no x86 instruction has more bytes */
#define IMAGE_COUNT_MAX   1024u

/* What an instruction does with the flow of control. */
enum image_branch {
    IMAGE_PLAIN,       /* continues with the next one */
    IMAGE_CONDITIONAL, /* to its target, or to the next one */
    IMAGE_JUMP,
    IMAGE_INDIRECT_JUMP,
    IMAGE_CALL,
    IMAGE_INDIRECT_CALL,
    IMAGE_RETURN,
    IMAGE_SYSTEM_CALL,    /* SYSCALL, SYSENTER, INT n */
    IMAGE_SYSTEM_RETURN,  /* SYSRET, SYSEXIT */
    IMAGE_CONTEXT_RETURN, /* IRET */
    IMAGE_REPEAT          /* a string instruction with a REP prefix: again, or the next one */
};

struct image_instruction {
    uint64_t target; /* of IMAGE_CONDITIONAL, IMAGE_JUMP and IMAGE_CALL */
    uint8_t size;    /* bytes */
    uint8_t branch;  /* enum image_branch */
};

/* Code in memory. */
struct image_segment {
    uint64_t address;
    uint64_t size;
    uint8_t *bytes;
};

struct image {
    char *path;
    uint64_t load_address;          /* of its first page */
    uint64_t size;                  /* from load_address to its end */
    uint64_t bias;                  /* load address minus the file's address */
    unsigned bits;                  /* 32 or 64 */
    struct image_segment *segments; /* those that can be executed */
    size_t segment_count;
    struct debug_file debug; /* with the symbols and lines that the file has not */
};

struct images;

/* NULL and *error without memory. */
struct images *images_new(struct bt_error *error);
void images_free(struct images *images);

/*
 * Reads "FILE" or "FILE@ADDRESS": the address is where the file's first loaded page was, needed for
 * what can be anywhere, and for what the capture saw at other addresses than the file says. 0,
 * BT_USAGE (needs an address, overlaps another image, is for another machine), BT_DATA (no valid
 * ELF file), BT_IO or BT_MEMORY.
 */
int images_add(struct images *images, const char *specification, struct bt_error *error);

/* The same for the file at path, at any address of 64 bits. */
int images_add_at(struct images *images, const char *path, uint64_t address,
                  struct bt_error *error);

/* Prints why files that seem to be debug files of the images are not used, a line each. */
void images_print_refused(const struct images *images, FILE *out);

/* The number of images, and one of them, in the order of their addresses. */
uint32_t images_count(const struct images *images);
const struct image *images_get(const struct images *images, uint32_t number);

/* The image that an address is in, or IMAGE_NONE. */
uint32_t images_find(const struct images *images, uint64_t address);

/* The *size contiguous bytes of code at an address; NULL: no code. */
const uint8_t *images_code(const struct images *images, uint64_t address, size_t *size);

/* Decodes the instruction at an address. False: no code, or no valid instruction. */
bool images_instruction(const struct images *images, uint64_t address,
                        struct image_instruction *instruction);

/* The number of instructions from an address on that begin within size bytes. */
uint32_t images_count_instructions(const struct images *images, uint64_t address, uint64_t size);

#endif
