/* Shared by the files of the places. */
#ifndef TOOLS_WET_RECORD_RECORD_PLACES_INTERNAL_H
#define TOOLS_WET_RECORD_RECORD_PLACES_INTERNAL_H

#include "capture/exec/translate/decode.h"
#include "tools/wet/record/record_places.h"

struct record_function {
    uint32_t named;       /* number in the code; 0: not there */
    uint32_t instruction; /* id of one of them; 0: none */
    uint32_t edge;        /* one edge to it, plus 1; 0: none */
    bool is_new;          /* something is new since its walk */
    uint64_t *entries;    /* of its walk */
    size_t entry_count, entry_capacity;
};

/* The kind of an instruction. */
enum decode_kind record_places_kind(const struct wet_instruction *instruction);

/* Walks through a function's code, and adds what was not executed to the code. 0 or BT_MEMORY. */
int record_places_walk(struct record_places *places, struct wet_code *code, uint32_t number);

#endif
