/* Generated from ext/ndarray/loops/kernels.py: what is known of the ufuncs (loops.h). */
#include "loops/loops.h"
<%! from kernels import EFFORTS, UFUNCS %>\

const nd_ufunc_facts loops_facts[ND_UFUNCS] = {
% for u in UFUNCS:
    [ND_UFUNC_${u.name}] = {"${u.name}", ${u.inputs}, ${str(u.warns).lower()}, ${str(u.floats).lower()},
        ${u.identity or 0}, ${str(u.identity != "").lower()}, ${EFFORTS.get(u.name, 1)}},
% endfor
};
