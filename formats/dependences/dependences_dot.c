#include "formats/dependences/dependences_look_internal.h"
#include "formats/dependences/dependences_write_internal.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const colors[DEPENDENCE_KINDS] = {"black", "blue", "red3"};

/* A string of the DOT language; names hold no control characters. */
static void put_quoted(const char *text, FILE *out)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void put_node(const struct dependences *dependences, uint32_t number, FILE *out)
{
    char text[DEPENDENCES_LOOK_BYTES];
    fprintf(out, "  p%" PRIu32 " [label=", number);
    put_quoted(dependences_look(dependences, number, text), out);
    fputs("];\n", out);
}

static void put_edge(const struct dependence *row, FILE *out)
{
    char distance[DEPENDENCES_DISTANCE_BYTES];
    const char *color = colors[row->kind];
    fprintf(out, "  p%" PRIu32 " -> p%" PRIu32 " [color=%s, fontcolor=%s, label=\"%s %" PRIu64,
            row->source, row->sink, color, color, dependence_kind_names[row->kind], row->count);
    if (row->carried)
        fprintf(out, "\\ncarried: %s\", style=bold", dependences_look_distance(row, distance));
    else
        putc('"', out);
    fputs("];\n", out);
}

int dependences_write_dot(const struct dependences *dependences, FILE *out, struct bt_error *error)
{
    bool *used = calloc(dependences->place_count + 1, sizeof *used);
    if (!used)
        return bt_fail(error, BT_MEMORY, "no memory to write dependences");
    for (size_t i = 0; i < dependences->row_count; i++)
        used[dependences->rows[i].sink] = used[dependences->rows[i].source] = true;
    fputs("digraph dependences {\n  node [shape=box];\n", out);
    for (uint32_t place = 0; place < dependences->place_count && !ferror(out); place++)
        if (used[place])
            put_node(dependences, place, out);
    for (size_t i = 0; i < dependences->row_count && !ferror(out); i++)
        put_edge(&dependences->rows[i], out);
    fputs("}\n", out);
    free(used);
    return 0;
}
