/*
 * Parses the headers of an executable: 64-bit ELF for x86-64 (System V ABI, AMD64 supplement), with
 * the rules of the kernel. Headers are checked before anything is mapped; the file may contain any
 * bytes.
 */
#ifndef CAPTURE_EXEC_MEMORY_PROGRAM_IMAGE_H
#define CAPTURE_EXEC_MEMORY_PROGRAM_IMAGE_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define PROGRAM_HEADER_BYTES   64
#define PROGRAM_ENTRY_BYTES    56   /* size of a program header */
#define PROGRAM_ENTRIES_MAX    1170 /* as many as fit 64 KiB, the limit of the kernel */
#define PROGRAM_SEGMENTS_MAX   64
#define PROGRAM_PATH_BYTES_MAX 4096

/* A part of the file and its addresses, without the load bias. */
struct program_segment {
    uint64_t address;
    uint64_t offset;
    uint64_t file_bytes;   /* the rest of memory_bytes is zeros */
    uint64_t memory_bytes; /* > 0 */
    uint32_t protection;   /* PROT_* */
};

struct program_image {
    bool movable; /* position-independent */
    bool stack_executable;
    uint64_t entry;        /* address of the first instruction */
    uint64_t table_offset; /* file offset of the program headers */
    uint32_t table_entries;
    uint64_t table_address;      /* their address in memory; 0: they are not loaded */
    uint64_t interpreter_offset; /* file offset of the interpreter's path */
    uint64_t interpreter_bytes;  /* size of that path with its NUL; 0: no interpreter */
    uint64_t low;                /* first page of the segments */
    uint64_t high;               /* end of the last page; high - low is below 4 GiB */
    uint64_t alignment;          /* of the image; at least a page */
    size_t segment_count;
    struct program_segment segments[PROGRAM_SEGMENTS_MAX]; /* ascending, no two overlap */
};

/*
 * Parses the first bytes of the file: fills in entry, movable and the table's position. size is
 * PROGRAM_HEADER_BYTES unless the file is shorter. Messages have no subject ("is a 32-bit program,
 * ..."); the caller prepends the file's name. BT_USAGE: it is another kind of file or cannot run
 * here; BT_DATA: it is corrupt.
 */
int program_image_parse_header(struct program_image *image, const uint8_t *bytes, size_t size,
                               uint64_t file_bytes, struct bt_error *error);

/* Parses the table, table_entries * PROGRAM_ENTRY_BYTES bytes: fills in the other members. */
int program_image_parse_table(struct program_image *image, const uint8_t *bytes,
                              uint64_t file_bytes, struct bt_error *error);

/* The same for files that need not be programs: a shared library without an entry point is valid.
 */
int program_image_parse_segments(struct program_image *image, const uint8_t *bytes,
                                 uint64_t file_bytes, struct bt_error *error);

/* Checks the interpreter_bytes bytes at interpreter_offset: 0 if they are a path. */
int program_image_check_interpreter(const struct program_image *image, const uint8_t *bytes,
                                    struct bt_error *error);

#endif
