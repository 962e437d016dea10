#!/usr/bin/env python3
"""Prints the edges of a DCFG, one a line: type, source, target, count of each thread.

usage: graph_edges.py GRAPH
Blocks are named by the symbol they begin in, SYMBOL+0xOFFSET, or by their address; START and END as they are.
"""
import bisect
import json
import sys


def number(value):
    return int(value, 0) if isinstance(value, str) else value


def block_names(images):
    names = {}
    for _, base, _, data in images:
        symbols = sorted((number(offset), name) for name, offset, _ in data.get("SYMBOLS", [])[1:])
        for block, start, *_ in data.get("BASIC_BLOCKS", [])[1:]:
            offset = number(start)
            at = bisect.bisect(symbols, (offset, "\x7f")) - 1
            names[block] = f"{symbols[at][1]}+{offset - symbols[at][0]:#x}" if at >= 0 else f"{number(base) + offset:#x}"
    return names


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        graph = json.load(file)
    process = graph["PROCESSES"][1][1]
    types = dict(map(tuple, graph["EDGE_TYPES"][1:]))
    names = {**dict(map(tuple, graph["SPECIAL_NODES"][1:])), **block_names(process["IMAGES"][1:])}
    for _, source, target, kind, counts in process["EDGES"][1:]:
        print(types[kind], names[source], names[target], *counts)


if __name__ == "__main__":
    main()
