/* Types of edges of a control-flow graph (DCFG 1.00 section 2.5), and its special nodes (2.6). */
#ifndef FORMATS_DCFG_DCFG_EDGE_TYPE_H
#define FORMATS_DCFG_DCFG_EDGE_TYPE_H

#include <stdbool.h>
#include <stddef.h>

/* The customary ids of existing tools' files. */
enum dcfg_edge_type {
    DCFG_EDGE_ENTRY = 1,
    DCFG_EDGE_EXIT,
    DCFG_EDGE_CALL,
    DCFG_EDGE_DIRECT_CALL,
    DCFG_EDGE_INDIRECT_CALL,
    DCFG_EDGE_RETURN,
    DCFG_EDGE_CALL_BYPASS,
    DCFG_EDGE_BRANCH,
    DCFG_EDGE_CONDITIONAL_BRANCH,
    DCFG_EDGE_UNCONDITIONAL_BRANCH,
    DCFG_EDGE_DIRECT_BRANCH,
    DCFG_EDGE_INDIRECT_BRANCH,
    DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH,
    DCFG_EDGE_INDIRECT_CONDITIONAL_BRANCH,
    DCFG_EDGE_DIRECT_UNCONDITIONAL_BRANCH,
    DCFG_EDGE_INDIRECT_UNCONDITIONAL_BRANCH,
    DCFG_EDGE_REP,
    DCFG_EDGE_FALL_THROUGH,
    DCFG_EDGE_SYSTEM_CALL,
    DCFG_EDGE_SYSTEM_RETURN,
    DCFG_EDGE_SYSTEM_CALL_BYPASS,
    DCFG_EDGE_CONTEXT_CHANGE,
    DCFG_EDGE_CONTEXT_CHANGE_RETURN,
    DCFG_EDGE_CONTEXT_CHANGE_BYPASS,
    DCFG_EDGE_EXCLUDED_CODE_BYPASS,
    DCFG_EDGE_UNKNOWN,
    DCFG_EDGE_TYPES,                  /* number of types plus one */
    DCFG_EDGE_OTHER = DCFG_EDGE_TYPES /* a name that the specification lacks */
};

enum dcfg_special {
    DCFG_START = 1,
    DCFG_END,
    DCFG_UNKNOWN,
    DCFG_SPECIALS,
    DCFG_OTHER = DCFG_SPECIALS
};

/* "DIRECT_CALL"; NULL for other values (DCFG_EDGE_OTHER too). */
const char *dcfg_edge_type_name(enum dcfg_edge_type type);

/* The type with that name, or DCFG_EDGE_OTHER. Names that only the example in section 2.5 uses are
 * mapped to their successors: INTERRUPT is CONTEXT_CHANGE, and so on. */
enum dcfg_edge_type dcfg_edge_type_of(const char *name, size_t size);

/* "START"; NULL for other values. */
const char *dcfg_special_name(enum dcfg_special special);

/* The special node with that name, or DCFG_OTHER. */
enum dcfg_special dcfg_special_of(const char *name, size_t size);

/* Fabricated edges, which represent the path from leaving a routine to returning to it. */
bool dcfg_edge_type_is_bypass(enum dcfg_edge_type type);

/* CALL and its kinds. */
bool dcfg_edge_type_is_call(enum dcfg_edge_type type);

/* Branches of all kinds, taken. */
bool dcfg_edge_type_is_branch(enum dcfg_edge_type type);

/* Returns of all kinds: from a routine, a system call or a change of context. */
bool dcfg_edge_type_is_return(enum dcfg_edge_type type);

/* Whether the edge stays within the routine (2.14): not an entry, exit, call, return or change of
 * context; bypasses do. */
bool dcfg_edge_type_is_within_routine(enum dcfg_edge_type type);

#endif
