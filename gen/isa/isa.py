"""The model of the instruction set: typed data, filled by the blocks in gen/ops and validated before
anything is rendered.  render.py turns it into C.

An instruction is defined once, as one tagged block in one file of gen/ops (see gen/README.md).  Kinds:

  generic     what the compiler emits and the verifier checks: plain stack instructions
  adaptive    made here for every family with derivatives: chooses a derivative by what it sees
  derivative  an INCA form of a generic instruction: a guard and a typed body
  region      an operand-mode instruction of NAMA regions
  fusion      made here from a derivative: it and the loads in front of it, and perhaps the store behind it
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field, replace

import region_facts

OPERAND_KINDS = ("own", "const", "local", "name", "jump", "count", "code")

# Elements of typed buffers and their C types, in the order of dv_element (vm/types/binary/buffer.h).
ELEMENTS = {
    "uint8": "uint8_t",
    "int8": "int8_t",
    "uint16": "uint16_t",
    "int16": "int16_t",
    "uint32": "uint32_t",
    "int32": "int32_t",
    "uint64": "uint64_t",
    "int64": "int64_t",
    "float32": "float",
    "float64": "double",
}

# Guards by type name: C condition on the value, the abstract interpreter's lattice element.
TYPES = {
    "int": ("dv_is_int({0})", "DV_K_INT"),
    "float": ("dv_is_float({0})", "DV_K_FLOAT"),
    "str": ("dv_is_shape({0}, DV_T_STR)", "DV_K_STR"),
    "list": ("dv_is_shape({0}, DV_T_LIST)", "DV_K_LIST"),
    "tuple": ("dv_is_shape({0}, DV_T_TUPLE)", "DV_K_TUPLE"),
    "dict": ("dv_is_shape({0}, DV_T_DICT)", "DV_K_DICT"),
    "bool": ("dv_is_bool({0})", "DV_K_BOOL"),
    "none": ("dv_is_none({0})", "DV_K_NONE"),
    "instance": ("dv_is_plain_instance({0})", "DV_K_ANY"),
    "derived": ("dv_is_subclass_instance({0})", "DV_K_ANY"),
    "word": (None, "DV_K_INT"),  # an int, immediate or not, within int64; the body guards
    "any": (None, "DV_K_ANY"),
    "bytes": ("dv_is_shape({0}, DV_T_BYTES)", "DV_K_BYTES"),
    "bytearray": ("dv_is_shape({0}, DV_T_BYTEARRAY)", "DV_K_BYTEARRAY"),
    "complex": ("dv_is_shape({0}, DV_T_COMPLEX)", "DV_K_COMPLEX"),
    # array.array by what is in it; in the order of ELEMENTS, as region/ counts on
    **{f"array_{name}": (f"dv_is_array_of({{0}}, DV_{name.upper()})", "DV_K_ARRAY") for name in ELEMENTS},
    # objects of extensions whose items are elements along one axis
    **{f"buffer_{name}": (f"dv_has_items(vm, {{0}}, DV_{name.upper()})", "DV_K_ANY") for name in ELEMENTS},
}


def type_constant(name: str) -> str:
    return f"DV_RESULT_{(name.replace('word', 'int') or 'none_known').upper()}"


# What derivatives keep in their inline cache: C of it in a cell, and what it means.  Two that share a cell are written
# `shape/slot`, the first one in its left half.
CACHED = {
    "shape": ("(uint32_t){}.s.a", "number of the object's shape"),
    "root": ("(uint32_t){}.s.a", "number of the shape with which instances of the class begin"),
    "offset": ("{}.s.b", "bytes from the object to the attribute's slot"),
    "slot": ("(uint32_t){}.s.b", "number of the attribute's slot"),
    "kind": ("(uint32_t){}.s.b", "what the class's cell held: a shape, or 0 for what is no object"),
    "then": ("(uint32_t){}.s.b", "number of the shape after the store"),
    "place": ("{}.i", "bytes from the object to the new slot"),
    "cell": ("((dv_global_cell *){}.p)", "the name's cell, in a class or a module"),
    "builtin": ("((const dv_global_cell *){}.p)", "the name's cell among the builtins"),
    "entries": ("((const dv_poly *){}.p)", "several shapes (quicken/polymorphic.h)"),
    "serial": ("{}.i", "serial number of the module"),
    "thread": ("((const dv_thread *){}.p)", "code of the dl function that was seen"),
    "plan": ("((const dv_plan *){}.p)", "how arguments become parameters (run/plan.h)"),
    "function": ("((const dv_cfunction_def *){}.p)", "definition of the C function"),
    "class": ("{}.v", "the class, which is never freed"),
    "local": ("{}.i", "the local with the cell of __class__"),
    "region": ("((dv_region *){}.p)", "the loop's region"),
}
# With one of these a site depends on classes: when one changes, it is to choose anew.
OF_CLASSES = {"shape", "root", "entries"}

# What a derivative's site, hot in a loop, says about a region of that loop (region/analyse/promise.h).
PROMISES = {
    "nothing": "nothing: what becomes of it depends on more than the site",
    "typed": "raw numbers",
    "boxed": "objects",
    "seen": "raw numbers, if its results were seen to be ints or floats",
    "mixed": "objects, but for a loop whose regions are for one kind of numbers each, which is late to be hot",
    "stored": "raw numbers, unless something else was seen to be stored",
    "callee": "objects, unless the callee has raw signatures (core/raw.h)",
}

# What regions do with generic instructions that have no transfer function of their own.
REGION = {
    "leaves": "no region has it: a region ends in front of it",
    "rare": "the same, and it is hardly ever executed",
    "yields": "regions end there, and are entered again behind it",
    "embeds": "it stays as it is, on the operand stack",
}

# What regions, and expressions of extensions, learn from the derivative that a site has: evidence, which may be wrong.
SAW = {
    "slot": "the attribute of an instance is in a slot within the object",
    "method": "the cell in the cache has a function of the object's class",
    "unbound": "the cell in the cache has a static or class method of the object's class",
    "property": "the cell in the cache has a property of the object's class",
    "bound": "the cell in the cache has a function of the object's class, which is bound",
    "member": "the cell in the cache is that of a module's name",
    "global": "the cell in the cache is that of a global of the module",
    "function": "what is called is a C function without keywords",
    "init": "what is called is a class with an __init__ of dl",
    "field": "the attribute is a field of a named tuple",
    "fields": "what is called is the class of a named tuple",
    "new": "what is called is a class with a __new__ of dl",
    "pair": "the key of a dict is two ints",
    "range": "a range is called, and walked at once",
    "iterable": "an iterator of a built-in type is made",
    "sequence": "an iterator of a list or a tuple is made",
    "list": "a list is walked",
    "tuple": "a tuple is walked",
    "array": "an array of numbers is walked",
    "buffer": "an object of an extension is walked by the elements of its buffer",
    "bytes": "bytes are walked",
    "enumerate": "an enumerate of a list is walked, its pairs taken apart",
    "enumerate_tuple": "an enumerate of a tuple is walked, its pairs taken apart",
    "enumerate_str": "an enumerate of a str is walked, its pairs taken apart",
    "zip": "a zip of two lists is walked, its pairs taken apart",
    "items": "the items of a dict are walked and taken apart",
    "rows": "a list of tuples of two is walked, and these are taken apart",
    "long_rows": "a list of tuples of three to eight is walked, and these are taken apart",
    "long_zip": "a zip of three to eight lists is walked, its tuples taken apart",
    "keys": "the keys of a dict are walked",
    "values": "the values of a dict are walked",
    "set": "a set is walked",
    "hashed": "something is looked for in a set or dict",
    "reversed": "a list is walked from its end",
    "str": "a str is walked",
    "generator": "a generator is walked",
    "entry": "a region is entered there",
}

# Where a variant may stand in for an instruction: the C of it in a row of dv_variants.
CONDITIONS = {
    "arguments": "with so many arguments",
    "locals": "in a function with so many locals",
    "immediate": "where the constant is no object",
    "of_function": "where the cache says that a dl function was found",
}

# Where an operand of a fusion comes from, but the stack (S): the instruction that it stands for.
MODES = {"L": "LOAD_LOCAL_B", "C": "LOAD_CONST_B", "O": "LOAD_LOCAL"}
LOAD_LENGTH = 2  # cells of each of them


# Pairs: how a raw int, a double and an object are taken from a slot, and put into slot c.
USES = {"i": "SLOT_I", "d": "SLOT_D", "v": "HOME"}
PUTS = {"i": "SLOT_I(c) = ", "d": "SET_D(c, ", "v": "HOME(c) = "}


class ModelError(Exception):
    pass


@dataclass
class Instruction:
    name: str
    kind: str
    doc: str
    source: str
    line: int  # of the block's tag in `source`
    body: str
    slow: str = ""  # the part of the body that stands out of line
    operands: list[str] = field(default_factory=list)  # kinds, in the order of the words
    inputs: list[str] = field(default_factory=list)  # names, deepest first
    outputs: list[str] = field(default_factory=list)
    variable: str = ""  # stack effect that depends on operand a: see EFFECTS
    cache: int = 0  # cells behind the operands
    cached: list[str] = field(default_factory=list)  # derivatives: what is in each of them, see CACHED
    site: bool = False  # has a dv_site cell (owns, counters)
    calls_out: bool = False  # may run dl code or raise
    kills: str = ""  # what the abstract interpreter must forget: "", "heap", "all"
    ends: bool = False  # control never falls through
    family: str = ""  # derivatives: the generic instruction
    types: list[str] = field(default_factory=list)  # derivatives: guarded input types
    result: str = ""  # derivatives: type of the output for the abstract interpreter
    select: str = ""  # families: C function that chooses the derivative
    when: str = ""  # derivatives: C condition for choosing it, if that is not the guard
    promises: str = ""  # families, derivatives: see PROMISES; "" for what follows from the types
    region: str = ""  # generic: one of REGION, or the transfer function (dv_steps.h); "" for "leaves"
    counts: bool = False  # generic: a promise counts it against a region, as it has no derivatives to ask
    which: str = "0"  # C constant: which of those with the same transfer function, or of its kind of derivatives, it is
    saw: str = ""  # derivatives: see SAW
    covers: str = ""  # derivatives: the instruction behind them whose work they do, too
    open: bool = False  # families: extensions may specialise it by its operands
    several: str = ""  # derivatives for one shape: what their sites become when they see a second one
    variant_of: str = ""  # what stands in for this instruction where ...
    where: list[str] = field(default_factory=list)  # ... this holds: see CONDITIONS ...
    behind: list[str] = field(default_factory=list)  # ... and these are behind it, whose work it may do, too
    modes: str = ""  # region: operand modes; fusions: where inputs come from
    homes: str = ""  # region: what becomes of objects in home slots, where the body does not show it (region_facts.py)
    joins: list[str] = field(default_factory=list)  # region: the two instructions that it stands for, if it does
    lowers: list[str] = field(default_factory=list)  # region: what does the same where this one is not made, if that may be
    fuses: list[str] = field(default_factory=list)  # derivatives: operand modes of their fusions
    fused_only: bool = False  # derivatives: nothing but their fusions is threaded
    second: str = ""  # pairs: the last instruction; what stands before it, an instruction or a pair, is `family`
    via: str = ""  # pairs: slot operands of the last instruction that hold what one before it has just put there: ...
    back: int = 0  # ... the one so many before
    stores: bool = False  # fusions: the STORE_LOCAL behind belongs to it
    number: int = -1

    @property
    def length(self) -> int:
        cells = 1 + (1 if self.site else 0) + self.cache
        return cells + sum(1 for kind in self.operands if kind != "own")

    def cell_of(self, index: int) -> int:
        """The cell of the index-th operand; `own` lives in the site cell."""
        if self.operands[index] == "own":
            return 1
        first = 2 if self.site else 1
        return first + sum(1 for kind in self.operands[:index] if kind != "own")

    @property
    def guard(self) -> str:
        """The C condition that a derivative's typed inputs must meet; "" if it guards by itself."""
        if self.types == ["int", "int"]:
            return "dv_are_ints({}, {})".format(*self.inputs)
        tests = [TYPES[kind][0].format(name) for kind, name in zip(self.types, self.inputs) if TYPES[kind][0]]
        return " && ".join(tests)

    @property
    def choice(self) -> str:
        """The C condition for becoming this derivative where no function chooses; "" for never."""
        return self.when or self.guard

    @property
    def promise(self) -> str:
        """Derivatives: one of PROMISES.  A known result needs no evidence."""
        numbers = {"int", "float", "complex", "word"}
        if self.promises == "seen" and self.result in numbers:
            return "typed"
        return self.promises or ("typed" if numbers & set(self.types) else "boxed")

    @property
    def row(self) -> str:
        """The initialiser of the instruction's dv_op_info, but for the numbers that the model knows."""
        kinds = ", ".join("DV_OPERAND_" + kind.upper() for kind in self.operands) or "0"
        cells = ", ".join(str(self.cell_of(n)) for n in range(len(self.operands))) or "0"
        effect = (self.variable or "fixed").upper()
        return (
            f"DV_KIND_{self.kind.upper()}, {len(self.operands)}, "
            f"{{{kinds}}}, {{{cells}}}, {len(self.inputs)}, {len(self.outputs)}, DV_EFFECT_{effect}, "
            f"{self.length}, {self.cache_cell}, {int(self.site)}, {int(self.calls_out)}, {int(self.ends)}, "
            f"DV_OP_{self.covers if self.kind == 'derivative' and self.covers else 'NOP'}"
        )

    @property
    def slots(self) -> int:
        """Region instructions: which of the slot operands a, b, c, d (bits 0 to 3) the body uses, whether
        it has a constant (bit 4, a double: bit 5), a target (bit 6), a shape and an attribute (bit 7)."""
        bits = 0
        for n, name in enumerate("abcd"):
            if re.search(rf"\b(SLOT_I|SLOT_D|SLOT_IM|SET_D|SET_IM|HOME|RANGE)\({name}\b", self.body):
                bits |= 1 << n
        for n, use in ((4, r"CELL\(2\)\.i"), (5, r"CELL\(2\)\.d"), (6, r"CELL\(3\)\.target|EXIT\(\)|REGION_BRANCH\("),
                       (7, r"CELL\(2\)\.s\.b")):
            if re.search(use, self.body):
                bits |= 1 << n
        return bits

    @property
    def via_bits(self) -> int:
        return sum(1 << "abcd".index(name) for name in self.via)

    @property
    def facts(self) -> str:
        kinds = ", ".join(type_constant(kind) for kind in self.types) or "0"
        kill = {"": 0, "heap": 1, "all": 2}[self.kills]
        cached = ", ".join(f"DV_CACHED_{part.upper() or 'NOTHING'}" for part in self.cached_parts) or "0"
        promise = f"DV_PROMISES_{self.promise.upper()}" if self.kind == "derivative" else "0"
        region = "0"
        if self.kind == "generic":
            region = f"DV_REGION_{(self.region if self.region in REGION else 'steps').upper()}"
        return (
            f"{type_constant(self.result)}, {kill}, {{{kinds}}}, {self.slots}, {{{cached}}}, "
            f"{int(bool(OF_CLASSES & set(self.cached_parts)))}, {promise}, {region}, {int(self.counts)}, "
            f"{self.which}, {int(self.open)}, DV_SAW_{self.saw.upper() or 'NOTHING'}"
        )

    def variant_row(self, numbers: dict[str, int]) -> str:
        """The initialiser of the variant's dv_variant."""
        found = {name: value or "1" for name, _, value in (condition.partition("=") for condition in self.where)}
        behind = [part.partition(":") for part in self.behind]
        ops = ", ".join(str(numbers[name]) for name, _, _ in behind) or "0"
        arguments = ", ".join(value or "-1" for _, _, value in behind) or "0"
        return (
            f"{self.number}, {len(behind)}, {{{ops}}}, {{{arguments}}}, {found.get('arguments', -1)}, "
            f"{found.get('locals', -1)}, {found.get('immediate', 0)}, {found.get('of_function', 0)}"
        )

    @property
    def loads(self) -> list[str]:
        """Fusions: the instructions in front of the derivative that belong to it, first one first."""
        return [MODES[c] for c in self.modes if c != "S"]

    @property
    def places(self) -> list[str]:
        """Fusions: where each input comes from, as C seen from the first cell of all."""
        found, at = [], 1
        on_stack = self.modes.count("S")
        for n, mode in enumerate(self.modes):
            if mode == "S":
                found.append(f"sp[{n - on_stack}]")
                continue
            found.append(f"CELL({at}).v" if mode == "C" else f"LOCAL({at})")
            at += LOAD_LENGTH
        return found

    @property
    def fused_body(self) -> str:
        """Fusions: the body, which knows that nothing is owned but what comes from the stack: loads that end in _B
        only borrow.  What an O loads becomes owned where the body hands it on (OWNED)."""
        stack = sum(1 << n for n, mode in enumerate(self.modes) if mode == "S")
        body = re.sub(r"\bOWNED\(", "dv_retain(", self.body) if "O" in self.modes else self.body
        return re.sub(r"\bSITE\.own\b", f"(SITE.own & {stack})" if stack else "0", body)

    @property
    def cached_parts(self) -> list[str]:
        """What is in the halves of the cache's cells, two for each; "" for nothing."""
        return [part for cell in self.cached for part in (cell.split("/") + [""])[:2]]

    def _cached(self, match: re.Match) -> str:
        name, cells = match[1], match[2]
        if name not in self.cached_parts:
            raise ModelError(f"{self.source}: {self.name} has no '{name}' in its cache")
        at = self.cached_parts.index(name) // 2
        place = f"CACHE + {at}" if at else "CACHE"
        return CACHED[name][0].format(f"{cells}[{place}]" if cells else f"CELL({place})")

    def read_cache(self, body: str) -> str:
        """CACHED(name) in a body: what the site has in its cache; CACHED(name, cells): what another one with this layout has."""
        return re.sub(r"\bCACHED\((\w+)(?:, (\w+))?\)", self._cached, body)

    @property
    def cache_cell(self) -> int:
        return self.length - self.cache


