#!/usr/bin/env python3
"""`dynvm view --serve`: the playground's server.

 - it serves its page, and the program that it was started with; it runs what is sent, at the level that is asked for;
 - a program cannot reach files, print without end, take more time or memory than it may, or end the server;
 - requests that are no requests, too large, from elsewhere or never finished are refused, and the next one is answered;
 - it listens at this machine's own address alone, and ends with Ctrl-C, also while a program runs.

usage: playground.py DYNVM      exit status: 0 if all is well, 1 if anything is wrong
"""

import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import checking  # noqa: E402
from checking import check  # noqa: E402

DYNVM = str(Path(sys.argv[1]).resolve())
WAIT = 60  # seconds that an answer may take: instrumented builds are slow


def start(*arguments):
    server = subprocess.Popen([DYNVM, "view", "--serve", "--port=0", *arguments], stdout=subprocess.PIPE, text=True)
    return server, int(re.search(r"127\.0\.0\.1:(\d+)/", server.stdout.readline())[1])


def stop(server, number=signal.SIGINT):
    server.send_signal(number)
    check("it ends when it is told to", server.wait(WAIT), 0)


def ask(port, text):
    """The status, and the body of the answer to these bytes; all of it is None where there is no answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as connection:
        got = b""
        try:
            connection.sendall(text)
            while piece := connection.recv(65536):
                got += piece
        except ConnectionError:
            pass
    head, _, body = got.partition(b"\r\n\r\n")
    return (int(head.split()[1]), body) if head else (None, None)


def request(port, path, body=None, *fields, host=None):
    lines = [f"{'GET' if body is None else 'POST'} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", *fields]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return ask(port, "\r\n".join([*lines, "", ""]).encode() + (body or b""))


def run(port, program, query="", *fields):
    """The program's status, what it printed, its error, and the data of its page."""
    status, body = request(port, f"/run?{query}", program.encode(), *fields)
    check(f"{program[:30]!r} is answered", status, 200)
    first, _, rest = (body or b"1 0 0 0\n").partition(b"\n")
    ended, printed, errors, page = map(int, first.split())
    check("sizes of the texts", len(rest), printed + errors + page)
    data = re.search(rb'<script id="data" type="application/json">(.*?)</script>', rest[printed + errors:], re.DOTALL)
    return ended, rest[:printed].decode(), rest[printed:printed + errors].decode(), data and json.loads(data[1])


def test_programs(port):
    check("what is printed", run(port, "print('é', 1)\n")[:3], (0, "é 1\n", ""))
    data = run(port, "def f(n):\n    s = 0\n    for i in range(n): s += i\n    return s\nf(3000)\n", "level=inca&step=f")[3]
    check("level and steps", (data["counts"]["level"], data["steps"]["function"], data["steps"]["kept"][0]["line"]), ("inca", "f", 2))
    check("a name that is written in another way", run(port, "def é(): return 1\né()", "step=%C3%A9")[3]["steps"]["kept"][0]["line"], 1)
    check("a level that there is not", request(port, "/run?level=fast", b"print(1)")[0], 400)
    status, printed, error, data = run(port, "print(1)\n1 / 0\n")
    check("an error", (status, printed, error.splitlines()[-1], data is not None), (1, "1\n", "ZeroDivisionError: division by zero", True))
    check("no program", (run(port, "def f(:\n")[0], run(port, "def f(:\n")[3]), (1, None))
    check("nothing", run(port, "")[:3], (0, "", ""))
    check("its own status", run(port, "import sys\nsys.exit(7)\n")[0], 7)
    check("what is written to stderr", run(port, "import sys\nprint('no', file=sys.stderr)\n")[2], "no\n")


