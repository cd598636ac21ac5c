"""NumPy's test files for dynvm: copies in which what fails while a file is read stops one definition and not the file.

Each statement of a file and of its classes stands in a `try`; where it fails, a definition becomes a function that raises the same
when a test calls it, and an import an object that does so. Functions that dl's compiler refuses raise SyntaxError.
"""

import ast
import pathlib

FOLDER = pathlib.Path("/usr/lib/python3/dist-packages/numpy")
PARTS = "core lib linalg fft random testing".split()
# What is about NumPy's build, or about modules in C that only its tests import.
INTERNAL = """_version cpu_dispatcher cpu_features custom_dtypes cython extending extint128 financial_expired hashtable limited_api
    mem_policy simd simd_module""".split()


def list_modules(patterns):
    modules = [f"numpy.{part}.tests.{path.stem}" for part in PARTS for path in sorted((FOLDER / part / "tests").glob("test_*.py"))]
    short = {module: module.split("test_", 1)[-1] for module in modules}
    return [module for module in modules if (short[module] in patterns if patterns else short[module] not in INTERNAL)]


def _parse(text):
    return ast.parse(text).body


def _word_refused(node):
    for inner in ast.walk(node):
        if isinstance(inner, (ast.AsyncFunctionDef, ast.AsyncWith, ast.AsyncFor, ast.TryStar)):
            return type(inner).__name__
    return None


def _guarded(statement, handler):
    guard = _parse(f"try:\n    pass\nexcept BaseException as _error:\n    {handler}")[0]
    guard.body = [statement]
    return guard


def _names(statement):
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def _split_import(statement):
    """One statement for each name."""
    for alias in statement.names:
        name = alias.asname or alias.name.split(".")[0]
        if isinstance(statement, ast.Import):
            single = ast.Import([alias])
        elif statement.level or alias.name == "*":
            single = ast.ImportFrom(statement.module, [alias], statement.level)
        else:
            single = ast.ImportFrom(statement.module, [alias], 0)
        if alias.name == "*":
            yield single
        else:
            yield _guarded(single, f"{name} = __import__('__main__').stopped_import({name!r})")


def _split(statements):
    for statement in statements:
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and getattr(statement, "module", "") != "__future__":
            yield from _split_import(statement)
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            word = not isinstance(statement, ast.ClassDef) and _word_refused(statement)
            if word:
                yield from _parse(f"{statement.name} = __import__('__main__').refused({statement.name!r}, SyntaxError({word!r}))")
                continue
            if isinstance(statement, ast.ClassDef):
                statement.body = list(_split(statement.body))
            yield _guarded(statement, f"{statement.name} = __import__('__main__').refused({statement.name!r}, _error)")
        elif isinstance(statement, ast.Assign) and _names(statement):
            names = _names(statement)
            yield _guarded(statement, "; ".join(f"{name} = __import__('__main__').refused({name!r}, _error)" for name in names))
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) or isinstance(statement, ast.ImportFrom):
            yield statement
        else:
            yield _guarded(statement, "pass")


def split(module, folder):
    """Writes the copy of a module to the folder, beside what files it reads."""
    path = FOLDER.parent / (module.replace(".", "/") + ".py")
    tree = ast.parse(path.read_text())
    tree.body = list(_split(tree.body))
    pathlib.Path(folder, path.name).write_text(ast.unparse(ast.fix_missing_locations(tree)))
    for data in path.parent.glob("data/*.*"):
        here = pathlib.Path(folder, "data", data.name)
        here.parent.mkdir(exist_ok=True)
        if not here.exists():
            here.symlink_to(data)
