/*
 * Images, the programs whose instructions were fetched: ELF files with their load addresses, and
 * the instruction at an address. x86, 32 and 64 bits.
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
#define IMAGE_INSTRUCTION 15u /* maximum size of an x86 instruction, in bytes */
#define IMAGE_COUNT_MAX   1024u

/* Effect of an instruction on the flow of control. */
enum image_branch {
    IMAGE_PLAIN,       /* continues with the next instruction */
    IMAGE_CONDITIONAL, /* to its target or the next instruction */
    IMAGE_JUMP,
    IMAGE_INDIRECT_JUMP,
    IMAGE_CALL,
    IMAGE_INDIRECT_CALL,
    IMAGE_RETURN,
    IMAGE_SYSTEM_CALL,    /* SYSCALL, SYSENTER, INT n */
    IMAGE_SYSTEM_RETURN,  /* SYSRET, SYSEXIT */
    IMAGE_CONTEXT_RETURN, /* IRET */
    IMAGE_REPEAT          /* string instruction with a REP prefix: to itself or the next one */
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
    char *path;                     /* as given */
    char *full_path;                /* absolute, without symbolic links; NULL: unknown */
    uint64_t load_address;          /* address of its first page */
    uint64_t memory_address;        /* the same in memory: images_separate() moves images */
    uint64_t size;                  /* from load_address to its end, in bytes */
    uint64_t bias;                  /* load address minus the file's address */
    unsigned bits;                  /* 32 or 64 */
    struct image_segment *segments; /* executable ones */
    size_t segment_count;
    struct image_time *times; /* when it was in memory: image_times.h */
    size_t time_count;        /* 0: always */
    struct debug_file debug;  /* symbols and lines that the file lacks */
};

struct images;
struct image_time;

/* NULL and *error: no memory. */
struct images *images_new(struct bt_error *error);
void images_free(struct images *images);

/*
 * Reads "FILE", "FILE@ADDRESS" or "FILE@ADDRESS@TIMES" (image_times.h). ADDRESS is that of the
 * file's first loaded page: needed for position-independent files and for files loaded at another
 * address than they contain. 0, BT_USAGE (needs an address, overlaps another image, is for another
 * machine), BT_DATA (no valid ELF file), BT_IO or BT_MEMORY.
 */
int images_add(struct images *images, const char *specification, struct bt_error *error);

/* Reads the file at path, loaded at an address of up to 64 bits. Returns as images_add. */
int images_add_at(struct images *images, const char *path, uint64_t address,
                  struct bt_error *error);

/* Prints one line for each rejected debug file of the images, with the reason. */
void images_print_refused(const struct images *images, FILE *out);

/* The number of images, and one of them, in order of addresses. */
uint32_t images_count(const struct images *images);
const struct image *images_get(const struct images *images, uint32_t number);

/* The number of the image that contains an address, or IMAGE_NONE. */
uint32_t images_find(const struct images *images, uint64_t address);

/* The *size contiguous bytes of code at an address; NULL: no code. */
const uint8_t *images_code(const struct images *images, uint64_t address, size_t *size);

/* Decodes the instruction at an address. False: no code, or no valid instruction. */
bool images_instruction(const struct images *images, uint64_t address,
                        struct image_instruction *instruction);

/* The number of instructions that begin within size bytes from an address. */
uint32_t images_count_instructions(const struct images *images, uint64_t address, uint64_t size);

#endif