def test_limits(port):
    for program, word in (("while True: pass\n", "time limit"), ("x = [0] * 50000000\n", "MemoryError"),
                          ("open('/etc/passwd')\n", "PermissionError"), ("import ffi\n", "Error"), ("input()\n", "EOFError"),
                          ("try:\n    while True: pass\nexcept RuntimeError: pass\nwhile True: pass\n", "")):
        status, _, error, _ = run(port, program)
        check(f"{program!r} is ended", (status, word in error), (1, True))
    status, printed, _, _ = run(port, "while True: print('x' * 1000)\n")
    check("what is printed without end", (len(printed) < 300000, printed.endswith("not shown\n")), (True, True))


def test_requests(port):
    check("the page", b"<!doctype html>" in request(port, "/")[1], True)
    check("the program", request(port, "/program")[1], b"print('first')\n")
    check("by its other name", request(port, "/", None, host=f"localhost:{port}")[0], 200)
    own = f"Origin: http://127.0.0.1:{port}"
    check("from its own page", run(port, "print(2)", "", own)[1], "2\n")
    for what, status, answer in (
        ("another host", 403, request(port, "/", None, host="example.org")),
        ("another host of this port", 403, request(port, "/", None, host=f"example.org:{port}")),
        ("two hosts", 403, request(port, "/", None, f"Host: 127.0.0.1:{port}")),
        ("no host", 403, ask(port, b"GET / HTTP/1.1\r\n\r\n")),
        ("the host in place of a path", 403, ask(port, f"GET Host:127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())),
        ("a page of elsewhere", 403, request(port, "/run", b"print(1)", "Origin: http://example.org")),
        ("a page without a name", 403, request(port, "/run", b"print(1)", "Origin: null")),
        ("another path", 404, request(port, "/../etc/passwd")),
        ("another path to send to", 404, request(port, "/", b"")),
        ("a method", 405, ask(port, f"DELETE / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())),
        ("no size", 411, ask(port, f"POST /run HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())),
        ("no request", 400, ask(port, b"hello\r\n\r\n")),
        ("zeroes", 400, ask(port, b"\0" * 100)),
        ("too many lines", 400, ask(port, b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5000)),
    ):
        check(what, answer[0], status)
    for size, status in (("2000000", 413), ("99999999999999999999999", 413), ("-1", 400), ("+1", 400), ("x", 400), ("", 400)):
        head = f"POST /run HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {size}\r\n\r\n"
        check(f"a size of {size!r}", ask(port, head.encode())[0], status)
    check("a program as large as it may be", run(port, "#" * (1 << 20))[0], 0)


def test_company(port):
    """Some ask and never go on; others are answered meanwhile, and too many are told so."""
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(7)]
    time.sleep(0.5)
    check("others are answered", request(port, "/")[0], 200)
    time.sleep(0.5)
    more = [socket.create_connection(("127.0.0.1", port)) for _ in range(2)]
    time.sleep(0.5)
    check("too many", request(port, "/program")[0], 503)
    for connection in idle + more:
        connection.close()
    time.sleep(0.5)
    check("they are gone", request(port, "/")[0], 200)


def test_end(folder):
    server, port = start("--time-limit=50")
    check("the port is taken", subprocess.run([DYNVM, "view", "--serve", f"--port={port}"], capture_output=True, timeout=WAIT).returncode, 1)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"POST /run HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 16\r\n\r\nwhile True: pass".encode())
        time.sleep(0.3)
        begun = time.monotonic()
        stop(server, signal.SIGTERM)
        check("a running program does not hold it up", time.monotonic() - begun < 10, True)
        try:
            check("nor is it answered", connection.recv(10), b"")
        except ConnectionError:
            pass
    done = subprocess.run([DYNVM, "view", "--serve", "a.dl", "b.dl"], cwd=folder, capture_output=True, timeout=WAIT)
    check("one script at most", done.returncode, 2)


with tempfile.TemporaryDirectory() as folder:
    script = Path(folder, "first.dl")
    script.write_text("print('first')\n")
    server, port = start("--time-limit=0.4", str(script))
    for test in (test_requests, test_programs, test_limits, test_company):
        test(port)
    stop(server)
    test_end(folder)
print(f"{checking.failed} things are wrong")
sys.exit(checking.failed > 0)
