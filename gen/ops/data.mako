## data.mako: subscripts, slices, attributes, displays, formatting.

<%isa:op name="LOAD_SUBSCR" open="yes" region="dv_step_load_subscript" operands="own" stack="container index -- r" calls_out="yes" kills="all" select="dv_choose_subscript" doc="container[index].">
    const dv_value result = dv_get_item(vm, container, index);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE2(SITE.own, container, index);
    DONE(result);
</%isa:op>

% for kind, struct, count in (("list", "dv_list", "count"), ("tuple", "dv_tuple", "count")):
<%isa:derivative name="LOAD_SUBSCR_${kind.upper()}" of="LOAD_SUBSCR" types="${kind} int" fuses="SL SC LL LC" doc="container[index] of a ${kind} with an int within its bounds.">
    const ${struct} *sequence = (const ${struct} *)dv_as_object(container);
    int64_t i = dv_as_int(index);
    if (i < 0) i += sequence->${count};
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)sequence->${count})) MISS();
    DONE_RELEASING(dv_retain(sequence->items[i]), SITE.own & 1, container);
</%isa:derivative>
% endfor

<%isa:derivative name="LOAD_SUBSCR_STR" promises="typed" of="LOAD_SUBSCR" types="str int" result="str" fuses="SL SC LL LC" doc="container[index] of a str with an int within its bounds.">
    const dv_str *s = (const dv_str *)dv_as_object(container);
    int64_t i = dv_as_int(index);
    if (i < 0) i += s->length;
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)s->length)) MISS();
    const uint32_t c = dv_str_at(s, i);
    if (DV_UNLIKELY(c >= DV_STR_CHARS || !vm->interned || !vm->interned[c])) SLOW();
    DONE_RELEASING(dv_retain(dv_object_value(vm->interned[c])), SITE.own & 1, container);
    --- out of line ---
    const dv_str *s = (const dv_str *)dv_as_object(container);
    int64_t i = dv_as_int(index);
    if (i < 0) i += s->length;
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value result = dv_str_char(vm, dv_str_at(s, i));
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE1(own, container);
    DONE(result);
</%isa:derivative>

<%isa:derivative name="LOAD_SUBSCR_BYTES" of="LOAD_SUBSCR" types="bytes int" result="int" fuses="SL SC LL LC" doc="container[index] of a bytes with an int within its bounds.">
    const dv_str *bytes = dv_as_str(container);
    int64_t i = dv_as_int(index);
    if (i < 0) i += bytes->length;
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)bytes->length)) MISS();
    DONE_RELEASING(dv_int((uint8_t)bytes->data[i]), SITE.own & 1, container);
</%isa:derivative>

% for form, of, what in (("LOAD_SUBSCR_DL", "instance", "an instance"), ("LOAD_SUBSCR_DERIVED_DL", "derived", "an instance of a class that derives from a built-in type,")):
<%isa:derivative name="${form}" of="LOAD_SUBSCR" types="${of} any" doc="container[index] of ${what} whose class has __getitem__ in dl: enters its frame.">
    dv_function *method = dv_operate_method(vm, container, vm->known.getitem, sp);
    const uint64_t how = DV_OPERATE_HOW(DV_OPERATE_ITEM, 0, SITE.own);
    if (DV_UNLIKELY(!method)) MISS();
    OPERATE(method, container, index, how);
</%isa:derivative>
% endfor

<%def name="load_of_dict()">\
    PUBLISH();
    const int64_t number = dv_dict_text_entry(vm, dv_as_dict(container), index);
    const dv_value found = number >= 0 ? dv_as_dict(container)->entries[number].value : dv_dict_get(vm, container, index);
    if (DV_UNLIKELY(dv_is_empty(found))) { /* not to be asked for again: __eq__ of a key may have been called */
        if (dv_is_empty(vm->error)) dv_raise_value(vm, DV_E_KEY_ERROR, index);
        RAISE();
    }
    const uint8_t own = SITE.own;
    dv_retain(found);
    DISPOSE1(own, container);
    DONE_RELEASING(found, own & 2, index);
</%def>\
<%isa:derivative name="LOAD_SUBSCR_DICT" promises="boxed" of="LOAD_SUBSCR" types="dict any" fuses="LL LC" doc="container[index] of a dict.">
    const uint8_t own = SITE.own;
    const dv_dict_entry *entry = dv_dict_first_entry(vm, dv_as_dict(container), index);
    if (!entry || (own & 1 && dv_as_object(container)->references == 1)) SLOW();
    const dv_value found = dv_retain(entry->value);
    dv_as_object(container)->references -= own & 1;
    if (own & 2 && dv_is_object(index)) dv_as_object(index)->references--; /* the dict's key lives on */
    DONE(found);
    --- out of line ---
${load_of_dict()}\
</%isa:derivative>

<%isa:derivative name="LOAD_SUBSCR_DICT_TEXT" promises="boxed" of="LOAD_SUBSCR" types="dict str" fuses="LL LC" doc="container[index] of a dict with a str, which may stand there as another str of its text, and behind other keys.">
    const uint8_t own = SITE.own;
    const int64_t number = dv_dict_plain_entry(vm, dv_as_dict(container), index);
    if (number < 0 || (own & 1 && dv_as_object(container)->references == 1)) SLOW();
    const dv_value found = dv_retain(dv_as_dict(container)->entries[number].value);
    dv_as_object(container)->references -= own & 1;
    DONE_RELEASING(found, own & 2, index);
    --- out of line ---
${load_of_dict()}\
</%isa:derivative>

<%isa:derivative name="LOAD_SUBSCR_DERIVED" of="LOAD_SUBSCR" doc="container[index] of an instance whose class leaves __getitem__ to the built-in type that it derives from.">
    const uint8_t own = SITE.own;
    if (dv_is_shape(index, DV_T_TUPLE) || !dv_operate_leaves(vm, container, DV_T_DICT, DV_LEFT_GETITEM) || (own & 1 && dv_as_object(container)->references == 1)) SLOW();
    const int64_t number = dv_dict_known_entry(vm, dv_as_dict(container), index);
    if (number < 0) SLOW();
    const dv_value found = dv_retain(dv_as_dict(container)->entries[number].value);
    dv_as_object(container)->references -= own & 1;
    DONE_RELEASING(found, own & 2, index);
    --- out of line ---
    const dv_type *base = dv_operate_base(vm, container, vm->known.getitem);
    if (DV_UNLIKELY(!base || !base->get_item || GUARD_FAILS())) MISS();
    dv_operate_note_left(vm, container, DV_LEFT_GETITEM);
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value result = base->get_item(vm, container, index);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE2(own, container, index);
    DONE(result);
</%isa:derivative>

