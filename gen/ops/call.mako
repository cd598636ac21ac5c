## call.mako: calls, functions, classes, modules.

<%isa:op name="PREPARE_CALL" region="dv_step_prepare_call" stack="-- R1 R2" doc="Pushes the two reserved entries of a call (caller's next ip and fp).">
    sp += 2;
    NEXT();
</%isa:op>

<%isa:op name="CALL" region="dv_step_call" promises="nothing" operands="count" site="yes" cache="1" variable="call" stack="args -- r" calls_out="yes" kills="all" select="dv_choose_call" doc="Calls with n positional arguments.">
    const int64_t n = CELL(2).i;
    const dv_value callee = sp[-n - 3];
    if (dv_is_function(callee)) {
        const dv_thread *thread = dv_function_thread(dv_as_function(callee));
        if (thread->exact_arguments == n && dv_frame_fits(vm, thread, sp - n)) {
            dv_value *frame = sp - n;
            sp = dv_frame_push(vm, thread, frame, fp, ip + LEN);
            fp = frame;
            JUMP(thread->entry);
        }
    }
    r = n;
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_call);
</%isa:op>

## Entering a dl function whose n arguments are in place; with defaults, for those that are missing.
<%def name="check_arguments(defaults, has, condition='')">\
    const dv_thread *thread = dv_function_thread(dv_as_function(callee));
% if defaults:
    const int64_t missing = thread->exact_arguments - ${has};
    if (DV_UNLIKELY(missing <= 0${condition})) MISS();
    const dv_value *values = dv_frame_defaults(dv_as_function(callee), missing);
    if (DV_UNLIKELY(!values || !dv_frame_fits(vm, thread, sp - ${has}) || GUARD_FAILS())) MISS();
% else:
    if (DV_UNLIKELY(thread->exact_arguments != ${has}${condition} || !dv_frame_fits(vm, thread, sp - ${has}) || GUARD_FAILS())) MISS();
% endif
</%def>\
<%def name="enter_function(defaults, has)">\
    dv_value *frame = sp - ${has};
% if defaults:
    for (int64_t i = 0; i < missing; i++) sp[i] = dv_retain(values[i]);
    sp = dv_frame_push(vm, thread, frame, fp, ip + LEN);
% else:
    sp = dv_frame_push_from(vm, thread, frame, sp, fp, ip + LEN);
% endif
    fp = frame;
    JUMP(thread->entry);
</%def>\
% for defaults, form, what in ((False, "CALL_DL", "exactly its positional parameters; the cache says which was seen"), (True, "CALL_DL_DEFAULTS", "fewer arguments than it has parameters, for which it has defaults")):
<%isa:derivative name="${form}" of="CALL" cache="thread" doc="CALL of a dl function with ${what}.">
    const int64_t n = CELL(2).i;
    const dv_value callee = sp[-n - 3];
    if (DV_UNLIKELY(!dv_is_function(callee))) MISS();
${check_arguments(defaults, "n")}${enter_function(defaults, "n")}</%isa:derivative>
% endfor

<%isa:derivative name="CALL_BOUND" of="CALL" doc="CALL of a bound method of a dl function with exactly its other positional parameters.">
    const int64_t n = CELL(2).i;
    const dv_value bound = sp[-n - 3];
    if (DV_UNLIKELY(!dv_is_shape(bound, DV_T_METHOD))) MISS();
    const dv_value callee = ((const dv_method *)dv_as_object(bound))->function;
    if (DV_UNLIKELY(!dv_is_function(callee))) MISS();
    const dv_thread *thread = dv_function_thread(dv_as_function(callee));
    if (DV_UNLIKELY(thread->exact_arguments != n + 1 || !dv_frame_fits(vm, thread, sp - n) || GUARD_FAILS())) MISS();
    if (DV_UNLIKELY(dv_as_object(bound)->references == 1)) SLOW(); /* it dies */
    dv_as_object(bound)->references--;
    dv_value *frame = sp - n;
    for (int64_t i = n; i > 0; i--) {
        frame[i] = frame[i - 1];
        __asm__("" ::: "memory"); /* no memmove */
    }
    frame[0] = dv_retain(((const dv_method *)dv_as_object(bound))->self);
    frame[-3] = dv_retain(callee);
    sp = dv_frame_push_from(vm, thread, frame, frame + n + 1, fp, ip + LEN);
    fp = frame;
    JUMP(thread->entry);
    --- out of line ---
    /* The frame takes over what the bound method refers to. */
    const int64_t n = CELL(2).i;
    dv_value *frame = sp - n;
    dv_method *bound = (dv_method *)dv_as_object(frame[-3]);
    for (int64_t i = n; i > 0; i--) {
        frame[i] = frame[i - 1];
        __asm__("" ::: "memory"); /* no memmove */
    }
    frame[0] = bound->self;
    frame[-3] = bound->function;
    dv_container_free(vm, bound, sizeof *bound);
    const dv_thread *thread = dv_frame_thread(frame);
    sp = dv_frame_push_from(vm, thread, frame, frame + n + 1, fp, ip + LEN);
    fp = frame;
    JUMP(thread->entry);
</%isa:derivative>

## class R R args...  becomes  self | next ip | __init__ R R self args... (run/call.c).
<%def name="call_class(defaults, n)">\
    const dv_value class_ = sp[-${n} - 3];
    if (DV_UNLIKELY(!dv_is_class(class_))) MISS();
    const dv_global_cell *cell = dv_as_class(class_)->constructor;
    if (DV_UNLIKELY(!cell || !dv_is_function(cell->value))) MISS();
    dv_function *init = dv_as_function(cell->value);
    const dv_thread *thread = dv_function_thread(init);
    dv_value *frame = sp - ${n} + 2;
% if defaults:
    const int64_t missing = thread->init_arguments - n;
    if (DV_UNLIKELY(missing <= 0 || !dv_frame_fits(vm, thread, frame) || GUARD_FAILS())) MISS();
    const dv_value *values = dv_frame_defaults(init, missing);
    if (DV_UNLIKELY(!values)) MISS();
% else:
    if (DV_UNLIKELY(thread->init_arguments != ${n} || !dv_frame_fits(vm, thread, frame) || GUARD_FAILS())) MISS();
% endif
    dv_instance *self = dv_frame_instance(vm, dv_as_class(class_), 2);
    if (DV_UNLIKELY(!self)) SLOW();
% if n == "n":
    for (int64_t i = n; i > 0; i--) {
        frame[i] = frame[i - 3];
        __asm__("" ::: "memory"); /* no memmove */
    }
% else:
% for i in range(int(n), 0, -1):
    frame[${i}] = frame[${i - 3}];
% endfor
% endif
% if defaults:
    for (int64_t i = 0; i < missing; i++) frame[n + 1 + i] = dv_retain(values[i]);
% endif
    frame[-5] = frame[0] = dv_object_value(self); /* the class's reference is now the instance's */
    frame[-4] = dv_raw_pointer(ip + LEN);
    frame[-3] = dv_retain(dv_object_value(init));
% if defaults:
    sp = dv_frame_push(vm, thread, frame, fp, dv_construct_cell);
% else:
    sp = dv_frame_push_from(vm, thread, frame, sp + 3, fp, dv_construct_cell);
% endif
    fp = frame;
    JUMP(thread->entry);
    --- out of line ---
    r = CELL(2).i;
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_call);
</%def>\
% for defaults, form, what in ((False, "CALL_CLASS", "exactly self and these arguments"), (True, "CALL_CLASS_DEFAULTS", "self, these arguments, and defaults for the others")):
<%isa:derivative name="${form}" saw="init" of="CALL" doc="CALL of a dl class whose __init__ is a dl function with ${what}: makes the instance and enters it.">
    const int64_t n = CELL(2).i;
${call_class(defaults, "n")}</%isa:derivative>
% endfor
% for n in "01234":
<%isa:derivative name="CALL_CLASS_${n}" variant_of="CALL_CLASS" where="arguments=${n}" of="CALL" doc="What CALL_CLASS becomes at a site with ${n} arguments.">
${call_class(False, n)}</%isa:derivative>
% endfor

## instance R R args...  becomes  instance | next ip | __call__ R R instance args... (run/call.c).
<%isa:derivative name="CALL_INSTANCE" of="CALL" doc="CALL of an instance of a dl class whose __call__ is a dl function with exactly self and these arguments: enters it.">
    const int64_t n = CELL(2).i;
    const dv_value callee = sp[-n - 3];
    if (DV_UNLIKELY(!dv_is_plain_instance(callee))) MISS();
    const dv_special *known = dv_operate_known(vm, callee, vm->known.call);
    if (DV_UNLIKELY(!known)) TAIL(DV_H(CALL)); /* which looks it up */
    if (DV_UNLIKELY(!known->cell || !dv_is_function(known->cell->value))) MISS();
    const dv_value method = known->cell->value;
    const dv_thread *thread = dv_function_thread(dv_as_function(method));
    dv_value *frame = sp - n + 2;
    if (DV_UNLIKELY(thread->exact_arguments != n + 1 || !dv_frame_fits(vm, thread, frame) || vm->calls_left < 2 || GUARD_FAILS())) MISS();
    for (int64_t i = n; i > 0; i--) {
        frame[i] = frame[i - 3];
        __asm__("" ::: "memory"); /* no memmove */
    }
    frame[0] = dv_retain(callee);
    frame[-4] = dv_raw_pointer(ip + LEN);
    frame[-3] = dv_retain(method);
    vm->calls_left--; /* the other one of two */
    sp = dv_frame_push_from(vm, thread, frame, sp + 3, fp, dv_instance_cell);
    fp = frame;
    JUMP(thread->entry);
</%isa:derivative>

<%isa:op name="CALLED" stack="callee next v -- r" doc="Where the __call__ returns that a call of an instance has entered; goes on behind the call. Not emitted by the compiler.">
    vm->calls_left++;
    sp -= 2;
    sp[-1] = v;
    ip = (const dv_cell *)(uintptr_t)next.bits;
    GO_RELEASING(callee);
