/* The rules, in the order of the specification. */
#include "tools/dcfg/graph/check.h"

/*
 * Where the specification is ambiguous, the rule accepts every interpretation: a node that calls
 * may or may not be an exit; a bypass with a count replaces an unknown number of instructions
 * outside of the graph (2.16), except that a system routine's are not the process's; images may
 * overlap (2.10); edges of different types may have the same ends.
 */
static const struct check_rule_row rules[CHECK_RULES] = {
    [CHECK_FORMAT] =
        {"format", "1.1 to 2.16",
         "The text is JSON; tables have their columns, and rows all cells that are not "
         "optional; no known tag occurs twice; integers are in their ranges; no id of "
         "a kind occurs twice, and each id refers to something present. BUSTAP_BUS, if present, "
         "has all its members and known words."},
    [CHECK_VERSION] =
        {"version", "2.3",
         "MAJOR_VERSION and MINOR_VERSION are present, the minor one has two digits."},
    [CHECK_EDGE_TYPE_NAMES] = {"edge-type-names", "2.5",
                               "Edge types are those of the specification, each under one id."},
    [CHECK_SPECIAL_NAMES] = {"special-names", "2.6",
                             "Special nodes are START, END and UNKNOWN, and no edge has UNKNOWN."},
    [CHECK_PROCESS_IDS] = {"process-ids", "2.7", "No process occurs twice."},
    [CHECK_COUNTS_TOLD] = {"counts-told", "2.8",
                           "INSTR_COUNT and INSTR_COUNT_PER_THREAD are present."},
    [CHECK_COUNTS_SUM] = {"counts-sum", "2.8", "INSTR_COUNT is the sum of INSTR_COUNT_PER_THREAD."},
    [CHECK_IMAGE_IDS] = {"image-ids", "2.9", "Images of a process have different ids."},
    [CHECK_IMAGE_RANGE] = {"image-range", "2.9", "Images end within 64 bits of addresses."},
    [CHECK_SYMBOL_RANGE] = {"symbol-range", "2.11", "Symbols are within their image."},
    [CHECK_LINE_RANGE] = {"line-range", "2.12", "Source data is within its image."},
    [CHECK_LINE_INSTRUCTIONS] = {"line-instructions", "2.12",
                                 "Source data has at least one instruction, no more than bytes, "
                                 "and a number that agrees with the blocks in its range."},
    [CHECK_BLOCK_RANGE] = {"block-range", "2.13", "Blocks are within their image."},
    [CHECK_BLOCK_INSTRUCTIONS] =
        {"block-instructions", "2.13",
         "A block has at least one instruction; the last one begins in it, "
         "after at least one byte for each other instruction."},
    [CHECK_BLOCK_OVERLAP] = {"block-overlap", "2.13",
                             "A block has one entry and one exit: blocks of an image share no "
                             "byte, except different instructions that are blocks of their own: "
                             "code that changed, or a branch into an instruction."},
    [CHECK_BLOCK_COUNT] =
        {"block-count", "2.13",
         "COUNT, if present, is the sum of the counts of the edges into the block."},
    [CHECK_BLOCK_EXECUTED] = {"block-executed", "2.13", "All blocks were executed."},
    [CHECK_ROUTINE_NODES] = {"routine-nodes", "2.14",
                             "Each node of an image with routines is in exactly one."},
    [CHECK_ROUTINE_IMAGE] = {"routine-image", "2.14", "A routine's nodes are in its image."},
    [CHECK_ROUTINE_ENTRY] =
        {"routine-entry", "2.14",
         "A routine's entry is among its nodes; only returns enter it elsewhere."},
    [CHECK_ROUTINE_REACHED] = {"routine-reached", "2.14",
                               "Each node can be reached from its routine's entry, within it, by "
                               "edges that are not calls, returns or changes of context."},
    [CHECK_ROUTINE_EXITS] =
        {"routine-exits", "2.14",
         "EXIT_NODE_IDS are the nodes with edges that leave the routine, without "
         "duplicates."},
    [CHECK_DOMINATORS] = {"dominators", "2.14",
                          "IDOM_NODE_ID is the immediate dominator; the entry's is the entry."},
    [CHECK_LOOP_HEADS] = {"loop-heads", "2.15",
                          "Loops are the natural loops of the routine, one for each head."},
    [CHECK_LOOP_BACK_EDGES] = {"loop-back-edges", "2.15",
                               "LOOP_BACK_EDGE_SOURCE_NODE_IDS are the nodes of the loop that lead "
                               "back to its head."},
    [CHECK_LOOP_NODES] = {"loop-nodes", "2.15",
                          "LOOP_NODE_IDS are the nodes of the natural loop and its inner loops."},
    [CHECK_LOOP_PARENTS] = {"loop-parents", "2.15",
                            "PARENT_LOOP_HEAD_NODE_ID is the head of the enclosing loop, or 0."},
    [CHECK_EDGE_ENDS] = {"edge-ends", "2.5, 2.6",
                         "ENTRY edges, and no others, come from START; EXIT edges, and no others, "
                         "lead to END; nothing leads to START or comes from END."},
    [CHECK_EDGE_ADDRESSES] = {"edge-addresses", "2.5",
                              "FALL_THROUGH leads to the next address, REP back to its "
                              "instruction, direct calls and branches of a block to one address; "
                              "bypasses of calls do not lead into the call."},
    [CHECK_EDGE_KINDS] = {"edge-kinds", "2.5",
                          "The edges out of a block have types that one instruction, its last, "
                          "can have: no FALL_THROUGH beside an unconditional branch or a call, "
                          "no direct call or branch beside an indirect one."},
    [CHECK_EDGE_TWICE] = {"edge-twice", "2.16",
                          "No two edges have the same source, target and type."},
    [CHECK_EDGE_TAKEN] = {"edge-taken", "1, 2.16",
                          "All edges were taken, except bypasses of a call."},
    [CHECK_EDGE_THREADS] = {"edge-threads", "2.8, 2.16",
                            "COUNT_PER_THREAD has as many counts as there are threads."},
    [CHECK_ENTRY_EXIT] = {"entry-exit", "2.5",
                          "A thread that took edges was entered once and left once."},
    [CHECK_FLOW] = {"flow", "2.13, 2.16", "Each thread leaves each node as often as it enters it."},
    [CHECK_CONNECTED] = {"connected", "1, 2.5",
                         "The edges that a thread took form one path from its start."},
    [CHECK_INSTRUCTIONS] =
        {"instructions", "2.8, 2.13",
         "INSTR_COUNT_PER_THREAD is the number of instructions in the blocks that "
         "the thread executed; it is higher only if the thread took bypasses other than "
         "SYSTEM_CALL_BYPASS."},
    [CHECK_BUS_MODEL] = {"bus-model", "BUSTAP_BUS",
                         "MODEL is a model that dcfg build --bus takes, with the size of a chunk."},
    [CHECK_BUS_FETCHES] =
        {"bus-fetches", "BUSTAP_BUS",
         "No count of fetches is above FETCHES, nor is the sum of UNEXPLAINED and IN_NO_IMAGE, nor "
         "the number of visits of chunks; SAMPLE_UNEXPLAINED is not above SAMPLE, and no count of "
         "NOISE_BITS above NOISE."},
    [CHECK_BUS_BLOCKS] = {"bus-blocks", "BUSTAP_BUS",
                          "The table has one row for each block of the first process, and no "
                          "other."},
    [CHECK_BUS_COUNTS] = {"bus-counts", "BUSTAP_BUS",
                          "A block's certain and unexplained executions are no more than its "
                          "count."},
    [CHECK_TRACE_FORMAT] = {"trace-format", "3.1 to 3.7",
                            "The text is JSON with all tags and columns in their order; codes are "
                            "unambiguous; sequences are well-formed, refer only to existing keys "
                            "and not to themselves, and have all edges."},
    [CHECK_TRACE_PROCESS] = {"trace-process", "3.3",
                             "No process occurs twice in the trace, and each is in the graph."},
    [CHECK_TRACE_TABLE] = {"trace-table", "3.5",
                           "The edges of a transition are the graph's, and each begins where the "
                           "previous one ends."},
    [CHECK_TRACE_THREAD] = {"trace-thread", "3.6",
                            "No thread occurs twice in the trace, and each is in the graph."},
    [CHECK_TRACE_ORDER] = {"trace-order", "3.7",
                           "Chunks are in the order of execution, and are not longer than their "
                           "thread; the first one, if nothing precedes it, begins at the "
                           "thread's start."},
    [CHECK_TRACE_EDGES] =
        {"trace-edges", "3.7",
         "The edges are the graph's, and each begins where the previous one ends, "
         "also across chunks without a gap."},
    [CHECK_TRACE_INSTRUCTIONS] = {"trace-instructions", "3.7",
                                  "INSTR_COUNT is the sum of the instructions in the source nodes "
                                  "of the chunk's edges; a complete trace has the instructions "
                                  "of its thread."},
    [CHECK_TRACE_SEQUENCE] = {"trace-sequence", "3.7.1",
                              "A sequence has no characters after its last edge."},
    [CHECK_TRACE_COUNTS] =
        {"trace-counts", "2.16, 3",
         "A thread's trace takes each edge as often as the graph says; an incomplete "
         "trace takes none more often."},
};

const struct check_rule_row *check_rule_row(enum check_rule rule)
{
    return &rules[rule];
}
