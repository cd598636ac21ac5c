"""Limits whose scripts are made rather than written: junk, deep nesting, very long lines.

Each case is a dict: `name` and `source` (text or bytes), and any field of run.py's Test.
"""

import random


def syntax(name, source, **more):
    """A script that CPython refuses too, with the same report."""
    return dict(name=name, source=source, stress=False, **more)


def refused(name, source, error, **more):
    """A script that dynvm refuses in its own words."""
    return dict(name=name, source=source, stress=False, skip_oracle="wording", expect_error=error, **more)


def junk(seed, size):
    numbers = random.Random(seed)
    return bytes(numbers.randrange(256) for _ in range(size))


def junk_cases():
    """Binary junk ends with a syntax error and never with anything worse."""
    for seed in range(20):
        yield refused(f"junk_{seed}", junk(seed, 50 * seed + 10), "SyntaxError")
    numbers = random.Random(99)
    text = "".join(chr(numbers.randrange(32, 127)) for _ in range(500))
    yield refused("junk_ascii", text, "Error")
    yield refused("null_bytes", b"print(1)\n\0\0\n", "null bytes")
    yield refused("elf", b"\x7fELF\x02\x01\x01" + bytes(200), "SyntaxError")
    yield refused("bad_utf8", b"x = '\xff\xfe'\n", "SyntaxError")
    yield refused("half_utf8", b"x = '\xe2\x82", "SyntaxError")


def unterminated_cases():
    yield syntax("unterminated_single", "x = 'abc\nprint(x)\n")
    yield syntax("unterminated_double", 'print("abc)\n')
    yield syntax("unterminated_triple", "x = 1\ny = '''abc\nprint(x)\n")
    yield syntax("unterminated_at_end", "x = 'abc")
    yield syntax("unterminated_paren", "print((1, 2)\n")
    yield syntax("unterminated_bracket", "x = [1, 2\n")
    yield syntax("unmatched_paren", "x = 1)\n")
    yield syntax("mismatched_paren", "x = (1]\n")
    yield refused("unterminated_fstring", "print(f'{1')\n", "SyntaxError")


def deep_cases():
    """Nesting beyond what the front end accepts is an error, not a crash."""
    n = 10000
    yield refused("deep_parens", "x = " + "(" * n + "1" + ")" * n + "\n", "Error")
    yield refused("deep_brackets", "x = " + "[" * n + "]" * n + "\n", "Error")
    yield refused("deep_braces", "x = " + "{1:" * n + "1" + "}" * n + "\n", "Error")
    yield refused("deep_open_parens", "x = " + "(" * 100000, "Error")
    yield refused("deep_calls", "x = " + "f(" * n + ")" * n + "\n", "Error")
    yield refused("deep_subscripts", "x = " + "a[" * n + "0" + "]" * n + "\n", "Error")
    blocks = "".join(" " * i + "if 1:\n" for i in range(120)) + " " * 120 + "pass\n"
    yield refused("deep_blocks", blocks, "Error")
    yield dict(name="nested_parens_100", source="print(" + "(" * 90 + "1" + ")" * 90 + ")\n", stress=False)


def either_way(name, source, **more):
    """Source that may be accepted or refused, but must come to an end in order."""
    return dict(name=name, source=source, stress=False, **more)


def long_cases():
    """Long chains and long lines are ordinary programs."""
    yield either_way("long_sum", "print(" + "+".join(["1"] * 2000) + ")\n")
    yield either_way("long_list", "x = [" + ",".join(map(str, range(20000))) + "]\nprint(len(x), x[-1])\n")
    yield either_way("long_string", "print(len('" + "x" * 200000 + "'))\n")
    yield either_way("many_lines", "x = 0\n" + "x += 1\n" * 20000 + "print(x)\n", timeout=120)
    elifs = "x = 999\nif x == -1:\n    pass\n"
    elifs += "".join(f"elif x == {i}:\n    print({i})\n" for i in range(1000))
    yield either_way("long_elif", elifs)
    yield either_way("many_functions", "".join(f"def f{i}():\n    return {i}\n" for i in range(2000)) + "print(f1999())\n")
    yield either_way("long_name", "a" * 10000 + " = 5\nprint(" + "a" * 10000 + ")\n")
    yield either_way("long_comparison", "a = 1\nprint(a" + " <= a" * 100000 + ")\n")
    keywords = ", ".join(f"{c}{i}={i}" for i in range(35000) for c in "ab")
    yield refused("too_many_keywords", f"print(len(dict({keywords})))\n", "SyntaxError", timeout=20)
    yield either_way("many_parameters", "def f(" + ",".join(f"a{i}" for i in range(255)) + "):\n    return a254\n"
                     "print(f(" + ",".join(str(i) for i in range(255)) + "))\n")


def empty_cases():
    yield either_way("empty", "")
    yield either_way("only_comment", "# nothing")
    yield either_way("only_newlines", "\n\n\n")
    yield either_way("no_final_newline", "print('end')")
    yield either_way("crlf", b"x = 1\r\nif x:\r\n    print('crlf')\r\n")
    yield either_way("byte_order_mark", b"\xef\xbb\xbfprint('bom')\n")
    yield either_way("form_feed", b"x = 1\n\x0cprint(x)\n")
    yield syntax("tabs_and_spaces", "if 1:\n\tx = 1\n        y = 2\n")
    yield syntax("unindent", "if 1:\n        x = 1\n    y = 2\n")
    yield syntax("unexpected_indent", "x = 1\n    y = 2\n")


def cases():
    for make in (junk_cases, unterminated_cases, deep_cases, long_cases, empty_cases):
        yield from make()
