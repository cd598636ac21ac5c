/* Generated from ext/ffi/call/trampolines.mako: calls of C functions with common signatures, typed, so
 * that the compiler passes the arguments.
 *
 * A signature is the letter of the result, a colon, and those of the parameters: i int, u unsigned,
 * l int64_t, m uint64_t, d double, f float, p pointer, v void. */
#include "call/plan.h"

#include <stdint.h>
#include <stdlib.h>

<%
from itertools import product
types = {"i": "int32_t", "u": "uint32_t", "l": "int64_t", "m": "uint64_t", "d": "double",
         "f": "float", "p": "void *", "v": "void"}
signatures = ["v:", "i:", "p:", "d:"]
for result in "iulmpvd":
    signatures += [f"{result}:{a}" for a in "iulmpd"]
for result in "ipvlm":
    signatures += [f"{result}:{a}{b}" for a in "ip" for b in "iplm"]
signatures += ["d:dd", "d:ddd", "d:di", "d:dl", "d:dp", "f:f", "f:ff"]
for result in "ipm":
    signatures += [f"{result}:p{b}{c}" for b in "ip" for c in "ilmp"]
signatures += ["i:pipp", "i:pppp", "i:ppppp", "i:pipip"]
# MPI's hot calls (ext/mpi): Send, Recv, Isend, Bcast, Reduce, Allreduce, Sendrecv, Wait
signatures += ["i:piliil", "i:piliilp", "i:pilil", "i:ppillil", "i:ppilll", "i:piliipiliilp", "i:pp"]
signatures = sorted(set(signatures))
%>\
% for signature in signatures:
<%
    result, parameters = signature.split(":")
    name = "call_" + result + "_" + parameters
    arguments = ", ".join(f"*(const {types[p]} *)(arguments + {i} * PLAN_STRIDE)" for i, p in enumerate(parameters)).replace("const void *", "void *const ")
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
    *(${types[result]} *)result = ${call};
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
    const entry *found =
        bsearch(signature, entries, LENGTH_OF(entries), sizeof *entries, compare);
    return found ? found->trampoline : NULL;
}
