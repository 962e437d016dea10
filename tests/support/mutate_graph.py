#!/usr/bin/env python3
"""Breaks a good DCFG in one place after the other, and requires that `bustap dcfg check` names the broken rule.

usage: mutate_graph.py PLACES GRAPH [TRACE] >>RESULTS
Prints a line a mutation: "found", "missed" or "conforming", the mutation and its rule. The number of places of each
mutation is at most PLACES. Conforming mutants are those that the specification allows although they look like broken
ones: conforming() has the argument; the checker must not name the rule.
"""
import json
import random
import re
import subprocess
import sys


def number(value):
    return int(value, 0) if isinstance(value, str) else value


class Graph:
    """A graph and its parts: blocks, edges and the other lists of the JSON."""

    def __init__(self, top):
        self.top = top
        self.process = top["PROCESSES"][1][1]
        self.images = self.process["IMAGES"][1:]
        self.edges = self.process["EDGES"][1:]
        self.type_ids = {name: number for number, name in top["EDGE_TYPES"][1:]}
        self.type_names = dict(map(tuple, top["EDGE_TYPES"][1:]))
        self.blocks = [b for i in self.images for b in i[3].get("BASIC_BLOCKS", [])[1:]]
        self.routines = [r for i in self.images for r in i[3].get("ROUTINES", [])[1:]]
        self.loops = [loop for r in self.routines if len(r) > 3 for loop in r[3][1:]]
        self.out = {}
        for edge in self.edges:
            self.out.setdefault(edge[1], []).append(edge)

    def name(self, edge):
        return self.type_names[edge[3]]

    def of(self, *names):
        return [e for e in self.edges if self.name(e) in names]

    def beside(self, edge, *names):
        return any(self.name(e) in names for e in self.out[edge[1]] if e is not edge)


def pairs(graph):
    """Neighbours in memory: (image's blocks sorted) of which the second begins where the first ends."""
    for image in graph.images:
        rows = sorted(image[3].get("BASIC_BLOCKS", [])[1:], key=lambda b: number(b[1]))
        for a, b in zip(rows, rows[1:]):
            if number(a[1]) + a[2] == number(b[1]):
                yield a, b


def apart(graph):
    """Two blocks of an image."""
    for image in graph.images:
        rows = image[3].get("BASIC_BLOCKS", [])[1:]
        for block in rows:
            other = random.choice(rows)
            if other is not block and other[2] > 1:
                yield block, other


def conforming(first, second):
    """Whether two blocks may share bytes: each is one instruction, and they differ. The code changed between their
    executions, or a branch leads into an instruction; both are executions that processors allow."""
    return first[3] == second[3] == 1 and (number(first[1]), first[2]) != (number(second[1]), second[2])


def put(row, column, value):
    row[column] = value


def raise_count(graph, by):
    graph.process["INSTR_COUNT_PER_THREAD"][0] += by
    graph.process["INSTR_COUNT"] += by


def move(block, to):
    block[1] = hex(to)


def add_edge(graph, like, kind, count):
    edge = [max(e[0] for e in graph.edges) + 1, like[1], like[2], graph.type_ids[kind], [count] * len(like[4])]
    graph.process["EDGES"].append(edge)


def exact_lines(graph):
    """Source data that one block fills."""
    for image in graph.images:
        whole = {(number(b[1]), b[2]) for b in image[3].get("BASIC_BLOCKS", [])[1:]}
        yield from (x for x in image[3].get("SOURCE_DATA", [])[1:] if (number(x[2]), x[3]) in whole)


def lines(graph):
    return [x for i in graph.images for x in i[3].get("SOURCE_DATA", [])[1:]]


def symbols(graph):
    return [x for i in graph.images for x in i[3].get("SYMBOLS", [])[1:]]


def bus_rows(graph):
    return graph.top.get("BUSTAP_BUS", {}).get("BLOCKS", [])[1:]


