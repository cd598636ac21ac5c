"""Writes the Unicode tables of str (unicode_tables.c and .h) from unicode_data.txt.

dl follows CPython 3.11, whose str knows Unicode 14.  The Python that happens to run the build may know another
version, so what 3.11 says is kept beside this file: `python3.11 gen/tables/unicode.py --save` writes unicode_data.txt,
`--check` compares.  Every property is found by asking the methods of Python's own str, because they are what dl's
str must do.  Properties are kept in records; two levels of index lead from a code point to its record.
"""

import itertools
import sys
import unicodedata
from pathlib import Path

VERSION = "14.0.0"
DATA = Path(__file__).resolve().parent / "unicode_data.txt"
SHIFT = 7
LATIN = 256  # code points whose flags are found at once
FLAGS = (
    "ALPHA DECIMAL DIGIT NUMERIC LOWER UPPER TITLE SPACE PRINTABLE ID_START ID_CONTINUE CASED CASE_IGNORABLE LINE_BREAK"
).split()
FLAGS_AT = 4  # where a record has its flags
MANY = 1 << 30  # marks a case mapping to several code points
NO_RECORD = ("Cn", "Co", "Cs")  # categories of code points that have no property at all

HEADER = """/* unicode_tables.h: properties of code points; written by gen/tables/unicode.py. */
#ifndef DV_UNICODE_TABLES_H
#define DV_UNICODE_TABLES_H

#include <stdint.h>

enum {
%s
};

/* A case mapping is the distance to the mapped code point; or, with DV_UNICODE_MANY, bits 16-19 are
 * the number of code points that it has, and the lower bits where they start in dv_unicode_many. */
#define DV_UNICODE_MANY 0x%X

typedef struct dv_unicode_record {
    int32_t upper, lower, title, fold;
    uint16_t flags;
    int8_t decimal; /* -1: not a decimal digit */
} dv_unicode_record;

#define DV_UNICODE_SHIFT %d
extern const dv_unicode_record dv_unicode_records[];
extern const uint32_t dv_unicode_many[];
extern const uint16_t dv_unicode_blocks[];
extern const uint16_t dv_unicode_index[];
#define DV_UNICODE_LATIN %d
extern const uint16_t dv_unicode_latin[]; /* flags of the code points below that */

#endif
"""


def outputs():
    """Names of the files that write() makes."""
    return ["unicode_tables.c", "unicode_tables.h"]


def is_case_ignorable(c):
    """Looking for the end of a word before a capital sigma passes over c, and c alone is no word."""
    return (f"A{c}\u03a3".lower()[-1], f"1{c}\u03a3".lower()[-1]) == ("\u03c2", "\u03c3")


def flags_of(c):
    category = unicodedata.category(c)
    tests = (
        c.isalpha(), c.isdecimal(), c.isdigit(), c.isnumeric(), c.islower(), c.isupper(), category == "Lt",
        c.isspace(), c.isprintable(), c.isidentifier(), f"a{c}".isidentifier(), f"{c}a".title()[-1] == "a",
        is_case_ignorable(c), len(f"{c}a".splitlines()) == 2,
    )  # fmt: skip
    return sum(1 << bit for bit, test in enumerate(tests) if test)


