"""Scripts from named pipes, and sessions whose standard input or terminal goes away: they end."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import checking
import oracle

LIMIT = 20  # seconds until a session counts as one that does not end


def end_of(process):
    """Its status; "spins" if it does not end."""
    try:
        return process.wait(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return "spins"


def from_pipe(program, text):
    """Output and status of a script in a named pipe."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "script")
        os.mkfifo(path)

        def write():
            with open(path, "w") as pipe:
                pipe.write(text)

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        process = subprocess.Popen([*program, path, "a"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=oracle.clean_environment())
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            return "hangs"
        writer.join(LIMIT)
        return out, err.splitlines()[-1:], process.returncode


def on_lost_terminal(program, typed, signalled, grace):
    """The status of a session on a terminal on which something is typed, and that is closed then."""
    ours, theirs = os.openpty()

    def begin():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_DFL if signalled else signal.SIG_IGN)

    process = subprocess.Popen(program, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=begin,
                               env=oracle.clean_environment())
    os.close(theirs)
    seen = b""
    while b">>> " not in seen and b"go" not in seen:
        seen += os.read(ours, 1000)
    os.write(ours, typed)
    time.sleep(grace)
    os.close(ours)
    return end_of(process)


def from_input(program, command):
    process = subprocess.Popen(["bash", "-c", f'"$@" {command}', "bash", *program], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=oracle.clean_environment())
    process.stdin.close()
    return end_of(process)


# What is typed before the terminal goes away; b"\x04" is Ctrl-D.
TYPED = {
    "nothing": b"",
    "half a line": b"print(",
    "half a statement": b"if 1:\n",
    "a statement": b"1 + 1\n",
    "input()": b"input()\n",
    "input() for ever": b"while True:\n    try: input()\n    except EOFError: break\n    except OSError: break\n\n",
    "readline": b"import sys; sys.stdin.readline()\n",
    "output": b"for i in range(10**9): print(i)\n\n",
}


def main():
    dynvm = sys.argv[1]
    good = "import sys\nprint(sys.argv[1:], 2 + 2)\n"
    checking.check("script from a pipe", from_pipe([dynvm], good), (b"['a'] 4\n", [], 0))
    checking.check("long script from a pipe", from_pipe([dynvm], "x = 1\n" * 50000 + good), (b"['a'] 4\n", [], 0))
    checking.check("script from a pipe that raises", from_pipe([dynvm], "1 / 0\n"),
                   (b"", [b"ZeroDivisionError: division by zero"], 1))
    done = subprocess.run(["bash", "-c", f"'{dynvm}' <(echo 'print(1)')"], capture_output=True, timeout=LIMIT)
    checking.check("process substitution", (done.stdout, done.returncode), (b"1\n", 0))
    for name, typed in TYPED.items():
        for options in [[], ["-i", "-c", "print('go')"]]:
            what = f"{name}, {options}: "
            checking.check(what + "SIGHUP", on_lost_terminal([dynvm, *options], typed, True, 0.2), -signal.SIGHUP)
            status = on_lost_terminal([dynvm, *options], typed, False, 0.2)
            checking.check(what + "SIGHUP ignored", status != "spins", True)
    for command in ["", "<&-", "</", ">&-", "2>&-", "<&- >&- 2>&-", "</dev/null"]:
        for options in [["-i"], ["-i", "-c", "1"]]:
            checking.check(f"{options} {command}", from_input([dynvm, *options], command) != "spins", True)
    print(f"{checking.failed} failed")
    return 1 if checking.failed else 0


if __name__ == "__main__":
    sys.exit(main())
