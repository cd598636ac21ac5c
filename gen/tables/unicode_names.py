"""Writes the names of characters for \\N{...} (unicode_names.c and .h) from unicode_names.txt.

As with unicode.py, what CPython 3.11 says is kept beside this file: `python3.11 gen/tables/unicode_names.py --save FILE` writes
unicode_names.txt, with the aliases that FILE names (a list with lines of code points and names, as Unicode's
NameAliases.txt or perl's Name.pl) and that 3.11 knows; `--check` compares the names.  Names that follow from a rule (of
Hangul syllables and Chinese characters) are not kept.

A name is a sequence of words: what stands between spaces, and what follows a hyphen, with it.  `-@` stands for a hyphen
and the code point in hexadecimal; it is never shared.  In the C file
- the words are two alphabetical lists, of those with codes of one byte, then of those with two, front-coded: the number
  of letters shared with the word before (none at the beginning of a block), the number of letters that follow, these;
- an entry is a byte, the words shared with the entry before * 16 + the words that follow, and the codes of these.  It
  is the name of the code point behind that of the entry before.  The byte 255 and three bytes more set the next one.
"""

import collections
import itertools
import re
import sys
import unicodedata
from pathlib import Path

import unicode

DATA = Path(__file__).resolve().parent / "unicode_names.txt"
BY_RULE = ("HANGUL SYLLABLE ", "CJK UNIFIED IDEOGRAPH-")
SHORT = 200  # words with codes of one byte
BLOCK = 32  # words
JUMP = 255

HEADER = """/* unicode_names.h: names of characters; written by gen/tables/unicode_names.py, which tells the format. */
#ifndef DV_UNICODE_NAMES_H
#define DV_UNICODE_NAMES_H

#include <stdint.h>

#define DV_NAMES_SHORT      %d
#define DV_NAMES_WORDS      %d
#define DV_NAMES_BLOCK      %d
#define DV_NAMES_JUMP       %d
#define DV_NAMES_MOST_WORDS %d
#define DV_NAMES_LONGEST    %d /* letters of a word */

extern const uint8_t dv_names_words[];
extern const uint16_t dv_names_blocks[]; /* where blocks begin in dv_names_words */
extern const uint8_t dv_names_entries[];
extern const uint32_t dv_names_size; /* of dv_names_entries */

#endif
"""


def outputs():
    """Names of the files that write() makes."""
    return ["unicode_names.c", "unicode_names.h"]


def words_of(point, name):
    suffix = f"-{point:04X}"
    if name.endswith(suffix):
        name = name[:-len(suffix)] + "-@"
    first, *rest = re.split("([ -])", name)
    return [first] + [word if delimiter == " " else "-" + word for delimiter, word in zip(rest[::2], rest[1::2])]


def text_of(words):
    return " ".join(words).replace(" -", "-")


def entries_of(pairs):
    """(code point, words shared with the entry before, the other words) of pairs of code points and names."""
    before = []
    for point, name in pairs:
        words = words_of(point, name)
        shared = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1] != "-@", zip(before, words))))
        yield point, min(shared, 14), words[min(shared, 14):]
        before = words


def ask_python():
    """Pairs of code points and names that this Python knows."""
    pairs = ((point, unicodedata.name(chr(point), "")) for point in range(sys.maxunicode + 1))
    return [(point, name) for point, name in pairs if name and not name.startswith(BY_RULE)]


def aliases(text, names):
    """Pairs from a list of aliases, as far as this Python takes them in literals."""
    found = set()
    for number, name in re.findall(r"^([0-9A-F]{4,6})[;\n\t]([A-Z0-9 ()-]+)", text, re.MULTILINE):
        try:
            known = f"\\N{{{name}}}".encode().decode("unicode_escape") == chr(int(number, 16))
        except UnicodeDecodeError:
            continue
        if known and names.get(int(number, 16)) != name and not name.startswith(BY_RULE):
            found.add((int(number, 16), name))
    return sorted(found)


def dump(pairs):
    lines = [f"# Names of characters in Unicode {unicode.VERSION}, then aliases; written by gen/tables/unicode_names.py --save."]
    at = 0
    for point, shared, words in entries_of(pairs):
        if point != at:
            lines.append(f"@{point:X}")
        lines.append(" ".join([str(shared), *words]))
        at = point + 1
    return "\n".join(lines) + "\n"


def load(text):
    """(code point, words shared with the entry before, the other words) of each entry of unicode_names.txt."""
    entries, at = [], 0
    for line in text.splitlines()[1:]:
        if line.startswith("@"):
            at = int(line[1:], 16)
            continue
        shared, *words = line.split(" ")
        entries.append((at, int(shared), words))
        at += 1
    return entries


def front_code(words):
    """The bytes of a list of words, and where its blocks begin."""
    data, blocks, before = [], [], ""
    for i, word in enumerate(words):
        shared = 0
        if i % BLOCK == 0:
            blocks.append(len(data))
        else:
            while shared < min(len(word), len(before)) and word[shared] == before[shared]:
                shared += 1
        data += [shared, len(word) - shared, *word[shared:].encode()]
        before = word
    return data, blocks


def encode(entries, codes):
    data, at = [], 0
    for point, shared, words in entries:
        if point != at:
            data += [JUMP, *point.to_bytes(3, "big")]
        data.append(shared << 4 | len(words))
        for word in words:
            data += codes[word]
        at = point + 1
    return data


def render():
    """Contents of the two files, in the order of outputs()."""
    entries = load(DATA.read_text())
    uses = collections.Counter(word for _, _, words in entries for word in words)
    order = sorted(uses, key=lambda word: (-uses[word], word))
    short, long = sorted(order[:SHORT]), sorted(order[SHORT:])
    codes = {word: (i,) for i, word in enumerate(short)}
    codes.update({word: (SHORT + (i >> 8), i & 255) for i, word in enumerate(long)})
    short_data, short_blocks = front_code(short)
    long_data, long_blocks = front_code(long)
    blocks = short_blocks + [len(short_data) + start for start in long_blocks]
    data = encode(entries, codes)
    assert len(blocks) == -(-SHORT // BLOCK) + -(-len(long) // BLOCK) and len(long) >> 8 < 256 - SHORT
    most = max(shared + len(words) for _, shared, words in entries)
    source = "\n".join([
        f"/* unicode_names.c: Unicode {unicode.VERSION}; written by gen/tables/unicode_names.py. */",
        '#include "unicode_names.h"\n',
        unicode.array("uint8_t dv_names_words", short_data + long_data),
        unicode.array("uint16_t dv_names_blocks", blocks),
        unicode.array("uint8_t dv_names_entries", data),
        f"const uint32_t dv_names_size = {len(data)};\n",
    ])  # fmt: skip
    return [source, HEADER % (SHORT, len(order), BLOCK, JUMP, most, max(map(len, order)))]


def main(arguments):
    if arguments[:1] == ["--out"]:
        unicode.write(arguments[1], outputs(), render())
        return 0
    if arguments[:1] not in (["--save"], ["--check"]):
        sys.exit("usage: unicode_names.py --out DIR | --save FILE | --check")
    unicode.demand_version()
    pairs = ask_python()
    if arguments[0] == "--save":
        DATA.write_text(dump(pairs + aliases(Path(arguments[1]).read_text(encoding="latin-1"), dict(pairs))))
        return 0
    return int(not DATA.read_text().startswith(dump(pairs)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
