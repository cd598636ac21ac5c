"""Random expressions of a wanted type, over the variables in scope.

A template holds parts in angle brackets: a type, a type with 0 behind it (a variable or a literal only), one
of PARTS, or a choice between texts (`<and|or>`).

No set or key holds None or an instance: their hashes are addresses in CPython 3.11.
"""

import re

from writer import Writer

KINDS = ["int", "float", "str", "list", "tuple", "dict", "set", "bytes", "bytearray", "bool", "complex", "none"]
LITERALS = {
    "int": ["0", "1", "2", "(-1)", "7", "255", "1000", "(2**47 - 1)", "(-2**47)",
            "(2**62)", "(2**63 - 1)", "(-2**63)", "(2**64)", "(10**20)", "0x7f"],
    "float": ["0.5", "(-0.0)", "2.0", "1e16", "1e-7", "3.14159", "1e22", "float('inf')", "1.5e300", "0.1", "123456789.125", "float('nan')"],
    "str": ["''", "'a'", "'abc'", "'é'", "'日本 x'", "'😀b'", "'A b c'", "'12'", "' pad '", "'a,b,,c'", "'x\\ty\\n'", "'ß'", "'%s'", "'{}'"],
    "list": ["[]", "[1, 2, 3]", "[0.5, 1]", "['a', 'b']", "[1, 'x', None]", "[[1], [2]]", "[True, 2.0]", "[2**50, -1]"],
    "tuple": ["()", "(1,)", "(1, 2)", "('a', 1.5)", "((1, 2), 'b')"],
    "dict": ["{}", "{'a': 1}", "{1: 'x', 2: 'y'}", "{'n': 2, 'k': [1]}", "{(1, 2): 3.5}"],
    "set": ["set()", "set([1, 2, 3])", "set('abc')", "set([1.5, 2])", "frozenset([1, 2])"],
    "bytes": ["b''", "b'abc'", "b'\\x00\\xff'", "b'a b'", "bytes(3)"],
    "bytearray": ["bytearray()", "bytearray(b'xyz')", "bytearray(2)"],
    "bool": ["True", "False"],
    "complex": ["1j", "(1+2j)", "(-0.5j)", "complex(2)", "(0.5-1e200j)", "complex('nan')", "(-0-0j)", "(3-4j)"],
    "none": ["None"],
    "key": ["1", "'a'", "'n'", "2.0", "(1, 2)", "b'k'", "True", "-7", "2**70", "'日本'"],
}
SPECS = ["", ">8", "<6", "^9", "*^7", "05", "+", ",", "x", "#b", ".3", "e", ".2f", "g", "%", "s", "_", "=+8", "o", "c", "n", ">+10,.2f"]
PERCENTS = ["%s", "%d", "%5.2f", "%r", "%x", "%-6s|", "%+d", "%e", "%%", "%c", "%05d", "%g", "%10s", "%i %s"]


