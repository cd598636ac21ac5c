#!/usr/bin/env python3
"""Records which sequences of instructions are worth a handler of their own: tables/sequences.csv.

  sequences.py --dynvm PROGRAM     a build of all candidates: DYNVM_ALL_SEQUENCES=1 in the environment, in a new folder

Rules
 1. The training set is bench/programs and bench/defeat at small sizes.  bench/objects and
    bench/library are not in it: what is chosen is judged by them.  Each program runs at level inca, where fusions
    do most, and at level nama, where regions are.
 2. Sequences are kin if they differ in the order that is asked for, in equal or unequal, in sum or difference, in
    which bits are joined or which way they are shifted, in quotient or remainder, in a sign, in a question and its
    opposite, in what kind of container has something, in whether and how a jump behind depends on it, or in whether a
    shape is known; and of operands in other places, in sum, difference or product (KIN); of pairs, in the
    order alone.  All of a kin get in if together they make up at least SHARE of the steps that one program of the
    training set takes at one level: so no comparison is slower than its neighbours.  The model adds what a chosen one
    consists of (isa.py, _choose).
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import render

ROOT = Path(__file__).resolve().parent.parent
KIN = (
    (r"(?<![A-Z])(LT|LE|GT|GE)(?=_)", "<"), (r"(?<![A-Z])(EQ|NE)(?=_)", "="),
    (r"^((?:R_LOAD_. |R_CONST_. )?R[ID])_(ADD|SUB|MUL)_(\w+(?: R_STORE_.)?)$", r"\1_+_\3"), (r"(?<![A-Z])(ADD|SUB)(?![A-Z])", "+"), (r"\b(AND|OR|XOR)_", "&_"),
    (r"\bIN_(STR|SET|DICT|DERIVED|SEQUENCE)\b", "IN_*"), (r"\bLOAD_SUBSCR_(LIST|TUPLE|DICT|DICT_TEXT)\b", "LOAD_SUBSCR_*"),
    (r" JUMP_IF_(FALSE|TRUE)$", ""), (r"R_IF_(FALSE|TRUE)$", "R_IF_?"),
    (r"\b(RA|RAK)_", "RA?_"), (r"RBD[TF]", "RBD?"), (r"_(FLOORDIV|MOD)_", "_//_"), (r"_(LSHIFT|RSHIFT)_", "_<<_"),
    (r"\bRI_(AND|OR|XOR)_", "RI_&_"), (r"_U?(INT\d+)_", r"_\1_"),
)
ORDERS = ("<", "=", "RBD?", "R_IF_?")  # ... which is all that makes kin of three or more: they are the longest
# Of a program's steps.  Those of regions are short, and a handler less to go to is more of them; operands in other
# places (`moded`) are what any program may have.
SHARE = {"derivative": 5e-3, "fusion": 5e-3, "region": 1e-3, "pair": 1e-3, "moded": 1e-4}
TRAINING = ("programs", "defeat")
LEVELS = ("inca", "nama")


def programs():
    for folder in TRAINING:
        for name, sizes in json.loads((ROOT / "bench" / folder / "sizes.json").read_text()).items():
            small = sizes.get("count", sizes.get("test"))
            if not isinstance(small, list):  # three times that, so that most of the steps are warm, if it is no depth
                small = [3 * small if small >= 8 and sizes.get("quick", 0) >= 3 * small else small]
            yield f"bench/{folder}/{name}.dl", small


def kin_of(sequence: str, kind: str) -> str:
    for pattern, general in KIN:
        if kind != "pair" or sequence.count(" ") == 1 or general in ORDERS:
            sequence = re.sub(pattern, general, sequence)
    return sequence


def steps(dynvm: Path, level: str, script: str, arguments: list) -> dict:
    """Steps of one run, by instruction.  The report comes behind what the program prints, or on stderr."""
    command = [str(dynvm.resolve()), "stats", "--json", f"--level={level}", script, *map(str, arguments)]
    with tempfile.TemporaryFile() as printed:
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.PIPE)
        printed.seek(0)
        lines = printed.read().splitlines() + done.stderr.splitlines()
    report = next((line for line in lines if line.startswith(b'{"tool":"stats"')), None)
    if done.returncode or report is None:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-500:].decode(errors='replace')}")
    return {form["name"]: form["steps"] for form in json.loads(report)["forms"]}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dynvm", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    model = render.load(everything=True)
    sequences = {item.name: model.sequence(item) for item in model.instructions if model.sequence(item)}
    kin, least = collections.defaultdict(set), {}
    of = {name: kin_of(sequence, model.by_name[name].kind) for name, sequence in sequences.items()}
    for name, sequence in sequences.items():
        kin[of[name]].add(sequence)
        item = model.by_name[name]
        least[of[name]] = SHARE["moded" if item.lowers else item.kind]
    users, best = collections.defaultdict(set), collections.Counter()
    work = [(level, *program) for program in programs() for level in LEVELS]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (_, script, _), forms in zip(work, pool.map(lambda one: steps(options.dynvm, *one), work)):
            total = sum(forms.values())
            taken = collections.Counter()
            for name in sequences.keys() & forms.keys():
                taken[of[name]] += forms[name]
            for name, count in taken.items():
                users[name].add(script)
                best[name] = max(best[name], count / total)
    chosen = sorted((sequence, len(users[name]), f"{best[name]:.4%}")
                    for name in users if best[name] >= least[name] for sequence in kin[name])
    with open(render.SEQUENCES, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("sequence", "programs of its kin", "largest share"))
        writer.writerows(chosen)
    print(f"{len(sequences)} sequences, {len(users)} kin run, {len(chosen)} chosen")
    return 0


if __name__ == "__main__":
    sys.exit(main())
