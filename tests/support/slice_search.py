#!/usr/bin/env python3
"""Slices by a breadth-first search over the text of a WET trace.

usage: slice_search.py TEXT SEED COUNT BUSTAP FILE.wet

Compares COUNT random slices of `BUSTAP slice FILE.wet` with a search over TEXT, which is what
`bustap wet print` printed of it: backward and forward, with and without control, of any depth; and
the lengths of chains between two instances.
"""
import json
import random
import subprocess
import sys


def read(path):
    """Addresses and instances by id, and for each instance the writers of its control and data."""
    addresses, counts, control, data = {}, {}, {}, {}
    with open(path, encoding="utf-8", errors="replace") as text:
        next(text)
        port = -1
        for line in text:
            if line.startswith("    "):
                if values:
                    continue
                reader, writer = line.split(":", 1)
                writer_id, instance = writer.split()
                reader = (number, int(reader))
                writer = (int(writer_id), int(instance))
                for one in (reader, writer):
                    counts[one[0]] = max(counts.get(one[0], 0), one[1] + 1)
                assert port >= 0
                (control if port == 0 else data).setdefault(reader, set()).add(writer)
            elif line.startswith("SIZE"):
                port += 1
            elif line.startswith("VALUES") or line.startswith("NO VALUES"):
                values = True
            else:
                fields = line.split()
                number, port, values = int(fields[0]), -1, False
                addresses[number] = fields[2]
                counts.setdefault(number, 1)
    return addresses, counts, control, data


def search(start, edges, depth):
    """The distances of all instances that are found."""
    found, latest = {start: 0}, [start]
    distance = 0
    while latest and distance != depth:
        distance += 1
        following = []
        for one in latest:
            for graph in edges:
                for other in graph.get(one, ()):
                    if other not in found:
                        found[other] = distance
                        following.append(other)
        latest = following
    return found


def reverse(graph):
    turned = {}
    for reader, writers in graph.items():
        for writer in writers:
            turned.setdefault(writer, set()).add(reader)
    return turned


def run(command):
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode not in (0, 1) or (done.returncode == 1 and b"neither" not in done.stderr):
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout) if done.stdout else None


def main():
    path, seed, count, bustap, trace = sys.argv[1:]
    addresses, counts, control, data = read(path)
    backward, forward = (control, data), (reverse(control), reverse(data))
    by_address = {}
    for number, address in addresses.items():
        by_address.setdefault(address, []).append(number)
    ids = [number for number in addresses if len(by_address[addresses[number]]) == 1]
    random.seed(int(seed))
    found_chains = 0
    for _ in range(int(count)):
        number = random.choice(ids)
        start = (number, random.randrange(counts[number]))
        where = f"{addresses[number]}#{start[1]}"
        depth = random.choice([-1, -1, 0, 1, 2, 3, 5, 10, 40])
        is_forward, no_control = random.random() < 0.4, random.random() < 0.4
        edges = (forward if is_forward else backward)[1 if no_control else 0:]
        expected = {}
        distances = search(start, edges, depth)
        for one in distances:
            expected[one[0]] = expected.get(one[0], 0) + 1
        command = [bustap, "slice", trace, where, "--json", "--instructions"]
        command += ["--forward"] * is_forward + ["--data"] * no_control
        command += ["--depth", str(depth)] * (depth >= 0)
        got = {row["id"]: row["count"] for row in run(command)["instructions"]}
        if got != expected:
            different = [one for one in set(got) | set(expected) if got.get(one) != expected.get(one)]
            one = min(different)
            sys.exit(f"{' '.join(command)}: {len(different)} instructions differ, as {one} at "
                     f"{addresses[one]}: {got.get(one)}, expected {expected.get(one)}")
        if is_forward or depth >= 0 or random.random() < 0.5:
            continue
        other = random.choice(list(distances) if random.random() < 0.8 else [(number, 0)])
        if len(by_address[addresses[other[0]]]) > 1:
            continue
        command = [bustap, "slice", trace, where, "--json", "--why",
                   f"{addresses[other[0]]}#{other[1]}"] + ["--data"] * no_control
        chain = run(command)
        if other in distances:
            assert chain and chain["dependences"] == distances[other], command
            steps = [(step["id"], step["instance"]) for step in chain["chain"]]
            assert steps[0] == start and steps[-1] == other, command
            for reader, writer in zip(steps, steps[1:]):
                assert any(writer in graph.get(reader, ()) for graph in edges), (command, reader)
            found_chains += 1
    print(f"{count} slices, {found_chains} chains")


main()
