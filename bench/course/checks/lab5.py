"""Lab 5: the same program, in which no hot site stays slow."""

from checks.lab import Lab

TAIL = "45 of 90 urgent\n30 third\n18 fifth\n"
DAYS = {90: "2698.423 5005.0\n(8010, 360)\n" + TAIL,
        700: "158358.935 35650.0\n(69300, 2800)\n" + TAIL,
        5000: "8022154.0 248500.0\n(495000, 20000)\n" + TAIL}


def check(lab: Lab) -> None:
    program = lab.folder / "ledger.dl"
    for count, right in DAYS.items():
        found = lab.program(program, count)
        for line, expected in zip(found.split("\n") + [""] * 9, right.split("\n")):
            lab.expect(line == expected, f"with {count} it prints {line!r}, not {expected!r}")
    said = lab.report("explain", "--json", program, 5000)
    for site in said["sites"]:
        lab.expect(False, f"line {site['line']}, {site['instruction']} in {site['function']}: slow {site['slow']:,} of "
                   f"{site['executions']:,} times: {site['sentence']}")
    day = [loop for loop in said["loops"] if loop["function"] == "day"]
    lab.expect(any(loop["reason"] is None for loop in day), "the loop in `day` has no region that keeps" if day else
               "there is no hot loop in a function `day` any more")
    totals = lab.report("stats", "--json", program, 5000)["totals"]
    lab.note(f"{totals['executions']:,} instructions in {totals['steps']:,} steps, {totals['region']:,} of them in regions")