# Stack effects that depend on operand a = n (and b): name -> (inputs, outputs) as C expressions.
EFFECTS = {
    "build": ("n", "1"),
    "build_pairs": ("2 * n", "1"),
    "call": ("n + 3", "1"),
    "call_method": ("n + 4", "1"),
    "call_ex": ("n + 4", "1"),
    "merge": ("1", "0"),
    "unpack": ("1", "n"),
    "unpack_ex": ("1", "n + m + 1"),
    "match_keys": ("n + 1", "2 * n + 2"),
    "match_class": ("2", "n + 1"),
    "append": ("1", "0"),
    "add_pair": ("2", "0"),
    "copy": ("0", "1"),
    "swap": ("0", "0"),
    "format": ("(n & 4 ? 2 : 1)", "1"),
    "raise": ("n", "0"),
    "defaults": ("m", "1"),
    "jump_or_pop": ("1", "0"),
    "for_iter": ("0", "1"),
    "send": ("2", "2"),
    "yield_from": ("1", "0"),
}


class Model:
    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.by_name: dict[str, Instruction] = {}
        self.costs: dict[str, list[int]] = {}
        self.pairs: dict[str, list[Instruction]] = {}  # by their first instruction
        self.moded: list[Instruction] = []  # region instructions by operand modes, also those that are not made

    def add(self, instruction: Instruction) -> None:
        if instruction.name in self.by_name:
            raise ModelError(f"{instruction.source}: {instruction.name} is defined twice")
        if not instruction.doc:
            raise ModelError(f"{instruction.source}: {instruction.name} has no documentation sentence")
        self.instructions.append(instruction)
        self.by_name[instruction.name] = instruction

    def generic(self) -> list[Instruction]:
        return [i for i in self.instructions if i.kind == "generic"]

    def steps(self) -> list[str]:
        """Transfer functions of generic instructions, in the order of the blocks."""
        return list(dict.fromkeys(i.region for i in self.generic() if i.region not in REGION))

    def regions(self) -> list[Instruction]:
        return [i for i in self.instructions if i.kind == "region"]

    def family_of(self, item: Instruction) -> Instruction:
        return self.by_name[item.family] if item.family else item

    def plain_of(self, item: Instruction) -> Instruction:
        return self.by_name[item.variant_of] if item.variant_of else item

    def variants(self, item: Instruction) -> list[Instruction]:
        """What may stand in for it: what does most first."""
        found = [i for i in self.instructions if i.variant_of == item.name and not i.fused_only]
        return sorted(found, key=lambda i: -len(i.behind))

    def adaptive_of(self, item: Instruction) -> Instruction:
        if item.kind == "pair":
            return self.by_name[item.second]
        return self.by_name.get((item.family or item.name) + "_ADAPTIVE", item)

    def families(self) -> list[Instruction]:
        names = {i.family for i in self.instructions if i.kind == "derivative"}
        return [i for i in self.instructions if i.name in names]

    def derivatives(self, family: Instruction) -> list[Instruction]:
        return [i for i in self.instructions if i.kind == "derivative" and i.family == family.name]

    def fusions(self, item: Instruction) -> list[Instruction]:
        if item.kind in ("region", "pair"):
            return self.pairs.get(item.name, [])
        return [i for i in self.instructions if i.kind == "fusion" and i.family == item.name]

    def _fuse(self, item: Instruction) -> None:
        """The fusions of a derivative: one for each operand mode, and with the STORE_LOCAL behind it where the
        result is known to replace all inputs (what is on the stack is an int or a float, or nothing is)."""
        for mode in item.fuses:
            if len(mode) != len(item.inputs) or set(mode) - set("SLCO") or mode.lstrip("S").count("S"):
                raise ModelError(f"{item.source}: {item.name} cannot be fused as '{mode}'")
            if "O" in mode and "OWNED(" not in item.body:
                raise ModelError(f"{item.source}: {item.name} does not say where it hands on what it owns")
            plain = not set(mode) & set("SO") or set(item.types) <= {"int", "float"}
            for stores in (False, True) if len(item.outputs) == 1 and not item.covers and not item.behind and plain else (False,):
                parts = [MODES[c] for c in mode if c != "S"] + [item.name] + ["STORE_LOCAL"] * stores
                self.add(
                    replace(
                        item,
                        name=f"{mode}_{item.name}{'_STORE' if stores else ''}",
                        kind="fusion",
                        variant_of=item.variant_of and f"{mode}_{item.variant_of}",
                        fused_only=False,
                        doc=f"{', '.join(parts)} in one.",
                        family=item.name,
                        modes=mode,
                        stores=stores,
                        fuses=[],
                    )
                )

    def alone(self, item: Instruction) -> Instruction | None:
        """Derivatives that cover the instruction behind them: the one that does not, if there is one."""
        end = f"_{item.covers}"
        found = self.by_name.get(item.name.removesuffix(end)) if item.name.endswith(end) else None
        return found if found and item.kind == found.kind == "derivative" else None

    def sequence(self, item: Instruction) -> str:
        """What stands for it in tables/sequences.csv, if it is one that a profile chooses: `A+B` for one that joins
        two, `R_LOAD_I RI_ADD_RS_R` for operands in other places, `A B C@a2` for a handler of several, with what comes from the one so many before, `LT_INT JUMP_IF_FALSE`
        for a derivative that covers, `LOAD_LOCAL_B ADD_INT` for a fusion.  What stands in for one shares its line."""
        if item.joins:
            return "+".join(item.joins)
        if item.lowers:
            return " ".join(item.lowers)
        if item.kind == "fusion":
            family = self.plain_of(self.by_name[item.family])
            return " ".join([*item.loads, self.sequence(family) or family.name, *["STORE_LOCAL"] * item.stores])
        alone = self.alone(item)
        if alone:
            return f"{alone.name} {item.covers}"
        if item.kind != "pair":
            return ""
        via = f"@{item.via}{item.back if item.back > 1 else ''}" if item.via else ""
        first = self.by_name[item.family]
        return f"{self.sequence(first) if first.kind == 'pair' else first.name} {item.second}{via}"

    def _choose(self, wanted: set[str]) -> None:
        """Drops sequences that are not wanted, unless one that is wanted consists of them."""
        found: dict[str, list[Instruction]] = {}
        for item in self.instructions:
            found.setdefault(self.sequence(item), []).append(item)
        chosen = set()

        def keep(sequence: str) -> None:
            if sequence and sequence not in chosen:
                chosen.add(sequence)
                for item in found[sequence]:
                    made_of = {"pair": [item.family, item.second], "fusion": [item.family]}
                    if item.lowers and item.name.endswith("_S") and f"{item.name[:-1]}R" in self.by_name:  # joined() makes it of that
                        keep(self.sequence(self.by_name[f"{item.name[:-1]}R"]))
                    for part in item.joins or made_of.get(item.kind, []):
                        if part not in self.by_name:
                            raise ModelError(f"{item.source}: {item.name} has an unknown part {part}")
                        keep(self.sequence(self.by_name[part]))

        for sequence in sorted(wanted):
            if sequence not in found:
                raise ModelError(f"sequences.csv: '{sequence}' is no candidate: gen/sequences.py")
            keep(sequence)
        self.instructions = [i for i in self.instructions if self.sequence(i) in {"", *chosen}]
        self.by_name = {i.name: i for i in self.instructions}

    def joined(self) -> list[tuple]:
        """Rows of the table of instructions that stand for two: both, and what they become.  The form of a region
        instruction with its result in a slot stands for the one in front of it, with a register, and a store."""
        rows = [(*(self.by_name[part].number for part in i.joins), i.number) for i in self.regions() if i.joins]
        covering = [(self.alone(i), self.by_name[i.covers], i) for i in self.instructions if self.alone(i)]
        rows += [tuple(part.number for part in parts) for parts in covering]
        for item in self.regions():
            store = "R_STORE_D" if "SET_D(c" in item.body else "R_STORE_I" if "SLOT_I(c) =" in item.body else ""
            one = self.by_name.get(f"{item.name[:-1]}R")
            if store and one and item.name.endswith("_S"):
                rows.append((one.number, self.by_name[store].number, item.number))
        if len({row[:2] for row in rows}) < len(rows):
            raise ModelError("two instructions join the same two")
        return sorted(rows)

    def finish(self, wanted: set[str] | None = None) -> None:
        """Completes derivatives from their families, makes fusions and the adaptive forms, numbers, validates.  Of
        sequences those that are wanted are made; None: all."""
        for item in self.instructions:
            if item.kind == "derivative":
                self._complete(item)
        for item in [i for i in self.instructions if i.fuses]:
            self._fuse(item)
        self.moded = [i for i in self.regions() if i.modes and not i.joins]
        if wanted is not None:
            self._choose(wanted)
        for family in self.families():
            self.add(
                Instruction(
                    name=f"{family.name}_ADAPTIVE",
                    kind="adaptive",
                    doc=f"{family.name}, about to choose a derivative by what it sees.",
                    source=family.source,
                    line=family.line,
                    body="",
                    operands=family.operands,
                    inputs=family.inputs,
                    outputs=family.outputs,
                    variable=family.variable,
                    cache=family.cache,
                    site=family.site,
                    calls_out=True,
                    family=family.name,
                )
            )
        order = {"generic": 0, "adaptive": 1, "derivative": 2, "region": 3, "fusion": 4, "pair": 5}
        self.instructions.sort(key=lambda i: (order[i.kind], i.family if i.kind == "pair" else ""))
        for number, item in enumerate(self.instructions):
            item.number = number
            if item.kind == "generic":
                item.region = item.region or "leaves"
            if item.kind == "pair":
                self.pairs.setdefault(item.family, []).append(item)
            self._validate(item)
        if len(self.generic()) > 256:
            raise ModelError("more than 256 generic instructions do not fit a word's opcode")

    def parts(self, item: Instruction) -> list[Instruction]:
        """The region instructions in the handler of a pair, two or more, or the instruction itself."""
        if item.kind != "pair":
            return [item]
        return [*self.parts(self.by_name[item.family]), self.by_name[item.second]]

    def bodies(self, item: Instruction) -> list[tuple]:
        """The parts of a pair and their bodies, each of which goes on to the next one.  Operands that are `via` do not
        come by way of memory: the part that puts them into its slot c keeps them in a variable, too."""
        parts, steps = self.parts(item), [item]
        while steps[0].kind == "pair":
            steps.insert(0, self.by_name[steps[0].family])
        found, kept = [], {}  # kept: by the letter of a kind, the part that keeps one
        for n, (part, step) in enumerate(zip(parts, steps)):
            body = part.body
            if n + 1 < len(parts):
                body = body.replace("REGION_NEXT()", f"REGION_THEN(part_{n + 2})")
                body = body.replace("REGION_BRANCH(", f"REGION_BRANCH_THEN(part_{n + 2}, ")
            for name in step.via:
                kind = next((k for k, use in USES.items() if f"{use}({name})" in body), None)
                source = n - step.back
                puts = [PUTS["v"]] if kind == "v" else [PUTS["i"], PUTS["d"]]
                replaced = any(put in text for _, text in found[source + 1 :] for put in puts)
                if kind is None or source < kept.get(kind, 0) or replaced:
                    raise ModelError(f"{item.source}: {item.name}: {part.name} cannot take {name} via a register")
                if kept.get(kind) != source:
                    keeper, text = found[source]
                    if PUTS[kind] not in text:
                        raise ModelError(f"{item.source}: {item.name}: {keeper.name} puts nothing into a slot")
                    found[source] = keeper, text.replace(PUTS[kind], f"{PUTS[kind]}kept_{kind} = ")
                    kept[kind] = source
                body = body.replace(f"{USES[kind]}({name})", f"kept_{kind}")
            found.append((part, body))
        return [(part, body.replace("kept_v = kept_v", "kept_v")) for part, body in found]

    def _check_pair(self, item: Instruction, where: str) -> None:
        """All but the last one must go on to the next, and none may need a frame beyond what regions publish."""
        for name, kinds in (item.family, ("region", "pair")), (item.second, ("region",)):
            if name not in self.by_name or self.by_name[name].kind not in kinds:
                raise ModelError(f"{where}: {name} is no instruction of regions")
        parts = self.parts(item)
        item.cache = parts[0].cache
        for part in parts[:-1]:
            if not re.search(r"REGION_(NEXT|BRANCH)\(", part.body) or "PUBLISH" in part.body:
                raise ModelError(f"{where}: {part.name} cannot be the first of a pair")
        if any("REGION_BRANCH(" in part.body for part in parts[:-1]) and "REGION_NEXT()" not in parts[-1].body:
            raise ModelError(f"{where}: {parts[-1].name} jumps, and so does what stands before it")
        self.bodies(item)
        item.doc = ", ".join(part.name for part in parts) + " in one."

    def _complete(self, item: Instruction) -> None:
        family = self.by_name.get(item.family)
        if family is None or family.kind != "generic":
            raise ModelError(f"{item.source}: {item.name} derives from unknown {item.family}")
        if not family.site:
            raise ModelError(f"{item.source}: {family.name} has derivatives but no site cell")
        item.operands, item.inputs, item.outputs = family.operands, family.inputs, family.outputs
        item.variable, item.cache, item.site = family.variable, family.cache, True
        parts = [part for part in item.cached_parts if part]
        if len(item.cached) > item.cache or set(parts) - set(CACHED):
            raise ModelError(f"{item.source}: {item.name}: no such cache: '{' '.join(item.cached)}'")
        item.body, item.slow = item.read_cache(item.body), item.read_cache(item.slow)
        item.promises = item.promises or family.promises

    def _validate(self, item: Instruction) -> None:
        where = f"{item.source}: {item.name}"
        for kind in item.operands:
            if kind not in OPERAND_KINDS:
                raise ModelError(f"{where}: unknown operand kind '{kind}'")
        if "own" in item.operands and not item.site:
            raise ModelError(f"{where}: an `own` operand needs a site cell")
        if item.kills not in ("", "heap", "all"):
            raise ModelError(f"{where}: unknown kill set '{item.kills}'")
        if item.variable and item.variable not in EFFECTS:
            raise ModelError(f"{where}: unknown stack effect '{item.variable}'")
        if item.homes and (item.kind != "region" or item.homes.upper() not in region_facts.HOMES[1:]):
            raise ModelError(f"{where}: unknown way with objects '{item.homes}'")
        self._check_tables(item, where)
        for name in item.types:
            if name not in TYPES:
                raise ModelError(f"{where}: unknown type '{name}'")
        if item.types and len(item.types) != len(item.inputs):
            raise ModelError(f"{where}: {len(item.types)} types for {len(item.inputs)} inputs")
        if item.result and item.result not in TYPES:
            raise ModelError(f"{where}: unknown result type '{item.result}'")
        if item.kind == "derivative":
            self._check_guards_first(item, where)
        if item.kind == "pair":
            self._check_pair(item, where)

    def _check_tables(self, item: Instruction, where: str) -> None:
        """Words that stand for rows of other tables."""
        if item.promises not in ("", *PROMISES):
            raise ModelError(f"{where}: unknown promise '{item.promises}'")
        if item.kind == "generic" and item.region not in REGION and not re.fullmatch(r"dv_step_\w+", item.region):
            raise ModelError(f"{where}: unknown way of regions '{item.region}'")
        if item.saw not in ("", *SAW):
            raise ModelError(f"{where}: unknown evidence '{item.saw}'")
        names = [part.partition(":")[0] for part in item.behind]
        names += [name for name in (item.variant_of, item.several, item.covers) if name]
        for name in names:
            if name not in self.by_name:
                raise ModelError(f"{where}: unknown instruction '{name}'")
        unknown = {condition.partition("=")[0] for condition in item.where} - set(CONDITIONS)
        if unknown or len(item.behind) > 3 or ((item.where or item.behind) and not item.variant_of):
            raise ModelError(f"{where}: this is no variant")

    @staticmethod
    def _check_guards_first(item: Instruction, where: str) -> None:
        """No guard after a side effect: MISS must not follow an assignment to memory or a release."""
        body = item.body + item.slow
        stores = r"->\w+\s*=[^=]|\]\s*=[^=]|(?:^|[;{])\s*\*\w+\s*=[^=]|(?:->\w+|\])(?:\+\+|--)"
        effect = re.search(r"\b(?:dv_release\w*|dv_cell_store|DISPOSE\d)\s*\(|" + stores, body)
        if effect and "MISS(" in body[effect.start() :]:
            raise ModelError(f"{where}: a guard (MISS) stands behind a side effect")
