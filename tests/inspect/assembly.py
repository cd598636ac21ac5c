#!/usr/bin/env python3
"""`dynvm asm`: code objects as text, and back.

 - every script of tests/lang, tests/syntax and tests/generators, printed as assembly, assembled and run, does what
   the script does: both streams, tracebacks included, and the status;
 - what was assembled prints as the same text again;
 - a lab written by hand runs; labels, constants and operands are what they seem;
 - bad text is refused with its line and a sentence that helps, and so is what the verifier refuses;
 - garbled text never does anything but that;
 - the regions of tests/golden, dumped, assembled and run: the same output, and the same dump; garbled ones are refused or
   run to some end, and never crash;
 - a region by hand runs in all stress modes, and bad ones are refused with their line and a sentence;
 - a sandboxed machine runs none (tests/capi).

usage: assembly.py DYNVM [PATTERN]      exit status: 0 if all is well, 1 if anything is wrong
"""

import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import checking  # noqa: E402
from checking import check  # noqa: E402

DYNVM = str(Path(sys.argv[1]).resolve())
ROOMS = ("lang", "syntax", "generators")
ENVIRONMENT = dict(os.environ, PYTHONHASHSEED="0")


def run(*arguments, cwd=ROOT):
    return subprocess.run([DYNVM, *map(str, arguments)], cwd=cwd, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20)


def printed(script):
    return run("asm", "--print", script).stdout


def outcome(done):
    return done.returncode, done.stdout, done.stderr


# ---- Round trips ----------------------------------------------------------------------------------

def round_trip(script, folder):
    """What differs; None if nothing does."""
    plain = run(script)
    text = run("asm", "--print", script)
    if text.returncode:  # it is no program: the message is the same
        return None if outcome(text) == outcome(plain) else "is refused otherwise"
    assembled = folder / f"{script.parent.name}-{script.stem}.dla"
    assembled.write_bytes(text.stdout)
    # sys.argv[0] is the file that runs.
    got = [part.replace(str(assembled).encode(), str(script).encode()) if isinstance(part, bytes) else part
           for part in outcome(run("asm", assembled))]
    got[2] = text.stderr + got[2]  # warnings come when the script is compiled
    if tuple(got) != outcome(plain):
        return f"{got} instead of {outcome(plain)}"
    return None


def check_round_trips(pattern, folder):
    scripts = [script for room in ROOMS for script in sorted((ROOT / "tests" / room).rglob("*.dl")) if pattern in script.name]
    with ThreadPoolExecutor(2) as pool:
        for script, wrong in zip(scripts, pool.map(lambda script: round_trip(script, folder), scripts)):
            check(f"{script.parent.name}/{script.name}", str(wrong)[:600], "None")
    return len(scripts)


# ---- By hand --------------------------------------------------------------------------------------

def lab():
    """The one of ASSEMBLY.md."""
    text = (ROOT / "vm" / "inspect" / "ASSEMBLY.md").read_text()
    return text[text.index("## Code"):].split("```")[1].lstrip("\n")


def assemble(folder, text, *options):
    path = folder / "text.dla"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return run("asm", *options, path.name, cwd=folder)


def check_lab(folder):
    text = lab()
    owned = text.replace("    LOAD_LOCAL_B n\n    ADD inplace\n", "    LOAD_LOCAL n\n    ADD inplace\n")
    for options in (["--level=generic"], ["--level=inca"], ["--lockstep"], []):
        check(f"lab {options}", outcome(assemble(folder, text, *options)), (0, b"500500\n", b""))
        right = owned.replace("ADD inplace", "ADD own=b inplace")
        check(f"lab with own {options}", outcome(assemble(folder, right, *options)), (0, b"500500\n", b""))
    refused = b"SyntaxError: text.dla:25: the verifier refuses it: total: pc 7: the own mask differs from the stack's state\n"
    check("lab that is refused", outcome(assemble(folder, owned)), (1, b"", refused))


def constant(text):
    return f'code @m "<module>"\nflags module\nLOAD_GLOBAL_CALLEE print\nLOAD_CONST {text}\nCALL 1\nPOP_TOP\nLOAD_CONST None\nRETURN\n'


