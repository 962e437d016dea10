/*
 * The headers of an executable: ELF of 64 bits for x86-64 (System V ABI, AMD64 supplement), read
 * as the kernel reads them and checked before anything is mapped. The file may hold any octets.
 */
#ifndef CAPTURE_EXEC_MEMORY_PROGRAM_IMAGE_H
#define CAPTURE_EXEC_MEMORY_PROGRAM_IMAGE_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define PROGRAM_HEADER_BYTES   64
#define PROGRAM_ENTRY_BYTES    56   /* of the table of program headers */
#define PROGRAM_ENTRIES_MAX    1170 /* what fits 64 KiB, as the kernel has it */
#define PROGRAM_SEGMENTS_MAX   64
#define PROGRAM_PATH_BYTES_MAX 4096

/* What of the file goes where. Addresses are the file's own: add where it was moved by. */
struct program_segment {
    uint64_t address;
    uint64_t offset;
    uint64_t file_bytes;   /* the rest of memory_bytes is zeros */
    uint64_t memory_bytes; /* > 0 */
    uint32_t protection;   /* PROT_* */
};

struct program_image {
    bool movable; /* position-independent: any address will do */
    bool stack_executable;
    uint64_t entry;        /* where its first instruction is */
    uint64_t table_offset; /* the program headers in the file */
    uint32_t table_entries;
    uint64_t table_address;      /* and in memory; 0 if they are not there */
    uint64_t interpreter_offset; /* the path of who loads it, in the file */
    uint64_t interpreter_bytes;  /* with a NUL at its end; 0: there is none */
    uint64_t low;                /* the segments' pages: from here */
    uint64_t high;               /* to there, and less than 4 GiB between */
    uint64_t alignment;          /* of the whole, at least a page */
    size_t segment_count;
    struct program_segment segments[PROGRAM_SEGMENTS_MAX]; /* ascending, no two overlap */
};

/*
 * The file's first octets: fills in entry, movable and where the table is. Wants size to be
 * PROGRAM_HEADER_BYTES unless the file is shorter. Messages begin after the file's name: "is a
 * 32-bit program, ..."; the caller puts that in front. BT_USAGE: it is something else or cannot run
 * here; BT_DATA: it is damaged.
 */
int program_image_parse_header(struct program_image *image, const uint8_t *bytes, size_t size,
                               uint64_t file_bytes, struct bt_error *error);

/* The table's octets, table_entries * PROGRAM_ENTRY_BYTES of them: fills in the rest. */
int program_image_parse_table(struct program_image *image, const uint8_t *bytes,
                              uint64_t file_bytes, struct bt_error *error);

/* The same for what need not be a program: a shared library, which begins nowhere, is right. */
int program_image_parse_segments(struct program_image *image, const uint8_t *bytes,
                                 uint64_t file_bytes, struct bt_error *error);

/* The octets at interpreter_offset, as many as interpreter_bytes: 0 if they are a path. */
int program_image_check_interpreter(const struct program_image *image, const uint8_t *bytes,
                                    struct bt_error *error);

#endif
