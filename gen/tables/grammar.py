"""Writes the tables of the grammar (dv_grammar.c and .h) from syntax.gram, for lang/complain/explain.c.

A rule is a run of alternatives, an alternative a run of items.  An item is a token or a rule with what is asked of
it (once, any number, not, ...); groups become rules of their own.  Tokens are checked against lang/front/token.h by the C
compiler: their names are constants of it.
"""

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "syntax.gram"
TOKEN = re.compile(
    r"\s*(?:#.*|(?P<string>'[^']+')|(?P<message>\"(?:[^\"\\]|\\.)*\")|(?P<word>[A-Za-z_]+)|(?P<op>=>|=\?|=\^|&&|\.\.|[|:()\[\]*+.&!~=]))")
OPERATORS = {
    "(": "LEFT_PAREN", ")": "RIGHT_PAREN", "[": "LEFT_BRACKET", "]": "RIGHT_BRACKET", "{": "LEFT_BRACE",
    "}": "RIGHT_BRACE", ":": "COLON", ",": "COMMA", ";": "SEMICOLON", ".": "DOT", "...": "ELLIPSIS", "->": "ARROW",
    ":=": "WALRUS", "=": "ASSIGN", "~": "TILDE", "==": "EQ", "!=": "NE", "<": "LT", "<=": "LE", ">": "GT",
    ">=": "GE", "+": "PLUS", "-": "MINUS", "*": "STAR", "/": "SLASH", "//": "DOUBLE_SLASH", "%": "PERCENT",
    "**": "DOUBLE_STAR", "@": "AT", "<<": "LEFT_SHIFT", ">>": "RIGHT_SHIFT", "&": "AMPERSAND", "|": "BAR",
    "^": "CARET",
}  # fmt: skip
WORDS = ("SOFT_KEYWORD", "MATCH", "CASE", "UNDERSCORE")  # names, for the lexer
FLAGS = ("memo", "quiet")
PLACES = {"a": "AT", "a..b": "RANGE", "a..": "FROM", ".": "LAST"}

HEADER = """/* dv_grammar.h: the grammar as tables; written by gen/tables/grammar.py from gen/tables/syntax.gram. */
#ifndef DV_GRAMMAR_H
#define DV_GRAMMAR_H

#include <stdbool.h>
#include <stdint.h>

typedef enum dv_grammar_kind {
    DV_KIND_PARTS, /* no kind of its own */
%s
    DV_KIND_LAST_PART /* that of the last part */
} dv_grammar_kind;

typedef enum dv_grammar_op {
    DV_ITEM_ONCE, DV_ITEM_MAYBE, DV_ITEM_ANY, DV_ITEM_SOME, DV_ITEM_LIST,
    DV_ITEM_AHEAD, DV_ITEM_NOT_AHEAD, DV_ITEM_FORCE, DV_ITEM_CUT
} dv_grammar_op;

typedef enum dv_grammar_place {
    DV_PLACE_NO_ERROR,
%s
} dv_grammar_place;

/* What an item asks of a token beyond its kind: that it is one of match, case and _; or that word. */
enum { DV_GRAMMAR_SOFT_KEYWORD = 255, DV_GRAMMAR_MATCH = 254, DV_GRAMMAR_CASE = 253,
       DV_GRAMMAR_UNDERSCORE = 252,       DV_GRAMMAR_RULES = %d };

typedef struct dv_grammar_item {
    uint8_t op;
    bool rule;         /* `what` is a rule, not a token */
    uint8_t separator; /* of DV_ITEM_LIST */
    uint8_t label;     /* 0: none, 1: a, 2: b */
    uint16_t what;
} dv_grammar_item;

typedef struct dv_grammar_alternative {
    uint16_t first, count; /* of its items */
    uint8_t kind;
    bool several; /* the kind counts only if there are several parts */
    bool second;  /* in the second pass only */
    uint8_t place;
    const char *message;
} dv_grammar_alternative;

typedef struct dv_grammar_rule {
    uint16_t first, count; /* of its alternatives */
    bool memo, quiet;
} dv_grammar_rule;

%s

extern const dv_grammar_rule dv_grammar_rules[];
extern const dv_grammar_alternative dv_grammar_alternatives[];
extern const dv_grammar_item dv_grammar_items[];

#endif
"""


