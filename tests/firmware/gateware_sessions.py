"""Several sessions with one simulated board: those after the first have the trace's times, too. Standard input may end
before the board has answered.

usage: gateware_sessions.py BUSTAP-GATEWARE TRACE.byu.gz
"""

import gzip
import struct
import subprocess
import sys

IDENTIFY, CONFIGURE, ARM, STOP = range(1, 5)
RECORDS, END, REPLY = 2, 5, 6


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def command(code, body=b""):
    header = struct.pack("<IBBHI", 0x3CC70DA5, 1, code, len(body), code)
    return header + struct.pack("<I", crc32c(header)) + body + struct.pack("<I", crc32c(body))


def read_frame(board):
    """The frame's kind and payload."""
    header = board.stdout.read(64)
    assert header[:4] == b"\xa5\x0d\xb7\x5a" and crc32c(header[:60]) == int.from_bytes(header[60:], "little")
    payload = board.stdout.read(int.from_bytes(header[58:60], "little"))
    assert crc32c(payload) == int.from_bytes(board.stdout.read(4), "little")
    return header[5], payload


def session(board, number):
    """At least 100 records of a session."""
    board.stdin.write(command(ARM, struct.pack("<I", number)))
    board.stdin.flush()
    records, kind = [], 0
    while kind != END:
        before = len(records)
        kind, payload = read_frame(board)
        if kind == RECORDS:
            records += struct.iter_unpack("<QI", payload)
        if before < 100 <= len(records):
            board.stdin.write(command(STOP))
            board.stdin.flush()
    return records


def check_sessions(program, path):
    with gzip.open(path) as file:
        trace = list(struct.iter_unpack("<QI", file.read()))
    board = subprocess.Popen([program, f"replay={path}", "bus=10M"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    # all types and processors, plain, flushed after 100 us
    board.stdin.write(command(CONFIGURE, struct.pack("<IB75xIIII", 0x1FFFF, 0xFF, 0, 100, 0, 0)))
    start = 0
    for number in range(1, 5):
        records = session(board, number)
        # Requests between sessions are in none; the first time of a session is since ARM.
        while records[1:] != trace[start + 1 : start + len(records)]:
            start += 1
            assert start < len(trace), number
        start += len(records)
    board.kill()
    board.wait()


def check_end(program):
    """The answer to each command that is followed by the end, and the end of a session."""
    for link in ("60M", "100k"):
        output = subprocess.run(
            [program, "smp=1", f"link={link}"], input=command(IDENTIFY) * 3, stdout=subprocess.PIPE, check=True
        ).stdout
        assert len(output) == 3 * (64 + 8 + 96 + 4), (link, len(output))
    commands = command(ARM, struct.pack("<I", 1)) + command(STOP)
    output = subprocess.run([program, "smp=1"], input=commands, stdout=subprocess.PIPE, check=True).stdout
    assert output[-164 + 5] == END


check_sessions(sys.argv[1], sys.argv[2])
check_end(sys.argv[1])