def check_constants(folder):
    for text, shown in [("-9223372036854775808", "-9223372036854775808"), ("0xff", "255"), ("-0x10000000000000000", str(-2**64)),
                        ("1e3", "1000.0"), ("-0.5", "-0.5"), ("inf", "inf"), ("2j", "2j"), ('"a\\n\\"\\\\\\x41é"', 'a\n"\\Aé'),
                        ('b"\\xff"', "b'\\xff'"), ('(1, (), ("a",), None)', "(1, (), ('a',), None)"), ("{1, 1.5}", "frozenset({1, 1.5})"),
                        ("Ellipsis", "Ellipsis")]:
        check(f"constant {text}", outcome(assemble(folder, constant(text))), (0, shown.encode() + b"\n", b""))


HEADER = 'code @m "<module>"\n'
INLINED = HEADER + "locals x\nc: NOP\na: LOAD_CONST None\nRETURN\nb: LOAD_CONST None\nRETURN\n"
ERRORS = [  # text, line, part of the message
    ("", 1, "there is no code"),
    ("LOAD_CONST 1\n", 1, "'code' is expected"),
    (HEADER + "ADDD\n", 2, "there is no instruction 'ADDD'"),
    (HEADER + "LOAD_LOCAL x\n", 2, "there is no local 'x'"),
    (HEADER + "JUMP nowhere\nLOAD_CONST None\nRETURN\n", 2, "there is no label 'nowhere'"),
    (HEADER + "a:\na:\nRETURN\n", 3, "there is a label 'a' already"),
    (HEADER + "LOAD_CONST abc\n", 2, "a constant is expected, not 'abc'"),
    (HEADER + "LOAD_CONST (1 2)\n", 2, "a comma or ')' is expected"),
    (HEADER + "LOAD_CONST (1,\n", 2, "')' is missing"),
    (HEADER + 'LOAD_CONST "a\n', 2, "the closing quote is missing"),
    (HEADER + 'LOAD_CONST "\\q"\n', 2, "a backslash stands before"),
    (HEADER + "LOAD_CONST 1 2\n", 2, "something is left on the line: '2'"),
    (HEADER + "CALL x\n", 2, "a number up to"),
    (HEADER + "CALL 16777216\n", 2, "a number up to 16777215"),
    (HEADER + "ADD own=1\n", 2, "own= and letters"),
    (HEADER + "flags modul\n", 2, "there is no flag 'modul'"),
    (HEADER + "at 1:2\n", 2, "'-' is expected"),
    (HEADER + "catch a b c\n", 2, "'to' is expected"),
    (HEADER + "MAKE_FUNCTION @f 0\nRETURN\n", 2, "there is no code object @f"),
    (HEADER + "MAKE_FUNCTION @m 0\nRETURN\n", 2, "does not stand behind"),
    (HEADER + "LOAD_CONST None\nRETURN\n\ncode @f \"f\"\n", 5, "nobody uses @f"),
    (HEADER + "LOAD_CONST None\nRETURN\n\ncode @m \"f\"\n", 5, "there is a code object @m already"),
    # of the verifier
    (HEADER + "LOAD_CONST None\n\nADD own=ab\nRETURN\n", 4, "operand stack underflow"),
    (HEADER + "LOAD_CONST 1\nLOAD_CONST_B 2\nADD own=ab\nRETURN\n", 4, "the own mask differs from the stack's state"),
    (HEADER + "LOAD_CONST 1\n", 2, "jump or fall to what is no instruction"),
    (HEADER + "locals x\nLOAD_LOCAL x\nRETURN\n", 3, "a local is read that may be unassigned"),
    (HEADER + "LOAD_CONST 1\nJUMP_IF_FALSE a own=a\nLOAD_CONST 1\na: LOAD_CONST None\nRETURN\n", 4, "different operand stacks"),
    (HEADER, 1, "no instructions"),
    (INLINED + "inlined a b by a listcomp locals 0 1\n", 3, "an inlined comprehension is no place behind its call"),
    (INLINED + "inlined a a by c listcomp locals 0 1\n", 3, "an inlined comprehension is no place behind its call"),
    (INLINED + "inlined a b by c listcomp locals 1 1\n", 3, "variables of an inlined comprehension out of range"),
    (INLINED + "inlined a b by c listcomp locals 0 1 taking b a\n", 3, "items of an inlined comprehension are taken elsewhere"),
    (INLINED + "inlined a b by c listcomp locals 0 1 takes a b\n", 8, "'taking' is expected"),
    (HEADER + "LOAD_GLOBAL sum\nJUMP_IF_BUILTIN a 0\na: LOAD_CONST None\nRETURN\n", 3, "JUMP_IF_BUILTIN of no builtin"),
    (INLINED + "inlined a b by c comp locals 0 1\n", 8, "there is no comprehension 'comp'"),
    (INLINED + "inlined a b in c listcomp locals 0 1\n", 8, "'by' is expected"),
    (HEADER + "locals x\nMAKE_CELL x\nc: NOP\na: LOAD_CONST None\nRETURN\nb: inlined a b by c setcomp locals 0 1\n", 4,
     "a variable of an inlined comprehension is a cell"),
    (HEADER + "locals x\nLOAD_CONST 1\nSTORE_LOCAL x\nLOAD_LOCAL_B x\nc: NOP\na: LOAD_GLOBAL y\nb: ADD own=b\nRETURN\n"
     "d: ADD own=b\nRETURN\ncatch a b to d depth 1\ninlined a b by c dictcomp locals 0 1\n", 7,
     "a local changes while the stack borrows from it"),
]


