## region_buffer.mako: raw elements of what has elements of a C type: bytes, bytearray, array.array,
## objects of extensions.
##
## Instructions are in the order of container kinds (vm/region/analyse/lattice.h), or of dv_element: vm/region/step/subscript.c
## computes them.  Place and number of the elements are read at each access: any release may run code that resizes.
## RX_ are those of objects of extensions, which are looked at as a whole each time.
<%!
from isa import ELEMENTS

NUMBERS = {**ELEMENTS, "truth": "uint8_t"}  # those, and bools, of objects of extensions
INDICES = (("S", "SLOT_I(b)"), ("K", "CELL(2).i"), ("R", "r"))
BYTES = "const dv_str *from = dv_as_str(HOME(a));"
BYTEARRAY = "const dv_bytearray *array = (const dv_bytearray *)dv_as_object(HOME(a)); dv_str *from = dv_as_str(array->bytes);"
ARRAY = "const dv_array *from = dv_as_array(HOME(a));"
# Name, C type of an element, where it is, how many there are; sets `from`.
CONTAINERS = [
    ("bytes", "uint8_t", BYTES, "from->length"),
    ("bytearray", "uint8_t", BYTEARRAY, "from->length"),
    *((name, type, ARRAY, "from->count") for name, type in ELEMENTS.items()),
]

def called(name):
    return "array of " + name if name in ELEMENTS else name

def get_lowers(name, mode, to, kind):
    """Of an access whose index is in the instruction, or whose result goes to a slot."""
    parts = [*["R_CONST_I"] * (mode == "K"), f"RE_GET_{name.upper()}_{mode.replace('K', 'R')}_R", *[f"R_STORE_{kind}"] * (to == "S")]
    return " ".join(parts) if len(parts) > 1 else ""

def set_lowers(name, mode, value, kind):
    """Of one whose index is not in a slot, or whose value is not in a register."""
    before = {"S": [], "K": ["R_CONST"], "R": ["R_STORE_I"]}[mode] + [f"R_LOAD_{kind}"] * (value == "S")
    return " ".join([*before, f"RE_SET_{name.upper()}_S_R"]) if before else ""

def fits(type):
    """C condition: the int64 x can be stored."""
    return {"int64_t": "true", "uint64_t": "x >= 0"}.get(type, f"x == ({type})x")
%>
<%def name="bounds(index, count)">\
    int64_t i = ${index};
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)${count})) {
        if (i >= 0 || (i += ${count}) < 0) EXIT();
    }
</%def>
% for name, type, locate, count in CONTAINERS:
% for mode, index in INDICES:
% for to in "RS":
<%
is_float = type in ("float", "double")
value = "dv_element_double((double)x)" if is_float else "(int64_t)x"
target = {"R": "d = " if is_float else "r = ", "S": "SLOT_I(c) = "}[to]
%>
<%isa:region name="RE_GET_${name.upper()}_${mode}_${to}" operands="" cache="3" modes="${mode}${to}" lowers="${get_lowers(name, mode, to, 'D' if is_float else 'I')}" doc="Element of the ${called(name)} in home slot a, within bounds.">
    ${locate}
${bounds(index, count)}\
    const ${type} x = ((const ${type} *)(const void *)from->data)[i];
    if (DV_UNLIKELY(${"x > INT64_MAX || " if type == "uint64_t" else ""}GUARD_FAILS())) EXIT();
    ${f"SET_D(c, {value})" if is_float and to == "S" else target + value};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor

% for name, type, locate, count in CONTAINERS[1:]:
% for value_mode in "RS":
% for mode, index in INDICES:
<%
is_float = type in ("float", "double")
value = ("d" if is_float else "r") if value_mode == "R" else ("SLOT_D(c)" if is_float else "SLOT_I(c)")
%>
<%isa:region name="RE_SET_${name.upper()}_${mode}_${value_mode}" operands="" cache="3" modes="${mode}${value_mode}" lowers="${set_lowers(name, mode, value_mode, 'D' if is_float else 'I')}" doc="Stores a raw ${'double' if is_float else 'int'} that fits into the ${called(name)} in home slot a, within bounds.">
    ${locate}