PARTS = {
    "seed": ["0", "7", "(-1)", "2**70"],  # a Random takes None, int, float, str and bytes; dl an int only
    "small": ["0", "1", "2", "5", "31", "63"],
    "compare": ["<", "<=", "==", "!=", ">", ">="],
    "spec": SPECS,
    "percent": PERCENTS,
    "bound": ["", "0", "1", "2", "-1", "-2", "3", "None", "100"],
    "slice": ["<bound>:<bound>", "<bound>:<bound>", "<bound>:<bound>:", "<bound>:<bound>:2", "<bound>:<bound>:-1", "<bound>:<bound>:-2"],
    "index": ["0", "-1", "1", "2", "<int0>"],
    "number": ["<int>", "<float>", "<int>", "<float>", "<complex>"],
    "sequence": ["<list>", "<list>", "<tuple>", "<str>", "<bytes>"],
    "container": ["<list>", "<tuple>", "<str>", "<dict>", "<set>", "<bytes>"],
    "source": ["<container>", "range(5)", "range(3)"],
    "clause": ["for q in <source>", "for q in <source>", "for q in <source> if <filter>", "for q in <source> for r in <range(2)|str(q)>",
               "for q in <source> for r in <list0> if <filter>"],
    "filter": ["q", "q != 1", "q in (1, 2, 'a')", "str(q) > 'b'", "<bool0>", "len(str(q)) == 1"],
    "item": ["q", "(q, q)", "str(q)", "q * 2", "[q]", "(q, <any>)", "q == 1", "-q", "q + <int0>", "f'{q}'"],
    "same": None,  # one type for all its places in a template
    "plain": None,  # the name of a variable
}
COMPARED = ["complex", "int", "float", "str", "list", "tuple", "any", "set", "bytes"]
PART = re.compile(r"<(\w+|[^<>]*\|[^<>]*)>")
TEMPLATES = {
    "int": [
        "math.gcd(<int>, <int>)", "math.isqrt(<int>)", "math.comb(<int0> % 70, 3)", "bisect.bisect(sorted([1, <int0>, 5]), <int0>)", "Int(<int>)",
        "(Int(<int>) + <int>)", "Int(<int>).double()", "functools.reduce(operator.add, <list>)", "random.Random(<seed>).randrange(1, 1000)",
        "operator.index(<int>)", "math.floor(<float>)",
        "(<int> + <int>)", "(<int> - <int>)", "(<int> * <int>)", "(<int> // <int>)", "(<int> % <int>)", "(<int> & <int>)", "(<int> | <int>)",
        "(<int> ^ <int>)", "((<int>) << <small>)", "(<int> >> <small>)", "(-<int>)", "(~<int>)", "abs(<int>)", "len(<container>)",
        "(<int> + <int>)", "(<int> - <int>)", "(<int> * <int>)", "<str>.find(<str0>)", "<str>.count(<str0>)",
        "sum(<int0> <clause>)", "max((len(str(q)) <clause>), default=0)",
        "int(<float>)", "int(<str>)", "round(<float>)", "sum(<list>)", "pow(<int>, <small>, <int>)", "(<int> ** 2)",
        "divmod(<int>, <int>)[0]", "(<int>).bit_length()", "min(<int>, <int>)", "max(<int>, <int>)", "<list>.index(<int>)",
        "<bytes>[<index>]", "ord(<str>[0])", "<list>.count(<int>)", "hash(<key>)",
        "int.from_bytes(<bytes>, 'big')", "round(<int>, -1)", "int(<str>, 16)", "hash(tuple(map(str, <tuple0>)))",
        "(<int>).bit_count()", "<str>.index(<str0>)", "<str>.rfind('a', 1)",
    ],
    "float": [
        "math.sqrt(<float>)", "math.fmod(<float>, <float>)", "math.fsum(<list>)", "math.ldexp(<float>, <int0> % 50)", "math.hypot(<float>, <float>)",
        "Real(<float>)", "(Real(<float>) * <float>)", "math.log2(<int>)", "random.Random(<seed>).random()", "math.exp(<float> % 5)",
        "abs(<complex>)", "<complex>.real", "<complex>.imag", "(<float> + <float>)", "(<float> - <float>)", "(<float> * <float>)", "(<float> / <float>)", "(<float> // <float>)", "(<float> % <float>)", "(<int> / <int>)",
        "(<float> + <int>)", "(<int> * <float>)", "(-<float>)", "abs(<float>)", "float(<int>)", "float(<str>)", "round(<float>, <0|1|2|-1>)",
        "(<float> ** <2|-1|0>)", "(abs(<float>) ** 0.5)", "min(<float>, <float>)", "max(<float>, <int>)", "sum([<float>, <float>, <int>])", "divmod(<float>, <float>)[1]",
        "(<int> ** -1)", "float.fromhex(<float>.hex())", "float(repr(<float>))",
    ],
    "str": [
        "Text(<str>)", "Text(<str>).twice()", "(Text(<str>) + <str>)", "Text(<any>)[<slice>]", "<str>.join(Text(<str>))",
        "(<str> + <str>)", "(<str> * <0|2|3|-1>)", "<str>[<slice>]", "<str>[<index>]", "str(<any>)", "repr(<any>)",
        "<str>.<upper|lower|title|strip|lstrip|rstrip|swapcase|capitalize|casefold|expandtabs>()",
        "<str>.replace(<str>, <str0>)", "<str>.join(<list>)", "<str>.join([str(x) for x in <container>])",
        "'-'.join(str(q) <clause>)", "<str>.center(9, '*')", "<str>.zfill(6)", "<str>.ljust(<int> % 20)", "chr(<int> % 1000 + 32)", "<str>.removeprefix('a')", "<str>.strip(<str>)",
        "format(<number>, '<spec>')", "('<percent>' % <any>)", "('<percent>' % (<number>,))",
        "f'{<plain>!r}|{<plain>:<spec>}'", "f'{<plain>}{<plain>!s:>7}'",
        "'{0} {1!r:>9}'.format(<any>, <str>)", "'{a}{b:<spec>}'.format(a=<any>, b=<number>)", "hex(<int>)", "bin(<int>)", "ascii(<str>)",
        "<bytes>.hex()", "<bytes>.decode('latin-1')", "<str>.translate({97: 'Z', 98: None})", "<str>.partition(',')[0]",
        "min(<str>, <str>)", "oct(<int>)", "type(<any>).__name__", "<str>.splitlines()[0]", "(<number>).__format__('')", "str(<number>)",
    ],
    "list": [
        "List(<list>)", "List(<list>)[<slice>]", "(List(<list>) + <list>)", "list(itertools.chain(<sequence>, <sequence>))",
        "list(itertools.islice(<sequence>, 3))", "list(itertools.product(<str>, repeat=2))[:6]", "list(itertools.accumulate(<list>))",
        "list(itertools.combinations(<sequence>, 2))[:9]", "[*map(operator.itemgetter(0), <list>)]", "heapq.nsmallest(3, <list>)",
        "list(itertools.zip_longest(<sequence>, <sequence>))", "list(itertools.takewhile(bool, <list>))",
        "[(k, list(g)) for k, g in itertools.groupby(<sequence>)]", "random.Random(<seed>).sample(range(20), 4)",
        "sorted(<list>, key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b)))",
        "[<any>, <any>]", "[*<container>, <any>]", "(<list> + <list>)",
        "(<list> * <0|1|2>)", "<list>[<slice>]", "list(<container>)", "sorted(<container>)",
        "[<item> <clause>]", "[<item> <clause>]", "list(<item> <clause>)", "sorted(str(q) <clause>)", "[*(<item> <clause>)]", "[[<item0> for q in range(2)] for p in range(2)]",
        "<str>.split(<|','|None, 1|'a'>)", "list(range(<int0> % 9))",
        "list(zip(<sequence>, <sequence>))", "list(enumerate(<sequence>, 1))", "list(<dict>.items())",
        "list(map(str, <container>))", "list(filter(None, <list>))", "list(reversed(<sequence>))", "sorted(<list>, key=repr)",
        "<list>.copy()", "[x for x in <list> if x not in <list>]", "list(<dict>.values())", "[w := <any0>, w]",
        "<bytes>.split(b'a')", "sorted(<set>, key=str)", "list(<set>)",
    ],
    "tuple": [
        "Tuple(<tuple>)", "tuple((<item>) <clause>)", "math.modf(<float>)", "math.frexp(<float>)", "tuple(itertools.repeat(<any>, 2))",
        "(<any>, <any>)", "(<tuple> + <tuple>)", "<tuple>[<slice>]", "tuple(<container>)", "(<tuple> * 2)",
        "(*<sequence>, <any>)", "divmod(<int>, <int>)", "<str>.partition('b')",
        "(1, <any>)[::-1]", "(<float>).as_integer_ratio()", "<str>.rpartition(' ')",
    ],
    "dict": [
        "Dict(<dict>)", "Dict(a=<any>)", "{str(k): v for k, v in <dict>.items()}",
        "{<key>: <any>, <key>: <any>}", "(<dict> | <dict>)",
        "{**<dict>, <key>: <any>}", "{str(q): <item> <clause>}", "dict(<dict>, z=<any>)",
        "dict(zip(<str>, <sequence>))", "<dict>.copy()", "dict.fromkeys(<str>, <any0>)",
        "{q: r for r, q in enumerate(<str>)}", "dict([(<key0>, 1), (<key0>, 2)])",
    ],
    "set": [
        "{<key>, <key>}", "{*<str>, <key>}", "{str(q) <clause>}", "{q for q in <str>}",
        "(<set> | <set>)", "(<set> & <set>)", "(<set> - <set>)", "(<set> ^ <set>)", "set([<key>, <key>])", "set(<str>)",
        "set(<bytes>)", "<set>.union(<str>)", "<set>.difference(<set>, (1, 'a'))", "frozenset(<set>)", "<set>.copy()",
        "set(range(<int0> % 40))", "(<dict>.keys() & <set>)", "set([str(q) <clause>])", "<set>.symmetric_difference([1, 2, 9])",
    ],
    "bytes": [
        "(<bytes> + <bytes>)", "(<bytes> * 2)", "<bytes>[<slice>]", "<str>.encode()", "bytes([<int> % 256])", "bytes(<bytearray>)",
        "<bytes>.<upper|lower|title|strip|swapcase|capitalize>()", "<bytes>.replace(<bytes>, b'-')", "b'-'.join([<bytes>, <bytes>])",
        "<bytes>.center(7, b'.')", "(b'%d %s' % (<int>, <bytes>))", "(<int>).to_bytes(20, 'big', signed=True)", "bytes.fromhex('0aFf')",
        "<bytes>.zfill(5)", "<bytes>.translate(None, b'a')", "<bytes>.partition(b'b')[2]", "bytes(<list>)",
    ],
    "bytearray": [
        "bytearray(<bytes>)", "(<bytearray> + <bytes>)", "<bytearray>[<slice>]", "<bytearray>.copy()", "(<bytearray> * 2)", "<bytearray>.replace(b'a', b'bc')",
        "bytearray(<int0> % 5)", "<bytearray>.upper()",
    ],
    "bool": [
        "isinstance(<any>, (List, Int, Text))", "math.isclose(<float>, <float>)", "(Int(<int>) == <int>)", "issubclass(type(<any>), (int, str))",
        "(<same> <compare> <same>)", "(<same> <compare> <same>)", "(<same> == <any>)", "(not <any>)",
        "(<bool> <and|or> <bool>)", "(<any> in <list>)",
        "(<key> not in <dict>)", "isinstance(<any>, <int|str|(int, float)|list|bool>)",
        "(<same> <compare> <same> <compare> <same>)", "any(<list>)", "all(<tuple>)", "any(<filter> <clause>)", "all(<filter> <clause>)",
        "<str>.<isdigit|isalpha|isupper|isspace|isidentifier|isalnum|istitle|isnumeric|isprintable>()",
        "<str>.startswith(<str0>)", "(<str> in <str>)", "bool(<any>)",
        "(<set> <= <set>)", "<set>.isdisjoint(<str0>)", "<bytes>.endswith(b'c')",
        "(<int> in <bytes>)", "callable(<any>)", "(<any0> is None)", "(<float>).is_integer()",
    ],
    "complex": [
        "(<complex> + <complex>)", "(<complex> - <number>)", "(<number> * <complex>)", "(<complex> * <complex>)", "(<complex> / <complex>)",
        "(<complex> ** <small>)", "(-<complex>)", "<complex>.conjugate()", "complex(<float>, <float>)", "complex(<str>)", "(<complex> ** 0.5)",
        "complex(<any>)", "sum([<complex>, <int>])", "complex(repr(<complex>))",
    ],
    "none": [
        "Dict(<dict>)[<key>]", "functools.partial(max, <int>)(<any>)", "operator.itemgetter(1, 0)(<sequence>)",
        "None", "(<any> or <any>)", "(<any> and <any>)", "<dict>.get(<key>)",
        "<list>[<index>]", "<tuple>[<index>]", "<dict>[<key>]",
        "(lambda q=2, *r: (q, r))(<any>)", "max(<list>, default=None)", "next(iter(<container>), 0)", "next((<item> <clause>), 0)", "sum(<list>, [])",
        "(<any> + <any>)", "(<any> % <any>)", "slice(<any0>, 2).indices(5)",
        "range(<int0> % 60, <int0> % 30, <int0> % 5)", "(w := <any>)",
    ],
}


