"""Makes random dl programs about classes and generators, on top of generate_language.

Classes have several bases, super(), properties, descriptors, attribute hooks; they change while loops
over their attributes are hot.  Generators are advanced, sent to, thrown into and closed at random.  Objects with a
`__del__` live in functions that no exception leaves: when the locals of others die is a known difference.  In which
order the collector finds them is CPython's own affair.
"""

from generate_language import RAISED, Language

OWN_PRELUDE = '''
import collections
import gc

gc.disable()
Point = collections.namedtuple("Point", "x y", defaults=[0])


class Noisy:
    def __init__(self, name, other=None):
        self.name = name
        self.other = other

    def __del__(self):
        if dead is None:
            print("del", self.name)
        else:
            dead.append(self.name)


dead = None


def collect():
    global dead
    dead = []
    gc.collect()
    print("collected", sorted(dead))
    dead = None


class Field:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return self.name if instance is None else ("field", getattr(instance, self.name, None))

    def __set__(self, instance, value):
        setattr(instance, self.name, value)


class Shadow:
    def __get__(self, instance, owner):
        return ("shadow", owner.__name__, instance is None)


def make(kind, *args):
    try:
        return kind(*args)
    except Exception as e:
        print(type(e).__name__, e)
    return Manager("made", False)


def advance(generator, actions):
    try:
        for action, value in actions:
            if action == "next":
                show(next(generator))
            elif action == "send":
                show(generator.send(value))
            elif action == "throw":
                show(generator.throw(value))
            else:
                show(generator.close())
    except StopIteration as e:
        print("stop", repr(e.value))
    except Exception as e:
        print(type(e).__name__, e, repr(e.__cause__), repr(e.__context__))
    finally:
        try:
            generator.close()
        except Exception as e:
            print("close", type(e).__name__, e)
'''
METHODS = {
    "get(self)": ["return (NAME, super().get())", "return self.a", "return self.shared", "return (NAME, self.p)"],
    "step(self, x)": ["self.a = x\nreturn super().step(x)", "self.b = x\nreturn x", "return super(C0, self).step(x)", "return [x, self.a]"],
    "s(self, x=0)": ["return (NAME, x)"],
    "__getattr__(self, name)": ["if name > 'd': raise AttributeError(name)\nreturn name * 2", "return super().__getattr__(name)", "raise KeyError(name)"],
    "__setattr__(self, name, value)": ["print('set', name)\nsuper().__setattr__(name, value)",
                                       "object.__setattr__(self, name, (value,) if name == 'd' else value)"],
    "__delattr__(self, name)": ["print('delete', name)\nsuper().__delattr__(name)"],
    "__getattribute__(self, name)": ["if name == 'e': return 'hooked'\nreturn super().__getattribute__(name)", "return object.__getattribute__(self, name)"],
    "__init_subclass__(cls, **keys)": ["print('subclass', cls.__name__, sorted(keys))\nsuper().__init_subclass__()"],
    "__new__(cls, *args)": ["print('new', cls.__name__)\nreturn super().__new__(cls)", "return object.__new__(cls)"],
    "__iter__(self)": ["yield NAME\nyield self.a", "return iter((1, 2))", "yield from (self.a, self.shared)"],
    "__eq__(self, other)": ["return isinstance(other, C0)", "return super().__eq__(other)"],
    "__add__(self, other)": ["return (NAME, other)", "return NotImplemented"],
    "__radd__(self, other)": ["return (other, NAME)", "return NotImplemented"],
    "__iadd__(self, other)": ["self.a = other\nreturn self", "return NotImplemented"],
    "__call__(self, *args)": ["return (NAME, args)", "return super().__call__(*args)"],
    "__len__(self)": ["return 3"],
    "__bool__(self)": ["return False"],
    "__hash__(self)": ["return 7"],
    "__getitem__(self, i)": ["if i == 3: raise IndexError(i)\nreturn (NAME, i)"],
    "__contains__(self, x)": ["return x == 1"],
    "__enter__(self)": ["print('enter', NAME)\nreturn 1"],
    "__exit__(self, kind, error, trace)": ["print('exit', NAME, kind and kind.__name__)\nreturn bool(self.a)"],
    "__lt__(self, other)": ["return NAME", "return NotImplemented"],
    "__format__(self, spec)": ["return NAME + spec"],
    "__index__(self)": ["return 2"],
}
BLOCKS = [
    "@property\ndef p(self):\n    return (NAME, self.a)",
    "@property\ndef p(self):\n    return super().p\n@p.setter\ndef p(self, value):\n    self.a = value",
    "@property\ndef p(self):\n    return self.b\n@p.deleter\ndef p(self):\n    del self.b",
    "p = Field()", "p = Shadow()", "p = 5",
    "@staticmethod\ndef s(x=1):\n    return (NAME, x)",
    "@classmethod\ndef s(cls, x=0):\n    return (cls.__name__, x)",
    "@classmethod\ndef s(cls, x=0):\n    return (NAME, super().s(x))",
    "d = Field()",
    "__hash__ = None", "__len__ = None", "e, f = Shadow(), 1",
]
CHANGES = [
    "NAME.get = lambda self: <int0>", "NAME.p = property(lambda self: <any0>)", "NAME.p = <any0>", "del NAME.p", "del NAME.get",
    "NAME.s = staticmethod(lambda x=0: (x, 'new'))", "NAME.s = classmethod(lambda cls, x=0: (cls.__name__, x))", "NAME.shared = <any>",
    "NAME.__len__ = lambda self: <0|2|'x'>", "NAME.__getattr__ = lambda self, name: name", "NAME.a = <any0>", "NAME.step = C0.step",
    "NAME.__setattr__ = lambda self, name, value: object.__setattr__(self, name, [value])", "del NAME.__setattr__", "del NAME.__getattr__",
    "NAME.__add__ = lambda self, other: <any0>", "NAME.__eq__ = lambda self, other: <bool0>", "NAME.p = Field()", "NAME.a = Shadow()",
    "NAME.__call__ = lambda self, *args: <any0>", "NAME.__getattribute__ = lambda self, name: object.__getattribute__(self, name)",
    "OBJ.get = lambda: <any0>", "OBJ.a = <any0>", "OBJ.p = <any0>", "del OBJ.a", "OBJ.<a|b|c|d|e|f> = <any0>", "OBJ = make(NAME, <any0>)",
    "NAME.__iter__ = lambda self: iter(<sequence>)", "NAME.__bool__ = lambda self: <bool0>",
]
USES = [
    "OBJ.get()", "OBJ.step(<any0>)", "OBJ.p", "OBJ.s()", "OBJ.s(<int0>)", "NAME.s(1)", "NAME.p.__class__.__name__", "OBJ.a", "OBJ.b", "OBJ.<c|d|e|f|x>",
    "NAME.shared", "OBJ.shared", "OBJ + <int0>", "<int0> + OBJ", "len(OBJ)", "bool(OBJ)", "OBJ(<any0>)", "[*OBJ]", "OBJ[<int0>]", "OBJ == <any0>",
    "OBJ == o1", "OBJ < o2", "<int0> in OBJ", "f'{OBJ:>3}'", "isinstance(OBJ, NAME)", "issubclass(NAME, C0)", "[c.__name__ for c in NAME.__mro__]",
    "sorted(OBJ.__dict__)", "hasattr(OBJ, '<a|b|p|x|e>')", "getattr(OBJ, '<a|b|p|x|e>', None)", "super(NAME, OBJ).get()", "NAME.get(OBJ)", "hash(OBJ) == 7",
    "[1, 2, 3, 4][OBJ]", "type(OBJ).__name__", "super(C0, OBJ).a", "OBJ.get.__name__", "NAME.__qualname__", "OBJ.step.__self__ is OBJ", "object.__getattribute__(OBJ, 'a')",
]
NOISES = [
    "a = Noisy('a')", "b = Noisy('b', a)", "a.other = b", "a = None", "b = None", "l = [a, Noisy('l')]", "l.append(l)", "l.clear()", "d = {1: Noisy('d')}", "d[1] = 2",
    "d = None", "t = (a, b)", "t = ()", "a, b = b, a", "collect()", "Noisy('dropped')", "print('between')", "a.other = a", "l[0] = None", "l.pop()",
    "f = lambda: (a, f)", "f = None", "g = (x for x in [Noisy('g'), 1])", "next(g, None)", "g.close()", "g = iter([])", "s = {1: l}", "l = None", "l = [Noisy('x') for i in range(2)]",
    "d = collections.deque([Noisy('q')])", "d.append(d)", "print(a.name)", "a = Noisy('c', l)", "show(list(l or ()) == l)",
]
# When a step of NOISES can be done without an error.
NEEDS = [("a.other", "a is not None"), ("print(a", "a is not None"), ("l.", "l"), ("l[", "l"), ("d[1] =", "type(d) is dict"), ("g.", "hasattr(g, 'close')"),
         ("d.append", "hasattr(d, 'append')"), ("show(list(l", "l is not None")]


