/* Shared by the files that print a report. */
#ifndef TOOLS_WET_WET_REPORT_WRITE_INTERNAL_H
#define TOOLS_WET_WET_REPORT_WRITE_INTERNAL_H

#include "formats/text/table.h"
#include "tools/wet/wet_report_write.h"

#define WET_REPORT_TABLES 6u

/* Instructions in the order of a list. */
struct wet_report_list {
    uint32_t *ids;
    size_t count;
};

/* What is printed, computed once. */
struct wet_report_look {
    const struct wet_report *report;
    unsigned buckets;                   /* up to the last one that is not empty */
    struct wet_report_list far, valued; /* loads without a near store; instructions with values */
    uint64_t loading;                   /* instructions that loaded */
    uint64_t far_count, far_loads;      /* all of `far`, not only the listed ones */
    struct wet_locality_counts classes[WET_REPORT_CLASSES + 1]; /* the last: all */
    char name[24];                                              /* of the row that is printed */
};

/* A table, with its key in JSON and CSV. */
struct wet_report_table {
    const char *key;
    struct table table;
};

/* Fills all tables; returns their number. The look must outlive them. */
size_t wet_report_tables(struct wet_report_look *look, struct wet_report_table *tables);

#endif
