#!/usr/bin/env python3
"""`dynvm compile`: compiled scripts print what their sources print; which file is imported; what is refused.

Exit status: 0 if all is well, 1 if anything differs.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import checking  # noqa: E402
import oracle  # noqa: E402
from checking import check  # noqa: E402

TESTS = HERE.parent
ROOMS = ("errors", "syntax", "generators", "objects")

HELPER = """def half(x):
    return x / 2 if x else 1 / x
"""


class Runner:
    """Runs dynvm in a directory."""

    def __init__(self, program, directory):
        self.program, self.directory = program, Path(directory)

    def __call__(self, *arguments):
        """Standard output, standard error without the program's name, and the status."""
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.directory, env=oracle.clean_environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.returncode

    def last(self, *arguments):
        """The last line of standard error, and the status."""
        _, errors, status = self(*arguments)
        return errors.splitlines()[-1] if errors else "", status

    def write(self, name, content):
        path = self.directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


def without_addresses(result):
    return tuple(re.sub("0x[0-9a-f]{6,}", "0x", str(part)) for part in result)


def check_scripts(run):
    """The same output, tracebacks with quoted lines included, as long as the source is there."""
    for room in ROOMS:
        for script in sorted((TESTS / room).rglob("*.dl")):
            text = script.read_text(encoding="utf-8", errors="surrogateescape")
            if any(word in text for word in ("# options:", "# args:", "__file__", "argv", "# c-stack:", "# timeout:")):
                continue
            compiled = run.directory / "script.dlc"
            expected, made = run(script), run("compile", script, "-o", compiled)
            if made[2] != 0:  # a SyntaxError
                check(f"{script}: compile", made, expected)
                continue
            check(f"{script}: compiled", without_addresses(run(compiled)), without_addresses(expected))


def check_names(run):
    run.write("named.dl", "print('named')\n")
    run.write("other.py", "print('other')\n")
    run.write("plain", "print('plain')\n")
    for name, made in (("named.dl", "named.dlc"), ("other.py", "other.dlc"), ("plain", "plain.dlc")):
        check(f"compile {name}", run("compile", name), ("", "", 0))
        check(f"run {made}", run(made), (made.split(".")[0] + "\n", "", 0))
    check("-o in front", run("compile", "-o", "there", "plain"), ("", "", 0))
    check("a file of any name", run("there"), ("plain\n", "", 0))
    check("listing", run("dis", "named.dlc")[0].splitlines()[0].split()[0], "<module>")
    check("arguments", run(run.write("args.dl", "import sys; print(sys.argv[1:])\n"), "a", "-b"), ("['a', '-b']\n", "", 0))
    run("compile", "args.dl")
    check("arguments of a compiled file", run("args.dlc", "a", "-b"), ("['a', '-b']\n", "", 0))


def check_imports(run):
    """A compiled module counts where its source is not, in packages too; tracebacks name the source."""
    source = run.write("helper.py", HELPER)
    show = "import helper, os; print(os.path.basename(helper.__file__), helper.half(3))"
    run("compile", "helper.py")
    source.write_text("def half(x): return 'source'\n")
    check("a source goes first", run("-c", show), ("helper.py source\n", "", 0))
    source.write_text(HELPER)
    fail = ("-c", "import helper; helper.half(0)")
    with_source = run(*fail)
    source.rename(run.directory / "hidden")
    check("without the source", run("-c", show), ("helper.dlc 1.5\n", "", 0))
    frame, quoted = f'  File "{source}", line 2, in half\n', "    return x / 2 if x else 1 / x\n"
    check("a traceback with the source", (frame + quoted in with_source[1], with_source[2]), (True, 1))
    errors = run(*fail)[1]
    check("a traceback without the source", (frame in errors, quoted in errors), (True, False))
    (run.directory / "hidden").rename(source)
    run.write("moved/helper.dlc", (run.directory / "helper.dlc").read_bytes())
    moved = run.write("moved/helper.py", HELPER)
    source.write_text("# changed\n" + HELPER)
    compiled_alone = "import sys; sys.path[:] = ['moved']; sys.modules.pop('helper', None)\nimport helper\nhelper.half(0)"
    os.rename(moved, run.directory / "moved/kept")
    check("a source that was changed is not quoted", quoted in run("-c", compiled_alone)[1], False)
    source.unlink()
    os.rename(run.directory / "moved/kept", moved)
    check("the source beside the compiled file", run("moved/helper.dlc")[2], 0)
    run.write("main.dl", "def f(x):\n    return 1 / x\nf(0)\n")
    run("compile", "main.dl", "-o", "moved/main.dlc")
    (run.directory / "main.dl").rename(run.directory / "moved/main.dl")
    check("is quoted", "    return 1 / x\n" in run("moved/main.dlc")[1], True)
    for name in ("__init__", "inner", "__main__"):
        path = run.write(f"pk/{name}.dl", f"print('{name}', __name__)\n")
        run("compile", path)
        path.unlink()
    check("a package", run("-c", "import pk.inner"), ("__init__ pk\ninner pk.inner\n", "", 0))
    check("-m of a package", run("-m", "pk"), ("__init__ pk\n__main__ __main__\n", "", 0))