<%isa:derivative name="LOAD_SUBSCR_TYPE" of="LOAD_SUBSCR" doc="container[index] of an object of another built-in type: its C function is asked at once.">
    SLOW();
    --- out of line ---
    const dv_type *type = dv_operate_type(vm, container);
    if (DV_UNLIKELY(!type || !type->get_item || (dv_is_int(index) && type->id <= DV_T_LIST) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value result = type->get_item(vm, container, index);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE2(own, container, index);
    DONE(result);
</%isa:derivative>

<%isa:op name="STORE_SUBSCR" open="yes" region="dv_step_store_subscript" operands="own" stack="value container index --" calls_out="yes" kills="all" select="dv_choose_store_subscript" doc="container[index] = value.">
    const uint8_t own = SITE.own;
    if (DV_UNLIKELY(!dv_set_item(vm, container, index, value))) RAISE();
    DISPOSE1(own, value);
    DISPOSE2(own >> 1, container, index);
    DONE0();
</%isa:op>

<%isa:derivative name="STORE_SUBSCR_LIST" promises="stored" of="STORE_SUBSCR" types="any list int" fuses="SLL SLC" doc="container[index] = value of a list with an int within its bounds.">
    dv_list *list = (dv_list *)dv_as_object(container);
    int64_t i = dv_as_int(index);
    if (i < 0) i += list->count;
    if (DV_UNLIKELY((uint64_t)i >= (uint64_t)list->count)) MISS();
    const uint8_t own = SITE.own;
    const dv_value old = list->items[i];
    if (DV_UNLIKELY(own & 2 && (list->header.references == 1 || dv_ends_loudly(vm, old)))) MISS(); /* it would, or could, die here */
    if (!(own & 1)) dv_retain(value);
    list->items[i] = value;
    list->header.references -= own >> 1 & 1;
    sp -= IN;
    NEXT_RELEASING(old);
</%isa:derivative>

<%isa:derivative name="STORE_SUBSCR_DICT" promises="boxed" of="STORE_SUBSCR" types="any dict any" doc="container[index] = value of a dict.">
    const uint8_t own = SITE.own;
    const int64_t number = dv_dict_plain_entry(vm, dv_as_dict(container), index);
    if (number < 0 || (own & 2 && dv_as_object(container)->references == 1)) SLOW();
    dv_dict_entry *entry = &dv_as_dict(container)->entries[number];
    const dv_value old = entry->value;
    if (own & 6 && dv_ends_loudly(vm, old)) SLOW();
    if (own & 4 && dv_is_object(index)) {
        if (dv_as_object(index)->references == 1) SLOW(); /* it dies */
        dv_as_object(index)->references--;
    }
    if (!(own & 1)) dv_retain(value);
    entry->value = value;
    dv_as_object(container)->references -= own >> 1 & 1;
    sp -= IN;
    NEXT_RELEASING(old);
    --- out of line ---
    const uint8_t own = SITE.own;
    PUBLISH();
    if (DV_UNLIKELY(!dv_dict_set(vm, container, index, value))) RAISE();
    DISPOSE2(own, value, container);
    sp -= IN;
    if (own & 4) NEXT_RELEASING(index);
    NEXT();
</%isa:derivative>

% for form, of, what in (("STORE_SUBSCR_DL", "instance", "an instance"), ("STORE_SUBSCR_DERIVED_DL", "derived", "an instance of a class that derives from a built-in type,")):
<%isa:derivative name="${form}" of="STORE_SUBSCR" types="any ${of} any" doc="container[index] = value of ${what} whose class has __setitem__ in dl: enters its frame.">
    dv_function *method = dv_operate_enters(vm, dv_operate_known(vm, container, vm->known.setitem), 3, sp);
    if (DV_UNLIKELY(!method)) MISS();
    OPERATE3(method, container, index, value, DV_OPERATE_HOW(DV_OPERATE_STORE, 0, SITE.own));
</%isa:derivative>
% endfor

<%isa:derivative name="STORE_SUBSCR_DERIVED" of="STORE_SUBSCR" doc="container[index] = value of an instance whose class leaves __setitem__ to the built-in type that it derives from.">
    const dv_type *base = dv_operate_base(vm, container, vm->known.setitem);
    if (DV_UNLIKELY(!base || !base->set_item || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    PUBLISH();
    if (DV_UNLIKELY(!base->set_item(vm, container, index, value))) RAISE();
    DISPOSE1(own, value);
    DISPOSE2(own >> 1, container, index);
    DONE0();
</%isa:derivative>

<%isa:derivative name="STORE_SUBSCR_TYPE" of="STORE_SUBSCR" doc="container[index] = value of an object of another built-in type: its C function is asked at once.">
    SLOW();
    --- out of line ---
    const dv_type *type = dv_operate_type(vm, container);
    if (DV_UNLIKELY(!type || !type->set_item || (dv_is_int(index) && type->id == DV_T_LIST) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    PUBLISH();
    if (DV_UNLIKELY(!type->set_item(vm, container, index, value))) RAISE();
    DISPOSE1(own, value);
    DISPOSE2(own >> 1, container, index);
    DONE0();
</%isa:derivative>

<%isa:op name="DELETE_SUBSCR" region="embeds" operands="own" stack="container index --" calls_out="yes" kills="all" doc="del container[index].">
    const uint8_t own = SITE.own;
    if (!dv_set_item(vm, container, index, DV_EMPTY)) RAISE();
    DISPOSE2(own, container, index);
    DONE0();
</%isa:op>

<%isa:derivative name="DELETE_SUBSCR_DICT" of="DELETE_SUBSCR" types="dict any" doc="del container[index] of a dict.">
    const uint8_t own = SITE.own;
    PUBLISH();
    if (DV_UNLIKELY(!vm->types[DV_T_DICT]->set_item(vm, container, index, DV_EMPTY))) RAISE();
    DISPOSE2(own, container, index);
    DONE0();
</%isa:derivative>

<%isa:derivative name="DELETE_SUBSCR_LIST" of="DELETE_SUBSCR" types="list any" doc="del container[index] of a list.">
    const uint8_t own = SITE.own;
    PUBLISH();
    if (DV_UNLIKELY(!vm->types[DV_T_LIST]->set_item(vm, container, index, DV_EMPTY))) RAISE();
    DISPOSE2(own, container, index);
    DONE0();
</%isa:derivative>

<%isa:derivative name="DELETE_SUBSCR_DL" of="DELETE_SUBSCR" types="instance any" doc="del container[index] of an instance whose class has __delitem__ in dl: enters its frame.">
    dv_function *method = dv_operate_enters(vm, dv_operate_known(vm, container, vm->known.delitem), 2, sp);
    if (DV_UNLIKELY(!method)) MISS();
    OPERATE(method, container, index, DV_OPERATE_HOW(DV_OPERATE_DELETE, 0, SITE.own));
</%isa:derivative>

<%isa:op name="BUILD_SLICE" region="dv_step_build_slice" operands="count" site="yes" variable="build" stack="parts -- r" calls_out="yes" select="dv_choose_slice" doc="Makes a slice of 2 or 3 parts.">
    const int64_t n = CELL(2).i;
    const dv_value *parts = sp - n;
    const dv_value result = dv_slice_new(vm, parts[0], parts[1], n == 3 ? parts[2] : DV_NONE);
    if (dv_is_empty(result)) RAISE();
    for (int64_t i = 0; i < n; i++) dv_release_outer(vm, parts[i]);
    sp -= n - 1;
    sp[-1] = result;
    NEXT();
</%isa:op>

## With the subscript behind it, which gets None in the slice's place where it fails: the state that it expects.
% for family, use in (("LOAD_SUBSCR", "container[slice]"), ("STORE_SUBSCR", "container[slice] = value"), ("DELETE_SUBSCR", "del container[slice]")):
<%isa:derivative name="BUILD_SLICE_${family}" of="BUILD_SLICE" covers="${family}" doc="BUILD_SLICE of ints and None, and the ${family} behind it, of a built-in sequence, without the slice.">
    const int64_t n = CELL(2).i;
    const dv_value *parts = sp - n, container = parts[-1], step = n == 3 ? parts[2] : DV_NONE;
    const bool plain = dv_is_index_part(parts[0]) && dv_is_index_part(parts[1]) && dv_is_index_part(step);
    if (DV_UNLIKELY(!plain || !dv_slice_suits(container) || GUARD_FAILS())) MISS();
    const dv_value start = parts[0], stop = parts[1];
    sp -= n - 1;
    sp[-1] = DV_NONE;
    ip += LEN;
    const uint8_t own = SITE.own;
    PUBLISH();
% if family == "LOAD_SUBSCR":
    const dv_value result = dv_slice_load(vm, container, start, stop, step);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    if (own & 1) dv_release_outer(vm, container);
    sp--;
    sp[-1] = result;
% elif family == "STORE_SUBSCR":
    const dv_value value = sp[-3];
    if (DV_UNLIKELY(!dv_slice_store(vm, container, start, stop, step, value))) RAISE();
    DISPOSE2(own, value, container);
    sp -= 3;
% else:
    if (DV_UNLIKELY(!dv_slice_store(vm, container, start, stop, step, DV_EMPTY))) RAISE();
    DISPOSE1(own, container);
    sp -= 2;
% endif
    JUMP(ip + 2);
</%isa:derivative>

% endfor
<%isa:op name="LOAD_ATTR" open="yes" region="dv_step_load_attribute" operands="name own" cache="2" stack="object -- r" calls_out="yes" kills="all" select="dv_choose_attribute" doc="object.name.">
    const uint8_t own = SITE.own;
    const dv_value result = dv_get_attribute(vm, object, CELL(2).v);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE1(own, object);
    DONE(result);
</%isa:op>

<%isa:derivative name="LOAD_ATTR_SLOT" saw="slot" promises="seen" several="LOAD_ATTR_POLY" of="LOAD_ATTR" cache="shape/offset" fuses="L" doc="object.name of an instance whose shape has the name in a slot within the object.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    DONE_RELEASING(dv_retain(*(dv_value *)(void *)((char *)dv_as_object(object) + CACHED(offset))), SITE.own & 1, object);
</%isa:derivative>

## What L_LOAD_ATTR_SLOT is threaded as where more of its kind is behind it (quicken/fuse.c).
<%isa:derivative name="LOAD_ATTR_SLOT_TWICE" promises="seen" of="LOAD_ATTR" variant_of="LOAD_ATTR_SLOT" behind="LOAD_LOCAL_B LOAD_ATTR" cache="shape/offset" fuses="only L" doc="LOAD_ATTR_SLOT, with an attribute of a local behind it: loads that too, if it is an L_LOAD_ATTR_SLOT.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_value first = dv_retain(*(dv_value *)(void *)((char *)dv_as_object(object) + CACHED(offset)));
    if (SITE.own & 1) DONE_RELEASING(first, true, object);
    OP(L_LOAD_ATTR_SLOT);
    sp += OUT - IN;
    sp[-1] = first;
    ip += LEN;
    if (DV_LIKELY(ip->h == DV_H(L_LOAD_ATTR_SLOT))) {
        const dv_value other = LOCAL(1);
        const dv_cell *load = ip + 2; /* behind LOAD_LOCAL_B */
        if (DV_LIKELY(dv_is_object(other) && dv_as_object(other)->shape == CACHED(shape, load))) {
            *sp++ = dv_retain(*(dv_value *)(void *)((char *)dv_as_object(other) + CACHED(offset, load)));
            ip += 2 + LEN;
        }
    }
    DEAD();
    GO();
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_SLOT_CHAIN" promises="seen" of="LOAD_ATTR" variant_of="LOAD_ATTR_SLOT" behind="LOAD_ATTR" cache="shape/offset" fuses="only L" doc="LOAD_ATTR_SLOT, with an attribute of what it loads behind it: loads that at once, if it is a LOAD_ATTR_SLOT.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_value first = *(dv_value *)(void *)((char *)dv_as_object(object) + CACHED(offset));
    if (SITE.own & 1) DONE_RELEASING(dv_retain(first), true, object);
    OP(LOAD_ATTR_SLOT);
    sp += OUT - IN;
    ip += LEN;
    if (DV_LIKELY(ip->h == DV_H(LOAD_ATTR_SLOT) && dv_is_object(first) && dv_as_object(first)->shape == CACHED(shape))) {
        sp[-1] = dv_retain(*(dv_value *)(void *)((char *)dv_as_object(first) + CACHED(offset)));
        ip += LEN;
    } else {
        sp[-1] = dv_retain(first);
    }
    DEAD();
    GO();
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_FAR" several="LOAD_ATTR_POLY" of="LOAD_ATTR" cache="shape/slot" fuses="L" doc="object.name of an instance whose shape has the name in a slot that some instances have outside the object.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    DONE_RELEASING(dv_retain(*dv_instance_slot((dv_instance *)dv_as_object(object), CACHED(slot))), SITE.own & 1, object);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_OUTSIDE" of="LOAD_ATTR" cache="shape/slot" doc="object.name of an instance of a class derived from a built-in type, whose shape has the name: its attributes stand in front of the object.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    DONE_RELEASING(dv_retain(dv_attributes_of(dv_as_object(object))->values[CACHED(slot)]), SITE.own & 1, object);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_CLASS" several="LOAD_ATTR_POLY" of="LOAD_ATTR" cache="shape/kind cell" fuses="L" doc="object.name of an instance with the cached shape, where name is a plain value in its class: the class's cell is in the cache.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_value found = CACHED(cell)->value;
    if (DV_UNLIKELY(!dv_poly_same_kind(found, CACHED(kind)))) MISS();
    DONE_RELEASING(dv_retain(found), SITE.own & 1, object);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_ITS_CLASS" of="LOAD_ATTR" cache="shape" fuses="L" doc="object.__class__ of an instance with the cached shape, which is of the class that it shows.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_value class_ = dv_object_value(dv_shape_at(vm, dv_as_object(object)->shape)->class_);
    DONE_RELEASING(dv_retain(class_), SITE.own & 1, object);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_CLASS_NAME" of="LOAD_ATTR" doc="class.__name__ of a class without a metaclass.">
    if (DV_UNLIKELY(!dv_is_shape(object, DV_T_CLASS) || dv_as_class(object)->metaclass || GUARD_FAILS())) MISS();
    DONE_RELEASING(dv_retain(dv_as_class(object)->name), SITE.own & 1, object);
</%isa:derivative>

% for part in ("real", "imag"):
<%isa:derivative name="LOAD_ATTR_${part.upper()}" of="LOAD_ATTR" types="complex" result="float" fuses="L" doc="z.${part} of a complex number.">
    DONE_RELEASING(dv_float(dv_as_complex(object)->${part}), SITE.own & 1, object);
</%isa:derivative>

% endfor
<%isa:derivative name="LOAD_ATTR_BOUND" saw="bound" promises="nothing" several="LOAD_ATTR_POLY" of="LOAD_ATTR" cache="shape cell" doc="object.name of an instance with the cached shape, where name is a dl function of its class: binds it. The class's cell is in the cache.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_value found = CACHED(cell)->value;
    if (DV_UNLIKELY(!dv_is_function(found))) MISS();
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value bound = dv_method_new(vm, found, object);
    if (DV_UNLIKELY(dv_is_empty(bound))) RAISE();
    DISPOSE1(own, object);
    DONE(bound);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_FIELD" saw="field" promises="boxed" of="LOAD_ATTR" cache="shape cell" fuses="L" doc="object.name of a named tuple with the cached shape: the cell of its class that has the field's descriptor is in the cache.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_value found = CACHED(cell)->value;
    if (DV_UNLIKELY(!dv_is_tuple_getter(found))) MISS();
    const dv_value item = dv_tuple_getter_item(found, object);
    if (DV_UNLIKELY(dv_is_empty(item))) MISS();
    DONE_RELEASING(dv_retain(item), SITE.own & 1, object);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_POLY" promises="seen" of="LOAD_ATTR" cache="entries" fuses="L" doc="object.name of an instance with one of several shapes.">
    if (DV_UNLIKELY(!dv_is_object(object) || GUARD_FAILS())) MISS();
    const dv_poly_entry *entry = dv_poly_find(CACHED(entries), dv_as_object(object)->shape);
    if (DV_UNLIKELY(!entry)) MISS();
    dv_value found;
    if (DV_LIKELY(entry->offset)) {
        found = *(dv_value *)(void *)((char *)dv_as_object(object) + entry->offset);
    } else if (entry->cell) {
        found = entry->cell->value;
        if (DV_UNLIKELY(!dv_poly_same_kind(found, entry->other))) MISS();
        if (DV_UNLIKELY(entry->other == DV_T_PROPERTY || entry->other == DV_T_FUNCTION)) SLOW();
    } else {
        found = *dv_poly_slot(entry, object);
    }
    DONE_RELEASING(dv_retain(found), SITE.own & 1, object);
    --- out of line ---
    const dv_value found = dv_poly_find(CACHED(entries), dv_as_object(object)->shape)->cell->value;
    if (DV_LIKELY(!dv_is_function(found))) {
        const dv_value getter = ((const dv_property *)dv_as_object(found))->get;
        if (DV_UNLIKELY(!dv_is_function(getter))) TAIL(DV_H(LOAD_ATTR));
        const dv_thread *thread = dv_function_thread(dv_as_function(getter));
        dv_value *frame = sp + 2;
        if (DV_UNLIKELY(thread->exact_arguments != 1 || !dv_frame_fits(vm, thread, frame))) TAIL(DV_H(LOAD_ATTR));
        frame[0] = SITE.own & 1 ? object : dv_retain(object);
        frame[-3] = dv_retain(getter);
        sp = dv_frame_push_from(vm, thread, frame, frame + 1, fp, ip + LEN);
        fp = frame;
        JUMP(thread->entry);
    }
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value bound = dv_method_new(vm, found, object);
    if (DV_UNLIKELY(dv_is_empty(bound))) RAISE();
    DISPOSE1(own, object);
    DONE(bound);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_PROPERTY" saw="property" several="LOAD_ATTR_POLY" of="LOAD_ATTR" cache="shape cell" doc="object.name of an instance with the cached shape, where name is a property of its class that a dl function computes: enters it. The class's cell is in the cache.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_value found = CACHED(cell)->value;
    if (DV_UNLIKELY(!dv_is_shape(found, DV_T_PROPERTY))) MISS();
    const dv_value getter = ((const dv_property *)dv_as_object(found))->get;
    if (DV_UNLIKELY(!dv_is_function(getter))) MISS();
    const dv_thread *thread = dv_function_thread(dv_as_function(getter));
    dv_value *frame = sp + 2;
    if (DV_UNLIKELY(thread->exact_arguments != 1 || !dv_frame_fits(vm, thread, frame))) MISS();
    frame[0] = SITE.own & 1 ? object : dv_retain(object);
    frame[-3] = dv_retain(getter);
    sp = dv_frame_push_from(vm, thread, frame, frame + 1, fp, ip + LEN);
    fp = frame;
    JUMP(thread->entry);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_OF_CLASS" promises="nothing" of="LOAD_ATTR" cache="root/kind cell" doc="class.name of the class whose instances begin with the cached shape, where name is found as it is: its cell is in the cache.">
    if (DV_UNLIKELY(!dv_is_shape(object, DV_T_CLASS) || GUARD_FAILS())) MISS();
    const dv_shape *root = ((const dv_class *)dv_as_object(object))->root;
    if (DV_UNLIKELY(!root || root->number != CACHED(root))) MISS();
    const dv_value found = CACHED(cell)->value;
    if (DV_UNLIKELY(!dv_poly_same_kind(found, CACHED(kind)))) MISS();
    DONE_RELEASING(dv_retain(found), SITE.own & 1, object);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_MODULE" promises="nothing" of="LOAD_ATTR" cache="serial cell" doc="object.name of a module: its serial number and its cell are in the cache.">
    if (DV_UNLIKELY(!dv_is_module(object) || (int64_t)dv_as_module(object)->serial != CACHED(serial) || GUARD_FAILS())) MISS();
    const dv_value found = CACHED(cell)->value;
    if (DV_UNLIKELY(dv_is_empty(found))) MISS();
    DONE_RELEASING(dv_retain(found), SITE.own & 1, object);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_TYPE" of="LOAD_ATTR" cache="shape cell" doc="object.name that the built-in type of a value with the cached shape, or of the type with that number, gives: a method, whose cell is in the cache, or what the type computes.">
    SLOW();
    --- out of line ---
    const uint32_t shape = dv_is_object(object) ? dv_as_object(object)->shape : dv_type_of(vm, object);
    if (DV_UNLIKELY(shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value result = dv_type_attribute(vm, object, CELL(2).v, CACHED(cell));
    if (DV_UNLIKELY(dv_is_empty(result) && !dv_is_empty(vm->error))) RAISE();
    if (DV_UNLIKELY(dv_is_empty(result))) MISS();
    DISPOSE1(own, object);
    DONE(result);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_COMPUTED" of="LOAD_ATTR" cache="shape cell" doc="object.name of an instance with the cached shape, for which its class has a __getattr__ or a __getattribute__ in dl: enters it. Its cell is in the cache.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_value found = CACHED(cell)->value;
    if (DV_UNLIKELY(!dv_is_function(found))) MISS();
    const dv_thread *thread = dv_function_thread(dv_as_function(found));
    dv_value *frame = sp + 2;
    if (DV_UNLIKELY(thread->exact_arguments != 2 || !dv_frame_fits(vm, thread, frame))) MISS();
    frame[0] = SITE.own & 1 ? object : dv_retain(object);
    frame[1] = dv_retain(CELL(2).v);
    frame[-3] = dv_retain(found);
    sp = dv_frame_push_from(vm, thread, frame, frame + 2, fp, ip + LEN);
    fp = frame;
    JUMP(thread->entry);
</%isa:derivative>

<%isa:derivative name="LOAD_ATTR_DICT" of="LOAD_ATTR" cache="shape/slot" doc="object.name of an instance with the cached shape whose attributes are in a dict, which is in a slot.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_dict *dict = dv_as_dict(*dv_instance_slot((dv_instance *)dv_as_object(object), CACHED(slot)));
    const int64_t number = dv_dict_plain_entry(vm, dict, CELL(2).v);
    if (DV_UNLIKELY(number < 0)) MISS();
    DONE_RELEASING(dv_retain(dict->entries[number].value), SITE.own & 1, object);
</%isa:derivative>

<%isa:op name="STORE_ATTR" region="dv_step_store_attribute" promises="nothing" operands="name own" cache="2" stack="value object --" calls_out="yes" kills="all" select="dv_choose_store_attribute" doc="object.name = value.">
    const uint8_t own = SITE.own;
    if (DV_UNLIKELY(!dv_set_attribute(vm, object, CELL(2).v, value))) RAISE();
    DISPOSE2(own, value, object);
    DONE0();
</%isa:op>

<%
PLACES = {"OUTSIDE": "in front of the object, its class being derived from a built-in type", "SLOT": "within the object", "FAR": "that some instances have outside the object"}
%>
% for where, place in (("OUTSIDE", "&dv_attributes_of(dv_as_object(object))->values[CACHED(slot)]"), ("SLOT", "(dv_value *)(void *)((char *)dv_as_object(object) + CACHED(offset))"), ("FAR", "dv_instance_slot((dv_instance *)dv_as_object(object), CACHED(slot))")):
<%isa:derivative name="STORE_ATTR_${where}" saw="${'slot' if where == 'SLOT' else ''}" several="${'' if where == 'OUTSIDE' else 'STORE_ATTR_POLY'}" of="STORE_ATTR" cache="shape/${'offset' if where == 'SLOT' else 'slot'}" fuses="${'' if where == 'OUTSIDE' else 'SL LL'}" doc="object.name = value of an instance whose shape has the name in a slot ${PLACES[where]}.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    dv_value *slot = ${place};
    const dv_value old = *slot;
    if (DV_UNLIKELY(own & 2 && (dv_as_object(object)->references == 1 || dv_ends_loudly(vm, old)))) MISS(); /* it would, or could, die here */
    if (!(own & 1)) dv_retain(value);
    *slot = value;
    dv_as_object(object)->references -= own >> 1 & 1;
    sp -= IN;
    NEXT_RELEASING(old);
</%isa:derivative>

% endfor
<%isa:derivative name="STORE_ATTR_ADD" promises="boxed" several="STORE_ATTR_POLY" of="STORE_ATTR" cache="shape/then place" fuses="SL LL" doc="object.name = value that gives an instance of a shape an attribute more, for which the object has room.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    *(dv_value *)(void *)((char *)dv_as_object(object) + CACHED(place)) = own & 1 ? value : dv_retain(value);
    dv_as_object(object)->shape = CACHED(then);
    sp -= IN;
    if (own & 2) NEXT_RELEASING(object);
    NEXT();
</%isa:derivative>

<%isa:derivative name="STORE_ATTR_GROW" of="STORE_ATTR" cache="shape/then" doc="object.name = value that gives an instance of a shape an attribute more, for which the object may have no room, or which stands in front of it.">
    SLOW();
    --- out of line ---
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    const uint32_t then = CACHED(then), slot = dv_shape_at(vm, then)->count - 1;
    PUBLISH();
    if (DV_UNLIKELY(!dv_instance_room(vm, dv_as_object(object), slot))) RAISE();
    *dv_attribute_slot(dv_as_object(object), slot) = dv_retain(value);
    dv_as_object(object)->shape = then;
    DISPOSE2(own, value, object);
    DONE0();
</%isa:derivative>

<%isa:derivative name="STORE_ATTR_DICT" of="STORE_ATTR" cache="shape/slot" doc="object.name = value of an instance with the cached shape whose attributes are in a dict, which is in a slot.">
    SLOW();
    --- out of line ---
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    const dv_value dict = dv_retain(*dv_instance_slot((dv_instance *)dv_as_object(object), CACHED(slot)));
    PUBLISH();
    const bool stored = dv_dict_set(vm, dict, CELL(2).v, value);
    dv_release_outer(vm, dict);
    if (DV_UNLIKELY(!stored)) RAISE();
    DISPOSE2(own, value, object);
    DONE0();
</%isa:derivative>

## What is neither was nor becomes a descriptor, and no slot of the class: nothing but the cell changes.
% for form, key, found, what in (("STORE_ATTR_OF_CLASS", "root", "dv_is_shape(object, DV_T_CLASS) && dv_as_class(object)->root && dv_as_class(object)->root->number == CACHED(root)", "class.name = value of the class whose instances begin with the cached shape, where a plain value replaces another"), ("STORE_ATTR_MODULE", "serial", "dv_is_shape(object, DV_T_MODULE) && (int64_t)dv_as_module(object)->serial == CACHED(serial)", "module.name = value where a plain value replaces another")):
<%isa:derivative name="${form}" promises="nothing" of="STORE_ATTR" cache="${key} cell" doc="${what}: the name's cell is in the cache.">
    if (DV_UNLIKELY(!(${found}) || GUARD_FAILS())) MISS();
    dv_global_cell *cell = CACHED(cell);
    if (DV_UNLIKELY(dv_is_empty(cell->value) || !dv_store_is_plain(cell->value) || !dv_store_is_plain(value))) MISS();
    if (dv_is_object(cell->value) || cell->constant.dependents || cell->holders || (SITE.own & 2 && dv_as_object(object)->references == 1)) SLOW();
    if (!(SITE.own & 1)) dv_retain(value);
    cell->value = value;
    dv_as_object(object)->references -= SITE.own >> 1 & 1;
    DONE0();
    --- out of line ---
    const uint8_t own = SITE.own;
    PUBLISH();
    dv_replace_global(vm, CACHED(cell), dv_retain(value));
    DISPOSE2(own, value, object);
    DONE0();
</%isa:derivative>

% endfor
<%isa:derivative name="STORE_ATTR_COMPUTED" of="STORE_ATTR" cache="shape cell" doc="object.name = value of an instance with the cached shape whose class has a __setattr__ in dl: enters it. Its cell is in the cache.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_value found = CACHED(cell)->value;
    if (DV_UNLIKELY(!dv_is_function(found))) MISS();
    const dv_thread *thread = dv_function_thread(dv_as_function(found));
    if (DV_UNLIKELY(thread->exact_arguments != 3 || !dv_frame_fits(vm, thread, sp + 5))) MISS();
    const dv_value name = CELL(2).v;
    OPERATE3(dv_as_function(found), object, name, value, DV_OPERATE_HOW(DV_OPERATE_SET, 0, SITE.own));
</%isa:derivative>

<%isa:derivative name="STORE_ATTR_PROPERTY" several="STORE_ATTR_POLY" of="STORE_ATTR" cache="shape cell" doc="object.name = value of an instance with the cached shape, where name is a property of its class that a dl function sets: enters it. The class's cell is in the cache.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_value found = CACHED(cell)->value;
    if (DV_UNLIKELY(!dv_is_shape(found, DV_T_PROPERTY))) MISS();
    const dv_value setter = ((const dv_property *)dv_as_object(found))->set;
    if (DV_UNLIKELY(!dv_is_function(setter))) MISS();
    const dv_thread *thread = dv_function_thread(dv_as_function(setter));
    if (DV_UNLIKELY(thread->exact_arguments != 2 || !dv_frame_fits(vm, thread, sp + 5))) MISS();
    OPERATE(dv_as_function(setter), object, value, DV_OPERATE_HOW(DV_OPERATE_SET, 0, SITE.own));
</%isa:derivative>

<%isa:derivative name="STORE_ATTR_POLY" of="STORE_ATTR" cache="entries" fuses="SL LL" doc="object.name = value of an instance with one of several shapes, which the store may change, or of whose classes name is a property.">
    if (DV_UNLIKELY(!dv_is_object(object) || GUARD_FAILS())) MISS();
    const dv_poly_entry *entry = dv_poly_find(CACHED(entries), dv_as_object(object)->shape);
    if (DV_UNLIKELY(!entry)) MISS();
    if (DV_UNLIKELY(entry->cell)) SLOW();
    const uint8_t own = SITE.own;
    dv_value *slot = dv_poly_slot(entry, object);
    const bool adds = entry->other != entry->shape; /* an attribute more */
    if (DV_UNLIKELY(own & 2 && (dv_as_object(object)->references == 1 || (!adds && dv_ends_loudly(vm, *slot))))) MISS(); /* it would, or could, die here */
    if (!(own & 1)) dv_retain(value);
    dv_as_object(object)->references -= own >> 1 & 1;
    sp -= IN;
    if (adds) {
        *slot = value;
        dv_as_object(object)->shape = entry->other;
        NEXT();
    }
    const dv_value old = *slot;
    *slot = value;
    NEXT_RELEASING(old);
    --- out of line ---
    const dv_value found = dv_poly_find(CACHED(entries), dv_as_object(object)->shape)->cell->value;
    if (DV_UNLIKELY(!dv_is_shape(found, DV_T_PROPERTY))) TAIL(DV_H(STORE_ATTR));
    const dv_value setter = ((const dv_property *)dv_as_object(found))->set;
    if (DV_UNLIKELY(!dv_is_function(setter))) TAIL(DV_H(STORE_ATTR));
    const dv_thread *thread = dv_function_thread(dv_as_function(setter));
    if (DV_UNLIKELY(thread->exact_arguments != 2 || !dv_frame_fits(vm, thread, sp + 5))) TAIL(DV_H(STORE_ATTR));
    OPERATE(dv_as_function(setter), object, value, DV_OPERATE_HOW(DV_OPERATE_SET, 0, SITE.own));
</%isa:derivative>

<%isa:op name="DELETE_ATTR" region="leaves counts" operands="name own" stack="object --" calls_out="yes" kills="all" doc="del object.name.">
    const uint8_t own = SITE.own;
    if (!dv_set_attribute(vm, object, CELL(2).v, DV_EMPTY)) RAISE();
    DISPOSE1(own, object);
    DONE0();
</%isa:op>

<%def name="build_tuple(count)">\
    const int64_t n = ${count};
    dv_tuple *tuple = dv_frame_tuple(vm, n);
    if (DV_UNLIKELY(!tuple)) SLOW();
    sp -= n;
    tuple->items[0] = sp[0];
    for (int64_t i = 1; i < n; i++) {
        tuple->items[i] = sp[i];
        __asm__("" ::: "memory"); /* no memcpy */
    }
    sp[0] = dv_object_value(tuple);
    sp++;
    NEXT();
    --- out of line ---
    const int64_t n = ${count};
    const dv_value result = dv_tuple_take(vm, sp - n, n);
    sp -= n;
    if (DV_UNLIKELY(dv_is_empty(result))) {
        PUBLISH();
        RAISE();
    }
    *sp++ = result;
    NEXT();
</%def>\
<%isa:op name="BUILD_TUPLE" region="dv_step_build_tuple" operands="count" variable="build" stack="items -- r" calls_out="yes" doc="Makes a tuple of the n topmost entries.">
${build_tuple("CELL(1).i")}\
</%isa:op>

<%isa:op name="BUILD_TUPLE_YIELD" variant_of="BUILD_TUPLE" behind="YIELD" operands="count" variable="build" stack="items -- r" calls_out="yes" doc="What BUILD_TUPLE is threaded as in front of YIELD: where the generator's caller unpacks what it yields, that gets the items. Not emitted by the compiler.">
    OP(YIELD);
    OP(UNPACK_SEQUENCE);
    const dv_cell *link = dv_frame_link(fp), *yields = ip + LEN;
    const int64_t n = CELL(1).i;
    if (link->h != DV_H(UNPACK_SEQUENCE) || link[1].i != n || n > DV_MOST_HANDED || yields->h != DV_H(YIELD)) TAIL(DV_H(BUILD_TUPLE));
    dv_value *caller = dv_frame_caller(fp);
    dv_generator_suspend(vm, vm->generator, fp, sp - n, yields, yields + 1, false);
    for (int64_t i = 1; i <= n; i++) fp[i - 4] = sp[-i];
    sp = fp - 3 + n;
    fp = caller;
    JUMP(link + 2);
</%isa:op>

<% forms_of_in = [f"IN_{kind}{jump}" for kind in ("SET", "DICT") for jump in ("_JUMP_IF_FALSE", "_JUMP_IF_TRUE", "")] %>\
<%isa:op name="BUILD_TUPLE_IN" variant_of="BUILD_TUPLE" behind="LOAD_LOCAL_B IN" operands="count" variable="build" stack="items -- r" calls_out="yes" doc="What BUILD_TUPLE is threaded as where it is looked for in a local: of ints and strs that a set or dict has, or has not, it makes no tuple. Not emitted by the compiler.">
% for form in forms_of_in:
    OP(${form});
% endfor
    OP(LOAD_LOCAL_B);
    const dv_cell *load = ip + LEN, *site = load + 2;
    const int64_t n = CELL(1).i;
    if (load->h != DV_H(LOAD_LOCAL_B) || !(${" || ".join(f"site->h == DV_H({form})" for form in forms_of_in)})) TAIL(DV_H(BUILD_TUPLE));
    const int found = dv_items_in(vm, sp - n, n, LOCAL(LEN + 1));
    if (DV_UNLIKELY(found < 0)) TAIL(DV_H(BUILD_TUPLE));
    for (const dv_value *item = sp - n; item < sp; item++) dv_release(vm, *item);
    sp -= n;
    *sp++ = dv_bool(found);
    JUMP(site + 2);
</%isa:op>

## Its derivatives for elements of extensions' objects stand in buffer.mako.
<%isa:op name="BUILD_KEY" region="dv_step_build_key" operands="count" site="yes" variable="build" stack="items -- r" calls_out="yes" select="dv_choose_key" doc="BUILD_TUPLE directly in front of a subscript, whose key the tuple is.">
${build_tuple("CELL(2).i")}\
</%isa:op>

<%isa:derivative name="BUILD_KEY_TUPLE" of="BUILD_KEY" doc="BUILD_KEY for what is no object of an extension.">
    if (DV_UNLIKELY(dv_is_foreign(sp[-CELL(2).i - 1]))) MISS();
${build_tuple("CELL(2).i")}\
</%isa:derivative>

## With the subscript behind them, of a dict that has the key: a place in a plane, or any ints and strs.
<%def name="with_entry(use)">\
    const dv_value container = sp[-CELL(2).i - 1];
    const int64_t n = 2;
    if (DV_UNLIKELY(!dv_is_shape(container, DV_T_DICT) || GUARD_FAILS())) MISS();
    if (CELL(2).i != n || !dv_are_ints(sp[-2], sp[-1])) SLOW();
    const int64_t number = dv_dict_items_entry(dv_as_dict(container), sp - n, n, false, dv_tuple_hash_ints(vm, sp[-2], sp[-1]));
${use("")}\
    --- out of line ---
    const int64_t n = CELL(2).i;
    const dv_value container = sp[-n - 1];
    const int64_t number = dv_dict_find_items(vm, dv_as_dict(container), sp - n, n);
${use("    for (const dv_value *item = sp - n; item < sp; item++) dv_release(vm, *item);\n")}\
</%def>\
<%def name="load_entry(release)">\
    const uint8_t own = ip[LEN + 1].site.own;
    if (DV_UNLIKELY(number < 0 || (own & 1 && dv_as_object(container)->references == 1))) TAIL(DV_H(BUILD_KEY));
    const dv_value found = dv_retain(dv_as_dict(container)->entries[number].value);
${release}\
    dv_as_object(container)->references -= own & 1;
    sp -= n;
    sp[-1] = found;
    JUMP(ip + LEN + 2);
</%def>\
<%def name="store_entry(release)">\
    const uint8_t own = ip[LEN + 1].site.own;
    if (DV_UNLIKELY(number < 0)) TAIL(DV_H(BUILD_KEY));
    dv_dict_entry *entry = &dv_as_dict(container)->entries[number];
    const dv_value value = sp[-n - 2], old = entry->value;
    if (DV_UNLIKELY(own & 2 && (dv_as_object(container)->references == 1 || dv_ends_loudly(vm, old)))) TAIL(DV_H(BUILD_KEY));
    if (!(own & 1)) dv_retain(value);
    entry->value = value;
${release}\
    dv_as_object(container)->references -= own >> 1 & 1;
    sp -= n + 2;
    ip += LEN + 2;
    GO_RELEASING(old);
</%def>\
<%isa:derivative name="BUILD_KEY_LOAD_DICT" saw="pair" of="BUILD_KEY" covers="LOAD_SUBSCR" doc="BUILD_KEY of ints and strs, and the LOAD_SUBSCR behind it, of a dict that has that key: no tuple.">
${with_entry(load_entry)}\
</%isa:derivative>
<%isa:derivative name="BUILD_KEY_STORE_DICT" saw="pair" of="BUILD_KEY" covers="STORE_SUBSCR" doc="BUILD_KEY of ints and strs, and the STORE_SUBSCR behind it, of a dict that has that key: no tuple.">
${with_entry(store_entry)}\
</%isa:derivative>

<%isa:op name="BUILD_LIST" region="dv_step_build_list" operands="count" variable="build" stack="items -- r" calls_out="yes" doc="Makes a list of the n topmost entries.">
    const int64_t n = CELL(1).i;
    const dv_value result = dv_list_take(vm, sp - n, n);
    sp -= n;
    if (DV_UNLIKELY(dv_is_empty(result))) {
        PUBLISH();
        RAISE();
    }
    *sp++ = result;
    NEXT();
</%isa:op>

<%isa:op name="BUILD_DICT" region="dv_step_build_dict" operands="count" variable="build_pairs" stack="pairs -- r" calls_out="yes" kills="all" doc="Makes a dict of n pairs of key and value.">
    const int64_t n = CELL(1).i;
    const dv_value result = dv_build_dict(vm, sp - 2 * n, (uint32_t)n);
    if (dv_is_empty(result)) RAISE();
    for (int64_t i = 1; i <= 2 * n; i++) dv_release_outer(vm, sp[-i]);
    sp -= 2 * n - 1;
    sp[-1] = result;
    NEXT();
</%isa:op>

<%isa:op name="BUILD_SET" region="embeds" operands="count" variable="build" stack="items -- r" calls_out="yes" kills="all" doc="Makes a set of the n topmost entries.">
    const int64_t n = CELL(1).i;
    const dv_value result = dv_build_set(vm, sp - n, n);
    if (dv_is_empty(result)) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n - 1;
    sp[-1] = result;
    NEXT();
</%isa:op>

<%isa:op name="SET_UPDATE" region="leaves counts" stack="set iterable -- set2" calls_out="yes" kills="all" doc="Adds the items of an iterable to a set under construction.">
    if (!dv_update_set_display(vm, set, iterable)) RAISE();
    dv_release_outer(vm, iterable);
    DONE(set);
</%isa:op>

<%isa:op name="SET_ADD" region="embeds" operands="count" variable="append" stack="v --" calls_out="yes" kills="all" doc="Adds the top to the set that is then the n-th entry from the top.">
    const dv_value under = sp[-1 - CELL(1).i], item = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(under, DV_T_SET))) SLOW();
    const int added = dv_set_first_add(vm, dv_as_set(under), item);
    if (added < 0) SLOW();
    sp -= 1;
    if (added) NEXT();
    NEXT_RELEASING(item);
    --- out of line ---
    const dv_value item = sp[-1];
    if (!dv_add_set_display(vm, sp[-1 - CELL(1).i], item)) RAISE();
    dv_release_outer(vm, item);
    sp -= 1;
    NEXT();
</%isa:op>

<%isa:op name="LIST_EXTEND" region="leaves counts" stack="list iterable -- list2" calls_out="yes" kills="all" doc="Appends the items of an iterable to a list under construction.">
    if (!dv_extend_display(vm, list, iterable)) RAISE();
    dv_release_outer(vm, iterable);
    DONE(list);
</%isa:op>

<%isa:op name="LIST_APPEND" region="dv_step_list_append" operands="count" variable="append" stack="v --" calls_out="yes" doc="Appends the top to the list that is then the n-th entry from the top.">
    const dv_value under = sp[-1 - CELL(1).i];
    if (DV_UNLIKELY(!dv_is_shape(under, DV_T_LIST))) SLOW();
    dv_list *list = dv_as_list(under);
    if (DV_UNLIKELY(list->count == list->capacity)) SLOW();
    list->items[list->count++] = sp[-1];
    sp -= 1;
    NEXT();
    --- out of line ---
    if (!dv_append_display(vm, sp[-1 - CELL(1).i], sp[-1])) RAISE();
    sp -= 1;
    NEXT();
</%isa:op>

<%isa:op name="DICT_ADD" region="embeds" operands="count" variable="add_pair" stack="key v --" calls_out="yes" kills="all" doc="Stores the top under the key below it in the dict that is then the n-th entry from the top.">
    const dv_value value = sp[-1], key = sp[-2];
    if (!dv_add_display(vm, sp[-2 - CELL(1).i], key, value)) RAISE();
    dv_release_outer(vm, value);
    dv_release_outer(vm, key);
    sp -= 2;
    NEXT();
</%isa:op>

<%isa:op name="LIST_TO_TUPLE" region="leaves counts" stack="list -- tuple" calls_out="yes" doc="Makes a tuple of a list under construction.">
    const dv_value result = dv_tuple_from(vm, list);
    if (dv_is_empty(result)) RAISE();
    dv_release_outer(vm, list);
    DONE(result);
</%isa:op>

<%isa:op name="DICT_UPDATE" region="leaves counts" stack="dict mapping -- dict2" calls_out="yes" kills="all" doc="Adds the items of a mapping to a dict under construction.">
    if (!dv_update_display(vm, dict, mapping)) RAISE();
    dv_release_outer(vm, mapping);
    DONE(dict);
</%isa:op>

<%isa:op name="BUILD_STRING" region="embeds counts" operands="count" variable="build" stack="parts -- r" calls_out="yes" doc="Joins n strs (f-strings).">
    const int64_t n = CELL(1).i;
    const dv_value result = dv_build_string(vm, sp - n, (uint32_t)n);
    if (dv_is_empty(result)) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n - 1;
    sp[-1] = result;
    NEXT();
</%isa:op>

<%isa:op name="FORMAT_VALUE" region="embeds counts" operands="count" variable="format" stack="v -- r" calls_out="yes" kills="all" doc="Formats a value for an f-string: bits 0-1 of n: conversion (str, repr, ascii); bit 2: a format spec is on top.">
    const uint32_t n = (uint32_t)CELL(1).i;
    if (n < 2 && dv_is_shape(sp[-1], DV_T_STR)) NEXT();
    SLOW();
    --- out of line ---
    const uint32_t n = (uint32_t)CELL(1).i;
    const bool has_spec = n & 4;
    const dv_value spec = has_spec ? sp[-1] : DV_EMPTY, v = sp[has_spec ? -2 : -1];
    const dv_value result = dv_format_value(vm, v, n & 3, spec);
    if (dv_is_empty(result)) RAISE();
    dv_release_outer(vm, spec);
    dv_release_outer(vm, v);
    if (has_spec) sp--;
    sp[-1] = result;
    NEXT();
</%isa:op>

<%isa:op name="UNPACK_SEQUENCE" region="dv_step_unpack" operands="count" variable="unpack" stack="v -- items" calls_out="yes" kills="all" doc="Replaces a sequence of exactly n items by them, the first on top.">
    const int64_t n = CELL(1).i;
    const dv_value sequence = sp[-1];
    const dv_value *items;
    if (dv_is_shape(sequence, DV_T_TUPLE) && dv_as_tuple(sequence)->count == n)
        items = dv_as_tuple(sequence)->items;
    else if (dv_is_shape(sequence, DV_T_LIST) && dv_as_list(sequence)->count == n)
        items = dv_as_list(sequence)->items;
    else
        SLOW();
    if (DV_LIKELY(n == 2)) {
        sp[0] = dv_retain(items[0]);
        sp[-1] = dv_retain(items[1]);
        sp += 1;
        NEXT_RELEASING(sequence);
    }
    /* What STORE_LOCALs behind it would take from the stack at once goes to the locals directly, up to one that holds the
       last reference to something: that dies behind the sequence.  (Trampoline form counts each instruction.) */
    OP(STORE_LOCAL);
    const dv_cell *store = ip + LEN;
    int64_t stored = 0;
    for (; !DV_TRAMPOLINE && stored < n && store->h == DV_H(STORE_LOCAL); stored++, store += 2) {
        dv_value *local = (dv_value *)(void *)((char *)fp + store[1].i);
        if (dv_is_object(*local)) {
            if (dv_as_object(*local)->references == 1) break;
            dv_as_object(*local)->references--;
        }
        *local = dv_retain(items[stored]);
    }
    for (int64_t i = n; i > stored; i--) sp[n - i - 1] = dv_retain(items[i - 1]);
    sp += n - stored - 1;
    ip = store;
    GO_RELEASING(sequence);
    --- out of line ---
    const int64_t n = CELL(1).i;
    const dv_value sequence = sp[-1];
    if (!dv_unpack(vm, sequence, (uint32_t)n, sp)) RAISE();
    memmove(sp - 1, sp, (size_t)n * sizeof *sp);
    sp += n - 1;
    PUBLISH();
    dv_release_outer(vm, sequence);
    NEXT();
</%isa:op>

<%isa:op name="UNPACK_EX" region="leaves counts" operands="count count" variable="unpack_ex" stack="v -- items" calls_out="yes" kills="all" doc="Replaces an iterable by its first n items, a list, and its last m items, the first on top.">
    const int64_t n = CELL(1).i, m = CELL(2).i;
    const dv_value sequence = sp[-1];
    if (!dv_unpack_star(vm, sequence, n, m, sp)) RAISE();
    memmove(sp - 1, sp, (size_t)(n + m + 1) * sizeof *sp);
    sp += n + m;
    PUBLISH();
    dv_release_outer(vm, sequence);
    NEXT();
</%isa:op>

## Patterns of match statements: what of a value they ask (types/class/pattern.h).

<%isa:op name="MATCH_SEQUENCE" region="dv_step_match_sequence" operands="count own" stack="v -- r" calls_out="yes" kills="all" doc="Is it a sequence to a pattern, of exactly n / 2 items or, if n is odd, of at least so many?">
    const uint8_t own = SITE.own;
    const int found = dv_pattern_sequence(vm, v, CELL(2).i);
    if (DV_UNLIKELY(found < 0)) RAISE();
    DISPOSE1(own, v);
    DONE(dv_bool(found));
</%isa:op>

% for kind in ("tuple", "list"):
<%isa:derivative name="MATCH_SEQUENCE_${kind.upper()}" of="MATCH_SEQUENCE" types="${kind}" result="bool" fuses="L" doc="MATCH_SEQUENCE of a ${kind}.">
    const int64_t n = CELL(2).i, count = dv_as_${kind}(v)->count;
    DONE_RELEASING(dv_bool(n & 1 ? count >= n >> 1 : count == n >> 1), SITE.own & 1, v);
</%isa:derivative>
% endfor

<%isa:op name="MATCH_ITEM" region="embeds" operands="count own" stack="v -- r" calls_out="yes" kills="all" doc="v[len(v) - n], of what stands behind a star in a pattern.">
    const uint8_t own = SITE.own;
    const dv_value item = dv_pattern_item(vm, v, CELL(2).i);
    if (DV_UNLIKELY(dv_is_empty(item))) RAISE();
    DISPOSE1(own, v);
    DONE(item);
</%isa:op>

<%isa:op name="MATCH_MAPPING" region="embeds" operands="count own" stack="v -- r" calls_out="yes" kills="all" doc="Is it a mapping to a pattern, of at least n items?">
    const uint8_t own = SITE.own;
    const int found = dv_pattern_mapping(vm, v, CELL(2).i);
    if (DV_UNLIKELY(found < 0)) RAISE();
    DISPOSE1(own, v);
    DONE(dv_bool(found));
</%isa:op>

<%isa:op name="MATCH_KEYS" region="embeds" operands="count count" variable="match_keys" stack="keys -- r" calls_out="yes" kills="all" doc="Pushes the values of the n keys on top in the mapping below them, the first on top of the others, and whether all are there; m: the keys are literals.">
    const int64_t n = CELL(1).i;
    const int found = dv_pattern_keys(vm, sp[-n - 1], sp - n, n, CELL(2).i != 0, sp);
    if (DV_UNLIKELY(found < 0)) RAISE();
    sp[n] = dv_bool(found);
    sp += n + 1;
    NEXT();
</%isa:op>

<%isa:op name="MATCH_CLASS" region="embeds" operands="count const" variable="match_class" stack="subject class_ -- r" calls_out="yes" kills="all" doc="Replaces subject and class by n attributes of an instance of it, the first on top of the others, and whether it is one that has them; the last ones have the names in the constant.">
    const int64_t n = CELL(1).i;
    const dv_value class_ = sp[-1], subject = sp[-2];
    const int found = dv_pattern_class(vm, subject, class_, n, CELL(2).v, sp);
    if (DV_UNLIKELY(found < 0)) RAISE();
    memmove(sp - 2, sp, (size_t)n * sizeof *sp);
    sp += n - 1;
    sp[-1] = dv_bool(found);
    PUBLISH();
    dv_release_outer(vm, class_);
    dv_release_outer(vm, subject);
    NEXT();
</%isa:op>
