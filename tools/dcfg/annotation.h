/* The annotation of a function: a row for each instruction, and the jumps between rows. */
#ifndef TOOLS_DCFG_ANNOTATION_H
#define TOOLS_DCFG_ANNOTATION_H

#include "tools/dcfg/annotate_graph.h"
#include "tools/symbols/disassemble.h"

#include <stdio.h>

#define ANNOTATION_LANES 8u /* jumps side by side */

enum annotation_kind {
    ANNOTATION_INSTRUCTION, /* executed */
    ANNOTATION_BLOCK,       /* an executed block whose code is not known */
    ANNOTATION_COLD,        /* an instruction that was not executed */
    ANNOTATION_GAP          /* bytes of the function that were not executed; 0: what follows is
                               elsewhere, after code of other functions */
};

struct annotation_row {
    uint64_t address;
    uint64_t executions;
    uint64_t instructions; /* executed in this row */
    uint64_t taken;        /* times that control did not continue with the next address */
    uint64_t target;       /* of a direct branch */
    uint64_t size;         /* in bytes */
    uint32_t block;        /* DCFG_NONE: not executed */
    uint32_t image;        /* index in process->images */
    uint32_t text;         /* index in texts: the instruction, or "" */
    uint32_t file;         /* index in graph->file_names; DCFG_NONE: unknown */
    uint32_t line;
    uint8_t text_size;
    uint8_t kind;   /* enum annotation_kind */
    uint8_t branch; /* enum image_branch */
    bool begins;    /* the block's first row */
    bool ends;      /* the block's last row, which has its edges */
    bool new_line;  /* another source line than that of the row before */
};

/* A branch taken from one row to another. */
struct annotation_jump {
    uint64_t count;
    uint32_t from, to; /* rows */
    uint32_t edge;     /* index in process->edges */
    uint8_t lane;      /* 0 is next to the code; jumps to one row share a lane;
                          ANNOTATION_LANES: too long, or no lane was free */
};

struct annotation {
    const struct annotate_graph *graph;
    struct disassembler *disassembler;
    bool cold; /* with instructions that were not executed */
    uint32_t function;
    uint64_t instructions; /* executed in the function */
    uint32_t row_count, jump_count;
    uint32_t lanes; /* used by jumps */
    struct annotation_row *rows;
    struct annotation_jump *jumps; /* sorted by source, then by target */
    char *texts;
    size_t row_capacity, jump_capacity, text_capacity, text_size;
    uint32_t *first_row; /* by block of the function */
    uint64_t differing;  /* blocks so far whose code is not what the graph says */
    bool *codeless;      /* by image: blocks so far have no code */
};

/* Prepares annotations of the functions of a graph, which must outlive them. 0 or BT_MEMORY;
 * annotation_clear() in any case. */
int annotation_make(struct annotation *annotation, const struct annotate_graph *graph,
                    enum disassemble_syntax syntax, bool cold, struct bt_error *error);
void annotation_clear(struct annotation *annotation);

/* Annotates a function (an index of graph->calls.functions); replaces the previous one. 0 or
 * BT_MEMORY. */
int annotation_of(struct annotation *annotation, uint32_t function, struct bt_error *error);

/* The location of the target of a row's direct branch, if it is in another function; false: it is
 * not, or nothing is known about it. */
bool annotation_target(const struct annotation *annotation, const struct annotation_row *row,
                       struct code_location *location);

/* The edges to list below a row: those out of its block of which the instruction does not tell the
 * target, the most frequent ones first, `most` at most. *all becomes their number. */
uint32_t annotation_edges(const struct annotation *annotation, const struct annotation_row *row,
                          uint32_t *edges, uint32_t most, uint32_t *all);

/* Prints what code is missing, so that blocks without instructions are no surprise. */
void annotation_put_notes(const struct annotation *annotation, FILE *out);

#endif
