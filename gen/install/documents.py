#!/usr/bin/env python3
"""Writes the manual (dynvm.1) and the completions of bash, zsh and fish from what `dynvm --help` prints.

usage: documents.py DIRECTORY VERSION COMMAND...

COMMAND prints the help.  A line of it with two spaces and a dash begins an option; lines that are further to the right
continue its description.  `--name=a|b` takes one of these words, `--name=WORD` any text.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import List

OPTION = re.compile(r"^  (-[^\s,]*(?:, -[^\s,]+)*(?: [A-Z]+(?=  |$))?)(?: +(\S.*))?$")
CONTINUED = re.compile(r"^ {8,}(\S.*)$")
USAGE = re.compile(r"^(?:usage:|      ) dynvm (.+?)(?:  +.*)?$")


@dataclass
class Option:
    """One entry of the help."""

    spelled: str  # "--level=generic|inca|nama", "-h, --help"
    text: str

    def names(self) -> List[str]:
        return [re.split(r"[=\[ ]", part)[0] for part in self.spelled.split(", ")]

    def values(self) -> List[str]:
        found = re.search(r"=([a-z]\w*(?:\|[a-z]\w*)+)", self.spelled)
        return found.group(1).split("|") if found else []

    def takes_value(self) -> bool:
        return "=" in self.spelled

    def words(self) -> List[str]:
        """What may be typed."""
        if self.values():
            return [f"{self.names()[-1]}={value}" for value in self.values()]
        return [name + "=" * (self.takes_value() and "[" not in self.spelled) for name in self.names()]


def parse(text: str) -> tuple:
    """The lines of usage, the options, and the tools (`dynvm TOOL [options]`)."""
    usages, options = [], []
    for line in text.splitlines():
        usage, option, continued = USAGE.match(line), OPTION.match(line), CONTINUED.match(line)
        if usage:
            usages.append(usage.group(1))
        elif option:
            options.append(Option(option.group(1), option.group(2) or ""))
        elif continued and options:
            options[-1].text = f"{options[-1].text} {continued.group(1)}".strip()
    tools = sorted({u.split()[0] for u in usages if re.fullmatch(r"[a-z]+", u.split()[0])})
    if not options or not tools or len(usages) < 2:
        sys.exit("documents.py: the help has another form than this program knows")
    return usages, options, tools


# ---- The manual -------------------------------------------------------------------------------------


def escape(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def manual(template: str, version: str, usages: list, options: List[Option]) -> str:
    synopsis = "\n".join(f".Nm\n.Li {escape(usage)}" for usage in usages)
    rows = "\n".join(f".It Li {escape(o.spelled)}\n{escape(o.text)}" for o in options)
    parts = {"SYNOPSIS": synopsis, "OPTIONS": f".Bl -tag -width Ds\n{rows}\n.El", "MINOR": ".".join(version.split(".")[:2])}
    return re.sub(r"@([A-Z]+)@", lambda found: parts[found.group(1)], template)


# ---- Completions ------------------------------------------------------------------------------------

BASH = """# bash completion of dynvm
_dynvm() {
    local line=${COMP_LINE:0:COMP_POINT} word
    word=${line##* }
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W '@WORDS@' -- "$word") ;;
    *) mapfile -t COMPREPLY < <([ "$COMP_CWORD" -gt 1 ] || compgen -W '@TOOLS@' -- "$word"; compgen -f -- "$word") ;;
    esac
    [[ $word == *=* ]] && COMPREPLY=("${COMPREPLY[@]#*=}")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
    return 0
}
complete -o filenames -F _dynvm dynvm
"""

ZSH = """#compdef dynvm
_arguments -S \\
@OPTIONS@
  '1:script: _alternative "tools:tool:(@TOOLS@)" "scripts:script:_files"' \\
  '*:argument:_files'
"""


def quoted(text: str) -> str:
    """For a description between single quotes, in square brackets of zsh."""
    return re.sub(r"([\[\]:])", r"\\\1", text.replace("'", ""))


def zsh_option(option: Option) -> str:
    lines = []
    for name in option.names():
        value = ""
        if option.takes_value():
            value = f":value:({' '.join(option.values())})" if option.values() else ":value: "
            name += "=-"
        lines.append(f"  '{name}[{quoted(option.text)}]{value}' \\")
    return "\n".join(lines)


def fish(options: List[Option], tools: list) -> str:
    lines = ["# fish completion of dynvm", f"complete -c dynvm -n __fish_use_subcommand -a '{' '.join(tools)}'"]
    for option in options:
        words = ["complete -c dynvm"]
        for name in option.names():
            long, bare = name.startswith("--"), name.lstrip("-")
            if bare:
                words.append(f"-{'l' if long else 's' if len(bare) == 1 else 'o'} {bare}")
        if len(words) == 1:
            continue
        if option.takes_value():
            words.append(f"-x -a '{' '.join(option.values())}'" if option.values() else "-x")
        lines.append(" ".join(words) + f" -d '{option.text.replace(chr(39), '')}'")
    return "\n".join(lines) + "\n"


def main() -> int:
    out, version, *command = sys.argv[1:]
    usages, options, tools = parse(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    template = (Path(__file__).resolve().parent / "dynvm.1.in").read_text()
    words = {"WORDS": " ".join(word for o in options for word in o.words()), "TOOLS": " ".join(tools),
             "OPTIONS": "\n".join(map(zsh_option, options))}
    documents = {"dynvm.1": manual(template, version, usages, options), "dynvm.fish": fish(options, tools)}
    for name, text in (("dynvm.bash", BASH), ("_dynvm", ZSH)):
        documents[name] = re.sub(r"@([A-Z]+)@", lambda found: words[found.group(1)], text)
    Path(out).mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        (Path(out) / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
