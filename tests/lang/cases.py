"""Syntax errors, one per script, each reported as CPython reports it; and what dl refuses by name."""

ERRORS = {
    "double_equals": "x = = 1\n",
    "missing_operand": "x = 1 +\n",
    "missing_colon_if": "if 1\n    pass\n",
    "missing_colon_for": "for i in range(3)\n    pass\n",
    "missing_colon_def": "def f()\n    pass\n",
    "missing_colon_class": "class C\n    pass\n",
    "missing_colon_while": "while 1\n    pass\n",
    "missing_colon_else": "if 1:\n    pass\nelse\n    pass\n",
    "block_if": "if 1:\nx = 1\n",
    "block_for": "for i in x:\nx = 1\n",
    "block_def": "def f():\nx = 1\n",
    "block_class": "class C:\nx = 1\n",
    "block_while": "while 1:\nx = 1\n",
    "block_else": "if 1:\n    pass\nelse:\nx = 1\n",
    "block_try": "try:\nx = 1\n",
    "block_except": "try:\n    pass\nexcept ValueError:\nx = 1\n",
    "return_outside": "x = 1\nreturn x\n",
    "break_outside": "break\n",
    "continue_outside": "if 1:\n    continue\n",
    "break_in_function": "while 1:\n    def f():\n        break\n",
    "assign_literal": "1 = x\n",
    "assign_call": "f() = 1\n",
    "assign_operator": "a + b = 1\n",
    "assign_true": "True = 1\n",
    "assign_none": "None = 1\n",
    "assign_string": "'a' = 1\n",
    "assign_comparison": "a < b = 1\n",
    "assign_conditional": "(a if b else c) = 1\n",
    "augmented_literal": "1 += 1\n",
    "augmented_tuple": "(a, b) += 1\n",
    "augmented_call": "f() += 1\n",
    "del_literal": "del 1\n",
    "del_call": "del f()\n",
    "for_target_literal": "for 1 in x:\n    pass\n",
    "if_assignment": "if x = 1:\n    pass\n",
    "call_assignment": "f(a.b=1)\n",
    "duplicate_argument": "def f(a, a):\n    pass\n",
    "default_order": "def f(a=1, b):\n    pass\n",
    "positional_after_keyword": "f(a=1, 2)\n",
    "keyword_repeated": "f(a=1, a=2)\n",
    "global_after_use": "def f():\n    x = 1\n    global x\n",
    "global_after_read": "def f():\n    print(x)\n    global x\n",
    "global_after_both": "def f():\n    x = 1\n    print(x)\n    global x\n",
    "nonlocal_module": "nonlocal x\n",
    "nonlocal_unbound": "def f():\n    nonlocal x\n",
    "nonlocal_global": "def g():\n    x = 1\n    def f():\n        global x\n        nonlocal x\n",
    "nonlocal_parameter": "def g():\n    x = 1\n    def f(x):\n        nonlocal x\n",
    "nonlocal_after_use": "def g():\n    x = 1\n    def f():\n        print(x)\n        nonlocal x\n",
    "nonlocal_after_assignment": "def g():\n    x = 1\n    def f():\n        x = 2\n        nonlocal x\n",
    "nonlocal_annotated": "def g():\n    x = 1\n    def f():\n        nonlocal x\n        x: int = 3\n",
    "nonlocal_class": "def g():\n    class C:\n        x = 1\n        def f(self):\n            nonlocal x\n",
    "walrus_rebinds": "x = [i := 1 for i in y]\n",
    "walrus_rebound": "x = [i for j in y if (i := j) for i in y]\n",
    "walrus_iterable": "x = [i for i in (j := y)]\n",
    "walrus_inner_iterable": "x = [i for i in y for k in (j := y)]\n",
    "walrus_lambda_iterable": "x = [i for i in (lambda: (j := y))()]\n",
    "walrus_class": "class C:\n    x = [j := i for i in y]\n",
    "starred_twice": "*a, *b = x\n",
    "starred_alone_target": "*a = x\n",
    "comprehension_starred": "x = [*a for a in b]\n",
    "comprehension_unpacking": "x = {**a for a in b}\n",
    "comprehension_tuple": "x = [a, b for a in b]\n",
    "global_parameter": "def f(x):\n    global x\n",
    "bad_decimal": "x = 1a\n",
    "bad_hex": "x = 0xg\n",
    "bad_octal": "x = 08\n",
    "bad_octal_digit": "x = 0o8\n",
    "bad_binary": "x = 0b2\n",
    "bad_underscore": "x = 1__0\n",
    "trailing_underscore": "x = 1_\n",
    "leading_zero": "x = 012\n",
    "bad_character": "x = 1 $ 2\n",
    "bad_question": "x = a ? b\n",
    "bad_euro": "x = €\n",
    "unclosed_brace": "x = {1: 2\n",
    "unclosed_in_the_middle": "x = (1,\ny = 2\nz = 3\n",
    "unmatched_brace": "x = 1}\n",
    "mismatch_far": "x = (1,\n     2]\n",
    "unterminated_escape": "x = 'abc\\\n",
    "unterminated_second_line": "a = 1\nb = 'it's'\n",
    "backslash_then_text": "x = 1 \\ + 2\n",
    "backslash_at_end": "x = 1 \\",
    "bad_hex_escape": "x = '\\xg1'\n",
    "bad_unicode_escape": "x = '\\u12'\n",
    "two_expressions": "x = 1 2\n",
    "two_names": "print hello\n",
    "print_statement": "print 'hello'\n",
    "keyword_as_name": "class = 1\n",
    "import_nothing": "import\n",
    "from_nothing": "from math import\n",
    "else_alone": "else:\n    pass\n",
    "except_alone": "except ValueError:\n    pass\n",
    "try_alone": "try:\n    pass\nx = 1\n",
    "bare_except_first": "try:\n    pass\nexcept:\n    pass\nexcept ValueError:\n    pass\n",
    "lambda_statement": "lambda x: return x\n",
    "fstring_empty": "f'{}'\n",
    "fstring_unclosed": "f'{a'\n",
    "fstring_single_close": "f'a}'\n",
    "fstring_bad_conversion": "f'{a!x}'\n",
    "missing_comma": "x = [1 2]\n",
    "missing_comma_call": "f(a b)\n",
    "dict_without_value": "x = {1: 2, 3}\n",
    "empty_subscript": "x[]\n",
    "star_alone": "*\n",
    "starred_expression": "x = *a\n",
    "not_without_operand": "x = not\n",
    "unary_without_operand": "x = -\n",
    "is_without_operand": "x = a is\n",
    "indent_in_module": "x = 1\n  y = 2\n",
    "dedent_to_nowhere": "if 1:\n    if 2:\n        x = 1\n      y = 2\n",
    "bad_dot": "x = a.\n",
    "dot_number": "x = a.1\n",
    "walrus_at_top": "x := 1\n",
    "colon_alone": ":\n",
    "assert_nothing": "assert\n",
    "raise_from_nothing": "raise x from\n",
    "def_without_name": "def ():\n    pass\n",
    "in_function": "def f():\n    return 1 +\n\nprint('never')\n",
}

