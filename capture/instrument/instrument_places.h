/*
 * The places of an instrumented program: lines of the source that hooks name, and addresses of code
 * that calls hooks without a line. Numbers are in order of first use, and do not depend on where
 * the program was loaded.
 */
#ifndef CAPTURE_INSTRUMENT_INSTRUMENT_PLACES_H
#define CAPTURE_INSTRUMENT_INSTRUMENT_PLACES_H

#include "capture/instrument/code_lines.h"
#include "formats/base/hash_index.h"
#include "formats/dependences/dependences.h"

struct instrument_place {
    const char *file; /* the program's; NULL: unknown */
    int line;
    uint64_t code;                     /* an address of the program; 0: none */
    struct dependence_place *resolved; /* of the code; NULL: not yet */
    char *token;                       /* for a trace; NULL: not yet */
};

/* All zero: empty. Never freed: it lives as long as the program. */
struct instrument_places {
    struct instrument_place *places;
    size_t count, capacity;
    struct hash_index by_key;
    struct code_lines lines;
};

/* The number of a place, which is added if it is new. DEPENDENCES_NONE: no memory. */
uint32_t instrument_places_line(struct instrument_places *places, const char *file, int line);
uint32_t instrument_places_code(struct instrument_places *places, uint64_t code);

/* What is known of a place. */
struct dependence_place instrument_places_describe(struct instrument_places *places,
                                                   uint32_t number);

/* Its token in a trace (dependence_trace.h); DEPENDENCES_NONE has one too. NULL: no memory. */
const char *instrument_places_token(struct instrument_places *places, uint32_t number);

#endif
