"""The interpreters that bench/run.py can measure, and the program files each of them runs."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Tuple

LEVELS = ("generic", "inca", "nama")


@dataclass(frozen=True)
class Peer:
    """One column of the table: a command line and the language it speaks."""

    name: str
    command: Tuple[str, ...]
    language: str  # a folder under the programs' directory, or "dl"


# Peers that are not dynvm: name, program, options, language.
KNOWN = (
    ("cpython", "/usr/bin/python3", (), "dl"),
    ("luajit-joff", "luajit", ("-joff",), "lua"),
    ("lua5.4", "lua5.4", (), "lua"),
    ("luajit", "luajit", (), "lua"),
    ("pypy", "pypy3", (), "dl"),
    ("node-jitless", "node", ("--jitless",), "js"),
    ("node", "node", (), "js"),
)
SUFFIX = {"lua": ".lua", "js": ".js", "python": ".py"}


def dynvm_peers(paths: List[Path], levels: List[str]) -> List[Peer]:
    """One peer for each build and level; the build's directory is part of the name if there are several."""
    peers = []
    for number, path in enumerate(paths):
        prefix = "dynvm" if len(paths) == 1 else f"dynvm{chr(ord('A') + number)}"
        for level in levels:
            peers.append(Peer(f"{prefix}-{level}", (str(path.resolve()), f"--level={level}"), "dl"))
    return peers


def installed_peers(wanted: Optional[List[str]]) -> List[Peer]:
    peers = []
    for name, program, options, language in KNOWN:
        if wanted is not None and name not in wanted:
            continue
        path = shutil.which(program) or (shutil.which("python3") if name == "cpython" else None)
        if path is not None:
            peers.append(Peer(name, (path, *options), language))
    return peers


def program_file(directory: Path, language: str, name: str) -> Optional[Path]:
    """The version of a program in a language: NAME.dl or python/NAME.py, lua/NAME.lua, js/NAME.js."""
    if language == "dl":
        candidates = [directory / f"{name}.dl", directory / "python" / f"{name}.py"]
    else:
        candidates = [directory / language / f"{name}{SUFFIX[language]}"]
    for path in candidates:
        if path.exists():
            return path
    return None


def program_names(directory: Path) -> List[str]:
    found: Dict[str, None] = {}
    for pattern in ("*.dl", "python/*.py"):
        for path in sorted(directory.glob(pattern)):
            found[path.stem] = None
    return list(found)
