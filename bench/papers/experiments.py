"""The experiments of bench/papers.py: each makes the tables of one paper, of our machine.

1. To add one: a function from Options to a list of tables, and its row in PAPERS.
2. Columns differ by options of dynvm alone, and print the same.  measure.py says how times and intervals come about.
3. Figures of papers are told only where they are known for sure.
"""

import concurrent.futures
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Dict, Iterable, List, Optional, Sequence, Tuple

import counts
import size
from folders import kernels_of
from measure import BENCH, Column, Program, Share, Times, Wrong, each, interval, run_all, seen, stats, suite
from progress import progress
from report import Table

OBJECTS = ("programs", "objects")  # folders of bench whose programs are run
EVERYTHING = (*OBJECTS, "library", "arrays")
NOT_SHOWN = "not shown: paper not at hand"
REST = f"the rest {NOT_SHOWN}"

# What a reader of the tables has to know.
OF_REACHES = """INCA: derivatives in place. The others are NAMA's reaches, each with one thing more: regions of
straight code, of whole loops, with small functions in them, and (NAMA) with objects that are not made."""
OF_SIZES = """Lines with code, of the interpreter with its library; bytes of instructions, constants and data. By
part: `bench/size.py`."""
OF_MAPS = """Maps: sites remember where objects have an attribute. Versions: sites remember what a class of dl has
under a name; they are told when the class changes, so that no version is compared. Without, the generic instruction
searches: in the object's map, which it always has, or in the order of the class. What operators and calls of classes
know of them is not switched."""
OF_STATISTICS = """Hits: by a derivative whose guard held. Misses: its guard failed. Generic: by the generic
instruction, before the site is warm, while it waits, or because nothing fits. Given up: derivatives that were.
Locality: operands had the types of the execution before at this site. Monomorphic: at sites that saw one combination
of types. While it counts, dynvm executes expressions on arrays one operation at a time, and slices and tuples that
subscripts of arrays would take as they are (BUILD_SLICE, BUILD_KEY) are generic there."""
OF_ALLOCATIONS = """Executed, not static. Before: everything but the removal of allocations (`--nama=inline`); after:
with it. The first of three is level generic; of it, new is what is made or left out. New: tuples, lists, ranges, iterators, slices,
bound methods, instances that instructions make. Get and set: attributes that were loaded and stored, also those of classes
and modules, which regions may know as constants. Cells of regions that were given up, or of other files than the
program, are not seen: there get and set are too small. Floats, and ints of 48 bits, are in NaN boxes: no box is there
to be removed."""
OF_SITES = """Types and derivatives: how many sites saw one, two, or more combinations, and had so many derivatives.
While it counts, dynvm executes expressions one operation at a time."""


@dataclass(frozen=True)
class Options:
    dynvm: str
    runs: int
    size: str  # of sizes.json: quick, count or test
    counted: str  # the size of what is counted
    pattern: str
    jobs: int
    level: str
    instructions: bool  # count them, instead of times
    folder: Optional[Path]  # of other people's kernels (folders.py)
    given: Tuple[str, ...] = ()  # programs instead of those of bench/, with their arguments


def programs(options: Options, folders: Sequence[str], use: str) -> List[Program]:
    if options.given:
        return [Program(Path(words[0]).stem, tuple(words)) for words in map(shlex.split, options.given)]
    found = [program for folder in folders for program in suite(BENCH / folder, use, options.pattern)]
    if not found:
        raise Wrong(f"no program of {', '.join(folders)} has {options.pattern} in its name")
    return found


# ---- Speed-ups: of columns over the first one ----


