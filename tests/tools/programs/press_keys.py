"""Types into a program on a pseudo-terminal: press_keys.py PROGRAM KEYS EXPECTED [KEYS EXPECTED]...

After each KEYS waits until EXPECTED appears after it, for at most a minute, and clears the line with control-U; \\t is a
tab. The first KEYS are a line that is entered.
"""
import os
import pty
import re
import select
import sys
import time

program, steps = sys.argv[1].split(), sys.argv[2:]
process, terminal = pty.fork()
if process == 0:
    os.environ["TERM"] = "dumb"
    os.environ["COLUMNS"] = "200"
    os.execvp(program[0], program)


def expect(text):
    seen, end = "", time.monotonic() + 60
    while text not in seen:
        if time.monotonic() > end or not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            sys.exit(f"no {text!r} in {seen!r}")
        try:
            part = os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            sys.exit(f"ended: no {text!r} in {seen!r}")
        seen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|.\x08", "", seen + part)


for number in range(0, len(steps), 2):
    keys = steps[number].replace("\\t", "\t")
    os.write(terminal, (keys + ("\n" if number == 0 else "")).encode())
    expect(steps[number + 1])
    os.write(terminal, b"\x15")
os.close(terminal)
