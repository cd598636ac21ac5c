/* machine.h: what the VM says to one kind of processor, or about one: all of it, for vm/, gen/ and
 * the handlers.
 *
 * To port the VM to another processor, add a branch to each #if here, the registers in
 * CMakeLists.txt (dynvm_tail_options), the words of its disassembly in .ci/check_handlers.py, and a
 * toolchain beside .ci/cross/arm64.cmake.  ndarray's inner loops have instruction sets of their own
 * (ext/ndarray/README.md, "Processors").  A processor that no branch knows works as well, and is
 * slower.
 *
 * Invariants: what every processor must offer
 *  1. Addresses of a program have 48 bits (core/value.h keeps 16 for tags), and the tag bits of a
 * pointer are 0.
 *  2. An operation that makes a NaN makes one below the tag space: +NaN (arm64) or -NaN (x86-64),
 * both without a payload.  NaNs from elsewhere pass through dv_float_foreign.
 *  3. The lowest byte of a word comes first, and words need not be aligned to be read by memcpy.
 *  4. The compiler makes sibling calls of functions with four pointers, an int64_t and a double as
 * arguments: all six in registers.  (Without it: -DDYNVM_FORMS=trampoline.)
 *
 * What a processor may do as it likes: whether `char` has a sign, and what a conversion of a float
 * to an int that does not hold it gives; no code relies on either. */
#ifndef DV_CORE_MACHINE_H
#define DV_CORE_MACHINE_H

#include <stdint.h>

/* The letter of asm constraints for a register that holds a double. */
#if defined(__x86_64__)
#define DV_FLOAT_REGISTER "x"
#elif defined(__aarch64__)
#define DV_FLOAT_REGISTER "w"
#else
#define DV_FLOAT_REGISTER "f"
#endif

/* Behind a call of a handler (run/engine.h, invariant 6): the registers that handlers in tail form
 * do not keep.  The function that says it saves them for its own caller; what it needs behind the
 * call itself, it has in volatile variables.  The same registers stand in CMakeLists.txt,
 * dynvm_tail_options. */
#if defined(__x86_64__)
#define DV_REGISTERS_CHANGED() __asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15")
#else
#define DV_REGISTERS_CHANGED() ((void)0)
#endif

/* int64 to double without the false dependency of cvtsi2sd on its target's old value. */
static inline double dv_i2d(int64_t i) {
#if defined(__x86_64__)
    double d;
    __asm__("xorps %0, %0\n\tcvtsi2sdq %1, %0" : "=x"(d) : "r"(i));
    return d;
#else
    return (double)i;
#endif
}

#endif
