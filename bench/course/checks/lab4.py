"""Lab 4: a call that becomes an instruction, in an extension."""

import time

from checks.lab import Lab

ODD = """153.125
[20, 1.5, 3, 1180591620717411303424, 0.0]
TypeError: unsupported operand type(s) for -: 'float' and 'str'
TypeError: unsupported operand type(s) for -: 'NoneType' and 'float'
1j
[nan, -inf]
"""


def seconds(lab: Lab, *words) -> float:
    best = 1e9
    for _ in range(3):
        begin = time.monotonic()
        lab.program(*words)
        best = min(best, time.monotonic() - begin)
    return best


def check(lab: Lab) -> None:
    lab.need_dynvm()
    lab.extension("blend.c")
    lab.environment["DYNVM_PATH"] = str(lab.scratch)
    fade, odd = lab.folder / "fade.dl", lab.folder / "odd.dl"
    sites = [site for site in lab.report("stats", "--json", "--level=inca", fade, 2000)["sites"]
             if site["instruction"].startswith("CALL") and site["line"] == 10 and site["executions"] == 2000]
    form = sites[0]["form"] if sites else "nothing"
    if not lab.expect(form == "CALL_MIX_FLOAT",
                      f"the call in line 10 of fade.dl has become {form}, not CALL_MIX_FLOAT: "
                      "has the function its derivative, and does `guard` say yes to three floats?"):
        return
    lab.expect(sites[0]["hits"] > 1900,
               f"of 2000 calls only {sites[0]['hits']} were done by CALL_MIX_FLOAT; the others missed: "
               "does `run` say DVX_DEOPTIMISE to floats?")
    for options in ([], ["--no-native-extensions"], ["--level=generic"], ["--ext-debug"]):
        done = lab.command([lab.dynvm, *options, odd])
        shown = " ".join(["dynvm", *options, "odd.dl"])
        expected, found = ODD.split("\n"), done.stdout.split("\n")
        for right, line in zip(expected, found + [""] * len(expected)):
            lab.expect(right == line,
                       f"{shown} prints {line!r}, not {right!r}: what does the derivative do with what does not fit?")
        lab.expect(not done.stderr, f"{shown} says: {done.stderr.strip()}")
    listing = lab.report("dis", "--json", "--after-run", "--level=inca", fade, 2000)
    instructions = [i for function in listing["functions"] for i in function["instructions"]]
    tiers = [i.get("tier") for i in instructions if i["form"] == "CALL_MIX_FLOAT"]
    lab.expect("native" in tiers,
               "CALL_MIX_FLOAT has its portable twin alone: .native_call, .native_call_method, .native_count")
    if not lab.complaints:
        plain, portable, native = (seconds(lab, *options, "--level=inca", fade, 1000000) for options in
                                   (["--no-extension-quickening"], ["--no-native-extensions"], []))
        lab.note(f"a million calls: {plain:.2f} s without the derivative, {portable:.2f} s portable, "
                 f"{native:.2f} s native")
