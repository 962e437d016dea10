/* The archive levels of columns: any bytes decode or fail in bounded time; any records return. */
#include "formats/columns/record_model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 4096u

static void must(int good)
{
    if (!good)
        abort();
}

static void check_records(struct record_model *model, enum record_model_method method,
                          const struct record *records, size_t count)
{
    size_t coded;
    const size_t bound = record_model_bound(count);
    uint8_t *out = malloc(bound);
    struct record *back = malloc(count * sizeof *back + 1);
    must(out && back);
    must(record_model_encode(model, method, records, count, out, &coded, NULL) == 0);
    must(coded <= bound);
    must(record_model_decode(model, out, coded, back, count, NULL) == 0);
    must(memcmp(back, records, count * sizeof *back) == 0);
    free(back);
    free(out);
}

/* The first two bytes choose the number of records, or that the rest are records. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const size_t chosen = bytes_get16(data) % (MOST + 1);
    struct record_model *model = record_model_new(MOST);
    struct record *records = calloc(MOST, sizeof *records);
    must(model && records);
    (void)record_model_decode(model, data + 2, size - 2, records, chosen, NULL);
    size_t count = (size - 2) / RECORD_BYTES;
    count = count < MOST ? count : MOST;
    records_get(records, data + 2, count);
    check_records(model, RECORD_MODEL_NIBBLES, records, count);
    check_records(model, RECORD_MODEL_FEW, records, count);
    check_records(model, RECORD_MODEL_MANY, records, count);
    free(records);
    record_model_free(model);
    return 0;
}
