## control.mako: jumps, iteration, exceptions.
<%
# Truth of types: the guard, and what is true.
def sized(name, field):
    return name, (lambda v: f"dv_is_shape({v}, DV_T_{name.upper()})"), (lambda v: f"dv_as_{name}({v})->{field} != 0")
TRUTHS = [("int", (lambda v: f"dv_is_int({v})"), (lambda v: f"{v}.bits != DV_TAG_INT")),
          ("float", (lambda v: f"dv_is_float({v})"), (lambda v: f"dv_as_float({v}) != 0.0")),
          sized("str", "length"), sized("list", "count"), sized("tuple", "count"), sized("dict", "count"), sized("set", "used")]
%>
## FOR_ITER of an exhausted iterator, which dies without a call if nobody else has it: one by index must know that it is exhausted, otherwise.
<%def name="exhausted()">\
    dv_iterator *walk = (dv_iterator *)dv_as_object(sp[-1]);
    const dv_value sequence = walk->sequence;
    ip = CELL(2).target;
    sp--;
    if (DV_LIKELY(walk->header.references == 1)) {
        dv_container_free(vm, walk, sizeof *walk);
    } else {
        walk->header.references--;
        (void)dv_iterator_exhaust(walk); /* the sequence is in hand */
    }
    GO_RELEASING(sequence);
</%def>\

<%isa:op name="JUMP" region="dv_step_jump" operands="jump" ends="yes" doc="Jumps forward.">
    JUMP(CELL(1).target);
</%isa:op>

<%isa:op name="JUMP_IF_BUILTIN" region="dv_step_if_builtin" operands="jump count" stack="v --" calls_out="yes" kills="all" doc="Pops a global and jumps if it is the builtin, a dv_consumer, that the name meant when the VM began: what that does with a generator expression is in place there.">
    sp -= 1;
    if (DV_LIKELY(dv_same(v, vm->known.consumers[CELL(2).i]))) {
        dv_as_object(v)->references--; /* the VM has one, too */
        JUMP(CELL(1).target);
    }
    NEXT_RELEASING(v);
</%isa:op>

<%isa:op name="JUMP_BACK" region="dv_step_jump_back" promises="nothing" operands="jump" site="yes" cache="1" ends="yes" doc="Jumps to the head of a loop: a safepoint, and where warmth is counted.">
    DEAD();
    SAFEPOINT();
    dv_site *site = &((dv_cell *)ip)[1].site;
    if (DV_UNLIKELY(site->wait && --site->wait == 0)) TAIL(dv_slow_warm);
    JUMP(CELL(2).target);
</%isa:op>

<%isa:derivative name="JUMP_BACK_QUIET" of="JUMP_BACK" doc="JUMP_BACK of a loop that will not become a region.">
    DEAD();
    SAFEPOINT();
    JUMP(CELL(2).target);
</%isa:derivative>

<%isa:derivative name="JUMP_BACK_COUNT" of="JUMP_BACK" doc="JUMP_BACK that counts until the loop is hot enough for a region.">
    DEAD();
    SAFEPOINT();
    dv_site *site = &((dv_cell *)ip)[1].site;
    if (DV_UNLIKELY(--site->wait == 0)) TAIL(dv_region_hot);
    JUMP(CELL(2).target);
</%isa:derivative>

<%isa:derivative name="JUMP_BACK_REGION" of="JUMP_BACK" cache="region" doc="JUMP_BACK of a loop that has a region: enters it (on-stack entry) if the types of the locals are as it expects.">
    DEAD();
    SAFEPOINT();
    TAIL(dv_region_enter);
</%isa:derivative>

% for name, wanted, other in (("JUMP_IF_FALSE", "FALSE", "TRUE"), ("JUMP_IF_TRUE", "TRUE", "FALSE")):
<%isa:op name="${name}" operands="jump own" promises="nothing" region="dv_step_branch" stack="v --" calls_out="yes" kills="all" select="dv_choose_truth" doc="Pops a value and jumps if it is ${wanted.lower()}.">
    if (v.bits == DV_${wanted}.bits) {
        sp--;
        JUMP(CELL(2).target);
    }
    if (v.bits == DV_${other}.bits) DONE0();
    if (v.bits == DV_NONE.bits) {
        sp--;
        JUMP(${"CELL(2).target" if wanted == "FALSE" else "ip + LEN"});
    }
    SLOW();
    --- out of line ---
    const int truth = dv_truth(vm, v);
    if (DV_UNLIKELY(truth < 0)) RAISE();
    const dv_cell *target = truth == ${1 if wanted == "TRUE" else 0} ? CELL(2).target : ip + LEN;
    DISPOSE1(SITE.own, v);
    sp--;
    JUMP(target);
</%isa:op>

<%isa:derivative name="${name}_BOOL" of="${name}" doc="${name} of a bool, or None.">
    if (v.bits == DV_${wanted}.bits) {
        sp--;
        JUMP(CELL(2).target);
    }
    if (v.bits == DV_${other}.bits) DONE0();
    if (DV_UNLIKELY(v.bits != DV_NONE.bits || GUARD_FAILS())) MISS();
    sp--;
    JUMP(${"CELL(2).target" if wanted == "FALSE" else "ip + LEN"});
</%isa:derivative>

% for kind, test, truth in TRUTHS:
<%isa:derivative name="${name}_${kind.upper()}" of="${name}" doc="${name} of a ${kind}, or None.">
    if (v.bits == DV_NONE.bits) {
        sp--;
        JUMP(${"CELL(2).target" if wanted == "FALSE" else "ip + LEN"});
    }
    if (DV_UNLIKELY(!${test("v")} || GUARD_FAILS())) ${"SLOW" if kind == "int" else "MISS"}();
    const bool truth = ${truth("v")};
