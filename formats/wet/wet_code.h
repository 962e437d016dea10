/*
 * The code of a traced program in a WET file: its executed instructions, the blocks that they are
 * executed in, how execution passed from block to block, and bytes of code that was not executed.
 * A recorder adds to the tables; each CODE member of the file has what was added since the one
 * before it. Specified in doc/wet-file.md, "Code".
 */
#ifndef FORMATS_WET_WET_CODE_H
#define FORMATS_WET_WET_CODE_H

#include "formats/base/error.h"
#include "formats/base/hash_index.h"
#include "formats/wet/wet_bytes.h"

#define WET_INSTRUCTION_BYTES 15u   /* maximum of an instruction */
#define WET_BLOCK_IDS         64u   /* maximum of a block */
#define WET_NAME_BYTES        4096u /* longest name of a file or function; longer ones are cut */

struct wet_instruction {
    uint64_t address;
    uint32_t function, file; /* numbers; 0: unknown */
    uint32_t line;           /* 0: unknown */
    uint8_t size;
    uint8_t bytes[WET_INSTRUCTION_BYTES]; /* the machine code, `size` bytes */
};

/* A function: code with one name. Code without a symbol is of functions without a name. */
struct wet_function {
    uint64_t start;
    const char *name; /* NULL: none */
};

/* A straight-line sequence of instructions, always executed whole: ids[first] and so on. */
struct wet_block {
    uint32_t first;
    uint32_t count;
    uint64_t executions; /* in the chunk of the latest CODE member */
};

/* How often a block is executed in a chunk. */
struct wet_execution {
    uint32_t block;
    uint64_t count;
};

/* Once, execution passed from the end of one block to the start of another, in one thread. */
struct wet_edge {
    uint32_t from; /* id of the last instruction; 0: a thread or a signal handler begins, or
                      recording begins */
    uint32_t to;   /* id of the first instruction */
};

/* Bytes of code of a function that was not executed. */
struct wet_range {
    uint64_t address;
    uint32_t function; /* number */
    size_t bytes;      /* offset in range_bytes */
    uint32_t size;
};

/* A file whose code was in memory. */
struct wet_module {
    char *path;
    uint64_t load_address; /* of its first loaded page */
    uint64_t start, end;   /* range that contains its code */
};

/* Zeroed before wet_code_init(). */
struct wet_code {
    struct wet_instruction *instructions; /* by id; the first, 0, is none */
    size_t instruction_count;             /* the largest id plus 1 */
    struct wet_function *functions;       /* by number; 0 is none */
    size_t function_count;
    char **files; /* by number, as full paths; 0 is none */
    size_t file_count;
    struct wet_block *blocks; /* by number; 0 is none */
    size_t block_count;
    uint32_t *ids; /* of blocks */
    size_t id_count;
    struct wet_edge *edges;
    size_t edge_count;
    struct wet_range *ranges;
    size_t range_count;
    uint8_t *range_bytes;
    size_t range_byte_count;
    struct wet_module *modules; /* in the order of their mapping: the program is the first */
    size_t module_count;        /* 0: of older files, unknown */

    /* private */
    size_t instruction_capacity, function_capacity, file_capacity, block_capacity, id_capacity,
        edge_capacity, range_capacity, range_byte_capacity, module_capacity;
    struct {
        size_t instructions, functions, files, blocks, edges, ranges, modules;
    } written; /* numbers of those that are in members */
};

/* 0 or BT_MEMORY; free with wet_code_clear() in either case. */
int wet_code_init(struct wet_code *code);
void wet_code_clear(struct wet_code *code);

/* Each adds one element, copying what it points to. The number of the new element, or BT_MEMORY. */
int64_t wet_code_add_instruction(struct wet_code *code, const struct wet_instruction *instruction);
int64_t wet_code_add_function(struct wet_code *code, uint64_t start, const char *name);
int64_t wet_code_add_file(struct wet_code *code, const char *path);
int64_t wet_code_add_block(struct wet_code *code, const uint32_t *ids, uint32_t count);
int64_t wet_code_add_edge(struct wet_code *code, uint32_t from, uint32_t to);
int64_t wet_code_add_range(struct wet_code *code, uint64_t address, uint32_t function,
                           const uint8_t *bytes, uint32_t size);
int64_t wet_code_add_module(struct wet_code *code, const struct wet_module *module);

/* The latest module with an address. NULL: none. */
const struct wet_module *wet_code_module(const struct wet_code *code, uint64_t address);

/* The ids of a block. */
static inline const uint32_t *wet_code_ids(const struct wet_code *code, uint32_t block)
{
    return code->ids + code->blocks[block].first;
}

/* The executions of all blocks in the current chunk, which become 0: an array that the caller
 * frees. 0 or BT_MEMORY. */
int wet_code_take_executions(struct wet_code *code, struct wet_execution **executions,
                             size_t *count);

/* Appends the content of a CODE member: what was added since the last call, and the executions of
 * all blocks, which become 0. 0 or BT_MEMORY. */
int wet_code_put(struct wet_code *code, struct wet_bytes *to);

/* Adds the content of a CODE member; executions are those of this member. 0, BT_MEMORY, or BT_DATA
 * with *error: the bytes are no such content. */
int wet_code_get(struct wet_code *code, const struct wet_bytes *content, struct bt_error *error);

#endif
