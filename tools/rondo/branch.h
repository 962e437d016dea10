/* Branches as input of predictors: doc/predictors.md, "Branches". */
#ifndef TOOLS_RONDO_BRANCH_H
#define TOOLS_RONDO_BRANCH_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>

enum branch_kind {
    BRANCH_CONDITIONAL,
    BRANCH_JUMP,
    BRANCH_CALL,
    BRANCH_RETURN,
    BRANCH_INDIRECT_JUMP,
    BRANCH_INDIRECT_CALL,
    BRANCH_KINDS
};

struct NAMED_FIELDS branch {
    uint64_t address;
    uint64_t next;   /* address of the next instruction */
    uint64_t target; /* destination if taken */
    enum branch_kind kind;
    bool taken; /* true for all kinds but conditional ones */
};

static inline bool branch_is_call(const struct branch *branch)
{
    return branch->kind == BRANCH_CALL || branch->kind == BRANCH_INDIRECT_CALL;
}

static inline bool branch_is_indirect(const struct branch *branch)
{
    return branch->kind == BRANCH_INDIRECT_JUMP || branch->kind == BRANCH_INDIRECT_CALL;
}

#endif
