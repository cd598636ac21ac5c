/* Generated from ext/ndarray/site/derivatives.py: the descriptors of elementwise derivatives
 * (derive_elements.c includes this behind its run functions). */
<%! from derivatives import (BINARY, INPLACE, UNARY, BINARY_OPERATORS, COMPARISONS, UNARY_OPERATORS, CALLS, PAIRS_LINE, derivatives,
                             pairs) %>\
<%def name="table(name, kind, family, operands, operators, forms)">\
static const dvx_specialisation ${name}[2][${len(operators)}${" + 1" if name in ("of_binary", "of_inplace", "of_unary") else ""}][FORMS][ND_HOT_TYPES] = {
% for small in 0, 1:
    {
% for op, ufunc in operators.items():
    [DVX_${op}] = {
% for form, number, title, run, line in derivatives(forms, op, ufunc):
% if not small:
#line ${line} "ext/ndarray/site/derivatives.py"
        [FORM_${form}][ND_HOT_${number}] = ELEMENTWISE("${title}", ${family}, ${operands}, run_${run}, .native = NULL),
% elif number in ("FLOAT64", "INT64"):
#line ${line} "ext/ndarray/site/derivatives.py"
        [FORM_${form}][ND_HOT_${number}] = ELEMENTWISE("${title}_SMALL", ${family}, ${operands}, run_${run}, TWIN(${run})),
% endif
% endfor
    },
% endfor
    },
% endfor
};
</%def>\
${table("of_binary", "binary", "BINARY", 2, BINARY_OPERATORS, BINARY)}
${table("of_inplace", "inplace", "INPLACE", 2, BINARY_OPERATORS, INPLACE)}
${table("of_compare", "compare", "COMPARE", 2, COMPARISONS, BINARY)}
${table("of_unary", "unary", "UNARY", 1, UNARY_OPERATORS, UNARY)}
/* Calls of ufuncs: the callee is operand 0. */
static const dvx_specialisation of_call[2][ND_UFUNCS][FORMS][ND_HOT_TYPES] = {
% for small in 0, 1:
    {
% for u in CALLS:
    [ND_UFUNC_${u.name}] = {
% for form, number, title, run, line in derivatives(UNARY if u.inputs == 1 else BINARY, u.name.upper(), u.name):
% if not small:
#line ${line} "ext/ndarray/site/derivatives.py"
        [FORM_${form}][ND_HOT_${number}] = ELEMENTWISE("CALL_${title}", CALL, ${u.inputs + 1}, run_call_${run}, .native = NULL),
% elif number in ("FLOAT64", "INT64"):
#line ${line} "ext/ndarray/site/derivatives.py"
        [FORM_${form}][ND_HOT_${number}] = ELEMENTWISE("CALL_${title}_SMALL", CALL, ${u.inputs + 1}, run_call_${run}, CALL_TWIN(${run})),
% endif
% endfor
    },
% endfor
    },
% endfor
};

/* Two arrays of different dtypes. */
<%def name="cast_table(name, family, operators)">\
static const dvx_specialisation ${name}[][ND_HOT_TYPES][ND_HOT_TYPES] = {
% for op, ufunc in operators.items():
    [DVX_${op}] = {
% for a, b, title in pairs(op, ufunc):
#line ${PAIRS_LINE} "ext/ndarray/site/derivatives.py"
        [ND_HOT_${a}][ND_HOT_${b}] = ELEMENTWISE("${title}", ${family}, 2, run_pair, .native = NULL),
% endfor
    },
% endfor
};
</%def>\
${cast_table("of_binary_pair", "BINARY", BINARY_OPERATORS)}
${cast_table("of_compare_pair", "COMPARE", COMPARISONS)}
