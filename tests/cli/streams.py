#!/usr/bin/env python3
"""Standard streams that are full, closed or broken, and Ctrl-C, compared with CPython 3.11.

Exit status: 0 if all is well, 1 if anything differs.
"""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import oracle  # noqa: E402

# Says on stderr at which calls of print and flush what was raised.
COUNTED = """
import sys
failed = []
for i in range(5000):
    try:
        print({what}, flush={flush})
    except OSError as e:
        failed.append((i, type(e).__name__, e.errno, e.filename))
sys.stderr.write(repr((len(failed), failed[:6])) + "\\n")
"""

# Name, program, redirections of the shell.
CASES = [
    ("full at exit", "print(1)", ">/dev/full"),
    ("full in mid-run", "for i in range(100000): print(i)", ">/dev/full"),
    ("full, flushed", "print(1, flush=True)", ">/dev/full"),
    ("full, sys.exit", "import sys\nprint(1)\nsys.exit(3)", ">/dev/full"),
    ("full, error", "print(1)\n1/0", ">/dev/full"),
    ("full, long text", "print('x' * 100000)\nprint('not reached')", ">/dev/full"),
    ("full, method", "import sys\nsys.stdout.write('x' * 9000)\nsys.stdout.flush()", ">/dev/full"),
    ("full, finaliser", "class A:\n    def __del__(self): print('end')\na = A()", ">/dev/full"),
    ("finaliser", "class A:\n    def __del__(self): print('end')\na = A()\nprint(1)", ""),
    ("stderr full", "import sys\ntry:\n    print('x', file=sys.stderr)\nexcept OSError as e:\n    print(e)", "2>/dev/full"),
    ("stderr full, error", "print(1)\n1/0", "2>/dev/full"),
    ("counted", COUNTED.format(what="i", flush=False), ">/dev/full"),
    ("counted, flush", COUNTED.format(what="i", flush="i % 100 == 0"), ">/dev/full"),
    ("counted, long", COUNTED.format(what="'x' * (i * 37 % 9001)", flush=False), ">/dev/full"),
    ("counted, long texts", COUNTED.format(what="'x' * (i % 2 * 20000), 'y' * 8191", flush=False), ">/dev/full"),
    # The reader is gone by then.
    ("counted, pipe", "import time\ntime.sleep(0.3)" + COUNTED.format(what="i", flush=False), "| true"),
    ("no stdout", "import sys\nprint(1, flush=True)\nsys.stderr.write(repr(sys.stdout))\nsys.stdout.write('x')", ">&-"),
    ("no stdout, file", "print(1)\nwith open('/dev/null', 'w') as f:\n    print(2, file=f)\n    f.flush()\nprint(3)", ">&-"),
    ("no stderr", "import sys\nprint(sys.stderr)\n1/0", "2>&-"),
    ("no stdin", "import sys\nprint(sys.stdin)\ntry:\n    input()\nexcept RuntimeError as e:\n    print(e)", "<&-"),
    ("input without stdout", "import sys\ntry:\n    input('?')\nexcept RuntimeError as e:\n    sys.stderr.write(str(e))", ">&-"),
    ("prompt", "x = input('name? ')\nprint(x + '!')", "</dev/null"),
]

# Loops that only Ctrl-C ends.
LOOPS = {
    "while": "print('go', flush=True)\nwhile True:\n    pass\n",
    "function": "def f(n):\n    i = 0\n    while i < n:\n        i += 1\n        i -= 1\nprint('go', flush=True)\nf(5)\n",
    "numbers": "def f():\n    x = 0.5\n    while True:\n        for i in range(1000):\n            x = x * 0.5 + i\nprint('go', flush=True)\nf()\n",
    "calls": "def g(x): return x + 1\ndef f():\n    x = 0\n    while True: x = g(x) % 7\nprint('go', flush=True)\ntry:\n    f()\nfinally:\n    print('out')\n",
    "sleep": "import time\nprint('go', flush=True)\ntime.sleep(60)\n",
    "input": "print('go', flush=True)\ninput()\n",
    "reading text": "f = open('/dev/stdin')\nprint('go', flush=True)\nf.read()\n",
    "reading bytes": "f = open('/dev/stdin', 'rb', 0)\nprint('go', flush=True)\nf.read(5)\n",
    "reading, caught": "f = open('/dev/stdin', 'rb')\nprint('go', flush=True)\ntry:\n    f.readline()\n"
                       "except KeyboardInterrupt as e:\n    print(repr(e), f.closed, f.read())\n",
    "caught": "print('go', flush=True)\ntry:\n    i = 0\n    while True: i += 1\nexcept KeyboardInterrupt as e:\n    print(repr(e))\n",
    "recursion": "def f(n):\n    return f(n - 1) + f(n - 1) if n else 0\nprint('go', flush=True)\nf(90)\n",
    "recursion of methods": "class A:\n    def f(self, *, n):\n        return self.f(n=n - 1) + self.f(n=n - 1) if n else 0\n"
                            "print('go', flush=True)\nA().f(n=90)\n",
    "recursion in C": "def f(n):\n    return max([n - 1, n - 1], key=f) if n else 0\nprint('go', flush=True)\nf(90)\n",
    "recursion of generators": "def f(n):\n    if n:\n        yield from f(n - 1)\n        yield from f(n - 1)\n"
                               "print('go', flush=True)\nlist(f(90))\n",
    "finaliser": "class A:\n    def __del__(self): print('end')\na = A()\nprint('go', flush=True)\nwhile True: pass\n",
}

