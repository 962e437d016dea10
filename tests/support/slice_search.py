#!/usr/bin/env python3
"""Slices by a breadth-first search over the text of a WET trace.

usage: slice_search.py TEXT PORTS SEED COUNT BUSTAP FILE.wet

Compares COUNT random slices of `BUSTAP slice FILE.wet` with a search over TEXT, which is what
`bustap wet print` printed of it, with the ports that `name_ports` names: backward and forward, of
all and of plain dependences (doc/wet.md), with and without control, of any depth; and the lengths of
chains between two instances.
"""
import json
import random
import re
import subprocess
import sys

FRAME = re.compile(r"(mov %rsp, %rbp|lea (0x[0-9a-f]+|-0x[0-9a-f]+)?\(%rsp\), %rbp|enter\b.*)$")
STATE = re.compile(r"(x|fx)(save|saves|savec|saveopt|rstor)(64)?q? ")
SAVED = re.compile(r"(?:push %(r\w+)|mov %(r\w+), (?:-?0x[0-9a-f]+)?\(%(rsp|rbp)\))$")
RESTORED = re.compile(r"(?:pop %(r\w+)|mov (?:-?0x[0-9a-f]+)?\(%(rsp|rbp)\), %(r\w+))$")
WHOLE = {"rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16))}
CALLEES = {"rbx", "rbp", "r12", "r13", "r14", "r15"}


class Instruction:
    """What an instruction is for calls."""

    def __init__(self, ports, text):
        self.ports = [] if ports == "-" else ports.split(",")
        self.is_linker = text.startswith("linker ")
        text = text.removeprefix("linker ").strip()
        self.is_call = text.startswith("call")
        self.is_frame = bool(FRAME.match(text))
        self.saves = self.restores = None
        if STATE.match(text):
            if "rstor" in text:
                self.restores = "state"
            else:
                self.saves = "state"
        found = SAVED.match(text)
        if found:
            self.saves = found[1] or self.moved(found[2], found[3])
        found = RESTORED.match(text)
        if found:
            self.restores = found[1] or self.moved(found[3], found[2])
        if text == "leave":
            self.restores = "rbp"

    @staticmethod
    def moved(register, base):
        return register if register in (WHOLE if base == "rsp" else CALLEES) else None

    @staticmethod
    def is_about(form, register):
        if form == "state":
            return register.startswith("zmm") or re.match(r"k\d", register) is not None
        return form == register and register in WHOLE


def read_ports(path):
    instructions = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            number, ports, text = line.rstrip("\n").split(" ", 2)
            instructions[int(number)] = Instruction(ports, text)
    return instructions


def plain(data, instructions):
    """The plain dependences of all instances."""
    found = {}

    def memory_of(reader):
        port = instructions[reader[0]].ports.index("memory")
        return data.get(reader, {}).get(port, set())

    def saved_by(restore):
        """The save of a restore; None: it has none."""
        wanted = instructions[restore[0]].restores
        writers = memory_of(restore)
        if wanted == "state":
            writers = {one for one in writers if instructions[one[0]].saves == "state"}
        fits = len(writers) == 1 and all(instructions[one[0]].saves == wanted for one in writers)
        return next(iter(writers)) if fits else None

    def resolve(reader, port):
        key = (reader, port)
        if key in found:
            return found[key]
        name, result = instructions[reader[0]].ports[port], set()
        for writer in data.get(reader, {}).get(port, ()) if name != "rsp" else ():
            other = instructions[writer[0]]
            if name == "memory":
                if not other.is_call and (instructions[reader[0]].is_linker or not other.is_linker):
                    result.add(writer)
                continue
            if name == "rbp" and other.is_frame:
                continue
            save = saved_by(writer) if Instruction.is_about(other.restores, name) else None
            if save is None:
                result.add(writer)
            else:
                result |= resolve(save, instructions[save[0]].ports.index(name))
        found[key] = result
        return result

    graph = {}
    # writers are executed before their readers, but not in the order of ids: nesting may be deep
    sys.setrecursionlimit(1000000)
    for reader, ports in data.items():
        graph[reader] = set()
        for port in ports:
            graph[reader] |= resolve(reader, port)
    return graph


def all_of(data):
    return {reader: set().union(*ports.values()) for reader, ports in data.items()}


def read(path):
    """Addresses and instances by id, and for each instance the writers of its control and data, by
    port."""
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
                if port == 0:
                    control.setdefault(reader, set()).add(writer)
                else:
                    data.setdefault(reader, {}).setdefault(port - 1, set()).add(writer)
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
    path, ports, seed, count, bustap, trace = sys.argv[1:]
    addresses, counts, control, data = read(path)
    graphs = {}
    for kind, graph in (("all", all_of(data)), ("plain", plain(data, read_ports(ports)))):
        graphs[kind] = ((control, graph), (reverse(control), reverse(graph)))
    by_address = {}
    for number, address in addresses.items():
        by_address.setdefault(address, []).append(number)
    ids = [number for number in addresses if len(by_address[addresses[number]]) == 1]
    random.seed(int(seed))
    found_chains, shorter = 0, 0
    for _ in range(int(count)):
        number = random.choice(ids)
        start = (number, random.randrange(counts[number]))
        where = f"{addresses[number]}#{start[1]}"
        depth = random.choice([-1, -1, 0, 1, 2, 3, 5, 10, 40])
        is_forward, no_control = random.random() < 0.4, random.random() < 0.4
        is_plain = random.random() < 0.7
        backward, forward = graphs["plain" if is_plain else "all"]
        edges = (forward if is_forward else backward)[1 if no_control else 0:]
        expected = {}
        distances = search(start, edges, depth)
        for one in distances:
            expected[one[0]] = expected.get(one[0], 0) + 1
        command = [bustap, "slice", trace, where, "--json", "--instructions"]
        command += ["--forward"] * is_forward + ["--data"] * no_control
        command += ["--all"] * (not is_plain)
        command += ["--depth", str(depth)] * (depth >= 0)
        got = {row["id"]: row["count"] for row in run(command)["instructions"]}
        if got != expected:
            different = [one for one in set(got) | set(expected) if got.get(one) != expected.get(one)]
            one = min(different)
            sys.exit(f"{' '.join(command)}: {len(different)} instructions differ, as {one} at "
                     f"{addresses[one]}: {got.get(one)}, expected {expected.get(one)}")
        if is_plain:
            whole = search(start, graphs["all"][is_forward][1 if no_control else 0:], depth)
            assert depth >= 0 or set(distances) <= set(whole), command
            shorter += len(distances) < len(whole)
        if is_forward or depth >= 0 or random.random() < 0.5:
            continue
        other = random.choice(list(distances) if random.random() < 0.8 else [(number, 0)])
        if len(by_address[addresses[other[0]]]) > 1:
            continue
        command = [bustap, "slice", trace, where, "--json", "--why",
                   f"{addresses[other[0]]}#{other[1]}"] + ["--data"] * no_control
        command += ["--all"] * (not is_plain)
        chain = run(command)
        if other in distances:
            assert chain and chain["dependences"] == distances[other], command
            steps = [(step["id"], step["instance"]) for step in chain["chain"]]
            assert steps[0] == start and steps[-1] == other, command
            for reader, writer in zip(steps, steps[1:]):
                assert any(writer in graph.get(reader, ()) for graph in edges), (command, reader)
            found_chains += 1
    print(f"{count} slices, {found_chains} chains, {shorter} are shorter than those of all")
    if shorter == 0:
        sys.exit("no slice of plain dependences is shorter than that of all: nothing was left out")


main()