${bounds(index, count)}\
    const ${"double" if is_float else "int64_t"} x = ${value};
% if name == "bytearray":
    if (DV_UNLIKELY(!(${fits(type)}) || (from->header.references != 1 && !array->exports) || GUARD_FAILS())) EXIT();
    from->hash = -1;
% else:
    if (DV_UNLIKELY(${f"!({fits(type)}) || " if not is_float else ""}GUARD_FAILS())) EXIT();
% endif
    ((${type} *)(void *)from->data)[i] = (${type})x;
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% endfor

% for name, locate, count in (("BYTES", BYTES, "from->length"), ("BYTEARRAY", BYTEARRAY, "from->length"), ("ARRAY", ARRAY, "from->count")):
<%isa:region name="RE_LENGTH_${name}" operands="" cache="3" doc="Length of the ${name.lower()} in home slot a, to the int register.">
    ${locate}
    r = ${count};
    REGION_NEXT();
</%isa:region>
% endfor

% for name in ("BYTES", "BYTEARRAY"):
<%isa:region name="R_GUARD_${name}" operands="" cache="3" doc="Leaves unless home slot a holds a ${name.lower()}.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_${name}) || GUARD_FAILS())) EXIT();
    REGION_NEXT();
</%isa:region>
% endfor
<%isa:region name="R_GUARD_ARRAY" operands="" cache="3" doc="Leaves unless home slot a holds an array with elements of this kind (dv_element).">
    if (DV_UNLIKELY(!dv_is_array_of(HOME(a), (uint32_t)CELL(2).i) || GUARD_FAILS())) EXIT();
    REGION_NEXT();
</%isa:region>

## Objects of extensions.  The constant is what their buffer says of its dimensions: the number of indices, and
## DV_OTHER_ITEMS where items are objects like numbers.  A double beyond what float32 holds is for others to tell of.
<%def name="narrow(type, x)">\
    const ${type} y = (${type})${x};
% if type == "float":
    if (DV_UNLIKELY(isinf(y) && !isinf(${x}))) EXIT();
% endif
</%def>\
<%isa:region name="R_GUARD_NUMBERS" operands="" cache="3" doc="Leaves unless home slot a holds an object of an extension's type whose items, where they are not elements, are like numbers.">
    if (DV_UNLIKELY(!dv_numbers_of(vm, HOME(a)) || GUARD_FAILS())) EXIT();
    REGION_NEXT();
</%isa:region>
% for name, type in NUMBERS.items():
% for mode, index in (("S", "SLOT_I(b)"), ("R", "r")):
<%isa:region name="RX_GET_${name.upper()}_${mode}" operands="" cache="3" modes="${mode}" doc="Item of the object in home slot a, whose items are ${name} (guard), within bounds, to its register.">
    const dv_buffer *buffer = dv_buffer_of(vm, HOME(a));
    if (DV_UNLIKELY(!buffer || buffer->element != DV_${name.upper()} || buffer->dimensions != CELL(2).i || GUARD_FAILS())) EXIT();
    const char *at = dv_item_at(buffer, ${index});
    if (DV_UNLIKELY(!at)) EXIT();
    ${type} x;
    memcpy(&x, at, sizeof x);
% if name == "uint64":
    if (DV_UNLIKELY(x > INT64_MAX)) EXIT();
% endif
    ${"d = dv_element_double((double)x)" if "float" in name else "r = x != 0" if name == "truth" else "r = (int64_t)x"};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor

