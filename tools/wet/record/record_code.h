/*
 * The code of a program that is being recorded: gives instructions their ids, blocks and edges
 * their numbers, each once.
 */
#ifndef TOOLS_WET_RECORD_RECORD_CODE_H
#define TOOLS_WET_RECORD_RECORD_CODE_H

#include "formats/base/hash_index.h"
#include "formats/wet/wet_code.h"
#include "tools/wet/record/record_ports.h"
#include "tools/wet/record/record_values.h"
#include "tools/wet/replay/wet_flows.h"

/* An instruction's part of the ports. */
struct record_instruction {
    uint32_t port;    /* number of its first memory port; the others follow */
    uint32_t outcome; /* number, if it has outcomes */
};

/* Zeroed before record_code_init(). */
struct record_code {
    struct wet_code code;
    struct wet_flows flows;
    struct record_ports ports;
    struct record_values *values;            /* NULL: without; not the code's */
    struct record_instruction *instructions; /* by id */
    uint64_t *counts;                        /* executions, by id */

    /* private */
    size_t instruction_capacity, count_capacity;
    struct hash_index by_bytes, by_ids, by_edge;
    uint8_t *pages; /* a bit for each page of 4 GiB: it has code that by_bytes knows */
};

/* 0 or BT_MEMORY; clear it in either case. */
int record_code_init(struct record_code *code);
void record_code_clear(struct record_code *code);

/* The id of an instruction: address and bytes, `size` of them. A negative code with *error: no
 * memory, or too many instructions (BT_USAGE). */
int64_t record_code_instruction(struct record_code *code, uint64_t address, const uint8_t *bytes,
                                unsigned size, struct bt_error *error);

/* The program unmaps memory: code that it executes there later has other ids. */
void record_code_forget(struct record_code *code, uint64_t address, uint64_t size);

/* The number of the block of these instructions (0: of none), or a negative code with *error. */
int64_t record_code_block(struct record_code *code, const uint32_t *ids, uint32_t count,
                          struct bt_error *error);

/* Execution has passed from one instruction (0: none) to another. 0 or BT_MEMORY. */
int record_code_edge(struct record_code *code, uint32_t from, uint32_t to);

#endif
