#!/usr/bin/env python3
"""Compares `bustap verify` with tests/support/second_verifier.py on captures and mutants of them.

usage: verify_twice.py FOLDER COUNT [SEED]
FOLDER holds valid captures, each in a separate folder. A folder whose name begins with "unknown" breaks only rule 22:
the board's count is not known. COUNT mutants are made of them, from SEED (1) on, most with valid checksums. A mutant
with different verdicts is reported with its seed and kept in ./SEED.
"""
import collections
import os
import random
import shutil
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import second_verifier  # noqa: E402

# offset and bytes of every field of a payload, by kind
FIELDS = {
    1: [(8, 8), (16, 8), (24, 8), (32, 8), (40, 8), (48, 8), (56, 4), (60, 4), (64, 1), (128, 1), (160, 1), (1, 1),
        (2, 1)],
    2: [(8, 4), (12, 4), (16, 8), (24, 8), (32, 8), (40, 8), (48, 8), (56, 8), (64, 8), (72, 8), (80, 8), (88, 8),
        (1, 1), (2, 2)],
    3: [(8, 1), (9, 1), (10, 1), (11, 1), (16, 8), (24, 8), (32, 8), (40, 8), (48, 8), (56, 8), (64, 8), (72, 8),
        (80, 8), (88, 8), (96, 8), (104, 8), (112, 8), (120, 8), (128, 8), (136, 8), (144, 8), (152, 8), (160, 8),
        (168, 8), (176, 1), (0, 1)],
}
HEADER = 16  # bytes before a payload


class Member:
    """A member in parts that can be changed; bytes() updates its checksums."""

    def __init__(self, data):
        self.kind = data[HEADER]
        length, = struct.unpack_from("<H", data, HEADER - 2)
        self.front = bytearray(data[:HEADER + length])
        self.stream = data[len(self.front):-8]
        self.trailer = data[-8:]

    def get(self, offset, size):
        return int.from_bytes(self.front[HEADER + offset:HEADER + offset + size], "little")

    def put(self, offset, size, value):
        self.front[HEADER + offset:HEADER + offset + size] = (value % (1 << 8 * size)).to_bytes(size, "little")

    def add(self, offset, size, value):
        self.put(offset, size, self.get(offset, size) + value)

    def records(self):
        try:
            return zlib.decompress(self.stream, -15)
        except zlib.error:
            return b""  # an earlier change broke the stream

    def compress(self, records, level=1):
        deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
        self.stream = deflate.compress(records) + deflate.flush()
        self.trailer = struct.pack("<II", zlib.crc32(records), len(records))

    def resize(self):
        self.put(4, 4, len(self.front) + len(self.stream) + 8)

    def bytes(self):
        rest = self.stream + self.trailer
        end = len(self.front)
        self.front[end - 8:end - 4] = struct.pack("<I", second_verifier.crc32c(rest))
        self.front[end - 4:] = struct.pack("<I", second_verifier.crc32c(self.front[:end - 4]))
        return bytes(self.front) + rest


def split(data):
    members, at = [], 0
    while at < len(data):
        size, = struct.unpack_from("<I", data, at + HEADER + 4)
        members.append(Member(data[at:at + size]))
        at += size
    return members