def outputs():
    """Names of the files that write() makes."""
    return ["dv_grammar.c", "dv_grammar.h"]


def upper(name):
    """LeftParen or left_paren -> LEFT_PAREN"""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


class Reader:
    """Reads the grammar; rules are lists of alternatives in the order of their numbers."""

    def __init__(self, text):
        self.words = []
        for line in text.splitlines():
            at = 0
            while line[at:].strip():
                match = TOKEN.match(line, at)
                if match is None:
                    raise SystemExit(f"syntax.gram: cannot read {line[at:]!r}")
                if match.lastgroup:
                    self.words.append((match.lastgroup, match.group(match.lastgroup)))
                at = match.end()
        self.words += [("end", "")] * 3
        self.at = 0
        self.numbers, self.rules, self.names = {}, {}, []
        self.kinds, self.places = [], list(PLACES.values())
        while self.words[self.at][0] != "end":
            self.read_rule()
        for name in self.names:
            if name not in self.rules:
                raise SystemExit(f"syntax.gram: no rule {name}")

    def peek(self, ahead=0):
        return self.words[self.at + ahead][1] if self.words[self.at + ahead][0] in ("op", "end") else None

    def take(self, kind=None):
        found, text = self.words[self.at]
        if kind not in (None, found):
            raise SystemExit(f"syntax.gram: {kind} expected, not {text!r}")
        self.at += 1
        return text

    def accept(self, op):
        if self.peek() != op:
            return False
        self.at += 1
        return True

    def number(self, name):
        if name not in self.numbers:
            self.numbers[name] = len(self.names)
            self.names.append(name)
        return self.numbers[name]

    def read_rule(self):
        name = self.take("word")
        self.number(name)
        flags = []
        while not self.accept(":"):
            flags.append(self.take("word"))
        self.accept("|")
        self.rules[name] = (self.read_alternatives(), "memo" in flags, "quiet" in flags)

    def read_alternatives(self):
        found = [self.read_alternative()]
        while self.accept("|"):
            found.append(self.read_alternative())
        return found

    def at_end(self):
        if self.peek() in ("|", ")", "]", "=", "=?", "=^", "=>", ""):
            return True
        if self.words[self.at][0] != "word":
            return False
        return self.peek(1) == ":" or self.words[self.at + 1][1] in FLAGS

    def read_alternative(self):
        items, kind, several, place, message = [], "PARTS", False, "NO_ERROR", "NULL"
        while not self.at_end():
            items.append(self.read_item())
        if self.peek() in ("=", "=?"):
            several = self.take() == "=?"
            kind = upper(self.take("word"))
            if kind not in self.kinds:
                self.kinds.append(kind)
        elif self.accept("=^"):
            kind, several = "LAST_PART", True
        elif self.accept("=>"):
            place = self.read_place()
            message = self.take() if self.words[self.at][0] == "message" else "NULL"
        return items, kind, several, place, message

    def read_place(self):
        text = self.take()
        if text == "a" and self.accept(".."):
            text = "a.."
            if self.words[self.at] == ("word", "b"):
                text += self.take()
        place = PLACES.get(text) or upper(text)
        if place not in self.places:
            self.places.append(place)
        return place

    def read_item(self):
        label = 0
        if self.words[self.at][0] == "word" and self.peek(1) == "=" and self.words[self.at][1] in "ab":
            label = "ab".index(self.take()) + 1
            self.take()
        if self.accept("~"):
            return "CUT", False, "0", label, "0"
        for op, name in (("&&", "FORCE"), ("&", "AHEAD"), ("!", "NOT_AHEAD")):
            if self.accept(op):
                return (name, *self.read_atom()[:1], "0", label, self.last)
        if self.accept("["):
            rule = self.group("]")
            return "MAYBE", True, "0", label, rule
        is_rule, what = self.read_atom()
        if self.accept("."):
            element = self.read_atom()
            if not self.accept("+"):
                raise SystemExit("syntax.gram: + expected")
            return "LIST", element[0], what, label, element[1]
        op = "ANY" if self.accept("*") else "SOME" if self.accept("+") else "ONCE"
        return op, is_rule, "0", label, what

    def group(self, closing):
        name = f"group_{len(self.names)}"
        number = self.number(name)
        alternatives = self.read_alternatives()
        if not self.accept(closing):
            raise SystemExit(f"syntax.gram: {closing} expected at {self.words[self.at:self.at + 4]}")
        self.rules[name] = (alternatives, False, False)
        return str(number)

    def read_atom(self):
        """(is it a rule, its number or its token)"""
        if self.accept("("):
            found = True, self.group(")")
        elif self.words[self.at][0] == "string":
            found = False, token_name(self.take()[1:-1])
        else:
            name = self.take("word")
            if name in WORDS:
                found = False, f"DV_GRAMMAR_{name}"
            else:
                found = (False, f"DV_TOKEN_{name}") if name.isupper() else (True, str(self.number(name)))
        self.last = found[1]
        return found