% for name, type in NUMBERS.items():
% for mode, index in (("S", "SLOT_I(b)"), ("R", "r")):
<%isa:region name="RX_SET_${name.upper()}_${mode}" operands="" cache="3" modes="${mode}" doc="Stores raw slot c, if it fits, into the object in home slot a, whose items are ${name} (guard), within bounds.">
    const dv_buffer *buffer = dv_buffer_of(vm, HOME(a));
    if (DV_UNLIKELY(!buffer || buffer->element != DV_${name.upper()} || buffer->dimensions != CELL(2).i || GUARD_FAILS())) EXIT();
    char *at = dv_item_at(buffer, ${index});
    if (DV_UNLIKELY(!at || buffer->read_only)) EXIT();
% if "float" in name:
${narrow(type, 'SLOT_D(c)')}\
% else:
    const int64_t x = SLOT_I(c);
    if (DV_UNLIKELY(!(${fits(type)}))) EXIT();
    const ${type} y = (${type})x;
% endif
    memcpy(at, &y, sizeof y);
    REGION_NEXT();
</%isa:region>
% endfor
% endfor

## Along two axes, m[i, j], or any number of them.
<%
ALONG = (("PAIR", "raw slots b and c", "two axes", "2", "dv_item_at_pair(buffer, SLOT_I(b), SLOT_I(c))"),
         ("ALL", "raw slot b and those behind it", "c axes", "ip[1].o.c", "dv_item_at_all(buffer, RANGE(b), ip[1].o.c)"))
%>
% for which, where, axes, n, place in ALONG:
% for name, type in NUMBERS.items():
<%isa:region name="RX_GET_${which}_${name.upper()}" operands="" cache="3" doc="Item at ${where} of the object in home slot a, whose items along ${axes} are ${name} (guard), within bounds, to its register.">
    const dv_buffer *buffer = dv_elements_along(vm, HOME(a), DV_${name.upper()}, ${n}, CELL(2).i);
    if (DV_UNLIKELY(!buffer || GUARD_FAILS())) EXIT();
    const char *at = ${place};
    if (DV_UNLIKELY(!at)) EXIT();
    ${type} x;
    memcpy(&x, at, sizeof x);
% if name == "uint64":
    if (DV_UNLIKELY(x > INT64_MAX)) EXIT();
% endif
    ${"d = dv_element_double((double)x)" if "float" in name else "r = x != 0" if name == "truth" else "r = (int64_t)x"};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% for which, where, axes, n, place in ALONG:
% for name, type in NUMBERS.items():
<%isa:region name="RX_SET_${which}_${name.upper()}" operands="" cache="3" doc="Stores its register, if that fits, at ${where} of the object in home slot a, whose items along ${axes} are ${name} (guard), within bounds.">
    const dv_buffer *buffer = dv_elements_along(vm, HOME(a), DV_${name.upper()}, ${n}, CELL(2).i);
    if (DV_UNLIKELY(!buffer || GUARD_FAILS())) EXIT();
    char *at = ${place};
    if (DV_UNLIKELY(!at || buffer->read_only)) EXIT();
% if "float" in name:
${narrow(type, 'd')}\
% else:
    const int64_t x = r;
    if (DV_UNLIKELY(!(${fits(type)}))) EXIT();
    const ${type} y = (${type})x;
% endif
    memcpy(at, &y, sizeof y);
    REGION_NEXT();
</%isa:region>
% endfor
% endfor

## Walks: FOR_ITER over a sequence, by its iterator in home slot a.  Where that is exhausted it is dropped behind the
## jump; who else has it must find it exhausted, and INCA code sees to that.
<%def name="walk(test, locate, count)">\
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_ITERATOR) || GUARD_FAILS())) EXIT();
    dv_iterator *walk = (dv_iterator *)dv_as_object(HOME(a));
    const dv_value whole = walk->sequence;
    if (DV_UNLIKELY(!(${test}))) EXIT();
    ${locate}
    if (DV_UNLIKELY(walk->next >= ${count})) {
        if (walk->header.references > 1) EXIT();
        ip = CELL(4).target;
        GO();
    }
