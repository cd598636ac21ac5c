#!/usr/bin/env python3
"""Checks the documents: tours are short, and what documents refer to is there.

usage: check_documents.py            (prints complaints; fails if there is one)

 - A README.md has at most 150 lines; no paragraph, list item or table row of a document has more than 120 words.
 - No document has a date: what was measured is a row of bench/log.
 - Relative links lead to files, and `#parts` of them to headings.  Where the link's text is a name of C or Python in
   backticks, that name stands in the file; `#L12` has that many lines.  The same holds for links in drawings (SVG).
 - A file that is named in backticks exists: from the document's folder, the root, vm/, or anywhere if it has no folder.
   `file.c:12` has that many lines.
 - Comments in sources refer to no document that is not here.

Generated pages are checked for their links only.
"""

import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES, MOST_WORDS = 150, 120
GENERATED = {"gen/INSTRUCTIONS.md", "gen/REFERENCE.md"}
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
SVG_LINK = re.compile(r'<a\s[^>]*?href="([^"]+)"[^>]*>(.*?)</a>', re.DOTALL)
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:c|h|py|mako|md|gram|json|csv|in|cmake))(?::(\d+))?`")
IDENTIFIER = re.compile(r"`?([A-Za-z_]\w*)(?:\(\))?`?$")
DATE = re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b")
# Files that a reader is told to make, and what a program writes.
EXAMPLES = {"yours.c", "host.c", "foo.py", "foo/__init__.py", "log/TOPIC.csv"}
RENDERED = re.compile(r"(?:dv_(?:ops|where|fingerprint|code_format|grammar)|unicode_\w+|handlers_\w+|extension_\w+)\.[ch]")
MISSING = re.compile(r"\bDESIGN(?:\.md|\s+section|\b(?=[:),]))")


@lru_cache(maxsize=None)
def tracked() -> tuple:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode()
    return tuple(sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file()))


@lru_cache(maxsize=None)
def base_names() -> frozenset:
    return frozenset(Path(name).name for name in tracked())


@lru_cache(maxsize=None)
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def headings(path: Path) -> set:
    titles = re.findall(r"^#+ +(.*?) *$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def paragraphs(text: str) -> list:
    """(line, text) of paragraphs, list items and rows of tables; code is none."""
    found, code, current = [], False, None
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            code, current = not code, None
        elif code or not line.strip() or line.startswith("    "):
            current = current if line.startswith("    ") and current else None
            if current and line.strip():
                current[1] += " " + line
        elif current is None or re.match(r"\s*(?:[-*|#]|\d+\.) ?", line):
            current = [number, line]
            found.append(current)
        else:
            current[1] += " " + line
    return found


def check_target(document: Path, text: str, target: str) -> str:
    """What is wrong with a link, or ""."""
    if re.match(r"[a-z]+:", target):
        return ""
    path, _, part = target.partition("#")
    file = (document.parent / path).resolve() if path else document
    if not file.exists():
        return f"there is no {target}"
    lines = re.fullmatch(r"L(\d+)", part)
    if lines:
        return "" if int(lines[1]) <= text_of(file).count("\n") + 1 else f"{path} has no line {lines[1]}"
    if part and file.suffix == ".md" and part not in headings(file):
        return f"{path or 'the page'} has no heading #{part}"
    name = IDENTIFIER.fullmatch(text.strip())
    if name and path and file.is_file() and file.suffix not in (".md", ".svg") and not re.search(rf"(?<!\w){name[1]}(?!\w)", text_of(file)):
        return f"{name[1]} is not in {path}"
    return ""


def exists(document: Path, name: str) -> Path | None:
    for folder in (document.parent, ROOT, ROOT / "vm", ROOT / "vm" / "include"):
        if (folder / name).is_file():
            return folder / name
    if "/" in name:
        return next((ROOT / other for other in tracked() if other.endswith("/" + name)), None)
    return ROOT if name in base_names() else None


def check_document(document: Path) -> list:
    text = text_of(document)
    found = []
    is_generated = str(document.relative_to(ROOT)) in GENERATED
    if document.suffix == ".svg":
        links = [(re.sub(r"<[^>]*>", "", inner), target, text.count("\n", 0, 1)) for target, inner in SVG_LINK.findall(text)]
        return [complaint for inner, target, _ in links if (complaint := check_target(document, inner, target))]
    if document.name == "README.md" and text.count("\n") > MOST_LINES:
        found.append(f"{text.count(chr(10))} lines; a tour has at most {MOST_LINES}")
    for number, paragraph in paragraphs(text) if not is_generated else ():
        words = len(paragraph.split())
        if words > MOST_WORDS:
            found.append(f"line {number}: a paragraph of {words} words")
        if DATE.search(paragraph):
            found.append(f"line {number}: a date; measurements are rows of bench/log")
        for name, line in NAMED.findall(paragraph):
            file = exists(document, name)
            if file is None and name not in EXAMPLES and not RENDERED.fullmatch(name):
                found.append(f"line {number}: there is no file {name}")
            elif line and file and int(line) > text_of(file).count("\n") + 1:
                found.append(f"line {number}: {name} has no line {line}")
    without_code = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for inner, target in LINK.findall(without_code):
        complaint = check_target(document, inner, target)
        if complaint:
            found.append(complaint)
    return found


def check_comments() -> list:
    """Sources that refer to what is not in the repository."""
    found = []
    for name in tracked():
        if Path(name).suffix in (".c", ".h", ".py", ".mako", ".dl", ".md") and name != ".ci/check_documents.py":
            for number, line in enumerate(text_of(ROOT / name).split("\n"), 1):
                if MISSING.search(line):
                    found.append(f"{name}:{number}: refers to a document that is not here")
    return found


def main() -> int:
    documents = [ROOT / name for name in tracked() if name.endswith((".md", ".svg"))]
    complaints = [f"{document.relative_to(ROOT)}: {what}" for document in documents for what in check_document(document)]
    complaints += check_comments()
    print("\n".join(complaints) if complaints else f"{len(documents)} documents are as they should be")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
