"""Runs a program as a job, in a group of its own, as shells do, and tells what becomes of it. Whenever it
stops it is continued: all of the group, what was run alone, or the process whose number is in a file.

usage: exec_job.py group|alone|FILE PROGRAM [ARGUMENT...]"""
import os
import signal
import sys

whom, program = sys.argv[1], sys.argv[2:]
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.execvp(program[0], program)
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        break
    print("stopped by", os.WSTOPSIG(status), flush=True)
    if whom == "group":
        os.killpg(job, signal.SIGCONT)
    elif whom == "alone":
        os.kill(job, signal.SIGCONT)
    else:
        with open(whom) as number:
            os.kill(int(number.read()), signal.SIGCONT)
print("ended", os.waitstatus_to_exitcode(status))