</%def>
<%
ITEMS = (("I", "int", "dv_is_int(item)", "SLOT_I(b) = dv_as_int(item)"),
         ("D", "float", "dv_is_float(item)", "SET_D(b, dv_as_float(item))"),
         ("A", "item", "true", "HOME(b) = dv_retain(item)"))
%>
% for kind in ("LIST", "TUPLE"):
% for suffix, what, test, result in ITEMS:
<%isa:region name="RW_${kind}_${suffix}" operands="" cache="4" doc="Head of a loop over a ${kind.lower()} (guard) by the iterator in home slot a: next ${what} (guard) to slot b, or jumps when it is exhausted.">
${walk(f"dv_is_shape(whole, DV_T_{kind})", f"const dv_{kind.lower()} *from = dv_as_{kind.lower()}(whole);", "from->count")}\
    const dv_value item = from->items[walk->next];
    if (DV_UNLIKELY(!(${test}))) EXIT();
    walk->next++;
    ${result};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
## The same where there is no iterator.
% for kind in ("LIST", "TUPLE"):
% for suffix, what, test, result in ITEMS:
<%isa:region name="RW_WALK_${kind}_${suffix}" operands="" cache="4" doc="Head of a loop over the ${kind.lower()} (guard) in home slot a: the ${what} (guard) with the index in raw slot c to slot b, or jumps when there is none.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_${kind}) || GUARD_FAILS())) EXIT();
    const dv_${kind.lower()} *from = dv_as_${kind.lower()}(HOME(a));
    const int64_t next = SLOT_I(c);
    if (DV_UNLIKELY(next >= from->count)) {
        ip = CELL(4).target;
        GO();
    }
    const dv_value item = from->items[next];
    if (DV_UNLIKELY(!(${test}))) EXIT();
    SLOT_I(c) = next + 1;
    ${result};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
<%isa:region name="R_GUARD_SEQUENCE" operands="" cache="3" doc="Leaves unless home slot a holds a list or a tuple.">
    if (DV_UNLIKELY((!dv_is_shape(HOME(a), DV_T_LIST) && !dv_is_shape(HOME(a), DV_T_TUPLE)) || GUARD_FAILS())) EXIT();
    REGION_NEXT();
</%isa:region>
<%isa:region name="RW_BYTES_I" operands="" cache="4" doc="Head of a loop over a bytes or bytearray (guard) by the iterator in home slot a: next int to slot b, or jumps when it is exhausted.">
${walk("dv_is_shape(whole, DV_T_BYTES) || dv_is_shape(whole, DV_T_BYTEARRAY)", "const dv_str *from = dv_as_str(dv_is_shape(whole, DV_T_BYTES) ? whole : ((const dv_bytearray *)dv_as_object(whole))->bytes);", "from->length")}\
    SLOT_I(b) = (uint8_t)from->data[walk->next++];
    REGION_NEXT();
</%isa:region>
% for suffix, what in (("I", "int"), ("D", "float")):
<%isa:region name="RW_ARRAY_${suffix}" operands="" cache="4" doc="Head of a loop over an array of ${what}s of any kind (guard) by the iterator in home slot a: next one to slot b, or jumps when it is exhausted.">
${walk("dv_is_shape(whole, DV_T_ARRAY)", "const dv_array *from = dv_as_array(whole);", "from->count")}\
    ${"double" if suffix == "D" else "int64_t"} x;
    switch (from->element) {
% for name, type in ELEMENTS.items():
% if ("float" in name) == (suffix == "D"):
    case DV_${name.upper()}: x = (${"double" if suffix == "D" else "int64_t"})((const ${type} *)(const void *)from->data)[walk->next]; break;
% endif
% endfor
    default: EXIT();
    }
% if suffix == "I":
    if (DV_UNLIKELY(x < 0 && from->element == DV_UINT64)) EXIT();
    SLOT_I(b) = x;
% else:
    SET_D(b, dv_element_double(x));
% endif
    walk->next++;
    REGION_NEXT();
</%isa:region>
% endfor

