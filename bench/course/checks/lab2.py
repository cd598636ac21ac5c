"""Lab 2: floats in boxes, which are all gone at the end, and not before."""

from checks.lab import Lab, figures

# Program, n, result; boxes made; boxes that may be retained at most.
PROGRAMS = (("ints", 1000, 2000, 0, 0),
            ("floats", 1000, 250, 1001, 2001),
            ("borrowed", 1000, 250, 1001, 1),
            ("mixed", 1000, 750, 3001, 1))


def check(lab: Lab) -> None:
    machine = lab.compile("values.c", "values")
    for program, n, result, made, retained in PROGRAMS:
        lines = lab.run([machine, program, n]).strip().split("\n")
        found = figures(lines[0])
        for line in lines:
            lab.expect("after its end" not in line and "alive at the end" not in line, f"program {program}: {line}")
        if "result" not in found:
            continue
        if not lab.expect(found["result"] == result,
                          f"program {program}: the result is {found['result']}, not {result}"):
            continue
        lab.expect(found["made"] == made, f"program {program}: {found['made']} boxes were made, not {made}")
        lab.expect(found["retained"] <= retained, f"program {program}: boxes were retained {found['retained']} times; "
                   f"{retained} is enough: what is borrowed is not retained")
        lab.note(f"program {program}: {found['made']} boxes, retained {found['retained']} times")
