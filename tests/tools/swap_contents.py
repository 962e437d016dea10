#!/usr/bin/env python3
"""Exchanges the contents of two data members of a capture file, with right checksums.

usage: swap_contents.py FILE OUT
The two are the first neighbours with the same number of records and the same codec. Their headers stay where they are.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from verify_twice import split  # noqa: E402


def codec(member):
    return member.get(96, 1) if member.get(1, 1) == 2 else 1


def main():
    with open(sys.argv[1], "rb") as file:
        members = split(file.read())
    data = [member for member in members if member.kind == 2 and member.get(8, 4) > 0]
    for one, other in zip(data, data[1:]):
        if one.get(8, 4) == other.get(8, 4) and codec(one) == codec(other):
            one.stream, other.stream = other.stream, one.stream
            one.trailer, other.trailer = other.trailer, one.trailer
            one.resize()
            other.resize()
            break
    else:
        sys.exit("no two members have the same number of records")
    with open(sys.argv[2], "wb") as out:
        out.write(b"".join(member.bytes() for member in members))


main()
