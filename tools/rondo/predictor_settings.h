/* Kind and size of a direction predictor, and their text form ("tage:tables=7,history=5..130").
 * doc/predictors.md, "Predictors of direction", lists names and limits. */
#ifndef TOOLS_RONDO_PREDICTOR_SETTINGS_H
#define TOOLS_RONDO_PREDICTOR_SETTINGS_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum predictor_kind {
    PREDICTOR_TAKEN,
    PREDICTOR_NOT_TAKEN,
    PREDICTOR_BACKWARD,
    PREDICTOR_BIMODAL,
    PREDICTOR_GSHARE,
    PREDICTOR_LOCAL,
    PREDICTOR_TOURNAMENT,
    PREDICTOR_TAGE,
    PREDICTOR_PERCEPTRON,
    PREDICTOR_KINDS
};

/* Names of the kinds of predictors. */
#define PREDICTOR_NAMES "taken not-taken backward bimodal gshare local tournament tage perceptron"

/* Members that a kind does not use are 0. */
struct predictor_settings {
    enum predictor_kind kind;
    uint32_t entries;       /* a power of two */
    uint32_t bits;          /* of a counter or weight */
    uint32_t history;       /* number of outcomes; TAGE: of the first table */
    uint32_t last_history;  /* TAGE: number of outcomes of the last table */
    uint32_t histories;     /* local and tournament: number of local histories, a power of two */
    uint32_t local_history; /* tournament: bits of a local history */
    uint32_t local_bits;    /* tournament: bits of a local counter */
    uint32_t base;          /* TAGE: entries of the base table, a power of two */
    uint32_t tables;
    uint32_t tag_bits;
    uint32_t useful_bits;
    uint32_t period; /* TAGE: branches between two agings */
};

#define TAGE_TABLES_MAX  15u
#define TAGE_HISTORY_MAX 1000u

/* Parses a predictor. 0 or BT_USAGE. */
int predictor_settings_read(struct predictor_settings *settings, const char *text,
                            struct bt_error *error);

/* Writes all parameters, as in "gshare:entries=4096,history=12,bits=2", to text, which has
 * PREDICTOR_TEXT_BYTES, and returns it. */
#define PREDICTOR_TEXT_BYTES 160u
char *predictor_settings_text(char *text, const struct predictor_settings *settings);

/* The name of a kind, such as "gshare". */
const char *predictor_kind_name(enum predictor_kind kind);

/* Fills lengths[] with the history lengths of TAGE's tables 1 to settings->tables. */
void predictor_lengths(const struct predictor_settings *settings,
                       uint32_t lengths[TAGE_TABLES_MAX]);

/* Storage of the predictor in hardware, in bits: tables, histories, tags. */
uint64_t predictor_settings_storage(const struct predictor_settings *settings);

#endif