% for suffix, type, element in (("I", "int64_t", "INT64"), ("D", "double", "FLOAT64")):
<%isa:region name="RW_BUFFER_${suffix}" operands="" cache="4" doc="Head of a loop over an object of an extension whose items are ${element.lower()} (guard) by the iterator in home slot a: next one to slot b, or jumps when it is exhausted.">
${walk(f"dv_has_items(vm, whole, DV_{element})", "const dv_buffer *from = dv_buffer_of(vm, whole);", "from->axes->count")}\
    const char *at = dv_item_at(from, walk->next);
    if (DV_UNLIKELY(!at)) EXIT();
    ${type} x;
    memcpy(&x, at, sizeof x);
    walk->next++;
    ${"SLOT_I(b) = x" if suffix == "I" else "SET_D(b, dv_element_double(x))"};
    REGION_NEXT();
</%isa:region>
% endfor

## Walks over pairs: FOR_ITER and the UNPACK_SEQUENCE behind it.  The iterator is in home slot a, the first item goes to
## slot b, the second one to slot c.  Nothing has moved where the types of items are others than expected.
<%def name="pair_ends(condition, alone)">\
    if (DV_UNLIKELY(${condition})) {
        if (${" || ".join(f"dv_as_object({x})->references > 1" for x in alone)}) EXIT();
        ip = CELL(4).target;
        GO();
    }
</%def>
<%
LISTED = """if (DV_UNLIKELY(!dv_is_shape({0}, DV_T_ITERATOR))) EXIT();
    dv_iterator *{1} = (dv_iterator *)dv_as_object({0});
    if (DV_UNLIKELY(!dv_is_shape({1}->sequence, DV_T_LIST))) EXIT();"""
def result(kind, slot, item):
    return {"I": f"SLOT_I({slot}) = dv_as_int({item})", "D": f"SET_D({slot}, dv_as_float({item}))",
            "A": f"HOME({slot}) = dv_retain({item})"}[kind]
def test(kind, item):
    return {"I": f"!dv_is_int({item})", "D": f"!dv_is_float({item})", "A": "false"}[kind]
KINDS = {"I": "an int", "D": "a float", "A": "an item"}
%>
% for which, whole in (("", "list"), ("TUPLE_", "tuple")):
% for kind in "IDA":
<%isa:region name="RW_ENUMERATE_${which}${kind}" operands="" cache="4" doc="Head of a loop over an enumerate of a ${whole} (guard) in home slot a: the number to raw slot b, ${KINDS[kind]} (guard) to slot c, or jumps when it is exhausted.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_ENUMERATE) || GUARD_FAILS())) EXIT();
    dv_enumerate *pairs = (dv_enumerate *)dv_as_object(HOME(a));
    ${LISTED.replace("LIST", whole.upper()).format("pairs->iterator", "walk")}
${pair_ends(f"walk->next >= dv_as_{whole}(walk->sequence)->count", ["HOME(a)", "pairs->iterator"])}\
    const dv_value number = pairs->number, item = dv_as_${whole}(walk->sequence)->items[walk->next];
    if (DV_UNLIKELY(!dv_is_int(number) || !dv_fits_int(dv_as_int(number) + 1) || ${test(kind, "item")})) EXIT();
    walk->next++;
    pairs->number = dv_int(dv_as_int(number) + 1);
    SLOT_I(b) = dv_as_int(number);
    ${result(kind, "c", "item")};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
<%isa:region name="RW_ENUMERATE_C" operands="" cache="4" doc="Head of a loop over an enumerate of a str of Latin-1 (guard) in home slot a: the number to raw slot b, the character to slot c, or jumps when it is exhausted.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_ENUMERATE) || GUARD_FAILS())) EXIT();
    dv_enumerate *pairs = (dv_enumerate *)dv_as_object(HOME(a));
    if (DV_UNLIKELY(!dv_is_shape(pairs->iterator, DV_T_ITERATOR))) EXIT();
    dv_iterator *walk = (dv_iterator *)dv_as_object(pairs->iterator);
    if (DV_UNLIKELY(!dv_is_shape(walk->sequence, DV_T_STR) || dv_as_str(walk->sequence)->kind != 1)) EXIT();
    const dv_str *from = dv_as_str(walk->sequence);
