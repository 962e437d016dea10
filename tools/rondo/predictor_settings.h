/*
 * Which predictor of direction, and how large: what people write ("tage:tables=7,history=5..130"),
 * and what comes of it. doc/predictors.md, "Predictors of direction", has the names and limits.
 */
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

/* What a kind has no use for is 0. */
struct predictor_settings {
    enum predictor_kind kind;
    uint32_t entries;       /* power of two */
    uint32_t bits;          /* of a counter, or weight */
    uint32_t history;       /* bits; of TAGE, those of the first table */
    uint32_t last_history;  /* TAGE: those of the last table */
    uint32_t histories;     /* local and tournament: local histories, a power of two, */
    uint32_t local_history; /* tournament: their bits, */
    uint32_t local_bits;    /* and those of their counters */
    uint32_t base;          /* TAGE: entries of the base, a power of two */
    uint32_t tables;
    uint32_t tag_bits;
    uint32_t useful_bits;
    uint32_t period; /* branches */
};

#define TAGE_TABLES_MAX  15u
#define TAGE_HISTORY_MAX 1000u

/* Reads a predictor as people write it. 0, or BT_USAGE. */
int predictor_settings_read(struct predictor_settings *settings, const char *text,
                            struct bt_error *error);

/* Puts it in full, all parameters said: "gshare:entries=4096,history=12,bits=2". text has room for
 * PREDICTOR_TEXT_BYTES. Returns text. */
#define PREDICTOR_TEXT_BYTES 160u
char *predictor_settings_text(char *text, const struct predictor_settings *settings);

/* "gshare" */
const char *predictor_kind_name(enum predictor_kind kind);

/* The outcomes that tables 1 to settings->tables of TAGE use, into lengths[0] on. */
void predictor_lengths(const struct predictor_settings *settings,
                       uint32_t lengths[TAGE_TABLES_MAX]);

/* Bits that a processor would need for it: tables, histories, tags. */
uint64_t predictor_settings_storage(const struct predictor_settings *settings);

#endif