class Tables:
    """The records, and for each code point the number of its record."""

    def __init__(self):
        self.many = []
        self.many_at = {}
        self.records = {(0, 0, 0, 0, 0, -1): 0}
        self.numbers = []

    def ask_python(self):
        """Fills the tables with what the str of this Python does."""
        self.numbers = [self.number_of(point) for point in range(sys.maxunicode + 1)]
        return self

    def load(self, text):
        """Fills the tables from what dump() made."""
        self.records = {}
        for line in text.splitlines():
            kind, *words = line.split()
            if kind == "many":
                self.many = [int(word) for word in words]
            elif kind == "record":
                self.records[tuple(int(word) for word in words)] = len(self.records)
            elif kind == "runs":
                for word in words:
                    count, number = word.split("*")
                    self.numbers += [int(number)] * int(count)
        return self

    def dump(self):
        """The tables as text: the records in order, then runs of code points with the same record."""
        lines = [f"# Properties of code points in Unicode {VERSION}; written by gen/tables/unicode.py --save."]
        lines += wrapped("many", self.many)
        lines += ["record " + " ".join(map(str, record)) for record in self.records]
        runs = [f"{len(list(run))}*{number}" for number, run in itertools.groupby(self.numbers)]
        return "\n".join(lines + wrapped("runs", runs)) + "\n"

    def mapping(self, c, mapped):
        if len(mapped) == 1:
            return ord(mapped) - ord(c)
        if mapped not in self.many_at:
            self.many_at[mapped] = len(self.many)
            self.many.extend(ord(m) for m in mapped)
        return MANY | len(mapped) << 16 | self.many_at[mapped]

    def number_of(self, point):
        c = chr(point)
        if unicodedata.category(c) in NO_RECORD:
            return 0
        mappings = [self.mapping(c, m) for m in (c.upper(), c.lower(), c.title(), c.casefold())]
        decimal = unicodedata.decimal(c, -1)
        return self.records.setdefault((*mappings, flags_of(c), decimal), len(self.records))

    def blocks(self):
        """Equal blocks of the index are stored once."""
        size = 1 << SHIFT
        found, order = {}, []
        for start in range(0, len(self.numbers), size):
            order.append(found.setdefault(tuple(self.numbers[start:start + size]), len(found)))
        return order, [number for block in found for number in block]


def wrapped(kind, values):
    """Lines that begin with kind and hold the values; `many` must be one line."""
    words = [str(value) for value in values]
    size = 16 if kind == "runs" else len(words)
    return [f"{kind} " + " ".join(words[i:i + size]) for i in range(0, len(words), size)]


def array(declaration, values):
    lines, line = [], ""
    for value in values:
        text = f"{value}, "
        if len(line) + len(text) > 96:
            lines.append("    " + line.rstrip())
            line = ""
        line += text
    lines.append("    " + line.rstrip())
    return f"const {declaration}[] = {{\n" + "\n".join(lines) + "\n};\n"


def render():
    """Contents of the two files, in the order of outputs()."""
    tables = Tables().load(DATA.read_text())
    blocks, index = tables.blocks()
    records = ["{%d, %d, %d, %d, %d, %d}" % record for record in tables.records]
    latin = [list(tables.records)[number][FLAGS_AT] for number in tables.numbers[:LATIN]]
    source = "\n".join([
        f"/* unicode_tables.c: Unicode {VERSION}; written by gen/tables/unicode.py. */",
        '#include "unicode_tables.h"\n',
        array("dv_unicode_record dv_unicode_records", records),
        array("uint32_t dv_unicode_many", tables.many),
        array("uint16_t dv_unicode_blocks", blocks),
        array("uint16_t dv_unicode_index", index),
        array("uint16_t dv_unicode_latin", latin),
    ])  # fmt: skip
    flags = "\n".join(f"    DV_UNICODE_{name} = {1 << bit}," for bit, name in enumerate(FLAGS))
    return [source, HEADER % (flags, MANY, SHIFT, LATIN)]


def write(out_dir, names, texts):
    """Writes files into out_dir, leaving those alone whose contents would not change."""
    for name, text in zip(names, texts):
        path = Path(out_dir) / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def demand_version():
    """What CPython says is asked of the right one only."""
    if unicodedata.unidata_version != VERSION:
        sys.exit(f"this needs a Python with Unicode {VERSION}, not {unicodedata.unidata_version}")


def main(arguments):
    if arguments[:1] == ["--out"]:
        write(arguments[1], outputs(), render())
        return 0
    if arguments not in (["--save"], ["--check"]):
        sys.exit("usage: unicode.py --out DIR | --save | --check")
    demand_version()
    text = Tables().ask_python().dump()
    if arguments == ["--save"]:
        DATA.write_text(text)
    return int(DATA.read_text() != text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