${pair_ends("walk->next >= from->length", ["HOME(a)", "pairs->iterator"])}\
    const dv_value number = pairs->number;
    if (DV_UNLIKELY(!dv_is_int(number) || !dv_fits_int(dv_as_int(number) + 1))) EXIT();
    SLOT_I(c) = (uint8_t)from->data[walk->next++];
    pairs->number = dv_int(dv_as_int(number) + 1);
    SLOT_I(b) = dv_as_int(number);
    REGION_NEXT();
</%isa:region>
% for one in "IDA":
% for two in "IDA":
<%isa:region name="RW_ZIP_${one}${two}" operands="" cache="4" doc="Head of a loop over a zip of two lists (guard) in home slot a: ${KINDS[one]} (guard) to slot b and ${KINDS[two]} (guard) to slot c, or jumps when the first list is exhausted.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_ZIP) || GUARD_FAILS())) EXIT();
    dv_many *zip = (dv_many *)dv_as_object(HOME(a));
    if (DV_UNLIKELY(zip->count != 2 || zip->strict || !dv_is_empty(zip->function))) EXIT();
    ${LISTED.format("zip->iterators[0]", "first")}
    ${LISTED.format("zip->iterators[1]", "second")}
    if (DV_UNLIKELY(first == second)) EXIT();
${pair_ends("first->next >= dv_as_list(first->sequence)->count", ["HOME(a)", "zip->iterators[0]", "zip->iterators[1]"])}\
    if (DV_UNLIKELY(second->next >= dv_as_list(second->sequence)->count)) EXIT();
    const dv_value x = dv_list_walk_item(first), y = dv_list_walk_item(second);
    if (DV_UNLIKELY(${test(one, "x")} || ${test(two, "y")})) EXIT();
    first->next++;
    second->next++;
    ${result(one, "b", "x")};
    ${result(two, "c", "y")};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
## Of a dict's iterator: what is deleted has been passed over.
<%def name="dict_walk(part)">\
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_DICT_ITERATOR) || GUARD_FAILS())) EXIT();
    dv_dict_iterator *walk = (dv_dict_iterator *)dv_as_object(HOME(a));
    if (DV_UNLIKELY(walk->part != DV_DICT_${part} || walk->backward || dv_is_empty(walk->dict))) EXIT();
    const dv_dict *dict = dv_as_dict(walk->dict);
    if (DV_UNLIKELY(walk->count != dict->count)) EXIT();
    while (walk->position < dict->used && dv_is_empty(dict->entries[walk->position].key)) walk->position++; /* deleted */
${pair_ends("walk->position >= dict->used", ["HOME(a)"])}\
    const dv_dict_entry *entry = &dict->entries[walk->position];
    if (DV_UNLIKELY(walk->remaining <= 0)) EXIT();
</%def>
% for one in "IDA":
% for two in "IDA":
<%isa:region name="RW_ITEMS_${one}${two}" operands="" cache="4" doc="Head of a loop over the items of a dict by the iterator (guard) in home slot a: ${KINDS[one]} (guard) to slot b and ${KINDS[two]} (guard) to slot c, or jumps when it is exhausted.">
${dict_walk("ITEMS")}\
    if (DV_UNLIKELY(${test(one, "entry->key")} || ${test(two, "entry->value")})) EXIT();
    walk->position++;
    walk->remaining--;
    ${result(one, "b", "entry->key")};
    ${result(two, "c", "entry->value")};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% for one in "IDA":
