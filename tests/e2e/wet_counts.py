#!/usr/bin/env python3
"""Compares the text of a WET trace with the execution counts of the same run.

usage: wet_counts.py TEXT PROFILE.json DISASSEMBLY MODULE

PROFILE.json is of `bustap profile --by block --json`, DISASSEMBLY of `objdump -d` of the program, whose addresses are
those of the run. Only instructions of MODULE (as profile names it) are compared; instances must exist everywhere.
"""
import json
import re
import sys

CONDITIONAL = re.compile(r"f?cmov|bs[fr]|rep|syscall")


def sizes_and_names(path):
    """By address: the size in bytes, and the mnemonic with its prefixes."""
    sizes, names, last = {}, {}, None
    for line in open(path, encoding="utf-8", errors="replace"):
        parts = line.rstrip("\n").split("\t")
        if len(parts) < 2 or not re.fullmatch(r" *[0-9a-f]+:", parts[0]):
            continue
        address = int(parts[0].strip()[:-1], 16)
        size = len(parts[1].split())
        if len(parts) == 2:  # more bytes of the instruction before
            sizes[last] += size
            continue
        last, sizes[address], names[address] = address, size, parts[2]
    return sizes, names


def executions(profile, module, sizes):
    counts = {}
    for block in profile["blocks"]:
        if block["module"] != module:
            continue
        address = int(block["address"], 16)
        for _ in range(block["block_instructions"]):
            counts[address] = counts.get(address, 0) + block["executions"]
            # a jump into an instruction skips its prefix
            address += sizes[address] if address in sizes else sizes[address - 1] - 1
    return counts


class Block:
    def __init__(self, fields):
        self.number, self.ports, self.address = int(fields[0]), int(fields[1]), int(fields[2], 16)
        self.instances = []  # of each port: {X}
        self.values = None
        self.writers = set()


def read(path):
    blocks, rows = [], None
    for line in open(path, encoding="utf-8", errors="replace"):
        fields = line.split()
        if line.startswith("    "):
            reader = fields[0].split(":")
            rows.add(int(reader[0]))
            if blocks[-1].values is None:
                blocks[-1].writers.add((int(reader[1]), int(fields[1])))
        elif fields[0] == "SIZE":
            rows = set()
            blocks[-1].instances.append(rows)
        elif fields[0] == "VALUES":
            rows = blocks[-1].values = set()
        elif len(fields) == 6:
            blocks.append(Block(fields))
    return blocks


def main():
    text, profile, disassembly, module = sys.argv[1:]
    profile = json.load(open(profile, encoding="utf-8"))
    sizes, names = sizes_and_names(disassembly)
    counts = executions(profile, module, sizes)
    blocks = read(text)
    addresses = {}
    for block in blocks:
        addresses.setdefault(block.address, []).append(block.number)
        assert block.ports == len(block.instances), block.number
    found = {block.number: counts[block.address] for block in blocks if block.address in counts}
    assert {block.address for block in blocks if block.number in found} == set(counts), "other instructions"
    checked = conditional = 0
    for block in blocks:
        for number, instance in block.writers:
            assert number not in found or instance < found[number], (block.number, number, instance)
        if block.number not in found:
            continue
        assert len(addresses[block.address]) == 1, "changed code"
        count = found[block.number]
        for rows in block.instances + [block.values or set()]:
            assert not rows or max(rows) < count, (block.number, count)
        name = names.get(block.address, "a part of an instruction")
        if CONDITIONAL.match(name):
            conditional += 1
        elif block.values is not None:
            assert len(block.values) == count, (block.number, name, len(block.values), count)
            checked += 1
    print(f"{len(found)} instructions, {checked} with a value for each execution, {conditional} conditional")
    assert checked > 20 and sum(counts.values()) <= profile["instructions"]


main()
