#include "tests/support/random_dcfg.h"

#include "tests/support/json_twin.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 5u
#define COLUMNS_MAX 12u

/* --- making ----------------------------------------------------------------------------------- */

struct maker {
    uint64_t *state;
    enum random_dcfg_kind kind;
    uint32_t size;
    struct dcfg *graph;
    struct dcfg_process *process;
    uint32_t id_step; /* ids are multiples of it, in a random order */
};

static void must(int result)
{
    if (result < 0)
        abort();
}

static uint64_t below(struct maker *maker, uint64_t limit)
{
    return random_below(maker->state, limit);
}

/* A number with a random count of bits. */
static uint64_t number(struct maker *maker, unsigned bits)
{
    return random_next(maker->state) >> 1 >> (63 - random_below(maker->state, bits));
}

static size_t name(struct maker *maker, char text[32])
{
    static const char *const parts[] = {"main",     "/lib64/", "\\usr\\", "\"x\"",
                                        "\xc3\xa9", "\n",      "a.c"};
    size_t size = 0;
    for (uint64_t i = below(maker, 4); i > 0; i--)
        size += (size_t)snprintf(text + size, 32 - size, "%s", parts[below(maker, 7)]);
    return size;
}

static void add_names(struct maker *maker)
{
    char text[32];
    uint32_t count = (uint32_t)below(maker, maker->size + 1);
    bool plain = maker->kind == RANDOM_DCFG_WRITABLE;
    for (uint32_t i = count; i > 0; i--) {
        size_t size = name(maker, text);
        must(dcfg_add_file_name(maker->graph, i * maker->id_step, text, size, NULL));
    }
    if (plain) {
        must(dcfg_add_standard_tables(maker->graph, NULL));
        return;
    }
    uint32_t first = 1 + (uint32_t)below(maker, 1000);
    for (uint32_t i = 1; i < DCFG_EDGE_TYPES; i++) {
        const char *type = dcfg_edge_type_name((enum dcfg_edge_type)i);
        must(dcfg_add_edge_type(maker->graph, first + i * 7 % 29, type, strlen(type), NULL));
    }
    must(dcfg_add_edge_type(maker->graph, first + 100, "INVENTED", 8, NULL));
    must(dcfg_add_special_node(maker->graph, 100000, "START", 5, NULL));
    must(dcfg_add_special_node(maker->graph, 100002, "END", 3, NULL));
    must(dcfg_add_special_node(maker->graph, 100001, "INVENTED", 8, NULL));
}

static uint32_t any_file_name(struct maker *maker)
{
    const struct dcfg *graph = maker->graph;
    return graph->file_names[below(maker, graph->file_name_count)].id;
}

static void add_image(struct maker *maker)
{
    struct dcfg_process *process = maker->process;
    bool plain = maker->kind == RANDOM_DCFG_WRITABLE;
    bool named = maker->graph->file_name_count > 0;
    struct dcfg_image image = {.id = (uint32_t)number(maker, 31),
                               .load_address = number(maker, 63),
                               .size = number(maker, 40)};
    if (named && (plain || below(maker, 2)))
        image.file_name_id = any_file_name(maker);
    must(dcfg_add_image(process, &image, NULL));
    for (uint64_t i = below(maker, maker->size); i > 0; i--) {
        char text[32];
        size_t size = name(maker, text);
        must(dcfg_add_symbol(process, number(maker, 48), number(maker, 63), text, size, NULL));
    }
    for (uint64_t i = named ? below(maker, maker->size) : 0; i > 0; i--) {
        struct dcfg_line line = {.offset = number(maker, 48),
                                 .size = (uint32_t)number(maker, 32),
                                 .file_name_id = any_file_name(maker),
                                 .line = (uint32_t)number(maker, 20),
                                 .instructions = (uint32_t)number(maker, 10)};
        must(dcfg_add_line(process, &line, NULL));
    }
    uint64_t offset = 0;
    for (uint64_t i = below(maker, maker->size); i > 0; i--) {
        offset += plain + below(maker, 100);
        struct dcfg_block block = {
            .offset = plain ? offset : number(maker, 48),
            .count = plain || below(maker, 3) ? number(maker, 60) : DCFG_COUNT_UNKNOWN,
            .id = plain ? 4 + process->block_count : maker->id_step * (500 - process->block_count),
            .size = (uint32_t)number(maker, 32),
            .instructions = (uint32_t)number(maker, 16),
            .last_instruction = (uint32_t)number(maker, 32)};
        must(dcfg_add_block(process, &block, NULL));
    }
}

