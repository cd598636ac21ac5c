#!/usr/bin/env python3
"""The command line and the REPL of dynvm, compared with CPython 3.11 where there is one.

Exit status: 0 if all is well, 1 if anything differs.
"""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import oracle  # noqa: E402

IMPORTS = HERE.parent / "modules" / "import" / "imports"

# Sessions of the REPL.
SESSIONS = {
    "values": "x = 1\nx\nNone\n'a' * 2\n_\n[_, 1]\n",
    "blocks": "if 1:\n    print('a')\n    2 + 1\n\nfor i in range(2): i\n\ndef f(a,\n  b): return a\n\nf(3,\n4)\n",
    "lines": '"""ab\nc"""\nx = \\\n5\nx\n(1,\n\n2)\n# only a comment\n\n',
    "errors": "1/0\na b\nimport nosuch\ndef f():\n    return y\n\nf()\nx = (\n1]\n1\n",
    "classes": "class A:\n    x = 1\n    def f(self):\n        return self.x\n\nA().f()\ndef deco(f): return 7\n\n@deco\ndef g(): pass\n\ng\n",
    "exit": "import sys\nsys.exit(3)\nprint('not reached')\n",
    "message": "raise SystemExit('bye')\n",
    "hook": "import sys\ndef hook(v): print('<', v, '>')\n\nsys.displayhook = hook\n5\nNone\n",
    "no end": "1\nif 1:\n    2",
    "lost hook": "import sys\ndel sys.displayhook\n5\nsys.displayhook = sys.__displayhook__\n6\n",
    "excepthook": "import sys\n1/0\nsys.last_type, sys.last_value, sys.last_traceback is None\n"
                  "sys.excepthook = lambda t, v, tb: print('hook', v)\na b\nx\nsys.excepthook = 7\nx\n"
                  "def leave(*a): sys.exit(9)\n\nsys.excepthook = leave\nx\n",
    "prompts": "import sys\nsys.ps1, sys.ps2\nsys.ps1 = 'in> '\nif 1:\n  2\n\nsys.ps2 = 7\nif 1:\n  3\n\ndel sys.ps1\n4\n",
    "counting prompt": "import sys\nclass P:\n    n = 0\n    def __str__(self):\n        P.n += 1\n"
                       "        return f'{P.n}> '\n\nsys.ps1 = P()\n1\n(1,\n2)\nsys.ps2 = sys.ps1\n(1,\n2)\n",
    "help and quit": "help\nquit\nexit, help\nhelp(len)\nimport builtins\nbuiltins.quit is quit\nexi\nquit(3)\n1\n",
    "own quit": "quit = 5\nquit\ndel quit\nquit\nexit('bye')\n",
    "bad prompts": "import sys\nclass P:\n    def __str__(self): 1/0\n\nsys.ps1 = P()\n1\nsys.ps1 = '\\ud800'\n2\n"
                   "sys.ps1 = 'é> '\n3\nsys.ps2 = None\n(4,\n5)\n",
}

# All of sys.flags but hash_randomization, and the options that set them.
FLAGS = "import sys; print([f for i, f in enumerate(sys.flags) if i != 11])"
FLAG_OPTIONS = [["-c"], ["-dBc"], ["-OOqc"], ["-Ic"], ["-sPEc"], ["-Xdev", "-c"], ["-Sc"], ["-qic"]]

