"""A CPython 3.11 that runs many programs, each as if it were a script of its own.

Reads requests from standard input, one JSON list of [name, source] a line, and answers each with a line: a
list of [stdout, stderr, status] in latin-1, or null for a program that took too long or too much memory.

The programs of a request run one after the other in a forked child; what kills the child costs one program.
Uncaught exceptions go through the interpreter's own printer (sys.excepthook), without the frame of this file,
so that tracebacks are those of a script; the programs must be in files for their lines to be quoted.
"""

import gc
import io
import json
import os
import re
import resource
import signal
import sys
import tempfile
import types

SECONDS = 5  # of CPU time, for one program
MEMORY = 1 << 30  # half of what driver.c allows dynvm
# What depends on the memory of the machine, or on how deep C functions of CPython call each other.
NOT_COMPARED = ("MemoryError", "recursion depth exceeded in", "recursion depth exceeded while")
# The hash of a nan is its address, so where it stands in a set is chance; as keys of dicts two nans are one in dl.
NAN_AS_KEY = re.compile(r"\{(?:[^{}:]*, )?nan(?:, [^{}:]*)?\}|\{(?:[^{}]*, )?nan: ")
FRAMES_ABOVE = 7  # frames of this file above a program's, so that recursion ends where a script's does
# A frame of a library module: which of them are written in Python is no concern of dl's.
LIBRARY_FRAME = re.compile(r'^  File "/[^"]*/lib/python3[^\n]*\n(?:    [^\n]*\n)*', re.M)


# In the first line of programs that are compared until their process has ended (generate_deaths.py).
TO_THE_END = re.compile(r"#.*, to the end\.\n")


def out_of_time(number, frame):
    os._exit(9)


def stream(errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors, newline="\n", write_through=True)


def status_of(code) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def execute(name: str, source: str) -> int:
    """Runs a program as `python3 name` would; its exit status."""
    module = types.ModuleType("__main__")
    module.__file__ = name
    sys.modules["__main__"] = module
    try:
        exec(compile(source, name, "exec"), module.__dict__)
    except SystemExit as e:
        return status_of(e.code)
    except BaseException as e:
        own = e.__traceback__.tb_next
        sys.excepthook(type(e), e.with_traceback(own), own)
        return 1
    return 0


def run(name: str, source: str) -> list:
    with open(name, "w", encoding="utf-8") as file:
        file.write(source)
    sys.stdout, sys.stderr = stream("surrogateescape"), stream("backslashreplace")
    status = execute(name, source)
    texts = [s.buffer.getvalue().decode("latin-1") for s in (sys.stdout, sys.stderr)]
    os.unlink(name)
    sys.stdout = sys.stderr = stream("backslashreplace")
    gc.collect()  # lest what a program has left dies in the next one
    return [texts[0], LIBRARY_FRAME.sub("", texts[1]), status]


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGVTALRM, out_of_time)
    sys.setrecursionlimit(1000 + FRAMES_ABOVE)


class LastProgram(Exception):
    """Ends this process as a script's is ended."""


def run_to_the_end(name: str, source: str):
    """The result of a program in a process of its own, with what dies when that ends; None: it was killed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            limit()
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            with open(name, "w", encoding="utf-8") as file:
                file.write(source)
            status = execute(name, source)
            os.unlink(name)
            raise LastProgram(status)  # main() ends with it: nothing may hold the program's objects when the interpreter ends
        ended = os.waitpid(child, 0)[1]
        if not os.WIFEXITED(ended) or os.WEXITSTATUS(ended) == 9:
            return None
        texts = [file.seek(0) or file.read().decode("latin-1") for file in (out, err)]
    return [texts[0], LIBRARY_FRAME.sub("", texts[1]), os.WEXITSTATUS(ended)]


def serve_some(programs: list, first: int, pipe: int) -> None:
    """The child: runs programs from `first` on, and writes each result as a line."""
    limit()
    with open(pipe, "w") as answers:
        for name, source in programs[first:]:
            if TO_THE_END.match(source):
                break
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            result = run(name, source)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            answers.write(json.dumps(result) + "\n")
            answers.flush()


def incomparable(out: str, err: str) -> bool:
    # A warm CPython points at the instruction in front of the load that finds a local unassigned.
    if "\nUnboundLocalError: " in err:
        return True
    return any(mark in out + err for mark in NOT_COMPARED) or NAN_AS_KEY.search(out + err) is not None


def answer(programs: list) -> list:
    results = []
    while len(results) < len(programs):
        if TO_THE_END.match(programs[len(results)][1]):
            results.append(run_to_the_end(*programs[len(results)]))
            continue
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            try:
                serve_some(programs, len(results), writer)
                os._exit(0)
            finally:
                os._exit(8)
        os.close(writer)
        with open(reader) as lines:
            results += [json.loads(line) for line in lines]
        ended = os.waitpid(child, 0)[1]
        if len(results) < len(programs) and ended != 0:
            results.append(None)
    return [None if r and incomparable(r[0], r[1]) else r for r in results]


def main() -> None:
    real = sys.stdout
    if len(sys.argv) > 1 and sys.argv[1]:
        __import__(sys.argv[1])  # once for all programs
    gc.freeze()
    for line in sys.stdin:
        real.write(json.dumps(answer(json.loads(line))) + "\n")
        real.flush()


if __name__ == "__main__":
    try:
        main()
    except LastProgram as last:
        code = last.args[0]
    else:
        code = 0
    sys.exit(code)
