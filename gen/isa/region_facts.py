"""What an instruction of regions does with its operands, read off its body: for whoever reads regions that people have
written (vm/inspect/region_check.c).

A body says what it does with slots through the macros of vm/run/engine.h alone, so that nothing has to be said twice: what
SLOT_I reads is a raw int, what SET_D puts is a double, and an object that dv_as_list takes without a look must be a list.
Only what becomes of the *counts* of objects is not to be seen there: instructions that move objects say it (`homes`).
Whatever else a body does with the machine makes the instruction one that is not for people to write: by_hand is false."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PLACES = (
    "NOTHING", "INT", "DOUBLE", "RAW", "RANGE", "NONE", "VALUE", "LIST", "TUPLE", "BYTES", "BYTEARRAY", "ARRAY",
)  # RAW: INT, DOUBLE or a slot of a RANGE; NONE is put alone; ARRAY: of whatever; + 1 + dv_element: of that
CONSTANTS = ("NOTHING", "INT", "DOUBLE", "RAW", "VALUE", "ELEMENT")
HOMES = ("NOTHING", "COPY", "BORROW", "MOVE", "EXCHANGE", "RELEASE", "BOX", "CONSTANT", "CONSTANT_B")

# Of the machine, of shapes, tables and functions of one VM, of complex numbers: nothing that a text can name.
FOREIGN = r"\.s\.[ab]|dv_source_at|dv_region_\w+\(vm, RANGE|CELL\(\d\)\.p\b|raw->|\bsp\b|TAIL\((?!dv_region_exit)|SLOT_IM|SET_IM|calls_left|PUBLISH\(|EXTENSION|OPERAND|dv_as_text"
# Objects that a body takes without a look, of types that nothing in a text tells.
TAKES_OTHERS = r"dv_as_(?!list|tuple|str|array|int|float|object)\w+\(HOME\(|dv_method \*\)dv_as_object|->items\[list->count"
TAKES = (  # how an object is taken without a look at what it is
    (r"dv_as_list\(HOME\({0}\)\)", "LIST"),
    (r"dv_as_tuple\(HOME\({0}\)\)", "TUPLE"),
    (r"dv_as_str\(HOME\({0}\)\)", "BYTES"),
    (r"dv_bytearray \*\)dv_as_object\(HOME\({0}\)\)", "BYTEARRAY"),
    (r"dv_as_array\(HOME\({0}\)\)", "ARRAY"),
)
GUARDS = {"DV_T_LIST": "LIST", "DV_T_TUPLE": "TUPLE", "DV_T_BYTES": "BYTES", "DV_T_BYTEARRAY": "BYTEARRAY"}


@dataclass
class Facts:
    reads: list = field(default_factory=lambda: ["NOTHING"] * 4)  # of slots a, b, c, d
    puts: list = field(default_factory=lambda: ["NOTHING"] * 4)
    read_registers: str = ""  # r, d
    put_registers: str = ""
    constant: str = "NOTHING"
    jumps: str = ""  # "3", "4": cells with a target that control may jump to ...
    exits: str = ""  # ... or leaves to, when a guard fails
    late: str = ""  # of the jumps: those taken when everything has been put
    goes_on: bool = True
    homes: str = "NOTHING"
    guards: str = "NOTHING"  # what slot a is known to hold behind it
    raises: bool = False
    polls: bool = False  # a back edge: a safepoint
    publishes: bool = False  # slot d says where the operand stack ends
    by_hand: bool = True


def _place(name: str, elements: list) -> str:
    if name.startswith("ARRAY_"):
        return f"DV_PLACE_ARRAY + 1 + {elements.index(name[6:])}"
    return "DV_PLACE_" + name


def _read_slots(facts: Facts, item, text: str, elements: dict) -> None:
    element = re.search(r"\(\((?:const )?(\w+) \*\)\((?:const )?void \*\)from->data\)\[i\]", text)
    for n, x in enumerate("abcd"):
        if re.search(rf"\bSLOT_I\({x}\)(?!\s*=[^=])", text):
            facts.reads[n] = "INT"
        if re.search(rf"\bSLOT_I\({x}\)\s*=[^=]", text):
            facts.puts[n] = "INT"
        if re.search(rf"\bSLOT_D\({x}\)", text):
            facts.reads[n] = "DOUBLE"
        if re.search(rf"\bSET_D\({x},", text):
            facts.puts[n] = "DOUBLE"
        if re.search(rf"\bRANGE\({x}\)", text):
            (facts.puts if f"RANGE({x})[0].bits = some" in text else facts.reads)[n] = "RANGE"
        if re.search(rf"\bHOME\({x}\)(?!\s*=[^=]|\.bits =[^=])", text):
            facts.reads[n] = next((place for take, place in TAKES if re.search(take.format(x), text)), "VALUE")
            if facts.reads[n] == "ARRAY" and element:
                facts.reads[n] = "ARRAY_" + next(name for name, c in elements.items() if c == element[1])
        if re.search(rf"\bHOME\({x}\)\s*=[^=]|\bHOME\({x}\)\.bits =[^=]", text):
            facts.puts[n] = "NONE" if f"HOME({x}) = DV_NONE;" in text and not item.homes else "VALUE"
    move = re.search(r"\bSLOT_I\((\w)\) = SLOT_I\((\w)\);", text)
    if move and text.count("SLOT_I") == 2:
        facts.puts["abcd".index(move[1])] = facts.reads["abcd".index(move[2])] = "RAW"


def _read_objects(facts: Facts, item, text: str) -> None:
    put = [x for n, x in enumerate("abcd") if facts.puts[n] == "VALUE"]
    if item.homes:
        facts.homes = item.homes.upper()
        if item.homes == "box" and facts.reads[0] == "VALUE":
            facts.reads[0] = "DOUBLE"  # which is its own box
    elif any(re.search(rf"HOME\({x}\)\s*=(?! dv_retain\(| DV_NONE;)", text) for x in put) or "dv_release" in text:
        facts.by_hand = False
    elif "!dv_is_shape(v, DV_T_LIST)" in text:
        facts.puts = ["LIST" if place == "VALUE" else place for place in facts.puts]
    guard = re.match(r"if \(DV_UNLIKELY\(!dv_is_shape\(HOME\(a\), (\w+)\) \|\| GUARD_FAILS\(\)\)\) EXIT\(\);\s*REGION_NEXT", text)
    if guard and guard[1] in GUARDS:
        facts.guards = GUARDS[guard[1]]
    if "dv_is_array_of(HOME(a), (uint32_t)CELL(2).i)" in text:
        facts.guards, facts.constant = "ARRAY", "ELEMENT"


def _read_targets(facts: Facts, text: str) -> None:
    jumps = {int(n): m.end() for m in re.finditer(r"CELL\(([34])\)\.target", text) for n in m[1]}
    if "REGION_BRANCH(" in text:
        jumps[3] = len(text)
    last = max((m.end() for m in re.finditer(r"(?:SLOT_I|HOME)\(\w\)\s*=[^=]|SET_D\(", text)), default=0)
    facts.jumps = "".join(str(n) for n in sorted(jumps))
    facts.late = "".join(str(n) for n in sorted(jumps) if jumps[n] > last)
    facts.exits = ("3" if re.search(r"\bEXIT\(\)", text) else "") + ("4" if "EXIT_SECOND()" in text else "")
    facts.goes_on = "REGION_NEXT()" in text or "REGION_BRANCH(" in text


def facts_of(item, elements: dict) -> Facts:
    facts = Facts()
    text = "\n".join(line for line in (item.body + "\n" + item.slow).splitlines() if not line.startswith("#")).strip()
    _read_slots(facts, item, text, elements)
    plain = re.sub(r"\b(?:SLOT_I|SLOT_D|SET_D|HOME|RANGE|PUBLISH_AT)\(\w", "", text)
    plain = re.sub(r"CELL\(\d\)\.\w+", "", plain)
    for register in "rd":
        if re.search(rf"\b{register}\b(?!\s*=[^=])", plain.replace(f"&{register}", "")):
            facts.read_registers += register
        if re.search(rf"\b{register}\s*=[^=]|&{register}\b", plain):
            facts.put_registers += register
        if f"&{register}" in plain:  # it is put before it is read
            facts.read_registers = facts.read_registers.replace(register, "")
    for use, kind in (("i", "INT"), ("d", "DOUBLE"), ("v", "VALUE")):
        if re.search(rf"CELL\(2\)\.{use}\b", text):
            facts.constant = kind
    if item.name == "R_CONST":
        facts.constant = facts.puts[0] = "RAW"
    _read_targets(facts, text)
    _read_objects(facts, item, text)
    facts.raises = "RAISE()" in text
    facts.polls = "REGION_SAFEPOINT()" in text
    facts.publishes = "PUBLISH_AT(d)" in text
    if "RANGE(" in text and ".bits" not in text or re.search(FOREIGN + "|" + TAKES_OTHERS, text) or item.ends and item.name != "R_EXIT" or len(facts.jumps + facts.exits) > 2:
        facts.by_hand = False
    return facts


def row(item, elements: dict) -> str:
    """The initialiser of the instruction's dv_region_facts."""
    f, names = facts_of(item, elements), list(elements)

    def bits(text, letters):
        return sum(1 << n for n, c in enumerate(letters) if c in text)

    def places(list_):
        return "{" + ", ".join(_place(name, names) for name in list_) + "}"

    return (
        f"{{{places(f.reads)}, {places(f.puts)}, {bits(f.read_registers, 'rd')}, {bits(f.put_registers, 'rd')}, "
        f"DV_TAKES_{f.constant}, {bits(f.jumps, '34')}, {bits(f.exits, '34')}, {bits(f.late, '34')}, DV_HOMES_{f.homes}, "
        f"DV_PLACE_{f.guards}, {int(f.goes_on)}, {int(f.raises)}, {int(f.polls)}, {int(f.publishes)}, {int(f.by_hand)}}}"
    )
