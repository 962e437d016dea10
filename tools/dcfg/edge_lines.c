#include "tools/dcfg/edge_lines.h"

#include "formats/base/digits.h"

#include <stdlib.h>
#include <string.h>

#define SYMBOL_MAX     1000u /* characters of a symbol; longer ones are truncated */
#define TAIL_MAX_BYTES (6 * SYMBOL_MAX + 300u)
#define STEP           64u /* a line is copied in steps of this many bytes, the last in full */
#define LINE_MAX_BYTES (TAIL_MAX_BYTES + 100u + STEP)
#define INDEX_WIDTH    12u /* least width of an edge's number in the text form */
#define FIRST_ROOM     ((size_t)1 << 20)

/* The end of an edge's line, after its number in the trace. */
struct line_tail {
    uint32_t offset;
    uint32_t size; /* 0: not made yet */
};

struct edge_lines {
    const struct dcfg_process *process;
    const struct names *names;
    enum view_form form;
    struct line_tail *tails; /* by number of the edge */
    char *bytes;             /* of all tails; STEP more than are used */
    size_t fill, room, room_max;
};

struct edge_lines *edge_lines_new(const struct view *view, enum view_form form, size_t memory_max,
                                  struct bt_error *error)
{
    const size_t least = TAIL_MAX_BYTES + STEP;
    struct edge_lines *lines = calloc(1, sizeof *lines);
    if (lines) {
        lines->process = view->process;
        lines->names = view->names;
        lines->form = form;
        lines->room_max = memory_max < least        ? least
                          : memory_max > UINT32_MAX ? UINT32_MAX
                                                    : memory_max;
        lines->tails = calloc((size_t)view->process->edges.count + 1, sizeof *lines->tails);
        if (lines->tails)
            return lines;
    }
    free(lines);
    bt_fail(error, BT_MEMORY, "no memory for the lines of %" PRIu32 " edges",
            view->process->edges.count);
    return NULL;
}

void edge_lines_free(struct edge_lines *lines)
{
    if (!lines)
        return;
    free(lines->tails);
    free(lines->bytes);
    free(lines);
}

int edge_lines_heading(const struct edge_lines *lines, struct output *output,
                       struct bt_error *error)
{
    char *to = output_reserve(output, LINE_MAX_BYTES, error);
    if (!to)
        return error->code;
    if (lines->form == VIEW_TEXT)
        output_filled(output,
                      (size_t)sprintf(to, "%6s %12s %8s %8s %8s  %-29s %-10s  %s\n", "THREAD",
                                      "INDEX", "EDGE", "SOURCE", "TARGET", "TYPE", "TO", "SYMBOL"));
    else if (lines->form == VIEW_CSV)
        output_filled(output, (size_t)sprintf(to, "thread,index,edge,source,target,type,address,"
                                                  "symbol,symbol_offset\n"));
    return 0;
}

/* --- tails ----------------------------------------------------------------------------------- */

/* What the tail of an edge shows. */
struct edge_shown {
    uint32_t id, source, target;
    const char *type;
    bool known; /* it leads to a block, whose location is: */
    struct code_location location;
};

/* Writes a character in an output form, at most six bytes. */
static size_t put_character(char *to, enum view_form form, unsigned char c)
{
    if (form == VIEW_JSON && (c < 0x20 || c == 0x7f))
        return (size_t)sprintf(to, "\\u%04x", c);
    size_t size = 0;
    if (form == VIEW_JSON && (c == '"' || c == '\\'))
        to[size++] = '\\';
    if (form == VIEW_CSV && c == '"')
        to[size++] = '"';
    to[size++] = form == VIEW_TEXT && (c < 0x20 || c == 0x7f) ? '?' : (char)c;
    return size;
}

/* Writes a symbol's name, truncated at a character boundary. */
static size_t put_symbol(char *to, enum view_form form, const char *symbol)
{
    size_t length = strlen(symbol);
    size_t size = 0;
    if (length > SYMBOL_MAX)
        for (length = SYMBOL_MAX; length > 0 && ((unsigned char)symbol[length] & 0xc0) == 0x80;)
            length--;
    for (size_t i = 0; i < length; i++)
        size += put_character(to + size, form, (unsigned char)symbol[i]);
    return size;
}

static size_t put_text(char *to, const struct edge_shown *edge)
{
    size_t size = (size_t)sprintf(to, " %8" PRIu32 " %8" PRIu32 " %8" PRIu32 "  %-29s", edge->id,
                                  edge->source, edge->target, edge->type);
    if (edge->known)
        size += (size_t)sprintf(to + size, " 0x%08" PRIx64, edge->location.address);
    if (edge->known && edge->location.symbol) {
        to[size++] = ' ';
        to[size++] = ' ';
        size += put_symbol(to + size, VIEW_TEXT, edge->location.symbol);
        if (edge->location.symbol_offset > 0)
            size += (size_t)sprintf(to + size, "+0x%" PRIx64, edge->location.symbol_offset);
    }
    while (to[size - 1] == ' ')
        size--;
    return size;
}

static size_t put_csv(char *to, const struct edge_shown *edge)
{
    size_t size = (size_t)sprintf(to, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%s,", edge->id,
                                  edge->source, edge->target, edge->type);
    if (edge->known)
        size += (size_t)sprintf(to + size, "0x%" PRIx64, edge->location.address);
    to[size++] = ',';
    if (edge->known && edge->location.symbol) {
        to[size++] = '"';
        size += put_symbol(to + size, VIEW_CSV, edge->location.symbol);
        to[size++] = '"';
        size += (size_t)sprintf(to + size, ",%" PRIu64, edge->location.symbol_offset);
    } else {
        to[size++] = ',';
    }
    return size;
}