</%isa:op>

<%isa:derivative name="CALL_CLASS_BARE" of="CALL" doc="CALL without arguments of a dl class that has no __init__: makes the instance.">
    const dv_value class_ = sp[-3];
    if (DV_UNLIKELY(CELL(2).i || !dv_is_class(class_) || dv_as_class(class_)->constructor != &dv_no_constructor || GUARD_FAILS())) MISS();
    dv_instance *self = dv_frame_instance(vm, dv_as_class(class_), 1);
    if (DV_UNLIKELY(!self)) TAIL(DV_H(CALL));
    sp -= 2;
    sp[-1] = dv_object_value(self); /* the class's reference is now the instance's */
    NEXT();
</%isa:derivative>

<%isa:derivative name="CALL_EXCEPTION" of="CALL" promises="boxed" doc="CALL of an exception class that keeps its arguments and does nothing else with them.">
    const int64_t n = CELL(2).i;
    const dv_value class_ = sp[-n - 3];
    if (DV_UNLIKELY(!dv_is_class(class_) || dv_as_class(class_)->constructor != &dv_exception_constructor || GUARD_FAILS())) MISS();
    PUBLISH();
    const dv_value result = dv_exception_take(vm, dv_as_class(class_), sp - n, (uint32_t)n);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    sp -= n + 2;
    sp[-1] = result; /* the class's reference is now the exception's */
    NEXT();
</%isa:derivative>

<%isa:derivative name="CALL_FIELDS" saw="fields" of="CALL" doc="CALL of the class of a named tuple with a value for each field: they become its items.">
    SLOW();
    --- out of line ---
    const int64_t n = CELL(2).i;
    const dv_value class_ = sp[-n - 3];
    if (DV_UNLIKELY(!dv_is_class(class_) || dv_as_class(class_)->fields != n + 1 || vm->calls_left <= 0 || GUARD_FAILS())) MISS();
    PUBLISH();
    const dv_value result = dv_tuple_take_for(vm, dv_as_class(class_), sp - n, n);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    sp -= n + 2;
    sp[-1] = result;
    NEXT_RELEASING(class_);
</%isa:derivative>

<%isa:derivative name="CALL_CLASS_NEW" saw="new" of="CALL" doc="CALL of a dl class whose __new__ is a dl function with exactly the class and these arguments: enters it.">
    SLOW();
    --- out of line ---
    const dv_value callee = sp[-CELL(2).i - 3];
    if (DV_UNLIKELY(dv_is_empty(dv_call_new_of(vm, callee)) || GUARD_FAILS())) MISS();
    r = CELL(2).i;
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_enter_new);
</%isa:derivative>

<%isa:derivative name="CALL_OBJECT" of="CALL" promises="boxed" doc="CALL of what C calls: a partial, a cache, an itemgetter, a class with a __new__ of dl or a metaclass that makes its instances.">
    SLOW();
    --- out of line ---
    const int64_t n = CELL(2).i;
    const dv_value callee = sp[-n - 3];
    if (DV_UNLIKELY(!dv_call_is_of_object(vm, callee) || GUARD_FAILS())) MISS();
    PUBLISH();
    const dv_value result = dv_call(vm, callee, sp - n, (uint32_t)n, DV_EMPTY);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n + 2;
    sp[-1] = result;
    NEXT_RELEASING(callee);
</%isa:derivative>

<%isa:op name="CONSTRUCTED" stack="self next v -- self2" doc="Where the __init__ returns that a call of a class has entered; goes on behind the call. Not emitted by the compiler.">
    if (DV_UNLIKELY(!dv_is_none(v))) SLOW();
    sp -= 2;
    JUMP((const dv_cell *)(uintptr_t)next.bits);
    --- out of line ---
    ip = (const dv_cell *)(uintptr_t)next.bits - 1;
    sp -= 2;
    PUBLISH();
    dv_raise(vm, DV_E_TYPE_ERROR, "__init__() should return None, not '%T'", v);
    dv_release_outer(vm, v);
    RAISE();
</%isa:op>

% for form, entry, what in (("CALL_C", "def->entry(vm, sp - n, (uint32_t)n)", " without keywords"), ("CALL_C_NAMED", "def->keyword_entry(vm, sp - n, (uint32_t)n, DV_EMPTY)", " that could get keywords")):
<%isa:derivative name="${form}" saw="${'' if 'NAMED' in form else 'function'}" of="CALL" cache="function" promises="${'boxed' if 'NAMED' in form else 'callee'}" doc="CALL of a C function${what}; the cache holds its definition.">
    const int64_t n = CELL(2).i;
    const dv_value callee = sp[-n - 3];
    const dv_cfunction_def *def = CACHED(function);
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION))) MISS();
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(callee);
    if (DV_UNLIKELY(function->def != def || !dv_is_empty(function->self) || dv_is_class(function->owner) || GUARD_FAILS())) MISS();
    PUBLISH();
    dv_work_call(vm, DV_WORK_CALL);
    const dv_value result = ${entry};
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n + 2;
    sp[-1] = result;
    dv_release_object_outer(vm, dv_as_object(callee));
    NEXT();
</%isa:derivative>
% endfor

<%isa:derivative name="CALL_C_BOUND" of="CALL" cache="function" promises="nothing" doc="CALL of a bound method of C (l.append in a local); the cache holds its definition.">
    const int64_t n = CELL(2).i;
    const dv_value callee = sp[-n - 3];
    const dv_cfunction_def *def = CACHED(function);
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION))) MISS();
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(callee);
    if (DV_UNLIKELY(function->def != def || dv_is_empty(function->self) || GUARD_FAILS())) MISS();
    PUBLISH();
    sp[-n - 1] = function->self; /* borrowed, in front of the arguments: the entry there is reserved */
    dv_work_call(vm, DV_WORK_CALL);
    const dv_value result = def->entry(vm, sp - n - 1, (uint32_t)n + 1);
    if (DV_UNLIKELY(dv_is_empty(result))) SLOW();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n + 2;
    sp[-1] = result;
    dv_release_object_outer(vm, dv_as_object(callee));
    NEXT();
    --- out of line ---
    sp[-CELL(2).i - 1] = DV_EMPTY;
    RAISE();
</%isa:derivative>

## That the number of arguments fits was seen when the form was chosen: it is the site's, and the definition's.
% for inputs, more in (("1", "one argument"), ("2", "two arguments")):
<%isa:derivative name="CALL_C_${inputs}" saw="function" promises="callee" of="CALL" cache="function" doc="CALL of a C function without keywords with ${more}; the cache holds its definition.">
    const dv_value callee = sp[-${int(inputs) + 3}];
    const dv_cfunction_def *def = CACHED(function);
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION))) MISS();
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(callee);
    if (DV_UNLIKELY(function->def != def || !dv_is_empty(function->self) || dv_is_class(function->owner) || GUARD_FAILS())) MISS();
    PUBLISH();
    dv_work_call(vm, DV_WORK_CALL);
    const dv_value result = def->entry(vm, sp - ${inputs}, ${inputs});
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
% for i in range(int(inputs)):
    dv_release_outer(vm, sp[-${i + 1}]);
% endfor
    sp -= ${int(inputs) + 2};
    sp[-1] = result;
    dv_release_object_outer(vm, dv_as_object(callee));
    NEXT();
</%isa:derivative>
% endfor

% for op, sign in (("MIN", "<"), ("MAX", ">")):
<%isa:derivative name="CALL_${op}" of="CALL" cache="function" doc="CALL of ${op.lower()} with two ints or two floats; the cache holds its definition, as that of CALL_C_NAMED.">
    const dv_value callee = sp[-5], x = sp[-2], y = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION) || ((const dv_cfunction *)dv_as_object(callee))->def != CACHED(function) || GUARD_FAILS())) MISS();
    if (DV_UNLIKELY(dv_as_object(callee)->references == 1)) TAIL(DV_H(CALL_C_NAMED));
    bool second;
    if (dv_are_ints(x, y))
        second = (int64_t)(y.bits << 16) ${sign} (int64_t)(x.bits << 16);
    else if (dv_is_float(x) && dv_is_float(y))
        second = dv_as_float(y) ${sign} dv_as_float(x);
    else
        TAIL(DV_H(CALL_C_NAMED));
    dv_as_object(callee)->references--;
    sp -= 4;
    sp[-1] = second ? y : x;
    NEXT();
</%isa:derivative>
% endfor

<%isa:derivative name="CALL_ISINSTANCE" promises="boxed" of="CALL" cache="function" doc="CALL of isinstance with anything and a class or classes without metaclasses; the cache holds its definition, as that of CALL_C.">
    const dv_value callee = sp[-5], x = sp[-2], wanted = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION) || ((const dv_cfunction *)dv_as_object(callee))->def != CACHED(function) || GUARD_FAILS())) MISS();
    const dv_class *class_ = dv_class_at_once(vm, x);
    if (!class_ || !dv_is_class(wanted)) SLOW();
    if (DV_UNLIKELY(dv_as_class(wanted)->metaclass || dv_as_object(callee)->references == 1 || dv_as_object(wanted)->references == 1)) TAIL(DV_H(CALL_C));
    bool found = dv_class_derives_at_once(class_, dv_as_class(wanted));
    if (!found) {
        if (DV_UNLIKELY(!class_->linear)) {
            dv_class **other = class_->mro, **end = other + class_->mro_count;
            while (other < end && *other != dv_as_class(wanted)) other++;
            found = other < end;
        }
        if (DV_UNLIKELY(!found && class_->flags & (DV_CLASS_GETATTRIBUTE | DV_CLASS_CLAIMS))) TAIL(DV_H(CALL_C));
    }
    dv_as_object(callee)->references--;
    dv_as_object(wanted)->references--;
    sp -= 4;
    sp[-1] = dv_bool(found);
    NEXT_RELEASING(x);
    --- out of line ---
    const dv_value callee = sp[-5], x = sp[-2], wanted = sp[-1];
    const int is = dv_class_has_instance(vm, wanted, x);
    if (DV_UNLIKELY(is < 0 || dv_as_object(callee)->references == 1)) TAIL(DV_H(CALL_C));
    dv_as_object(callee)->references--;
    sp -= 4;
    sp[-1] = dv_bool(is);
    PUBLISH();
    dv_release_outer(vm, wanted);
    dv_release_outer(vm, x);
    NEXT();
