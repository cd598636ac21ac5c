/* Generated from ext/ffi/call/trampolines.mako: calls of C functions with common signatures, typed, so
 * that the compiler passes the arguments.
 *
 * A signature is the letter of the result, a colon, and those of the parameters: n int, pointer or
 * anything else that a register for integers holds (plan.c), d double, f float, v void.
 *
 * Invariants
 *  1. An argument `n` is passed as 64 bits, and so is a result: x86-64 and arm64 have one register for it,
 *     or one place of eight bytes, and look at the lower part alone where the type is smaller.  On other
 *     processors libffi makes all calls that have one. */
#include "call/plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

<%
from itertools import product
types = {"n": "int64_t", "d": "double", "f": "float", "v": "void"}
signatures = [f"{r}:{''.join(p)}" for r in "nvd" for count in range(4) for p in product("nd", repeat=count)]
signatures += [f"{r}:{'n' * count}" for r in "nv" for count in range(4, 14)]
signatures += ["f:f", "f:ff"]
signatures = sorted(set(signatures))
%>\
% for letter in "ndf":
static inline ${types[letter]} get_${letter}(const char *argument) {
    ${types[letter]} value;
    memcpy(&value, argument, sizeof value);
    return value;
}
% endfor
% for signature in signatures:
<%
    result, parameters = signature.split(":")
    name = "call_" + result + "_" + parameters
    arguments = ", ".join(f"get_{p}(arguments + {i} * PLAN_STRIDE)" for i, p in enumerate(parameters))
    prototype = ", ".join(types[p] for p in parameters) or "void"
    call = f"(({types[result]} (*)({prototype}))function)({arguments})"
%>\
static void ${name}(void *function, const char *arguments, void *result) {
% if not parameters:
    (void)arguments;
% endif
% if result == "v":
    (void)result;
    ${call};
% else:
    const ${types[result]} value = ${call};
    memcpy(result, &value, sizeof value);
% endif
}
% endfor

typedef struct entry {
    const char *signature;
    plan_trampoline trampoline;
} entry;

/* Sorted by the signature. */
static const entry entries[] = {
% for signature in signatures:
    {"${signature}", call_${signature.replace(":", "_")}},
% endfor
};

static int compare(const void *signature, const void *other) {
    return strcmp(signature, ((const entry *)other)->signature);
}

plan_trampoline plan_find_trampoline(const char *signature) {
#if !defined(__x86_64__) && !defined(__aarch64__)
    if (strchr(signature, 'n')) return NULL; /* 1 */
#endif
    const entry *found =
        bsearch(signature, entries, LENGTH_OF(entries), sizeof *entries, compare);
    return found ? found->trampoline : NULL;
}