static uint32_t any_block(struct maker *maker)
{
    const struct dcfg_process *process = maker->process;
    return process->blocks[below(maker, process->block_count)].id;
}

static void add_ids(struct maker *maker, struct dcfg_range *range)
{
    for (uint64_t i = below(maker, 4); i > 0; i--)
        must(dcfg_add_id(maker->process, range, any_block(maker), NULL));
}

/* Adds a routine of the last image, with any of its blocks. */
static void add_routine(struct maker *maker)
{
    struct dcfg_process *process = maker->process;
    struct dcfg_routine routine = {.entry = any_block(maker)};
    add_ids(maker, &routine.exits);
    for (uint64_t i = below(maker, 5); i > 0; i--) {
        struct dcfg_node node = {.id = any_block(maker), .dominator = any_block(maker)};
        must(dcfg_add_node(process, &routine.nodes, &node, NULL));
    }
    for (uint64_t i = below(maker, 3); i > 0; i--) {
        struct dcfg_loop loop = {.head = any_block(maker)};
        if (below(maker, 2))
            loop.parent = any_block(maker);
        add_ids(maker, &loop.back_edges);
        add_ids(maker, &loop.nodes);
        must(dcfg_add_loop(process, &routine.loops, &loop, NULL));
    }
    must(dcfg_add_routine(process, &routine, NULL));
}

static uint32_t any_node(struct maker *maker)
{
    const struct dcfg *graph = maker->graph;
    if (maker->process->block_count > 0 && below(maker, 4))
        return any_block(maker);
    return graph->special_nodes[below(maker, graph->special_node_count)].id;
}

static void add_edges(struct maker *maker)
{
    struct dcfg_process *process = maker->process;
    bool plain = maker->kind == RANDOM_DCFG_WRITABLE;
    uint32_t count = (uint32_t)below(maker, 4 * maker->size);
    for (uint32_t i = count; i > 0; i--) {
        uint64_t counts[THREADS_MAX];
        uint32_t threads = plain ? process->threads : (uint32_t)below(maker, THREADS_MAX + 1);
        for (uint32_t k = 0; k < threads; k++)
            counts[k] = below(maker, 2) ? 0 : number(maker, 63);
        /* the target of an entry edge would have to be block 4 */
        uint32_t types = plain ? DCFG_EDGE_TYPES - 2 : DCFG_EDGE_OTHER;
        enum dcfg_edge_type type =
            (enum dcfg_edge_type)((plain ? DCFG_EDGE_EXIT : DCFG_EDGE_ENTRY) + below(maker, types));
        must(dcfg_add_edge(process, i * maker->id_step, any_node(maker), any_node(maker), type,
                           counts, threads, NULL));
    }
}

static void add_process(struct maker *maker)
{
    bool plain = maker->kind == RANDOM_DCFG_WRITABLE;
    maker->process = dcfg_add_process(maker->graph, number(maker, 32), NULL);
    if (!maker->process)
        abort();
    if (plain || below(maker, 4)) {
        uint64_t instructions[THREADS_MAX];
        uint32_t threads = plain + (uint32_t)below(maker, THREADS_MAX + 1 - plain);
        for (uint32_t i = 0; i < threads; i++)
            instructions[i] = number(maker, 60);
        must(dcfg_set_thread_instructions(maker->process, instructions, threads, NULL));
    }
    if (!plain && below(maker, 2))
        maker->process->instructions = number(maker, 63);
    for (uint64_t i = below(maker, 4); i > 0; i--) {
        add_image(maker);
        for (uint64_t k = maker->process->block_count > 0 ? below(maker, 4) : 0; k > 0; k--)
            add_routine(maker);
    }
    add_edges(maker);
}

