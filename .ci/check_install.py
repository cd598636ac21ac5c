#!/usr/bin/env python3
"""Installs the release build under PREFIX and uses it as a stranger would.

usage: check_install.py PREFIX

The extensions are there without any variable: in the build folder, where it is installed, and where that is moved to;
C programs build against the static and the shared library, through pkg-config and through the CMake package; the
example of an extension builds by itself; nothing internal is exported, and nothing is too large; manual and
completions are understood; the Debian package contains the same.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PROGRAM = """\
import ndarray as np, template
print(np.arange(3) @ np.eye(3), template.clamp(9.5, 0.0, 5.0), np.poly1d([1, 2])(3), np.linalg.inv([[4]]))
"""
PRINTED = "[0. 1. 2.] 5.0 5 [[0.25]]\n"
FFI = """\
from ffi import FFI
ffi = FFI()
ffi.cdef("double cos(double);")
print(ffi.dlopen("libm.so.6").cos(0.0))
"""
HOST = """\
#include <dynvm.h>
#include <stdio.h>
static int print(void *context, const char *text, size_t size) {
    return (void)context, fwrite(text, 1, size, stdout) != size;
}
int main(int count, char **arguments) {
    dynvm_config config = DYNVM_CONFIG;
    config.output = print;
    config.extension_path = count > 1 ? arguments[1] : NULL;
    dynvm_vm *vm = dynvm_create(&config);
    static const char program[] = "import template\\nprint(template.clamp(9.5, 0.0, 5.0))\\n";
    dynvm_status status = dynvm_run_text(vm, program, sizeof program - 1, "<host>");
    dynvm_destroy(vm);
    return status != DYNVM_OK;
}
"""
MB = 1_000_000
LARGEST = {"bin/dynvm": 6 * MB, "lib*/**/libdynvm.a": 9 * MB, "lib*/**/ndarray.so": 6 * MB}
COMPLETE = """\
source "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_CWORD=1
compopt() { :; }
_dynvm && printf '%s\\n' "${COMPREPLY[@]}"
"""

# Nothing that a developer has set helps.
ENVIRONMENT = {name: text for name, text in os.environ.items() if not name.startswith(("DYNVM", "LD_", "PKG_", "CMAKE"))}


def run(*command, environment: dict = ENVIRONMENT) -> str:
    done = subprocess.run([str(part) for part in command], cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, env=environment, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\nstatus {done.returncode}")
    return done.stdout


def expect(found: str, wanted: str, what: str) -> None:
    if found != wanted:
        sys.exit(f"{what}: {found!r} instead of {wanted!r}")


def the(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        sys.exit(f"nothing is installed as {pattern}")
    return found[0]


def check_program(dynvm: Path) -> None:
    expect(run(dynvm, "-c", PROGRAM), PRINTED, f"{dynvm}: extensions")
    expect(run(dynvm, "-c", FFI), "1.0\n", f"{dynvm}: ffi")
    expect(run(dynvm, "-c", "from decimal import Decimal; print(Decimal(1) / 7)"), "0.1428571428571428571428571429\n", f"{dynvm}: decimal")
    if "\nndarray: yes" not in run(dynvm, "--version", "--verbose"):
        sys.exit(f"{dynvm} --version --verbose does not know of ndarray")
    hidden = run(dynvm, "-c", "import tally", environment=ENVIRONMENT | {"DYNVM_PATH": str(BUILD / "tests" / "extensions")})
    expect(hidden, "", "an extension of the tests")
    told = run(dynvm, "-c", "try:\n    import tally\nexcept ModuleNotFoundError as e:\n    print(e)")
    expect(told, "No module named 'tally'\n", f"{dynvm}: an extension of the tests")


def check_sizes(prefix: Path) -> None:
    for pattern, largest in LARGEST.items():
        size = the(prefix, pattern).stat().st_size
        print(f"{pattern.split('/')[-1]}: {size / MB:.2f} of {largest / MB:.0f} MB")
        if size > largest:
            sys.exit(f"{pattern} is too large")


def check_names(prefix: Path) -> None:
    run(sys.executable, "-B", ROOT / "tests" / "capi" / "exports.py", "nm", prefix / "bin" / "dynvm",
        the(prefix, "lib*/**/libdynvm.a"), the(prefix, "lib*/**/libdynvm.so"))


def check_pkg_config(prefix: Path, work: Path) -> None:
    pkg_config = the(prefix, "lib*/**/pkgconfig")
    environment = ENVIRONMENT | {"PKG_CONFIG_PATH": str(pkg_config), "LD_LIBRARY_PATH": str(pkg_config.parent)}
    extensions = run("pkg-config", "--variable=extensiondir", "dynvm", environment=environment).strip()
    for package, arguments in (("dynvm", ()), ("dynvm-static", (extensions,))):
        host = work / f"by_{package}"
        flags = run("pkg-config", "--cflags", "--libs", package, environment=environment).split()
        run("cc", work / "host.c", "-o", host, *flags)
        expect(run(host, *arguments, environment=environment), "5.0\n", f"a host by pkg-config {package}")
    # A host that contains the library, at the place of the program.
    shutil.copy(work / "by_dynvm-static", prefix / "bin" / "host")
    expect(run(prefix / "bin" / "host"), "5.0\n", "a host in the prefix")
    (prefix / "bin" / "host").unlink()


def check_examples(prefix: Path, work: Path) -> None:
    """The README's host, and the programs of tests/capi as whoever copies them builds them; some are run."""
    pkg_config = the(prefix, "lib*/**/pkgconfig")
    environment = ENVIRONMENT | {"PKG_CONFIG_PATH": str(pkg_config), "LD_LIBRARY_PATH": str(pkg_config.parent)}
    flags = {package: run("pkg-config", "--cflags", "--libs", package, environment=environment).split()
             for package in ("dynvm", "dynvm-static")}
    text = (ROOT / "README.md").read_text()
    (work / "readme.c").write_text(text.split("## Embed\n")[1].split("```c\n")[1].split("```")[0])
    run("cc", work / "readme.c", "-o", work / "readme", *flags["dynvm"])
    expect(run(work / "readme", environment=environment), "42\n", "the README's host")
    for source in sorted((ROOT / "tests" / "capi").glob("*.c*")):
        compiler = "c++" if source.suffix == ".cpp" else "cc"
        if source.suffix not in (".c", ".cpp") or not shutil.which(compiler):
            continue
        package = "dynvm" if source.stem in ("vec3", "cplusplus") else "dynvm-static"
        run(compiler, source, "-o", work / source.stem, *flags[package], "-lpthread", "-lm")
        if source.stem in ("values", "vec3", "cplusplus", "sandbox"):
            run(work / source.stem, environment=environment)


