#!/usr/bin/env python3
"""Cuts regions out of the whole capture of a program, and compares them with those of `bustap exec`.

usage: exec_regions.py WHOLE sample ON OFF SKIP LIMIT PART...
       exec_regions.py WHOLE places FROM UNTIL PART...
       exec_regions.py WHOLE calls FUNCTION PART...
       exec_regions.py WHOLE code LOW HIGH PART...
       exec_regions.py WHOLE popular             prints two frequent addresses, as FROM and UNTIL
WHOLE and PART are files of a capture. Addresses are hexadecimal. The parts must have the same records, and
a gap before each region except the first.
"""
import gzip
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import second_verifier  # noqa: E402

FETCH, WRITE = 0, 3


def instructions(path):
    """Yields the records of each instruction, as bytes: its fetch, then its references.

    Events are removed. The fetch of an instruction that faulted, with time 0, belongs to the next instruction.
    """
    with gzip.open(path) as source:
        data = bytearray(source.read())
    data[6::12] = bytes(attribute & 0x0f for attribute in data[6::12])
    data = bytes(data)
    current, faulted = [], False
    for at in range(0, len(data), 12):
        if data[at + 4] == FETCH:
            if current and not faulted:
                yield b"".join(current)
                current = []
            faulted = data[at + 8:at + 12] == bytes(4)
        current.append(data[at:at + 12])
    if current:
        yield b"".join(current)


def address_of(instruction):
    return struct.unpack_from("<I", instruction)[0]


def sample(all_of_it, on, off, skip, limit):
    on, off, skip, limit = int(on), int(off), int(skip), int(limit)
    taken = 0
    for number, instruction in enumerate(all_of_it):
        phase = (number - skip) % (on + off)
        if number < skip or phase >= on or taken == (limit or -1):
            continue
        taken += 1
        yield phase == 0, instruction


def places(all_of_it, begins, ends):
    begins, ends = int(begins, 16), int(ends, 16)
    is_open = False
    for instruction in all_of_it:
        address = address_of(instruction)
        was_open, is_open = is_open, address == begins or (is_open and address != ends)
        if is_open:
            yield not was_open, instruction


def calls(all_of_it, function):
    """The call before the entry pushes the return address; the return that reads it there ends the region."""
    function = int(function, 16)
    back = slot = before = None
    for instruction in all_of_it:
        address = address_of(instruction)
        if back == address and slot in reads(before):
            back = None
        fresh = False
        if address == function and back is None:
            slot = [struct.unpack_from("<I", before, at)[0] for at in range(0, len(before), 12) if before[at + 4] == WRITE][-1]
            back = address_of(before) + before[5]
            fresh = True
        if back is not None:
            yield fresh, instruction
        before = instruction


def code(all_of_it, low, high):
    """Without gaps: times include the instructions left out."""
    low, high, time = int(low, 16), int(high, 16), 0
    for instruction in all_of_it:
        time += 1
        if low <= address_of(instruction) <= high:
            yield False, instruction[:8] + struct.pack("<I", time) + instruction[12:]
            time = 0


def reads(instruction):
    return [struct.unpack_from("<I", instruction, at)[0] for at in range(12, len(instruction), 12)]


def popular(all_of_it):
    counts = {}
    for instruction in all_of_it:
        address = address_of(instruction)
        counts[address] = counts.get(address, 0) + 1
    many = sorted(address for address, count in counts.items() if 50 <= count <= 200)
    print(f"0x{many[len(many) // 3]:x} 0x{many[2 * len(many) // 3]:x}")


def pieces(paths):
    """Returns the records of each region of a capture, which its gaps separate."""
    regions = []
    for path in paths:
        with open(path, "rb") as source:
            data = source.read()
        at = 0
        while at < len(data):
            kind, payload, _, end = second_verifier.read_member(data, at)
            if kind == 2:
                gap_flags, = struct.unpack_from("<H", payload, 2)
                records = gzip.decompress(data[at:end])
                begins = [0] if gap_flags & 1 or not regions else []
                if gap_flags & 2:
                    begins += [12 * number for number, attribute in enumerate(records[6::12]) if attribute & 0x80]
                records = bytearray(records)
                records[6::12] = bytes(attribute & 0x0f for attribute in records[6::12])
                if begins[:1] != [0]:
                    begins = [0, *begins]
                    regions[-1] += records[:begins[1] if len(begins) > 1 else len(records)]
                    begins = begins[1:]
                regions += [bytes(records[a:b]) for a, b in zip(begins, [*begins[1:], len(records)])]
            at = end
    return regions


def main():
    whole, how, *rest = sys.argv[1:]
    if how == "popular":
        popular(instructions(whole))
        return 0
    count = {"sample": 4, "places": 2, "calls": 1, "code": 2}[how]
    expected = []
    cut = {"sample": sample, "places": places, "calls": calls, "code": code}[how]
    for fresh, instruction in cut(instructions(whole), *rest[:count]):
        if fresh or not expected:
            expected.append([])
        expected[-1].append(instruction)
    expected = [b"".join(region) for region in expected]
    got = pieces(rest[count:])
    print(f"{how}: {len(expected)} regions, {sum(map(len, expected)) // 12} records")
    # the first record of a capture has the time 1, also in a part
    if got != expected:
        print(f"got {len(got)} regions, {sum(map(len, got)) // 12} records")
        for number, (one, other) in enumerate(zip(got, expected)):
            if one != other:
                print(f"region {number} differs: {len(one) // 12} records, not {len(other) // 12}")
                break
    return got != expected


if __name__ == "__main__":
    sys.exit(main())