# rule, name, places(graph), change(graph, place). A place is made of rows of the graph; change returns False where the
# mutant conforms. A rule may be several: the checker must name one of them.
MUTATIONS = [
    ("version", "no minor version", lambda g: [0], lambda g, p: g.top.pop("MINOR_VERSION") and None),
    ("edge-type-names", "an invented type", lambda g: g.top["EDGE_TYPES"][1:], lambda g, p: put(p, 1, "HOP")),
    ("process-ids", "a process twice", lambda g: [0],
     lambda g, p: g.top["PROCESSES"].append([g.top["PROCESSES"][1][0], {"INSTR_COUNT": 0}])),
    ("counts-sum", "INSTR_COUNT raised", lambda g: [1, 2, 3],
     lambda g, p: g.process.update(INSTR_COUNT=g.process["INSTR_COUNT"] + p)),
    ("counts-told", "no INSTR_COUNT", lambda g: [0], lambda g, p: g.process.pop("INSTR_COUNT") and None),
    ("instructions trace-instructions", "INSTR_COUNT_PER_THREAD raised", lambda g: [1, 2, 3, 100, 1 << 40], raise_count),
    ("instructions trace-instructions", "INSTR_COUNT_PER_THREAD lowered", lambda g: [-1, -2, -3, -100], raise_count),
    ("instructions", "NUM_INSTRS raised", lambda g: [b for b in g.blocks if b[3] > 1 and b[4] >= b[3]],
     lambda g, p: put(p, 3, p[3] + 1)),
    ("image-ids", "an image's id twice", lambda g: g.images[1:], lambda g, p: put(p, 0, g.images[0][0])),
    ("image-range", "an image at the end", lambda g: g.images, lambda g, p: put(p, 1, "0xffffffffffffff00")),
    ("symbol-range", "a symbol too long", symbols, lambda g, p: put(p, 2, 1 << 40)),
    ("line-range", "source data too far", lines, lambda g, p: put(p, 2, hex(1 << 40))),
    ("line-instructions", "NUM_INSTRS 0 of source data", lines, lambda g, p: put(p, 4, 0)),
    ("line-instructions", "NUM_INSTRS above SIZE", lines, lambda g, p: put(p, 4, p[3] + 1)),
    ("line-instructions", "NUM_INSTRS of source data not a block's", exact_lines, lambda g, p: put(p, 4, p[4] + 1)),
    ("line-instructions", "NUM_INSTRS of source data below a block's", exact_lines, lambda g, p: put(p, 4, p[4] - 1)),
    ("block-range", "a block outside", lambda g: g.blocks, lambda g, p: move(p, 1 << 40)),
    ("block-instructions", "no instructions", lambda g: g.blocks, lambda g, p: put(p, 3, 0)),
    ("block-instructions", "LAST_INSTR_OFFSET at the end", lambda g: g.blocks, lambda g, p: put(p, 4, p[2])),
    ("block-instructions", "more instructions than bytes", lambda g: g.blocks, lambda g, p: put(p, 3, p[4] + 2)),
    ("block-overlap", "a block at another one's address", apart,
     lambda g, p: move(p[0], number(p[1][1])) or not conforming(*p)),
    ("block-overlap", "a block within another one", apart,
     lambda g, p: move(p[0], number(p[1][1]) + random.randrange(1, p[1][2])) or not conforming(*p)),
    ("block-overlap edge-addresses", "SIZE into the next block", pairs,
     lambda g, p: put(p[0], 2, p[0][2] + 1) or not conforming(*p) or
     any(g.name(e) in ("FALL_THROUGH", "CALL_BYPASS", "SYSTEM_CALL_BYPASS") for e in g.out.get(p[0][0], []))),
    ("block-overlap edge-addresses", "SIZE past the return site",
     lambda g: [b for b in g.blocks if any(g.name(e) == "CALL_BYPASS" for e in g.out.get(b[0], []))],
     lambda g, p: put(p, 2, p[2] + 1)),
    ("block-count", "COUNT raised", lambda g: g.blocks, lambda g, p: put(p, 5, p[5] + 1)),
    ("block-executed", "a block without edges", lambda g: g.images,
     lambda g, p: p[3]["BASIC_BLOCKS"].append([max(b[0] for b in g.blocks) + 1, "0x0", 1, 1, 0, 0])),
    ("routine-exits", "an exit left out", lambda g: [r for r in g.routines if any(
        g.name(e) == "RETURN" for x in r[1] for e in g.out.get(x, []))],
     lambda g, p: put(p, 1, [x for x in p[1] if not any(g.name(e) == "RETURN" for e in g.out.get(x, []))])),
    ("dominators", "another dominator", lambda g: [(r, n) for r in g.routines for n in r[2][2:] if n[0] != n[1]],
     lambda g, p: put(p[1], 1, p[1][0])),
    ("routine-nodes", "a node left out", lambda g: [r for r in g.routines if len(r[2]) > 2],
     lambda g, p: p[2].remove(next(n for n in p[2][1:] if n[0] != p[0]))),
    ("routine-nodes", "a node twice", lambda g: g.routines, lambda g, p: p[2].append(list(p[2][1]))),
    ("loop-heads", "a loop left out", lambda g: [r for r in g.routines if len(r) > 3 and len(r[3]) > 1],
     lambda g, p: p[3].pop() and None),
    ("loop-nodes", "a node of a loop left out", lambda g: [x for x in g.loops if len(x[2]) > 1],
     lambda g, p: p[2].pop() and None),
    ("loop-nodes", "a node of a loop twice", lambda g: g.loops, lambda g, p: p[2].append(p[2][0])),
    ("loop-back-edges", "no back edge", lambda g: g.loops, lambda g, p: put(p, 1, [])),
    ("edge-ends", "ENTRY between blocks", lambda g: g.of("FALL_THROUGH"), lambda g, p: put(p, 3, g.type_ids["ENTRY"])),
    ("edge-ends", "EXIT between blocks", lambda g: g.of("RETURN"), lambda g, p: put(p, 3, g.type_ids["EXIT"])),
    ("edge-addresses", "FALL_THROUGH to elsewhere", lambda g: g.of("FALL_THROUGH"), lambda g, p: put(p, 2, p[1])),
    ("edge-addresses", "REP to elsewhere",
     lambda g: [e for e in g.of("DIRECT_CONDITIONAL_BRANCH", "BRANCH") if e[1] != e[2]],
     lambda g, p: put(p, 3, g.type_ids["REP"])),
    ("edge-addresses", "a second direct target", lambda g: g.of("DIRECT_CALL", "DIRECT_CONDITIONAL_BRANCH"),
     lambda g, p: add_edge(g, [0, p[1], next(e[2] for e in g.edges if e[2] not in (p[2], g.top["SPECIAL_NODES"][2][0])),
                               0, p[4]], g.name(p), 1)),
    ("edge-kinds", "DIRECT_UNCONDITIONAL_BRANCH beside FALL_THROUGH",
     lambda g: [e for e in g.of("DIRECT_CONDITIONAL_BRANCH") if g.beside(e, "FALL_THROUGH")],
     lambda g, p: put(p, 3, g.type_ids["DIRECT_UNCONDITIONAL_BRANCH"])),
    ("edge-kinds", "INDIRECT_UNCONDITIONAL_BRANCH beside FALL_THROUGH",
     lambda g: [e for e in g.of("DIRECT_CONDITIONAL_BRANCH") if g.beside(e, "FALL_THROUGH")],
     lambda g, p: put(p, 3, g.type_ids["INDIRECT_UNCONDITIONAL_BRANCH"])),
    ("edge-kinds", "DIRECT_CALL beside INDIRECT_CALL", lambda g: g.of("INDIRECT_CALL"),
     lambda g, p: add_edge(g, p, "DIRECT_CALL", 1)),
    ("edge-kinds", "INDIRECT_CALL beside DIRECT_CALL", lambda g: g.of("DIRECT_CALL"),
     lambda g, p: add_edge(g, p, "INDIRECT_CALL", 1)),
    ("edge-kinds", "FALL_THROUGH beside CALL_BYPASS", lambda g: g.of("CALL_BYPASS"),
     lambda g, p: add_edge(g, p, "FALL_THROUGH", 1)),
    ("edge-kinds", "SYSTEM_CALL_BYPASS beside CALL_BYPASS", lambda g: g.of("CALL_BYPASS"),
     lambda g, p: add_edge(g, p, "SYSTEM_CALL_BYPASS", 1)),
    ("edge-kinds", "RETURN beside another type",
     lambda g: [e for e in g.of("DIRECT_CONDITIONAL_BRANCH") if g.beside(e, "FALL_THROUGH")],
     lambda g, p: put(p, 3, g.type_ids["RETURN"])),
    ("edge-twice", "an edge twice", lambda g: g.of("FALL_THROUGH", "RETURN"), lambda g, p: add_edge(g, p, g.name(p), 1)),
    ("edge-taken", "an edge without a count", lambda g: g.of("RETURN"), lambda g, p: put(p, 4, [0] * len(p[4]))),
    ("edge-threads", "a count too many", lambda g: g.edges, lambda g, p: p[4].append(1)),
    ("edge-threads", "a count too few", lambda g: g.edges, lambda g, p: p[4].pop() and None),
    ("flow", "a count raised",
     lambda g: [e for e in g.of("FALL_THROUGH", "RETURN", "DIRECT_CONDITIONAL_BRANCH") if e[1] != e[2]],
     lambda g, p: put(p[4], 0, p[4][0] + 1)),
    ("instructions", "a count of a loop of one block raised", lambda g: [e for e in g.edges if e[1] == e[2]],
     lambda g, p: put(p[4], 0, p[4][0] + 1)),
    ("entry-exit", "two entries", lambda g: g.of("ENTRY"), lambda g, p: put(p[4], 0, p[4][0] + 1)),
    ("format", "an edge's id twice", lambda g: g.edges[1:], lambda g, p: put(p, 0, g.edges[0][0])),
    ("format", "an edge from nowhere", lambda g: g.edges, lambda g, p: put(p, 1, 0x7ffffffe)),
    ("format", "a block's id twice", lambda g: g.blocks[1:], lambda g, p: put(p, 0, g.blocks[0][0])),
    ("bus-blocks", "a row of no block", bus_rows, lambda g, p: put(p, 0, 0x7ffffffe)),
    ("bus-blocks", "a row twice", bus_rows, lambda g, p: g.top["BUSTAP_BUS"]["BLOCKS"].append(list(p))),
    ("bus-counts", "more certain than executed", bus_rows, lambda g, p: put(p, 1, g.process["INSTR_COUNT"] + 1)),
    ("bus-counts", "more unexplained than executed", bus_rows, lambda g, p: put(p, 2, g.process["INSTR_COUNT"] + 1)),
]