# Texts as bytes: what they declare to be encoded in, and byte order marks.
E_ACUTE = "\u00e9".encode()
MARK = b"\xef\xbb\xbf"
ENCODED = {
    "declared": b"# coding: utf-8\nprint('" + E_ACUTE + b"')\nx = ('" + E_ACUTE + b"' 1)\n",
    "declared_second": b"#!/usr/bin/dl\n# -*- coding: utf_8 -*-\nx = '" + E_ACUTE + b"' 1\n",
    "declared_behind_blanks": b"  \t\n\x0c # vim: set fileencoding=UTF-8 :\n'" + E_ACUTE + b"' 1\n",
    "declared_variant": b"# coding=utf-8-unix\nprint('" + E_ACUTE + b"')\n",
    "declared_ascii": b"# coding: us-ascii\nprint(1)\n",
    "declared_ascii_wrongly": b"# coding=ascii\nprint('" + E_ACUTE + b"')\n",
    "declared_behind_code": b"x = 1\n# coding: latin-1\nprint(x, '" + E_ACUTE + b"')\n",
    "declared_third": b"#\n#\n# coding: latin-1\nprint('" + E_ACUTE + b"')\n",
    "declared_nothing": b"# coding: \t\n# coding is fun, decoding too:\nprint('" + E_ACUTE + b"')\n",
    "declared_at_the_end": b"# coding: utf-8",
    "comment_at_the_end": b"#",
    "nothing": b"",
    "lines_of_nothing": b"\n \n\t\n",
    "carriage_returns": b"x = 1\ry = 2\r\nprint(x, y)\r",
    "mark": MARK,
    "mark_declared": MARK + b"# coding: utf-8\nx = '" + E_ACUTE + b"' 1\n",
    "mark_second_line": MARK + b"x = 1\ny = '" + E_ACUTE + b"' 1\n",
    "mark_token": MARK + b")\n",
    "mark_string": MARK + b"x = 'a\n",
    "mark_string_long": MARK + b"'" + 300 * b"a" + b"' $\n",
    "mark_behind_accents": MARK + b"x = '" + 3 * E_ACUTE + b"' $ 4\n",
    "mark_zeros": MARK + b"x = '" + 3 * E_ACUTE + b"'; 0777\n",
    "mark_number": MARK + b"x = 0b2\n",
    "mark_number_second_line": MARK + b"x = 1\ny = 0b2\n",
    "mark_character": MARK + E_ACUTE + b" = ?\n",
    "mark_fstring": MARK + b"x = 1\nf'{a b}'\n",
    "mark_brackets": MARK + b"x = (1,\n y = 2]\n",
    "mark_return": MARK + b"return '" + E_ACUTE + b"'\n",
    "mark_indent": MARK + b"  x\n",
}