# Arguments and the input.
COMMANDS = [
    (["-c", "import sys; print(sys.argv, __name__); sys.exit('text')", "a", "-x"], ""),
    (["-c", "raise SystemExit"], ""),
    (["-c", "import sys; sys.exit(300)"], ""),
    (["-"], "import sys\nprint(sys.argv)\n1/0\n"),
    ([], "print('from stdin')\n"),
    (["-m", "doc"], ""),
    (["-m", "fail"], ""),
    (["-m", "nosuch"], ""),
    (["-m", "p"], ""),
    (["-m", "p.nosuch"], ""),
    (["nosuch.py"], ""),
    (["-i", "-c", "x = 5"], "x + 1\n"),
    (["-c", "print(help, quit, exit, type(help), type(quit)); exit('left')"], ""),
    (["-Sc", "import builtins; print(hasattr(builtins, 'help'), 'exit' in dir(builtins)); quit"], ""),
    (["-c", "help(len); help([].append); help(int.__add__); help('str.upper'); help('nosuch'); help(abs)"], ""),
    (["helped.py"], ""),
    # Python's options, bundled and with what they take behind them or in the next argument.
    (["-uBc", "import sys; print(sys.argv, sys.dont_write_bytecode)", "a", "-b"], ""),
    (["-cprint(5)"], ""),
    (["-sEmdoc", "-x"], ""),
    (["-qOi", "-c", "assert 0; print(__debug__)"], "__debug__\ndef f():\n    assert (x := 0)\n    return x\n\nf()\n"),
    (["-O", "-c", "def f():\n    'doc'\n    assert (yield), 'no'\nprint(list(f()), f.__doc__)\nassert (1, 2)"], ""),
    (["-OO", "-c", "'''m'''\ndef f(): 'f'\nclass C: 'c'\nprint(f.__doc__, C.__doc__, __doc__)"], ""),
    (["-I", "-c", "import sys; print('' in sys.path); import doc"], ""),
    (["-P", "own.py"], ""),
    (["-X", "utf8", "-Xa=b", "-X", "c=", "-c", "import sys; print(sys._xoptions, sys.flags.utf8_mode)"], ""),
    (["-X", "int_max_str_digits=700", "-c", "import sys; print(sys.flags.int_max_str_digits, len(str(10 ** 699))); str(10 ** 700)"], ""),
    # Library modules in dl that are programs.
    (["-m", "unittest", "-v", "checked"], ""),
    (["-m", "unittest", "checked.Doubling.test_numbers"], ""),
    (["-m", "unittest", "checked.py", "-k", "texts", "-f"], ""),
    (["checked.py", "-q", "Doubling.test_numbers"], ""),
    (["checked.py", "-h"], ""),
    (["checked.py", "--nosuch"], ""),
    (["-m", "doctest", "checked.py"], ""),
    (["-m", "doctest", "-v", "checked.py"], ""),
    (["-m", "doctest", "-o", "NOSUCH", "checked.py"], ""),
    (["-m", "doctest", "-h"], ""),
    (["-m", "timeit", "-u", "years"], ""),
    (["-m", "timeit", "-z"], ""),
    (["-m", "os"], ""),
    (["-Wi", "-W", "error", "-Wd::RuntimeWarning", "-c", "import sys; print(sys.warnoptions)"], ""),
    (["-Wi", "-c", "1 is 1"], ""),
    (["-W", "error", "-c", "print(1)\n2 (3)"], ""),
    # The module warnings: default filters, options, and its place in sys.modules.
    (["-c", "import warnings\nfor c in (UserWarning, DeprecationWarning, ImportWarning, ResourceWarning): warnings.warn('x', c)\n"
            "warnings.warn_explicit('y', DeprecationWarning, 'f.py', 2)\nprint([(a, m, c.__name__, o, l) for a, m, c, o, l in warnings.filters])"], ""),
    (["-W", "error::UserWarning", "-W", "ignore:no:UserWarning", "-Wonce:ON:", "-c", "import warnings\nfor i in 1, 2:\n"
            "    warnings.warn('No'); warnings.warn('once %d' % (i // 3))\nwarnings.warn('more')"], ""),
    (["-Wd::DeprecationWarning:other", "-We::DeprecationWarning:__main__:3", "-c", "import sys, warnings\n"
            "print(len(warnings.filters)); warnings.warn('x', DeprecationWarning)\nwarnings.warn('y', DeprecationWarning)"], ""),
    (["-Wdefault", "-c", "import warnings; warnings.warn('x', ImportWarning); eval('1 is 1')"], ""),
    (["-Xdev", "-c", "import warnings; warnings.warn('x', ResourceWarning, source=5)"], ""),
    (["-W", "error", "-c", "import warnings; warnings.filters.clear(); warnings.warn('x'); 1 / 0"], ""),
    (["-W", "error", "warns.py"], ""),
    (["-W", "error::SyntaxWarning", "-W", "ignore:'INT", "warns.py"], ""),
    (["-W", "error::SyntaxWarning", "-W", "ignore::Warning::2", "warns.py"], ""),
    (["-W", "ignore", "-W", "error::UserWarning", "warns.py"], ""),
    (["-W", "foo", "-W", "error::Foo", "-W", "a:b:c:d:e:f", "-W", "error::::-1", "-W", "d:::x:y", "-c", "1 is 1"], ""),
    (["--", "own.py"], ""),
    (["main_directory", "a", "b"], ""),
    (["-I", "./main_directory/"], ""),
    (["p"], ""),
    (["./p/"], ""),
    (["-m", "p.q.nosuch"], ""),
    (["-c", "return 5"], ""),
    # Bytes overtake text that was not flushed; reading as bytes, then as text what is left of a line.
    (["-c", "import sys; print('a'); o = sys.stdout.buffer; print(o.write(b'b\\xff\\n')); o.flush(); print('c');"
            " sys.stdout.flush(); o.write(bytearray(b'd\\n')); print('e'); o.writelines([b'f', b'g\\n'])"], ""),
    (["-c", "import sys; o = sys.stdout.buffer; print(o is sys.stdout.buffer, o, o.mode, o.name, o.fileno(), o.writable(),"
            " o.readable(), o.closed, sys.stdin.buffer); o.read()"], ""),
    (["-c", "import sys; o = sys.stdout.buffer; o.write('text')"], ""),
    (["-c", "import sys; sys.stderr.buffer.write(b'err\\n'); sys.stderr.buffer.flush(); sys.stderr.write('x\\n');"
            " o = sys.stdout.buffer; sys.stdout.close(); print(o.closed, file=sys.stderr); o.write(b'x')"], ""),
    (["-c", "import sys; i = sys.stdin.buffer; print(i.readline(), i.read(3), list(i), i.read(), i.readline())"], "one\ntwo\nthree\n4"),
    (["-c", "import sys; i = sys.stdin.buffer; print(i.read(), i.readlines())"], "\u00e9one\r\ntwo\n" * 200),
    (["-c", "import sys; i = sys.stdin.buffer; b = bytearray(5); print(i.readinto(b), b, i.peek(1)[:1], i.read1(2));"
            " print([sys.stdin.readline()], input(), sys.stdin.read())"], "one\ntwo\nthree\n4"),
    (["-c", "import sys; print(sys.stdin.read(2), input(), input()); input()"], "one\ntwo\n"),
]