def check_errors(folder):
    for text, line, part in ERRORS:
        done = assemble(folder, text)
        message = done.stderr.decode()
        check(f"{text!r}: status", done.returncode, 1)
        check(f"{text!r}: place in {message!r}", message.startswith(f"SyntaxError: text.dla:{line}: "), True)
        check(f"{text!r}: '{part}' in {message!r}", part in message, True)


def check_garbled(folder):
    """Characters and lines of good text changed at random: most is refused, nothing else may happen.  What is accepted is
    not run (vm/code/README.md: what the verifier does not prove), so every text ends in what is refused."""
    source = random.Random(1)
    good = printed(ROOT / "tests/lang/function/closures.dl")
    good = good.split(b"\nsource\n")[0] + b"\n"
    for number in range(150):
        text = bytearray(good)
        for _ in range(source.randrange(1, 6)):
            at = source.randrange(len(text))
            kind = source.randrange(3)
            if kind == 0:
                text[at] = source.randrange(256)
            elif kind == 1:
                del text[at:at + source.randrange(30)]
            else:
                text[at:at] = source.choice([b"(", b'"', b"\\x", b"@1", b" L3", b"\n", b"own=abc ", b"0x", b"-", b"$9", b"{"])
        done = assemble(folder, bytes(text) + b'\ncode @last "last"\nRETURN\n')
        check(f"garbled text {number}", (done.returncode, done.stderr.startswith(b"SyntaxError: text.dla:")), (1, True))


# ---- Regions --------------------------------------------------------------------------------------

STRESS = ([], ["--stress=quicken"], ["--stress=guard:1"], ["--stress=guard:3"], ["--stress=exit:2"], ["--stress=assume"],
          ["--level=inca"], ["--level=generic"])


def dumped(path, *options):
    return run("dis", "--after-run", "--asm", *options, path)


def has_text(dump):
    return b"\n  region " in dump


def check_golden_regions(folder):
    """Dump, assemble, run, dump: how many regions there were."""
    found = 0
    for script in sorted((ROOT / "tests/golden").glob("*.dl")):
        text = dumped(script)
        found += text.stdout.count(b"\n  region ")
        if not has_text(text.stdout):
            continue
        path = folder / f"{script.stem}.dla"
        path.write_bytes(text.stdout)
        for options in STRESS:
            check(f"{script.name} by its dump {options}", outcome(run("asm", *options, path))[:2], outcome(run(*options, script))[:2])
        # Where one loop of a function has a text, the others have no region any more.
        told, again = ([line for line in dump.splitlines() if b"# no text" not in line] for dump in (text.stdout, dumped(path).stdout))
        check(f"{script.name} dumped again", again, told)
    return found


