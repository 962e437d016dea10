#include "formats/dcfg/edge_sequence.h"

#include "formats/base/grow.h"

#include <string.h>

/* A list being read. */
struct list_frame {
    const struct edge_nodes *nodes;
    uint32_t first;     /* of the list */
    uint32_t node;      /* the next one to read */
    uint64_t copies;    /* that follow this one */
    uint64_t read_call; /* call in which this copy began ... */
    size_t began;       /* ... and its output position */
};

struct edge_sequence {
    struct edge_nodes nodes;
    const struct edge_nodes *dictionary;
    struct edge_list list;
    struct list_frame *frames;
    size_t depth, capacity;
    uint64_t literal_done; /* values of the current literal already returned */
    uint64_t read_calls;
};

struct edge_sequence *edge_sequence_new(void)
{
    return calloc(1, sizeof(struct edge_sequence));
}

void edge_sequence_set_limit(struct edge_sequence *sequence, size_t bytes_max)
{
    sequence->nodes.bytes_max = bytes_max;
}

void edge_sequence_free(struct edge_sequence *sequence)
{
    if (!sequence)
        return;
    edge_nodes_free(&sequence->nodes);
    free(sequence->frames);
    free(sequence);
}

int edge_sequence_start(struct edge_sequence *sequence, const struct edge_dictionary *dictionary,
                        const char *text, size_t length, struct bt_error *error)
{
    edge_nodes_clear(&sequence->nodes);
    sequence->dictionary = edge_dictionary_nodes(dictionary);
    sequence->depth = 0;
    sequence->literal_done = 0;
    sequence->list = (struct edge_list){.first = EDGE_TEXT_NONE, .depth = 0, .length = 0};
    struct edge_list list;
    int result = edge_text_compile(&sequence->nodes, &list, dictionary, text, length, error);
    if (result < 0)
        return result;
    struct list_frame *grown =
        grow_array(sequence->frames, &sequence->capacity, (size_t)list.depth + 1, sizeof *grown);
    if (!grown)
        return bt_fail(error, BT_MEMORY, "no memory for an edge-id sequence");
    sequence->frames = grown;
    sequence->list = list;
    if (list.first != EDGE_TEXT_NONE)
        grown[sequence->depth++] = (struct list_frame){.nodes = &sequence->nodes,
                                                       .first = list.first,
                                                       .node = list.first,
                                                       .copies = 0,
                                                       .read_call = 0,
                                                       .began = 0};
    return 0;
}

uint64_t edge_sequence_length(const struct edge_sequence *sequence)
{
    return sequence->list.length;
}

/* The output of one call. */
struct value_output {
    uint8_t *values;
    size_t count, capacity;
};

static void push(struct edge_sequence *sequence, const struct edge_nodes *nodes, uint32_t first,
                 uint64_t copies, const struct value_output *output)
{
    sequence->frames[sequence->depth++] = (struct list_frame){.nodes = nodes,
                                                              .first = first,
                                                              .node = first,
                                                              .copies = copies - 1,
                                                              .read_call = sequence->read_calls,
                                                              .began = output->count};
}

/* Returns as much of a literal as fits; the frame advances after its last value. */
static void read_literal(struct edge_sequence *sequence, struct list_frame *frame,
                         const struct edge_node *node, struct value_output *output)
{
    uint64_t left = node->count - sequence->literal_done;
    size_t room = output->capacity - output->count;
    size_t size = left < room ? (size_t)left : room;
    memcpy(output->values + output->count,
           frame->nodes->sextets + node->first + sequence->literal_done, size);
    output->count += size;
    sequence->literal_done += size;
    if (sequence->literal_done < node->count)
        return;
    sequence->literal_done = 0;
    frame->node = node->next;
}

/*
 * At the end of a list: its next copy, or back to the enclosing list. If the completed copy is
 * entirely in the output, further copies are made from there.
 */
static void end_list(struct edge_sequence *sequence, struct list_frame *frame,
                     struct value_output *output)
{
    if (frame->copies > 0 && frame->read_call == sequence->read_calls) {
        size_t length = output->count - frame->began;
        size_t copies = (output->capacity - output->count) / length;
        if (copies > frame->copies)
            copies = (size_t)frame->copies;
        size_t end = output->count + copies * length;
        frame->copies -= copies;
        while (output->count < end) {
            size_t made = output->count - frame->began;
            size_t size = made < end - output->count ? made : end - output->count;
            memcpy(output->values + output->count, output->values + frame->began, size);
            output->count += size;
        }
    }
    if (frame->copies == 0) {
        sequence->depth--;
        return;
    }
    frame->copies--;
    frame->node = frame->first;
    frame->read_call = sequence->read_calls;
    frame->began = output->count;
}

size_t edge_sequence_read(struct edge_sequence *sequence, uint8_t *values, size_t capacity)
{
    struct value_output output = {.values = values, .count = 0, .capacity = capacity};
    sequence->read_calls++;
    while (sequence->depth > 0 && output.count < capacity) {
        struct list_frame *frame = &sequence->frames[sequence->depth - 1];
        if (frame->node == EDGE_TEXT_NONE) {
            end_list(sequence, frame, &output);
            continue;
        }
        const struct edge_node *node = &frame->nodes->nodes[frame->node];
        if (node->kind == EDGE_LITERAL) {
            read_literal(sequence, frame, node, &output);
            continue;
        }
        frame->node = node->next;
        if (node->kind == EDGE_REPEAT)
            push(sequence, frame->nodes, node->first, node->count, &output);
        else
            push(sequence, sequence->dictionary, node->first, 1, &output);
    }
    return output.count;
}