struct dcfg *random_dcfg(uint64_t *state, enum random_dcfg_kind kind, uint32_t size)
{
    struct maker maker = {.state = state, .kind = kind, .size = size};
    bool plain = kind == RANDOM_DCFG_WRITABLE;
    maker.graph = dcfg_new(NULL, NULL);
    if (!maker.graph)
        abort();
    maker.id_step = random_below(state, 2) ? 1 : 1 + (uint32_t)random_below(state, 10000);
    if (!plain)
        maker.id_step |= 1; /* keeps block ids apart from those of special nodes */
    if (!plain &&
        (100000 % maker.id_step == 0 || 100001 % maker.id_step == 0 || 100002 % maker.id_step == 0))
        maker.id_step = 1;
    add_names(&maker);
    if (plain && maker.graph->file_name_count == 0)
        must(dcfg_add_file_name(maker.graph, 1, "x", 1, NULL));
    for (uint64_t i = plain ? 1 : random_below(state, 4); i > 0; i--)
        add_process(&maker);
    must(dcfg_seal(maker.graph, NULL));
    return maker.graph;
}

/* --- comparing -------------------------------------------------------------------------------- */

static bool same_text(const struct dcfg *a, uint32_t a_name, const struct dcfg *b, uint32_t b_name)
{
    return strcmp(dcfg_text(a, a_name), dcfg_text(b, b_name)) == 0;
}

static bool same_names(const struct dcfg *a, const struct dcfg *b)
{
    if (a->file_name_count != b->file_name_count || a->edge_type_count != b->edge_type_count ||
        a->special_node_count != b->special_node_count || a->process_count != b->process_count)
        return false;
    for (uint32_t i = 0; i < a->file_name_count; i++)
        if (a->file_names[i].id != b->file_names[i].id ||
            !same_text(a, a->file_names[i].name, b, b->file_names[i].name))
            return false;
    for (uint32_t i = 0; i < a->edge_type_count; i++)
        if (a->edge_types[i].id != b->edge_types[i].id ||
            a->edge_types[i].type != b->edge_types[i].type)
            return false;
    for (uint32_t i = 0; i < a->special_node_count; i++)
        if (a->special_nodes[i].id != b->special_nodes[i].id ||
            a->special_nodes[i].special != b->special_nodes[i].special)
            return false;
    return true;
}

static bool same_range(struct dcfg_range a, struct dcfg_range b)
{
    return a.count == b.count;
}

static bool same_images(const struct dcfg_process *a, const struct dcfg_process *b)
{
    for (uint32_t i = 0; i < a->image_count; i++) {
        const struct dcfg_image *x = &a->images[i];
        const struct dcfg_image *y = &b->images[i];
        if (x->id != y->id || x->file_name_id != y->file_name_id ||
            x->load_address != y->load_address || x->size != y->size ||
            !same_range(x->symbols, y->symbols) || !same_range(x->lines, y->lines) ||
            !same_range(x->blocks, y->blocks) || !same_range(x->routines, y->routines))
            return false;
    }
    for (uint32_t i = 0; i < a->symbol_count; i++) {
        const struct dcfg_symbol *x = &a->symbols[i];
        const struct dcfg_symbol *y = &b->symbols[i];
        if (x->offset != y->offset || x->size != y->size ||
            !same_text(a->graph, x->name, b->graph, y->name))
            return false;
    }
    return (a->line_count == 0 ||
            memcmp(a->lines, b->lines, a->line_count * sizeof *a->lines) == 0) &&
           (a->block_count == 0 ||
            memcmp(a->blocks, b->blocks, a->block_count * sizeof *a->blocks) == 0);
}

static bool same_ids(const struct dcfg_process *a, struct dcfg_range x,
                     const struct dcfg_process *b, struct dcfg_range y)
{
    for (uint32_t i = 0; i < x.count && x.count == y.count; i++)
        if (a->ids[x.first + i] != b->ids[y.first + i])
            return false;
    return x.count == y.count;
}

