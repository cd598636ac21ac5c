"""Makes random dl programs whose hot loops raise exceptions of their own classes, and catch them.

The classes have an `__init__` or none, that of a base, or one that computes; exceptions are raised in the loop or in functions
that it calls, from others, again, and as objects that were made before. Clauses ask for what was passed, keep exceptions, and raise
others. Late in a loop classes, functions and globals change. What dies has a `__del__`, but when it does is not compared: CPython's tracebacks keep frames.
"""

from writer import Writer

VARIANTS = [
    "--level=inca --form=tail", "--level=nama --form=tail", "--level=nama --form=tail --stress=quicken",
    "--level=nama --form=trampoline --stress=exit:3", "--level=nama --form=trampoline --stress=guard:5", "--level=nama --form=tail --stress=assume",
]

PRELUDE = '''
import sys

kept = []
died = []


class Own(ValueError):
    pass


class Further(Own, KeyError):
    pass


class Placed(Own):
    level = 3

    def __init__(self, place, other=2):
        super().__init__("placed", place)
        self.place = place
        self.other = other


class Deeper(Placed):
    level = 4

    def __init__(self, other, place):
        Placed.__init__(self, place)
        self.other = other


class Bare(Exception):
    level = 1

    def __init__(self, place, more=None):
        self.place = self.other = place


class Told(Own):
    def __init__(self, what):
        super().__init__(f"told {what}")
        self.place = what


class Gone:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        died.append(self.n)


def other_init(self, place, other=1):
    self.args = (other, place)
    self.place, self.other = other, place


def look(e):
    found = [type(e).__name__, len(repr(e)), len(str(e)), sorted(e.__dict__)]
    for other in (e.__context__, e.__cause__):
        found.append(repr(other))
    trace = e.__traceback__
    while trace:
        found.append(trace.tb_lineno)
        trace = trace.tb_next
    return found


def asked():
    e = sys.exc_info()[1]
    return 0 if e is None else len(e.args)


one = Placed("one")
'''
CHANGES = [
    "Placed.__init__ = other_init", "Placed.level = 5", "Deeper.level = 0.5", "Own.other = 7", "Placed.__setattr__ = lambda self, n, v: object.__setattr__(self, n, 4)",
    "Deeper.__init__ = Placed.__init__", "Placed.place = property(lambda self: 6, lambda self, v: None)", "Own.__del__ = lambda self: died.append(1)", "del Bare.__init__",
    "global Own\nOwn = Bare", "global Placed\nPlaced = Deeper", "global super\nsuper = lambda: Own(1)", "Further.__init__ = other_init",
    "Told.__init__ = lambda self, what: None", "global deep\ndeep = flat", "Own.place = 2.5",
]
RAISED = [
    "Own", "Own()", "Own(i, x)", "Own(i)", "Own(i)", "Further(i)", "KeyError(i, x)", "Placed(i)", "Placed(i, x)", "Placed(i)", "Placed(x, other=s)", "Deeper(s, i)", "Deeper(i, i)",
    "Bare(i)", "Bare(text)", "Bare(i, Gone(i))", "Told(i)", "Placed()", "Placed(text)", "Deeper(x, str(i % 5))", "Placed(Gone(i))", "Own(Gone(i), text)", "one", "Bare", "made",
    "Own(i) from Own(s)", "Placed(i) from None", "Own(i) from one", "ValueError", "IndexError(i)", "Bare([i])", "Own((i, x))", "StopIteration(i)", "Own(i * 2 ** 40, i & 1 == 0)",
]
BODIES = ["s += text.index('z')", "s += [1, 2][i % 4]", "s += 7 // (i % 3)", "s += {0: 1, 1: 5}[i % 4]", "s += int(text)"]
CAUGHT = ["Own", "Own", "Further", "Placed", "Deeper", "Bare", "Told", "Exception", "ValueError", "(Placed, Bare)", "(KeyError, IndexError)", "LookupError", "others"]
ASKED = [
    "s += number(e.args[0])", "s += number(e.args[-1])", "s += number(e.place)", "x = number(e.other) * 0.5", "s += number(e.level)", "y = e.args[0]", "y = e.place",
    "s += len(e.args)", "s += len(str(e))", "y = e.place, e.other", "s += asked()", "kept.append(look(e))", "e.place = i", "y = e", "f = e", "kept[:] = [e]", "del e", "e = i",
    "s += number(e.args[1])", "s += e.args is e.args", "if i % 50 == 3: kept.append(look(e))", "if i == CHANGE: kept.append(e)",
]
ENDS = ["raise", "raise Own(s) from e", "raise Told(i)", "raise Placed(i) from None", "continue", "break", "raise e", "return s"]
QUIET = ["s += 1", "x = s * 0.5", "pass", "s = s % 1000 + i", "y = None", "s += asked()"]


