"""Runs a program many times that is started once (forks.c says how, and why)."""

import os
import selectors
import socket
import struct
import subprocess
import time
from pathlib import Path
from typing import Dict, List

from oracle import Result

CHUNK = 1 << 16
MOST = 16  # runs of one copy


class Forks:
    """One request at a time: who has several threads makes several."""

    def __init__(self, program: Path, library: Path, env: Dict[str, str]):
        self.socket, there = socket.socketpair()
        # (The library comes before ASan's own, and asks for leaks itself.)
        asan = f"{env.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0:leak_check_at_exit=0"
        env = dict(env, LD_PRELOAD=str(library), DYNVM_FORKS=str(there.fileno()), ASAN_OPTIONS=asan)
        with there:
            self.server = subprocess.Popen([program], env=env, stdin=subprocess.DEVNULL, pass_fds=[there.fileno()])

    def run(self, lines: List[List[str]], cwd: Path, timeout: float, leaks: bool) -> List[Result]:
        """Like oracle.run_process for each of the lines of arguments.  `leaks`: the sanitizer looks for them at the end."""
        results: List[Result] = []
        while len(results) < len(lines):
            results += self.ask(lines[len(results) : len(results) + MOST], cwd, timeout, leaks)
        return results

    def ask(self, lines: List[List[str]], cwd: Path, timeout: float, leaks: bool) -> List[Result]:
        """The results up to the first line that ends the process."""
        pipes = [os.pipe() for _ in range(2 * len(lines))]
        words = ["leaks" if leaks else "", cwd]
        for line in lines:
            words += [str(len(line)), *line]
        text = b"".join(os.fsencode(word) + b"\0" for word in words)
        socket.send_fds(self.socket, [struct.pack("I", len(text))], [write for _, write in pipes])
        self.socket.sendall(text)
        for _, write in pipes:
            os.close(write)
        copy, deadline, timed_out = self.answer(), time.monotonic() + timeout * len(lines), False
        said = [bytearray() for _ in pipes]
        with selectors.DefaultSelector() as selector:
            for (read, _), part in zip(pipes, said):
                selector.register(read, selectors.EVENT_READ, part)
            while selector.get_map():
                ready = selector.select(None if timed_out else max(0, deadline - time.monotonic()))
                if not ready:
                    timed_out = True
                    os.kill(copy, 9)
                for key, _ in ready:
                    got = os.read(key.fd, CHUNK)
                    key.data.extend(got)
                    if not got:
                        selector.unregister(key.fd)
                        os.close(key.fd)
        status = os.waitstatus_to_exitcode(self.answer())
        statuses = [self.answer() for _ in range(self.answer())] + [status]
        ends = [(status, False) for status in statuses[:-1]] + [(statuses[-1], timed_out)]
        return [Result(bytes(said[2 * i]), bytes(said[2 * i + 1]), *end) for i, end in enumerate(ends)]

    def answer(self) -> int:
        got = self.socket.recv(4, socket.MSG_WAITALL)
        if len(got) < 4:
            raise EOFError("the program that makes copies of itself has ended")
        return struct.unpack("i", got)[0]

    def close(self) -> None:
        self.socket.close()
        self.server.wait()
