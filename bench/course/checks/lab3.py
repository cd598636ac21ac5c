"""Lab 3: caches at sites, which are right when objects and classes change."""

from checks.lab import Lab, figures

# Program, result, searches at most, what is wrong if there are more.
PROGRAMS = (("same", 499500, 1, "all objects have one map: one search is enough"),
            ("two", 499499, 3, "there are two maps, and one object without the attribute"),
            ("growing", 102010, 2, "the site sees two maps"),
            ("six", 719400, 1200, "no more searches than without a cache"),
            ("stored", 499500, 1, "a cell stays where it is when it is stored to: remember it, not what is in it"),
            ("overridden", 50500, 2, "one search before the class gets its own method, one behind it"),
            ("classes", 16000, 2, "one search for each of two classes"))


def check(lab: Lab) -> None:
    machine = lab.compile("cache.c", "cache")
    for program, result, most, why in PROGRAMS:
        found = figures(lab.run([machine, program]))
        lab.expect(found["result"] == result, f"program {program}: the result is {found['result']}, not {result}: "
                   "the site believes what is no longer so")
        lab.expect(found["searches"] <= most,
                   f"program {program}: {found['searches']} searches, at most {most} expected: {why}")
        lab.note(f"program {program}: {found['searches']} searches")
