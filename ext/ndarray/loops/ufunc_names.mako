/* Generated from ext/ndarray/loops/kernels.py: the names of the ufuncs, in their order. */
<%! from kernels import UFUNCS %>\
% for ufunc in UFUNCS:
ND_UFUNC(${ufunc.name})
% endfor