# What the compiler computes of constants shows in its warnings about `is`: it warns of a constant, but not of
# a bool or None, and not where nothing was computed because that fails or is too large.
CONSTANTS = """0 1 -1 3 -7 200 4097 99999999999999999999999 -0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF 0XABCDEFabcdef0123456789 0o777
(1<<400) (1<<70) (-(1<<120)) 10**400 True False None ... 0.0 -0.0 1.5 -2.5 1e308 1e-320 1e999 3.0 -3.0 400.0 1j 0j (2+1j)
(1e200+1j) (1e999*1j) "" "ab" b"" b"xyz" () (1,) (1,2,3) ("a",(1,2))""".split()
BINARY = "+ - * / // % ** << >> & | ^ @".split()
UNARY = ["-{}", "+{}", "~{}", "not {}", "{}[0]", "{}[-1]", "{}[2]", "{}[99]", "{}[1<<70]", "{}[True]", "{}[None]",
         "not not {}", "-(-{})", "({},)[0]", "({},)*3", "({}, 1)[1:]", "{}*{}", "not ({}, 2)", "-(({}))**2", "({},)+(2,)"]


def constants():
    """All unary uses, and of the pairs of operands with each operator every third."""
    uses = [use.replace("{}", a) for a in CONSTANTS for use in UNARY]
    pairs = [f"{a} {sign} {b}" for a in CONSTANTS for b in CONSTANTS for sign in BINARY]
    return uses + pairs[::3]


REFUSED = {
    "async_for": "async def f():\n    async for x in y:\n        pass\n",
    "await": "await f()\n",
    "declared_latin1": b"# coding: latin-1\nprint('\xe9')\n",
    "declared_unknown": b"# coding: utf8x\nprint('\xe9')\n",
    "mark_declared_ascii": MARK + b"# coding: ascii\nprint(1)\n",
    "except_star": "try:\n    pass\nexcept* ValueError:\n    pass\n",
}


def cases():
    for name, source in ERRORS.items():
        yield dict(name=f"error_{name}", source=source, stress=False, valgrind=False)
    for name, source in ENCODED.items():
        yield dict(name=f"source_{name}", source=source, stress=False, valgrind=False)
    yield dict(name="source_not_utf8", source=b"x = 1\ny = '\xe9'\n", stress=False, valgrind=False,
               stored=None)  # the message has the path
    for character, shown in ("n", 249), ("\u00e9", 124), ("\u3042", 82):
        name = 300 * character
        yield dict(name=f"message_too_long_{ord(character):x}", source=f"def f({name}):\n    global {name}\n",
                   stress=False, valgrind=False, skip_oracle="messages are cut at 255 bytes",
                   expect_error=f"SyntaxError: name '{shown * character}")
    yield dict(name="source_mark_number_long", source=MARK + 300 * b"a" + b" = 0b2\n", stress=False, valgrind=False,
               skip_oracle="so long a line is shown with its mark", expect_error="invalid digit '2' in binary literal")
    yield dict(name="integer_too_long", source="x = 1_" + 4300 * "1" + "\n", stress=False, valgrind=False,
               skip_oracle="CPython shows a part of the line",
               expect_error="SyntaxError: Exceeds the limit (4300 digits) for integer string conversion: value has 4301")
    lines = [f"    x is ({text})" for text in constants()]
    for at in range(0, len(lines), 1500):
        source = "def f(x):\n" + "\n".join(lines[at : at + 1500]) + "\n"
        yield dict(name=f"constants_{at // 1500}", source=source, stress=False, valgrind=False)
    for name, source in REFUSED.items():
        yield dict(name=f"refused_{name}", source=source, stress=False, valgrind=False,
                   skip_oracle="CPython accepts this", expect_error="is not part of dl")
