#!/usr/bin/env python3
"""Writes the records of capture files, members of codec 1 and 2, to standard output.

Written from doc/capture-file.md and doc/archive-codec.md, not from the sources of bustap, so that a test can compare
both. Slow; `zstd` decompresses the streams of content 1.

usage: column_decoder.py FILE >RECORDS
       column_decoder.py --contents FILE    numbers of the contents of codec 2, a member each
"""
import struct
import subprocess
import sys
import zlib

M32 = 0xFFFFFFFF
M64 = (1 << 64) - 1
COLUMNS, NIBBLES, MANY, FEW = 1, 2, 3, 4


def fail(message):
    sys.exit("column_decoder: " + message)


# --- content 1: columns -----------------------------------------------------------------------------


def streams_of(content, at, count):
    directory = [struct.unpack_from("<BI", content, at + 5 * i) for i in range(8)]
    at += 40
    widths = (1, 4, 1, 4, 1, 1, 4, 2)
    parents = (None, 0, None, 2, None, 4, 5, 4)
    streams = []
    for (method, size), width, parent in zip(directory, widths, parents):
        coded = content[at : at + size]
        at += size
        if method == 1:
            coded = subprocess.run(["zstd", "-dcq"], input=coded, stdout=subprocess.PIPE, check=True).stdout
        elements = count if parent is None else streams[parent].count(255)
        if method > 1 or len(coded) != elements * width:
            fail("a stream is damaged")
        streams.append(struct.unpack("<%d%s" % (elements, {1: "B", 2: "H", 4: "I"}[width]), coded))
    if at != len(content):
        fail("bytes after the last stream")
    return streams


def decode_columns(content, count):
    kinds, at = [], 2
    for _ in range(content[1]):
        kinds.append((content[at : at + 4], content[at + 4]))
        at += 5
    streams = streams_of(content, at, count)
    numbers, steps, times = streams[0], streams[4], streams[2]
    heads, long_times, pages, new_pages, offsets = (iter(streams[i]) for i in (1, 3, 5, 6, 7))
    slots, predicted, out = [0] * 256, {}, []
    for number, step, time in zip(numbers, steps, times):
        if number == 255:
            head, shift, context = struct.pack("<I", next(heads)), 2, None
        else:
            (head, shift), context = kinds[number], (kinds[number][0][0], kinds[number][0][3])
        if step == 255:
            slot = next(pages)
            page = slots[slot]
            if slot == 255:
                page = next(new_pages)
                slot = (page * 2654435761 & M32) >> 24
                slots[0 if slot == 255 else slot] = page
            address = page << 12 & M32 | next(offsets) & 4095
        else:
            address = predicted.get(context, 0) + ((step - 127) << shift) & M32
        predicted[context] = address + head[1] & M32
        out.append(struct.pack("<I4sI", address, head, next(long_times) if time == 255 else time))
    return b"".join(out)


# --- contents 2 to 4: coders of nibbles -------------------------------------------------------------


def hash2(a, b):
    return ((b << 32 | a) * 0x9E3779B97F4A7C15 & M64) >> 32 ^ a


class NibbleCoder:
    """Content 2: rANS; a model for each context."""

    def __init__(self, code):
        self.code, self.at, self.left, self.state = code, 0, 0, 1 << 31
        self.models = {}

    def word(self, size):
        if self.at + size > len(self.code):
            fail("the code ends early")
        self.at += size
        return int.from_bytes(self.code[self.at - size : self.at], "little")

    def decode(self, contexts, place, _):
        if self.left == 0:
            if self.state != 1 << 31:
                fail("a chunk does not end as it must")
            self.state, self.left = self.word(8), 65536
        self.left -= 1
        number = hash2(contexts[0], place) >> 17
        model = self.models.setdefault(number, [0, [2048 * i for i in range(16)] + [32768]])
        below, position = model[1], self.state & 32767
        value = max(i for i in range(16) if below[i] <= position)
        self.state = (self.state >> 15) * (below[value + 1] - below[value]) + position - below[value]
        if self.state < 1 << 31:
            self.state = self.state << 32 | self.word(4)
        seen = model[0]
        rate = 2 if seen < 2 else 3 if seen < 6 else 4 if seen < 20 else 5 if seen < 60 else 6
        for i in range(1, 16):
            below[i] += ((4 * i if i <= value else 32768 - 4 * (16 - i)) - below[i]) >> rate
        model[0] = min(seen + 1, 63)
        return value

    def check_end(self):
        if self.state != 1 << 31 or self.at != len(self.code):
            fail("the code does not end as it must")


