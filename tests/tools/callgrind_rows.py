"""Reads a profile in Callgrind's format with instructions, by its specification, and prints its sums, a row each:

  function NAME COST                      own instructions
  instruction ADDRESS COST                that are above 0
  jump ADDRESS TARGET COUNT               followed
  jcnd ADDRESS TARGET COUNT EXECUTIONS
  call ADDRESS NAME COUNT                 of a function

usage: callgrind_rows.py PROFILE [FIRST-LAST...]    addresses that are printed, hexadecimal
"""

import collections
import re
import sys


class Profile:
    def __init__(self, path):
        self.functions = collections.Counter()
        self.instructions = collections.Counter()
        self.jumps = collections.Counter()
        self.conditional = {}
        self.calls = collections.Counter()
        self.names = {}
        self.position = [0, 0]
        self.function = self.callee = None
        self.lines = iter(open(path, encoding="utf-8"))
        for line in self.lines:
            self.read(line.split("#")[0].strip())

    def name(self, text):
        """(NUMBER) NAME defines a number, (NUMBER) uses it."""
        number, name = re.fullmatch(r"(?:\((\d+)\))? ?(.*)", text).groups()
        if number and name:
            assert self.names.setdefault(number, name) == name, text
        return name or self.names[number]

    def positions(self, words):
        """Address and line, absolute or relative to those of the last line of costs."""
        assert len(words) >= 2, words
        read = []
        for word, last in zip(words[:2], self.position):
            read.append(last if word == "*" else last + int(word, 0) if word[0] in "+-" else int(word, 0))
        return read

    def source(self):
        """The line after a call or jump."""
        words = next(self.lines).split()
        self.position = self.positions(words)
        return self.position[0], words[2:]

    def read(self, line):
        if re.match(r"[0-9+*-]", line):
            words = line.split()
            assert len(words) == 3, line
            self.position = self.positions(words)
            self.functions[self.function] += int(words[2])
            self.instructions[self.position[0]] += int(words[2])
        elif "=" in line:
            self.specify(*line.split("=", 1))

    def specify(self, key, value):
        if key == "fn":
            self.function = self.name(value)
        elif key == "cfn":
            self.callee = self.name(value)
        elif key == "calls":
            count, words = int(value.split()[0]), value.split()[1:]
            self.positions(words)
            address, costs = self.source()
            assert len(costs) == 1, value
            self.calls[address, self.callee] += count
        elif key in ("jump", "jcnd"):
            words = value.split()
            target = self.positions(words[1:])[0]
            address, costs = self.source()
            assert not costs, value
            if key == "jump":
                self.jumps[address, target] += int(words[0])
            else:
                count, executions = map(int, words[0].split("/"))
                old = self.conditional.get((address, target), (0, 0))
                self.conditional[address, target] = old[0] + count, old[1] + executions
        else:
            assert key in ("ob", "cob", "fl", "fi", "fe", "cfi", "cfl", "jfi", "jfn"), key


def main():
    ranges = [tuple(int(end, 16) for end in part.split("-")) for part in sys.argv[2:]] or [(0, 2**64)]

    def wanted(address):
        return any(first <= address < last for first, last in ranges)

    profile = Profile(sys.argv[1])
    rows = []
    for name, cost in profile.functions.items():
        rows.append(f"function {name} {cost}")
    for address, cost in profile.instructions.items():
        if wanted(address) and cost > 0:
            rows.append(f"instruction {address:#x} {cost}")
    for (address, target), count in profile.jumps.items():
        if wanted(address):
            rows.append(f"jump {address:#x} {target:#x} {count}")
    for (address, target), (count, executions) in profile.conditional.items():
        if wanted(address):
            rows.append(f"jcnd {address:#x} {target:#x} {count} {executions}")
    for (address, callee), count in profile.calls.items():
        if wanted(address):
            rows.append(f"call {address:#x} {callee} {count}")
    print("\n".join(sorted(rows)))


main()
