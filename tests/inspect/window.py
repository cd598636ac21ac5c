#!/usr/bin/env python3
"""`dynvm view`: the page is whole, alone, and says what the other tools say.

 - it is well-formed HTML whose data are the JSON of dis, stats, explain and trace, and it loads nothing;
 - no text of a program, and no name of a file, ends the block of data or becomes HTML;
 - where the page goes, what is said of it, and what happens to it when the program fails;
 - `--step`: what is recorded of each phase is what the program computes, the raw values of regions too;
 - in a browser (chromium, where there is one): what it draws, keys, links, the slider, a program of 10,000 lines.

usage: window.py DYNVM      exit status: 0 if all is well, 1 if anything is wrong
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import checking  # noqa: E402
from checking import check  # noqa: E402

DYNVM = str(Path(sys.argv[1]).resolve())
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
EMPTY = {"meta", "link", "input", "br"}
LOOP = "def total(n):\n    s = 0\n    for i in range(n):\n        s = s + i * i\n    return s\nprint(total(10000))\n"


class Page(HTMLParser):
    """Its elements in order, what is open, and the texts of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.scripts, self.crossed = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag == "script":
            self.scripts.append("")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.crossed.append(tag)

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += text


def run(*arguments, folder, code=0, text=None):
    done = subprocess.run([DYNVM, *arguments], cwd=folder, capture_output=True, timeout=120,
                          **({"stdin": subprocess.DEVNULL} if text is None else {"input": text.encode()}))
    check(f"exit status of {arguments[:3]}", done.returncode, code)
    return done