def region_lab():
    text = (ROOT / "vm" / "inspect" / "ASSEMBLY.md").read_text()
    return text[text.index("## Regions by hand"):].split("```")[1].lstrip("\n")


# What is replaced in the lab, by what; part of the message, at the line of ...
BAD_REGIONS = [
    ("RI_MUL_SS_R n' n'", "RI_MULL_SS_R n' n'", "there is no instruction 'RI_MULL_SS_R'", "RI_MULL"),
    ("RI_MUL_SS_R n' n'", "RD_MUL_SS_R n' n'", "something is left on the line: '-> guard", "RD_MUL"),
    ("RI_MUL_SS_R n' n' -> guard", "RD_MUL_SS_R n' n'", "n' does not hold a raw double here", "RD_MUL"),
    ("RI_MUL_SS_R n' n'", "RI_MUL_SS_R n' n", "'n' is no shadow slot", "RI_MUL"),
    ("RI_MUL_SS_R n' n'", "RI_MUL_SS_R n'", "a slot is expected", "RI_MUL"),
    ("RI_MUL_SS_R n' n'", "RI_MUL_SS_R n' s9999", "slot 9999 is beyond the frame", "RI_MUL"),
    ("RI_MUL_SS_R n' n'", "RI_MUL_SS_R n' s50", "s50 does not hold a raw int here", "RI_MUL"),
    ("RI_MUL_SS_R n' n' -> guard", "RI_MUL_SS_R n' n' -> nowhere", "there is no label 'nowhere'", "RI_MUL"),
    ("RI_MUL_SS_R n' n' -> guard", "RI_MUL_SS_R n' n'", "'->' is expected", "RI_MUL"),
    ("RI_MUL_SS_R n' n' -> guard", "R_SET_SP n'", "it is not for texts", "R_SET_SP"),
    ("RI_MUL_SS_R n' n' -> guard", "RL_GET_I_S_R n n' -> guard", "n does not hold a list here", "RL_GET"),
    ("RI_MUL_SS_R n' n' -> guard", "R_LOAD_D sum'", "sum' does not hold a raw double here", "R_LOAD_D"),
    ("RI_MUL_SS_R n' n' -> guard", "R_COPY n s200", "beyond the frame", "R_COPY"),
    ("RI_SUB_SK_S n' n' #1", "RI_SUB_SK_S n' n' #1.0", "an int is expected", "RI_SUB"),
    ("RI_SUB_SK_S n' n' #1", "RI_SUB_SK_S n' n' 1", "a constant is expected", "RI_SUB"),
    ("leaves safe", "", "'leaves' is expected", "RBI_BACK"),
    ("leaves safe", "leaves home", "there is no exit 'home'", "RBI_BACK"),
    ("R_EXIT out", "R_EXIT", "there is no exit ''", "R_EXIT"),
    ("R_EXIT late\n", "RI_ADD_SK_S n' n' #1 -> never\n", "control falls off the end", "RI_ADD_SK"),
    ("exit out to done", "exit out to gone", "there is no label 'gone' in the code", "exit out"),
    ("exit safe to back n=int:n'", "exit safe to back n=float:n'", "takes for n what is not there", "RBI_BACK"),
    ("exit safe to back n=int:n'", "exit safe to back n=int:r", "takes for n what is not there", "RBI_BACK"),
    ("exit safe to back n=int:n'", "exit safe to back n=int:n", "'n' is no shadow slot", "exit safe"),
    ("exit safe to back n=int:n'", "exit safe to back n=sum:n'", "an exit cannot do 'sum'", "exit safe"),
    ("exit safe to back n=int:n'", "exit safe to back $0=copy:sum n=int:n'", "fills n, which holds an object", "RBI_BACK"),
    ("entry test from back n:int", "entry test from head n:int", "an entry is from a JUMP_BACK", "entry test"),
    ("entry test from back n:int", "entry test from back m:int", "not 'm'", "entry test"),
    ("entry test from back n:int", "entry test from back n:number", "no loop can be entered with 'number'", "entry test"),
    ("entry test from back n:int", "entry test from back n:any", "n' does not hold a raw int here", "RBI_EQ"),
    ("entry test from back n:int", "entry test from back n:int?", "n' does not hold a raw int here", "RBI_EQ"),
    ("region head to back", "region body to back", "a region is from the head of a loop", "entry test"),
    ("  end\n", "", "'end' of the region is missing", None),
    ("  test:\n", "  test:\n  test:\n", "there is a label 'test' already", "test:\n  test:"),
]