class Mutant:
    """Files of members, and after cut() of bytes."""

    def __init__(self, rng, captures):
        self.rng = rng
        self.captures = captures
        self.name = rng.choice(sorted(captures))
        self.files = [split(data) for data in captures[self.name]]
        self.deeds = []

    def member(self, kinds=(1, 2, 3)):
        file = self.rng.choice(self.files) if self.files else []
        members = [member for member in file if isinstance(member, Member) and member.kind in kinds]
        return self.rng.choice(members) if members else None

    def number(self, member, size):
        """A value to change a field to, or by."""
        near = self.rng.choice([1, 2, 7, 1000, 1 << 8 * size - 1, self.rng.getrandbits(8 * size)])
        other = self.rng.choice([field for field in FIELDS[member.kind] if field[1] <= size])
        return near, member.get(*other)

    def change_field(self):
        member = self.member()
        if not member:
            return
        offset, size = self.rng.choice(FIELDS[member.kind])
        near, other = self.number(member, size)
        before = member.get(offset, size)
        value = self.rng.choice([before + near, before - near, 0, (1 << 8 * size) - 1, other, self.rng.randrange(9)])
        member.put(offset, size, value)
        self.deeds.append(f"kind {member.kind} at {offset}: {before} to {value}")

    def change_twice(self):
        """The same change to two fields that may be related."""
        member = self.member()
        if not member:
            return
        fields = [field for field in FIELDS[member.kind] if field[1] == 8]
        near, _ = self.number(member, 8)
        for offset, size in self.rng.sample(fields, 2):
            member.add(offset, size, near)
            self.deeds.append(f"kind {member.kind} at {offset}: {near:+}")

    def move_on(self):
        """Shifts all ticks or all indices from some member on."""
        near = self.rng.choice([1, 5, 1 << 20, 1 << 63, -1])
        kind = self.rng.choice(["ticks", "indices"])
        fields = {"ticks": {2: (24, 32, 72, 80), 3: (104,)}, "indices": {1: (48,), 2: (16,), 3: (96, 56)}}[kind]
        first = self.rng.randrange(len(self.files)) if self.files else 0
        skip = self.rng.randrange(4)
        for number, file in enumerate(self.files[first:]):
            for member in file[skip if number == 0 else 0:]:
                for offset in fields.get(member.kind, ()) if isinstance(member, Member) else ():
                    member.add(offset, 8, near)
        self.deeds.append(f"{kind} of file {first} from member {skip} on: {near:+}")

    def change_time(self):
        member = self.member((2,))
        records = bytearray(member.records()) if member else b""
        if not records:
            return
        at = self.rng.choice([0, self.rng.randrange(len(records) // 12)])
        before, = struct.unpack_from("<I", records, 12 * at + 8)
        value = self.rng.choice([0, before + 1, 0xFFFFFFFF, self.rng.getrandbits(32)]) % (1 << 32)
        struct.pack_into("<I", records, 12 * at + 8, value)
        member.compress(bytes(records), self.rng.randrange(10))
        member.resize()
        if self.rng.random() < 0.5 and at > 0:
            member.add(32, 8, value - before)
        self.deeds.append(f"time of record {at}: {before} to {value}")

    def change_stream(self):
        member = self.member()
        if not member:
            return
        what = self.rng.randrange(7)
        if what == 0:
            member.stream = b"\x01\x00\x00\xff\xff" if member.get(8, 4) == 0 else member.stream + b"\0"
            member.resize()
        elif what == 1:
            member.trailer = bytes([member.trailer[0] ^ 1]) + member.trailer[1:]
        elif what == 2:
            member.trailer = member.trailer[:4] + struct.pack("<I", 12)
        elif what == 3:
            member.stream = member.stream[:-1]
            member.resize()
        elif what == 4:
            member.front[self.rng.randrange(16)] ^= 1 << self.rng.randrange(8)
        elif what == 5 and member.kind == 2:
            member.compress(member.records(), self.rng.randrange(10))
            member.resize()
        elif what == 6 and member.kind == 2:
            member.compress(member.records() + bytes(12 * self.rng.randrange(2)))
            member.add(8, 4, self.rng.randrange(2))
            member.resize()
        self.deeds.append(f"stream of kind {member.kind}: change {what}")

    def move_member(self):
        file = self.rng.choice(self.files) if self.files else []
        if not file:
            return
        at = self.rng.randrange(len(file))
        what = self.rng.choice(["dropped", "doubled", "swapped", "moved"])
        member = file[at]
        if what in ("dropped", "moved"):
            del file[at]
        if what == "doubled":
            file.insert(at, member)
        if what == "swapped" and at > 0:
            file[at - 1:at + 1] = [member, file[at - 1]]
        if what == "moved":
            other = self.rng.choice(self.files)
            other.insert(self.rng.randrange(len(other) + 1), member)
        self.deeds.append(f"member {at} {what}")

    def move_file(self):
        what = self.rng.choice(["dropped", "dropped", "doubled", "joined", "mixed"])
        at = self.rng.randrange(len(self.files)) if self.files else 0
        if what == "mixed":
            self.files += [split(data) for data in self.captures[self.rng.choice(sorted(self.captures))]]
        elif self.files and what == "dropped":
            del self.files[at]
        elif self.files and what == "doubled":
            self.files.append(list(self.files[at]))
        elif len(self.files) > 1 and what == "joined":
            file = self.files.pop(at)
            self.rng.choice(self.files).extend(file)
        self.deeds.append(f"file {at} {what}")

    def close_again(self):
        """Changes the losses after the last data member, in several fields."""
        closing = self.member((3,))
        if not closing:
            return
        stage = 8 * self.rng.randrange(4)
        near = self.rng.choice([1, 3, 1 << 40])
        for offset in self.rng.sample([24 + stage, 64 + stage, 96, 136, 128, 168], self.rng.randrange(3, 7)):
            closing.add(offset, 8, near)
        self.deeds.append(f"{near} more lost at the end, stage {stage // 8}")

    def shift_counts(self):
        """Moves a part of one count of a closing member to another, with the same sum."""
        closing = self.member((3,))
        if not closing:
            return
        near = self.rng.choice([1, 5, 0 - (1 << 63)])
        for base in self.rng.choice([(16,), (56,), (56,), (16, 56)]):
            places = self.rng.sample(range(base, base + 40, 8), 2)
            closing.add(places[0], 8, near)
            closing.add(places[1], 8, -near)
            self.deeds.append(f"{near} from closing {places[1]} to {places[0]}")

    def cut(self, files):
        """Changes bytes, which checksums detect."""
        if not files:
            return
        at = self.rng.randrange(len(files))
        data = bytearray(files[at])
        what = self.rng.choice(["cut", "flipped", "longer", "hole"])
        place = self.rng.randrange(len(data)) if data else 0
        if what == "cut":
            del data[place:]
        elif what == "flipped" and data:
            data[place] ^= 1 << self.rng.randrange(8)
        elif what == "longer":
            data += self.rng.choice([b"\0", b"\x1f", bytes(100), data[:place], self.rng.randbytes(50)])
        elif what == "hole":
            del data[place:place + self.rng.randrange(1, 300)]
        files[at] = bytes(data)
        self.deeds.append(f"file {at} {what} at {place}")

    def make(self):
        """The files' bytes, in any order."""
        deeds = [self.change_field] * 8 + [self.change_twice, self.move_on, self.change_time, self.change_stream,
                                           self.move_member, self.move_file, self.close_again,
                                           self.shift_counts]
        for _ in range(self.rng.choice([1, 1, 1, 2, 3])):
            self.rng.choice(deeds)()
        files = [b"".join(member.bytes() for member in file) for file in self.files]
        if self.rng.random() < 0.1:
            self.cut(files)
        self.rng.shuffle(files)
        return files


def write_files(folder, files, rng):
    os.mkdir(folder)
    prefixes = rng.choice([["p"], ["p", "q"], ["p", "p_00001"]])
    paths = [os.path.join(folder, f"{rng.choice(prefixes)}_{number:05}_20261120T2245{rng.randrange(60):02}Z.{rng.choice(['byu.gz', 'byb'])}")
             for number in range(len(files))]
    for path, data in zip(paths, files):
        with open(path, "wb") as out:
            out.write(data)
    return paths


def judge(what, paths, rules):
    """Compares both verdicts. Returns a sentence if they differ, and the second verifier's reason."""
    reason = second_verifier.verify(paths)
    rules[" ".join((reason or "accepted").split()[:2])] += 1
    first = subprocess.run(["bustap", "verify", *paths], capture_output=True, text=True, check=False)
    refused = first.returncode in (1, 3)  # 3: a file is not a trace
    if refused != (reason is not None) or first.returncode not in (0, 1, 3):
        return f"{what}: bustap verify ends with {first.returncode}; the second verifier says " \
               f"{reason or 'accounted for'}\n{first.stdout}{first.stderr}", reason
    return None, reason


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    captures, rules, differ = {}, collections.Counter(), 0
    for name in sorted(os.listdir(folder)):
        paths = [os.path.join(folder, name, file) for file in sorted(os.listdir(os.path.join(folder, name)))]
        captures[name] = [open(path, "rb").read() for path in paths]
        difference, reason = judge(name, paths, rules)
        if difference or reason != ("rule 22" if name.startswith("unknown") else None):
            print(difference or f"{name}: both verifiers refuse a valid capture: {reason}")
            differ += 1
    print(f"{len(captures)} sound captures")
    rules.clear()
    for number in range(seed, seed + count):
        mutant = Mutant(random.Random(number), captures)
        paths = write_files(str(number), mutant.make(), mutant.rng)
        difference = judge(f"seed {number}", paths, rules)[0] if paths else None
        if difference:
            print(f"{difference}  {mutant.name}: {'; '.join(mutant.deeds)}")
            differ += 1
        else:
            shutil.rmtree(str(number))
    print(f"{count} mutants from seed {seed} on, {differ} judged differently")
    print(", ".join(f"{rule}: {times}" for rule, times in sorted(rules.items())))
    return differ > 0


if __name__ == "__main__":
    sys.exit(main())
