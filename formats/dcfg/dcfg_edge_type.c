#include "formats/dcfg/dcfg_edge_type.h"

#include <string.h>

static const char *const type_names[DCFG_EDGE_TYPES] = {
    NULL,
    "ENTRY",
    "EXIT",
    "CALL",
    "DIRECT_CALL",
    "INDIRECT_CALL",
    "RETURN",
    "CALL_BYPASS",
    "BRANCH",
    "CONDITIONAL_BRANCH",
    "UNCONDITIONAL_BRANCH",
    "DIRECT_BRANCH",
    "INDIRECT_BRANCH",
    "DIRECT_CONDITIONAL_BRANCH",
    "INDIRECT_CONDITIONAL_BRANCH",
    "DIRECT_UNCONDITIONAL_BRANCH",
    "INDIRECT_UNCONDITIONAL_BRANCH",
    "REP",
    "FALL_THROUGH",
    "SYSTEM_CALL",
    "SYSTEM_RETURN",
    "SYSTEM_CALL_BYPASS",
    "CONTEXT_CHANGE",
    "CONTEXT_CHANGE_RETURN",
    "CONTEXT_CHANGE_BYPASS",
    "EXCLUDED_CODE_BYPASS",
    "UNKNOWN",
};

/* Names from before version 1.00, which the specification's example still uses. */
static const struct {
    const char *name;
    enum dcfg_edge_type type;
} earlier_names[] = {
    {"INTERRUPT", DCFG_EDGE_CONTEXT_CHANGE},
    {"INTERRUPT_RETURN", DCFG_EDGE_CONTEXT_CHANGE_RETURN},
    {"INTERRUPT_BYPASS", DCFG_EDGE_CONTEXT_CHANGE_BYPASS},
    {"UNKNOWN_IMAGE_BYPASS", DCFG_EDGE_EXCLUDED_CODE_BYPASS},
};

static const char *const special_names[DCFG_SPECIALS] = {NULL, "START", "END", "UNKNOWN"};

static bool is(const char *name, size_t size, const char *wanted)
{
    return strlen(wanted) == size && memcmp(name, wanted, size) == 0;
}

const char *dcfg_edge_type_name(enum dcfg_edge_type type)
{
    return (unsigned)type < DCFG_EDGE_TYPES ? type_names[type] : NULL;
}

enum dcfg_edge_type dcfg_edge_type_of(const char *name, size_t size)
{
    for (unsigned i = 1; i < DCFG_EDGE_TYPES; i++)
        if (is(name, size, type_names[i]))
            return (enum dcfg_edge_type)i;
    for (size_t i = 0; i < sizeof earlier_names / sizeof *earlier_names; i++)
        if (is(name, size, earlier_names[i].name))
            return earlier_names[i].type;
    return DCFG_EDGE_OTHER;
}

const char *dcfg_special_name(enum dcfg_special special)
{
    return (unsigned)special < DCFG_SPECIALS ? special_names[special] : NULL;
}

enum dcfg_special dcfg_special_of(const char *name, size_t size)
{
    for (unsigned i = 1; i < DCFG_SPECIALS; i++)
        if (is(name, size, special_names[i]))
            return (enum dcfg_special)i;
    return DCFG_OTHER;
}

bool dcfg_edge_type_is_bypass(enum dcfg_edge_type type)
{
    return type == DCFG_EDGE_CALL_BYPASS || type == DCFG_EDGE_SYSTEM_CALL_BYPASS ||
           type == DCFG_EDGE_CONTEXT_CHANGE_BYPASS || type == DCFG_EDGE_EXCLUDED_CODE_BYPASS;
}

bool dcfg_edge_type_is_call(enum dcfg_edge_type type)
{
    return type >= DCFG_EDGE_CALL && type <= DCFG_EDGE_INDIRECT_CALL;
}

bool dcfg_edge_type_is_branch(enum dcfg_edge_type type)
{
    return type >= DCFG_EDGE_BRANCH && type <= DCFG_EDGE_INDIRECT_UNCONDITIONAL_BRANCH;
}

bool dcfg_edge_type_is_return(enum dcfg_edge_type type)
{
    return type == DCFG_EDGE_RETURN || type == DCFG_EDGE_SYSTEM_RETURN ||
           type == DCFG_EDGE_CONTEXT_CHANGE_RETURN;
}

bool dcfg_edge_type_is_within_routine(enum dcfg_edge_type type)
{
    return dcfg_edge_type_is_branch(type) || dcfg_edge_type_is_bypass(type) ||
           type == DCFG_EDGE_REP || type == DCFG_EDGE_FALL_THROUGH || type >= DCFG_EDGE_UNKNOWN;
}
