"""Makes random dl programs whose hot loops look at strs and their characters: by subscripts, walks and enumerates.

Characters are compared, asked, counted, joined, passed on, kept in locals, globals, tuples and attributes, and meet
strs that are none, or beyond Latin-1; functions are called with strs of several widths, lists, tuples, ranges and bytes
in turn.
"""

from writer import Writer

TEXTS = ["'say 12 apes, + 3 Bees; '", "'åßÿ àé 7 ñµ\\x00 '", "'naïve “q” — € 5 '", "''", "'x'", "'aab'", "'日本 a1'"]
CHARS = ["'a'", "'b'", "' '", "'é'", "'€'", "''", "'ab'", "'7'", "'z'"]
COMPARE = ["==", "!=", "<", "<=", ">", ">=", "==", "!="]
ASKED = ["isalpha", "isalnum", "isdigit", "isspace", "islower", "isupper", "isdecimal", "upper", "strip"]
OTHERS = ["list(s)", "tuple(s)", "s.encode()", "s.split()", "[1, None, 'a', 'é'] * 9", "range(65, 130)", "[s, s[:1]] * 40"]


class Texts(Writer):
    def char(self) -> str:
        """Mostly a character of s, or a local that may be one."""
        return self.pick(["c", "c", "d", "s[i % n]", "s[-1 - i % n]", "s[i % n]", "e", self.pick(CHARS), "chr(97 + i % 30)", "chr(i % 300)", "s[i % n : i % n + 1]", "keep(c)", "g"])

    def truth(self) -> str:
        kind = self.random.randrange(12)
        if kind < 5:
            return f"{self.char()} {self.pick(COMPARE)} {self.char()}"
        if kind < 6:
            return f"{self.pick(CHARS)} <= {self.char()} <= {self.pick(CHARS)}"
        if kind < 8:
            among = self.pick(["'aeiou'", "s", "('a', 'b', 'é')", "'€' 'abc'", "['a', '7']", "{'a', ' '}", "t", "''"])
            return f"{self.char()} {self.pick(['in', 'not in'])} {among}"
        if kind < 10:
            return f"{self.char()}.{self.pick(ASKED)}()"
        return self.pick([self.char(), f"not {self.char()}", f"isinstance({self.char()}, str)", f"{self.char()} is None"])

    def statement(self, depth: int) -> None:
        kind = self.random.randrange(16)
        if kind < 4:
            with self.under(f"if {self.truth()}:"):
                self.inner(depth)
            if self.chance(40):
                with self.under("else:"):
                    self.inner(depth)
        elif kind < 7:
            self.line(f"{self.pick(['c', 'd', 'e', 'g'])} = {self.char()}")
        elif kind < 10:
            self.line(f"k {self.pick(['+=', '^=', '-='])} {self.pick([f'ord({self.char()})', f'len({self.char()})', f'({self.truth()})', f'{self.char()} == {self.char()}', 'i', 'len(s)'])}")
        else:
            self.line(self.pick([
                f"out += {self.char()}", f"out = out + {self.char()}", "out += ', '", f"d, out = out, out[:3]\nout += {self.char()}\nk += len(d)", f"found[{self.char()}] = found.get({self.char()}, 0) + 1", f"seen.append({self.char()})", "c, d = d, c", f"e, d = {self.char()}, {self.char()}",
                f"p.c = {self.char()}", "d = p.c", f"d = {self.char()} or {self.char()}", f"d = {self.char()} if {self.truth()} else e", f"p = Pair({self.char()}, i)", "k += p.weigh()",
                "out = f'{c}{d}{i}'", f"d = {self.char()} + {self.char()}", "seen.append((c, d))", f"k += {self.char()} * 2 == e", "e = None", "del d; d = c", f"match {self.char()}:\n    case 'a' | 'é': k += 1\n    case '': k += 2\n    case str(): k += 3",
            ]).replace("\n", "\n" + "    " * self.indent))

    def inner(self, depth: int) -> None:
        for _ in range(self.upto(2)):
            if depth:
                self.statement(depth - 1)
            else:
                self.line(self.pick(["k += 1", "k += i", "d = c", "continue", f"d = {self.char()}"]))

    def scan(self, number: int) -> None:
        is_generator = self.chance(12)
        with self.under(f"def scan{number}(s, t):"):
            self.line("global g")
            self.line(f"k = 0; out = ''; found = {{}}; seen = []; n = max(1, len(s)); i = 0; p = Pair('?', 1); c = {self.pick(CHARS)}; d = {self.pick(CHARS)}; e = {self.pick(['c', *CHARS])}")
            guarded = self.chance(25)
            head = self.pick(["for i in range(len(s)):", "for c in s:", "for i, c in enumerate(s):", "for c in t:", "for i, d in enumerate(t):", "for c, d in zip(s, t):", "while i < len(s):", "for d in reversed(t):"])
            with self.under(f"for turn in range({self.pick([1, 3])}):"):
                with self.under(head):
                    if "i" not in head.split("in ")[0] or head.startswith("while"):
                        self.line("i += 1")
                    if guarded:
                        self.line("try:")
                        self.indent += 1
                    for _ in range(self.upto(4)):
                        self.statement(2)
                    if guarded:
                        self.indent -= 1
                        with self.under("except (TypeError, IndexError, AttributeError) as x:"):
                            self.line("k += len(str(x))")
                    if is_generator:
                        with self.under("if i % 50 == 0:"):
                            self.line("yield c, d")
                    self.line("if len(out) > 50: out = out[-9:]")
            self.line("return k, out, sorted(map(str, found.items()))[-9:], list(map(str, seen[-4:])), c, d, e, p.c")
        self.line()

    def text(self, seed: int) -> str:
        self.line(f"# Texts {seed}.")
        self.put("g = 'a'\n\ndef keep(c):\n    return c\n\n"
                 "class Pair:\n    def __init__(self, c, n):\n        self.c = c\n        self.n = n\n\n"
                 "    def weigh(self):\n        return (self.c == 'a') + self.n\n")
        scans = self.upto(2)
        for number in range(scans):
            self.scan(number)
        self.put("def attempt(f, *args):\n    try:\n        r = f(*args)\n        print(list(r)[-3:] if hasattr(r, '__next__') else r)\n"
                 "    except Exception as e:\n        print(type(e).__name__, e)")
        for number in range(scans):
            for _ in range(1 + self.upto(3)):
                self.line(f"s = {self.pick(TEXTS)} * {self.pick([20, 60, 200])} + {self.pick(TEXTS)}")
                for _ in range(self.upto(3)):
                    self.line(f"attempt(scan{number}, {self.pick(['s', 's', 's', self.pick(OTHERS)])}, {self.pick(['s', 's', *OTHERS])})")
        self.line("print(g)")
        return "\n".join(self.lines) + "\n"


def generate(seed: int) -> str:
    return Texts(seed).text(seed)
