#!/usr/bin/env python3
"""Checks whether captures account for every request, from doc/capture-file.md alone: the numbers are its rules.

usage: second_verifier.py FILE...    exit status 0 if every capture in the files is accounted for
As a module: verify(paths) returns None, or why not.
"""
import re
import struct
import subprocess
import sys
import zlib

CRC_TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    CRC_TABLE.append(byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


class Refused(Exception):
    """A broken rule."""


def check(condition, rule, what=""):
    if not condition:
        raise Refused(f"rule {rule} {what}".strip())


def inflate(content, size):
    stream = zlib.decompressobj(-15)
    try:
        records = stream.decompress(content, size + 1)
    except zlib.error as error:
        raise Refused(f"rule 3 {error}") from error
    check(stream.eof and not stream.unused_data and len(records) == size, 3)
    return records


PAYLOAD = {(1, 1): 424, (2, 1): 104, (3, 1): 344, (1, 2): 424, (2, 2): 112, (3, 2): 344}  # LEN by kind and version
METHOD = {1: 8, 2: 0x42}  # by version


WIDTHS = (1, 4, 1, 4, 1, 1, 4, 2)  # bytes of an element of each stream of columns
PARENTS = (None, 0, None, 2, None, 4, 5, 4)  # the stream with an escape for each element; None: one a record


def read_streams(content, at, count):
    """The elements of the streams of columns, whose directory is at `at`."""
    entries = struct.unpack_from("<" + "BI" * 8, content, at)
    at, streams = at + 40, []
    for width, parent, method, size in zip(WIDTHS, PARENTS, entries[::2], entries[1::2]):
        check(at + size <= len(content) and method <= 1, 3)
        stream, at = content[at:at + size], at + size
        number = count if parent is None else streams[parent].count(255)
        if method == 1:
            stream = subprocess.run(["zstd", "-dcq"], input=stream, capture_output=True, check=False).stdout
        check(len(stream) == number * width, 3)
        streams.append(list(struct.unpack(f"<{number}{' BH I'[width]}", stream)))
    check(at == len(content), 3)
    return streams


def read_columns(content, count):
    """Codec 2: "Columns"."""
    if content[0] == 0:
        return content[1:]
    check(content[0] == 1 and len(content) >= 42 + 5 * content[1], 3)
    kinds = [(content[at:at + 4], content[at + 4]) for at in range(2, 2 + 5 * content[1], 5)]
    check(all(shift < 32 for _, shift in kinds), 3)
    streams = [iter(stream) for stream in read_streams(content, 2 + 5 * content[1], count)]
    numbers, heads, times, long_times, steps, pages, new_pages, offsets = streams
    records, predicted, slots = [], {}, [0] * 255
    for number, time, step in zip(numbers, times, steps):
        check(number == 255 or number < len(kinds), 3)
        head, shift = kinds[number] if number < 255 else (struct.pack("<I", next(heads)), 2)
        context = (head[0], head[3]) if number < 255 else None
        address = predicted.get(context, 0) + (step - 127) * (1 << shift)
        if step == 255:
            page = next(pages)
            if page == 255:
                page = next(new_pages)
                slot = page * 2654435761 % (1 << 32) >> 24
                slots[slot if slot < 255 else 0] = page
            else:
                page = slots[page]
            address = page << 12 | next(offsets) & 4095
        address %= 1 << 32
        predicted[context] = address + head[1]
        records.append(struct.pack("<I4sI", address, head, time if time < 255 else next(long_times)))
    return b"".join(records)


def read_member(data, at):
    """Rules 1 to 3. Returns the kind, the payload, its records, and the end of the member."""
    check(len(data) >= at + 24 and data[at:at + 2] == b"\x1f\x8b" and data[at + 3:at + 10] == b"\4" + bytes(5) + b"\xff", 1)
    xlen, subfield, length, kind, version = struct.unpack_from("<H2sHBB", data, at + 10)
    size, = struct.unpack_from("<I", data, at + 20)
    check(PAYLOAD.get((kind, version)) == length and xlen == length + 4 and subfield == b"BT", 1)
    check(METHOD[version] == data[at + 2], 1)
    stream = at + 16 + length
    check(len(data) >= stream, 1)
    payload = data[at + 16:stream]
    check(crc32c(data[at:stream - 4]) == struct.unpack_from("<I", payload, length - 4)[0], 1)
    check(at + size <= len(data), 4, "it ends within a member")
    check(crc32c(data[stream:at + size]) == struct.unpack_from("<I", payload, length - 8)[0], 1)
    count = struct.unpack_from("<I", payload, 8)[0] if kind == 2 else 0
    check(count <= 1048576, 3)
    if count == 0:
        check(size == 16 + length + 10 and data[stream:stream + 2] == b"\x03\x00", 2)
    check(count == 0 or 16 + length + 10 < size <= 16 << 20, 2)
    codec = payload[96] if count and version == 2 else 1
    check(codec <= 2, 3, f"codec {codec} is not read here")
    if codec == 2:
        records = read_columns(data[stream:at + size - 8], count)
        check(len(records) == 12 * count, 3)
    else:
        records = inflate(data[stream:at + size - 8], 12 * count)
    check(struct.unpack_from("<II", data, at + size - 8) == (zlib.crc32(records), len(records)), 3)
    return kind, payload, records, at + size


def text(field):
    return re.sub(rb"[\x00-\x1f\x7f]", b"?", field.split(b"\0")[0])


class File:
    """One file: its header, then its data members, then its closing member."""

    def __init__(self, payload):
        self.clock, self.id, self.started, _, self.first_index, self.number, self.keep = \
            struct.unpack_from("<Q16sqqQII", payload, 8)
        self.derived = payload[2] & 1 != 0
        self.common = (self.clock, self.started, self.keep,
                       text(payload[64:128]), text(payload[128:160]), text(payload[160:416]))
        check(self.id != bytes(16) and self.number != 0, 5)
        check(self.number == 1 or not self.derived, 5)
        check(self.number != 1 or self.first_index == 0 or self.derived, 5)
        self.before = self.first_index if self.derived else 0
        self.is_program = text(payload[128:160]) == b"program"
        self.data, self.closing = [], None


def read_files(path):
    """Rule 4: the files of a path."""
    with open(path, "rb") as source:
        data = source.read()
    files, at = [], 0
    check(data, 4, "it is empty")
    while at < len(data):
        kind, payload, records, at = read_member(data, at)
        if not files or files[-1].closing:
            check(kind == 1, 4)
            files.append(File(payload))
            continue
        check(kind != 1, 4)
        if kind == 2:
            times = struct.unpack(f"<{len(records) // 4}I", records)[2::3]
            parts = payload[2] & 2 and any(attribute & 0x80 for attribute in records[18::12])
            events = payload[2] & 4 and any(attribute & 0x70 for attribute in records[6::12])
            files[-1].data.append((payload, times, parts or events))
        else:
            files[-1].closing = payload
    check(files[-1].closing, 4, "no closing member")
    return files


def check_data(file, tick, exact):
    """Rules 6 to 11. Returns the expected index, the previous tick, and whether the last member has records."""
    index, losses = file.first_index, [0] * 4
    for number, (payload, times, marks) in enumerate(file.data):
        count, gap, first_index, first_tick, last_tick, *rest = struct.unpack_from("<II9Q", payload, 8)
        lost, lost_first, lost_last = rest[:4], *rest[4:6]
        check(first_index - sum(lost) == index, 6)
        index = first_index + count
        check(index < 1 << 64, 6)
        check(0xFFFFFFFF not in times[1:] and last_tick == first_tick + sum(times[1:]), 7)
        check(tick is None or first_tick >= tick, 8)
        if exact and count and not sum(lost) and not gap:
            passed = first_tick - tick
            check(passed == times[0] or (times[0] == 0xFFFFFFFF and passed > times[0]), 9)
        if sum(lost):
            check(lost_first <= lost_last and (not count or lost_last <= first_tick), 10)
            check(tick is None or lost_first >= tick or (number == 0 and lost_first == 0), 10)
        check(gap >> 31 == 0, 11)
        check(file.is_program or (payload[2] & 1 == 0 and not marks), 11)
        tick, exact, losses = last_tick, count > 0, [a + b for a, b in zip(losses, lost)]
    return index, tick, exact, losses


def check_closing(file, index, tick, losses):
    """Rules 12 to 17. Returns the number of requests lost after the last data member."""
    p = file.closing
    file.end, file.final, file.known = p[8], p[9] != 0, p[10] != 0
    records, *file_lost = struct.unpack_from("<5Q", p, 16)
    file.counts = struct.unpack_from("<5Q", p, 56)
    file.own = (records, *file_lost)
    file.end_index, last_tick, after_stop = struct.unpack_from("<3Q", p, 96)
    check(records == sum(len(times) for _, times, _ in file.data), 12)
    check(all(a >= b for a, b in zip(file_lost, losses)), 13)
    at_end = sum(file_lost) - sum(losses)
    check(at_end == file.end_index - index, 13)
    check(not (file.end == 1 and file.final) and not (2 <= file.end <= 6 and not file.final), 15)
    if file.end != 7 or file.final:
        check(tick is None or last_tick == tick or (at_end and last_tick > tick), 14)
        check(sum(file.counts) == file.end_index - file.before, 16)
        check(all(a >= b for a, b in zip(file.counts, file.own)), 16)
        check(file.number != 1 or file.counts == file.own, 16)
    if file.final and file.known:
        seen, accepted, filtered, above, undecoded, lost = struct.unpack_from("<6Q", p, 128)
        check(seen == accepted + filtered + above + undecoded and accepted == file.end_index - file.before + after_stop, 17)
        check(file.counts[1] <= lost <= accepted, 17)
    return at_end


def check_capture(files, everything):
    """Rules 18 to 22, and the rules across files."""
    first, last = files[0], files[-1]
    check(all(file.common == first.common for file in files), 18)
    check([file.number for file in files] == list(range(first.number, first.number + len(files))), 19)
    ring = files + [file for file in everything
                    if first.prefix and file.prefix == first.prefix and file.started > first.started]
    keeps = [file.keep for file in ring if file.keep]
    check(first.number == 1 or (keeps and len(ring) >= min(keeps)), 19)
    tick, exact = (0 if first.number == 1 else None), False
    for before, file in zip([None] + files, files):
        check(not before or file.first_index == before.end_index, 20)
        index, tick, exact, losses = check_data(file, tick, exact)
        exact = check_closing(file, index, tick, losses) == 0 and exact
        if before and 7 not in (before.end, file.end):
            check(file.counts == tuple(a + b for a, b in zip(before.counts, file.own)), 21)
        check(file.final == (file is last), 22)
    check(last.known, 22)


def verify(paths):
    captures = {}
    try:
        for path in paths:
            name = re.fullmatch(r"(.+)_\d{5,}_\d{8}T\d{6}Z\.(?:byu\.gz|byb)(\.part)?", path)
            for file in read_files(path):
                file.prefix = name and name[1]
                captures.setdefault(file if file.derived else file.id, []).append(file)
        for files in captures.values():
            check_capture(sorted(files, key=lambda file: file.number), sum(captures.values(), []))
    except Refused as reason:
        return str(reason)
    return None


if __name__ == "__main__":
    REASON = verify(sys.argv[1:])
    print(REASON or "accounted for")
    sys.exit(REASON is not None)
