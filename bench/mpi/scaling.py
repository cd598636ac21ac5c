#!/usr/bin/env python3
"""How the programs of this folder scale on the cores there are, beside a model, which also says what more cores would
give.

    python3 bench/mpi/scaling.py --dynvm build/dynvm [--ranks 1 2 4] [--rounds 3] [--peer]

Strong scaling: the same problem on more ranks. Weak scaling: as much for each rank as one had. The model has two
numbers of the machine (pingpong.py: the latency of a message and the bandwidth), one of the program (its time on one
rank), and what the program's text says: how many messages of which size a rank sends. `--peer` measures CPython's
mpi4py, too, and with mpicc there is a table of pingpong.c beside it."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from math import log2, sqrt
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}

# Arguments of a program for `weight` times the work, and what a rank of p sends: messages, bytes.
PROGRAMS = {
    "stencil": (lambda w: [int(384 * sqrt(w)), 200], lambda a, p: (4 * a[1], 4 * a[1] * 8 * a[0] / sqrt(p))),
    "gradient": (lambda w: [int(384 * sqrt(w)), 200],
                 lambda a, p: (2 * a[1] * (1 + 2 * log2(p)), 2 * a[1] * 8 * a[0])),
    "sort": (lambda w: [int(1_500_000 * w)], lambda a, p: (2 * p + 3 * log2(p), 8 * a[0] * (p - 1) / p / p)),
    "product": (lambda w: [int(448 * w ** (1 / 3))], lambda a, p: (p - 1, 8 * a[0] ** 2 * (p - 1) / p)),
}


def run(command, ranks):
    result = subprocess.run(["mpirun", "-n", str(ranks), *command], env={**os.environ, **ENVIRONMENT},
                            capture_output=True,
                            text=True, timeout=600)
    if result.returncode:
        sys.exit(f"{' '.join(command)} on {ranks} ranks: {result.stderr}")
    return result.stdout


def seconds(interpreter, name, arguments, ranks, rounds):
    command = [*interpreter, str(HERE / f"{name}.py"), *map(str, arguments), "--time"]
    return min(float(run(command, ranks).split("seconds")[1]) for _ in range(rounds))


def pingpong(command):
    """Microseconds by bytes."""
    return {int(size): float(time) for size, time in (line.split() for line in run(command, 2).splitlines())}


def compile_pingpong(folder):
    if not shutil.which("mpicc"):
        return None
    program = Path(folder) / "pingpong"
    subprocess.run(["mpicc", "-O2", str(HERE / "pingpong.c"), "-o", str(program)], check=True)
    return [str(program)]


def show_pingpong(interpreters):
    found = {name: pingpong(command) for name, command in interpreters.items()}
    print("| bytes | " + " | ".join(f"{name}, us" for name in found) + " |")
    print("|--:" * (len(found) + 1) + "|")
    for size in found["dynvm"]:
        print(f"| {size} | " + " | ".join(f"{times[size]:.2f}" for times in found.values()) + " |")
    return found["dynvm"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dynvm", default="build/dynvm")
    parser.add_argument("--ranks", type=int, nargs="+", default=[n for n in (1, 2, 4, 8, 16) if n <= os.cpu_count()])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", action="store_true")
    options = parser.parse_args()
    if not shutil.which("mpirun"):
        sys.exit("mpirun is missing (Debian: openmpi-bin)")
    dynvm = [str(Path(options.dynvm).resolve())]
    script = str(HERE / "pingpong.py")
    peers = {"dynvm": [*dynvm, script]}
    with tempfile.TemporaryDirectory() as folder:
        compiled = compile_pingpong(folder)
        if compiled:
            peers["C"] = compiled
        if options.peer:
            peers["CPython"] = ["/usr/bin/python3", script]
        times = show_pingpong(peers)
    small, large = min(times), max(times)
    latency, byte = times[small] * 1e-6, (times[large] - times[small]) * 1e-6 / (large - small)
    print(f"\nA message costs {latency * 1e6:.2f} us and {byte * 1e9:.3f} ns for each byte.\n")
    print("| program | ranks | strong, s | model, s | weak, s | model, s |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, (size, sends) in PROGRAMS.items():
        one = seconds(dynvm, name, size(1), 1, options.rounds)
        for p in sorted({*options.ranks, 64}):
            cells = []
            for weak in False, True:
                arguments = size(p if weak else 1)
                messages, data = sends(arguments, p) if p > 1 else (0, 0)
                model = (one if weak else one / p) + messages * latency + data * byte
                measured = seconds(dynvm, name, arguments, p, options.rounds) if p in options.ranks else None
                cells += ["" if measured is None else f"{measured:.4f}", f"{model:.4f}"]
            print(f"| {name} | {p} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