</%isa:derivative>

## What LOAD_GLOBAL_CALLEE_BUILTIN is threaded as in front of isinstance(local, global): behind it are LOAD_LOCAL (2 cells), LOAD_GLOBAL (as many as here), CALL (4), and perhaps a jump (3).
<%isa:derivative name="LOAD_GLOBAL_CALLEE_ISINSTANCE" variant_of="LOAD_GLOBAL_CALLEE_BUILTIN" behind="LOAD_LOCAL LOAD_GLOBAL CALL" of="LOAD_GLOBAL_CALLEE" cache="cell builtin" doc="LOAD_GLOBAL_CALLEE_BUILTIN, with a call with a local and a global behind it: answers at once if that is a CALL_ISINSTANCE of what has a class without a metaclass, and goes where the JUMP_IF_FALSE_BOOL behind it would, if there is one.">
    OP(LOAD_GLOBAL_CELL);
    OP(LOAD_GLOBAL_BUILTIN);
    OP(JUMP_IF_FALSE_BOOL);
    if (DV_UNLIKELY(!dv_is_empty(CACHED(cell)->value) || GUARD_FAILS())) MISS();
    const dv_value callee = CACHED(builtin)->value;
    const dv_cell *local = ip + LEN, *global = local + 2, *call = global + LEN, *behind = call + 4;
    if (call->h == DV_H(CALL_ISINSTANCE) && dv_is_shape(callee, DV_T_CFUNCTION) && ((const dv_cfunction *)dv_as_object(callee))->def == call[3].p) {
        const dv_value x = *(const dv_value *)(const void *)((const char *)fp + local[1].i);
        dv_value wanted = DV_EMPTY; /* while the load has another form, its cache is another one */
        if (global->h == DV_H(LOAD_GLOBAL_CELL)) {
            wanted = CACHED(cell, global)->value;
        } else if (global->h == DV_H(LOAD_GLOBAL_BUILTIN)) {
            if (dv_is_empty(CACHED(cell, global)->value))
                wanted = CACHED(builtin, global)->value;
        }
        const dv_class *class_ = dv_class_at_once(vm, x);
        if (class_) {
            bool found = wanted.bits == dv_object_value(class_).bits; /* then nobody asks a metaclass */
            if (found || (dv_is_class(wanted) && !dv_as_class(wanted)->metaclass && ((found = dv_class_derives_at_once(class_, dv_as_class(wanted))) || (class_->linear && !(class_->flags & (DV_CLASS_GETATTRIBUTE | DV_CLASS_CLAIMS)))))) {
                if (behind->h == DV_H(JUMP_IF_FALSE_BOOL)) JUMP(found ? behind + 3 : behind[2].target);
                *sp++ = dv_bool(found);
                JUMP(behind);
            }
        }
    }
    if (DV_UNLIKELY(dv_is_empty(callee))) MISS();
    sp[0] = dv_retain(callee);
    sp += OUT;
    NEXT();
</%isa:derivative>

<%isa:derivative name="CALL_TYPE_OF" promises="nothing" of="CALL" cache="class" doc="CALL of type with one argument; the cache is that of CALL_TYPE.">
    const dv_value callee = sp[-4], x = sp[-1];
    if (DV_UNLIKELY(callee.bits != CACHED(class).bits || GUARD_FAILS())) MISS();
    const dv_class *class_ = dv_class_at_once(vm, x);
    if (DV_UNLIKELY(!class_)) SLOW();
    dv_as_object(callee)->references--; /* a built-in class never dies */
    sp -= 3;
    sp[-1] = dv_retain(dv_object_value(class_));
    NEXT_RELEASING(x);
    --- out of line ---
    const dv_value x = sp[-1], class_ = dv_object_value(dv_class_of(vm, x));
    dv_as_object(sp[-4])->references--;
    sp -= 3;
    sp[-1] = dv_retain(class_);
    NEXT_RELEASING(x);
</%isa:derivative>

<%isa:derivative name="CALL_ORD" promises="typed" of="CALL" cache="function" doc="CALL of ord with a str of one character; the cache holds its definition, as that of CALL_C_1.">
    const dv_value callee = sp[-4], x = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION) || ((const dv_cfunction *)dv_as_object(callee))->def != CACHED(function) || GUARD_FAILS())) MISS();
    if (DV_UNLIKELY(!dv_is_shape(x, DV_T_STR) || dv_as_str(x)->length != 1 || dv_as_object(callee)->references == 1)) TAIL(DV_H(CALL_C_1));
    const uint32_t character = dv_str_at(dv_as_str(x), 0);
    dv_as_object(callee)->references--;
    sp -= 3;
    sp[-1] = dv_int(character);
    NEXT_RELEASING(x);
</%isa:derivative>

<%isa:derivative name="CALL_CHR" promises="typed" result="str" of="CALL" cache="function" doc="CALL of chr with the number of a character whose str is kept; the cache holds its definition, as that of CALL_C_1.">
    const dv_value callee = sp[-4], x = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION) || ((const dv_cfunction *)dv_as_object(callee))->def != CACHED(function) || GUARD_FAILS())) MISS();
    if (DV_UNLIKELY(!dv_is_int(x) || dv_as_object(callee)->references == 1)) TAIL(DV_H(CALL_C_1));
    const uint64_t character = (uint64_t)dv_as_int(x);
    if (DV_UNLIKELY(character >= DV_STR_CHARS || !vm->interned || !vm->interned[character])) TAIL(DV_H(CALL_C_1));
    dv_as_object(callee)->references--;
    sp -= 3;
    sp[-1] = dv_retain(dv_object_value(vm->interned[character]));
    NEXT();
</%isa:derivative>

<%isa:derivative name="CALL_LEN" of="CALL" cache="function" doc="CALL of len with a list, tuple, str or dict, an object of an extension with typed items, or an instance whose class has __len__ in dl, whose frame it enters; the cache holds its definition, as that of CALL_C.">
    const dv_value callee = sp[-4], x = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION) || ((const dv_cfunction *)dv_as_object(callee))->def != CACHED(function) || GUARD_FAILS())) MISS();
    if (DV_UNLIKELY(!dv_is_object(x) || dv_as_object(callee)->references == 1)) TAIL(DV_H(CALL_C));
    const uint32_t shape = dv_as_object(x)->shape;
    int64_t length;
    if (shape == DV_T_LIST)
        length = dv_as_list(x)->count;
    else if (shape == DV_T_STR)
        length = dv_as_str(x)->length;
    else if (shape == DV_T_TUPLE)
        length = dv_as_tuple(x)->count;
    else if (shape == DV_T_DICT)
        length = dv_as_dict(x)->count;
    else
        SLOW();
    dv_as_object(callee)->references--;
    sp -= 3;
    sp[-1] = dv_int(length);
    NEXT_RELEASING(x);
    --- out of line ---
    const dv_value x = sp[-1];
    const int64_t items = dv_items_length(vm, x);
    if (items >= 0) {
        dv_as_object(sp[-4])->references--;
        sp -= 3;
        sp[-1] = dv_int(items);
        NEXT_RELEASING(x);
    }
    if (!dv_is_plain_instance(x)) {
        const dv_type *base = dv_operate_base(vm, x, vm->known.len);
        if (!base || !base->length || (base->id != DV_T_LIST && base->id != DV_T_DICT && base->id != DV_T_TUPLE)) TAIL(DV_H(CALL_C));
        const int64_t length = base->length(vm, x);
        dv_as_object(sp[-4])->references--;
        sp -= 3;
        sp[-1] = dv_int(length);
        NEXT_RELEASING(x);
    }
    dv_function *method = dv_operate_enters(vm, dv_operate_known(vm, x, vm->known.len), 1, sp);
    if (!method) TAIL(DV_H(CALL_C));
    OPERATE1(method, x, DV_OPERATE_HOW(DV_OPERATE_LENGTH, 0, 0));
</%isa:derivative>

<%isa:derivative name="CALL_TYPE_1" promises="callee" of="CALL" cache="class" doc="CALL of the built-in class in the cache, which is never freed, with one argument.">
    const dv_value callee = sp[-4];
    if (DV_UNLIKELY(callee.bits != CACHED(class).bits || GUARD_FAILS())) MISS();
    PUBLISH();
    const dv_value result = dv_as_class(callee)->descriptor->construct(vm, sp - 1, 1, DV_EMPTY);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    const dv_value argument = sp[-1];
    dv_as_object(sp[-4])->references--;
    sp -= 3;
    sp[-1] = result;
    NEXT_RELEASING(argument);
</%isa:derivative>

<%isa:derivative name="CALL_TYPE" promises="callee" of="CALL" cache="class" doc="CALL of the built-in class in the cache, which is never freed.">
    const int64_t n = CELL(2).i;
    const dv_value callee = sp[-n - 3];
    if (DV_UNLIKELY(callee.bits != CACHED(class).bits || GUARD_FAILS())) MISS();
    PUBLISH();
    const dv_value result = dv_as_class(callee)->descriptor->construct(vm, sp - n, (uint32_t)n, DV_EMPTY);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n + 2;
    sp[-1] = result;
    dv_as_object(callee)->references--;
    NEXT();
</%isa:derivative>

