"""Runs a program as a job in a separate process group, as shells do, and prints its stops and its end. After each
stop continues the whole group, the program alone, or the process whose number is in a file.

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