% if kind in ("int", "float"):
    sp--;
    JUMP(${"truth" if wanted == "TRUE" else "!truth"} ? CELL(2).target : ip + LEN);
% else:
    const bool owned = SITE.own & 1;
    ip = ${"truth" if wanted == "TRUE" else "!truth"} ? CELL(2).target : ip + LEN;
    sp--;
    if (owned) GO_RELEASING(v);
    DEAD();
    GO();
% endif
% if kind == "int":
    --- out of line ---
    if (DV_UNLIKELY(!dv_is_shape(v, DV_T_INT) || GUARD_FAILS())) MISS();
    const bool owned = SITE.own & 1; /* of more than 48 bits, and so not 0 */
    ip = ${"CELL(2).target" if wanted == "TRUE" else "ip + LEN"};
    sp--;
    if (owned) GO_RELEASING(v);
    DEAD();
    GO();
% endif
</%isa:derivative>

% endfor
<%isa:derivative name="${name}_TYPE" of="${name}" doc="${name} of an object of another built-in type, whose truth asks nobody else, or of a class derived from one that leaves it to this, or None.">
    if (v.bits == DV_NONE.bits) {
        sp--;
        JUMP(${"CELL(2).target" if wanted == "FALSE" else "ip + LEN"});
    }
    const dv_type *type = dv_operate_truth_type(vm, v);
    if (DV_UNLIKELY(!type || GUARD_FAILS())) MISS();
    const bool owned = SITE.own & 1;
    PUBLISH();
    const int64_t truth = type->truth ? type->truth(v) : type->length ? type->length(vm, v) : 1;
    if (DV_UNLIKELY(truth < 0)) RAISE();
    ip = ${"truth" if wanted == "TRUE" else "!truth"} ? CELL(2).target : ip + LEN;
    sp--;
    if (owned) GO_RELEASING(v);
    DEAD();
    GO();
</%isa:derivative>

<%isa:derivative name="${name}_INSTANCE" of="${name}" doc="${name} of an instance, or None: of a class without __bool__ and __len__, or it enters the frame of what these are in dl.">
    if (v.bits == DV_NONE.bits) {
        sp--;
        JUMP(${"CELL(2).target" if wanted == "FALSE" else "ip + LEN"});
    }
    if (DV_UNLIKELY(!dv_is_plain_instance(v) || GUARD_FAILS())) MISS();
    if (DV_UNLIKELY(!vm->shapes[dv_as_object(v)->shape]->class_->truthful)) SLOW();
    const bool owned = SITE.own & 1;
    ip = ${"CELL(2).target" if wanted == "TRUE" else "ip + LEN"};
    sp--;
    if (owned) GO_RELEASING(v);
    DEAD();
    GO();
    --- out of line ---
    if (dv_class_truthful(vm, vm->shapes[dv_as_object(v)->shape]->class_)) TAIL(DV_H(${name}));
    const dv_special *known = dv_operate_truth(vm, v);
    dv_function *method = dv_operate_enters(vm, known, 1, sp);
    if (DV_UNLIKELY(!method)) MISS();
    OPERATE1(method, v, DV_OPERATE_HOW(DV_OPERATE_TRUTH_BY(vm, known), DV_OPERATE_${name}, SITE.own));
</%isa:derivative>

<%isa:op name="${name}_OR_POP" region="dv_step_jump_or_pop" operands="jump" variable="jump_or_pop" stack="v --" calls_out="yes" kills="all" doc="Jumps and keeps the value if it is ${wanted.lower()}, else pops it.">
    const dv_value v = sp[-1];
    if (v.bits == DV_${wanted}.bits) JUMP(CELL(1).target);
    if (v.bits == DV_${other}.bits) {
        sp--;
        NEXT();
    }
    if (v.bits == DV_NONE.bits) {
% if wanted == "FALSE":
        JUMP(CELL(1).target);
% else:
        sp--;
        NEXT();
% endif
    }
    if (!dv_is_int(v) && !(dv_is_plain_instance(v) && vm->shapes[dv_as_object(v)->shape]->class_->truthful)) SLOW();
    if (${"v.bits == DV_TAG_INT" if wanted == "FALSE" else "v.bits != DV_TAG_INT"}) JUMP(CELL(1).target);
    sp--;
    NEXT_RELEASING(v);
    --- out of line ---
    const dv_value v = sp[-1];
    const int truth = dv_truth(vm, v);
    if (DV_UNLIKELY(truth < 0)) RAISE();
    if (truth == ${1 if wanted == "TRUE" else 0}) JUMP(CELL(1).target);
    dv_release_outer(vm, v);
    sp--;
    NEXT();
</%isa:op>
% endfor

<%isa:op name="OPERATED" stack="a b how next v -- r" doc="Where the method returns that an operator of a dl class has entered (run/operate.h); goes on behind the operator. Not emitted by the compiler.">
    const uint32_t own = (uint32_t)how.bits;
    if (DV_UNLIKELY(DV_OPERATE_KIND(own) >= DV_OPERATE_OPPOSITE || v.bits == DV_NOTIMPLEMENTED.bits)) SLOW();
    if (DV_UNLIKELY((own & 3) == 3 && dv_is_object(a) && dv_as_object(a)->references <= 1 + (uint32_t)(a.bits == b.bits))) SLOW(); /* both may die */
    vm->calls_left += DV_OPERATE_COUNTS(own);
    sp -= 4;
    sp[-1] = v;
    ip = (const dv_cell *)(uintptr_t)next.bits;
    if (own & 2) {
        if (own & 1 && dv_is_object(a)) dv_as_object(a)->references--;
        GO_RELEASING(b);
    }
    if (own & 1) GO_RELEASING(a);
    DEAD();
    GO();
    --- out of line ---
    if (DV_OPERATE_KIND((uint32_t)how.bits) >= DV_OPERATE_OTHERS) TAIL(dv_slow_operated);
    const uint32_t own = (uint32_t)how.bits;
    vm->calls_left += DV_OPERATE_COUNTS(own);
    const dv_cell *behind = (const dv_cell *)(uintptr_t)next.bits;
    ip = behind - 1;
    PUBLISH();
    const dv_value result = dv_operated(vm, own, a, b, v);
    if (DV_UNLIKELY(dv_is_empty(result))) {
        sp -= 3;
        RAISE();
    }
    DISPOSE2(own, a, b);
    sp -= 4;
    sp[-1] = result;
    JUMP(behind);
