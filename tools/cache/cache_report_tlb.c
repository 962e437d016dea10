#include "tools/cache/cache_report_tlb.h"

#define TLB_ROWS (TLB_BUFFERS * TLB_PAGES)

/* Whether references of the processors are in pages of this size. */
static bool is_used(const struct tlb *tlb, enum tlb_pages pages)
{
    return tlb_counters_of(tlb, TLB_INSTRUCTION, pages).references > 0 ||
           tlb_counters_of(tlb, TLB_DATA, pages).references > 0;
}

/* The row's number among all buffers and page sizes: those of page sizes that are used; of 4 KiB
 * if none is. */
static size_t shown_row(const struct tlb *tlb, size_t row)
{
    for (unsigned pages = 0; pages < TLB_PAGES; pages++)
        if (is_used(tlb, (enum tlb_pages)pages)) {
            if (row < TLB_BUFFERS)
                return pages * TLB_BUFFERS + row;
            row -= TLB_BUFFERS;
        }
    return row;
}

static size_t count_rows(const struct tlb *tlb)
{
    size_t count = 0;
    for (unsigned pages = 0; pages < TLB_PAGES; pages++)
        count += is_used(tlb, (enum tlb_pages)pages) ? TLB_BUFFERS : 0;
    return count ? count : TLB_BUFFERS;
}

static void tlb_row(void *argument, size_t row, struct table_cell *cells)
{
    static const char *const names[TLB_BUFFERS] = {"instruction", "data", "unified"};
    const struct tlb *tlb = ((const struct cache_report *)argument)->tlb;
    const size_t number = shown_row(tlb, row);
    const enum tlb_pages pages = (enum tlb_pages)(number / TLB_BUFFERS);
    const enum tlb_buffer buffer = (enum tlb_buffer)(number % TLB_BUFFERS);
    const struct tlb_array *array = &tlb_settings_of(tlb)->arrays[buffer][pages];
    const struct tlb_counters counters = tlb_counters_of(tlb, buffer, pages);
    cells[0].number = buffer == TLB_SECOND ? 2 : 1;
    cells[1].text = names[buffer];
    cells[2].text = tlb_pages_name(pages);
    cells[3].number = array->entries;
    cells[4].number = array->ways ? array->ways : array->entries;
    cells[5].number = counters.references;
    cells[6].number = counters.misses;
    cells[7] = (struct table_cell){
        .real = counters.references ? (double)counters.misses / (double)counters.references : 0,
        .none = counters.references == 0};
}

bool cache_report_tlb_table(struct cache_report_table *made, const struct cache_report *report)
{
    static const struct table_column columns[] = {
        {"TLB", "level", TABLE_COUNT},     {"TRANSLATES", "buffer", TABLE_TEXT},
        {"PAGES", "pages", TABLE_TEXT},    {"ENTRIES", "entries", TABLE_COUNT},
        {"WAYS", "ways", TABLE_COUNT},     {"REFERENCES", "references", TABLE_COUNT},
        {"MISSES", "misses", TABLE_COUNT}, {"RATIO", "miss_ratio", TABLE_SHARE}};
    if (!report->tlb)
        return false;
    made->table = (struct table){.columns = columns,
                                 .column_count = sizeof columns / sizeof *columns,
                                 .rows = count_rows(report->tlb),
                                 .row = tlb_row,
                                 .argument = (void *)(uintptr_t)report};
    return true;
}

bool cache_report_tlb_cycles(const struct cache_report *report, double *cycles)
{
    uint64_t references = 0, first_misses = 0, walks = 0;
    if (!report->tlb)
        return false;
    const struct tlb_settings *settings = tlb_settings_of(report->tlb);
    for (unsigned i = 0; i < TLB_PAGES; i++) {
        const enum tlb_pages pages = (enum tlb_pages)i;
        for (unsigned buffer = 0; buffer < TLB_SECOND; buffer++) {
            const struct tlb_counters first =
                tlb_counters_of(report->tlb, (enum tlb_buffer)buffer, pages);
            references += first.references;
            first_misses += first.misses;
        }
        walks += tlb_counters_of(report->tlb, TLB_SECOND, pages).misses;
    }
    if (settings->walk_latency == 0 || references == 0)
        return false;
    *cycles =
        ((double)first_misses * settings->second_latency + (double)walks * settings->walk_latency) /
        (double)references;
    return true;
}