class Raised(Writer):
    def raising(self) -> None:
        raised = self.pick(RAISED) if self.chance(85) else ""
        when = self.pick(["i % 2 == 0", "i % 3 == 1", "i & 7 == 2", "i % 50 == 7", "x > 3.0", "i % 5 < 4"])
        self.line(f"if {when}: raise {raised}" if raised else self.pick(BODIES))

    def clause(self, named: bool, depth: int) -> None:
        for _ in range(self.random.randrange(1, 3)):
            self.put(self.pick(ASKED[:7] + ASKED if named else QUIET).replace("CHANGE", "450"))
        if depth < 2 and self.chance(12):
            self.attempt(depth + 1)
        if self.chance(20):
            end = self.pick(ENDS if named else [e for e in ENDS if " e" not in e])
            self.line(end if self.chance(50) else f"if i % {self.pick([2, 3, 40])} == 1: {end}")

    def attempt(self, depth: int = 0) -> None:
        with self.under("try:"):
            if self.chance(40):
                self.line(self.pick(["s += deep(i, x, text)", "s += flat(i)", "s += deep(i + 1, x, text) + flat(i)"]))
            if depth < 2 and self.chance(20):
                self.attempt(depth + 1)
            for _ in range(self.random.randrange(1, 4)):
                self.raising()
            self.line("s += i & 3")
        ends = self.chance(15)
        for _ in range(self.random.randrange(0 if ends else 1, 4)):
            named = self.chance(60)
            with self.under(f"except {self.pick(CAUGHT)}{' as e' if named else ''}:"):
                self.clause(named, depth)
        if ends:
            with self.under("finally:"):
                self.line(self.pick(QUIET))
        if depth == 0 and not ends and self.chance(60):
            named = self.chance(50)
            with self.under(f"except Exception{' as e' if named else ''}:"):
                self.line(self.pick(["s += 1", "x = 0.25", "s += len(e.args)" if named else "pass"]))

    def function(self, name: str, arguments: str) -> None:
        self.line()
        self.line()
        with self.under(f"def {name}({arguments}):"):
            self.line("s = 1")
            if name == "flat":
                self.line("x, text = i * 0.25, 'flat'")
            self.line("made = one")
            if self.chance(50):
                self.raising()
            elif name == "deep" and self.chance(50):
                self.line("s += flat(i)")
                self.raising()
            else:
                with self.under("try:"):
                    self.raising()
                    self.raising()
                named = self.chance(60)
                with self.under(f"except {self.pick(CAUGHT)}{' as e' if named else ''}:"):
                    self.line(self.pick(["s = 5", "raise", "raise Own(i)", "return 2"] + (["raise Placed(i) from e", "return number(e.args[0])", "s = number(e.place)"] * 2 if named else [])))
            self.line("return s & 15")

    def loop(self, number: int) -> None:
        self.line()
        self.line()
        with self.under(f"def run{number}(n):"):
            self.put("s = 0\nx = 0.5\ny = None\ntext = 'text'\nmade = Own('made')")
            if self.chance(15):
                self.line(self.pick(["e = None", "e = 5"]))
            with self.under("for i in range(n):"):
                if self.chance(70):
                    with self.under(f"for k in range({self.pick([3, 9])}):"):
                        self.line("s = (s * 5 + k * i) & 0xFFFF")
                if self.chance(20):
                    self.line(self.pick(["made = Placed(i)", "text = 'a' * (i % 4)", "gone = Gone(i)", "x = i * 0.5"]))
                self.attempt()
                self.line("x = (s & 15) * 0.5")
                if self.chance(60):
                    self.line(f"if i == {self.pick([430, 650])}: change()")
            self.line("return s, x, number(y)")

    def text(self) -> str:
        self.put(PRELUDE)
        self.put('\n\ndef number(v):\n    return v if isinstance(v, int) else 3 if isinstance(v, float) else 1')
        self.line("\n\nothers = (KeyError, Bare)")
        self.function("flat", "i")
        self.function("deep", "i, x, text")
        for number in range(self.upto(3)):
            self.line()
            self.line()
            with self.under("def change():"):
                self.put(self.pick(CHANGES))
            self.loop(number)
            self.line()
            self.line()
            with self.under("for again in range(2):"):
                with self.under("try:"):
                    self.line(f"print(run{number}(700))")
                with self.under("except Exception as e:"):
                    self.line("print(repr(e), repr(e.__context__), look(e)[4:])")
                    self.line("e.__traceback__ = e.__context__ = e.__cause__ = None")
            self.line("print([v if isinstance(v, list) else repr(v) for v in kept[-5:]], len(kept))")
            self.line("one.__traceback__ = one.__context__ = one.__cause__ = None")
            self.line("kept.clear()")
        return "\n".join(self.lines) + "\n"


def generate(seed: int) -> str:
    return f"# Random exceptions {seed}.\n" + Raised(seed * 6007 + 5).text()
