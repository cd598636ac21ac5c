# Toolchain: arm64 on any machine with Debian's gcc-aarch64-linux-gnu.  What is built runs under qemu-user-static:
# the program that compiles library modules during the build (gen/pack/pack.c), and the tests.
#
# DYNVM_SYSROOT is a folder made by .ci/cross/sysroot; without a word, <build>/sysroot.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(DYNVM_SYSROOT "${CMAKE_BINARY_DIR}/sysroot" CACHE PATH "Libraries and headers of the other architecture")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DYNVM_SYSROOT) # (has a CMAKE_BINARY_DIR of its own)
if(NOT EXISTS "${DYNVM_SYSROOT}/complete")
  message(FATAL_ERROR "There are no libraries for arm64 in ${DYNVM_SYSROOT}.  First: .ci/cross/sysroot arm64 ${DYNVM_SYSROOT}")
endif()
set(CMAKE_SYSROOT "${DYNVM_SYSROOT}")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_OBJDUMP aarch64-linux-gnu-objdump CACHE FILEPATH "Disassembler")

# A processor of 2016, so that nothing newer than the architecture's first version is needed unnoticed.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -cpu cortex-a72 -L "${DYNVM_SYSROOT}"
  CACHE STRING "Runs what is built")

# pkg-config: the packages of the sysroot alone (libffi).
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${DYNVM_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${DYNVM_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig")
