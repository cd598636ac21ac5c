"""Programs that want all memory there is: each gets a MemoryError that it handles while it holds that memory, and goes on."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checking
import oracle

LIMITS = [20, 50, 75, 100, 150, 199, 200, 201, 225, 250]  # MB
# What a kind does for ever; `n` counts.
KINDS = {
    "list": "keep.append([n, n])",
    "int": "keep.append((keep[-1] if keep else 3) ** 2)",
    "ints": "keep.append(n * 10**20)",
    "str": "keep[:] = [(keep[0] if keep else 'ab') * 2]",
    "strs": "keep.append('x%d' % n)",
    "dict": "keep[:1] = [keep[0] if keep else {}]; keep[0][n] = n",
    "set": "keep[:1] = [keep[0] if keep else set()]; keep[0].add(n)",
    "bytes": "keep.append(bytes(100000))",
    "bytearray": "keep[:1] = [keep[0] if keep else bytearray()]; keep[0] += b'abcdefg' * 100",
    "tuple": "keep[:] = [(keep[0] if keep else (), n)]",
    "instances": "o = Node(); o.a = n; o.b = [o.a]; keep.append(o)",
    "generators": "keep.append(x for x in [n])",
    "closures": "keep.append((lambda n: lambda: n)(n))",
    "exceptions": "keep.append(ValueError(n))",
    "recursion": "deep(0)",
}
PROGRAM = """
import sys
sys.setrecursionlimit(10**9)
class Node: pass
def deep(n): return deep(n + 1) + 1
def numbers(): yield from range(3)
def bomb(keep):
    n = 0
    while True:
        KIND
        n += 1
keep = []
for again in range(2):
    try:
        bomb(keep)
    except (MemoryError, RecursionError) as e:
        print(str(e) == '' or 'recursion' in str(e), [1, 2, 3], {'a': again}, f'{2 + 2}')
        print(sum(numbers()), sorted([3, 1, 2]), '-'.join(map(str, range(10))))
        kept = e
    kept = None
    keep.clear()
    a = list(range(100000))
    b = [str(i) for i in a]
    c = {i: i for i in a}
    print(len(a), len(b), len(c))
    a = b = c = None
"""
EXPECTED = "".join(f"True [1, 2, 3] {{'a': {again}}} 4\n3 [1, 2, 3] 0-1-2-3-4-5-6-7-8-9\n100000 100000 100000\n"
                   for again in range(2))


def main():
    dynvm, limits = sys.argv[1], [int(limit) for limit in sys.argv[2:]] or LIMITS
    cases = [(limit, kind, "nama" if (limit + len(kind)) % 2 else "generic") for limit in limits for kind in KINDS]

    def run(case):
        limit, kind, level = case
        text = PROGRAM.replace("KIND", KINDS[kind])
        done = subprocess.run([dynvm, f"--level={level}", f"--memory-limit={limit}000000", "-c", text],
                              capture_output=True, text=True, timeout=300, env=oracle.clean_environment())
        return done.stdout, done.stderr[-300:], done.returncode

    with ThreadPoolExecutor(2) as pool:
        for (limit, kind, level), got in zip(cases, pool.map(run, cases)):
            checking.check(f"{kind}, {limit} MB, {level}", got, (EXPECTED, "", 0))
    print(f"{checking.failed} failed")
    return 1 if checking.failed else 0


if __name__ == "__main__":
    sys.exit(main())
