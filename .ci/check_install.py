#!/usr/bin/env python3
"""Installs the release build under PREFIX and uses it as a stranger would.

usage: check_install.py PREFIX

The installed program must run a script; a C program must build against the installed library through
pkg-config and through the CMake package; the program must export no symbols.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
HEADERS_ONLY = '#include <dynvm.h>\nint main(void) { return 0; }\n'
CMAKE_LISTS = """cmake_minimum_required(VERSION 3.25)
project(stranger LANGUAGES C)
find_package(dynvm REQUIRED)
add_executable(stranger main.c)
target_link_libraries(stranger PRIVATE dynvm::dynvm)
"""


def run(*command: str, **more) -> str:
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, **more)
    return done.stdout.decode()


def check_program(prefix: Path) -> None:
    told = run(str(prefix / "bin" / "dynvm"), "-c", "print(6 * 7)")
    assert told == "42\n", f"the installed program printed {told!r}"
    exported = run("nm", "-D", "--defined-only", str(prefix / "bin" / "dynvm"))
    names = [line.split()[-1] for line in exported.splitlines()]
    assert not [n for n in names if n.startswith("dv")], f"the program exports {names}"


def check_pkg_config(prefix: Path, work: Path) -> None:
    found = list(prefix.glob("lib*/**/pkgconfig"))
    env = dict(os.environ, PKG_CONFIG_PATH=str(found[0]))
    flags = run("pkg-config", "--cflags", "--libs", "dynvm", env=env).split()
    run("cc", str(work / "main.c"), "-o", str(work / "by_pkg_config"), *flags)
    run(str(work / "by_pkg_config"))


def check_cmake_package(prefix: Path, work: Path) -> None:
    run("cmake", "-S", str(work), "-B", str(work / "build"), f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", str(work / "build"))
    run(str(work / "build" / "stranger"))


def main() -> int:
    prefix = Path(sys.argv[1]).resolve() / "usr"
    work = Path(sys.argv[1]).resolve() / "work"
    work.mkdir()
    (work / "main.c").write_text(HEADERS_ONLY)
    (work / "CMakeLists.txt").write_text(CMAKE_LISTS)
    run("cmake", "--install", str(BUILD), "--prefix", str(prefix))
    check_program(prefix)
    check_pkg_config(prefix, work)
    check_cmake_package(prefix, work)
    print("the installation works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