static bool same_routine(const struct dcfg_process *a, const struct dcfg_routine *x,
                         const struct dcfg_process *b, const struct dcfg_routine *y)
{
    if (x->entry != y->entry || !same_ids(a, x->exits, b, y->exits) ||
        !same_range(x->nodes, y->nodes) || !same_range(x->loops, y->loops))
        return false;
    for (uint32_t i = 0; i < x->nodes.count; i++) {
        const struct dcfg_node *m = &a->nodes[x->nodes.first + i];
        const struct dcfg_node *n = &b->nodes[y->nodes.first + i];
        if (m->id != n->id || m->dominator != n->dominator)
            return false;
    }
    for (uint32_t i = 0; i < x->loops.count; i++) {
        const struct dcfg_loop *m = &a->loops[x->loops.first + i];
        const struct dcfg_loop *n = &b->loops[y->loops.first + i];
        if (m->head != n->head || m->parent != n->parent ||
            !same_ids(a, m->back_edges, b, n->back_edges) || !same_ids(a, m->nodes, b, n->nodes))
            return false;
    }
    return true;
}

static bool same_edge(const struct dcfg_process *a, const struct dcfg_process *b, uint32_t edge)
{
    struct dcfg_counts x = dcfg_edge_counts(a, edge);
    struct dcfg_counts y = dcfg_edge_counts(b, edge);
    bool more;
    while ((more = dcfg_counts_next(&x)) == dcfg_counts_next(&y) && more)
        if (x.thread != y.thread || x.count != y.count)
            return false;
    return !more && y.left == 0 && a->edges.ids[edge] == b->edges.ids[edge] &&
           a->edges.sources[edge] == b->edges.sources[edge] &&
           a->edges.targets[edge] == b->edges.targets[edge] &&
           a->edges.types[edge] == b->edges.types[edge];
}

static bool same_process(const struct dcfg_process *a, const struct dcfg_process *b)
{
    bool same = a->id == b->id && a->instructions == b->instructions && a->threads == b->threads &&
                a->threads_counted == b->threads_counted && a->image_count == b->image_count &&
                a->symbol_count == b->symbol_count && a->line_count == b->line_count &&
                a->block_count == b->block_count && a->routine_count == b->routine_count &&
                a->edges.count == b->edges.count &&
                memcmp(a->thread_instructions, b->thread_instructions,
                       a->threads * sizeof *a->thread_instructions) == 0 &&
                same_images(a, b);
    for (uint32_t i = 0; i < a->routine_count && same; i++)
        same = same_routine(a, &a->routines[i], b, &b->routines[i]);
    for (uint32_t i = 0; i < a->edges.count && same; i++)
        same = same_edge(a, b, i);
    return same;
}

bool random_dcfg_same(const struct dcfg *a, const struct dcfg *b)
{
    bool same = same_names(a, b);
    for (uint32_t i = 0; i < a->process_count && same; i++)
        same = same_process(a->processes[i], b->processes[i]);
    return same;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* A table's row or an object's members: one text each. */
struct parts {
    char *texts[COLUMNS_MAX];
    unsigned count;
};

struct scribe {
    const struct dcfg *graph;
    const struct dcfg_process *process;
    uint64_t *state;
};

/* A number, or a string that holds one as C writes it. */
static char *integer(struct scribe *scribe, uint64_t value)
{
    unsigned long long number_value = value;
    char text[64];
    switch (random_below(scribe->state, 5)) {
    case 0:
        snprintf(text, sizeof text, "\"0x%llx\"", number_value);
        break;
    case 1:
        snprintf(text, sizeof text, "\"0X%llX\"", number_value);
        break;
    case 2:
        snprintf(text, sizeof text, "\"0%llo\"", number_value);
        break;
    case 3:
        snprintf(text, sizeof text, "\"%llu\"", number_value);
        break;
    default:
        snprintf(text, sizeof text, "%llu", number_value);
    }
    return strdup(text);
}

static char *string(const char *text)
{
    char *result = NULL;
    size_t size;
    FILE *file = open_memstream(&result, &size);
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(file, "\\u%04x", *text);
        else
            fputc(*text, file);
    }
    fputc('"', file);
    fclose(file);
    return result;
}