% for two in "IDA":
<%isa:region name="RW_ROWS_${one}${two}" operands="" cache="4" doc="Head of a loop over a list of tuples of two (guards) by the iterator in home slot a: ${KINDS[one]} (guard) to slot b and ${KINDS[two]} (guard) to slot c, or jumps when it is exhausted.">
${walk("dv_is_shape(whole, DV_T_LIST)", "const dv_list *from = dv_as_list(whole);", "from->count")}\
    const dv_value row = from->items[walk->next];
    if (DV_UNLIKELY(!dv_is_shape(row, DV_T_TUPLE) || dv_as_tuple(row)->count != 2)) EXIT();
    const dv_value x = dv_as_tuple(row)->items[0], y = dv_as_tuple(row)->items[1];
    if (DV_UNLIKELY(${test(one, "x")} || ${test(two, "y")})) EXIT();
    walk->next++;
    ${result(one, "b", "x")};
    ${result(two, "c", "y")};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor

## Walks over three items or more: whether there are b of them, the numbers, the objects, the step.  Nothing has moved
## until all guards have held; those behind the first instruction rely on it.
<%isa:region name="RW_LONG_ROWS" operands="" cache="4" doc="Head of a loop over a list of tuples of b items (guards) by the iterator in home slot a: jumps when it is exhausted.">
${walk("dv_is_shape(whole, DV_T_LIST)", "const dv_list *from = dv_as_list(whole);", "from->count")}\
    if (DV_UNLIKELY(!dv_row_walk(HOME(a), ip[1].o.b))) EXIT();
    REGION_NEXT();
</%isa:region>
<%isa:region name="RW_LONG_ZIP" operands="" cache="4" doc="Head of a loop over a zip of b lists (guards) in home slot a: jumps when the first list is exhausted.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_ZIP) || GUARD_FAILS())) EXIT();
    const dv_many *zip = dv_as_many(HOME(a));
    if (DV_UNLIKELY(!dv_zip_walks_lists(zip, ip[1].o.b))) {
        if (zip->strict || zip->count != (uint32_t)ip[1].o.b || !dv_is_empty(zip->function)) EXIT();
        ${LISTED.format("zip->iterators[0]", "first")}
${pair_ends("first->next >= dv_as_list(first->sequence)->count", ["HOME(a)", "zip->iterators[0]"])}\
        EXIT();
    }
    REGION_NEXT();
</%isa:region>
% for name, take, step in (("ROWS", "dv_row_walk(HOME(a), ip[1].o.d)->items[ip[1].o.c]", "((dv_iterator *)dv_as_object(HOME(a)))->next++"), ("ZIP", "dv_zip_item(dv_as_many(HOME(a)), ip[1].o.c)", "dv_zip_advance(dv_as_many(HOME(a)), ip[1].o.b)")):
% for kind in "IDA":
<%isa:region name="RW_LONG_${name}_${kind}" operands="" cache="3" doc="Item c of those that RW_LONG_${name} has found to slot b: ${KINDS[kind]}${' (guard)' if kind != 'A' else ''}.">
    const dv_value item = ${take.replace("dv_row_walk(HOME(a), ip[1].o.d)", "dv_as_row(HOME(a))")};
% if kind != "A":
    if (DV_UNLIKELY(${test(kind, "item")} || GUARD_FAILS())) EXIT();
% endif
    ${result(kind, "b", "item")};
    REGION_NEXT();
</%isa:region>
% endfor
<%isa:region name="RW_LONG_${name}_STEP" operands="" cache="1" doc="The b items that RW_LONG_${name} has found in home slot a have been taken.">
    ${step.replace("((dv_iterator *)dv_as_object(HOME(a)))", "dv_as_walk(HOME(a))")};
    REGION_NEXT();
</%isa:region>
% endfor

