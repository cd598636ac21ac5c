/* Generated from ext/ndarray/loops/rare.mako by kernels.py: the names of the loops that are compiled once (rare_loops.mako), which the
 * tables of all instruction sets have. */
<%! from kernels import NUMBERS, RARE, TWINS, UFUNCS, folds, is_own, loop_name, rare_loops %>\
% for ufunc in UFUNCS:
% for kernel in [kernel for kernel in rare_loops(ufunc) if is_own(ufunc, kernel)]:
void ${loop_name(ufunc, kernel)}(char **args, int64_t count, const int64_t *strides);
% if folds(ufunc, kernel):
void rare_fold${loop_name(ufunc, kernel)[4:]}(char *to, const char *from, int64_t count, int64_t stride);
% endif
% endfor
% endfor
% for letter in RARE:
% if letter not in TWINS:
int64_t rare_find_${NUMBERS[letter].lower()}(const void *sought, const char *at, int64_t count);
% endif
% endfor