static size_t put_json(char *to, const struct edge_shown *edge)
{
    size_t size = (size_t)sprintf(
        to, ",\"edge\":%" PRIu32 ",\"source\":%" PRIu32 ",\"target\":%" PRIu32 ",\"type\":\"%s\"",
        edge->id, edge->source, edge->target, edge->type);
    if (edge->known)
        size +=
            (size_t)sprintf(to + size, ",\"address\":\"0x%" PRIx64 "\"", edge->location.address);
    if (edge->known && edge->location.symbol) {
        size += (size_t)sprintf(to + size, ",\"symbol\":\"");
        size += put_symbol(to + size, VIEW_JSON, edge->location.symbol);
        size += (size_t)sprintf(to + size, "\",\"symbol_offset\":%" PRIu64,
                                edge->location.symbol_offset);
    }
    to[size++] = '}';
    return size;
}

/* Room for another tail; forgets all if they have become too many. 0 or BT_MEMORY. */
static int make_room(struct edge_lines *lines, struct bt_error *error)
{
    if (lines->room - lines->fill >= TAIL_MAX_BYTES + STEP)
        return 0;
    if (lines->room == lines->room_max) {
        memset(lines->tails, 0, lines->process->edges.count * sizeof *lines->tails);
        lines->fill = 0;
        return 0;
    }
    size_t room = lines->room ? 2 * lines->room : FIRST_ROOM;
    if (room > lines->room_max)
        room = lines->room_max;
    char *bytes = realloc(lines->bytes, room);
    if (!bytes)
        return bt_fail(error, BT_MEMORY, "no memory for the lines of the edges");
    lines->bytes = bytes;
    lines->room = room;
    return 0;
}

/* Makes the tail of an edge. 0 or BT_MEMORY. */
static int make_tail(struct edge_lines *lines, uint32_t number, struct bt_error *error)
{
    const struct dcfg_edges *edges = &lines->process->edges;
    struct edge_shown edge = {.id = edges->ids[number],
                              .source = edges->sources[number],
                              .target = edges->targets[number],
                              .type =
                                  dcfg_edge_type_name((enum dcfg_edge_type)edges->types[number])};
    if (!edge.type)
        edge.type = "OTHER";
    uint32_t block = dcfg_find_block(lines->process, edge.target);
    edge.known = block != DCFG_NONE;
    if (edge.known)
        names_of_block(lines->names, block, &edge.location);
    int result = make_room(lines, error);
    if (result < 0)
        return result;
    char *to = lines->bytes + lines->fill;
    size_t size = lines->form == VIEW_JSON  ? put_json(to, &edge)
                  : lines->form == VIEW_CSV ? put_csv(to, &edge)
                                            : put_text(to, &edge);
    to[size++] = '\n';
    lines->tails[number] = (struct line_tail){(uint32_t)lines->fill, (uint32_t)size};
    lines->fill += size;
    return 0;
}

/* --- lines ----------------------------------------------------------------------------------- */

/* The beginning of a thread's lines, before the edge's number. */
struct line_head {
    char bytes[STEP];
    size_t size;
};

/* At most STEP / 2 bytes. */
static struct line_head head_of(enum view_form form, uint32_t thread)
{
    struct line_head head;
    int size;
    if (form == VIEW_JSON)
        size =
            snprintf(head.bytes, sizeof head.bytes, "{\"thread\":%" PRIu32 ",\"index\":", thread);
    else if (form == VIEW_CSV)
        size = snprintf(head.bytes, sizeof head.bytes, "%" PRIu32 ",", thread);
    else
        size = snprintf(head.bytes, sizeof head.bytes, "%6" PRIu32 " ", thread);
    head.size = (size_t)size;
    return head;
}

/* Writes a line, and up to STEP bytes after it. Returns its end. */
static inline char *put_line(char *to, const struct line_head *head, uint64_t index, bool aligned,
                             const char *tail, size_t size)
{
    memcpy(to, head->bytes, STEP / 2);
    to += head->size;
    if (aligned)
        for (uint64_t limit = 100000000000u; index < limit && limit > 1; limit /= 10)
            *to++ = ' ';
    to = digits_put_decimal(to, index);
    for (size_t at = 0; at < size; at += STEP)
        memcpy(to + at, tail + at, STEP);
    return to + size;
}

long edge_lines_print(struct edge_lines *lines, uint32_t thread, uint64_t index,
                      const uint32_t *ids, size_t count, struct output *output,
                      struct bt_error *error)
{
    const struct line_head head = head_of(lines->form, thread);
    const bool aligned = lines->form == VIEW_TEXT;
    size_t printed = 0;
    while (printed < count) {
        char *start = output_reserve(output, OUTPUT_RESERVE_MAX, error);
        if (!start)
            return error->code;
        const char *end = start + OUTPUT_RESERVE_MAX - LINE_MAX_BYTES;
        char *to = start;
        for (; printed < count && to < end; printed++) {
            uint32_t number = dcfg_find_edge(lines->process, ids[printed]);
            if (number == DCFG_NONE)
                break;
            if (lines->tails[number].size == 0 && make_tail(lines, number, error) < 0)
                return error->code;
            to = put_line(to, &head, index + printed, aligned,
                          lines->bytes + lines->tails[number].offset, lines->tails[number].size);
        }
        output_filled(output, (size_t)(to - start));
        if (printed < count && to < end)
            break;
    }
    return (long)printed;
}
