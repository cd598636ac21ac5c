## region_text.mako: strs and their characters.
##
## A raw character is one of Latin-1, as its number.  Strs that have others are known by their width (dv_str.kind), and
## leave.  Modes as in region_number.mako; vm/region/step/text.c chooses.
<%
INDICES = (("S", "SLOT_I(b)"), ("K", "CELL(2).i"), ("R", "r"))
%>
<%def name="narrow(slot)">\
    const dv_str *from = dv_as_text(HOME(${slot}));
    if (DV_UNLIKELY(from->kind != 1 || GUARD_FAILS())) EXIT();
</%def>
<%isa:region name="R_GUARD_STR" operands="" cache="3" doc="Leaves unless home slot a holds a str.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_STR) || GUARD_FAILS())) EXIT();
    REGION_NEXT();
</%isa:region>
% for mode, index in INDICES:
% for to in "RS":
<%isa:region name="RS_CHAR_${mode}_${to}" operands="" cache="3" modes="${mode}${to}" doc="Character of the str in home slot a, of Latin-1 (guard), within bounds.">
${narrow("a")}\
    int64_t i = ${index};
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)from->length)) {
        if (i >= 0 || (i += from->length) < 0) EXIT();
    }
    ${"r =" if to == "R" else "SLOT_I(c) ="} (uint8_t)from->data[i];
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% for mode, what, more, add, room in (("S", "the raw character in slot b", "dv_str_char(vm, (uint8_t)SLOT_I(b))", 1, 1), ("K", "a constant str", "dv_retain(CELL(2).v)", "added->length", "DV_STR_WORD")):
<%isa:region name="RS_APPEND_${mode}" operands="" cache="3" modes="${mode}" doc="Appends ${what} to the str in home slot a (guard); in place, where nobody else has it.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_STR) || GUARD_FAILS())) EXIT();
    dv_str *text = (dv_str *)dv_as_object(HOME(a));
% if mode == "K":
    const dv_str *added = dv_as_text(CELL(2).v);
    if (added->kind != 1 || added->length > DV_STR_WORD) SLOW();
% endif
    if (text->header.references != 1 || text->interned || text->length == 0 || text->kind != 1 || (size_t)text->length + ${room} > text->capacity) SLOW();
    ${"text->data[text->length] = (char)SLOT_I(b);" if mode == "S" else "memcpy(text->data + text->length, added->data, DV_STR_WORD);"}
    text->length += ${add};
    text->hash = -1;
    REGION_NEXT();
    --- out of line ---
    PUBLISH_AT(d);
    const dv_value added = ${more};
    const dv_value grown = dv_is_empty(added) ? added : dv_str_extend(vm, HOME(a), added);
    dv_release_outer(vm, added);
    if (dv_is_empty(grown)) RAISE();
    dv_release_outer(vm, HOME(a));
    HOME(a) = grown;
    REGION_NEXT();
</%isa:region>
% endfor
<%isa:region name="RS_LENGTH" operands="" cache="3" doc="Length of the str in home slot a, to the int register.">
    r = dv_as_text(HOME(a))->length;
    REGION_NEXT();
</%isa:region>
<%isa:region name="RS_ORD" operands="" cache="3" doc="Number of the character that the str in home slot a is (guards), to the int register.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_STR) || dv_as_text(HOME(a))->length != 1 || GUARD_FAILS())) EXIT();
    r = dv_str_at(dv_as_text(HOME(a)), 0);
    REGION_NEXT();
</%isa:region>
<%isa:region name="RS_CHR" operands="" cache="3" doc="The int register as a character; leaves where that is none of Latin-1.">
    if (DV_UNLIKELY((uint64_t)r > UINT8_MAX || GUARD_FAILS())) EXIT();
    REGION_NEXT();
</%isa:region>
<%isa:region name="RS_KIND" operands="" cache="3" doc="Whether the character in the register has one of the properties in the instruction, to the register.">
    r = (dv_unicode_latin[(uint8_t)r] & CELL(2).i) != 0;
    REGION_NEXT();
</%isa:region>
% for name, sign in (("EQ", "=="), ("NE", "!=")):
<%isa:region name="RS_${name}_CHAR" operands="" cache="3" doc="Whether the str in home slot a (guard) ${sign} the character in the register, to the register.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_STR) || GUARD_FAILS())) EXIT();
    const dv_str *from = dv_as_text(HOME(a));
    r = (from->length == 1 && dv_str_at(from, 0) == (uint32_t)r) ${sign} true;
    REGION_NEXT();
</%isa:region>
% for mode, other, guard in (("S", "HOME(b)", " || !dv_is_shape(HOME(b), DV_T_STR)"), ("K", "CELL(2).v", "")):
<%isa:region name="RS_${name}_S${mode}" operands="" cache="3" doc="Whether the str in home slot a ${sign} ${'that in b' if mode == 'S' else 'a constant'} (guards), to the register.">
    if (DV_UNLIKELY(!dv_is_shape(HOME(a), DV_T_STR)${guard} || GUARD_FAILS())) EXIT();
    const dv_str *const x = dv_as_text(HOME(a)), *const y = dv_as_text(${other});
    if (x != y && x->length == y->length && x->kind == y->kind && !(x->interned && y->interned)) SLOW();
    r = (x == y) ${sign} true;
    REGION_NEXT();
    --- out of line ---
    r = dv_str_equal_counted(vm, HOME(a), ${other}) ${sign} true;
    REGION_NEXT();
</%isa:region>
% endfor
% endfor
% for mode, text, guard in (("S", "HOME(a)", "!dv_is_shape(HOME(a), DV_T_STR) || "), ("K", "CELL(2).v", "")):
<%isa:region name="RS_IN_${mode}" operands="" cache="3" doc="Whether the character in the register is in ${'the str in home slot a' if mode == 'S' else 'a constant str'} of Latin-1 (guard), to the register.">
    if (DV_UNLIKELY(${guard}dv_as_text(${text})->kind != 1 || GUARD_FAILS())) EXIT();
    const dv_str *from = dv_as_text(${text});
    if (from->length > DV_KEY_SHORT) SLOW();
    r = dv_text_has(from->data, (size_t)from->length, (char)r);
    REGION_NEXT();
    --- out of line ---
    r = memchr(dv_as_text(${text})->data, (int)r, (size_t)dv_as_text(${text})->length) != NULL;
    REGION_NEXT();
</%isa:region>
% endfor
<%isa:region name="RS_IN_ITEMS" operands="" cache="3" doc="Whether the character in the register is an item of a constant tuple of such, to the register.">
    const dv_tuple *from = dv_as_tuple(CELL(2).v);
    int64_t i = 0;
    while (i < from->count && (uint8_t)dv_as_text(from->items[i])->data[0] != r) i++;
    r = i < from->count;
    REGION_NEXT();
</%isa:region>