def check_refused(run):
    """Files that are damaged, of another build, or no compiled files; names that cannot be."""
    script = run.write("right.dl", "print('right')\n")
    run("compile", script)
    data = (run.directory / "right.dlc").read_bytes()
    script.unlink()
    place = f"'{run.directory}/wrong.dlc'"
    damaged = f"dynvm: {place} is damaged: its checksum or its size is wrong; compile its source again"
    other = (f"dynvm: bad magic number in {place}: another build of dynvm has compiled it; "
             "compile its source again")
    junk = f"dynvm: bad magic number in {place}: it is no compiled dl file"
    changed = lambda at: data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]  # noqa: E731
    for content, message in ((changed(60), damaged), (changed(20), damaged), (data[:50], damaged), (data[:20], damaged),
                             (data + b"x", damaged), (changed(12), other), (changed(0), junk), (b"", junk),
                             (b"print(1)\n", junk)):
        run.write("wrong.dlc", content)
        check(f"run {content[:60]!r}", run.last("wrong.dlc"), (message, 1))
        check(f"list {content[:60]!r}", run.last("dis", run.directory / "wrong.dlc"), (message, 1))
    probe = ("import sys\ntry:\n    import wrong\nexcept ImportError as e:\n"
             "    print(e.name, e.path, str(e)[:16], 'wrong' in sys.modules)\n")
    check("import", run("-c", probe), (f"wrong {place[1:-1]} bad magic number False\n", "", 0))
    run.write("unfinished.dl", "x = (\n")
    run.write("unfinished.dlc", "kept")
    check("a script with an error", run.last("compile", "unfinished.dl"), ("SyntaxError: '(' was never closed", 1))
    check("leaves the file alone", (run.directory / "unfinished.dlc").read_bytes(), b"kept")
    check("compiled twice", run.last("compile", "right.dlc", "-o", "twice.dlc"),
          (f"ValueError: '{run.directory}/right.dlc' is compiled already", 1))
    run.write("own.dl", "print(1)\n")
    check("the script itself", run("compile", "own.dl", "-o", "./own.dl"),
          ("", "dynvm: './own.dl' is the script itself\n", 1))
    check("is kept", run("own.dl"), ("1\n", "", 0))
    check("no place", run("compile", "own.dl", "-o", "no/such.dlc"),
          ("", "dynvm: can't write 'no/such.dlc': No such file or directory\n", 1))
    check("a full disk", run("compile", "own.dl", "-o", "/dev/full"),
          ("", "dynvm: can't write '/dev/full': No space left on device\n", 1))
    check("no script", run("compile"), ("", "dynvm: no script behind 'compile'; try --help\n", 2))
    check("two scripts", run("compile", "own.dl", "plain"),
          ("", "dynvm: compile takes one script, not also 'plain'; try --help\n", 2))
    check("no output", run("compile", "own.dl", "-o"), ("", "dynvm: no file behind '-o'; try --help\n", 2))
    check("a missing script", run.last("compile", "nosuch.dl")[1], 2)


def main():
    with tempfile.TemporaryDirectory() as name:
        run = Runner(os.path.abspath(sys.argv[1]), os.path.realpath(name))
        check_names(run)
        check_imports(run)
        check_refused(run)
        check_scripts(run)
    print(f"{checking.failed} failed")
    return 1 if checking.failed else 0


if __name__ == "__main__":
    sys.exit(main())