class Objects(Language):
    def __init__(self, seed: int):
        super().__init__(seed)
        self.generators = []  # (name, number of parameters)
        self.in_generator = False

    def about(self, template: str, depth: int = 1) -> str:
        """A template of this file: NAME is a class, OBJ a variable with an instance."""
        return self.expand(template, depth).replace("NAME", self.pick(self.classes)).replace("OBJ", self.pick(["o1", "o2"]))

    # ---- Statements ----

    def use(self) -> None:
        self.line(self.pick(["show({})", "show({})", f"{self.pick(self.targets())} = clip({{}})"]).format(self.about(self.pick(USES))))

    def change(self) -> None:
        self.line(self.about(self.pick(CHANGES)))

    def hot(self) -> None:
        """A use in a loop, before and after a change to what it depends on."""
        name, result = self.fresh("i"), self.fresh("r")
        last = self.pick([6, 12, 40])
        self.line(f"{result} = None")
        with self.under("try:"), self.under(f"for {name} in range({last}):"):
            with self.under(f"if {name} == {self.random.randrange(last)}:"):
                self.change()
            with self.under("try:"):
                self.line(f"{result} = {self.about(self.pick(USES), 0)}")
            with self.under("except (AttributeError, TypeError) as e:"):
                self.line(f"{result} = str(e)")
        with self.under("except Exception as e:"):
            self.line("print(type(e).__name__, e)")
        self.line(f"show({result})")

    def run_generator(self) -> None:
        if not self.generators:
            return self.use()
        name, count = self.pick(self.generators)
        call = f"{name}({', '.join(self.value('any', 1) for _ in range(count))})"
        if self.in_generator:
            return self.line(self.pick([f"yield from {call}", f"{self.pick(self.targets())} = clip((yield from {call}))"]))
        kind = self.random.randrange(5)
        if kind == 0:
            self.line(f"show(list(itertools.islice({call}, {self.upto(4)})))")
        elif kind == 1:
            item = self.fresh("i")
            with self.under(f"for {item} in {call}:"):
                self.line(f"show({item})")
                if self.chance(40):
                    self.line(f"if {item}: break")
        else:
            steps = [self.pick(["('next', 0)", "('next', 0)", f"('send', {self.value('any', 0)})",
                                f"('throw', {self.pick(RAISED)})" if self.chance(40) else "('next', 0)", "('close', 0)" if self.chance(20) else "('next', 0)"])
                     for _ in range(self.upto(6))]
            self.line(f"advance({call}, [{', '.join(steps)}])")

    def give(self) -> None:
        """A yield, in a generator."""
        if not self.in_generator:
            return self.use()
        target, value = self.pick(self.targets()), self.value("any", 1)
        self.line(self.pick([f"yield {value}", f"{target} = clip((yield {value}))", "show((yield))", f"yield from {self.expand('<source>')}",
                             f"{target} = clip([(yield {value}), (yield)])", f"yield ({value}, {target})"]))

    def collection(self) -> None:
        """A deque, defaultdict, Counter or named tuple, and what is done to it."""
        name = self.fresh("v")
        kind = self.random.randrange(4)
        self.line(f"{name} = " + self.expand([f"collections.deque(<source>, <None|2|3>)", "collections.defaultdict(<list|int|None>, <dict>)",
                                             "collections.Counter(<str>)", "Point(<any>, <any>)"][kind]))
        steps = [
            [f"{name}.append(<any>)", f"{name}.appendleft(<any0>)", f"show({name}.pop())", f"show({name}.popleft())", f"{name}.rotate(<int0> % 5)",
             f"{name}.extend(<source>)", f"show({name})", f"show({name}[<index>])", f"{name}[0] = <any0>", f"del {name}[<index>]", f"{name} += <list>",
             f"show({name} * 2)", f"show(<any0> in {name})", f"{name}.insert(1, <any0>)", f"{name}.remove(<int0>)", f"show({name}.count(1))", f"show({name} == <list>)"],
            [f"show({name}[<key>])", f"{name}[<key>] += <int0>", f"{name}[<key>].append(<any0>)", f"show(sorted({name}, key=str))", f"show(len({name}))",
             f"show(<key> in {name})", f"{name}.setdefault(<key>, 5)", f"show({name}.pop(<key>, None))", f"show(dict({name}))", f"{name} |= <dict>"],
            [f"{name}.update(<str>)", f"show({name}.most_common(2))", f"show({name} + collections.Counter(<str>))", f"show({name}[<key>])",
             f"{name}.subtract(<str>)", f"show(sorted({name}.elements()))", f"show({name}.total())", f"show({name} & collections.Counter('abc'))", f"{name}[<key>] += 1"],
            [f"show({name})", f"show({name}.x)", f"show({name}._replace(y=<any0>))", f"show({name}._asdict())", f"show({name} == <tuple>)", f"show({name}[<index>])",
             f"show(Point(*<sequence>))", f"show(Point(<any0>))", f"x1, y1 = {name}"],
        ][kind]
        for _ in range(self.upto(4)):
            self.line(self.expand(self.pick(steps)))

    def own_statements(self) -> list:
        own = [self.use] * 5 + [self.change] * 3 + [self.hot] * 4 + [self.run_generator] * 4 + [self.collection] * 2
        return own + [self.give] * 12 if self.in_generator else own

    def finish(self) -> None:
        """What a generator does when it is dropped must not raise or yield."""
        if self.in_generator:
            return self.line("print('finally in a generator')")
        super().finish()

    def swallows(self) -> str:
        return "False" if self.in_generator else super().swallows()

    # ---- The whole ----

    def class_(self, number: int) -> None:
        name = f"C{number}"
        bases = self.random.sample(self.classes, min(len(self.classes), self.random.randrange(4)))
        if self.chance(12):
            bases.append(self.pick(["List", "Int", "Dict", "Text", "Custom", "Point"]))
        self.line()
        self.line()
        with self.under("try:"):
            with self.under(f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"):
                self.line(f"shared = {self.value('any', 0)}")
                with self.under("def __init__(self, a=0, *more):"):
                    for text in self.random.sample(["self.a = a", "self.b = 1", "self.c = [a]", "super().__init__()", "super().__init__(a)"], 3):
                        self.line(text if self.chance(80) else f"if {self.pick(['a', 'more'])}: {text}")
                self.put(f"def __repr__(self):\n    return '{name}()'")
                for head, choices in METHODS.items():
                    if self.chance(70 if head[:4] in ("get(", "step") and not bases else 14):
                        with self.under(f"def {head}:"):
                            self.put(self.pick(choices).replace("NAME", f"'{name}'"))
                for block in self.random.sample(BLOCKS, self.random.randrange(4)):
                    self.put(block.replace("NAME", f"'{name}'"))
        with self.under("except (TypeError, ValueError) as e:"):
            self.line("print(type(e).__name__, e)")
            self.line(f"{name} = {self.classes[0]}" if self.classes else f"{name} = Manager")
        self.classes.append(name)

    def instances(self) -> None:
        for name in ("o1", "o2"):
            self.line(f"{name} = make({self.pick(self.classes)}{self.pick([', 1', ', p0', '', ', None, 2'])})")

    def generator(self, number: int) -> None:
        self.in_generator = True
        name, count = f"gen{number}", self.upto(2)
        self.function_named(name, count)
        self.in_generator = False
        self.functions.pop()
        self.generators.append((name, count))

    def noise(self, number: int) -> None:
        """Objects that say when they die; steps that would fail are skipped, so that no exception leaves a frame."""
        self.line()
        self.line()
        with self.under(f"def noise{number}():"):
            self.line("a = b = f = None")
            self.line("l, d, t, g = [], {}, (), iter([])")
            for _ in range(self.random.randrange(4, 16)):
                text = self.pick(NOISES)
                test = next((test for needs, test in NEEDS if text.startswith(needs)), None)
                text = f"if {test}: {text}" if test else text
                self.line(text)
            self.line("collect()")
            self.line("print('end')")
        self.line(f"noise{number}()")
        self.line("collect()")

    def text(self, seed: int) -> str:
        self.begin(seed, OWN_PRELUDE)
        for number in range(self.upto(5)):
            self.class_(number)
        if self.chance(40):
            self.noise(0)
        for number in range(self.upto(3)):
            self.generator(number)
        for number in range(self.upto(2)):
            self.function(number)
        self.drive()
        return "\n".join(self.lines) + "\n"


def generate(seed: int) -> str:
    return Objects(seed).text(seed)