def view(folder, text, *options, name="script.dl"):
    """The page of a program, and its data."""
    Path(os.fsdecode(folder), name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    run("view", *options, "-o", "page.html", name, folder=folder)
    page = Path(folder, "page.html").read_text(encoding="utf-8")
    return page, json.loads(Page(page).scripts[0])


def without_files(found):
    """The same without the names of files, which are as they were given."""
    if isinstance(found, dict):
        return {key: without_files(value) for key, value in found.items() if key != "file"}
    return [without_files(value) for value in found] if isinstance(found, list) else found


def is_same(what, got, expected):
    check(what, without_files(got) == without_files(expected), True)


def test_origins(folder):
    """Cells of functions that are inlined in one another stand for instructions that are there."""
    text, data = view(folder, "def g(a, b):\n    return a // b, a % b\ndef f(i):\n    return g(i, 10)\ndef h(n):\n    a, b, c, d = 1, 2, 3, 4\n"
                      "    for i in range(n):\n        q, r = f(i)\n        a = (a + q * r) % 1000\n    return a\nprint(h(5000))\n")
    pcs = {(f["function"], site["pc"]) for f in data["listing"]["functions"] for site in f["instructions"]}
    origins = [o for f in data["listing"]["functions"] for region in f["regions"] for o in region["origins"]]
    check("functions that the region stands for", {o["function"] for o in origins} - {"f"}, {"g", "h"})
    check("origins that are no instructions", [o for o in origins if (o["function"], o["pc"]) not in pcs], [])
    check("cells of origins go up", [a["cell"] < b["cell"] for a, b in zip(origins, origins[1:])].count(False), 0)


def test_page(folder):
    text, data = view(folder, LOOP)
    page = Page(text)
    check("elements are closed in their order", (page.open, page.crossed), ([], []))
    check("it loads nothing", [(tag, attributes) for tag, attributes in page.elements
                               if tag in ("link", "img", "iframe", "object", "embed")
                               or {"src", "href", "action"} & set(attributes)], [])
    check("nor do its styles and scripts", re.findall(r"https?:|url\(|@import|\bfetch\b|\bimport\(|XMLHttpRequest|innerHTML",
                                                      text.replace(page.scripts[0], "")), [])
    check("size without the data", len(text) - len(page.scripts[0]) < 50000, True)
    check("the source", (data["name"], data["source"]), ("script.dl", LOOP))
    stats = json.loads(run("stats", "--json", "script.dl", folder=folder).stdout)
    check("totals are those of stats", data["counts"]["totals"], stats["totals"])
    is_same("sites are those of stats", data["counts"]["sites"], stats["sites"])
    explain = json.loads(run("explain", "--json", "script.dl", folder=folder).stdout)
    is_same("reasons are those of explain", data["reasons"]["loops"], explain["loops"])
    log = [json.loads(line) for line in run("trace", "--json", "script.dl", folder=folder).stdout.splitlines()]
    is_same("the log is that of trace", data["log"]["events"], log[1:])
    listing = json.loads(run("dis", "--after-run", "--json", "script.dl", folder=folder).stdout)
    check("functions are those of dis", [f["function"] for f in data["listing"]["functions"]],
          [f["function"] for f in listing["functions"]])
    total = data["listing"]["functions"][1]
    region = total["regions"][0]
    check("the region in words", (region["listing"][0].split(":")[0].strip(), region["whole"]), ("region of pcs 6 to 14", False))
    check("what its cells stand for", {(o["function"], o["line"]) for o in region["origins"]}, {("total", 3), ("total", 4), ("total", 5)})
    check("every step in it is at a cell", sum(cell["steps"] for cell in region["steps"]), stats["totals"]["region"])
    mul = next(s for s in data["counts"]["sites"] if s["instruction"] == "MUL")
    check("each round was in the region or not", mul["executions"] + mul["in_regions"], 10000)


HOSTILE = ["</script><script>document.title='broken'</script>", "<!--<script>", "-->", "]]>", "<b>&amp;&lt;", "\u2028\u2029", "\\u003c", "\t'\"`${1}"]


def test_hostile(folder):
    program = "".join(f"x{i} = {text!r}  # {text}\n" for i, text in enumerate(HOSTILE) if "\u2028" not in text)
    program += "y = '\u2028\u2029'\ndef f():\n    '''</script>'''\n    return '\\udc80'\nf()\n"
    text, data = view(folder, program)
    check("source as it is", data["source"], program)
    check("scripts of the page", len(Page(text).scripts), 2)
    check("no < in the data", "<" in Page(text).scripts[0], False)
    name = "</script><img src=x onerror=alert(1)>&\"'\u2028.dl".replace("/", "\\")
    text, data = view(folder, "print(1)\n", name=name)
    check("name as it is", data["name"], name)
    check("elements are no others", [tag for tag, _ in Page(text).elements].count("img"), 0)
    raw = os.path.join(os.fsencode(folder), b"odd\xff.dl")
    with open(raw, "wb") as file:
        file.write(b"print(1)\n")
    run("view", "-o", "odd.html", raw, folder=folder)
    text = Path(folder, "odd.html").read_text(encoding="utf-8")
    check("a name that is no text", json.loads(Page(text).scripts[0])["name"].startswith("odd"), True)


def test_files(folder):
    Path(folder, "a.dl").write_text("print('hello')\n")
    done = run("view", "a.dl", folder=folder)
    check("what it says", (done.stdout, done.stderr), (b"hello\n", b"dynvm: open a.html in a browser\n"))
    check("the page's usual name", Path(folder, "a.html").exists(), True)
    run("view", "-c", "print(1)", folder=folder)
    check("the source of -c", json.loads(Page(Path(folder, "view.html").read_text()).scripts[0])["source"], "print(1)")
    run("view", "-o", "in.html", "-", folder=folder, text="import sys\nprint(sys.argv)\n")
    check("of -c and of stdin", [Path(folder, name).exists() for name in ("view.html", "in.html")], [True, True])
    done = run("view", "a.dl", "-o", "b.html", folder=folder)
    check("what stands behind the script is the script's", Path(folder, "b.html").exists(), False)
    Path(folder, "bad.dl").write_text("def f(x):\n    return 1 / x\nf(0)\n")
    done = run("view", "bad.dl", folder=folder, code=1)
    check("the page of a program that fails", (b"ZeroDivisionError" in done.stderr, Path(folder, "bad.html").exists()), (True, True))
    Path(folder, "wrong.dl").write_text("def f(:\n")
    run("view", "wrong.dl", folder=folder, code=1)
    check("none of one that is no program", Path(folder, "wrong.html").exists(), False)
    done = run("view", "-o", "no/such/folder.html", "a.dl", folder=folder, code=1)
    check("it cannot be written", b"can't write 'no/such/folder.html'" in done.stderr, True)
    run("view", "-o", "a.dl", "a.dl", folder=folder, code=1)
    check("the script stays", Path(folder, "a.dl").read_text(), "print('hello')\n")
    run("view", "-m", "json", folder=folder, code=2)
    run("view", "-o", folder=folder, code=2)
    data = view(folder, LOOP, "--level=inca")[1]
    check("at another level", (data["counts"]["level"], data["counts"]["regions"]["made"]), ("inca", 0))


POINTS = """class P:
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def plus(self, other):
        return P(self.x + other.x, self.y + other.y)
def walk(n):
    here, step, odd = P(0.0, 1.0), P(0.5, 0.25), 0
    for i in range(n):
        here = here.plus(step)
        if i & 1:
            odd += i
    return here.x + here.y + odd
print(walk(1000))
"""
MIXED = """def f(items, k):
    z, s, t = 0j, 0, 0.5
    for v in items:
        z = z + complex(t, v) * 1j
        s = (s * 31 + v) % 1000003
        t = t * 0.75 + k if s > 500000 else t + 1
    return z, s, t
print(f(list(range(1000)), 0.125))
"""


def steps_of(folder, text, name, *options):
    found = view(folder, text, f"--step={name}", *options)[1]["steps"]
    check(f"what {name} is said to be", found["function"], name.split(":")[0])
    return found["kept"]


def told_locals(step):
    """What a step says of locals that it needs, but not where something was never made."""
    return {name: value for name, value, _, where in step.get("locals", []) if value != "-" and "not needed" not in where}


def test_steps(folder):
    check("nothing is recorded unasked", "steps" in view(folder, LOOP)[1], False)
    check("of another function", steps_of(folder, LOOP, "nothing"), [])
    kept = steps_of(folder, LOOP, "total:20")
    phases = [step["phase"] for step in kept]
    check("phases", {phase: phases.count(phase) for phase in phases}, {"cold": 20, "warm": 20, "region": 20, "exit": 1, "behind": 2})
    check("in their order", [step["step"] for step in kept], sorted(step["step"] for step in kept))
    mul = kept[11]
    check("generic code", (mul["form"], mul["pc"], mul["line"], mul["locals"][1][:3], [entry[:3] + entry[3:] for entry in mul["stack"][1:]]),
          ("MUL", 11, 4, ["s", "0", "int"], [["", "0", "int", "borrowed"]] * 3))
    raw = next(step for step in kept if step.get("text", "").startswith("RI_MUL"))
    check("raw values", {name: where.split(",")[0] for name, value, kind, where in raw["locals"][1:]}, {"s": "raw", "i": "raw"})
    add = next(step for step in kept if step.get("text", "").startswith("RI_ADD"))
    i = int(dict((name, value) for name, value, *_ in add["locals"])["i"])
    check("a register", add["stack"][-1], ["", str(i * i), "int", "raw, register r"])
    check("what it came to", kept[-1]["stack"], [["", "333283335000", "int", "owned"]])
    for text, name in ((LOOP.replace("10000", "1000"), "total"), (POINTS, "walk"), (MIXED, "f")):
        once = {}
        for step in steps_of(folder, text, f"{name}:10000000", "--level=generic"):
            once.setdefault(step["pc"], []).append(told_locals(step))
        for level in ("inca", "nama"):
            kept = [step for step in steps_of(folder, text, f"{name}:200", f"--level={level}") if step.get("function") == name]
            wrong = [step for step in kept if step["phase"] != "exit" and
                     not any(told_locals(step).items() <= state.items() for state in once[step["pc"]])]
            check(f"{name} at {level} has states that there are at generic", wrong[:1], [])
            check(f"... and was in a region at {level}", "region" in {step["phase"] for step in kept}, level == "nama")
    for wrong in ("--step=", "--step=:3", "--step=f:x", "--step=f:0", "--port=1x"):
        run("view", wrong, "script.dl", folder=folder, code=2)
    run("stats", "--step=f", "script.dl", folder=folder, code=2)
    recursive = "def f(n):\n    return [n] if n == 0 else f(n - 1) + [n]\nf(30)\n"
    frames = {step["frame"] for step in steps_of(folder, recursive, "f:1000")}
    check("each call has its frame", len(frames), 31)


# What a page does, in the page: it tells what it finds by its title.
DRIVER = """
<script>
const said = [], rows = (id) => [...document.querySelectorAll(`#${id} .row`)];
const press = (id, key) => document.getElementById(id).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
addEventListener("error", (event) => said.push("error: " + event.message));
try { %s } catch (error) { said.push("failed: " + error); }
document.body.dataset.said = JSON.stringify(said);
</script>
"""


def drive(folder, page, script, width=1400):
    """What the script says in the page, in a browser."""
    Path(folder, "driven.html").write_text(page.replace("</body>", DRIVER % script + "</body>"), encoding="utf-8")
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/browser",
                           f"--window-size={width},900", "--dump-dom", f"file://{folder}/driven.html"],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    body = [attributes for tag, attributes in Page(done.stdout.decode()).elements if tag == "body"]
    return json.loads(body[0].get("data-said", "null")) if body else None