## Builtins that consume a generator, whose frame they enter (run/consume.h).
<%isa:derivative name="CALL_TYPE_CONSUME" of="CALL" cache="class" doc="CALL of list, tuple or set with a generator, whose frame it enters; the cache is that of CALL_TYPE.">
    const dv_value callee = sp[-4];
    if (DV_UNLIKELY(callee.bits != CACHED(class).bits || !dv_consume_fits(vm, sp) || GUARD_FAILS())) MISS();
    r = dv_consume_class(vm, dv_as_class(callee));
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_consume);
</%isa:derivative>

<%isa:derivative name="CALL_CONSUME" of="CALL" cache="function" doc="CALL of sum, all, any, min, max or sorted with a generator, whose frame it enters; the cache holds the definition.">
    const dv_value callee = sp[-4];
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION) || ((const dv_cfunction *)dv_as_object(callee))->def != CACHED(function) || !dv_consume_fits(vm, sp) || GUARD_FAILS())) MISS();
    r = dv_consume_function(CACHED(function));
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_consume);
</%isa:derivative>

## super R R  and  super R R class self  become  method R R self.
% for form, count, what in (("CALL_SUPER", 0, "without arguments and the LOAD_METHOD behind it, without the super object; the cache says which local has the cell of __class__"), ("CALL_SUPER_OF", 2, "with a class and an instance and the LOAD_METHOD behind it, without the super object")):
<%isa:derivative name="${form}" of="CALL" cache="${'' if count else 'local'}" covers="LOAD_METHOD" doc="CALL of super ${what}.">
    const dv_value callee = sp[${-count - 3}];
    if (DV_UNLIKELY(!dv_is_class(callee) || dv_as_class(callee) != vm->classes[DV_T_SUPER] || GUARD_FAILS())) MISS();
% if count:
    const dv_value start = sp[-2], self = sp[-1];
% else:
    const dv_value start = dv_as_variable(fp[CACHED(local)])->value, first = fp[0];
    const dv_value self = dv_is_shape(first, DV_T_CELL) ? dv_as_variable(first)->value : first;
% endif
    const dv_value method = dv_super_callee(vm, start, self, CELL(LEN + 2).v);
    if (DV_UNLIKELY(dv_is_empty(method)${" || dv_as_object(start)->references == 1" if count else ""})) TAIL(DV_H(CALL));
    dv_as_object(callee)->references--; /* a built-in class never dies */
% if count:
    dv_as_object(start)->references--;
% endif
    sp[${-count - 3}] = dv_retain(method);
    sp[${-count}] = ${"self" if count else "dv_retain(self)"};
    sp += ${1 - count};
    JUMP(ip + LEN + 5); /* behind LOAD_METHOD */
</%isa:derivative>
% endfor

% for name, also in (("CALL_RANGE", ""), ("CALL_RANGE_REGION", "; then the loop's region is entered at its head")):
<%isa:derivative name="${name}" saw="${'entry' if also else 'range'}" of="CALL" cache="class" covers="GET_ITER" doc="CALL of range with one or two ints, and the GET_ITER behind it, without the range; the cache is that of CALL_TYPE${also}.">
    const int64_t n = CELL(2).i;
    const dv_value callee = sp[-n - 3], last = sp[-1];
    if (DV_UNLIKELY(callee.bits != CACHED(class).bits || GUARD_FAILS())) MISS();
    const dv_value first = n == 2 ? sp[-2] : dv_int(0);
    dv_free_block **list = &vm->heap.parts[DV_HEAP_PLAIN].free[(sizeof(dv_range_iterator) + DV_HEAP_GRAIN - 1) / DV_HEAP_GRAIN % DV_HEAP_CLASSES];
    dv_range_iterator *range = (dv_range_iterator *)(void *)*list;
    if (DV_UNLIKELY(!dv_are_ints(first, last))) TAIL(DV_H(CALL_TYPE));
    if (DV_UNLIKELY(sizeof *range > DV_HEAP_SMALL || !range)) SLOW();
    *list = (*list)->next;
    const int64_t start = dv_as_int(first), stop = dv_as_int(last);
    range->header.references = 1;
    range->header.shape = DV_T_RANGE_ITERATOR;
    range->next = start;
    range->step = 1;
    range->remaining = stop > start ? stop - start : 0;
    dv_as_object(callee)->references--;
    sp -= n + 2;
    sp[-1] = dv_object_value(range);
% if also:
    ip += LEN + 2;
    TAIL(dv_region_start);
% else:
    JUMP(ip + LEN + 2);
% endif
    --- out of line ---
    const int64_t n = CELL(2).i;
    const int64_t start = n == 2 ? dv_as_int(sp[-2]) : 0, stop = dv_as_int(sp[-1]);
    const dv_value iterator = dv_range_iterator_new(vm, start, 1, stop > start ? stop - start : 0);
    if (DV_UNLIKELY(dv_is_empty(iterator))) RAISE();
    dv_as_object(sp[-n - 3])->references--;
    sp -= n + 2;
    sp[-1] = iterator;
% if also:
    ip += LEN + 2;
    TAIL(dv_region_start);
% else:
    JUMP(ip + LEN + 2);
% endif
</%isa:derivative>
% endfor

<%isa:op name="CALL_KW" region="dv_step_call_named" operands="count const" site="yes" cache="1" variable="call" stack="args -- r" calls_out="yes" kills="all" select="dv_choose_call" doc="Calls with n arguments, the last ones named by the constant tuple.">
    vm->keywords = CELL(3).v;
    r = CELL(2).i;
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_call_keywords);
</%isa:op>

<%isa:derivative name="CALL_KW_C" of="CALL_KW" cache="function" promises="boxed" doc="CALL_KW of a C function; the cache holds its definition.">
    SLOW();
    --- out of line ---
    const int64_t n = CELL(2).i;
    const dv_value callee = sp[-n - 3];
    const dv_cfunction_def *def = CACHED(function);
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION))) MISS();
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(callee);
    if (DV_UNLIKELY(function->def != def || !dv_is_empty(function->self) || dv_is_class(function->owner) || GUARD_FAILS())) MISS();
    PUBLISH();
    dv_work_call(vm, DV_WORK_CALL);
    const dv_value result = def->keyword_entry(vm, sp - n, (uint32_t)n, CELL(3).v);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n + 2;
    sp[-1] = result;
    NEXT_RELEASING(callee);
</%isa:derivative>

<%isa:derivative name="CALL_KW_TYPE" of="CALL_KW" cache="class" promises="boxed" doc="CALL_KW of the built-in class in the cache, which is never freed.">
    SLOW();
    --- out of line ---
    const int64_t n = CELL(2).i;
    const dv_value callee = sp[-n - 3];
    if (DV_UNLIKELY(callee.bits != CACHED(class).bits || GUARD_FAILS())) MISS();
    PUBLISH();
    const dv_value result = dv_as_class(callee)->descriptor->construct(vm, sp - n, (uint32_t)n, CELL(3).v);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n + 2;
    sp[-1] = result;
    dv_as_object(callee)->references--;
    NEXT();
</%isa:derivative>

<%isa:op name="LOAD_METHOD" open="yes" region="dv_step_load_method" promises="nothing" operands="name" site="yes" cache="2" stack="object -- callee R1 R2 self" calls_out="yes" kills="all" select="dv_choose_method" doc="Prepares object.name(...): pushes callee, the two reserved entries and self, which is EMPTY if what was found is not a method.">
    if (DV_UNLIKELY(!dv_prepare_method(vm, sp, CELL(2).v))) RAISE();
    sp += 3;
    NEXT();
</%isa:op>

## The ..._CALL are what the others are threaded as where a CALL_METHOD without arguments is behind them: where that has become one of a dl function, they enter it.
<%def name="prepared(calls)">\
% if calls:
    OP(CALL_METHOD_DL_0);
    if (ip[LEN].h == DV_H(CALL_METHOD_DL_0) && dv_is_function(callee)) {
        const dv_thread *thread = dv_function_thread(dv_as_function(callee));
        dv_value *frame = sp + 3 - IN;
        if (DV_LIKELY(thread->exact_arguments == 1 && dv_frame_fits(vm, thread, frame))) {
            frame[-3] = dv_retain(callee);
            frame[0] = OWNED(object);
            sp = dv_frame_push_from(vm, thread, frame, frame + 1, fp, ip + LEN + 4); /* behind CALL_METHOD */
            fp = frame;
            JUMP(thread->entry);
        }
    }
% endif
    sp += 4 - IN;
    sp[-4] = dv_retain(callee);
    sp[-1] = OWNED(object);
    NEXT();
</%def>\
% for suffix, what in (("", "LOAD_METHOD of"), ("_CALL", "LOAD_METHOD, with a call without arguments behind it, of")):
<%isa:derivative name="LOAD_METHOD_SHAPE${suffix}" saw="method" several="LOAD_METHOD_POLY" variant_of="${suffix and 'LOAD_METHOD_SHAPE'}" where="${suffix and 'of_function'}" behind="${suffix and 'CALL_METHOD:0'}" of="LOAD_METHOD" cache="shape/kind cell" fuses="O" doc="${what} an object with the cached shape: the class's cell is in the cache.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    const dv_value callee = CACHED(cell)->value;
    if (DV_UNLIKELY(!dv_is_object(callee) || dv_as_object(callee)->shape != CACHED(kind))) MISS();
${prepared(suffix)}</%isa:derivative>

<%isa:derivative name="LOAD_METHOD_POLY${suffix}" variant_of="${suffix and 'LOAD_METHOD_POLY'}" behind="${suffix and 'CALL_METHOD:0'}" of="LOAD_METHOD" cache="entries" fuses="O" doc="${what} an object with one of several shapes.">
    if (DV_UNLIKELY(!dv_is_object(object) || GUARD_FAILS())) MISS();
    const dv_poly_entry *entry = dv_poly_find(CACHED(entries), dv_as_object(object)->shape);
    if (DV_UNLIKELY(!entry)) MISS();
    const dv_value callee = entry->cell->value;
    if (DV_UNLIKELY(!dv_is_object(callee) || dv_as_object(callee)->shape != entry->other)) {
        if (entry->other) MISS();
        SLOW();
    }
