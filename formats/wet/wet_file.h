/*
 * WET files: a header, chunks with the code that they need, and a closing member. Written from the
 * begin to the end; read by hopping over members. Specified in doc/wet-file.md.
 */
#ifndef FORMATS_WET_WET_FILE_H
#define FORMATS_WET_WET_FILE_H

#include "formats/base/named_fields.h"
#include "formats/wet/wet_chunk.h"
#include "formats/wet/wet_code.h"
#include "formats/wet/wet_members.h"

#define WET_COMMAND_BYTES 4096u

struct NAMED_FIELDS wet_header {
    bool has_values;
    char command[WET_COMMAND_BYTES]; /* the program and its arguments, cut off */
};

enum wet_ending {
    WET_EXITED,   /* value: the exit status */
    WET_KILLED,   /* value: the signal */
    WET_LIMITED,  /* the part of the run that was to be recorded has ended */
    WET_EXECUTED, /* another program replaced it */
    WET_FAILED    /* the recorder could not continue; value: a bt_code, positive */
};

/* How the recording ended. */
struct NAMED_FIELDS wet_closing {
    enum wet_ending ending;
    uint32_t value;
    uint32_t thread; /* that ended it */
    bool has_fault;  /* WET_KILLED: an instruction raised the signal, and is not recorded */
    struct wet_instruction fault;  /* it; function, file and line as others */
    uint64_t instructions, blocks; /* executed */
    uint64_t unknown_calls;        /* system calls whose writes to memory are not known */
};

/* --- writing -----------------------------------------------------------------------------------
 */

struct wet_writer;

/*
 * Writes to a descriptor, which the caller owns. NULL and *error on failure. Free with
 * wet_writer_free(), which accepts NULL. The functions return 0, BT_MEMORY, or an error of the
 * system; after an error the file is valid up to the last chunk (a full disk may leave a part of a
 * chunk).
 */
struct wet_writer *wet_writer_new(int descriptor, const struct wet_header *header,
                                  struct bt_error *error);
void wet_writer_free(struct wet_writer *writer);

/* Writes what was added to the code, and the chunk, of `instructions` instructions. */
int wet_writer_put(struct wet_writer *writer, struct wet_code *code, const struct wet_chunk *chunk,
                   uint64_t instructions, struct bt_error *error);
int wet_writer_close(struct wet_writer *writer, const struct wet_closing *closing,
                     struct bt_error *error);

/* Bytes written so far. */
uint64_t wet_writer_bytes(const struct wet_writer *writer);

/* --- reading -----------------------------------------------------------------------------------
 */

/* A chunk of the file. */
struct wet_place {
    uint64_t offset;          /* of the CHUNK member */
    uint64_t first;           /* instructions before it */
    uint64_t instructions;    /* in it */
    size_t block_count;       /* blocks known in it: those of later chunks have larger numbers */
    size_t instruction_count; /* ids known in it, plus 1 */
    struct wet_execution *executions; /* of the blocks executed in it */
    size_t execution_count;
    const struct wet_chunk *chunk; /* NULL: in the file */
};

struct wet_file {
    struct wet_header header;
    struct wet_code code; /* of all chunks */
    struct wet_place *places;
    size_t place_count;
    bool
        is_closed; /* the closing member is there; else the file was cut off, or is being written */
    struct wet_closing closing;
    bool is_cut;         /* something after the last whole chunk is no member */
    struct bt_error cut; /* then: what is wrong there */
    uint64_t size;       /* of the file */
    bool is_borrowed;    /* wet_file_borrow() */
    uint64_t end;        /* of the last good member */
    bool is_wet;         /* it begins as a WET file does */

    /* private */
    uint8_t *bytes; /* of a file without offsets: all */
    int descriptor;
    bool is_open;            /* the descriptor is to be closed */
    struct wet_bytes member; /* the one read last */
    size_t place_capacity;
    struct deflate_decoder *decoder;
    struct wet_bytes content;
};

/* Opens a file, or ("-") standard input, and reads all but the chunks. 0 or a negative code, with
 * *error: a file of which not even the header can be read is BT_DATA. Close it in either case; the
 * struct need not be initialized. */
int wet_file_open(struct wet_file *file, const char *path, struct bt_error *error);
void wet_file_close(struct wet_file *file);

/* Makes a file of chunks in memory, which borrows them and the code. Close it before they change.
 */
void wet_file_borrow(struct wet_file *file, const struct wet_code *code, struct wet_place *places,
                     size_t count);

/* Reads a chunk. *chunk: empty, or a former one. 0, BT_MEMORY or BT_DATA. */
int wet_file_chunk(struct wet_file *file, size_t number, struct wet_chunk *chunk,
                   struct bt_error *error);

#endif
