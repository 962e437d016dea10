#!/usr/bin/env python3
"""The counts of bustap wet report, in the most obvious way: STEPS REPORT.json WITHIN BYTES.

STEPS is the output of wet_steps. All is kept, and what the report has forgotten is ignored by its
number (doc/wet.md, "Report").
"""
import collections
import json
import sys


class Twin:
    def __init__(self, within, memory):
        self.within = within
        self.kept = memory // 2 // 64
        self.context_limit = memory // 2 // 64
        self.kinds = {}  # id: loads, stores, repeated, system call
        self.depths = {}  # (id, instance): data, all
        self.writes = {}  # (id, instance): number among writes, instruction, stores before, is store
        self.instructions = self.loads = self.stores = self.cut = 0
        self.sources = collections.Counter()
        self.by_stores = collections.Counter()
        self.by_instructions = collections.Counter()
        self.load_of = collections.defaultdict(lambda: [0, 0, 0, None])
        self.path = [0, 0]
        self.values = collections.defaultdict(list)
        self.contexts = {}
        self.lost = 0
        self.right = collections.defaultdict(lambda: [0, 0, 0, 0])

    def load(self, id, instance, ranges):
        latest = None
        system = lost = False
        depth = [0, 0]
        for writer, first, count in ranges:
            for one in range(first, first + count):
                if (writer, one) == (id, instance):
                    continue
                index, number, stores, is_store = self.writes[writer, one]
                if len(self.writes) - index > self.kept:
                    lost = True
                    continue
                depth = [max(pair) for pair in zip(depth, self.depths[writer, one])]
                if not is_store:
                    system = True
                elif latest is None or number > latest[0]:
                    latest = number, stores
        return latest, system, lost, depth

    def count_load(self, id, found):
        latest, system, lost, _ = found
        load = self.load_of[id]
        self.loads += 1
        load[0] += 1
        self.cut += lost
        if latest is None:
            source = "a system call" if system else "farther than kept" if lost else "nothing recorded"
            self.sources[source] += 1
            return
        distance = self.stores - latest[1] - 1
        self.sources["a store"] += 1
        self.by_stores[distance.bit_length()] += 1
        self.by_instructions[(self.instructions - latest[0]).bit_length()] += 1
        load[1] += distance < self.within
        load[2] += 1
        load[3] = distance if load[3] is None else min(load[3], distance)

    def value(self, id, value):
        before = self.values[id]
        size = len(value)
        number = int.from_bytes(value, "little")
        last = stride = context = False
        if before:
            step = before[-1] - before[-2] if len(before) > 1 and size <= 8 else 0
            last = before[-1] == number
            stride = (before[-1] + step) % 256**size == number
        if len(before) >= 3:
            key = (id, *before[-3:])
            context = self.contexts.get(key) == number
            if key in self.contexts or len(self.contexts) < self.context_limit:
                self.contexts[key] = number
            else:
                self.lost += 1
        before.append(number)
        right = self.right[id]
        for i, one in enumerate((last, stride, context, last or stride or context)):
            right[i] += one

    def step(self, words):
        id, instance, defines = int(words[1]), int(words[2]), words[3] == "1"
        control = tuple(int(word) for word in words[4].split("#"))
        loads, stores, repeated, system = self.kinds[id]
        depth = [0, 0]
        for port in words[6:]:
            ranges = []
            for text in port.split(":")[1:]:
                writer, rest = text.split("#")
                first, count = rest.split("+")
                ranges.append((int(writer), int(first), int(count)))
            if port[0] == "m":
                found = self.load(id, instance, ranges)
                if defines or not repeated:
                    self.count_load(id, found)
                depth = [max(pair) for pair in zip(depth, found[3])]
            else:
                for writer, first, count in ranges:
                    assert count == 1
                    depth = [max(pair) for pair in zip(depth, self.depths[writer, first])]
        if control[0]:
            depth[1] = max(depth[1], self.depths[control][1])
        depth = [one + 1 for one in depth]
        self.depths[id, instance] = depth
        self.path = [max(pair) for pair in zip(self.path, depth)]
        if stores or system:
            self.writes[id, instance] = len(self.writes), self.instructions, self.stores, stores
            self.stores += stores and (defines or not repeated)
        if words[5] != "-":
            self.value(id, bytes.fromhex(words[5]))
        self.instructions += 1

    def read(self, path):
        with open(path) as file:
            for line in file:
                words = line.split()
                if words[0] == "I":
                    self.kinds[int(words[1])] = [word == "1" for word in words[3:]]
                else:
                    self.step(words)


def equal(what, twin, report):
    if twin != report:
        sys.exit(f"{what}: the report has {report}, the twin {twin}")


def compare_loads(twin, report):
    equal("instructions", twin.instructions, report["instructions"])
    equal("loads", twin.loads, report["loads"])
    equal("stores", twin.stores, report["stores"])
    equal("loads cut", twin.cut, report["loads_cut"])
    for row in report["sources"]:
        equal(row["source"], twin.sources[row["source"]], row["loads"])
    equal("distances", len(report["distances"]),
          max([0, *(bucket + 1 for bucket in twin.by_stores | twin.by_instructions)]))
    below = [0, 0]
    for bucket, row in enumerate(report["distances"]):
        equal("bucket", ((1 << bucket) // 2, (1 << bucket) - 1), (row["from"], row["to"]))
        for i, (key, counts) in enumerate((("in_stores", twin.by_stores), ("in_instructions", twin.by_instructions))):
            equal(f"{key} {row['from']}", counts[bucket], row[key])
            below[i] += counts[bucket]
            assert abs(row[key + "_cumulative"] - below[i] / sum(counts.values())) < 1e-5
    far = sorted((-load[0], id, load[3]) for id, load in twin.load_of.items() if load[1] == 0)
    equal("far loads", far, [(-row["loads"], row["id"], row["nearest"]) for row in report["far_loads"]])
    equal("far instructions", len(far), report["far_load_instructions"])
    equal("far executions", -sum(row[0] for row in far), report["far_load_executions"])
    equal("loading instructions", len(twin.load_of), report["load_instructions"])
    equal("paths", twin.path, [row["length"] for row in report["critical_paths"]])


def class_of(kind):
    return "loads" if kind[0] else "stores" if kind[1] else "others"


def compare_values(twin, report):
    if "value_classes" not in report:
        equal("values", 0, len(twin.values))
        return
    equal("lost contexts", twin.lost, report["contexts_lost"])
    rows = sorted((-len(values), id) for id, values in twin.values.items())
    equal("instructions with values", rows,
          [(-row["values"], row["id"]) for row in report["value_instructions"]])
    keys = "last", "stride", "context", "any"
    for row in report["value_instructions"]:
        for i, key in enumerate(keys):
            equal(f"{row['id']} {key}", twin.right[row["id"]][i], row[key])
    for row in report["value_classes"]:
        ids = [id for id in twin.values if row["class"] in ("all", class_of(twin.kinds[id]))]
        equal(row["class"], sum(len(twin.values[id]) for id in ids), row["values"])
        for i, key in enumerate(keys):
            equal(f"{row['class']} {key}", sum(twin.right[id][i] for id in ids),
                  row[key])


def main():
    steps, path, within, memory = sys.argv[1:]
    twin = Twin(int(within), int(memory))
    twin.read(steps)
    with open(path) as file:
        report = json.load(file)
    compare_loads(twin, report)
    compare_values(twin, report)


main()