${prepared(suffix)}    --- out of line ---
    const dv_value found = dv_poly_find(CACHED(entries), dv_as_object(object)->shape)->cell->value;
    const dv_value callee = dv_method_unbound(found);
    if (DV_UNLIKELY(dv_is_empty(callee))) TAIL(DV_H(LOAD_METHOD));
    const bool with_class = dv_is_shape(found, DV_T_CLASSMETHOD);
    sp += 4 - IN;
    sp[-4] = dv_retain(callee);
    sp[-1] = with_class ? dv_retain(dv_object_value(dv_shape_at(vm, dv_as_object(object)->shape)->class_)) : DV_EMPTY;
    if (IN) NEXT_RELEASING(object);
    NEXT();
</%isa:derivative>

% endfor
<%isa:derivative name="LOAD_METHOD_OF_CLASS" promises="nothing" of="LOAD_METHOD" cache="root cell" doc="LOAD_METHOD of the class whose instances begin with the cached shape, where a dl function is found: its cell is in the cache.">
    if (DV_UNLIKELY(!dv_is_shape(object, DV_T_CLASS) || GUARD_FAILS())) MISS();
    const dv_shape *root = ((const dv_class *)dv_as_object(object))->root;
    if (DV_UNLIKELY(!root || root->number != CACHED(root))) MISS();
    const dv_value callee = CACHED(cell)->value;
    if (DV_UNLIKELY(!dv_is_function(callee))) MISS();
    sp[-1] = dv_retain(callee);
    sp[2] = DV_EMPTY;
    sp += 3;
    NEXT_RELEASING(object);
</%isa:derivative>

<%isa:derivative name="LOAD_METHOD_OF_TYPE" promises="nothing" of="LOAD_METHOD" cache="class cell" doc="LOAD_METHOD of a built-in class, where a method of its instances is found: its cell, which nobody can write to, is in the cache.">
    if (DV_UNLIKELY(object.bits != CACHED(class).bits || GUARD_FAILS())) MISS();
    sp[-1] = dv_retain(CACHED(cell)->value);
    sp[2] = DV_EMPTY;
    sp += 3;
    NEXT_RELEASING(object);
</%isa:derivative>

% for form, of_class, what in (("LOAD_METHOD_UNBOUND", False, "an instance with the cached shape"), ("LOAD_METHOD_UNBOUND_OF_CLASS", True, "the class whose instances begin with the cached shape")):
<%isa:derivative name="${form}" saw="${'' if of_class else 'unbound'}" several="${'' if of_class else 'LOAD_METHOD_POLY'}" promises="${'nothing' if of_class else ''}" of="LOAD_METHOD" cache="${'root' if of_class else 'shape'}/kind cell" doc="LOAD_METHOD of ${what}, where a staticmethod or classmethod of a dl function is found: the class's cell is in the cache.">
% if of_class:
    if (DV_UNLIKELY(!dv_is_shape(object, DV_T_CLASS) || GUARD_FAILS())) MISS();
    const dv_shape *root = ((const dv_class *)dv_as_object(object))->root;
    if (DV_UNLIKELY(!root || root->number != CACHED(root))) MISS();
% else:
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
% endif
    const dv_value found = CACHED(cell)->value;
    if (DV_UNLIKELY(!dv_is_shape(found, CACHED(kind)))) MISS();
    const dv_value callee = ((const dv_method_wrapper *)dv_as_object(found))->function;
    if (DV_UNLIKELY(!dv_is_function(callee))) MISS();
    const bool with_class = dv_is_shape(found, DV_T_CLASSMETHOD);
    sp[-1] = dv_retain(callee);
    sp += 3;
% if of_class:
    sp[-1] = with_class ? object : DV_EMPTY;
    if (with_class) NEXT();
% else:
    sp[-1] = with_class ? dv_retain(dv_object_value(dv_shape_at(vm, dv_as_object(object)->shape)->class_)) : DV_EMPTY;
% endif
    NEXT_RELEASING(object);
</%isa:derivative>

% endfor
<%isa:derivative name="LOAD_METHOD_SLOT" of="LOAD_METHOD" cache="shape/offset" doc="LOAD_METHOD of an instance whose shape has the name in a slot within the object: what is there is called as it is.">
    if (DV_UNLIKELY(!dv_is_object(object) || dv_as_object(object)->shape != CACHED(shape) || GUARD_FAILS())) MISS();
    sp[-1] = dv_retain(*(dv_value *)(void *)((char *)dv_as_object(object) + CACHED(offset)));
    sp[2] = DV_EMPTY;
    sp += 3;
    NEXT_RELEASING(object);
</%isa:derivative>

<%isa:derivative name="LOAD_METHOD_VALUE" of="LOAD_METHOD" cache="shape/kind cell" doc="LOAD_METHOD of an int, a float or another value that is no object, of the type with the cached number: the cell of its class is in the cache.">
    if (DV_UNLIKELY(dv_is_object(object) || dv_type_of(vm, object) != CACHED(shape) || GUARD_FAILS())) MISS();
    sp += 3;
    sp[-4] = dv_retain(CACHED(cell)->value); /* nobody can write to it */
    sp[-1] = object;
    NEXT();
</%isa:derivative>

<%isa:derivative name="LOAD_METHOD_MODULE" saw="member" of="LOAD_METHOD" cache="serial cell" doc="LOAD_METHOD of a module: its serial number and its cell are in the cache.">
    if (DV_UNLIKELY(!dv_is_module(object) || (int64_t)dv_as_module(object)->serial != CACHED(serial) || GUARD_FAILS())) MISS();
    const dv_value callee = CACHED(cell)->value;
    if (DV_UNLIKELY(dv_is_empty(callee))) MISS();
    sp[-1] = dv_retain(callee);
    sp[2] = DV_EMPTY;
    sp += 3;
    NEXT_RELEASING(object);
</%isa:derivative>

<%isa:op name="CALL_METHOD" region="dv_step_call" promises="nothing" operands="count" site="yes" cache="1" variable="call_method" stack="args -- r" calls_out="yes" kills="all" select="dv_choose_call_method" doc="Calls what LOAD_METHOD prepared, with n positional arguments.">
    r = CELL(2).i;
    dv_value *self = sp - r - 1;
    if (dv_is_empty(*self)) {
        memmove(self, self + 1, (size_t)r * sizeof *sp);
        sp--;
    } else {
        r++;
    }
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_call);
</%isa:op>

% for defaults, form, what in ((False, "CALL_METHOD_DL", "self and exactly its other positional parameters; the cache says which was seen"), (True, "CALL_METHOD_DL_DEFAULTS", "self and fewer arguments than it has parameters, for which it has defaults")):
<%isa:derivative name="${form}" of="CALL_METHOD" cache="thread" doc="CALL_METHOD of a dl function with ${what}.">
    const int64_t n = CELL(2).i + 1;
    const dv_value callee = sp[-n - 3];
    if (DV_UNLIKELY(!dv_is_function(callee))) MISS();
${check_arguments(defaults, "n", " || dv_is_empty(sp[-n])")}${enter_function(defaults, "n")}</%isa:derivative>
% endfor

## The same for each small number of arguments, which the compiler then knows (dv_op_variant).
% for family, form, self in (("CALL", "CALL_DL", 0), ("CALL_METHOD", "CALL_METHOD_DL", 1)):
% for n in "01234":
<%isa:derivative name="${form}_${n}" variant_of="${form}" where="arguments=${n}" of="${family}" cache="thread" doc="What ${form} becomes at a site with ${n} arguments.">
    const dv_value callee = sp[-${int(n) + self + 3}];
    if (DV_UNLIKELY(!dv_is_function(callee))) MISS();
${check_arguments(False, int(n) + self, " || dv_is_empty(sp[-%d])" % (int(n) + 1) if self else "")}${enter_function(False, int(n) + self)}</%isa:derivative>
% endfor
% endfor

<%isa:derivative name="CALL_METHOD_BARE" of="CALL_METHOD" cache="thread" doc="CALL_METHOD of a dl function that is no method, with exactly its positional parameters (functions of modules, static methods).">
    const int64_t n = CELL(2).i;
    const dv_value callee = sp[-n - 4];
    if (DV_UNLIKELY(!dv_is_function(callee))) MISS();
    const dv_thread *thread = dv_function_thread(dv_as_function(callee));
    if (DV_UNLIKELY(thread->exact_arguments != n || !dv_is_empty(sp[-n - 1]) || !dv_frame_fits(vm, thread, sp - n) || GUARD_FAILS())) MISS();
    dv_value *frame = sp - n - 1;
    for (int64_t i = 0; i < n; i++) {
        frame[i] = frame[i + 1];
        __asm__("" ::: "memory"); /* no memmove */
    }
    sp = dv_frame_push_from(vm, thread, frame, sp - 1, fp, ip + LEN);
    fp = frame;
    JUMP(thread->entry);
</%isa:derivative>

% for family, form, self, what in (("CALL", "CALL_GATHER", "", ""), ("CALL_METHOD", "CALL_METHOD_GATHER", " + 1", " with self")):
<%isa:derivative name="${form}" of="${family}" promises="boxed" doc="${family} of a dl function${what} that has a * or ** parameter: what is too many becomes a tuple, which takes it over.">
    SLOW();
    --- out of line ---
    const uint32_t n = (uint32_t)(CELL(2).i${self});
    dv_value *frame = sp - n;
    const dv_value callee = frame[-3];
% if self:
    if (DV_UNLIKELY(dv_is_empty(*frame))) MISS();
% endif
    if (DV_UNLIKELY(!dv_is_function(callee) || !dv_bind_is_plain(dv_as_function(callee), n) || GUARD_FAILS())) MISS();
    const dv_thread *thread = dv_function_thread(dv_as_function(callee));
    if (DV_UNLIKELY(!dv_frame_fits(vm, thread, frame))) MISS();
    PUBLISH();
    if (DV_UNLIKELY(!dv_bind_plainly(vm, dv_as_function(callee), frame, n))) RAISE();
    sp = dv_frame_push(vm, thread, frame, fp, ip + LEN);
    fp = frame;
    JUMP(thread->entry);