## Walks by iterators of other types than dv_iterator.  Nothing has moved where the item is of another type than expected.
% for part, field in (("KEYS", "key"), ("VALUES", "value")):
% for kind in "IDA":
<%isa:region name="RW_${part}_${kind}" operands="" cache="4" doc="Head of a loop over the ${part.lower()} of a dict by the iterator (guard) in home slot a: ${KINDS[kind]} (guard) to slot b, or jumps when it is exhausted.">
${dict_walk(part)}\
    const dv_value item = entry->${field};
    if (DV_UNLIKELY(${test(kind, "item")})) EXIT();
    walk->position++;
    walk->remaining--;
    ${result(kind, "b", "item")};
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% for kind in "IDA":
<%isa:region name="RW_SET_${kind}" operands="" cache="4" doc="Head of a loop over a set by the iterator (guard) in home slot a: ${KINDS[kind]} (guard) to slot b, or jumps when it is exhausted.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_SET_ITERATOR) || GUARD_FAILS())) EXIT();
    dv_set_iterator *walk = (dv_set_iterator *)dv_as_object(HOME(a));
    if (DV_UNLIKELY(dv_is_empty(walk->set) || walk->used != dv_as_set(walk->set)->used)) EXIT();
    uint64_t position = walk->position;
    const dv_set_entry *entry = dv_set_walk(walk->set, &position);
${pair_ends("!entry", ["HOME(a)"])}\
    const dv_value item = entry->key;
    if (DV_UNLIKELY(${test(kind, "item")})) EXIT();
    dv_set_iterator_advance(vm, walk, position);
    ${result(kind, "b", "item")};
    REGION_NEXT();
</%isa:region>
% endfor
% for kind in "IDA":
<%isa:region name="RW_REVERSED_${kind}" operands="" cache="4" doc="Head of a loop over a reversed list by the iterator (guard) in home slot a: ${KINDS[kind]} (guard) to slot b, or jumps when it is exhausted.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_REVERSED) || GUARD_FAILS())) EXIT();
    dv_pair_iterator *walk = (dv_pair_iterator *)dv_as_object(HOME(a));
    if (DV_UNLIKELY(!dv_is_shape(walk->first, DV_T_LIST))) EXIT();
${pair_ends("walk->next < 0", ["HOME(a)"])}\
    const dv_value *next = dv_list_reversed_item(walk);
    if (DV_UNLIKELY(!next)) EXIT(); /* the list is shorter now */
    const dv_value item = *next;
    if (DV_UNLIKELY(${test(kind, "item")})) EXIT();
    walk->next--;
    ${result(kind, "b", "item")};
    REGION_NEXT();
</%isa:region>
% endfor
<%isa:region name="RW_STR_C" operands="" cache="4" doc="Head of a loop over a str of Latin-1 (guard) by the iterator in home slot a: the next character to raw slot b, or jumps when it is exhausted.">
${walk("dv_is_shape(whole, DV_T_STR) && dv_as_str(whole)->kind == 1", "const dv_str *from = dv_as_str(whole);", "from->length")}\
    SLOT_I(b) = (uint8_t)from->data[walk->next++];
    REGION_NEXT();
</%isa:region>
<%isa:region name="RW_STR_A" operands="" cache="4" doc="Head of a loop over a str (guard) by the iterator in home slot a: the next character to home slot b, or jumps when it is exhausted.">
${walk("dv_is_shape(whole, DV_T_STR)", "const dv_str *from = dv_as_str(whole);", "from->length")}\
    const uint32_t c = dv_str_at(from, walk->next);
    if (DV_UNLIKELY(c >= DV_STR_CHARS || !vm->interned || !vm->interned[c])) SLOW();
    walk->next++;
    vm->interned[c]->references++;
    HOME(b) = dv_object_value(vm->interned[c]);
    REGION_NEXT();
    --- out of line ---
    dv_iterator *walk = (dv_iterator *)dv_as_object(HOME(a));
    PUBLISH_AT(d);
    const dv_value item = dv_str_char(vm, dv_str_at(dv_as_str(walk->sequence), walk->next));
    if (dv_is_empty(item)) RAISE();
    walk->next++;
    HOME(b) = item;
    REGION_NEXT();
</%isa:region>
