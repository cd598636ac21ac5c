"""Makes a failing program small: deletes and simplifies parts of its tree while it keeps failing.

Candidates of one round are tried in batches; the first that still fails in the same way becomes the program.
"""

import ast
import copy
import time
from typing import Callable, Iterator, List

BATCH = 24
BODIES = ("body", "orelse", "finalbody", "handlers")


def statement_lists(tree: ast.AST) -> Iterator[list]:
    for node in ast.walk(tree):
        for field in BODIES:
            items = getattr(node, field, None)
            if isinstance(items, list) and items:
                yield items


def text_of(tree: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def without_statements(tree: ast.Module) -> Iterator[ast.Module]:
    """The program without a run of statements, longest runs first."""
    for number, items in enumerate(statement_lists(tree)):
        length = len(items)
        while length > 0:
            for at in range(0, len(items), length):
                changed = copy.deepcopy(tree)
                target = list(statement_lists(changed))[number]
                del target[at:at + length]
                yield changed
            length //= 2


def unwrapped(tree: ast.Module) -> Iterator[ast.Module]:
    """The program with a compound statement replaced by one of its bodies."""
    for number, items in enumerate(statement_lists(tree)):
        for at, statement in enumerate(items):
            for field in BODIES[:3]:
                if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) or not getattr(statement, field, None):
                    continue
                changed = copy.deepcopy(tree)
                target = list(statement_lists(changed))[number]
                target[at:at + 1] = getattr(target[at], field)
                yield changed


def expressions(tree: ast.AST) -> List[tuple]:
    """(parent, field, index) of every expression."""
    found = []
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                found.append((node, field, None))
            elif isinstance(value, list):
                found += [(node, field, i) for i, item in enumerate(value) if isinstance(item, ast.expr)]
    return found


def get(place: tuple) -> ast.expr:
    node, field, index = place
    return getattr(node, field) if index is None else getattr(node, field)[index]


def put(place: tuple, value: ast.expr) -> None:
    node, field, index = place
    if index is None:
        setattr(node, field, value)
    else:
        getattr(node, field)[index] = value


def simpler_expressions(tree: ast.Module) -> Iterator[ast.Module]:
    """The program with an expression replaced by one of its parts or by a small constant."""
    for number, place in enumerate(expressions(tree)):
        old = get(place)
        if not isinstance(getattr(old, "ctx", ast.Load()), ast.Load):
            continue
        parts = [child for child in ast.iter_child_nodes(old) if isinstance(child, ast.expr)]
        choices = parts[:4]
        if not isinstance(old, (ast.Constant, ast.Name)) or isinstance(old, ast.Constant) and old.value not in (0, 1):
            choices = choices + [ast.Constant(1), ast.Constant(0)]
        for choice in choices:
            changed = copy.deepcopy(tree)
            put(expressions(changed)[number], copy.deepcopy(choice))
            yield changed


def fewer_items(tree: ast.Module) -> Iterator[ast.Module]:
    """The program with an item of a display or an argument of a call taken away."""
    for number, place in enumerate(expressions(tree)):
        old = get(place)
        for field in ("elts", "args", "keywords", "values"):
            items = getattr(old, field, None)
            if not isinstance(items, list) or isinstance(old, ast.Dict):
                continue
            for at in range(len(items)):
                changed = copy.deepcopy(tree)
                del getattr(get(expressions(changed)[number]), field)[at]
                yield changed


def candidates(tree: ast.Module) -> Iterator[str]:
    seen = {text_of(copy.deepcopy(tree))}
    for step in (without_statements, unwrapped, fewer_items, simpler_expressions):
        for changed in step(tree):
            try:
                text = text_of(changed)
                ast.parse(text)
            except (SyntaxError, ValueError, AttributeError, TypeError, IndexError):
                continue
            if text not in seen:
                seen.add(text)
                yield text


def batches(items: Iterator[str], size: int) -> Iterator[List[str]]:
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def reduce(source: str, failing: Callable[[List[str]], List[bool]], seconds: float) -> str:
    """The smallest program found in the given time for which `failing` is true."""
    end = time.monotonic() + seconds
    try:
        start = text_of(ast.parse(source))
    except SyntaxError:
        return source
    if not failing([start])[0]:
        return source
    current = start
    while True:
        for batch in batches(candidates(ast.parse(current)), BATCH):
            if time.monotonic() > end:
                return current
            verdicts = failing(batch)
            if any(verdicts):
                current = batch[verdicts.index(True)]
                break
        else:
            return current