</%isa:derivative>
% endfor

% for form, entry, what in (("CALL_METHOD_C", "def->entry(vm, args, (uint32_t)count)", " without keywords"), ("CALL_METHOD_C_NAMED", "def->keyword_entry(vm, args, (uint32_t)count, DV_EMPTY)", " that could get keywords")):
<%isa:derivative name="${form}" of="CALL_METHOD" cache="function" promises="${'boxed' if 'NAMED' in form else 'callee'}" doc="CALL_METHOD of a C function${what}; the cache holds its definition.">
    int64_t n = CELL(2).i + 1;
    const dv_value callee = sp[-n - 3];
    const dv_cfunction_def *def = CACHED(function);
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION))) MISS();
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(callee);
    if (DV_UNLIKELY(function->def != def || !dv_is_empty(function->self) || GUARD_FAILS())) MISS();
    const dv_value *args = sp - n;
    int64_t count = n;
    if (dv_is_empty(*args)) {
        /* Without self from LOAD_METHOD nobody has checked the type of a method's first argument. */
        if (dv_is_class(function->owner)) MISS();
        args++;
        count--;
    }
    if (DV_UNLIKELY((uint64_t)count < def->min || (uint64_t)count > def->max)) MISS();
    PUBLISH();
    dv_work_call(vm, DV_WORK_CALL);
    const dv_value result = ${entry};
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n + 2;
    sp[-1] = result;
    dv_release_object_outer(vm, dv_as_object(callee));
    NEXT();
</%isa:derivative>
% endfor

## That the number of arguments fits was seen when the form was chosen: it is the site's, and the definition's.
% for inputs, more in (("1", "no argument"), ("2", "one argument"), ("3", "two arguments")):
<%isa:derivative name="CALL_METHOD_C_${inputs}" promises="callee" of="CALL_METHOD" cache="function" doc="CALL_METHOD of a C function without keywords with self and ${more}; the cache holds its definition.">
    const dv_value callee = sp[-${int(inputs) + 3}];
    const dv_cfunction_def *def = CACHED(function);
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION))) MISS();
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(callee);
    if (DV_UNLIKELY(function->def != def || !dv_is_empty(function->self) || dv_is_empty(sp[-${inputs}]) || GUARD_FAILS())) MISS();
    PUBLISH();
    dv_work_call(vm, DV_WORK_CALL);
    const dv_value result = def->entry(vm, sp - ${inputs}, ${inputs});
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
% for i in range(int(inputs)):
    dv_release_outer(vm, sp[-${i + 1}]);
% endfor
    sp -= ${int(inputs) + 2};
    sp[-1] = result;
    dv_release_object_outer(vm, dv_as_object(callee));
    NEXT();
</%isa:derivative>
% endfor

## Those of modules have no self: LOAD_METHOD has left its place empty.
% for inputs, more in (("1", "one argument"), ("2", "two arguments")):
<%isa:derivative name="CALL_METHOD_C_BARE_${inputs}" promises="callee" of="CALL_METHOD" cache="function" doc="CALL_METHOD of a C function of a module without keywords with ${more}; the cache holds its definition.">
    const dv_value callee = sp[-${int(inputs) + 4}];
    const dv_cfunction_def *def = CACHED(function);
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION))) MISS();
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(callee);
    if (DV_UNLIKELY(function->def != def || !dv_is_empty(function->self) || dv_is_class(function->owner) || !dv_is_empty(sp[-${int(inputs) + 1}]) || GUARD_FAILS())) MISS();
    PUBLISH();
    dv_work_call(vm, DV_WORK_CALL);
    const dv_value result = def->entry(vm, sp - ${inputs}, ${inputs});
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
% for i in range(int(inputs)):
    dv_release_outer(vm, sp[-${i + 1}]);
% endfor
    sp -= ${int(inputs) + 3};
    sp[-1] = result;
    dv_release_object_outer(vm, dv_as_object(callee));
    NEXT();
</%isa:derivative>
% endfor

<%isa:derivative name="CALL_METHOD_C_OF_TYPE" promises="boxed" of="CALL_METHOD" cache="function" doc="CALL_METHOD of a method of a built-in class that looks at its arguments itself: one that was found in the class (dict.get(d, key)), or stands for what the type does (super().__setitem__(key, value)); the cache holds its definition.">
    SLOW();
    --- out of line ---
    const int64_t n = CELL(2).i + 1;
    const dv_value callee = sp[-n - 3];
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION) || ((const dv_cfunction *)dv_as_object(callee))->def != CACHED(function) || GUARD_FAILS())) MISS();
    const uint32_t count = (uint32_t)n - dv_is_empty(sp[-n]);
    PUBLISH();
    const dv_value result = dv_call(vm, callee, sp - count, count, DV_EMPTY);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n + 2;
    sp[-1] = result;
    NEXT_RELEASING(callee);
</%isa:derivative>

<%isa:derivative name="CALL_METHOD_APPEND" of="CALL_METHOD" cache="function" covers="POP_TOP" doc="CALL_METHOD of append of a list that has room, and the POP_TOP behind it; the cache holds its definition, as that of CALL_METHOD_C.">
    const dv_value callee = sp[-5], self = sp[-2];
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION) || ((const dv_cfunction *)dv_as_object(callee))->def != CACHED(function) || GUARD_FAILS())) MISS();
    if (DV_UNLIKELY(!dv_is_shape(self, DV_T_LIST) || dv_as_object(callee)->references == 1)) TAIL(DV_H(CALL_METHOD_C));
    dv_list *list = dv_as_list(self);
    if (DV_UNLIKELY(list->count == list->capacity)) TAIL(DV_H(CALL_METHOD_C));
    list->items[list->count] = sp[-1];
    list->count += 1;
    dv_as_object(callee)->references -= 1;
    sp -= 5;
    ip += 1; /* POP_TOP */
    NEXT_RELEASING(self);
</%isa:derivative>

<%isa:derivative name="CALL_METHOD_ADD" promises="boxed" of="CALL_METHOD" cache="function" covers="POP_TOP" doc="CALL_METHOD of add of a set with an int or a str, whose first slot decides, and the POP_TOP behind it; the cache is that of CALL_METHOD_C_2.">
    const dv_value callee = sp[-5], self = sp[-2], item = sp[-1];
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION) || ((const dv_cfunction *)dv_as_object(callee))->def != CACHED(function) || GUARD_FAILS())) MISS();
    if (DV_UNLIKELY(!dv_is_shape(self, DV_T_SET) || dv_as_object(callee)->references == 1 || dv_as_object(self)->references == 1)) TAIL(DV_H(CALL_METHOD_C_2));
    const int added = dv_set_first_add(vm, dv_as_set(self), item);
    if (added < 0) TAIL(DV_H(CALL_METHOD_C_2));
    dv_as_object(callee)->references -= 1;
    dv_as_object(self)->references -= 1;
    sp -= 5;
    ip += 1; /* POP_TOP */
    if (added) NEXT();
    NEXT_RELEASING(item);
</%isa:derivative>

% for inputs, other, with_ in (("2", "DV_NONE", "without"), ("3", "sp[-1]", "with")):
<%isa:derivative name="CALL_METHOD_GET_${inputs}" promises="boxed" of="CALL_METHOD" cache="function" doc="CALL_METHOD of get of a dict ${with_} a default, where an int or a str is looked for without a call; the cache is that of CALL_METHOD_C_${inputs}.">
    const dv_value callee = sp[-${int(inputs) + 3}], self = sp[-${inputs}], key = sp[-${int(inputs) - 1}], other = ${other};
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION) || ((const dv_cfunction *)dv_as_object(callee))->def != CACHED(function) || GUARD_FAILS())) MISS();
    if (DV_UNLIKELY(!dv_is_shape(self, DV_T_DICT) || dv_as_object(callee)->references == 1 || dv_as_object(self)->references == 1)) TAIL(DV_H(CALL_METHOD_C_${inputs}));
    const int64_t number = dv_dict_plain_entry(vm, dv_as_dict(self), key);
    if (number == DV_KEY_UNKNOWN || (dv_is_object(key) && dv_as_object(key)->references == 1)) SLOW(); /* or the key dies */
    if (dv_is_object(key)) dv_as_object(key)->references--;
    dv_as_object(callee)->references -= 1;
    dv_as_object(self)->references -= 1;
    sp -= ${int(inputs) + 2};
    if (number < 0) {
        sp[-1] = other;
        NEXT();
    }
    sp[-1] = dv_retain(dv_as_dict(self)->entries[number].value);
    NEXT_RELEASING(other);
    --- out of line ---
    PUBLISH();
    dv_value found = dv_dict_get(vm, sp[-${inputs}], sp[-${int(inputs) - 1}]);
    if (dv_is_empty(found)) {
        if (DV_UNLIKELY(!dv_is_empty(vm->error))) RAISE();
        found = ${other};
    }
    dv_retain(found);
    const dv_value key = sp[-${int(inputs) - 1}];
% if inputs == "3":
    dv_release_outer(vm, sp[-1]);
% endif
    dv_release_outer(vm, sp[-${inputs}]);
    sp -= ${int(inputs) + 2};
    const dv_value callee = sp[-1];
    sp[-1] = found;
    dv_release_object_outer(vm, dv_as_object(callee));
    NEXT_RELEASING(key);
</%isa:derivative>
% endfor

<%isa:derivative name="CALL_METHOD_CONSUME" of="CALL_METHOD" cache="function" doc="CALL_METHOD of str.join with a generator, whose frame it enters; the cache holds the definition.">
    const dv_value callee = sp[-5];
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION) || ((const dv_cfunction *)dv_as_object(callee))->def != CACHED(function) || !dv_is_shape(sp[-2], DV_T_STR) || !dv_consume_fits(vm, sp) || GUARD_FAILS())) MISS();
    r = dv_consume_function(CACHED(function));
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_consume);
</%isa:derivative>