def check_shared_object(prefix: Path, work: Path) -> None:
    """libdynvm.a can be linked into a shared object."""
    include, archive = the(prefix, "include"), the(prefix, "lib*/**/libdynvm.a")
    plugin, host = work / "libplugin.so", work / "by_plugin"
    (work / "plugin.c").write_text(HOST.replace("int main", "int plugin_main"))
    (work / "main.c").write_text("int plugin_main(int, char **);\nint main(int c, char **v) { return plugin_main(c, v); }\n")
    run("cc", "-shared", "-fPIC", work / "plugin.c", f"-I{include}", archive, "-lgmp", "-lm", "-o", plugin, "-Wl,-z,defs")
    run("cc", work / "main.c", plugin, f"-Wl,-rpath,{work}", "-o", host)
    expect(run(host, the(prefix, "lib*/**/ndarray.so").parent), "5.0\n", "a plugin that contains the library")


def check_cmake_package(prefix: Path, work: Path) -> None:
    example = the(prefix, "share/doc/dynvm/examples/template")
    for source, build in ((ROOT / "tests" / "capi" / "cmake", work / "hosts"), (example, work / "example")):
        run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", build)
    extensions = {"DYNVM_PATH": str(BUILD / "tests" / "extensions")}
    for host in ("values", "threads", "cplusplus"):
        if (work / "hosts" / host).exists():
            run(work / "hosts" / host, environment=ENVIRONMENT | extensions)
    program = "import sys\nsys.path.pop()\nimport template\nprint(template.clamp(9.5, 0.0, 5.0))"
    own = ENVIRONMENT | {"DYNVM_PATH": str(work / "example")}
    expect(run(prefix / "bin" / "dynvm", "-c", program, environment=own), "5.0\n", "the example by itself")


def check_documents(prefix: Path) -> None:
    manual = the(prefix, "share/man/man1/dynvm.1*")
    if shutil.which("mandoc"):
        expect(run("mandoc", "-Tlint", "-W", "warning", manual), "", "the manual")
    for name in ("fish/vendor_completions.d/dynvm.fish", "zsh/site-functions/_dynvm"):
        the(prefix, f"share/{name}")
        shell = name.split("/")[0]
        if shutil.which(shell):
            run(shell, "-n", prefix / "share" / name)
    completion = the(prefix, "share/bash-completion/completions/dynvm")
    for typed, completed in (("dynvm --level=g", "generic\n"), ("dynvm --vers", "--version\n"), ("dynvm expl", "explain\n")):
        expect(run("bash", "-c", COMPLETE, "bash", completion, typed), completed, f"completion of {typed!r}")


def check_package(work: Path) -> None:
    """The Debian package, unpacked: it is made of the same files, stripped."""
    if not shutil.which("dpkg-shlibdeps") or not shutil.which("file"):
        print("no dpkg-dev or no file: the Debian package is not made")
        return
    run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", work / "cpack")
    package, unpacked = the(work / "cpack", "*.deb"), work / "unpacked"
    run("dpkg-deb", "-x", package, unpacked)
    depends = run("dpkg-deb", "-f", package, "Depends")
    if not all(package in depends for package in ("libc6", "libgmp10", "libopenblas0")):
        sys.exit(f"the package depends on {depends}")
    check_program(unpacked / "usr" / "bin" / "dynvm")


def main() -> int:
    given = Path(sys.argv[1]).resolve()
    prefix, moved, work = given / "usr", given / "else" / "where", given / "work"
    work.mkdir()
    (work / "host.c").write_text(HOST)
    check_program(BUILD / "dynvm")
    run("cmake", "--install", BUILD, "--prefix", prefix)
    check_program(prefix / "bin" / "dynvm")
    moved.parent.mkdir()
    prefix.rename(moved)
    check_program(moved / "bin" / "dynvm")
    check_sizes(moved)
    check_names(moved)
    check_pkg_config(moved, work)
    check_examples(moved, work)
    check_shared_object(moved, work)
    check_cmake_package(moved, work)
    check_documents(moved)
    check_package(work)
    print("the installation works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
