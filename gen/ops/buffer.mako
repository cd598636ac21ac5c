## buffer.mako: subscripts of what has elements of a C type: array.array and objects of extensions by kind of element,
## bytearray.  With several indices the tuple of them is left out.
##
## Derivatives are in the order of dv_element (vm/types/binary/buffer.h): quicken/choose.c adds the element.
<%!
from isa import ELEMENTS

def fits(name):
    """C condition: the int64 x is within the range of the element."""
    if name == "int64":
        return "true"
    if name == "uint64":
        return "x >= 0"
    return f"x == ({ELEMENTS[name]})x"
%>
<%def name="place(read_only)">\
    ${'const ' if read_only else ''}dv_array *array = (${'const ' if read_only else ''}dv_array *)dv_as_object(container);
    int64_t i = dv_as_int(index);
    if (i < 0) i += array->count;
</%def>
% for name, type in ELEMENTS.items():
<%
is_float = "float" in name
wide = name in ("int64", "uint64")
%>
<%isa:derivative name="LOAD_SUBSCR_${name.upper()}" of="LOAD_SUBSCR" types="array_${name} int" result="${'float' if is_float else 'int'}" fuses="SL LL" doc="container[index] of an array of ${name} with an int within its bounds.">
${place(True)}\
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)array->count)) MISS();
    const ${type} x = ((const ${type} *)(const void *)array->data)[i];
% if wide:
    if (DV_UNLIKELY(${"x > INT64_MAX || " if name == "uint64" else ""}!dv_fits_int((int64_t)x))) SLOW();
% endif
    DONE_RELEASING(${"dv_float_foreign((double)x)" if is_float else "dv_int((int64_t)x)"}, SITE.own & 1, container);
% if wide:
    --- out of line ---
    const uint8_t own = SITE.own;
${place(True)}\
    const dv_value result = dv_array_get(vm, array, i);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE1(own, container);
    DONE(result);
% endif
</%isa:derivative>
% endfor

% for name, type in ELEMENTS.items():
<%
is_float = "float" in name
%>
<%isa:derivative name="STORE_SUBSCR_${name.upper()}" of="STORE_SUBSCR" types="any array_${name} int" fuses="SLL" doc="container[index] = value of an array of ${name} with an int within its bounds.">
${place(False)}\
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)array->count)) MISS();
    const uint8_t own = SITE.own;
    if (DV_UNLIKELY(own & 2 && array->header.references == 1)) MISS(); /* it would die here */
% if is_float:
    if (DV_UNLIKELY(!DV_IS_NUMBER(value))) SLOW();
    const double x = DV_AS_DOUBLE(value);
% else:
    const int64_t x = dv_is_int(value) ? dv_as_int(value) : INT64_MIN;
    if (DV_UNLIKELY(${"x == INT64_MIN" if name == "int64" else f"!({fits(name)})"})) SLOW();
% endif
    ((${type} *)(void *)array->data)[i] = (${type})x;
    array->header.references -= own >> 1 & 1;
    sp -= IN;
    NEXT();
    --- out of line ---
    const uint8_t own = SITE.own;
    if (DV_UNLIKELY(!vm->types[DV_T_ARRAY]->set_item(vm, container, index, value))) RAISE();
    DISPOSE1(own, value);
    DISPOSE2(own >> 1, container, index);
    DONE0();
</%isa:derivative>
% endfor

<%isa:derivative name="LOAD_SUBSCR_BYTEARRAY" of="LOAD_SUBSCR" types="bytearray int" result="int" fuses="SL LL" doc="container[index] of a bytearray with an int within its bounds.">
    const dv_str *bytes = dv_as_str(((const dv_bytearray *)dv_as_object(container))->bytes);
    int64_t i = dv_as_int(index);
    if (i < 0) i += bytes->length;
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)bytes->length)) MISS();
    DONE_RELEASING(dv_int((uint8_t)bytes->data[i]), SITE.own & 1, container);
</%isa:derivative>

<%isa:derivative name="STORE_SUBSCR_BYTEARRAY" of="STORE_SUBSCR" types="any bytearray int" fuses="SLL" doc="container[index] = value of a bytearray with an int within its bounds.">
    dv_bytearray *array = (dv_bytearray *)dv_as_object(container);
    dv_str *bytes = dv_as_str(array->bytes);
    int64_t i = dv_as_int(index);
    if (i < 0) i += bytes->length;
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)bytes->length)) MISS();
    const uint8_t own = SITE.own;
    if (DV_UNLIKELY(own & 2 && array->header.references == 1)) MISS(); /* it would die here */
    const int64_t x = dv_is_int(value) ? dv_as_int(value) : INT64_MIN;
    if (DV_UNLIKELY(x != (uint8_t)x || (bytes->header.references != 1 && !array->exports))) SLOW();
    bytes->hash = -1;
    bytes->data[i] = (char)x;
    array->header.references -= own >> 1 & 1;
    sp -= IN;
    NEXT();
    --- out of line ---
    const uint8_t own = SITE.own;
    if (DV_UNLIKELY(!vm->types[DV_T_BYTEARRAY]->set_item(vm, container, index, value))) RAISE();
    DISPOSE1(own, value);
    DISPOSE2(own >> 1, container, index);
    DONE0();
</%isa:derivative>