def count_all(found: List[Program], columns: List[Column], jobs: int) -> Times:
    """Instructions in the place of seconds, of one run."""
    times = Times()
    idles = dict.fromkeys((program.idle, program.idle, column) for program in found for column in columns)
    work = [*idles, *((program.name, program.arguments, column) for program in found for column in columns)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = pool.map(lambda item: counts.count(Path(item[2].command[0]), [*item[2].command[1:], *item[1]]), work)
        for (key, _, column), result in progress(zip(work, results), "counts", len(work)):
            if isinstance(key, str):
                times.seconds[key, column.name] = [float(result)]
            else:
                times.idle[key, column.name] = float(result)
    return times


def costs(options: Options, found: List[Program], columns: List[Column]) -> Times:
    return count_all(found, columns, options.jobs) if options.instructions else run_all(found, columns, options.runs)


def cell(ratios: List[float]) -> object:
    """A single run has no interval."""
    return interval(ratios) if len(ratios) > 1 else ratios[0]


def speedups(title: str, options: Options, found: List[Program], columns: List[Column], notes: List[str]) -> Table:
    """How many times as fast each column is as the first one."""
    times, names = costs(options, found, columns), [column.name for column in columns]
    measured = [program for program in found if times.long_enough(program, names)]
    if not measured:
        raise Wrong("all programs take too little to be told from start-up: take a larger --size")
    unit, scale = ("million", 1e6) if options.instructions else ("s", 1.0)
    rows = [[program.name, f"{min(times.work(program, names[0])) / scale:,.3f}",
             *(cell(times.ratios(program, names[0], name)) for name in names[1:])] for program in measured]
    for folder in dict.fromkeys(program.name.split("/")[0] for program in measured):
        group = [program for program in measured if program.name.split("/")[0] == folder]
        rows.append([f"mean of {folder}", "", *(cell(times.means(group, names[0], name)) for name in names[1:])])
    short = [program.name for program in found if program not in measured]
    more = [f"Too short to be told from start-up: {', '.join(short)}."] if short else []
    what = "instructions under callgrind" if options.instructions else "CPU time"
    return Table(title, ["program", f"{names[0]}, {unit}", *names[1:]], rows, notes + more, tuple(names[1:]),
                 f"{what}: how many times as fast as {names[0]}; further right is faster")


def at(options: Options, name: str, *switches: str) -> Column:
    return Column(name, (options.dynvm, *switches))


# ---- Quickening ----

REACHES = {  # each column has one thing more than the one before
    "generic": ("--level=generic",),
    "INCA": ("--level=inca",),
    "sequence": ("--nama=sequence",),
    "loop": ("--nama=loop",),
    "inline": ("--nama=inline",),
    "NAMA": ("--nama=virtual",),
}


def sizes_by_level(options: Options) -> List[Table]:
    title = "Lines of code and binary size by level"
    try:
        found = size.measure([Path(options.dynvm).parent])
    except (size.Unusable, OSError) as why:
        return [Table(title, ["level"], [["not shown"]], [f"No build could be read: {why}."])]
    rows: List[List[object]] = []
    lines = octets = 0
    for level in size.LEVELS[:3]:
        parts = [part for part in found["parts"] if part["level"] == level]
        more_lines, more_octets = sum(p["lines"] for p in parts), sum(sum(p["bytes"].values()) for p in parts)
        lines, octets = lines + more_lines, octets + more_octets
        generic = rows[0][3:] if rows else [lines, 1.0, octets]
        rows.append([level, more_lines, more_octets, lines, lines / generic[0], octets, octets / generic[2]])
    head = ["level", "lines it adds", "bytes it adds", "lines", "lines, times generic", "bytes", "bytes, times generic"]
    return [Table(title, head, rows, [OF_SIZES])]


def quickening(options: Options) -> List[Table]:
    columns = [at(options, name, *switches) for name, switches in REACHES.items()]
    found = programs(options, OBJECTS, options.size)
    speed = speedups("Speed-up over the interpreter without", options, found, columns, [OF_REACHES])
    return [speed, *sizes_by_level(options)]


# ---- Maps and class versions ----


def maps(options: Options) -> List[Table]:
    level = f"--level={options.level}"
    columns = [at(options, "neither", level, "--stress=no-maps,no-versions"),
               at(options, "maps", level, "--stress=no-versions"),
               at(options, "versions", level, "--stress=no-maps"),
               at(options, "both", level)]
    found = programs(options, OBJECTS, options.size)
    notes = [f"At level {options.level}. {OF_MAPS}"]
    return [speedups("Speed-up by maps and by class versions", options, found, columns, notes)]


# ---- Statistics of specialisation ----


def share(part: float, whole: float) -> Optional[Share]:
    return Share(part / whole) if whole else None


def locality_of(sites: Iterable[dict]) -> Dict[str, object]:
    """Of executions but each site's first: those with the types of the one before; those at sites with no others."""
    sites = list(sites)
    steady = [site for site in sites if len(site["types"]) == 1 and not site["other_types"]]
    typed = sum(site["typed"] for site in sites)
    return {"locality": share(sum(site["same"] for site in sites), typed),
            "monomorphic": share(sum(site["typed"] for site in steady), typed)}


def counted(options: Options, found: List[Program], *switches: str) -> List[dict]:
    command = [options.dynvm, "stats", "--json", *switches]
    return each(found, lambda program: stats([*command, *program.arguments]), options.jobs)


def kinds_of_execution(rows: Iterable[dict]) -> Dict[str, int]:
    rows = list(rows)
    names = ("executions", "hits", "misses", "generic", "deoptimisations")
    return {name: sum(row[name] for row in rows) for name in names}


def shares(sums: Dict[str, int]) -> List[object]:
    return [sums["executions"], *(share(sums[name], sums["executions"]) for name in ("hits", "misses", "generic")),
            sums["deoptimisations"]]


def specialised(name: str, report: dict) -> List[object]:
    sites = [site for site in report["sites"] if site["quickens"]]
    local = locality_of(sites)
    return [name, *shares(kinds_of_execution(sites)), local["locality"], local["monomorphic"]]


def statistics(options: Options) -> List[Table]:
    found = programs(options, EVERYTHING, options.counted)
    reports = counted(options, found, f"--level={options.level}")
    head = ["executions", "hits", "misses", "generic", "given up"]
    by_name: Dict[str, List[dict]] = {}
    for report in reports:
        for row in report["instructions"]:
            if row["quickens"]:
                by_name.setdefault(row["name"], []).append(row)
    families = [(name, kinds_of_execution(rows)) for name, rows in by_name.items()]
    families.sort(key=lambda row: -row[1]["executions"])
    every = kinds_of_execution(sums for _, sums in families)
    rows = [specialised(program.name, report) for program, report in zip(found, reports)]
    for folder in dict.fromkeys(program.name.split("/")[0] for program in found):
        sites = [site for program, report in zip(found, reports) if program.name.startswith(f"{folder}/")
                 for site in report["sites"]]
        rows.append(specialised(f"all of {folder}", {"sites": sites}))
    return [
        Table("By program", ["program", *head, "locality", "monomorphic"], rows,
              [f"Of executions of instructions that have derivatives, at level {options.level}. {OF_STATISTICS}"],
              ("hits", "locality"), "share of executions"),
        Table("By instruction, of all programs", ["instruction", *head],
              [[name, *shares(sums)] for name, sums in families] + [["all", *shares(every)]], [], ("hits", "generic"),
              "share of executions"),
    ]


# ---- Allocations ----

# What cells of regions do to attributes, by their names.  An update is both.
GET = re.compile(r"RA[A-Z]*_(GET|UPDATE)|\w*LOAD_ATTR")
SET = re.compile(r"RA[A-Z]*_(SET|UPDATE)|\w*STORE_ATTR")
LINE = re.compile(r"\s+(\d+)  (\S+)[^+]*?( \++)?$")


def cells_of(region: dict) -> List[Tuple[str, int]]:
    """The names in a region's listing with how often each was executed: behind the head of a run (a `+` for each cell of
    it that follows) stand those that were executed with it."""
    steps: Dict[int, int] = {}
    for step in region["steps"]:
        steps[step["cell"]] = steps.get(step["cell"], 0) + step["steps"]
    found, carried, left = [], 0, 0
    for line in region["listing"]:
        parsed = LINE.match(line)
        if not parsed:
            continue
        own = steps.get(int(parsed[1]), 0)
        found.append((parsed[2], own + (carried if left > 0 else 0)))
        left -= 1
        if parsed[3]:
            carried, left = own, len(parsed[3].strip())
    return found


def attributes(page: dict) -> Tuple[int, int]:
    """How often an attribute was loaded, and stored: by instructions, and by cells of regions."""
    by_name = {row["name"]: row["executions"] for row in page["counts"]["instructions"]}
    loads, stores = by_name.get("LOAD_ATTR", 0), by_name.get("STORE_ATTR", 0)
    for function in page["listing"]["functions"]:
        for region in function.get("regions", []):
            for name, steps in cells_of(region):
                loads += steps * bool(GET.match(name))
                stores += steps * bool(SET.match(name))
    return loads, stores


def removed(options: Options, program: Program) -> Dict[str, List[int]]:
    """Allocations, gets, sets and guards, each at generic, and without and with removal."""
    pages = [seen(options.dynvm, list(REACHES[name]), program.arguments) for name in ("generic", "inline", "NAMA")]
    gets, sets = zip(*(attributes(page) for page in pages))
    made = [sum(kind["made"] for kind in page["counts"]["objects"]) for page in pages]
    made[0] += sum(kind["removed"] for kind in pages[0]["counts"]["objects"])
    return {"new": made,
            "get": list(gets), "set": list(sets), "guard": [page["counts"]["guards"]["executed"] for page in pages]}


def allocations(options: Options) -> List[Table]:
    found = programs(options, EVERYTHING, options.counted)
    results = each(found, lambda program: removed(options, program), options.jobs)
    rows: List[List[object]] = []
    for program, result in zip(found, results):
        row: List[object] = [program.name]
        for name, (generic, before, after) in result.items():
            row += [before, after] if name == "guard" else [generic, before, after]
        new, before, after = result["new"]
        rows.append([*row, share(new - after, new), share(before - after, before)])
    head = ["program", *(f"{what}{when}" for what in ("new", "get", "set") for when in ("", ", before", ", after")),
            "guards, before", "guards, after", "removed of new", "removed of before"]
    drawn = ("removed of new", "removed of before")
    columns = [at(options, "before", *REACHES["inline"]), at(options, "after", *REACHES["NAMA"])]
    counted = Table("Operations before and after", head, rows, [OF_ALLOCATIONS], drawn, "share of allocations")
    timed = programs(options, EVERYTHING, options.size)
    try:
        return [counted, speedups("Speed-up by the removal of allocations", options, timed, columns, [])]
    except Wrong as why:  # what was counted is worth having
        if not options.given:
            raise
        return [replace(counted, notes=[*counted.notes, f"No times: {why}."])]


# ---- Cross-module quickening ----


def place_of(site: dict) -> Tuple[object, ...]:
    return site["function"], site["file"], site["line"], site["pc"]


def misses(name: str, report: dict) -> List[object]:
    """Of the sites that the extension was asked about."""
    part = report["extensions"]
    where = {place_of(site) for site in part["sites"]}
    local = locality_of(site for site in report["sites"] if place_of(site) in where)
    total = part["hits"] + part["misses"] + part["generic"]
    return [name, part["count"], total, *(share(part[kind], total) for kind in ("hits", "misses", "generic")),
            local["locality"], *(part["types"][number] for number in ("one", "two", "more")),
            *(part["derivatives"][number] for number in ("one", "two", "more"))]


def reasons(reports: List[dict]) -> Table:
    found: Dict[str, int] = {}
    for report in reports:
        for reason, times in report["extensions"]["reasons"].items():
            found[reason] = found.get(reason, 0) + times
    every = sum(found.values())
    ordered = sorted(found.items(), key=lambda row: -row[1])
    rows: List[List[object]] = [[why, times, share(times, every)] for why, times in ordered]
    return Table("Misses and slower ways, by reason", ["reason", "times", "of all"], rows or [["none", 0, None]])


def cross_module(options: Options) -> List[Table]:
    level = f"--level={options.level}"
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    columns = [Column("off", (options.dynvm, level, "--no-extension-quickening"), threads),
               Column("on", (options.dynvm, level), threads)]
    notes = [f"Off: nothing is specialised for extensions, at level {options.level}."]
    if options.folder:
        found = kernels_of(options.folder, options.size, options.pattern, options.dynvm)
    else:
        found = programs(options, ["arrays"], options.size)
    table = speedups("Speed-up by cross-module quickening", options, found, columns, notes)
    reports = counted(options, found, level)
    head = ["program", "sites", "executions", "hits", "misses", "generic", "locality", "1 type", "2 types", "more types",
            "1 derivative", "2 derivatives", "more derivatives"]
    return [table,
            Table("Sites that extensions were asked about", head, [misses(p.name, r) for p, r in zip(found, reports)],
                  [OF_SITES], ("hits", "locality"), "share of executions"),
            reasons(reports)]


# ---- What there is ----


@dataclass(frozen=True)
class Paper:
    """An experiment, and the paper's figures; what the figures say is told only where it is known for sure."""

    cited: str
    there: Tuple[Tuple[str, str], ...]
    run: Callable[[Options], List[Table]]
    timed: bool = True
    level: str = "nama"


PAPERS = {
    "quickening": Paper(
        "Brunthaler, Inline Caching Meets Quickening (ECOOP 2010), Efficient Interpretation using Quickening (DLS "
        "2010), Speculative Staging for Interpreter Optimization (2013)",
        (("figure 4, speed-ups", f"2013, abstract: up to more than four times CPython's speed; {REST}"),
         ("tables 2 and 3, sizes", NOT_SHOWN)), quickening),
    "maps": Paper(
        "Bolz and others, Runtime Feedback in a Meta-Tracing JIT for Efficient Dynamic Languages (ICOOOLPS 2011)",
        (("figure 9, with and without maps and versions, of a tracing compiler", NOT_SHOWN),), maps, level="inca"),
    "statistics": Paper(
        "Shannon, PEP 659: Specializing Adaptive Interpreter (2021), with the statistics of CPython's --enable-pystats",
        (("hits, misses and deferred executions by instruction", NOT_SHOWN),), statistics, timed=False, level="inca"),
    "allocations": Paper(
        "Bolz and others, Allocation Removal by Partial Evaluation in a Tracing JIT (PEPM 2011)",
        (("figure 7, operations in traces before and after, counted once each",
          f"allocations removed: 59 % of a ray tracer's, 90 % of telco's; {REST}"), ("figure 8, times", NOT_SHOWN)), allocations),
    "cross-module": Paper(
        "Berlakovich and Brunthaler, Cross Module Quickening: The Curious Case of C Extensions (ECOOP 2024)",
        (("figures 6 and 7, speed-ups of NPBench", f"4 to 13 %, where attempts in vain cost up to 18; {REST}"), ("table 1, misses", NOT_SHOWN),
         ("section 7.4, type locality", "99 to 100 %")), cross_module),
}
