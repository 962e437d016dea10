#!/usr/bin/env python3
"""Compares the certain counts of a graph from a bus with the executed instructions.

usage: certain_counts.py EXECUTED.csv BLOCKS.json [BRANCHES]
EXECUTED.csv is of `bustap dump --csv`: the instructions in their order. BLOCKS.json is of `bustap dcfg blocks --json`;
if its blocks consist of chunks, visits of chunks are compared. BRANCHES: each taken branch begins a visit.
Prints the executions, the certain ones and the number of places with more certain ones than executions; exit status 1
if there is such a place, and some of them on standard error.
"""
import collections
import json
import re
import sys


def read_executed(path):
    with open(path, encoding="ascii") as file:
        heading = next(file).split(",")
        address, size = heading.index("address"), heading.index("size")
        return [(int(cells[address], 16), int(cells[size])) for cells in (line.split(",") for line in file)]


def count_visits(executed, chunk, branches):
    """Successive executions in a chunk are one visit."""
    counts, last, end = collections.Counter(), None, None
    for address, size in executed:
        again = branches and address != end
        end = address + size
        for visited in range(address & -chunk, end, chunk):
            if visited != last or again:
                counts[visited] += 1
            last = visited
    return counts


def main():
    executed = read_executed(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    sizes = dict(executed)
    length = "block_chunks" if "chunks" in report else "block_instructions"
    if "chunks" in report:
        chunk = int(re.search(r"chunk=(\d+)", report["bus"]["model"]).group(1))
        truth = count_visits(executed, chunk, len(sys.argv) > 3)
        sizes = dict.fromkeys(truth, chunk)
    else:
        truth = collections.Counter(address for address, _ in executed)
    certain = collections.Counter()
    for block in report["blocks"]:
        address = int(block["address"], 16)
        for _ in range(block[length]):
            certain[address] += block["certain"]
            if address not in sizes:  # not executed, so the rest of the block is unknown
                break
            address += sizes[address]
    excess = {place: count for place, count in certain.items() if count > truth[place]}
    for place, count in sorted(excess.items())[:10]:
        print(f"{place:#x}: {count} certain, {truth[place]} executed", file=sys.stderr)
    print(sum(truth.values()), sum(certain.values()), len(excess))
    sys.exit(bool(excess))


if __name__ == "__main__":
    main()
