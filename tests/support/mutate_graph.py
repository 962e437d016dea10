#!/usr/bin/env python3
"""Breaks a good DCFG in one place after the other, and requires that `bustap dcfg check` names the broken rule.

usage: mutate_graph.py PLACES GRAPH [TRACE] >>RESULTS
Prints a line a mutation: "found", "missed" or "conforming", its rule and the mutation; then a line "also" for each
other rule that may find it and does. The number of places of each mutation is at most PLACES. Conforming mutants are
those that the specification allows although they look like broken ones: conforming() has the argument; the checker
must not name the rule.
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

    def __init__(self, top, trace=None):
        self.top = top
        self.trace = trace
        self.traced = trace["PROCESSES"][1] if trace else None
        self.bus = top.get("BUSTAP_BUS")
        self.process = top["PROCESSES"][1][1]
        self.images = self.process["IMAGES"][1:]
        self.edges = self.process["EDGES"][1:]
        self.type_ids = {name: number for number, name in top["EDGE_TYPES"][1:]}
        self.type_names = dict(map(tuple, top["EDGE_TYPES"][1:]))
        self.blocks = [b for i in self.images for b in i[3].get("BASIC_BLOCKS", [])[1:]]
        self.routines = [r for i in self.images for r in i[3].get("ROUTINES", [])[1:]]
        self.loops = [loop for r in self.routines if len(r) > 3 for loop in r[3][1:]]
        self.instructions = {b[0]: b[3] for b in self.blocks}
        self.out, self.into = {}, {}
        for edge in self.edges:
            self.out.setdefault(edge[1], []).append(edge)
            self.into.setdefault(edge[2], []).append(edge)

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


def called_routines(graph):
    """Routines with another node than the entry, which calls enter."""
    calls = {e[2] for e in graph.of("DIRECT_CALL", "INDIRECT_CALL", "CALL")}
    return [r for r in graph.routines if r[0] in calls and len(r[2]) > 2]


def only_entered_by(graph, *names):
    """Edges between two nodes of a routine, the second one of which has no other entry."""
    routine_of = {n[0]: r[0] for r in graph.routines for n in r[2][1:]}
    return [e for e in graph.of(*names) if len(graph.into[e[2]]) == 1 and
            routine_of.get(e[1]) == routine_of.get(e[2]) != e[2]]


def into_another_image(graph):
    return [(r, image, other) for image in graph.images for other in graph.images
            for r in image[3].get("ROUTINES", [])[1:] if other is not image and "ROUTINES" in other[3]]


def move_routine(graph, place):
    routine, image, other = place
    image[3]["ROUTINES"].remove(routine)
    other[3]["ROUTINES"].append(routine)


def unvisited_cycles(graph):
    """Cycles of one or two blocks and a thread that executed neither: edges, thread."""
    cycles = [[e] for e in graph.edges if e[1] == e[2]]
    cycles += [[e, f] for e in graph.edges for f in graph.out.get(e[2], []) if f[2] == e[1] != e[2] and e[0] < f[0]]
    for cycle in cycles:
        for thread in range(len(cycle[0][4])):
            if all(not x[4][thread] for e in cycle for x in graph.into[e[2]]):
                yield cycle, thread


def enter_cycle(graph, place):
    for edge in place[0]:
        edge[4][place[1]] = 1


def exchangeable(graph):
    """Two blocks that follow themselves, and a thread that can repeat one less and the other one more: as many
    instructions are executed."""
    again = [e for e in graph.edges if e[1] == e[2]]
    for less in again:
        for more in again:
            for thread, count in enumerate(less[4]):
                if less is not more and count > graph.instructions[more[1]] and more[4][thread] > 0:
                    yield less, more, thread


def exchange(graph, place):
    less, more, thread = place
    counts = {b[0]: b for b in graph.blocks}
    for edge, times in (less, -graph.instructions[more[1]]), (more, graph.instructions[less[1]]):
        edge[4][thread] += times
        if len(counts[edge[1]]) > 5:
            counts[edge[1]][5] += times


def bus(graph):
    return [graph.bus] if graph.bus else []


def bus_rows(graph):
    return graph.bus["BLOCKS"][1:] if graph.bus else []


def raise_above(graph, name, whole):
    graph.bus[name] = graph.bus[whole] + 1


def traces(graph):
    return [graph.traced] if graph.trace else []


def threads_of(graph):
    return graph.traced[3][1:] if graph.trace else []


def transitions(graph):
    return graph.traced[2][1:] if graph.trace else []


def chunks(graph):
    return [c for t in threads_of(graph) for c in t[1][1:]]


def leads_elsewhere(graph, edge):
    """An edge that does not begin where another one ends."""
    end = next(e[2] for e in graph.edges if e[0] == edge)
    return next(e[0] for e in graph.edges if e[1] != end)


def not_entry(graph):
    return next(e[0] for e in graph.edges if graph.name(e) != "ENTRY")


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
    ("special-names", "a special node of another name", lambda g: g.top["SPECIAL_NODES"][1:],
     lambda g, p: put(p, 1, "MIDDLE")),
    ("routine-entry", "another entry", called_routines,
     lambda g, p: put(p, 0, next(n[0] for n in p[2][1:] if n[0] != p[0]))),
    ("routine-reached", "the only edge to a block is a RETURN", lambda g: only_entered_by(g, "FALL_THROUGH"),
     lambda g, p: put(p, 3, g.type_ids["RETURN"])),
    ("routine-image", "a routine in another image", into_another_image, move_routine),
    ("loop-parents", "another parent", lambda g: [x for x in g.loops if len(x) > 3],
     lambda g, p: put(p, 3, 0 if p[3] else p[0])),
    ("connected", "a cycle that the thread did not reach", unvisited_cycles, enter_cycle),
    # --- the table of a graph from a bus ---
    *[("format", f"no {name}", bus, lambda g, p, name=name: p.pop(name) and None)
      for name in ("UNIT", "MODEL", "MODEL_FROM", "NOISE_BITS", "BLOCKS", "FETCHES", "REPEATED", "PREFETCHED", "NOISE",
                   "UNEXPLAINED", "IN_NO_IMAGE", "SAMPLE", "SAMPLE_UNEXPLAINED")],
    ("format", "an empty BUSTAP_BUS", bus, lambda g, p: p.clear()),
    ("format", "an unknown UNIT", bus, lambda g, p: p.update(UNIT="furlong")),
    ("format", "an unknown MODEL_FROM", bus, lambda g, p: p.update(MODEL_FROM="moon")),
    ("format", "a MODEL that is too long", bus, lambda g, p: p.update(MODEL="noise," * 12 + p["MODEL"])),
    ("format", "a bit too few", bus, lambda g, p: p["NOISE_BITS"].pop() and None),
    ("format", "a bit too many", bus, lambda g, p: p["NOISE_BITS"].append(0)),
    ("format", "a row without a cell", bus_rows, lambda g, p: p.pop() and None),
    ("bus-model", "an unknown MODEL", bus, lambda g, p: p.update(MODEL="x")),
    ("bus-model", "a MODEL with an unknown part", bus, lambda g, p: p.update(MODEL=p["MODEL"] + ",fast")),
    ("bus-model", "a chunk of 12 bytes", bus, lambda g, p: p.update(MODEL="chunk=12")),
    ("bus-model", "a MODEL without a chunk", bus, lambda g, p: p.update(MODEL="refetch=none,ahead=0")),
    ("bus-model", "an empty MODEL", bus, lambda g, p: p.update(MODEL="")),
    *[("bus-fetches", f"{name} above {whole}", bus, lambda g, p, name=name, whole=whole: raise_above(g, name, whole))
      for name, whole in [("REPEATED", "FETCHES"), ("PREFETCHED", "FETCHES"), ("NOISE", "FETCHES"),
                          ("UNEXPLAINED", "FETCHES"), ("IN_NO_IMAGE", "FETCHES"), ("SAMPLE", "FETCHES"),
                          ("SAMPLE_UNEXPLAINED", "SAMPLE")]],
    ("bus-fetches", "UNEXPLAINED and IN_NO_IMAGE above FETCHES", bus,
     lambda g, p: p.update(UNEXPLAINED=1, IN_NO_IMAGE=p["FETCHES"])),
    ("bus-fetches", "a bit wrong more often than an address", lambda g: range(32 if g.bus else 0),
     lambda g, p: put(g.bus["NOISE_BITS"], p, g.bus["NOISE"] + 1)),
    ("bus-fetches", "more fetches of a block than of all", bus_rows, lambda g, p: put(p, 3, g.bus["FETCHES"] + 1)),
    ("bus-fetches", "fewer fetches than visits of chunks", lambda g: [b for b in bus(g) if b["UNIT"] == "chunk"],
     lambda g, p: p.update(FETCHES=g.process["INSTR_COUNT"] - 1)),
    ("bus-blocks", "a row of no block", bus_rows, lambda g, p: put(p, 0, 0x7ffffffe)),
    ("bus-blocks", "a row twice", bus_rows, lambda g, p: g.bus["BLOCKS"].append(list(p))),
    ("bus-blocks", "a row left out", bus_rows, lambda g, p: g.bus["BLOCKS"].remove(p)),
    ("bus-blocks", "no row", bus, lambda g, p: p.update(BLOCKS=p["BLOCKS"][:1])),
    ("bus-counts", "more certain than executed", bus_rows, lambda g, p: put(p, 1, g.process["INSTR_COUNT"] + 1)),
    ("bus-counts", "more unexplained than executed", bus_rows, lambda g, p: put(p, 2, g.process["INSTR_COUNT"] + 1)),
    # --- the trace ---
    ("trace-format", "no minor version", traces, lambda g, p: g.trace.pop("MINOR_VERSION") and None),
    ("trace-format", "a transition without edges", transitions, lambda g, p: put(p, 2, [])),
    ("trace-format", "an invalid sequence", chunks, lambda g, p: put(p, 4, p[4] + "<")),
    ("trace-process", "another process", traces, lambda g, p: put(p, 0, p[0] + 1)),
    ("trace-table", "a transition of no edge", transitions, lambda g, p: put(p, 0, 0x7ffffffe)),
    ("trace-table", "a transition to elsewhere", transitions, lambda g, p: put(p[2], 0, leads_elsewhere(g, p[0]))),
    ("trace-thread", "an unknown thread", threads_of, lambda g, p: put(p, 0, 9999)),
    ("trace-thread", "a thread twice", lambda g: threads_of(g)[1:], lambda g, p: put(p, 0, threads_of(g)[0][0])),
    ("trace-order", "PRECEDING_INSTR_COUNT raised", chunks,
     lambda g, p: put(p, 0, p[0] + 1 + g.process["INSTR_COUNT"])),
    ("trace-order", "a first chunk that begins elsewhere", lambda g: [c for c in chunks(g) if c[0] == 0],
     lambda g, p: put(p, 3, not_entry(g))),
    ("trace-edges", "an unknown edge", chunks, lambda g, p: put(p, 3, 0x7ffffffe)),
    ("trace-edges", "a chunk that begins elsewhere", lambda g: [(a, b) for t in threads_of(g)
                                                                for a, b in zip(t[1][1:], t[1][2:])],
     lambda g, p: put(p[1], 3, next(e[0] for e in g.of("ENTRY")))),
    ("trace-instructions", "INSTR_COUNT raised", chunks, lambda g, p: put(p, 1, p[1] + 1)),
    ("trace-instructions", "INSTR_COUNT lowered", chunks, lambda g, p: put(p, 1, p[1] - 1)),
    ("trace-sequence", "an edge too many in a sequence", chunks, lambda g, p: put(p, 4, p[4] + "A")),
    ("trace-counts", "another count of the same instructions", lambda g: exchangeable(g) if g.trace else [], exchange),
]


def shrink(top):
    """Leaves out most rows of the optional tables of libraries, which are long."""
    for image in top["PROCESSES"][1][1]["IMAGES"][1:]:
        for table in ("SOURCE_DATA", "SYMBOLS"):
            if table in image[3]:
                image[3][table] = image[3][table][:150]


def broken_rules(top, trace):
    call = ["bustap", "dcfg", "check", "mutant.json", "--max", "1000000"]
    call += ["--trace", "mutant.trace.json"] if trace else []
    for name, document in ("mutant.json", top), ("mutant.trace.json", trace):
        with open(name, "w", encoding="utf-8") as file:
            json.dump(document, file)
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(f"{done.returncode}: {done.stderr}")
    return set(re.findall(r" \(([a-z-]+), section [^)]*\)$", done.stdout, re.M))


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    random.seed(15)
    places, path = int(sys.argv[1]), sys.argv[2]
    top = read_json(path)
    trace = read_json(sys.argv[3]) if len(sys.argv) > 3 else None
    shrink(top)
    if broken_rules(top, trace):
        sys.exit(f"{path} is not good")
    text = json.dumps([top, trace])
    for rule, name, where, change in MUTATIONS:
        mutant = Graph(*json.loads(text))
        state = random.getstate()
        count = len(list(where(mutant)))
        for place in sorted(random.sample(range(count), min(count, places))):
            mutant = Graph(*json.loads(text))
            after = random.getstate()
            random.setstate(state)  # the places are the same each time
            rows = list(where(mutant))
            random.setstate(after)
            forbidden = change(mutant, rows[place]) is not False
            named = broken_rules(mutant.top, mutant.trace if "trace" in rule else None) & set(rule.split())
            result = ("found" if named else "missed") if forbidden else "accused" if named else "conforming"
            print(result, rule.split()[0], name, sep="\t")
            for other in sorted(named - {rule.split()[0]}):
                print("also", other, name, sep="\t")


if __name__ == "__main__":
    main()