/* A random order of count elements, with some (0: no) unknown ones, numbered from count. */
static unsigned shuffle(struct scribe *scribe, unsigned order[COLUMNS_MAX], unsigned count)
{
    unsigned total = count + (unsigned)random_below(scribe->state, 3);
    for (unsigned i = 0; i < total; i++) {
        unsigned other = (unsigned)random_below(scribe->state, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    return total;
}

static const char *space(struct scribe *scribe)
{
    static const char *const spaces[] = {"", "", " ", "\n", "  \t"};
    return spaces[random_below(scribe->state, 5)];
}

static void unknown(struct scribe *scribe, FILE *file)
{
    size_t size;
    char *text = json_twin_random(scribe->state, &size);
    fwrite(text, 1, size, file);
    free(text);
}

/* An object with these keys, without those whose text is NULL. Frees the texts. */
static char *object(struct scribe *scribe, const char *const *keys, struct parts *parts)
{
    unsigned order[COLUMNS_MAX];
    char *result = NULL;
    size_t size;
    FILE *file = open_memstream(&result, &size);
    unsigned total = shuffle(scribe, order, parts->count);
    const char *comma = "";
    fputc('{', file);
    for (unsigned i = 0; i < total; i++) {
        if (order[i] < parts->count && !parts->texts[order[i]])
            continue;
        fprintf(file, "%s%s", comma, space(scribe));
        comma = ",";
        if (order[i] >= parts->count) {
            fprintf(file, "\"UNKNOWN_%u\":", order[i]);
            unknown(scribe, file);
        } else {
            fprintf(file, "\"%s\"%s:%s%s", keys[order[i]], space(scribe), space(scribe),
                    parts->texts[order[i]]);
        }
    }
    fprintf(file, "%s}", space(scribe));
    fclose(file);
    for (unsigned i = 0; i < parts->count; i++)
        free(parts->texts[i]);
    return result;
}

/* A table written row by row. */
struct sheet {
    struct scribe *scribe;
    FILE *file;
    char *result;
    size_t size;
    unsigned columns, total, order[COLUMNS_MAX];
};

static void sheet_begin(struct sheet *sheet, struct scribe *scribe, const char *const *columns)
{
    *sheet = (struct sheet){.scribe = scribe};
    while (columns[sheet->columns])
        sheet->columns++;
    sheet->total = shuffle(scribe, sheet->order, sheet->columns);
    sheet->file = open_memstream(&sheet->result, &sheet->size);
    fputs("[[", sheet->file);
    for (unsigned i = 0; i < sheet->total; i++) {
        bool known = sheet->order[i] < sheet->columns;
        fprintf(sheet->file, "%s\"%s\"%s", i > 0 ? "," : "",
                known ? columns[sheet->order[i]] : "UNKNOWN", space(scribe));
    }
    fputc(']', sheet->file);
}

/* Writes a row. NULL cells at its end are omitted; others become `none`. Frees the cells. */
static void sheet_row(struct sheet *sheet, struct parts *cells, const char *none)
{
    unsigned total = sheet->total;
    while (total > 0 &&
           (sheet->order[total - 1] >= sheet->columns || !cells->texts[sheet->order[total - 1]]))
        total--;
    fputs(",[", sheet->file);
    for (unsigned i = 0; i < total; i++) {
        fprintf(sheet->file, "%s%s", i > 0 ? "," : "", space(sheet->scribe));
        if (sheet->order[i] >= sheet->columns) {
            unknown(sheet->scribe, sheet->file);
        } else {
            const char *text = cells->texts[sheet->order[i]];
            fputs(text ? text : none, sheet->file);
        }
    }
    fputc(']', sheet->file);
    for (unsigned i = 0; i < cells->count; i++)
        free(cells->texts[i]);
}

static char *sheet_end(struct sheet *sheet)
{
    fputc(']', sheet->file);
    fclose(sheet->file);
    return sheet->result;
}

/* A table of ids and names: count rows, stride bytes apart. */
static char *named_table(struct scribe *scribe, const char *const *columns, const void *rows,
                         size_t stride, uint32_t count)
{
    struct sheet sheet;
    if (count == 0 && random_below(scribe->state, 2))
        return random_below(scribe->state, 2) ? NULL : strdup("[]");
    sheet_begin(&sheet, scribe, columns);
    for (uint32_t i = 0; i < count; i++) {
        struct dcfg_file_name row; /* all such rows begin alike */
        memcpy(&row, (const char *)rows + i * stride, sizeof row);
        struct parts cells = {{integer(scribe, row.id), string(dcfg_text(scribe->graph, row.name))},
                              2};
        sheet_row(&sheet, &cells, "");
    }
    return sheet_end(&sheet);
}

static char *id_array(struct scribe *scribe, struct dcfg_range range)
{
    char *result = NULL;
    size_t size;
    FILE *file = open_memstream(&result, &size);
    fputc('[', file);
    for (uint32_t i = 0; i < range.count; i++) {
        char *id = integer(scribe, scribe->process->ids[range.first + i]);
        fprintf(file, "%s%s%s", i > 0 ? "," : "", space(scribe), id);
        free(id);
    }
    fputc(']', file);
    fclose(file);
    return result;
}

static char *symbols(struct scribe *scribe, struct dcfg_range range)
{
    static const char *const columns[] = {"NAME", "ADDR_OFFSET", "SIZE", NULL};
    struct sheet sheet;
    sheet_begin(&sheet, scribe, columns);
    for (uint32_t i = 0; i < range.count; i++) {
        const struct dcfg_symbol *symbol = &scribe->process->symbols[range.first + i];
        struct parts cells = {{string(dcfg_text(scribe->graph, symbol->name)),
                               integer(scribe, symbol->offset), integer(scribe, symbol->size)},
                              3};
        sheet_row(&sheet, &cells, "");
    }
    return sheet_end(&sheet);
}

static char *lines(struct scribe *scribe, struct dcfg_range range)
{
    static const char *const columns[] = {"FILE_NAME_ID", "LINE_NUM",   "ADDR_OFFSET",
                                          "SIZE",         "NUM_INSTRS", NULL};
    struct sheet sheet;
    sheet_begin(&sheet, scribe, columns);
    for (uint32_t i = 0; i < range.count; i++) {
        const struct dcfg_line *line = &scribe->process->lines[range.first + i];
        struct parts cells = {{integer(scribe, line->file_name_id), integer(scribe, line->line),
                               integer(scribe, line->offset), integer(scribe, line->size),
                               integer(scribe, line->instructions)},
                              5};
        sheet_row(&sheet, &cells, "");
    }
    return sheet_end(&sheet);
}

/* Rows cannot omit a count in their middle: then the column is missing. */
static char *blocks(struct scribe *scribe, struct dcfg_range range)
{
    static const char *const columns[] = {"NODE_ID",           "ADDR_OFFSET", "SIZE", "NUM_INSTRS",
                                          "LAST_INSTR_OFFSET", "COUNT",       NULL};
    struct sheet sheet;
    sheet_begin(&sheet, scribe, columns);
    for (unsigned i = 0; i < sheet.total; i++) /* only unknown columns follow its column */
        if (sheet.order[i] == 5) {
            memmove(&sheet.order[i], &sheet.order[i + 1], (sheet.total - i - 1) * sizeof(unsigned));
            sheet.order[sheet.total - 1] = 5;
        }
    fclose(sheet.file);
    free(sheet.result);
    sheet.file = open_memstream(&sheet.result, &sheet.size);
    for (unsigned i = 0; i < sheet.total; i++)
        fprintf(sheet.file, "%s\"%s\"", i > 0 ? "," : "[[",
                sheet.order[i] < 6 ? columns[sheet.order[i]] : "UNKNOWN");
    fputc(']', sheet.file);
    for (uint32_t i = 0; i < range.count; i++) {
        const struct dcfg_block *block = &scribe->process->blocks[range.first + i];
        bool known = block->count != DCFG_COUNT_UNKNOWN;
        struct parts cells = {{integer(scribe, block->id), integer(scribe, block->offset),
                               integer(scribe, block->size), integer(scribe, block->instructions),
                               integer(scribe, block->last_instruction),
                               known ? integer(scribe, block->count) : NULL},
                              6};
        sheet_row(&sheet, &cells, "");
    }
    return sheet_end(&sheet);
}

static char *nodes(struct scribe *scribe, struct dcfg_range range)
{
    static const char *const columns[] = {"NODE_ID", "IDOM_NODE_ID", NULL};
    struct sheet sheet;
    sheet_begin(&sheet, scribe, columns);
    for (uint32_t i = 0; i < range.count; i++) {
        const struct dcfg_node *node = &scribe->process->nodes[range.first + i];
        struct parts cells = {{integer(scribe, node->id), integer(scribe, node->dominator)}, 2};
        sheet_row(&sheet, &cells, "");
    }
    return sheet_end(&sheet);
}

static char *loops(struct scribe *scribe, struct dcfg_range range)
{
    static const char *const columns[] = {"LOOP_HEAD_NODE_ID", "LOOP_BACK_EDGE_SOURCE_NODE_IDS",
                                          "LOOP_NODE_IDS", "PARENT_LOOP_HEAD_NODE_ID", NULL};
    struct sheet sheet;
    if (range.count == 0 && random_below(scribe->state, 2))
        return NULL;
    sheet_begin(&sheet, scribe, columns);
    for (uint32_t i = 0; i < range.count; i++) {
        const struct dcfg_loop *loop = &scribe->process->loops[range.first + i];
        struct parts cells = {{integer(scribe, loop->head), id_array(scribe, loop->back_edges),
                               id_array(scribe, loop->nodes),
                               loop->parent != 0 ? integer(scribe, loop->parent) : NULL},
                              4};
        sheet_row(&sheet, &cells, "0");
    }
    return sheet_end(&sheet);
}

static char *routines(struct scribe *scribe, struct dcfg_range range)
{
    static const char *const columns[] = {"ENTRY_NODE_ID", "EXIT_NODE_IDS", "NODES", "LOOPS", NULL};
    struct sheet sheet;
    sheet_begin(&sheet, scribe, columns);
    for (uint32_t i = 0; i < range.count; i++) {
        const struct dcfg_routine *routine = &scribe->process->routines[range.first + i];
        struct parts cells = {{integer(scribe, routine->entry), id_array(scribe, routine->exits),
                               nodes(scribe, routine->nodes), loops(scribe, routine->loops)},
                              4};
        sheet_row(&sheet, &cells, "[]");
    }
    return sheet_end(&sheet);
}

/* A section that may be omitted if it is empty. */
static char *section(struct scribe *scribe, struct dcfg_range range,
                     char *(*write)(struct scribe *scribe, struct dcfg_range range))
{
    return range.count == 0 && random_below(scribe->state, 2) ? NULL : write(scribe, range);
}

static char *images(struct scribe *scribe)
{
    static const char *const columns[] = {"IMAGE_ID", "LOAD_ADDR", "SIZE", "IMAGE_DATA", NULL};
    static const char *const keys[] = {"FILE_NAME_ID", "SYMBOLS", "SOURCE_DATA", "BASIC_BLOCKS",
                                       "ROUTINES"};
    const struct dcfg_process *process = scribe->process;
    struct sheet sheet;
    if (process->image_count == 0 && random_below(scribe->state, 2))
        return NULL;
    sheet_begin(&sheet, scribe, columns);
    for (uint32_t i = 0; i < process->image_count; i++) {
        const struct dcfg_image *image = &process->images[i];
        struct parts data = {
            {image->file_name_id != 0 ? integer(scribe, image->file_name_id) : NULL,
             section(scribe, image->symbols, symbols), section(scribe, image->lines, lines),
             section(scribe, image->blocks, blocks), section(scribe, image->routines, routines)},
            5};
        struct parts cells = {{integer(scribe, image->id), integer(scribe, image->load_address),
                               integer(scribe, image->size), object(scribe, keys, &data)},
                              4};
        sheet_row(&sheet, &cells, "");
    }
    return sheet_end(&sheet);
}

/* Counts of count threads. */
static char *count_array(struct scribe *scribe, const uint64_t *counts, uint32_t count)
{
    char *result = NULL;
    size_t size;
    FILE *file = open_memstream(&result, &size);
    fputc('[', file);
    for (uint32_t i = 0; i < count; i++) {
        char *text = integer(scribe, counts[i]);
        fprintf(file, "%s%s", i > 0 ? "," : "", text);
        free(text);
    }
    fputc(']', file);
    fclose(file);
    return result;
}

static uint32_t type_id(const struct dcfg *graph, uint8_t type)
{
    for (uint32_t i = 0; i < graph->edge_type_count; i++)
        if (graph->edge_types[i].type == type)
            return graph->edge_types[i].id;
    abort();
}

static char *edges(struct scribe *scribe)
{
    static const char *const columns[] = {"EDGE_ID",      "SOURCE_NODE_ID",   "TARGET_NODE_ID",
                                          "EDGE_TYPE_ID", "COUNT_PER_THREAD", NULL};
    const struct dcfg_edges *all = &scribe->process->edges;
    uint32_t threads = scribe->process->threads;
    struct sheet sheet;
    sheet_begin(&sheet, scribe, columns);
    for (uint32_t i = 0; i < all->count; i++) {
        uint64_t values[THREADS_MAX] = {0};
        struct dcfg_counts counts = dcfg_edge_counts(scribe->process, i);
        while (dcfg_counts_next(&counts))
            values[counts.thread] = counts.count;
        struct parts cells = {{integer(scribe, all->ids[i]), integer(scribe, all->sources[i]),
                               integer(scribe, all->targets[i]),
                               integer(scribe, type_id(scribe->graph, all->types[i])),
                               count_array(scribe, values, threads)},
                              5};
        sheet_row(&sheet, &cells, "");
    }
    return sheet_end(&sheet);
}

static char *processes(struct scribe *scribe)
{
    static const char *const columns[] = {"PROCESS_ID", "PROCESS_DATA", NULL};
    static const char *const keys[] = {"INSTR_COUNT", "INSTR_COUNT_PER_THREAD", "IMAGES", "EDGES"};
    struct sheet sheet;
    sheet_begin(&sheet, scribe, columns);
    for (uint32_t i = 0; i < scribe->graph->process_count; i++) {
        const struct dcfg_process *process = scribe->process = scribe->graph->processes[i];
        bool known = process->instructions != DCFG_COUNT_UNKNOWN;
        struct parts data = {
            {known ? integer(scribe, process->instructions) : NULL,
             process->threads_counted > 0
                 ? count_array(scribe, process->thread_instructions, process->threads_counted)
                 : NULL,
             images(scribe), edges(scribe)},
            4};
        struct parts cells = {{integer(scribe, process->id), object(scribe, keys, &data)}, 2};
        sheet_row(&sheet, &cells, "");
    }
    return sheet_end(&sheet);
}

char *random_dcfg_text(const struct dcfg *graph, uint64_t *state, size_t *size)
{
    static const char *const keys[] = {"MAJOR_VERSION", "MINOR_VERSION", "FILE_NAMES",
                                       "EDGE_TYPES",    "SPECIAL_NODES", "PROCESSES"};
    static const char *const file_names[] = {"FILE_NAME_ID", "FILE_NAME", NULL};
    static const char *const edge_types[] = {"EDGE_TYPE_ID", "EDGE_TYPE", NULL};
    static const char *const special_nodes[] = {"NODE_ID", "NODE_NAME", NULL};
    struct scribe scribe = {.graph = graph, .state = state};
    struct parts parts = {{integer(&scribe, 1), integer(&scribe, 0),
                           named_table(&scribe, file_names, graph->file_names,
                                       sizeof *graph->file_names, graph->file_name_count),
                           named_table(&scribe, edge_types, graph->edge_types,
                                       sizeof *graph->edge_types, graph->edge_type_count),
                           named_table(&scribe, special_nodes, graph->special_nodes,
                                       sizeof *graph->special_nodes, graph->special_node_count),
                           processes(&scribe)},
                          6};
    char *text = object(&scribe, keys, &parts);
    *size = strlen(text);
    return text;
}
