#!/usr/bin/env python3.11
"""Writes lang/lib/_docs.dl: signatures and docstrings of what dl has built in, as CPython 3.11 gives them.

    build/dynvm gen/pack/docs_keys.dl | python3.11 gen/pack/docs.py > lang/lib/_docs.dl

Standard input: the names, as the machine asks for them ("len", "str.split", "math.sqrt").  Of a docstring the first paragraph is kept,
and the next one where that only shows how to call it.
"""

import builtins
import importlib
import inspect
import re
import sys
import types
from collections import Counter

HEADER = '''"""Docstrings of what is built in: a table that _help.dl looks into; made by gen/pack/docs.py.

The texts are the summaries of CPython's docstrings (copyright Python Software Foundation, PSF licence).
"""

# A name with its signature, as far as there is one; behind tabs what it does.  "*": any type.
TABLE = """
'''

NAMED = {"NoneType": type(None), "ellipsis": type(...), "NotImplementedType": type(NotImplemented), "function": types.FunctionType,
         "builtin_function_or_method": types.BuiltinFunctionType, "generator": types.GeneratorType, "module": types.ModuleType,
         "code": types.CodeType, "method": types.MethodType, "dict_keys": type({}.keys()), "dict_items": type({}.items()),
         "dict_values": type({}.values()), "list_iterator": type(iter([]))}


def resolve(key):
    """What a name means in CPython: functions of a class as they stand in it, class methods as they are called."""
    first, *rest = key.split(".")
    if first in NAMED:
        value = NAMED[first]
    elif hasattr(builtins, first):
        value = getattr(builtins, first)
    else:
        value = importlib.import_module(first)
    for name in rest:
        static = inspect.getattr_static(value, name)
        value = getattr(value, name) if isinstance(static, types.ClassMethodDescriptorType) else static
    return value


def is_usage(paragraph):
    return all(re.match(r"[\w.]+\(|.*->", line) for line in paragraph.split("\n"))


def summary(doc):
    paragraphs = re.split(r"\n\s*\n", doc)
    kept = [paragraphs[0]]
    if is_usage(paragraphs[0]) and len(paragraphs) > 1:
        kept.append(paragraphs[1])
    return "\n\n".join(kept).rstrip()


def signature(value):
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""


def main():
    found = {}
    for key in sys.stdin.read().split():
        try:
            value = resolve(key)
        except (ImportError, AttributeError):
            continue
        if isinstance(getattr(value, "__doc__", None), str) and not isinstance(value, types.FunctionType):
            found[key] = (signature(value) if callable(value) else "", summary(value.__doc__))
    common = {}
    specials = [key for key in found if re.search(r"\.__\w+__$", key)]
    for name in {key.rsplit(".", 1)[1] for key in specials}:
        texts = Counter(found[key] for key in specials if key.endswith("." + name))
        text, count = texts.most_common(1)[0]
        if count > 1:
            common["*." + name] = text
    lines = []
    for key, (parameters, doc) in sorted({**found, **common}.items()):
        if key in found and key in specials and common.get("*." + key.rsplit(".", 1)[1]) == found[key]:
            continue
        lines.append(key + parameters)
        lines += ["\t" + line for line in doc.split("\n")]
    table = "\n".join(lines).replace("\\", "\\\\").replace('"""', '\\"""')
    print(HEADER + table + '\n"""')


if __name__ == "__main__":
    main()
