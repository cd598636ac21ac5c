"""The stable table of extensions as a model: what its wrappers are generated from.

The description is vm/include/dynvm_ext.h itself: the struct dvx_api and the slots of dvx_type.  The types of
a function say almost everything, because arguments are always borrowed and results always new:

  dvx_value                    an argument that is borrowed; as a result new, DVX_FAILED where it failed
  const dvx_value *x, ... n    n borrowed values
  dvx_value *out               a new value, or DVX_FAILED
  bool; int, int64_t; T *      false; -1; NULL where the function failed

What they do not say stands in the sets below.  A type that is in no table here is refused, so that whoever
adds a function sees that it has to be described.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional

HEADER = Path(__file__).resolve().parents[2] / "vm" / "include" / "dynvm_ext.h"

# Members of dvx_api that cannot fail: whatever they return is an answer.
INFALLIBLE = {
    "make_none", "make_bool", "make_float", "make_ellipsis", "make_not_implemented", "kind", "same",
    "error_matches", "fetch_error", "state", "payload", "allows_foreign", "specialise", "drop_operand", "assume",
    "is_unique", "expression", "smaller_expression", "fuse", "at_node", "note", "count",
}
# May be called while an error is pending (rule 7 of the header).
WHILE_RAISED = {"release", "buffer_release", "fetch_error", "clear_error", "error_matches", "deallocate", "leave", "payload",
                "state", "report_error"}
# Take DVX_FAILED as well as a value.
TAKE_FAILED = {"release", "error_matches", "same", "payload"}
# Raise: they return failure, and that is what was asked for.
RAISING = {"raise", "raise_error", "raise_format"}
# The debug table has them by hand (plugin/debug_table.c): references, memory, nesting, `...`.
DEBUGGED_BY_HAND = {"retain", "release", "raise_format", "allocate", "resize", "deallocate", "enter", "leave",
    "buffer_get", "buffer_release"}
# Slots of dvx_type that the debug table does not wrap as the others: no self of theirs says which type it is.
SLOTS_BY_HAND = {"release", "traverse", "clear", "truth", "binary", "specialise", "raw", "lasting_attribute"}

# How a parameter or a result of a type is treated, and shown in a trace.
NUMBERS = {
    "bool": "bool", "int": "int", "int64_t": "int", "uint32_t": "int", "uint64_t": "uint", "size_t": "uint",
    "double": "double", "dvx_binary": "int", "dvx_unary": "int", "dvx_compare": "int", "dvx_error": "int",
    "dvx_kind": "int",
}
OUTPUTS = {"int64_t *": "int", "uint64_t *": "uint", "double *": "double", "size_t *": "uint"}
# Structs whose `name` a trace shows.
NAMED = {"const dvx_type *", "const dvx_function *"}
POINTERS = {"void *", "const void *", "void **", "char *", "const uint64_t *"}
FAILURES = {"dvx_value": "DVX_FAILED", "bool": "false", "int": "-1", "int64_t": "-1", "void": ""}


class ModelError(Exception):
    """The header says something that this file does not describe."""


@dataclass
class Parameter:
    type: str
    name: str
    role: str  # vm, value, values, result, number, output, text, pointer, or variable (...)
    shown: str = ""  # of numbers and outputs: bool, int, uint, double
    count: str = ""  # of values: the parameter that counts them

    @property
    def declared(self) -> str:
        return "..." if self.role == "variable" else f"{self.type}{'' if self.type.endswith('*') else ' '}{self.name}"


@dataclass
class Function:
    name: str
    result: str
    parameters: List[Parameter]

    @property
    def declared(self) -> str:
        return ", ".join(p.declared for p in self.parameters)

    @property
    def passed(self) -> str:
        return ", ".join(p.name for p in self.parameters)

    @property
    def failure(self) -> str:
        return "NULL" if self.result.endswith("*") else FAILURES.get(self.result, "0")

    @property
    def is_variadic(self) -> bool:
        return any(p.role == "variable" for p in self.parameters)

    def having(self, role: str) -> List[Parameter]:
        return [p for p in self.parameters if p.role == role]


def parameter(text: str, where: str) -> Parameter:
    text = " ".join(text.split())
    if text == "...":
        return Parameter("", "", "variable")
    match = re.fullmatch(r"(.*?[\s*])(\w+)", text)
    if not match:
        raise ModelError(f"{where}: what is the parameter '{text}'?")
    kind, name = match.group(1).strip(), match.group(2)
    if kind == "dvx_vm *":
        return Parameter(kind, name, "vm")
    if kind == "dvx_value":
        return Parameter(kind, name, "value")
    if kind == "const dvx_value *":
        return Parameter(kind, name, "values")
    if kind == "dvx_value *":
        return Parameter(kind, name, "result")
    if kind == "const char *":
        return Parameter(kind, name, "text")
    if kind in NUMBERS:
        return Parameter(kind, name, "number", NUMBERS[kind])
    if kind in OUTPUTS:
        return Parameter(kind, name, "output", OUTPUTS[kind])
    if kind in POINTERS or re.fullmatch(r"(const )?(struct )?dvx_\w+ \*{1,2}", kind) or kind == "dvx_visit":
        return Parameter(kind, name, "pointer")
    raise ModelError(f"{where}: gen/tables/extension.py does not describe the type '{kind}'")


def function(text: str, where: str) -> Optional[Function]:
    """The member that a declaration of a struct is; None: it is no function."""
    match = re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", " ".join(text.split()))
    if not match:
        return None
    result, name = match.group(1).strip(), match.group(2)
    made = Function(name, result, [parameter(p, f"{where}.{name}") for p in match.group(3).split(",")])
    if result not in FAILURES and result not in NUMBERS and not result.endswith("*"):
        raise ModelError(f"{where}.{name}: gen/tables/extension.py does not describe the result '{result}'")
    for p, behind in zip(made.parameters, made.parameters[1:]):
        if p.role == "values":
            if behind.role != "number":
                raise ModelError(f"{where}.{name}: how many values are there in '{p.name}'?")
            p.count = behind.name
    return made


def members(header: str, struct: str) -> List[Function]:
    plain = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    match = re.search(rf"struct {struct} \{{(.*?)\n\}}", plain, flags=re.DOTALL)
    if not match:
        raise ModelError(f"{HEADER.name} has no struct {struct}")
    found = (function(text, struct) for text in match.group(1).split(";"))
    return [f for f in found if f]


@dataclass
class Table:
    functions: List[Function]
    slots: List[Function]


def load() -> Table:
    header = HEADER.read_text(encoding="utf-8")
    table = Table(members(header, "dvx_api"), members(header, "dvx_type"))
    names = {f.name for f in table.functions}
    for known in (INFALLIBLE, WHILE_RAISED, TAKE_FAILED, RAISING, DEBUGGED_BY_HAND):
        if known - names:
            raise ModelError(f"gen/tables/extension.py describes what is not in dvx_api: {sorted(known - names)}")
    if SLOTS_BY_HAND - {f.name for f in table.slots}:
        raise ModelError("gen/tables/extension.py describes slots that dvx_type does not have")
    return table


def outputs() -> list:
    return ["extension_trace.c", "extension_debug.c", "extension_slots.c"]


def render(lookup) -> dict:
    import sys

    table, facts = load(), sys.modules[__name__]
    return {name: lookup.get_template(name + ".mako").render(table=table, facts=facts) for name in outputs()}
