"""Writes what the module unicodedata says of characters (lang/lib/data/_unicode_properties.dl), as CPython 3.11 says it:
`python3.11 gen/tables/unicode_properties.py --save` writes it, `--check` compares.

- RECORDS are the properties that occur together: category, direction, width, and 1 if it is mirrored.
- RUNS tells what code points have which, from 0 on: two characters for each run, its record (number + 48) and its length.
- NUMBERS are values of characters that are no decimal digits: of each run the first code point, the number of characters,
  the value of the first, and what is added from one to the next.
"""

import itertools
import sys
import unicodedata
from fractions import Fraction
from pathlib import Path

import unicode

FILE = Path(__file__).resolve().parents[2] / "lang" / "lib" / "data" / "_unicode_properties.dl"
LONGEST = 0xD000  # length of a run; it must not be a surrogate
LINE = 100


def literal(name, text):
    """The text as an expression of several lines."""
    lines = [ascii_but_letters(text[i:i + LINE]) for i in range(0, len(text), LINE)]
    return f"{name} = (\n" + "\n".join(f"    {line}" for line in lines) + ")\n"


def ascii_but_letters(text):
    return ascii(text) if any(not c.isascii() for c in text) else repr(text)


def runs(points):
    """Of code points and values: (first, length, value) of those beside each other with one value."""
    for value, group in itertools.groupby(points, key=lambda pair: pair[1]):
        group = list(group)
        yield group[0][0], len(group), value


def properties():
    points = ((p, (unicodedata.category(chr(p)), unicodedata.bidirectional(chr(p)), unicodedata.east_asian_width(chr(p)),
                   unicodedata.mirrored(chr(p)))) for p in range(sys.maxunicode + 1))
    records, text = {}, []
    for _, length, value in runs(points):
        number = records.setdefault(value, len(records))
        while length:
            text.append(chr(48 + number) + chr(min(length, LONGEST)))
            length -= min(length, LONGEST)
    return ";".join(",".join(map(str, record)) for record in records), "".join(text)


def numbers():
    values = [(p, Fraction(unicodedata.numeric(chr(p))).limit_denominator(1000)) for p in range(sys.maxunicode + 1)
              if unicodedata.numeric(chr(p), None) is not None and not chr(p).isdecimal()]
    found, at = [], 0
    while at < len(values):
        step, count = None, 1
        while at + count < len(values) and values[at + count][0] == values[at][0] + count:
            more = values[at + count][1] - values[at + count - 1][1]
            if step not in (None, more):
                break
            step, count = more, count + 1
        found.append(f"{values[at][0]:X} {count} {values[at][1]} {step or 0}")
        at += count
    return ";".join(found)


def dump():
    records, text = properties()
    return (f'"""Properties of characters in Unicode {unicode.VERSION}; written by gen/tables/unicode_properties.py --save, which '
            'tells the format."""\n\n' + literal("RECORDS", records) + "\n" + literal("RUNS", text) + "\n" + literal("NUMBERS", numbers()))


def main(arguments):
    if arguments not in (["--save"], ["--check"]):
        sys.exit("usage: unicode_properties.py --save | --check")
    unicode.demand_version()
    text = dump()
    if arguments == ["--save"]:
        FILE.write_text(text)
    return int(FILE.read_text() != text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
