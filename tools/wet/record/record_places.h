/*
 * Where the recorded code is: functions, files and lines of instructions, and the bytes of code
 * that was not executed but that a reader needs for the control flow of a function.
 */
#ifndef TOOLS_WET_RECORD_RECORD_PLACES_H
#define TOOLS_WET_RECORD_RECORD_PLACES_H

#include "formats/base/hash_index.h"
#include "formats/wet/wet_code.h"
#include "tools/cfg/code_window.h"
#include "tools/profile/functions.h"

struct record_function;

/* The caller sets the first three members, the rest is zero. */
struct record_places {
    struct functions *functions;
    /* Reads the program's memory: process_read(). */
    int (*read)(void *context, void *bytes, uint64_t address, size_t size);
    void *context;

    /* private */
    struct record_function *by_number; /* functions, by functions_at() */
    size_t function_capacity;
    uint32_t *files; /* numbers of files in the code, by functions_line() */
    size_t file_capacity;
    uint32_t *owners; /* function of each instruction, by id */
    size_t owner_capacity, owner_count;
    uint32_t *next_instruction; /* by id: the next of the same function */
    size_t next_instruction_capacity;
    uint32_t *next_edge; /* by number: the next edge to the same function, plus 1 */
    size_t next_edge_capacity, edge_count;
    struct hash_index by_address; /* ids */
    uint64_t *stored;             /* addresses of instructions in ranges */
    size_t stored_count, stored_capacity;
    struct hash_index by_stored;
    uint8_t *entered; /* by id: a call leads to it */
    size_t entered_capacity;
    struct code_window window; /* while a walk is made */
};

void record_places_clear(struct record_places *places);

/* Describes what is new in the code. 0 or BT_MEMORY. */
int record_places_describe(struct record_places *places, struct wet_code *code);

/* The place of an instruction that was not executed: fills in function, file and line, and adds
 * them to the code. 0 or BT_MEMORY. */
int record_places_find(struct record_places *places, struct wet_code *code,
                       struct wet_instruction *instruction);

#endif