def test_browser(folder):
    text, _ = view(folder, LOOP)
    check("links", drive(folder, text, """
        for (let i = 0; i < 4; i++) press("source", "ArrowDown");
        said.push(document.querySelector("#source .chosen .number").textContent);
        said.push(rows("code").filter((row) => row.classList.contains("lit")).length);
        said.push(rows("region").filter((row) => row.classList.contains("lit")).length > 2);
        said.push(document.getElementById("details").textContent.includes("MUL_INT"));
        said.push(rows("region").filter((row) => row.textContent.includes("R_EXIT") && row.textContent.includes("taken 1 time")).length);
        press("code", "Home");
        said.push(rows("source").filter((row) => row.classList.contains("lit")).map((row) => row.textContent[0] + row.textContent[1]).length);
    """), ["4", 7, True, True, 1, 2])
    check("time", drive(folder, text, """
        const slider = document.getElementById("slider"), state = () => document.querySelector("#source-3 .mark").textContent;
        said.push(Number(slider.max), Number(slider.value), state());
        for (let i = 0; i < 20; i++) document.getElementById("before").click();
        said.push(Number(slider.value), state());
        slider.value = 3; slider.oninput();
        said.push(state(), document.getElementById("moment").textContent.includes("MUL at 11 takes MUL_INT"));
    """), [7, 7, "■", 0, "·", "◔", True])
    stepped, _ = view(folder, LOOP, "--step=total:20")
    check("steps", drive(folder, stepped, """
        const details = () => document.getElementById("details").textContent, text = () => document.getElementById("step-text").textContent;
        said.push(document.getElementById("steps").offsetParent !== null, text().split(",")[0], details().includes("LOAD_CONST"));
        for (let i = 0; i < 11; i++) press("code", "ArrowRight");
        said.push(text().split(",")[0], document.querySelector("#code .chosen").textContent.includes("MUL"), details().includes("borrowed"));
        press("code", "ArrowLeft");
        said.push(text().split(",")[0], document.querySelector("#source .chosen .number").textContent);
        const slider = document.getElementById("step");
        slider.value = 43; slider.oninput();
        said.push(details().includes("raw, slot"), details().includes("◀ was"), rows("region").some((row) => row.classList.contains("chosen")));
        slider.value = slider.max; slider.oninput();
        press("code", "ArrowRight");
        said.push(text().split(",")[0], details().includes("333283335000"));
    """), [True, "1 of 63", True, "12 of 63", True, True, "11 of 63", "4", True, True, True, "63 of 63", True])
    check("no steps", drive(folder, text, """
        press("code", "ArrowRight");
        said.push(document.getElementById("steps").offsetParent === null);
    """), [True])
    check("a narrow window", drive(folder, text, """
        said.push([...document.querySelectorAll(".panel")].filter((panel) => panel.offsetParent).length);
        document.querySelector('#tabs [data-tab="region"]').click();
        said.push(document.getElementById("region").offsetParent !== null, document.getElementById("source").offsetParent !== null);
        said.push(document.documentElement.scrollWidth <= innerWidth);
    """, width=500), [1, True, False, True])
    hostile = "".join(f"x = {word!r}  # {word}\n" for word in HOSTILE if "\u2028" not in word)
    text, _ = view(folder, hostile)
    check("hostile text is text", drive(folder, text, """
        said.push(document.title, rows("source")[0].textContent.includes("<\\/script><script>"), document.querySelectorAll("#source b").length);
    """), ["script.dl - dynvm view", True, 0])
    long = "def f(x):\n" + "".join(f"    x = x + {i} * 2\n" for i in range(10000)) + "    return x\nfor i in range(20): f(1)\n"
    text, _ = view(folder, long)
    check("10,000 lines: what is drawn, and in time", drive(folder, text, """
        said.push(rows("source").length < 100, rows("code").length < 100);
        const begun = performance.now();
        press("source", "End");
        for (let i = 0; i < 20; i++) press("source", "ArrowUp");
        document.getElementById("before").click();
        said.push(rows("source").some((row) => row.textContent.includes("9999 * 2")), performance.now() - begun < 5000);
    """), [True, True, True, True])


with tempfile.TemporaryDirectory() as folder:
    for test in (test_page, test_origins, test_hostile, test_files, test_steps, *([test_browser] if BROWSER else [])):
        test(folder)
print(f"{checking.failed} things are wrong" + ("" if BROWSER else "; not looked at in a browser, as there is no chromium"))
sys.exit(checking.failed > 0)