# Loops in C, which CPython does not leave.
C_LOOPS = {
    "C loop": "print('go', flush=True)\n10 in iter(int, 1)\n",
    "C loops": "import itertools, collections\nprint('go', flush=True)\ncollections.deque(itertools.count(), maxlen=0)\n",
    "maximum": "print('go', flush=True)\nmax(iter(int, 1))\n",
}

LEVELS = ["generic", "inca", "nama"]


def shell(command, program):
    done = subprocess.run(["bash", "-c", f'set -o pipefail; "${{@}}" {command}', "bash", *program],
                          env=oracle.clean_environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return done.stdout, done.stderr, done.returncode


def interrupted(program):
    """Output, stderr and status of a program that gets SIGINT when it has said that it runs."""
    process = subprocess.Popen(program, env=oracle.clean_environment(), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    begin = process.stdout.readline()
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    if "stdin" in program[-1]:
        time.sleep(0.05)  # it is interrupted before communicate() ends its input
    try:
        out, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += b"(killed)"
    # Where in its loop it was is chance.
    return begin + out, [line for line in err.splitlines() if line[:2] != b"  "], process.returncode


# Writing to a reader who does not read.
BLOCKED = {
    "print": "while True: print('x' * 10000)",
    "text file": "f = open('/dev/stdout', 'w')\nwhile True: f.write('x' * 1000)",
    "large writes": "f = open('/dev/stdout', 'wb')\nwhile True: f.write(b'x' * 100000)",
    "unbuffered": "f = open('/dev/stdout', 'wb', 0)\nwhile True: f.write(b'x' * 100000)",
    "and is caught": "import sys\nf = open('/dev/stdout', 'wb', 0)\ntry:\n    while True: f.write(b'x' * 100000)\n"
                     "except KeyboardInterrupt as e:\n    sys.stderr.write(repr(e))",
}


def blocked(program, text):
    """A program that waits for a reader who does not read: Ctrl-C ends that too."""
    reader, writer = os.pipe()
    process = subprocess.Popen([*program, "-c", text], stdout=writer,
                               stderr=subprocess.PIPE, env=oracle.clean_environment())
    while select.select([], [writer], [], 0)[1]:  # until the pipe is full
        time.sleep(0.05)
    os.close(writer)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    os.close(reader)  # the flush at exit finds it closed
    out, err = process.communicate(timeout=20)
    return b"KeyboardInterrupt" in err, process.returncode


def on_terminal(program):
    """What a program says whose standard output and errors are a terminal."""
    ours, theirs = os.openpty()
    text = "import sys; print(*[f.isatty() for f in (sys.stdin, sys.stdout, sys.stderr)])"
    process = subprocess.Popen([*program, "-c", text], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                               env=oracle.clean_environment())
    os.close(theirs)
    status = process.wait(timeout=20)
    out = os.read(ours, 1000)
    os.close(ours)
    return out, status


def compare(name, expected, got):
    if expected == got:
        return 0
    print(f"{name}: expected {expected}\n{' ' * len(name)}  got      {got}")
    return 1


def main():
    dynvm, python = sys.argv[1], oracle.find_cpython()
    if python is None:
        print("no CPython 3.11: comparisons left out")
        return 0
    failed = 0
    for name, text, command in CASES:
        failed += compare(name, shell(command, [python, "-c", text]), shell(command, [dynvm, "-c", text]))
    for name, text in LOOPS.items():
        expected = interrupted([python, "-c", text])
        for level in LEVELS:
            failed += compare(f"{name} {level}", expected, interrupted([dynvm, f"--level={level}", "-c", text]))
    for name, text in C_LOOPS.items():
        expected = b"go\n", [b"Traceback (most recent call last):", b"KeyboardInterrupt"], -signal.SIGINT
        failed += compare(name, expected, interrupted([dynvm, "-c", text]))
    for name, text in BLOCKED.items():
        failed += compare(f"blocked {name}", blocked([python], text), blocked([dynvm], text))
    failed += compare("terminal", on_terminal([python]), on_terminal([dynvm]))
    print(f"{len(CASES) + len(LOOPS) * len(LEVELS) + len(C_LOOPS) + len(BLOCKED) + 1} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