</%isa:op>

<%isa:op name="GET_ITER" region="dv_step_get_iter" operands="own" stack="v -- iterator" calls_out="yes" kills="all" select="dv_choose_get_iter" doc="Makes an iterator.">
    const dv_value result = dv_iterate(vm, v);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE1(SITE.own, v);
    DONE(result);
</%isa:op>

<%isa:derivative name="GET_ITER_SEQUENCE" saw="sequence" of="GET_ITER" doc="Makes an iterator of a list or a tuple.">
    if (DV_UNLIKELY((!dv_is_shape(v, DV_T_LIST) && !dv_is_shape(v, DV_T_TUPLE)) || GUARD_FAILS())) MISS();
    dv_iterator *iterator = dv_iterator_quick(vm);
    if (DV_UNLIKELY(!iterator)) TAIL(DV_H(GET_ITER));
    iterator->sequence = SITE.own & 1 ? v : dv_retain(v);
    iterator->type = iterator->walked = dv_as_object(v)->shape;
    DONE(dv_object_value(iterator));
</%isa:derivative>

<%isa:derivative name="GET_ITER_TYPE" saw="iterable" of="GET_ITER" doc="Makes an iterator of an object of a built-in type.">
    const dv_type *type = dv_is_object(v) && dv_as_object(v)->shape < DV_T_COUNT ? vm->types[dv_as_object(v)->shape] : NULL;
    if (DV_UNLIKELY(!type || !(type->iterate || type->next) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value result = type->iterate ? type->iterate(vm, v) : dv_retain(v);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE1(own, v);
    DONE(result);
</%isa:derivative>

<%isa:derivative name="GET_ITER_REGION" saw="entry" of="GET_ITER" doc="Makes an iterator of an object of a built-in type, for a loop that has a region: enters it at its head.">
    const dv_type *type = dv_is_object(v) && dv_as_object(v)->shape < DV_T_COUNT ? vm->types[dv_as_object(v)->shape] : NULL;
    if (DV_UNLIKELY(!type || !(type->iterate || type->next) || GUARD_FAILS())) MISS();
    const uint8_t own = SITE.own;
    PUBLISH();
    const dv_value result = type->iterate ? type->iterate(vm, v) : dv_retain(v);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    DISPOSE1(own, v);
    sp[-1] = result;
    ip += LEN;
    TAIL(dv_region_start);
</%isa:derivative>

<%isa:derivative name="GET_ITER_DL" of="GET_ITER" types="instance" doc="Makes an iterator of an instance whose class has __iter__ in dl: enters its frame; or, if that has __getitem__ alone, of its items.">
    dv_function *method = dv_operate_enters(vm, dv_operate_known(vm, v, vm->known.iter), 1, sp);
    if (DV_UNLIKELY(!method)) {
        if (dv_operate_lacks(vm, v, vm->known.iter)) TAIL(DV_H(GET_ITER));
        MISS();
    }
    OPERATE1(method, v, DV_OPERATE_HOW(DV_OPERATE_ITER, 0, SITE.own));
</%isa:derivative>

<%isa:op name="FOR_ITER" region="dv_step_for_iter" promises="seen" operands="jump" site="yes" variable="for_iter" stack="-- item" calls_out="yes" kills="all" select="dv_choose_iteration" doc="Pushes the iterator's next item, or pops the iterator and jumps when it is exhausted.">
    const dv_value iterator = sp[-1];
    if (dv_is_generator(iterator)) {
        dv_generator *g = dv_as_generator(iterator);
        if (DV_LIKELY(dv_generator_fits(vm, g, sp + 3))) {
            const dv_cell *next = g->next;
            dv_value *frame = sp + 3;
            sp = dv_generator_enter(vm, g, frame, fp, ip + LEN, DV_RESUMER_FOR, CELL(2).target);
            *sp++ = DV_NONE;
            fp = frame;
            JUMP(next);
        }
    }
    SLOW();
    --- out of line ---
    const dv_value iterator = sp[-1];
    const uint32_t shape = dv_is_object(iterator) ? dv_as_object(iterator)->shape : DV_T_COUNT;
    /* The loop's back edge polls, and iterators of iterators ask for room: none of dv_next's care is needed. */
    const bool plain = shape < DV_T_COUNT && vm->types[shape]->next;
    const dv_value item = plain ? vm->types[shape]->next(vm, iterator) : dv_next(vm, iterator);
    if (DV_UNLIKELY(dv_is_empty(item))) {
        if (!dv_is_empty(vm->error)) RAISE();
        const dv_cell *target = CELL(2).target;
        sp--;
        PUBLISH();
        dv_release_outer(vm, iterator);
        JUMP(target);
    }
    DONE(item);
</%isa:op>

## The ends of a FOR_ITER with the STORE_LOCAL behind it, and of one without.
<%def name="found(item, stores)">\
% if stores:
    const dv_value item = ${item}, replaced = LOCAL(LEN + 1);
    LOCAL(LEN + 1) = item;
    ip += LEN + 2;
    GO_RELEASING(replaced);
% else:
    DONE(${item});
% endif
</%def>\

% for suffix, modes, also in (("", "", ""), ("_STORE", "STORE_LOCAL", ", and the STORE_LOCAL behind it")):
<%isa:derivative name="FOR_ITER_RANGE${suffix}" of="FOR_ITER" result="int" covers="${modes}" doc="FOR_ITER over a range${also}.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_RANGE_ITERATOR) || GUARD_FAILS())) MISS();
    dv_range_iterator *range = (dv_range_iterator *)dv_as_object(iterator);
    const int64_t i = range->next;
    if (DV_UNLIKELY(!dv_fits_int(i))) MISS();
    if (DV_UNLIKELY(range->remaining <= 0)) SLOW();
    range->remaining--;
    range->next = (int64_t)((uint64_t)i + (uint64_t)range->step);
${found("dv_int(i)", suffix)}\
    --- out of line ---
    dv_range_iterator *range = (dv_range_iterator *)dv_as_object(sp[-1]);
    ip = CELL(2).target;
    sp--;
    if (--range->header.references == 0) dv_heap_part_free(&vm->heap, DV_HEAP_PLAIN, range, sizeof *range);
    DEAD();
    GO();
</%isa:derivative>

% for name, type in (("list", "LIST"), ("tuple", "TUPLE")):
<%isa:derivative name="FOR_ITER_${type}${suffix}" saw="${type.lower()}" of="FOR_ITER" covers="${modes}" doc="FOR_ITER over a ${name}${also}.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ITERATOR) || GUARD_FAILS())) MISS();
    dv_iterator *walk = (dv_iterator *)dv_as_object(iterator);
    if (DV_UNLIKELY(walk->walked != DV_T_${type})) MISS();
    const dv_${name} *sequence = dv_as_${name}(walk->sequence);
    if (DV_UNLIKELY(walk->next >= sequence->count)) SLOW();
${found("dv_retain(sequence->items[walk->next++])", suffix)}\
    --- out of line ---
${exhausted()}</%isa:derivative>
% endfor

<%isa:derivative name="FOR_ITER_STR${suffix}" saw="str" promises="typed" of="FOR_ITER" result="str" covers="${modes}" doc="FOR_ITER over a str${also}.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ITERATOR) || GUARD_FAILS())) MISS();
    dv_iterator *walk = (dv_iterator *)dv_as_object(iterator);
    if (DV_UNLIKELY(walk->walked != DV_T_STR)) MISS();
    const dv_str *s = dv_as_str(walk->sequence);
    if (DV_UNLIKELY(walk->next >= s->length)) SLOW();
    const uint32_t c = dv_str_at(s, walk->next);
    if (DV_UNLIKELY(c >= DV_STR_CHARS || !vm->interned || !vm->interned[c])) TAIL(DV_H(FOR_ITER));
    walk->next++;
    vm->interned[c]->references++;
${found("dv_object_value(vm->interned[c])", suffix)}\
    --- out of line ---
${exhausted()}</%isa:derivative>
% endfor

<%isa:derivative name="FOR_ITER_BYTES" saw="bytes" of="FOR_ITER" result="int" doc="FOR_ITER over a bytes or a bytearray.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ITERATOR) || GUARD_FAILS())) MISS();
    dv_iterator *walk = (dv_iterator *)dv_as_object(iterator);
    const bool fixed = dv_is_shape(walk->sequence, DV_T_BYTES);
    if (DV_UNLIKELY(!fixed && !dv_is_shape(walk->sequence, DV_T_BYTEARRAY))) MISS();
    const dv_str *s = dv_as_str(fixed ? walk->sequence : ((const dv_bytearray *)dv_as_object(walk->sequence))->bytes);
    if (DV_UNLIKELY(walk->next >= s->length)) SLOW();
    DONE(dv_int((uint8_t)s->data[walk->next++]));
    --- out of line ---
${exhausted()}</%isa:derivative>

<%isa:derivative name="FOR_ITER_ARRAY" saw="array" of="FOR_ITER" doc="FOR_ITER over an array.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ITERATOR) || GUARD_FAILS())) MISS();
    dv_iterator *walk = (dv_iterator *)dv_as_object(iterator);
    if (DV_UNLIKELY(walk->walked != DV_T_ARRAY)) MISS();
    const dv_array *array = dv_as_array(walk->sequence);
    if (DV_UNLIKELY(walk->next >= array->count || array->element != DV_FLOAT64)) SLOW();
    DONE(dv_float_foreign(((const double *)(const void *)array->data)[walk->next++]));
    --- out of line ---
    dv_iterator *whole = (dv_iterator *)dv_as_object(sp[-1]);
    const dv_array *array = dv_as_array(whole->sequence);
    if (whole->next < array->count) {
        const dv_value item = dv_array_get(vm, array, whole->next);
        if (DV_UNLIKELY(dv_is_empty(item))) RAISE();
        whole->next++;
        DONE(item);
    }
${exhausted()}</%isa:derivative>

<%isa:derivative name="FOR_ITER_BUFFER" saw="buffer" of="FOR_ITER" doc="FOR_ITER over an object of an extension whose items are float64 or int64, by its elements.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ITERATOR) || GUARD_FAILS())) MISS();
    dv_iterator *walk = (dv_iterator *)dv_as_object(iterator);
    const bool floats = dv_has_items(vm, walk->sequence, DV_FLOAT64);
    if (DV_UNLIKELY(!floats && !dv_has_items(vm, walk->sequence, DV_INT64))) MISS();
    const char *at = dv_item_at(dv_buffer_of(vm, walk->sequence), walk->next);
    if (DV_UNLIKELY(!at)) TAIL(DV_H(FOR_ITER));
    double x;
    int64_t i;
    memcpy(&x, at, sizeof x);
    memcpy(&i, at, sizeof i);
    if (DV_UNLIKELY(!floats && !dv_fits_int(i))) TAIL(DV_H(FOR_ITER));
    walk->next++;
    DONE(floats ? dv_float_foreign(x) : dv_int(i));
</%isa:derivative>

<%isa:derivative name="FOR_ITER_NEXT" of="FOR_ITER" doc="FOR_ITER over an iterator of another built-in type.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_object(iterator) || dv_as_object(iterator)->shape >= DV_T_COUNT || dv_is_generator(iterator) || GUARD_FAILS())) MISS();
    const dv_type *type = vm->types[dv_as_object(iterator)->shape];
    if (DV_UNLIKELY(!type->next)) MISS();
    const dv_cell *target = CELL(2).target;
    PUBLISH();
    const dv_value item = type->next(vm, iterator);
    if (DV_UNLIKELY(dv_is_empty(item))) {
        if (!dv_is_empty(vm->error)) RAISE();
        sp--;
        PUBLISH();
        dv_release_outer(vm, iterator);
        JUMP(target);
    }
    DONE(item);
</%isa:derivative>

<%isa:derivative name="FOR_ITER_PAIR" of="FOR_ITER" covers="UNPACK_SEQUENCE" doc="FOR_ITER over an enumerate or the items of a dict, and the UNPACK_SEQUENCE into two behind it, without the tuple.">
    const dv_value iterator = sp[-1];
    const dv_type *type = dv_is_object(iterator) && dv_as_object(iterator)->shape < DV_T_COUNT ? vm->types[dv_as_object(iterator)->shape] : NULL;
    if (DV_UNLIKELY(!type || !type->next_pair || GUARD_FAILS())) MISS();
    const dv_cell *target = CELL(2).target;
    PUBLISH();
    const int got = type->next_pair(vm, iterator, sp);
    if (DV_UNLIKELY(got < 0)) MISS();
    if (DV_UNLIKELY(got == 0)) {
        if (!dv_is_empty(vm->error)) RAISE();
        sp--;
        PUBLISH();
        dv_release_outer(vm, iterator);
        JUMP(target);
    }
    const dv_value first = sp[0];
    sp[0] = sp[1];
    sp[1] = first;
    sp += 2;
    JUMP(ip + LEN + 2);
</%isa:derivative>

% for kind in ("list", "tuple"):
<%isa:derivative name="FOR_ITER_ENUMERATE${'' if kind == 'list' else '_TUPLE'}" saw="enumerate${'' if kind == 'list' else '_tuple'}" of="FOR_ITER" covers="UNPACK_SEQUENCE" doc="FOR_ITER over an enumerate of a ${kind}, and the UNPACK_SEQUENCE into two behind it, without the tuple.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ENUMERATE) || GUARD_FAILS())) MISS();
    dv_enumerate *e = (dv_enumerate *)dv_as_object(iterator);
    dv_iterator *walk = dv_${kind}_walk(e->iterator);
    const dv_value number = e->number;
    if (DV_UNLIKELY(!walk || !dv_is_int(number) || !dv_fits_int(dv_as_int(number) + 1))) TAIL(DV_H(FOR_ITER_PAIR));
    sp[0] = dv_retain(dv_as_${kind}(walk->sequence)->items[walk->next]);
    walk->next++;
    sp[1] = number;
    e->number = dv_int(dv_as_int(number) + 1);
    sp += 2;
    JUMP(ip + LEN + 2);
</%isa:derivative>
% endfor

<%isa:derivative name="FOR_ITER_ENUMERATE_STR" saw="enumerate_str" promises="typed" of="FOR_ITER" covers="UNPACK_SEQUENCE" doc="FOR_ITER over an enumerate of a str, and the UNPACK_SEQUENCE into two behind it, without the tuple.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ENUMERATE) || GUARD_FAILS())) MISS();
    dv_enumerate *e = (dv_enumerate *)dv_as_object(iterator);
    dv_iterator *walk = dv_str_walk(e->iterator);
    const dv_value number = e->number;
    if (DV_UNLIKELY(!walk || !dv_is_int(number) || !dv_fits_int(dv_as_int(number) + 1))) TAIL(DV_H(FOR_ITER_PAIR));
    const uint32_t c = dv_str_at(dv_as_str(walk->sequence), walk->next);
    if (DV_UNLIKELY(c >= DV_STR_CHARS || !vm->interned || !vm->interned[c])) TAIL(DV_H(FOR_ITER_PAIR));
    vm->interned[c]->references++;
    sp[0] = dv_object_value(vm->interned[c]);
    walk->next++;
    sp[1] = number;
    e->number = dv_int(dv_as_int(number) + 1);
    sp += 2;
    JUMP(ip + LEN + 2);
</%isa:derivative>

<%isa:derivative name="FOR_ITER_ZIP" saw="zip" of="FOR_ITER" covers="UNPACK_SEQUENCE" doc="FOR_ITER over a zip of two lists, and the UNPACK_SEQUENCE into two behind it, without the tuple.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ZIP) || GUARD_FAILS())) MISS();
    const dv_many *zip = (const dv_many *)dv_as_object(iterator);
    if (DV_UNLIKELY(zip->count != 2 || !dv_is_empty(zip->function))) TAIL(DV_H(FOR_ITER_PAIR));
    dv_iterator *first = dv_list_walk(zip->iterators[0]), *second = dv_list_walk(zip->iterators[1]);
    if (DV_UNLIKELY(!first || !second || first == second)) TAIL(DV_H(FOR_ITER_PAIR));
    sp[0] = dv_retain(dv_list_walk_item(second));
    sp[1] = dv_retain(dv_list_walk_item(first));
    first->next++;
    second->next++;
    sp += 2;
    JUMP(ip + LEN + 2);
</%isa:derivative>

<%isa:derivative name="FOR_ITER_ZIP_ITEMS" of="FOR_ITER" covers="UNPACK_SEQUENCE" doc="FOR_ITER over a zip of two lists or tuples of which one is a tuple, and the UNPACK_SEQUENCE into two behind it, without the tuple.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ZIP) || GUARD_FAILS())) MISS();
    const dv_many *zip = (const dv_many *)dv_as_object(iterator);
    if (DV_UNLIKELY(zip->count != 2 || !dv_is_empty(zip->function))) TAIL(DV_H(FOR_ITER_PAIR));
    const dv_value *first_item = dv_items_walk(zip->iterators[0]), *second_item = dv_items_walk(zip->iterators[1]);
    if (DV_UNLIKELY(!first_item || !second_item || dv_same(zip->iterators[0], zip->iterators[1]))) TAIL(DV_H(FOR_ITER_PAIR));
    sp[0] = dv_retain(*second_item);
    sp[1] = dv_retain(*first_item);
    ((dv_iterator *)dv_as_object(zip->iterators[0]))->next++;
    ((dv_iterator *)dv_as_object(zip->iterators[1]))->next++;
    sp += 2;
    JUMP(ip + LEN + 2);
</%isa:derivative>

% for part in ("KEYS", "VALUES", "ITEMS"):
<%isa:derivative name="FOR_ITER_DICT_${part}" saw="${part.lower()}" of="FOR_ITER" covers="${'UNPACK_SEQUENCE' if part == 'ITEMS' else ''}" doc="FOR_ITER over the ${part.lower()} of a dict${', and the UNPACK_SEQUENCE into two behind it, without the tuple' if part == 'ITEMS' else ''}.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_DICT_ITERATOR) || GUARD_FAILS())) MISS();
    dv_dict_iterator *walk = (dv_dict_iterator *)dv_as_object(iterator);
    if (DV_UNLIKELY(walk->part != DV_DICT_${part} || walk->backward)) MISS();
    if (DV_UNLIKELY(dv_is_empty(walk->dict))) TAIL(DV_H(FOR_ITER));
    const dv_dict *dict = dv_as_dict(walk->dict);
    const int64_t i = walk->position;
    if (DV_UNLIKELY(walk->count != dict->count)) TAIL(DV_H(FOR_ITER));
    if (DV_UNLIKELY(i >= dict->used)) SLOW();
    if (DV_UNLIKELY(walk->remaining <= 0)) TAIL(DV_H(FOR_ITER));
    const dv_dict_entry *entry = &dict->entries[i];
    if (DV_UNLIKELY(dv_is_empty(entry->key))) TAIL(DV_H(FOR_ITER)); /* deleted */
    walk->position = i + 1;
    walk->remaining--;
% if part == "ITEMS":
    sp[0] = dv_retain(entry->value);
    sp[1] = dv_retain(entry->key);
    sp += 2;
    JUMP(ip + LEN + 2);
% else:
    DONE(dv_retain(entry->${'key' if part == 'KEYS' else 'value'}));
% endif
    --- out of line ---
    dv_dict_iterator *walk = (dv_dict_iterator *)dv_as_object(sp[-1]);
    const dv_value dict = walk->dict;
    ip = CELL(2).target;
    sp--;
    if (DV_LIKELY(walk->header.references == 1)) {
        dv_container_free(vm, walk, sizeof *walk);
    } else {
        walk->header.references--;
        walk->dict = DV_EMPTY;
    }
    GO_RELEASING(dict);
</%isa:derivative>

% endfor
<%isa:derivative name="FOR_ITER_SET" saw="set" of="FOR_ITER" doc="FOR_ITER over a set.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_SET_ITERATOR) || GUARD_FAILS())) MISS();
    dv_set_iterator *walk = (dv_set_iterator *)dv_as_object(iterator);
    if (DV_UNLIKELY(dv_is_empty(walk->set) || walk->used != dv_as_set(walk->set)->used)) TAIL(DV_H(FOR_ITER));
    uint64_t position = walk->position;
    const dv_set_entry *entry = dv_set_walk(walk->set, &position);
    if (DV_UNLIKELY(!entry || position - walk->position > DV_SET_GAP)) TAIL(DV_H(FOR_ITER));
    walk->position = position;
    DONE(dv_retain(entry->key));
</%isa:derivative>

<%isa:derivative name="FOR_ITER_REVERSED" saw="reversed" of="FOR_ITER" doc="FOR_ITER over a reversed list.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_REVERSED) || GUARD_FAILS())) MISS();
    dv_pair_iterator *walk = (dv_pair_iterator *)dv_as_object(iterator);
    const dv_value *item = dv_list_reversed_item(walk);
    if (DV_UNLIKELY(!item)) TAIL(DV_H(FOR_ITER));
    walk->next--;
    DONE(dv_retain(*item));
</%isa:derivative>

<%isa:derivative name="FOR_ITER_ROWS" saw="rows" promises="typed" of="FOR_ITER" covers="UNPACK_SEQUENCE" doc="FOR_ITER over a list of tuples of two, and the UNPACK_SEQUENCE into two behind it.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ITERATOR) || GUARD_FAILS())) MISS();
    const dv_tuple *row = dv_row_walk(iterator, 2);
    if (DV_UNLIKELY(!row)) TAIL(DV_H(FOR_ITER_LIST));
    ((dv_iterator *)dv_as_object(iterator))->next++;
    sp[0] = dv_retain(row->items[1]);
    sp[1] = dv_retain(row->items[0]);
    sp += 2;
    JUMP(ip + LEN + 2);
</%isa:derivative>

<%isa:derivative name="FOR_ITER_LONG_ROWS" saw="long_rows" promises="typed" of="FOR_ITER" covers="UNPACK_SEQUENCE" doc="FOR_ITER over a list of tuples of three or more, and the UNPACK_SEQUENCE behind it.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ITERATOR) || GUARD_FAILS())) MISS();
    const int64_t n = CELL(LEN + 1).i;
    const dv_tuple *row = dv_row_walk(iterator, n);
    if (DV_UNLIKELY(!row)) TAIL(DV_H(FOR_ITER_LIST));
    ((dv_iterator *)dv_as_object(iterator))->next++;
    for (int64_t i = 0; i < n; i++) sp[i] = dv_retain(row->items[n - 1 - i]);
    sp += n;
    JUMP(ip + LEN + 2);
</%isa:derivative>

<%isa:derivative name="FOR_ITER_LONG_ZIP" saw="long_zip" promises="typed" of="FOR_ITER" covers="UNPACK_SEQUENCE" doc="FOR_ITER over a zip of three or more lists, and the UNPACK_SEQUENCE behind it, without the tuple.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(iterator, DV_T_ZIP) || GUARD_FAILS())) MISS();
    const int64_t n = CELL(LEN + 1).i;
    dv_many *zip = dv_as_many(iterator);
    if (DV_UNLIKELY(!dv_zip_walks_lists(zip, n))) TAIL(DV_H(FOR_ITER));
    for (int64_t i = 0; i < n; i++) sp[i] = dv_retain(dv_zip_item(zip, n - 1 - i));
    dv_zip_advance(zip, n);
    sp += n;
    JUMP(ip + LEN + 2);
</%isa:derivative>

<%isa:derivative name="FOR_ITER_DL" of="FOR_ITER" doc="FOR_ITER over an instance whose class has __next__ in dl: enters its frame.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_plain_instance(iterator) || GUARD_FAILS())) MISS();
    dv_function *method = dv_operate_enters(vm, dv_operate_known(vm, iterator, vm->known.next), 1, sp);
    if (DV_UNLIKELY(!method)) MISS();
    OPERATE1(method, iterator, DV_OPERATE_HOW(DV_OPERATE_NEXT, 0, 0));
</%isa:derivative>

<%isa:derivative name="FOR_ITER_GENERATOR" saw="generator" of="FOR_ITER" doc="FOR_ITER over a generator: enters its frame.">
    const dv_value iterator = sp[-1];
    if (DV_UNLIKELY(!dv_is_generator(iterator) || GUARD_FAILS())) MISS();
    dv_generator *g = dv_as_generator(iterator);
    if (DV_UNLIKELY(!dv_generator_fits(vm, g, sp + 3))) MISS();
    const dv_cell *next = g->next;
    dv_value *frame = sp + 3;
    sp = dv_generator_enter(vm, g, frame, fp, ip + LEN, DV_RESUMER_FOR, CELL(2).target);
    *sp++ = DV_NONE;
    fp = frame;
    JUMP(next);
</%isa:derivative>

<%isa:op name="MAKE_GENERATOR" stack="-- sent" calls_out="yes" kills="all" doc="Behind the prologue of a generator function: returns a generator that holds the frame. What is sent to it first is pushed when it is resumed.">
    const dv_cell *link = dv_frame_link(fp);
    dv_generator *g = dv_generator_make(vm, fp, ip);
    if (!g) RAISE();
    dv_value *caller = dv_frame_caller(fp);
    vm->calls_left++;
    sp = fp - 2;
    sp[-1] = dv_object_value(g);
    fp = caller;
    JUMP(link);
</%isa:op>

<%isa:op name="YIELD" region="yields counts" stack="v -- sent" kills="all" doc="Suspends the generator; its caller gets the value. What is sent to it is pushed when it is resumed.">
    const dv_cell *link = dv_frame_link(fp);
    if (link == dv_consume_cell) SLOW();
    dv_value *caller = dv_frame_caller(fp);
    dv_generator_suspend(vm, vm->generator, fp, sp - 1, ip, ip + LEN, false);
    sp = fp - 2;
    sp[-1] = v;
    fp = caller;
    JUMP(link);
    --- out of line ---
    if (DV_UNLIKELY(!dv_consume_quickly(fp, v))) TAIL(dv_slow_yield);
    sp[-1] = DV_NONE;
    NEXT();
</%isa:op>

<%isa:op name="CONSUMED" stack="v --" doc="Where a generator yields or returns that a builtin consumes (run/consume.h): takes the value and resumes the generator, or goes on behind the call. Not emitted by the compiler.">
    DEAD();
    TAIL(dv_slow_consumed);
</%isa:op>

<%isa:op name="GET_YIELD_FROM" region="yields counts" stack="v -- receiver" calls_out="yes" kills="all" doc="Makes an iterator for yield from; a generator is its own.">
    const dv_value result = dv_yield_from(vm, v);
    if (dv_is_empty(result)) RAISE();
    dv_release_outer(vm, v);
    DONE(result);
</%isa:op>

<%def name="send_to_generator()">\
    const dv_value receiver = sp[-2], sent = sp[-1];
    if (dv_is_generator(receiver)) {
        dv_generator *g = dv_as_generator(receiver);
        if (dv_generator_fits(vm, g, sp + 2) && (dv_is_none(sent) || g->state == DV_GENERATOR_SUSPENDED)) {
            const dv_cell *next = g->next;
            dv_value *frame = sp + 2;
            vm->work_left -= 2; /* a chain of generators may be long (core/work.h) */
            sp = dv_generator_enter(vm, g, frame, fp, ip + LEN, DV_RESUMER_SEND, CELL(2).target);
            *sp++ = sent;
            fp = frame;
            JUMP(next);
        }
    }
</%def>\
<%isa:op name="SEND" operands="jump" site="yes" variable="send" stack="receiver sent -- receiver2 v" calls_out="yes" kills="all" select="dv_choose_send" doc="Sends the top to the generator or iterator below it, and replaces it by what that yields; or replaces both by the value that it returns, and jumps.">
${send_to_generator()}    DEAD();
    TAIL(dv_slow_send);
</%isa:op>

<%isa:derivative name="SEND_GENERATOR" of="SEND" doc="SEND to a generator that can be entered.">
    if (DV_UNLIKELY(!dv_is_generator(sp[-2]) || GUARD_FAILS())) MISS();
${send_to_generator()}    DEAD();
    TAIL(dv_slow_send);
</%isa:derivative>

<%isa:derivative name="SEND_NEXT" of="SEND" doc="SEND of None to an iterator of a built-in type that is no generator: takes its next item.">
    SLOW();
    --- out of line ---
    const dv_value receiver = sp[-2];
    const dv_type *type = dv_operate_type(vm, receiver);
    if (DV_UNLIKELY(!type || !type->next || dv_is_generator(receiver) || !dv_is_none(sp[-1]) || GUARD_FAILS())) MISS();
    PUBLISH();
    const dv_value item = dv_next(vm, receiver);
    if (DV_LIKELY(!dv_is_empty(item))) {
        sp[-1] = item;
        NEXT();
    }
    if (DV_UNLIKELY(!dv_is_empty(vm->error))) TAIL(dv_slow_send_failed);
    sp--;
    sp[-1] = DV_NONE;
    ip = CELL(2).target;
    GO_RELEASING(receiver);
</%isa:derivative>

<%isa:op name="YIELD_FROM" operands="jump" variable="yield_from" stack="v --" kills="all" ends="yes" doc="Suspends the generator within yield from; its caller gets the value. What is sent to it is pushed and sent on, by the SEND that this jumps to, when it is resumed.">
    const dv_cell *link = dv_frame_link(fp);
    const dv_value v = sp[-1];
    dv_value *caller = dv_frame_caller(fp);
    dv_generator_suspend(vm, vm->generator, fp, sp - 1, ip, CELL(1).target, true);
    sp = fp - 2;
    sp[-1] = v;
    fp = caller;
    JUMP(link);
</%isa:op>

<%isa:op name="RETURN_GENERATOR" region="dv_step_return_generator" stack="v --" calls_out="yes" kills="all" ends="yes" doc="Ends the generator with the top of the stack as its value.">
    DEAD();
    TAIL(dv_slow_return_generator);
</%isa:op>

<%isa:op name="RAISE" region="dv_step_raise" operands="count" variable="raise" stack="exc --" calls_out="yes" kills="all" ends="yes" doc="raise, raise exc, raise exc from cause.">
    const int64_t n = CELL(1).i;
    const dv_value handled = n == 0 ? dv_handled_exception(vm) : DV_NONE;
    if (n == 0 && dv_is_none(handled)) {
        dv_raise(vm, DV_E_RUNTIME_ERROR, "No active exception to reraise");
    } else if (n == 0) {
        vm->error = dv_retain(handled);
    } else {
        dv_exception_raise(vm, sp[-n], n == 2 ? sp[-1] : DV_EMPTY);
    }
    RAISE();
</%isa:op>

<%isa:op name="RERAISE" region="dv_step_reraise" stack="exc --" calls_out="yes" ends="yes" doc="Raises the exception on top again; its traceback goes on growing.">
    vm->error = exc;
    sp -= 1;
    PUBLISH();
    RAISE();
</%isa:op>

<%isa:op name="ENTER_HANDLER" region="dv_step_enter_handler" stack="exc -- previous exc2" doc="The exception on top becomes the one being handled; the previously handled one is saved below it.">
    sp[-1] = vm->handled;
    sp[0] = exc;
    vm->handled = dv_retain(exc);
    sp++;
    NEXT();
</%isa:op>

<%isa:op name="MATCH_EXCEPTION" region="dv_step_match_exception" stack="exc type -- exc2 matches" calls_out="yes" kills="all" doc="Does an except clause with this type (or tuple of types) catch the exception below?">
    const int matches = dv_exception_match(vm, exc, type);
    if (matches < 0) RAISE();
    dv_release_outer(vm, type);
    DONE(dv_bool(matches));
</%isa:op>

<%isa:op name="LEAVE_HANDLER" region="dv_step_leave_handler" stack="previous --" doc="Restores the previously handled exception.">
    const dv_value handled = vm->handled;
    vm->handled = previous;
    sp -= 1;
    NEXT_RELEASING(handled);
</%isa:op>

<%isa:op name="BEFORE_WITH" region="leaves counts" stack="manager -- exit entered" calls_out="yes" kills="all" doc="Begins a with statement: pushes the manager's bound __exit__ and what its __enter__ returns.">
    if (!dv_with_methods(vm, manager, sp)) RAISE();
    const dv_value enter = sp[1];
    if (dv_is_function(enter)) {
        const dv_thread *thread = dv_function_thread(dv_as_function(enter));
        dv_value *frame = sp + 3;
        if (thread->exact_arguments == 1 && dv_frame_fits(vm, thread, frame)) {
            sp[-1] = sp[0];
            sp[0] = enter;
            frame[0] = manager;
            sp = dv_frame_push(vm, thread, frame, fp, ip + LEN);
            fp = frame;
            JUMP(thread->entry);
        }
    }
    if (!dv_enter_with(vm, manager, sp)) RAISE();
    sp++;
    vm->sp = sp;
    dv_release_outer(vm, manager);
    NEXT();
</%isa:op>

<%isa:op name="WITH_EXCEPTION" region="rare" stack="exit previous exc -- exit2 previous2 exc2 result" calls_out="yes" kills="all" doc="Calls the exit below with type, value and traceback of the exception on top.">
    const dv_value result = dv_exit_with(vm, exit, exc);
    if (dv_is_empty(result)) RAISE();
    sp[0] = result;
    sp++;
    NEXT();
</%isa:op>

<%isa:op name="PRINT_EXPR" stack="v --" calls_out="yes" kills="all" doc="REPL: prints the value of an expression statement.">
    if (!dv_print_expression(vm, v)) RAISE();
    dv_release_outer(vm, v);
    DONE0();
</%isa:op>