<%isa:op name="CALL_METHOD_KW" region="dv_step_call_named" operands="count const" site="yes" cache="1" variable="call_method" stack="args -- r" calls_out="yes" kills="all" select="dv_choose_call_method" doc="Calls what LOAD_METHOD prepared with n arguments, the last ones named by the constant tuple.">
    vm->keywords = CELL(3).v;
    r = CELL(2).i;
    dv_value *self = sp - r - 1;
    if (dv_is_empty(*self)) {
        memmove(self, self + 1, (size_t)r * sizeof *sp);
        sp--;
    } else {
        r++;
    }
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_call_keywords);
</%isa:op>

<%isa:derivative name="CALL_METHOD_KW_C" of="CALL_METHOD_KW" cache="function" promises="boxed" doc="CALL_METHOD_KW of a C function; the cache holds its definition.">
    SLOW();
    --- out of line ---
    const int64_t n = CELL(2).i + 1;
    const dv_value callee = sp[-n - 3], *args = sp - n;
    const dv_cfunction_def *def = CACHED(function);
    if (DV_UNLIKELY(!dv_is_shape(callee, DV_T_CFUNCTION))) MISS();
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(callee);
    const bool bare = dv_is_empty(*args);
    /* Without self from LOAD_METHOD nobody has checked the type of a method's first argument. */
    if (DV_UNLIKELY(function->def != def || !dv_is_empty(function->self) || (bare && dv_is_class(function->owner)) || GUARD_FAILS())) MISS();
    PUBLISH();
    dv_work_call(vm, DV_WORK_CALL);
    const dv_value result = def->keyword_entry(vm, args + bare, (uint32_t)(n - bare), CELL(3).v);
    if (DV_UNLIKELY(dv_is_empty(result))) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n + 2;
    sp[-1] = result;
    NEXT_RELEASING(callee);
</%isa:derivative>

## What a plan cannot do.
% for family in ("CALL_KW", "CALL_METHOD_KW"):
<%isa:derivative name="${family}_BOUND" of="${family}" promises="boxed" doc="${family} of a dl function with a * or ** parameter, or of more than a plan can do: its arguments are bound at each call.">
    SLOW();
    --- out of line ---
    r = CELL(2).i;
% if family == "CALL_KW":
    if (DV_UNLIKELY(!dv_is_function(sp[-r - 3]) || GUARD_FAILS())) MISS();
% else:
    dv_value *self = sp - r - 1;
    if (DV_UNLIKELY(!dv_is_function(self[-3]) || GUARD_FAILS())) MISS();
    if (dv_is_empty(*self)) {
        memmove(self, self + 1, (size_t)r * sizeof *sp);
        sp--;
    } else {
        r++;
    }
% endif
    vm->keywords = CELL(3).v;
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_enter_keywords);
</%isa:derivative>
% endfor

## Calls by a plan (run/plan.h), which is in the cache: keywords, defaults of keyword-only parameters, classes of modules.
<%
FUNCTION_PLANS = (
    ("CALL_DL_PLAN", "CALL", None, "CALL of a dl function with defaults for keyword-only parameters"),
    ("CALL_METHOD_DL_PLAN", "CALL_METHOD", True, "CALL_METHOD of a dl function with self and defaults for keyword-only parameters"),
    ("CALL_METHOD_BARE_PLAN", "CALL_METHOD", False, "CALL_METHOD of a dl function that is no method, with defaults"),
    ("CALL_KW_DL", "CALL_KW", None, "CALL_KW of a dl function"),
    ("CALL_METHOD_KW_DL", "CALL_METHOD_KW", True, "CALL_METHOD_KW of a dl function with self"),
    ("CALL_METHOD_KW_BARE", "CALL_METHOD_KW", False, "CALL_METHOD_KW of a dl function that is no method"),
)
CLASS_PLANS = (
    ("CALL_CLASS_PLAN", "CALL", None, "CALL of a dl class whose __init__ has defaults for keyword-only parameters"),
    ("CALL_METHOD_CLASS", "CALL_METHOD", False, "CALL_METHOD of a dl class (of a module, or an attribute of a class)"),
    ("CALL_KW_CLASS", "CALL_KW", None, "CALL_KW of a dl class"),
    ("CALL_METHOD_KW_CLASS", "CALL_METHOD_KW", False, "CALL_METHOD_KW of a dl class (of a module, or an attribute of a class)"),
)
%>\
% for form, family, has_self, what in FUNCTION_PLANS:
<%isa:derivative name="${form}" of="${family}" cache="plan" doc="${what}: the cache holds the plan by which arguments and defaults become parameters.">
    const dv_plan *plan = CACHED(plan);
    dv_value *frame = sp - CELL(2).i${"" if has_self is None else " - 1"};
% if has_self is not None:
    if (DV_UNLIKELY(${"" if has_self else "!"}dv_is_empty(*frame))) MISS();
% endif
    const dv_value callee = frame[-3];
    if (DV_UNLIKELY(!dv_is_function(callee) || !dv_plan_fits(plan, dv_as_function(callee)))) MISS();
    const dv_thread *thread = dv_function_thread(dv_as_function(callee));
    if (DV_UNLIKELY(!dv_frame_fits(vm, thread, frame) || GUARD_FAILS())) MISS();
    dv_plan_do(plan, dv_as_function(callee), frame);
    sp = dv_frame_push(vm, thread, frame, fp, ip + LEN);
    fp = frame;
    JUMP(thread->entry);
</%isa:derivative>
% endfor

## The same for classes; see CALL_CLASS.
% for form, family, has_self, what in CLASS_PLANS:
<%isa:derivative name="${form}" of="${family}" cache="plan" doc="${what}: makes the instance and enters __init__; the cache holds the plan by which arguments and defaults become parameters.">
    const dv_plan *plan = CACHED(plan);
    dv_value *frame = sp - CELL(2).i + ${"2" if has_self is None else "1"};
% if has_self is not None:
    if (DV_UNLIKELY(!dv_is_empty(frame[-2]))) MISS();
% endif
    const dv_value class_ = frame[-5];
    if (DV_UNLIKELY(!dv_is_class(class_))) MISS();
    const dv_global_cell *cell = dv_as_class(class_)->constructor;
    if (DV_UNLIKELY(!cell || !dv_is_function(cell->value))) MISS();
    const dv_value init = cell->value;
    if (DV_UNLIKELY(!dv_plan_fits(plan, dv_as_function(init)))) MISS();
    const dv_thread *thread = dv_function_thread(dv_as_function(init));
    if (DV_UNLIKELY(!dv_frame_fits(vm, thread, frame) || GUARD_FAILS())) MISS();
    dv_instance *self = dv_frame_instance(vm, dv_as_class(class_), 2);
    if (DV_UNLIKELY(!self)) SLOW();
    dv_plan_do(plan, dv_as_function(init), frame);
    frame[-5] = frame[0] = dv_object_value(self); /* the class's reference is now the instance's */
    frame[-4] = dv_raw_pointer(ip + LEN);
    frame[-3] = dv_retain(init);
    sp = dv_frame_push(vm, thread, frame, fp, dv_construct_cell);
    fp = frame;
    JUMP(thread->entry);
    --- out of line ---
    TAIL(DV_H(${family}));
</%isa:derivative>
% endfor

<%isa:op name="CALL_EX" region="leaves" operands="count" site="yes" variable="call_ex" stack="args -- r" calls_out="yes" kills="all" select="dv_choose_call_ex" doc="Calls with the items of an iterable and, if n is 1, those of the mapping above it as keyword arguments.">
    r = CELL(2).i;
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_call_ex);
</%isa:op>

<%isa:derivative name="CALL_EX_DL" of="CALL_EX" doc="CALL_EX of a dl function: with nothing but a tuple of exactly its parameters, it enters the frame at once.">
    const int64_t named = CELL(2).i;
    dv_value *frame = sp - 1 - named;
    const dv_value callee = frame[-3], given = frame[0];
    if (DV_UNLIKELY(!dv_is_function(callee) || GUARD_FAILS())) MISS();
    const dv_thread *thread = dv_function_thread(dv_as_function(callee));
    const int64_t count = thread->exact_arguments;
    if (named || !dv_is_shape(given, DV_T_TUPLE) || dv_as_tuple(given)->count != count) SLOW();
    if (DV_UNLIKELY(!dv_frame_fits(vm, thread, frame) || dv_as_object(given)->references == 1)) SLOW();
    dv_as_object(given)->references--;
    for (int64_t i = 0; i < count; i++) frame[i] = dv_retain(dv_as_tuple(given)->items[i]);
    sp = dv_frame_push_from(vm, thread, frame, frame + count, fp, ip + LEN);
    fp = frame;
    JUMP(thread->entry);
    --- out of line ---
    r = CELL(2).i;
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_call_ex);
</%isa:derivative>

<%isa:derivative name="CALL_EX_OBJECT" of="CALL_EX" doc="CALL_EX of anything else, with a tuple or list.">
    SLOW();
    --- out of line ---
    r = CELL(2).i;
    const dv_value given = sp[-1 - r];
    if (DV_UNLIKELY(dv_is_function(sp[-4 - r]) || (!dv_is_shape(given, DV_T_TUPLE) && !dv_is_shape(given, DV_T_LIST)) || GUARD_FAILS())) MISS();
    ip += LEN;
    DEAD_FLOAT();
    TAIL(dv_slow_call_ex);
</%isa:derivative>

<%isa:op name="DICT_MERGE" variable="merge" stack="mapping --" calls_out="yes" kills="all" doc="Adds the items of a mapping to the keyword arguments below it, which lie above callee, the two reserved entries and the positional arguments: TypeError if a name is there already.">
    const dv_value mapping = sp[-1];
    if (!dv_merge_keywords(vm, sp[-6], sp[-2], mapping)) RAISE();
    dv_release_outer(vm, mapping);
    sp -= 1;
    NEXT();