def shrink(top):
    """Leaves out most rows of the optional tables of libraries, which are long."""
    for image in top["PROCESSES"][1][1]["IMAGES"][1:]:
        for table in ("SOURCE_DATA", "SYMBOLS"):
            if table in image[3]:
                image[3][table] = image[3][table][:150]


def broken_rules(top, trace):
    with open("mutant.json", "w", encoding="utf-8") as file:
        json.dump(top, file)
    call = ["bustap", "dcfg", "check", "mutant.json", "--max", "1000000"] + (["--trace", trace] if trace else [])
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(f"{done.returncode}: {done.stderr}")
    return set(re.findall(r" \(([a-z-]+), section [^)]*\)$", done.stdout, re.M))


def main():
    random.seed(15)
    places, path = int(sys.argv[1]), sys.argv[2]
    trace = sys.argv[3] if len(sys.argv) > 3 else None
    with open(path, encoding="utf-8") as file:
        top = json.load(file)
    shrink(top)
    if broken_rules(top, trace):
        sys.exit(f"{path} is not good")
    text = json.dumps(top)
    for rule, name, where, change in MUTATIONS:
        mutant = Graph(json.loads(text))
        state = random.getstate()
        count = len(list(where(mutant)))
        for place in sorted(random.sample(range(count), min(count, places))):
            mutant = Graph(json.loads(text))
            after = random.getstate()
            random.setstate(state)  # the places are the same each time
            rows = list(where(mutant))
            random.setstate(after)
            forbidden = change(mutant, rows[place]) is not False
            named = broken_rules(mutant.top, trace if "trace" in rule else None) & set(rule.split())
            result = ("found" if named else "missed") if forbidden else "accused" if named else "conforming"
            print(result, rule.split()[0], name, sep="\t")


if __name__ == "__main__":
    main()