% for name, type in ELEMENTS.items():
<%
is_float = "float" in name
wide = name in ("int64", "uint64")
%>
<%isa:derivative name="LOAD_SUBSCR_BUFFER_${name.upper()}" of="LOAD_SUBSCR" types="buffer_${name} int" result="${'float' if is_float else 'int'}" doc="container[index] of an object of an extension whose items are ${name}, with an int within their bounds.">
    const char *at = dv_item_at(dv_buffer_of(vm, container), dv_as_int(index));
    if (DV_UNLIKELY(!at)) MISS();
    ${type} x;
    memcpy(&x, at, sizeof x);
% if wide:
    if (DV_UNLIKELY(${"x > INT64_MAX || " if name == "uint64" else ""}!dv_fits_int((int64_t)x))) SLOW();
% endif
    DONE_RELEASING(${"dv_float_foreign((double)x)" if is_float else "dv_int((int64_t)x)"}, SITE.own & 1, container);
% if wide:
    --- out of line ---
    const uint8_t own = SITE.own;
    const dv_value result = dv_get_item(vm, container, index);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE1(own, container);
    DONE(result);
% endif
</%isa:derivative>
% endfor

% for name, type in ELEMENTS.items():
<%
is_float = "float" in name
%>
<%isa:derivative name="STORE_SUBSCR_BUFFER_${name.upper()}" of="STORE_SUBSCR" types="any buffer_${name} int" doc="container[index] = value of an object of an extension whose items are ${name}, with an int within their bounds.">
    dv_buffer *buffer = dv_buffer_of(vm, container);
    char *at = dv_item_at(buffer, dv_as_int(index));
    if (DV_UNLIKELY(!at || buffer->read_only)) MISS();
    const uint8_t own = SITE.own;
    if (DV_UNLIKELY(own & 2 && dv_as_object(container)->references == 1)) MISS(); /* it would die here */
% if is_float:
    if (DV_UNLIKELY(!DV_IS_NUMBER(value))) SLOW();
    const ${type} x = (${type})DV_AS_DOUBLE(value);
    memcpy(at, &x, sizeof x);
% else:
    const int64_t x = dv_is_int(value) ? dv_as_int(value) : INT64_MIN;
    if (DV_UNLIKELY(${"x == INT64_MIN" if name == "int64" else f"!({fits(name)})"})) SLOW();
    memcpy(at, &x, sizeof(${type})); /* little endian: the low bytes come first */
% endif
    dv_as_object(container)->references -= own >> 1 & 1;
    sp -= IN;
    NEXT();
    --- out of line ---
    const uint8_t own = SITE.own;
    if (DV_UNLIKELY(!dv_set_item(vm, container, index, value))) RAISE();
    DISPOSE1(own, value);
    DISPOSE2(own >> 1, container, index);
    DONE0();
</%isa:derivative>
% endfor

## With the subscript behind them, where the container's items lie along as many axes as there are indices.
<%def name="items_along(name)">\
    const int64_t n = CELL(2).i;
    const dv_value *indices = sp - n, container = indices[-1];
    const dv_buffer *buffer = dv_items_along(vm, container, DV_${name.upper()}, n);
    if (DV_UNLIKELY(!buffer || GUARD_FAILS())) MISS();
    char *at = dv_item_along(buffer, indices, n);
</%def>
% for name, type in ELEMENTS.items():
<%isa:derivative name="BUILD_KEY_LOAD_${name.upper()}" which="DV_${name.upper()}" of="BUILD_KEY" covers="LOAD_SUBSCR" doc="BUILD_KEY of ints, and the LOAD_SUBSCR behind it, of an object of an extension whose items are ${name}: no tuple.">
${items_along(name)}\
    const uint8_t own = ip[LEN + 1].site.own;
    if (DV_UNLIKELY(!at || (own & 1 && dv_as_object(container)->references == 1))) MISS(); /* it would die here */
    ${type} x;
    memcpy(&x, at, sizeof x);
% if name in ("int64", "uint64"):
    if (DV_UNLIKELY(${"x > INT64_MAX || " if name == "uint64" else ""}!dv_fits_int((int64_t)x))) MISS();
% endif
    dv_as_object(container)->references -= own & 1;
    sp -= n;
    sp[-1] = ${"dv_float_foreign((double)x)" if "float" in name else "dv_int((int64_t)x)"};
    JUMP(ip + LEN + 2);
</%isa:derivative>
% endfor

% for name, type in ELEMENTS.items():
<%isa:derivative name="BUILD_KEY_STORE_${name.upper()}" which="DV_${name.upper()}" of="BUILD_KEY" covers="STORE_SUBSCR" doc="BUILD_KEY of ints, and the STORE_SUBSCR behind it, of an object of an extension whose items are ${name}: no tuple.">
${items_along(name)}\
    const dv_value value = indices[-2];
    const uint8_t own = ip[LEN + 1].site.own;
    if (DV_UNLIKELY(!at || buffer->read_only || (own & 2 && dv_as_object(container)->references == 1))) MISS();
% if "float" in name:
    if (DV_UNLIKELY(!DV_IS_NUMBER(value))) MISS();
    const ${type} y = (${type})DV_AS_DOUBLE(value);
% else:
    const int64_t x = dv_is_int(value) ? dv_as_int(value) : INT64_MIN;
    if (DV_UNLIKELY(${"x == INT64_MIN" if name == "int64" else f"!({fits(name)})"})) MISS();
    const ${type} y = (${type})x;
% endif
    memcpy(at, &y, sizeof y);
    dv_as_object(container)->references -= own >> 1 & 1;
    sp -= n + 2;
    JUMP(ip + LEN + 2);
</%isa:derivative>
% endfor
