"""Lab 1: an instruction, and a second form of dispatch."""

from checks.lab import Lab, figures

RESULTS = (("sum", 1000, 500500), ("squares", 1000, 333833500), ("powers", 20, 3 ** 20))


def check(lab: Lab) -> None:
    forms = {"trampoline": ["-DTRAMPOLINE"], "tail": []}
    machines = {form: lab.compile("machine.c", f"machine-{form}", *flags) for form, flags in forms.items()}
    for form, machine in machines.items():
        for program, n, result in RESULTS:
            found = figures(lab.run([machine, program, n]))["result"]
            lab.expect(found == result, f"{form} form: program {program} with {n} gives {found}, not {result}")
    turns = {form: figures(lab.run([machine, "sum", 1000]))["turns"] for form, machine in machines.items()}
    lab.expect(turns["trampoline"] > 10000,
               f"trampoline form: `run` went round {turns['trampoline']} times for 10,004 instructions; "
               "each handler should return to it")
    lab.expect(turns["tail"] == 1, f"tail form: `run` went round {turns['tail']} times for 10,004 instructions; "
               "each handler should go to the next one itself, so that `run` goes round once")
    if not lab.complaints:
        for form, machine in machines.items():
            seconds = min(figures(lab.run([machine, "sum", 10000000]))["seconds"] for _ in range(3))
            lab.note(f"{form} form: {seconds * 10:.2f} ns for an instruction")
