#include "tools/dcfg/graph/bus_paths.h"

#define MANY_NODES 256u /* are put at once, which is quicker than each alone */

int paths_put_node(struct bus_paths *paths, const struct path_node *node, bool certain,
                   struct bt_error *error)
{
    int result = 0;
    paths->prefetched += node->skipped;
    certain = certain && !paths->undecidable && !paths->doubted;
    for (uint32_t at = node->start; at != node->end && result == 0;) {
        const struct bus_instruction *instruction = bus_code_at(paths->code, at);
        struct record record = paths->chunk;
        record.address = at;
        record.size = instruction->size;
        record.time = node->time;
        record.attribute = node->attribute;
        result = paths->put(paths->context, &record, !certain || at < node->certain, error);
        at += instruction->size;
    }
    return result;
}

/* Puts the nodes of chunks before `limit`, and forgets all but the rest of the path. Returns what
 * is left of it in *tip. */
static int put_until(struct bus_paths *paths, uint32_t *tip, uint64_t limit, struct bt_error *error)
{
    uint32_t count = 0;
    uint32_t kept = 0;
    int result = 0;
    for (uint32_t at = *tip; at != PATH_NONE; at = paths->nodes[at].parent)
        paths->chain[count++] = at;
    while (count > 0 && result == 0) {
        struct path_node node = paths->nodes[paths->chain[--count]];
        if (kept == 0 && node.chunk < limit) {
            result = paths_put_node(paths, &node, node.chunk < paths->decided, error);
            continue;
        }
        node.parent = kept > 0 ? kept - 1 : PATH_NONE;
        paths->nodes[kept++] = node;
    }
    paths->count = kept;
    *tip = kept > 0 ? kept - 1 : PATH_NONE;
    return result;
}

int paths_decide(struct bus_paths *paths, uint32_t *tip, uint32_t lag, struct bt_error *error)
{
    int result = 0;
    paths->decided = paths->number > lag ? paths->number - lag : 0;
    if (*tip == PATH_NONE) {
        paths->count = 0;
    } else if (lag == 0 && paths->nodes[*tip].parent == PATH_NONE) { /* the usual case */
        result = paths_put_node(paths, &paths->nodes[*tip], true, error);
        paths->count = 0;
        *tip = PATH_NONE;
    } else if (lag == 0 || paths->count > MANY_NODES) {
        result = put_until(paths, tip, paths->decided, error);
    }
    return result;
}

int paths_give_up(struct bus_paths *paths, uint32_t tip, struct bt_error *error)
{
    int result = put_until(paths, &tip, UINT64_MAX, error);
    paths->count = 0;
    return result;
}

uint32_t paths_add(struct bus_paths *paths, uint32_t tip, uint32_t start, uint32_t end,
                   uint32_t skipped, bool noisy)
{
    paths->nodes[paths->count] = (struct path_node){.parent = tip,
                                                    .start = start,
                                                    .end = end,
                                                    .certain = noisy ? end : start,
                                                    .chunk = paths->number,
                                                    .time = paths->chunk.time,
                                                    .skipped = skipped,
                                                    .attribute = paths->chunk.attribute};
    return paths->count++;
}

/* Where the instructions of two nodes, both of which end at the same address, become the same. */
static uint32_t common_part(struct bus_paths *paths, const struct path_node *a,
                            const struct path_node *b)
{
    uint32_t at = a->start;
    uint32_t other = b->start;
    while (at != other) {
        uint32_t *behind = at < other ? &at : &other;
        const struct bus_instruction *instruction = bus_code_at(paths->code, *behind);
        if (*behind >= a->end || !instruction)
            return a->end;
        *behind += instruction->size;
    }
    return at;
}

void paths_doubt(struct bus_paths *paths, uint32_t kept, uint32_t other)
{
    struct path_node *nodes = paths->nodes;
    if (kept != PATH_NONE && other != PATH_NONE && kept != other &&
        nodes[kept].end == nodes[other].end && nodes[kept].chunk == nodes[other].chunk) {
        uint32_t same = common_part(paths, &nodes[kept], &nodes[other]);
        if (same > nodes[kept].certain)
            nodes[kept].certain = same;
        if (same < nodes[other].certain && nodes[other].certain > nodes[kept].certain)
            nodes[kept].certain = nodes[other].certain;
        kept = nodes[kept].parent;
        other = nodes[other].parent;
    }
    while (kept != other) {
        if (other == PATH_NONE || (kept != PATH_NONE && kept > other)) {
            nodes[kept].certain = nodes[kept].end;
            kept = nodes[kept].parent;
        } else {
            other = nodes[other].parent;
        }
    }
}
