"""Makes random dl programs that compute with complex numbers in hot loops, on top of generate_loops.

Locals z0 to z2 hold complex numbers: they meet ints and floats in operators, go through functions that are inlined,
tuples, lists and attributes, take other types where ways meet or late, and are alive when guards fail and errors are
raised.
"""

from generate_loops import Loops

NUMBERS = ["z0", "z1", "z2"]
CONSTANTS = ["0j", "1j", "(-0.0 - 1j)", "(0.6 + 0.8j)", "(2 - 0.5j)", "complex(-0.0, 0.0)", "(0.1 + 0j)"]


class Complex(Loops):
    def __init__(self, seed: int):
        super().__init__(seed * 31 + 7)

    def float_leaf(self) -> str:
        if self.inside and self.chance(30):
            return f"{self.pick(NUMBERS)}.{self.pick(['real', 'imag'])}"
        return super().float_leaf()

    def float_expression(self, depth: int = 2) -> str:
        if self.inside and depth and self.chance(20):
            return self.pick([f"abs({self.number(depth - 1)})", f"({self.number(depth - 1)}).imag", f"spread({self.number(0)})"])
        return super().float_expression(depth)

    def condition(self) -> str:
        if self.inside and self.chance(15):
            return self.pick([f"{self.pick(NUMBERS)}", f"{self.pick(NUMBERS)} == {self.number(0)}", f"abs({self.number(1)}) < 2.0"])
        return super().condition()

    def number(self, depth: int = 2) -> str:
        roll = self.random.randrange(12)
        if not depth or roll < 2:
            return self.pick(NUMBERS + NUMBERS + CONSTANTS)
        left, right = self.number(depth - 1), self.number(depth - 1)
        if roll < 6:
            return f"({left} {self.pick('++--**/')} {right})"
        if roll < 8:
            real = self.pick([self.int_leaf(), self.float_leaf(), self.float_leaf()])
            pair = [left, real] if self.chance(60) else [real, left]
            return f"({pair[0]} {self.pick('+-**/')} {pair[1]})"
        return self.pick([
            f"-{left}",
            f"complex({self.float_leaf()}, {self.pick([self.float_leaf(), self.int_leaf()])})",
            f"complex({self.float_leaf()})",
            f"{self.pick(NUMBERS)} ** {self.pick(['2', '2', '2', '3', '-1', '0.5'])}",
            f"turned({left}, {right})",
            f"either({left}, {self.condition()})",
            f"({left} if {self.condition()} else {right})",
            f"{self.pick(NUMBERS)}.conjugate()",
            f"zs[{self.pick(self.loops or ['0'])} % 3]",
        ])

    def assign(self) -> None:
        if not self.inside or self.chance(35):
            super().assign()
            return
        name, other = self.pick(NUMBERS), self.pick(NUMBERS)
        loop = self.pick(self.loops or ["0"])
        roll = self.random.randrange(14)
        if roll < 6:
            self.line(f"{name} = {self.number(3)}")
        elif roll < 8:
            self.line(f"{name} {self.pick(['+=', '-=', '*=', '/='])} {self.pick([self.number(1), self.float_leaf(), self.int_leaf()])}")
        elif roll == 8:
            first, second = self.random.sample(NUMBERS, 2)
            self.line(f"{first}, {second} = {self.pick([f'{second}, {first}', f'{self.number(1)}, {self.number(1)}', f'parted({name}, {self.number(1)})'])}")
        elif roll == 9:
            self.line(self.pick([f"zs[{loop} % 3] = {self.number(1)}", f"{name} = zs[{loop} % 3]", f"held = ({name}, {other})",
                                 f"box.z = {self.number(1)}", f"{name} = box.z", f"{name} = Box({self.number(1)}).z"]))
        elif roll == 10:
            self.line(f"if {self.condition()}:")
            self.line(f"    {name} = {self.number(2)}")
        elif roll == 11:
            self.line(f"if not abs({name}) < 1e6:")
            self.line(f"    {name} = {self.pick(CONSTANTS)}")
        elif roll == 12:
            self.line(f"{name} = {other}")
        else:
            self.line(f"z0, z1, z2 = {self.pick(['z1, z2, z0', 'z2, z0, z1', 'z0, z2, z1'])}")

    def surprise(self) -> None:
        if self.chance(50):
            super().surprise()
            return
        loop, name = self.pick(self.loops), self.pick(NUMBERS)
        self.line(f"if {loop} == {self.random.randrange(2, 60)} and i2 != -77:")
        text = self.pick([f"{name} = 2", f"{name} = 0.5", f"{name} = Sub(1, 2)", f"{name} = complex('nan')", f"{name} = 1e200 + 1e200j", f"{name} = 0j",
                          f"zs[1] = {self.pick(['3', '0.25', 'None', 'Sub(2)'])}", f"print({name})", f"{name} = None", f"del {name}", f"{name} = True"])
        self.line(f"    {text}")

    def text(self, seed: int) -> str:
        program = super().text(seed)
        more = ["class Sub(complex):", f"    def __{self.pick(['mul', 'add', 'rsub'])}__(self, other):", "        return 1.5"]
        more += ["", "", "class Box:", "    def __init__(self, z):", "        self.z = z"]
        more += ["", "", "def turned(z, w):", f"    return z {self.pick('*+/-')} w"]
        more += ["", "", "def either(z, flag):", "    if flag:", f"        return z * {self.pick(['2', '0.5', '1j'])}", "    return z"]
        more += ["", "", "def parted(z, w):", f"    return z {self.pick('+-*')} w, {self.pick(['z', 'w', '-z', '0.5 * w'])}"]
        more += ["", "", "def spread(z):", "    return z.real - z.imag"]
        lines = program.split("\n")
        begin = lines.index("def later(x):")
        run = lines.index("def run(i0, x0):")
        end = next(i for i in range(run, len(lines)) if lines[i].startswith("    print(i0, i1, i2, x0"))
        names = ["    z0 = z1 = complex(x0, 1)", "    z2 = 0.6 + 0.8j", "    zs = [z0, 1j, z2]", "    held = None", "    box = Box(0j)"]
        lines[end:end] = ["    print(z0, z1, z2, zs, held, box.z)"]
        lines[run + 2 : run + 2] = names
        lines[begin:begin] = more + ["", ""]
        return "\n".join(lines).replace("LookupError) as e", "LookupError, AttributeError, NameError) as e") + "\n"


def generate(seed: int) -> str:
    return Complex(seed).text(seed)