def token_name(text):
    if text.isalpha():
        return f"DV_TOKEN_{text.upper()}"
    if text in OPERATORS:
        return f"DV_TOKEN_{OPERATORS[text]}"
    return f"DV_TOKEN_{OPERATORS[text[:-1]]}_ASSIGN"


def is_second(reader, items):
    """An alternative of one part whose name begins with `invalid`."""
    if len(items) != 1 or not items[0][1]:
        return False
    return reader.names[int(items[0][4])].startswith("invalid")


def flag(value):
    return "true" if value else "false"


def render():
    """Contents of the two files, in the order of outputs()."""
    reader = Reader(SOURCE.read_text())
    rules, alternatives, items = [], [], []
    for name in reader.names:
        found, memo, quiet = reader.rules[name]
        rules.append(f"    {{{len(alternatives)}, {len(found)}, {flag(memo)}, {flag(quiet)}}}, /* {name} */")
        for parts, kind, several, place, message in found:
            second = flag(is_second(reader, parts))
            alternatives.append(f"    {{{len(items)}, {len(parts)}, DV_KIND_{kind}, {flag(several)}, {second}, "
                                f"DV_PLACE_{place}, {message}}},")
            items += [f"    {{DV_ITEM_{op}, {flag(rule)}, {separator}, {label}, {what}}},"
                      for op, rule, separator, label, what in parts]
    source = "\n".join([
        "/* dv_grammar.c: written by gen/tables/grammar.py from gen/tables/syntax.gram. */",
        '#include "dv_grammar.h"\n', '#include "lang/front/token.h"\n', '#include <stddef.h>\n',
        "const dv_grammar_rule dv_grammar_rules[] = {", *rules, "};\n",
        "const dv_grammar_alternative dv_grammar_alternatives[] = {", *alternatives, "};\n",
        "const dv_grammar_item dv_grammar_items[] = {", *items, "};\n",
    ])  # fmt: skip
    kinds = "\n".join(f"    DV_KIND_{kind}," for kind in reader.kinds)
    places = ",\n".join(f"    DV_PLACE_{place}" for place in reader.places)
    starts = "enum { " + ", ".join(f"DV_GRAMMAR_START_{name.upper()} = {reader.numbers[name]}"
                                   for name in ("file", "fstring", "eval")) + " };"
    return [source, HEADER % (kinds, places, len(rules), starts)]


def write(out_dir):
    """Writes the files into out_dir, leaving those alone whose contents would not change."""
    for name, text in zip(outputs(), render()):
        path = Path(out_dir) / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
