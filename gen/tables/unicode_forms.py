"""Writes what characters consist of (unicode_forms.c and .h) from unicode_forms.txt: for identifiers and unicodedata.

As with unicode.py, what CPython 3.11 says is kept beside this file: `python3.11 gen/tables/unicode_forms.py --save` writes it,
`--check` compares.  The lines are
    d POINT TAG POINTS...  what a character consists of, in one step; the tag is one of TAGS, `-` if it is the same without
                           formatting (canonical)
    c FIRST LAST CLASS     the combining class of characters, where it is not 0
    p FIRST SECOND POINT   two characters that compose
Hangul syllables follow a rule and are not there.
"""

import sys
import unicodedata
from pathlib import Path

import unicode

TAGS = ("- <circle> <compat> <final> <font> <fraction> <initial> <isolated> <medial> <narrow> <noBreak> <small> <square> <sub>"
        " <super> <vertical> <wide>").split()
DATA = Path(__file__).resolve().parent / "unicode_forms.txt"

HEADER = """/* unicode_forms.h: compatibility decompositions, combining classes and compositions; written by
 * gen/tables/unicode_forms.py. */
#ifndef DV_UNICODE_FORMS_H
#define DV_UNICODE_FORMS_H

#include <stdint.h>

#define DV_FORMS_DECOMPOSITIONS %d
#define DV_FORMS_CLASSES        %d
#define DV_FORMS_PAIRS          %d
#define DV_FORMS_LONGEST        %d /* points that a character comes to in all steps */

/* Sorted by point: the point * 1024 + the number of its tag * 32 + the number of points; where these begin in
 * dv_forms_points. */
extern const char *const dv_forms_tags[];
extern const uint32_t dv_forms_decompositions[];
extern const uint16_t dv_forms_at[];
extern const uint32_t dv_forms_points[];
extern const uint32_t dv_forms_classes[][3]; /* first, last, class; sorted */
extern const uint32_t dv_forms_pairs[][3];   /* first, second, what they compose to; sorted */

#endif
"""


def outputs():
    """Names of the files that write() makes."""
    return ["unicode_forms.c", "unicode_forms.h"]


def is_hangul(point):
    return 0xAC00 <= point < 0xAC00 + 11172


def dump():
    """What this Python knows, as text."""
    lines = [f"# Normal forms in Unicode {unicode.VERSION}; written by gen/tables/unicode_forms.py --save."]
    points = [p for p in range(sys.maxunicode + 1) if not is_hangul(p) and unicodedata.category(chr(p)) != "Cs"]
    for p in points:
        tag, *parts = unicodedata.decomposition(chr(p)).split() or [""]
        if tag and tag[0] != "<":
            tag, parts = "-", [tag, *parts]
        if parts:
            lines.append(f"d {p:X} {tag} " + " ".join(f"{int(part, 16):X}" for part in parts))
    runs = []
    for p in points:
        kind = unicodedata.combining(chr(p))
        if kind and runs and runs[-1][1:] == [p - 1, kind]:
            runs[-1][1] = p
        elif kind:
            runs.append([p, p, kind])
    lines += [f"c {first:X} {last:X} {kind}" for first, last, kind in runs]
    pairs = []
    for p in points:
        parts = unicodedata.decomposition(chr(p)).split()
        if len(parts) == 2 and parts[0][0] != "<":
            first, second = (int(part, 16) for part in parts)
            if unicodedata.normalize("NFC", chr(first) + chr(second)) == chr(p):
                pairs.append((first, second, p))
    lines += [f"p {first:X} {second:X} {p:X}" for first, second, p in sorted(pairs)]
    return "\n".join(lines) + "\n"


def comes_to(point, steps):
    """How many points a character comes to in all steps."""
    return sum(comes_to(part, steps) for part in steps[point]) if point in steps else 1


def render():
    """Contents of the two files, in the order of outputs()."""
    rows = {"d": [], "c": [], "p": []}
    for line in DATA.read_text().splitlines()[1:]:
        kind, *words = line.split()
        rows[kind].append(words)
    pool, places, keys, at = [], {}, [], []
    for point, tag, *parts in rows["d"]:
        parts = tuple(int(part, 16) for part in parts)
        if parts not in places:
            places[parts] = len(pool)
            pool += parts
        keys.append(int(point, 16) << 10 | TAGS.index(tag) << 5 | len(parts))
        at.append(places[parts])
    steps = {int(point, 16): [int(part, 16) for part in parts] for point, _, *parts in rows["d"]}
    classes = [f"{{0x{first}, 0x{last}, {kind}}}" for first, last, kind in rows["c"]]
    pairs = ["{" + ", ".join(f"0x{word}" for word in words) + "}" for words in rows["p"]]
    source = "\n".join([
        f"/* unicode_forms.c: Unicode {unicode.VERSION}; written by gen/tables/unicode_forms.py. */",
        '#include "unicode_forms.h"\n',
        "const char *const dv_forms_tags[] = {" + ", ".join(f'"{tag}"' for tag in TAGS) + "};\n",
        unicode.array("uint32_t dv_forms_decompositions", keys),
        unicode.array("uint16_t dv_forms_at", at),
        unicode.array("uint32_t dv_forms_points", pool),
        unicode.array("uint32_t dv_forms_classes", classes).replace("[] =", "[][3] =", 1),
        unicode.array("uint32_t dv_forms_pairs", pairs).replace("[] =", "[][3] =", 1),
    ])  # fmt: skip
    longest = max(comes_to(point, steps) for point in steps)
    return [source, HEADER % (len(keys), len(classes), len(pairs), longest)]


def main(arguments):
    if arguments[:1] == ["--out"]:
        unicode.write(arguments[1], outputs(), render())
        return 0
    if arguments not in (["--save"], ["--check"]):
        sys.exit("usage: unicode_forms.py --out DIR | --save | --check")
    unicode.demand_version()
    text = dump()
    if arguments == ["--save"]:
        DATA.write_text(text)
    return int(DATA.read_text() != text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