</%isa:op>

## RETURN: local i, or where i is their number, the function, dies.
<%def name="dies(i)">\
{
        r = ${i};
        DEAD_FLOAT();
        TAIL(DV_H(slow_RETURN));
    }\
</%def>\
<%def name="leave(count)">\
    __asm__("" ::: "memory"); /* what follows is read here: kept since before, it would be in saved registers */
    if (--dv_as_object(fp[-3])->references == 0) ${dies(count)}
    const dv_cell *link = dv_frame_link(fp);
    dv_value *caller = dv_frame_caller(fp);
    const dv_value result = sp[-1];
    sp = fp - 2;
    sp[-1] = result;
    fp = caller;
    JUMP(link);
</%def>\
<%isa:op name="RETURN" region="dv_step_return" stack="v --" ends="yes" doc="Leaves the frame with the top of the stack as its result.">
    const int64_t count = dv_frame_thread(fp)->local_count;
    vm->calls_left++;
    for (r = 0; r < count; r++)
        if (dv_lets_go(fp[r])) SLOW_FROM();
${leave("count")}    --- out of line ---
    /* The local r dies, or where r is their number, the function; so may others behind it. */
    const int64_t count = dv_frame_thread(fp)->local_count;
    const dv_cell *link = dv_frame_link(fp);
    dv_value *caller = dv_frame_caller(fp);
    const dv_value *local = fp + r, *end = fp + count;
    PUBLISH();
    dv_object_end(vm, dv_as_object(local < end ? *local : fp[-3]));
    if (local < end) {
        while (++local < end)
            if (dv_lets_go(*local)) dv_object_end(vm, dv_as_object(*local));
        if (dv_lets_go(fp[-3])) dv_object_end(vm, dv_as_object(fp[-3]));
    }
    sp = fp - 2;
    sp[-1] = v;
    fp = caller;
    JUMP(link);
</%isa:op>

## Without a loop, whose end the processor would have to guess.
% for n in "12345678":
<%isa:op name="RETURN_${n}" variant_of="RETURN" where="locals=${n}" stack="v --" ends="yes" doc="What RETURN is threaded as in a function with that many locals. Not emitted by the compiler.">
    vm->calls_left++;
% for i in range(int(n)):
    if (dv_lets_go(fp[${i}])) ${dies(i)}
% endfor
${leave(n)}</%isa:op>
% endfor

% for n in "1234":
<%isa:op name="LOAD_CONST_RETURN_${n}" variant_of="LOAD_CONST" where="immediate locals=${n}" behind="RETURN" operands="const" stack="-- v" doc="What LOAD_CONST is threaded as where the constant is no object and RETURN_${n} is behind it: both. Not emitted by the compiler.">
    *sp++ = CELL(1).v;
    ip += LEN;
    vm->calls_left++;
% for i in range(int(n)):
    if (dv_lets_go(fp[${i}])) ${dies(i)}
% endfor
${leave(n)}</%isa:op>
% endfor

<%isa:op name="MAKE_FUNCTION" region="dv_step_make_function" operands="code count" variable="defaults" stack="defaults -- function" calls_out="yes" doc="Makes a function of a code constant; the n topmost entries are the defaults of its last parameters.">
    const int64_t n = CELL(2).i;
    const dv_value result = dv_make_function(vm, CELL(1).v, sp - n, (uint32_t)n);
    if (dv_is_empty(result)) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n - 1;
    sp[-1] = result;
    NEXT();
</%isa:op>

<%isa:op name="SET_DEFAULTS" stack="defaults named function -- function2" calls_out="yes" doc="Gives a new function the tuple of its defaults and the dict of those of keyword-only parameters.">
    if (!dv_set_defaults(vm, function, defaults, named)) RAISE();
    DONE(function);
</%isa:op>

<%isa:op name="SET_ANNOTATIONS" stack="annotations function -- function2" calls_out="yes" doc="Gives a new function its annotations: a tuple of names and values in turn.">
    if (!dv_set_annotations(vm, function, annotations)) RAISE();
    DONE(function);
</%isa:op>

<%isa:op name="MAKE_CLOSURE" region="dv_step_make_function" operands="code count" variable="defaults" stack="defaults -- function" calls_out="yes" doc="MAKE_FUNCTION of a function with free variables: takes their cells from the locals that the code object names.">
    dv_function *function = CELL(2).i ? NULL : dv_frame_closure(vm, dv_as_object(CELL(1).v), fp);
    if (DV_UNLIKELY(!function)) SLOW();
    *sp++ = dv_object_value(function);
    NEXT();
    --- out of line ---
    const int64_t n = CELL(2).i;
    const dv_value result = dv_make_closure(vm, fp, CELL(1).v, sp - n, (uint32_t)n);
    if (dv_is_empty(result)) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n - 1;
    sp[-1] = result;
    NEXT();
</%isa:op>

<%isa:op name="MAKE_CLOSURE_BY_VALUE" operands="code count" variable="defaults" stack="defaults -- function" calls_out="yes" doc="MAKE_CLOSURE for a generator expression whose other form is in place: plain locals among those that the code object names give new cells with their values.">
    const int64_t n = CELL(2).i;
    const dv_value result = dv_make_closure(vm, fp, CELL(1).v, sp - n, (uint32_t)n);
    if (dv_is_empty(result)) RAISE();
    for (int64_t i = 1; i <= n; i++) dv_release_outer(vm, sp[-i]);
    sp -= n - 1;
    sp[-1] = result;
    NEXT();
</%isa:op>

<%isa:op name="CLASS_MERGE" stack="dict mapping -- dict2" calls_out="yes" kills="all" doc="Adds the items of a mapping to the keyword arguments of a class statement: TypeError if a name is there already.">
    if (!dv_merge_keywords(vm, DV_EMPTY, dict, mapping)) RAISE();
    dv_release_outer(vm, mapping);
    DONE(dict);
</%isa:op>

<%isa:op name="PREPARE_CLASS" operands="name" stack="bases -- bases2 space" calls_out="yes" kills="all" doc="Replaces bases that are no classes by what their __mro_entries__ says; pushes the namespace for the body of a class: a dict, or what the metaclass prepares.">
    const dv_value resolved = dv_metaclass_bases(vm, bases);
    if (dv_is_empty(resolved)) RAISE();
    sp[-1] = resolved;
    const dv_value result = dv_metaclass_prepare(vm, CELL(1).v, resolved, bases, DV_EMPTY);
    dv_release_outer(vm, bases);
    if (dv_is_empty(result)) RAISE();
    sp[0] = result;
    sp += 1;
    NEXT();
</%isa:op>

<%isa:op name="PREPARE_CLASS_KW" operands="name" stack="bases named -- bases2 named2 space" calls_out="yes" kills="all" doc="PREPARE_CLASS with a dict of the statement's keyword arguments.">
    const dv_value resolved = dv_metaclass_bases(vm, bases);
    if (dv_is_empty(resolved)) RAISE();
    sp[-2] = resolved;
    const dv_value result = dv_metaclass_prepare(vm, CELL(1).v, resolved, bases, named);
    dv_release_outer(vm, bases);
    if (dv_is_empty(result)) RAISE();
    sp[0] = result;
    sp += 1;
    NEXT();
</%isa:op>

<%isa:op name="BUILD_CLASS" operands="name" stack="bases space -- class_" calls_out="yes" kills="all" doc="Makes a class of the tuple of its bases and its namespace.">
    const dv_value result = dv_class_build(vm, CELL(1).v, bases, DV_EMPTY, space);
    if (dv_is_empty(result)) RAISE();
    dv_release_outer(vm, bases);
    dv_release_outer(vm, space);
    DONE(result);
</%isa:op>

<%isa:op name="BUILD_CLASS_KW" operands="name" stack="bases named space -- class_" calls_out="yes" kills="all" doc="BUILD_CLASS with a dict of the statement's keyword arguments.">
    const dv_value result = dv_class_build(vm, CELL(1).v, bases, named, space);
    if (dv_is_empty(result)) RAISE();
    dv_release_outer(vm, bases);
    dv_release_outer(vm, named);
    dv_release_outer(vm, space);
    DONE(result);
</%isa:op>

<%isa:op name="IMPORT_NAME" operands="name" stack="-- module" calls_out="yes" kills="all" doc="Imports a module with its parents; pushes the first of them.">
    const dv_value result = dv_import_name(vm, CELL(1).v);
    if (dv_is_empty(result)) RAISE();
    DONE(result);
</%isa:op>

<%isa:op name="IMPORT_AS" operands="name" stack="-- module" calls_out="yes" kills="all" doc="Imports a module with its parents; pushes the module.">
    const dv_value result = dv_import_as(vm, CELL(1).v);
    if (dv_is_empty(result)) RAISE();
    DONE(result);
</%isa:op>

<%isa:op name="IMPORT_MODULE" operands="name const" stack="-- module" calls_out="yes" kills="all" doc="Imports a module (a relative one with a dot for each level) and its submodules among the names of a constant tuple; pushes it.">
    const dv_value result = dv_import_module(vm, CELL(1).v, CELL(2).v);
    if (dv_is_empty(result)) RAISE();
    DONE(result);
</%isa:op>

<%isa:op name="IMPORT_STAR" stack="module --" calls_out="yes" kills="all" doc="Stores the public names of a module as globals.">
    if (!dv_import_star(vm, module)) RAISE();
    sp -= 1;
    dv_release_outer(vm, module);
    NEXT();
</%isa:op>

<%isa:op name="IMPORT_FROM" operands="name" stack="module -- module2 v" calls_out="yes" kills="all" doc="Pushes an attribute of the module below: ImportError.">
    const dv_value result = dv_import_from(vm, module, CELL(1).v);
    if (dv_is_empty(result)) RAISE();
    sp[0] = result;
    sp++;
    NEXT();
</%isa:op>
