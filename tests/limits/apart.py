"""What becomes of a program whose decomposition runs in a process of its own (ext/ndarray/linear/apart.h).

    apart.py DYNVM

A child that is killed is an error of the program; one that stands still, or cannot be made, costs nothing but time; none is
left behind, whether the program ends by Ctrl-C or is killed.
"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time

PROGRAM = """
import ndarray as np
m = np.random.default_rng(1).random((SIZE, SIZE))
np.linalg.eigvalsh(m[:9, :9])  # which reads a file
print("ready", flush=True)
input()
try:
    print(bool(abs(np.linalg.eigvalsh(m @ m.T)[-1] / np.linalg.norm(m) ** 2 - 1) < 0.5))
except (MemoryError, KeyboardInterrupt) as e:
    print(type(e).__name__, e)
"""
LARGE, LITTLE = 3000, 600  # which takes many seconds, and less than one


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def wait_for(what):
    for _ in range(3000):
        found = what()
        if found:
            return found
        time.sleep(0.01)
    sys.exit("limits/apart: nothing happened for 30 seconds")


def is_gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


class Run:
    def __init__(self, size):
        command = [sys.argv[1], "-c", PROGRAM.replace("SIZE", str(size))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit("limits/apart: the program does not begin")

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def child(self):
        self.go()
        return wait_for(lambda: children(self.process.pid))[0]

    def check(self, name, expected):
        said = self.process.communicate()[0].strip()
        if said != expected:
            sys.exit(f"limits/apart: {name}: {said!r}, not {expected!r}")
        print("ok", name)


def main():
    try:
        ctypes.CDLL("libopenblas.so.0")
    except OSError:
        print("no OpenBLAS here")
        sys.exit(77)
    run = Run(LITTLE)
    run.go()
    run.check("a child that answers", "True")

    run = Run(LARGE)
    os.kill(run.child(), signal.SIGKILL)
    run.check("a child that is killed", "MemoryError the process that computed this was killed")

    run = Run(LITTLE)
    child = run.child()
    os.kill(child, signal.SIGSTOP)
    run.check("a child that stands still", "True")
    wait_for(lambda: is_gone(child))

    run = Run(LITTLE)
    resource.prlimit(run.process.pid, resource.RLIMIT_NOFILE, (3, 3))
    run.go()
    run.check("no child", "True")

    run = Run(LARGE)
    child = run.child()
    run.process.send_signal(signal.SIGINT)
    run.check("an interrupt", "KeyboardInterrupt")
    wait_for(lambda: is_gone(child))

    run = Run(LARGE)
    child = run.child()
    run.process.kill()
    wait_for(lambda: is_gone(child))
    print("ok the parent is killed")


main()
