/*
 * Specifications of predictors: any octets give an error message, or a working predictor whose
 * full text reads back as the same one.
 */
#include "tools/rondo/predictor.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX    200u
#define STORAGE_MAX (1u << 16) /* larger ones are not run: their tables take too long to make */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const struct predictor_settings *settings)
{
    struct predictor *predictor = predictor_new(settings, NULL);
    if (!predictor)
        return;
    for (uint64_t i = 0; i < 40; i++) {
        struct branch branch = {
            .address = 0x1000 + i * i % 7, .target = 0x1002, .next = 0x1004, .taken = i % 3 == 0};
        bool taken = predictor_predict(predictor, &branch);
        predictor_train(predictor, &branch);
        predictor_shift(predictor, &branch, branch.taken);
        if (taken == branch.taken)
            continue;
        predictor_save(predictor);
        predictor_flip(predictor, &branch);
        predictor_shift(predictor, &branch, predictor_predict(predictor, &branch));
        predictor_restore(predictor);
    }
    predictor_free(predictor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1], written[PREDICTOR_TEXT_BYTES];
    struct predictor_settings settings, again;
    struct bt_error error = {.code = 0};
    if (size > TEXT_MAX)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    int result = predictor_settings_read(&settings, text, &error);
    if (result < 0) {
        if (result != BT_USAGE || result != error.code || !error.message[0])
            abort();
        return 0;
    }
    predictor_settings_text(written, &settings);
    if (strlen(written) >= PREDICTOR_TEXT_BYTES - 1 ||
        predictor_settings_read(&again, written, &error) != 0 ||
        memcmp(&settings, &again, sizeof settings) != 0)
        abort();
    if (predictor_settings_storage(&settings) <= STORAGE_MAX)
        run(&settings);
    return 0;
}
