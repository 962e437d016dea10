#include "tests/support/yardstick.h"

#include "tests/support/folder.h"
#include "tests/support/measure.h"
#include "tests/support/random.h"
#include "tests/support/raw_capture.h"
#include "tests/support/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS 1000000u
#define RUNS    3

double yardstick_b2a_seconds(const char *path)
{
    FILE *in = fopen(path, "rb");
    FILE *out = fopen("/dev/null", "w");
    struct measure measure;
    struct record record;
    if (!in || !out)
        return -1;
    measure_begin(&measure);
    while (fread(&record, sizeof record, 1, in) == 1) {
        const char *name = request_type_name(record.type);
        fprintf(out, "%08x ", record.address);
        fprintf(out, "%s%s", name, strlen(name) >= 7 ? "\t" : "\t\t");
        fprintf(out, "%2d\t%02x\t%d\t%u\n", record.size, record.attribute, record.processor,
                record.time);
    }
    measure_end(&measure);
    fclose(in);
    fclose(out);
    return measure.wall;
}

double yardstick_b2a_rate(void)
{
    struct record *records = malloc(RECORDS * sizeof *records);
    char folder[FOLDER_PATH_BYTES];
    char path[FOLDER_PATH_BYTES + 16];
    uint64_t random = random_seed(1);
    double best = 1e9;
    if (!records)
        return 0;
    folder_make(folder);
    snprintf(path, sizeof path, "%s/raw.byu", folder);
    records_fill_like_a_bus(records, RECORDS, &random);
    int written = raw_file_write(path, records, RECORDS);
    for (int run = 0; written == 0 && run < RUNS; run++) {
        double seconds = yardstick_b2a_seconds(path);
        best = seconds > 0 && seconds < best ? seconds : best;
    }
    folder_remove(folder);
    free(records);
    return written == 0 && best < 1e9 ? RECORDS / best : 0;
}
