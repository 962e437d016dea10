/* Packed records from a board: the first two bytes are their number. Unpacked records must pack and
 * unpack again to the same. */
#include "formats/wire/packing.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t count = bytes_get16(data) % 5441;
    struct record *records = malloc(count * sizeof *records + !count);
    struct record *again = malloc(count * sizeof *again + !count);
    uint8_t *packed = malloc(count * PACKING_RECORD_MAX_BYTES + 1);
    if (records && again && packed && packing_get_all(records, count, data + 2, size - 2) == 0) {
        struct packing packing;
        packing_reset(&packing);
        size_t at = 0;
        for (size_t i = 0; i < count; i++)
            at += packing_put(&packing, &records[i], packed + at);
        if (packing_get_all(again, count, packed, at) < 0 ||
            memcmp(records, again, count * sizeof *records) != 0)
            abort();
    }
    free(packed);
    free(again);
    free(records);
    return 0;
}