def run(program, arguments, text):
    done = subprocess.run(
        [program, *arguments], cwd=IMPORTS, env=oracle.clean_environment(), input=text.encode(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    errors = done.stderr
    for own in (program.encode() + b": ", b"dynvm: "):
        errors = errors.replace(own, b"PROGRAM: ")
    # What runs -m is written in Python there.
    errors = re.sub(rb'  File "<frozen runpy>".*\n', b"", errors)
    errors = re.sub(rb"^(Ran .* in) [0-9.]+s$", rb"\1 TIME", errors, flags=re.MULTILINE)
    return done.stdout, errors, done.returncode


def compare(name, expected, got):
    if expected == got:
        return 0
    print(f"{name}:\n  expected {expected}\n  got      {got}")
    return 1


def converse(program, steps, **environment):
    """A session on a terminal: each text of `steps` is typed when what stands before it has appeared.
    What was shown, and the exit status."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(oracle.clean_environment(TERM="dumb", **{"HOME": "/nonexistent", **environment}))
        os.execv(program[0], program)
    text, seen = b"", 0
    steps = list(steps)
    while select.select([terminal], [], [], 10)[0]:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        text += part.replace(b"\r", b"")
        while steps and steps[0][0] in text[seen:]:
            seen = text.index(steps[0][0], seen) + len(steps[0][0])
            time.sleep(0.05)  # the prompt appears before its terminal is ready for Ctrl-C
            os.write(terminal, steps.pop(0)[1])
    else:
        os.kill(child, signal.SIGKILL)
    return text, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def typed(dynvm):
    """Sessions on a terminal: prompts, the echo of values, status of sys.exit; Ctrl-C at both prompts,
    while a statement runs and in input(); Ctrl-D."""
    text, status = converse([dynvm], [(b">>> ", b"6 * 7\n"), (b"42\n", b"import sys; sys.exit(4)\n")])
    failed = compare("terminal", (True, 4), (b"\n42\n" in text, status))
    text, status = converse([dynvm], [
        (b">>> ", b"x = 6"), (b"6", b"\x03"), (b"KeyboardInterrupt\n", b"x\n"), (b"NameError", b"if 1:\n"),
        (b"... ", b"  print('no')\n"), (b"... ", b"\x03"), (b"KeyboardInterrupt\n", b"3 * 5\n"),
        (b"15\n", b"print('go')\n"), (b"go\n", b"while True: pass\n"), (b"... ", b"\n"), (b"\n", b"\x03"),
        (b"KeyboardInterrupt\n", b"input('what?')\n"), (b"what?", b"a"), (b"a", b"\x03"),
        (b"KeyboardInterrupt\n", b"7 * 11\n"), (b"77\n", b"\x04")])
    return failed + compare("Ctrl-C and Ctrl-D", (4, True, False, 0), (
        text.count(b"KeyboardInterrupt\n"), b"\n77\n" in text, b"\nno\n" in text, status))


def edited(dynvm):
    """Sessions with libedit: what a tab completes, also beside code of the program that fails or does not end;
    indentation; text beyond ASCII; the history, which lasts until the next session."""
    if "line editing: yes" not in subprocess.run([dynvm, "--version", "--verbose"], stdout=subprocess.PIPE, text=True).stdout:
        print("no libedit: completion and history left out")
        return 0
    p, more = b">>> ", b"... "
    text, status = converse([dynvm], [
        (p, b"impo\tsys\n"), (p, b"sys.maxs\t > 2\n"), (b"True\n", b"class C:\n"),
        (more, b"\tdef ping(self): return 'pi'\n"), (more, b"\tdef pong(self, a): return a\n"),
        (more, b"\tdef __getattr__(self, name): 1 / 0\n"),
        (more, b"\t@property\n"), (more, b"\tdef loud(self): print('LOUD')\n"), (more, b"\n"),
        (p, b"c = C()\n"), (p, b"c.pi\t\n"), (b"'pi'\n", b"c.po\t11 + 22)\n"), (b"33\n", b"c.lo\t\n"),
        (b"LOUD\n", b"c.p\t\t"), (b"c.pong(", b"ing()\n"), (b"'pi'\n", b"c.x.\t\n"), (b"SyntaxError", b"1\n"),
        (p, "'é' + chr(0x20ac)\n".encode()), ("'é€'".encode(), b"[Tru\t, len(\t'ab')]\n"),
        (b"[True, 2]\n", b"\x04")])
    failed = compare("completion", (True, True, True, 2, 0), (
        b"import sys\n" in text, b"sys.maxsize > 2\n" in text, b"c.ping()\n'pi'\n" in text,
        text.count(b"LOUD"), status))
    text, status = converse([dynvm], [
        (p, b"class C:\n"), (more, b"\tdef __dir__(self):\n"), (more, b"\t\twhile True: pass\n"), (more, b"\n"),
        (p, b"C().\n"), (p, b"c = C()\n"), (p, b"c.a\t"), (b"c.a", b"\x03"), (b"KeyboardInterrupt\n", b"6 * 7\n"),
        (b"42\n", b"\x04")])
    failed += compare("completion that does not end", (True, 0), (b"\n42\n" in text, status))
    with tempfile.TemporaryDirectory() as home:
        converse([dynvm], [(p, b"x = 6\n"), (p, b"x * 7\n"), (p, b"x * 7\n"), (p, b"import sys; sys.exit()\n")], HOME=home)
        text, _ = converse([dynvm], [(p, b"\x10\x10\x10\n"), (p, b"\x10\x10\x10\n"), (b"42\n", b"\x04")], HOME=home)
        kept = (Path(home) / ".dynvm_history").read_text().split("\n")
    lines = [line.replace("\\040", " ") for line in kept]
    failed += compare("history", ["x = 6", "x * 7", "import sys; sys.exit()", "x = 6", "x * 7", ""], lines[1:])
    return failed + compare("history is typed", True, b"\n42\n" in text)


# What it computes is another thing in each run, and so at each level.
TIMED = "import time\ndef f(t):\n    for i in range(9): t += time.perf_counter_ns()\nf(0)\n"
# In the second run its o dies 40 rounds later than in the first, and a callee sees to that: all locals are equal.
DYING = """import sys
class A:
    def __init__(self, v): self.v = v
    def __del__(self): pass
def change(i):
    global o
    if i == at: o = A(2.5)
def f():
    for i in range(900): change(i)
o = A(1.5)
try:
    open(sys.argv[1]).close()
    at = 800
except FileNotFoundError:
    open(sys.argv[1], "w").close()
    at = 760
f()
"""
# What two VMs print differently, but is no difference: addresses, and the sign of a nan.
EQUAL = """def f():
    inf = 1e308 * 10
    kept = [None] * 4
    for i in range(900):
        x = (inf - inf) * (1 if i % 2 else -1)
        kept[0], kept[1], kept[2], kept[3] = id(kept), repr(f), str([f, i]), x
        y = -x
    return y
f()
"""
SUMMED = "def f():\n    t = 0\n    for i in range(3000): t += i * i\n    return t\nprint(f())\n"


def compared(dynvm):
    """--lockstep of each level and reach with each: a program that differs is found, one that does not runs as always."""
    failed = 0
    reaches = ("sequence", "loop", "inline", "virtual")
    for here in ("--level=generic", "--level=inca", *(f"--nama={reach}" for reach in reaches)):
        for other in ("generic", "inca", "nama", *reaches):
            done = subprocess.run([dynvm, here, f"--lockstep={other}", "-c", TIMED], stderr=subprocess.PIPE, text=True)
            lines = done.stderr.splitlines()
            found = [line.split(":")[0].strip() for line in lines]
            failed += compare(f"{here} --lockstep={other}", (1, ["dynvm", other, "here"], True), (
                done.returncode, found, bool(lines) and "line 3" in lines[0]))
            done = subprocess.run([dynvm, here, f"--lockstep={other}", "-c", SUMMED], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            failed += compare(f"equal: {here} --lockstep={other}", (0, b"8995500500\n", b""),
                              (done.returncode, done.stdout, done.stderr))
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([dynvm, "--lockstep", "-c", DYING, f"{folder}/was"], stderr=subprocess.PIPE, text=True)
    failed += compare("a death: --lockstep", (1, "dynvm: lockstep: the levels differ at loop iteration 760, line 9"),
                      (done.returncode, done.stderr.partition("\n")[0]))
    done = subprocess.run([dynvm, "--lockstep", "-c", EQUAL], stderr=subprocess.PIPE, text=True)
    failed += compare("addresses and nans: --lockstep", (0, ""), (done.returncode, done.stderr))
    return failed


def flagged(dynvm, python):
    environment = {k: v for k, v in oracle.clean_environment().items() if not k.startswith("PYTHON")}
    failed = 0
    for options in FLAG_OPTIONS:
        want, got = (subprocess.run([program, *options, FLAGS], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL).stdout for program in (python, dynvm))
        failed += compare(f"flags {options}", want, got)
    return failed


def seeded(dynvm, python):
    """Texts hash as in CPython with the same seed, and sets of them print alike; a random seed is another each time."""
    code = "import sys; print(set('seed of hashes'), hash('abc'), hash(b'abc'), hash('α'), sys.flags.hash_randomization)"

    def said(program, *options, **environment):
        return subprocess.run([program, *options, "-c", code], env=oracle.clean_environment(**environment), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    failed = 0
    for seed in ("0", "1", "7", "4294967295"):
        failed += compare(f"seed {seed}", said(python, PYTHONHASHSEED=seed).stdout, said(dynvm, f"--hash-seed={seed}").stdout)
    failed += compare("random seeds", 2, len({said(dynvm, "--hash-seed=random").stdout for _ in range(2)}))
    for text in ("x", "", "-1", "99999999999999999999"):
        wrong = said(dynvm, f"--hash-seed={text}")
        failed += compare(f"seed '{text}'", (2, True), (wrong.returncode, f"neither a number nor random: '{text}'" in wrong.stderr))
    return failed


def left_out(dynvm, python):
    """A module of CPython's library is there, or is refused by name; a file of that name wins."""
    names = subprocess.run([python, "-c", "import sys; print(*sorted(sys.stdlib_module_names))"], stdout=subprocess.PIPE, text=True).stdout.split()
    names = [name for name in names if name != "_decimal"]  # an extension, of which `decimal` is the door
    tries = "".join(f"try:\n    import {name}\nexcept ModuleNotFoundError as e:\n    print(e.name, e)\n" for name in names)
    failed = compare("names of the library", True, len(names) > 290)
    with tempfile.TemporaryDirectory() as empty:
        def said(code):
            done = subprocess.run([dynvm, "-c", code], cwd=empty, env=oracle.clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            return done.stdout, done.stderr.strip().split("\n")[-1]
        out, err = said(tries)
        missing = [line.split()[0] for line in out.splitlines()]
        failed += compare("modules left out", ("".join(f"{n} module '{n}' is not part of dl\n" for n in missing), ""), (out, err))
        failed += compare("modules that are there", [], [n for n in ("math", "json", "typing", "posixpath") if n in missing])
        for code, text in (("import sys; sys.path.clear(); import numpy as np", "dl has ndarray in its place, and"),
                           ("import sys; sys.path.clear(); from cffi import FFI", "dl has ffi in its place, and"), ("import xml.dom", "'xml' is not part"),
                           ("from tqdm import tqdm", "dl has progress"), ("from json.tool import main", "'json.tool' is not part"),
                           ("import test.support", "'test' is not part"), ("import math.nope", "'math' is not a package")):
            failed += compare(code, (True, True), (text in said(code)[1], said(code)[1].startswith("ModuleNotFoundError: ")))
        failed += compare("-m of one", "dynvm: module 'wave' is not part of dl\n",
                          subprocess.run([dynvm, "-m", "wave"], cwd=empty, stderr=subprocess.PIPE, text=True).stderr)
        for name in ("glob", "wave", "numpy"):
            (Path(empty) / f"{name}.py").write_text("print(__name__)\n")
            failed += compare(f"own {name}", (f"{name}\n", ""), said(f"import {name}"))
    return failed


def own(dynvm):
    """What CPython has otherwise, or not: trace of imports, no banner, unbuffered output, isolation, dis of text, refusals."""
    def errors(*arguments, **environment):
        done = subprocess.run([dynvm, *arguments], env=oracle.clean_environment(**environment), cwd=IMPORTS, input=b"1\n",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.stderr.decode(), done.stdout.decode(), done.returncode

    failed = compare("-v", ("import 'math' # library\nimport 'doc' # %s/doc.py\n" % IMPORTS), errors("-vc", "import math, doc, math")[0])
    failed += compare("banner", (3, 1), tuple(errors(option)[0].count("\n") for option in ("-i", "-iq")))
    script = "import sys; print('a', end=''); sys.stdout.buffer.write(b'b')"
    failed += compare("-u", ("ab", "ba"), (errors("-uc", script)[1], errors("-c", script)[1]))
    failed += compare("-E", (0, 1), tuple(errors(option, "import a", DYNVM_PATH=str(IMPORTS / "p"))[2] for option in ("-c", "-Ec")))
    shown, status = converse([dynvm, "-c", "from progress import progress\nfor i in progress(range(7), desc='work'): pass"], [], COLUMNS="70")
    failed += compare("progress", (True, True, 1, 0), (b"work:   0%|" in shown, b" 7/7 [00:00<00:00, " in shown, shown.count(b"\n"), status))
    failed += compare("progress without a terminal", ("", "12\n", 0), errors("-c", "from progress import progress\nprint(*progress('12'), sep='')"))
    loop = "def f(a): return a + 1\nfor i in range(40): f(i)"
    failed += compare("--stress=guard:1 without --form", True, "back-off" in errors(
        "dis", "--after-run", "--level=inca", "--stress=guard:1", "-c", loop)[1])
    failed += compare("DYNVM_EXT", (2, 0), (errors("-c", "1", DYNVM_EXT="?")[2], errors("-Ec", "1", DYNVM_EXT="?")[2]))
    failed += compare("dis -c", "<module>  <string>:1", errors("dis", "-c", "x = 1")[1].split("\n")[0])
    failed += compare("dis -", "<module>  <stdin>:1", errors("dis", "-")[1].split("\n")[0])
    for arguments, text in ((["-b"], "BytesWarning"), (["-x"], "every line"), (["-z"], "unknown option '-z'"), (["--foo"], "unknown option '--foo'"),
                            (["-W"], "no argument behind '-W'"), (["-uc"], "no argument behind '-c'"), (["-Xtracemalloc=3"], "not part of dl"),
                            (["-Xint_max_str_digits=5", "-c", "1"], "must be >= 640"), (["dis", "-m", "json"], "dis lists"),
                            (["-Wi"] * 101 + ["-c", "1"], "too many options")):
        said, _, status = errors(*arguments)
        failed += compare(arguments, (True, 2), (text in said, status))
    return failed


def main():
    dynvm, python = sys.argv[1], oracle.find_cpython()
    failed = typed(dynvm) + edited(dynvm) + compared(dynvm) + own(dynvm)
    full = subprocess.run(f"{dynvm} -c 'print(1)' >/dev/full", shell=True, stderr=subprocess.PIPE)
    failed += compare("full disk", (120, True), (full.returncode, b"OSError: [Errno 28]" in full.stderr))
    if python is None:
        print("no CPython 3.11: comparisons left out")
        return failed
    for name, text in SESSIONS.items():
        failed += compare(name, run(python, ["-iq"], text), run(dynvm, ["-iq"], text))
    for arguments, text in COMMANDS:
        failed += compare(" ".join(arguments), run(python, arguments, text), run(dynvm, arguments, text))
    failed += flagged(dynvm, python) + seeded(dynvm, python) + left_out(dynvm, python)
    print(f"{len(SESSIONS) + len(COMMANDS) + 7} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