HALF = (22, 28, 36, 47, 60, 77, 98, 126, 162, 208, 267, 342, 439, 562, 720, 922, 1179, 1506, 1921, 2446, 3108,
        3938, 4971, 6249, 7812, 9702, 11955, 14595, 17625, 21025, 24743, 28693, 32768)  # fmt: skip


def truncated(a, b):
    """a / b, rounded towards 0."""
    return a // b if a >= 0 else -(-a // b)


def make_logistic():
    lower = [(HALF[i // 64] * (64 - i % 64) + HALF[i // 64 + 1] * (i % 64)) // 64 for i in range(2048)]
    return lower + [65535 - value for value in reversed(lower)]


def make_logits(logistic):
    logits, at = [], 0
    for i in range(4096):
        while at < 4095 and logistic[at] < 16 * i + 8:
            at += 1
        logits.append(max(at - 2048, -2047))
    return logits


class Mixer:
    """Contents 3 and 4: a binary arithmetic coder, and mixed probabilities."""

    LOGISTIC = make_logistic()
    LOGITS = make_logits(LOGISTIC)

    def __init__(self, code, values):
        self.code, self.at, self.low, self.high, self.number = code, 0, 0, M32, 0
        for _ in range(4):
            self.number = self.number << 8 | self.byte()
        self.bits = 12
        while self.bits < 20 and 1 << self.bits < values:
            self.bits += 1
        self.buckets, self.weights = {}, {}

    def byte(self):
        if self.at == len(self.code):
            fail("the code ends early")
        self.at += 1
        return self.code[self.at - 1]

    def bucket(self, context):
        """[check, probabilities, counts]; a bucket is a place, which a later context may take."""
        product = context * 0x9E3779B97F4A7C15 & M64
        index, check = product >> 64 - self.bits, product & M32 | 1
        pair = [self.buckets.setdefault(i, [0, [0] * 16, [0] * 16]) for i in (index, index ^ 1)]
        for bucket in pair:
            if bucket[0] == check:
                return bucket
        bucket = pair[1] if pair[1][2][1] < pair[0][2][1] else pair[0]
        bucket[:] = [check, [1 << 21] * 16, [0] * 16]
        return bucket

    def mix(self, inputs, weights):
        total = 0
        for i in range(0, len(inputs), 2):
            total += inputs[i] * weights[i] + inputs[i + 1] * weights[i + 1] >> 6
        return max(-2047, min(2047, total >> 8))

    def bit(self, probability):
        middle = self.low + ((self.high - self.low) * probability >> 16)
        bit = int(self.number <= middle)
        if bit:
            self.high = middle
        else:
            self.low = middle + 1
        while (self.low ^ self.high) >> 24 == 0:
            self.low = self.low << 8 & M32
            self.high = self.high << 8 & M32 | 255
            self.number = self.number << 8 & M32 | self.byte()
        return bit

    def decode(self, contexts, place, select):
        buckets = [
            self.bucket(context + (place * 32 + i + 1) * 0x2545F491 & M32) for i, context in enumerate(contexts)
        ]
        tree = 1
        for _ in range(4):
            inputs = []
            for _, probabilities, counts in buckets:
                p, seen = probabilities[tree] >> 10, counts[tree]
                inputs += [self.LOGITS[p] if seen else 0, truncated((p - 2048) * min(seen, 30), 16)]
            inputs += [256, 0]
            sets = []
            for name in ((0, place, tree), (1, select)):
                if name not in self.weights:
                    self.weights[name] = [4900, 500] * 11 + [0, 0]
                sets.append(self.weights[name])
            sums = [self.mix(inputs, weights) for weights in sets]
            bit = self.bit(self.LOGISTIC[truncated(sums[0] + sums[1], 2) + 2048])
            for weights, total in zip(sets, sums):
                error = (4095 * bit - (self.LOGISTIC[total + 2048] >> 4)) * 6
                for i, value in enumerate(inputs):
                    step = (2 * value * error >> 16) + 1 >> 1
                    weights[i] = max(-32768, min(32767, weights[i] + step))
            for _, probabilities, counts in buckets:
                old, seen = probabilities[tree], counts[tree]
                target = (1 << 22) - 1 if bit else 0
                probabilities[tree] = old + truncated((target - old) * (131072 // (2 * seen + 3)), 65536)
                counts[tree] = min(seen + 1, 250)
            tree = 2 * tree + bit
        return tree & 15

    def check_end(self):
        if self.at != len(self.code):
            fail("the code does not end as it must")


# --- contents 2 to 4: records -----------------------------------------------------------------------


def trust(length):
    return sum(length > limit for limit in (0, 2, 5, 15, 31, 99))


def index16(value):
    return (value * 0x85EBCA6B & M32) >> 16


class Follower:
    def __init__(self, mask, least):
        self.at, self.length, self.table, self.mask, self.least = 0, 0, {}, mask, least

    def same(self, past, i, j):
        return (past[i][0] ^ past[j][0]) & self.mask == 0 and past[i][1] == past[j][1]

    def move(self, past, value, i):
        at, check = self.table.get(index16(value), (0, 0))
        if self.length > 0 and self.same(past, self.at, i - 1):
            self.at, self.length = self.at + 1, min(self.length + 1, 255)
        else:
            length = 0
            while check == value >> 20 and length < min(16, at) and self.same(past, at - 1 - length, i - 1 - length):
                length += 1
            self.at, self.length = at, length if length >= self.least else 0
        self.table[index16(value)] = (i, value >> 20)


class Records:
    def __init__(self, content, count):
        self.method, at = content[0], 1
        self.mixing, self.many = self.method != NIBBLES, self.method == MANY
        self.kind_words, at = self.words(content, at)
        self.time_words, at = self.words(content, at)
        code = content[at:]
        self.coder = Mixer(code, count * (32 if self.many else 16)) if self.mixing else NibbleCoder(code)
        self.past = []  # address, kind, time, rank
        self.match, self.moved = Follower(M32, 1), Follower(4095, 2)
        self.followers, self.on_pages, self.pages = {}, {}, []
        self.last, self.before, self.tokens = [0] * 256, [0] * 256, [0] * 256
        self.kinds, self.coded_tokens, self.addresses, self.times = [0] * 8, [0] * 4, [0] * 2, [0] * 3
        self.record = self.record_before = self.two = self.three = 0
        self.shape = self.shapes2 = self.shapes2_before = self.shapes4 = 0
        self.count = count

    @staticmethod
    def words(content, at):
        count, words = content[at], []
        at += 1
        for _ in range(count):
            word = shift = 0
            while True:
                word |= (content[at] & 127) << shift
                shift, at = shift + 7, at + 1
                if content[at - 1] < 128:
                    break
            words.append(word & M32)
        return words, at

    def contexts(self, first, shared, few, many):
        """The first context is as given; the others are hashed with what they share."""
        others = (few if self.mixing else []) + (many if self.many else [])
        return [first] + [hash2(context, shared) for context in others]

    def kinds4(self):
        return sum(kind << 8 * i for i, kind in enumerate(self.kinds[:4])) if self.mixing else 0

    def number(self, words, contexts, place, select, predictor):
        """A number of words and its word."""
        nibble = self.coder.decode(contexts, place, select)
        if nibble < 15:
            return nibble, words[nibble]
        contexts = [hash2(predictor, 1)] + [hash2(context, 1) for context in contexts[1:]]
        high = self.coder.decode(contexts, place + 1, 1932)
        contexts = [hash2(predictor, high + 16)] + [hash2(context, high + 16) for context in contexts[1:]]
        number = 15 + (high << 4 | self.coder.decode(contexts, place + 2, 1932))
        if number < 255:
            return number, words[number]
        word = 0
        for i in range(7, -1, -1):
            word = word << 4 | self.coder.decode([(i | word << 4) & M32], place + 3, 1932)
        return 255, word

    def kind(self):
        match, moved, past = self.match, self.moved, self.past
        sure = trust(match.length) * 8 + trust(moved.length)
        expected = past[match.at][1] if match.length else past[moved.at][1] if moved.length else 256
        few = [hash2(self.kinds4(), self.kinds[4] << 8 | self.kinds[5]) if self.past else 0, self.shapes4]
        times = hash2(self.kinds4(), hash2(self.times[0], self.times[1]))
        many = [self.record, self.two, self.shapes2, times]
        contexts = self.contexts(hash2(self.kinds[0] | expected << 8, sure), expected, few, many)
        return self.number(self.kind_words, contexts, 0, sure, hash2(self.kinds4() & 0xFFFF, expected))

    def look_out(self, kind):
        match, moved, past = self.match, self.moved, self.past
        self.matched = match.length > 0 and past[match.at][1] == kind
        self.is_moved = moved.length > 0 and past[moved.at][1] == kind and past[moved.at][3] < len(self.pages)
        self.sure = self.matched * trust(match.length) * 8 + self.is_moved * trust(moved.length)
        self.follower = index16(self.record) ^ (kind & 15)
        follower = self.followers.get(self.follower, 0)
        stride = 2 * self.last[kind] - self.before[kind] & M32
        g0 = past[match.at][0] if self.matched else follower
        g1 = self.pages[past[moved.at][3]] << 12 | past[moved.at][0] & 4095 if self.is_moved else follower
        self.guesses = [g0, g1, follower, stride]
        self.agreement = (g0 == g1) | (g0 == follower) << 1 | (g0 == stride) << 2 | (g1 == follower) << 3

    def address(self, kind):
        last, before, shared = self.last[kind], self.before[kind], kind | self.agreement << 8
        few = [self.shapes2, last, self.tokens[kind]]
        many = [
            self.record,
            hash2(last >> 12, self.addresses[0] >> 12),
            hash2(self.kinds4(), self.sure),
            hash2(last, before),
        ]
        contexts = self.contexts(hash2(shared, self.sure), shared, few, many)
        token = self.token = self.coder.decode(contexts, 8, 64 + self.sure + 64 * self.agreement)
        if token < 4:
            return self.guesses[token]
        if token == 15:
            page = self.page(kind)
        else:
            page = self.pages[token - 7] if token > 6 else [last, self.guesses[0], self.guesses[1]][token - 4] >> 12
        return page << 12 | self.offset(kind, page)

    def page(self, kind):
        known, page0, page1 = 1, self.addresses[0] >> 12, self.addresses[1] >> 12
        for i in range(5):
            shared = hash2(known, kind)
            many = [self.record, page0, hash2(page0, page1), self.shapes2]
            contexts = self.contexts(shared, shared, [self.last[kind] >> 12], many)
            known = known << 4 | self.coder.decode(contexts, 12 + i, 1088 + i)
        return known & 0xFFFFF

    def offset(self, kind, page):
        on_page, last = self.on_pages.get(index16(page), 0) & 4095, self.last[kind] & 4095
        offsets = [last, on_page, self.guesses[0] & 4095, self.guesses[1] & 4095]
        known, equal = 1, 15
        for i in (2, 1, 0):
            digits = [offset >> 4 * i & 15 for offset in offsets]
            following, shared = digits[1] | digits[0] << 4, hash2(known, kind)
            few = [
                hash2(last, self.before[kind] & 4095),
                page,
                hash2(page, on_page),
                hash2(following | (equal & 3) << 8, self.guesses[3] >> 4 * i & 15),
            ]
            many = [
                self.shape,
                hash2(page, self.record),
                hash2(equal >> 2 | digits[2] << 2 | digits[3] << 6, self.sure),
            ]
            first = hash2((known & 15 if i == 0 else known) << 8 | following, kind)
            contexts = self.contexts(first, shared, few, many)
            if self.mixing:
                contexts.insert(1, 1)
            select = 1100 + (self.token * 16 + equal) * 3 + i
            nibble = self.coder.decode(contexts, 9 + i, select)
            known = known << 4 | nibble
            for j in range(4):
                equal &= ~((digits[j] != nibble) << j)
        return known & 4095

    def time(self, kind, address):
        match, moved, past = self.match, self.moved, self.past
        expected = past[match.at][2] if self.matched else past[moved.at][2] if self.is_moved else 256
        sure = 8 * trust(match.length) if match.length and past[match.at][0] == address else 0
        if moved.length and (past[moved.at][0] ^ address) & 4095 == 0:
            sure += trust(moved.length)
        base = hash2(kind | self.kinds[0] << 8 | trust(match.length) << 16, expected)
        here, shape = hash2(address, kind), hash2(address & 4095, kind)
        differing = address ^ self.addresses[0]
        far = differing.bit_length() - 1 if differing else 32
        kinds2, times = self.kinds4() & 0xFFFF, self.times
        few = [
            hash2(kinds2, times[0] << 8 & M32 | far),
            hash2(times[0], times[1]),
            hash2(shape, self.shape),
            hash2(self.token, kinds2 | self.coded_tokens[0] << 16),
        ]
        many = [
            hash2(here, self.record),
            hash2(far, self.kinds[0]),
            here,
            hash2(times[0], hash2(times[1], times[2])),
            hash2(address & 4095, times[0]),
        ]
        contexts = self.contexts(base, kind, few, many)
        return self.number(self.time_words, contexts, 4, 1868 + sure, hash2(kind, expected))[1]

    def touch(self, page):
        rank = self.pages.index(page) if page in self.pages else 32
        self.pages = ([page] + [other for other in self.pages if other != page])[:32]
        return rank

    def remember(self, kind, address, time):
        page = address >> 12
        self.past.append((address, kind, time, self.touch(page)))
        self.followers[self.follower] = address
        self.on_pages[index16(page)] = address
        self.before[kind], self.last[kind] = self.last[kind], address
        self.tokens[kind] = self.tokens[kind] << 4 & M32 | self.token
        record, shape = hash2(address, kind), hash2(address & 4095, kind)
        self.two = hash2(record, self.record)
        self.three = hash2(self.two, self.record_before)
        self.record_before, self.record = self.record, record
        shapes2 = hash2(shape, self.shape)
        self.shapes4 = hash2(shapes2, self.shapes2_before)
        self.shapes2_before, self.shapes2, self.shape = self.shapes2, shapes2, shape
        self.kinds = [kind] + self.kinds[:7]
        self.coded_tokens = [self.token] + self.coded_tokens[:3]
        self.addresses = [address] + self.addresses[:1]
        self.times = [time] + self.times[:2]

    def decode(self):
        out = []
        for i in range(self.count):
            if i > 0:
                self.match.move(self.past, self.three, i)
                self.moved.move(self.past, self.shapes4, i)
            kind, head = self.kind()
            self.look_out(kind)
            address = self.address(kind)
            time = self.time(kind, address)
            self.remember(kind, address, time)
            out.append(struct.pack("<III", address, head, time))
        self.coder.check_end()
        return b"".join(out)


# --- files --------------------------------------------------------------------------------------------


def decode_member(codec, content, count):
    if codec == 1:
        return zlib.decompress(content, -15)
    if codec != 2:
        fail("codec %d" % codec)
    if content[0] == 0:
        return content[1:]
    return decode_columns(content, count) if content[0] == COLUMNS else Records(content, count).decode()


def members(data):
    """Codec, count, content and trailer of each data member with records."""
    at = 0
    while at < len(data):
        length = struct.unpack_from("<H", data, at + 14)[0]
        payload, size = data[at + 16 : at + 16 + length], struct.unpack_from("<I", data, at + 20)[0]
        count = struct.unpack_from("<I", payload, 8)[0]
        if payload[0] == 2 and count > 0:
            codec = payload[96] if payload[1] == 2 else 1
            yield codec, count, data[at + 16 + length : at + size - 8], struct.unpack_from("<II", data, at + size - 8)
        at += size


def main():
    with open(sys.argv[-1], "rb") as file:
        data = file.read()
    if sys.argv[1] == "--contents":
        print(*(content[0] for codec, _, content, _ in members(data) if codec == 2))
        return
    for codec, count, content, trailer in members(data):
        try:
            records = decode_member(codec, content, count)
        except (IndexError, StopIteration, struct.error, zlib.error):
            fail("a member is damaged")
        if (zlib.crc32(records), len(records)) != trailer:
            fail("a member decodes to other records")
        sys.stdout.buffer.write(records)


main()