def check_bad_regions(folder):
    good = region_lab()
    for old, new, part, place in BAD_REGIONS:
        text = good.replace(old, new, 1)
        done = assemble(folder, text)
        message = done.stderr.decode()
        check(f"{new!r}: status", done.returncode, 1)
        check(f"{new!r}: '{part}' in {message!r}", part in message, True)
        if place:
            region = text.index("  region ")
            lines = [text[:text.index(place, region) + at].count("\n") + 1 for at in (0, len(place))]
            check(f"{new!r}: line of {message!r}", int(message.split(":")[2]) in lines, True)


def check_region_lab(folder):
    for options in STRESS:
        check(f"region by hand {options}", outcome(assemble(folder, region_lab(), *options)), (0, b"9004500500\n", b""))
    path = folder / "by_hand.dla"
    path.write_text(region_lab())
    for tool, words in (("stats", "regions: 1 of 1 made"), ("explain", "1 hot loop: 1 with a region"), ("trace", "made        the loop")):
        done = run(tool, path)
        check(f"{tool} of assembly", (done.returncode, done.stdout.startswith(b"9004500500\n"), words in done.stdout.decode()), (0, True, True))


def check_garbled_regions(folder):
    """Words of good regions exchanged at random: what the checker lets may compute anything, or never end, but not crash."""
    source = random.Random(2)
    scripts = [path for path in sorted(folder.glob("*.dla")) if has_text(path.read_bytes())]
    for number in range(120):
        text = source.choice(scripts).read_text()
        lines = text.split("\n")
        inside = [n for n, line in enumerate(lines) if line.startswith("    ") and n > text[:text.index("\n  region ")].count("\n") + 1]
        for _ in range(source.randrange(1, 4)):
            one, other = (source.choice(inside) for _ in range(2))
            words, donor = lines[one].split(), lines[other].split()
            words[source.randrange(len(words))] = source.choice(donor)
            lines[one] = "    " + " ".join(words)
        path = folder / "garbled.txt"
        path.write_text("\n".join(lines))
        try:
            done = run("asm", *source.choice(STRESS), path)
            check(f"garbled region {number}", done.returncode in (0, 1), True)
        except subprocess.TimeoutExpired:
            pass  # a loop without end


def check_command_line(folder):
    check("no file", run("asm").returncode, 2)
    check("a missing file", run("asm", folder / "none.dla").returncode, 2)
    check("code", run("asm", "-c", "pass").returncode, 2)
    check("an option of others", run("asm", "--json", __file__).returncode, 2)
    arguments = folder / "arguments.dl"
    arguments.write_text("import sys\nprint(sys.argv[1:], __name__)\nsys.exit(3)\n")
    text = folder / "arguments.dla"
    text.write_bytes(printed(arguments))
    check("arguments", outcome(run("asm", text, "a", "-b")), (3, b"['a', '-b'] __main__\n", b""))


def main():
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = check_round_trips(pattern, folder)
        check_lab(folder)
        check_constants(folder)
        check_errors(folder)
        check_garbled(folder)
        check_command_line(folder)
        regions = check_golden_regions(folder)
        check("regions with a text", regions >= 10, True)
        check_region_lab(folder)
        check_bad_regions(folder)
        check_garbled_regions(folder)
    print(f"{count} scripts, {len(ERRORS) + len(BAD_REGIONS)} errors, {regions} regions, {checking.failed} things are wrong")
    return 1 if checking.failed else 0


if __name__ == "__main__":
    sys.exit(main())
