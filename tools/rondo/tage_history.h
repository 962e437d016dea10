/* A long history of outcomes, and folded pieces of it. */
#ifndef TOOLS_RONDO_TAGE_HISTORY_H
#define TOOLS_RONDO_TAGE_HISTORY_H

#include "formats/base/named_fields.h"
#include "tools/rondo/predictor_settings.h"

#include <stdbool.h>

#define TAGE_HISTORY_WORDS 16u /* words of 64 outcomes; exceeds TAGE_HISTORY_MAX */

/* fold(H, length, bits) of doc/predictors.md */
struct tage_fold {
    uint32_t value;
    uint16_t length;
    uint8_t bits;
    uint8_t last; /* bit of the outcome that leaves: length % bits */
};

struct NAMED_FIELDS tage_table_folds {
    struct tage_fold index, tag, shorter_tag;
};

struct tage_history {
    uint64_t words[TAGE_HISTORY_WORDS]; /* a ring buffer */
    uint32_t end;                       /* number of outcomes so far */
    uint32_t table_count;
    struct tage_table_folds tables[TAGE_TABLES_MAX];
};

void tage_history_make(struct tage_history *history, const struct predictor_settings *settings);
void tage_history_shift(struct tage_history *history, bool taken);

/* Inverts the newest outcome. */
void tage_history_flip(struct tage_history *history);

#endif
