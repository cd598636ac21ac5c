"""Lab 5: a site that learns from its misses, a global that tells; and a program in which no hot site stays slow."""

from checks.lab import Lab, figures

TAIL = "45 of 90 urgent\n30 third\n18 fifth\n"
DAYS = {90: "2698.423 5005.0\n(8010, 360)\n" + TAIL,
        700: "158358.935 35650.0\n(69300, 2800)\n" + TAIL,
        5000: "8022154.0 248500.0\n(495000, 20000)\n" + TAIL}


# Program, result; of each count the least and the most, and what is wrong otherwise.
SITES = (("calm", 0, {"looked": (1, 1), "hits": (9900, 10000)}, "this site never misses"),
         ("turns", 0, {"misses": (8, 200), "looked": (2, 40)},
          "types never settle here: a site must be given up, and wait longer and longer"),
         ("late", 0, {"hits": (8500, 9999), "misses": (8, 200)},
          "types settle after 1000 executions: a site must look again"),
         ("constant", 6000, {"loads": (2, 2)}, "nobody stores to the global: two sites need two loads"),
         ("stored", 905100, {"loads": (22, 22)}, "ten stores: after each, both sites load again once"))


def check_sites(lab: Lab) -> None:
    machine = lab.compile("sites.c", "sites")
    for program, result, ranges, why in SITES:
        found = figures(lab.run([machine, program]))
        lab.expect(found["result"] == result,
                   f"sites, program {program}: the result is {found['result']}, not {result}: "
                   "a site keeps what is no longer so")
        for name, (least, most) in ranges.items():
            lab.expect(least <= found[name] <= most, f"sites, program {program}: {name} {found[name]}, expected "
                       f"{least if least == most else f'{least} to {most}'}: {why}")


def check(lab: Lab) -> None:
    check_sites(lab)
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
    lab.expect(any(loop["reason"] is None for loop in day), "the loop in `day` has no region: what does `explain` say of it?" if day else
               "there is no hot loop in a function `day` any more")
    totals = lab.report("stats", "--json", program, 5000)["totals"]
    lab.note(f"{totals['executions']:,} instructions in {totals['steps']:,} steps, "
             f"{totals['region']:,} of them in regions")