class Expressions(Writer):
    def __init__(self, seed: int):
        super().__init__(seed)
        self.variables = {}  # name -> the kind it was made for

    def literal(self, kind: str) -> str:
        return self.pick(LITERALS[self.pick(KINDS) if kind == "any" else kind])

    def variable(self, kind: str) -> str:
        """A variable that was made for this kind, or a literal."""
        names = [n for n, k in self.variables.items() if k == kind]
        return self.pick(names) if names else self.literal(kind)

    def value(self, kind: str, depth: int) -> str:
        if kind == "key":
            return self.literal(kind)
        if self.chance(4):
            return f"({self.value('any', depth)})"
        if kind == "any":
            kind = self.pick(KINDS)
        if depth <= 0 or self.chance(25):
            if kind == "none" and self.variables:
                return self.pick([*self.variables, "None"])
            return self.literal(kind) if self.chance(35) else self.variable(kind)
        if self.chance(5):
            return self.expand(f"(<{kind}> if <bool> else <{kind}>)", depth - 1)
        return self.expand(self.pick(TEMPLATES[kind]), depth - 1)

    def expand(self, template: str, depth: int = 1) -> str:
        same = self.pick(COMPARED)

        def part(match) -> str:
            name = match.group(1)
            if "|" in name:
                return self.pick(name.split("|"))
            if name == "plain":
                return self.pick(list(self.variables) or ["1"])
            bare = name.rstrip("0")
            left = depth if bare == name else 0
            if PARTS.get(bare):
                return self.expand(self.pick(PARTS[bare]), left)
            return self.value(same if bare == "same" else bare, left)

        return PART.sub(part, template)
