/* maker.c: what exception classes of programs make of the arguments of a call (maker.h). */
#include "region/step/maker.h"

#include "run/execute.h"
#include "types/callable/function.h"
#include "types/callable/variable.h"
#include "types/class/class.h"
#include "types/sequence/tuple.h"
#include "types/text/str.h"

/* What an entry of the operand stack is while an __init__ is read. */
typedef struct item {
    enum { ITEM_KEPT, ITEM_SELF, ITEM_VALUE, ITEM_SUPER, ITEM_METHOD } what;
    dv_kept kept;     /* also of VALUE, the constant */
    dv_class *class_; /* METHOD: whose __init__, or that of what it derives from ... */
    uint32_t from;    /* ... from here in its order */
} item;

enum { MOST_ITEMS = DV_SOURCE_VALUES + 4, MOST_DEPTH = 3 };

typedef struct reader {
    dv_build *b;
    dv_class *class_; /* of the exception */
    dv_maker *maker;
    dv_function *init;
    const dv_kept *arguments; /* of the function, without self */
    int32_t count;
    item items[MOST_ITEMS];
    int32_t top;
    bool done;
} reader;

static bool push(reader *r, item i) {
    if (r->top == MOST_ITEMS) return false;
    r->items[r->top++] = i;
    return true;
}

static bool push_constant(reader *r, dv_value v) {
    return push(r, (item){.what = ITEM_KEPT, .kept = {-1, v}});
}

static bool initialise(dv_build *b, dv_class *class_, dv_class *order, uint32_t from,
                       const dv_kept *arguments, int32_t count, dv_maker *maker);

static bool push_local(reader *r, uint32_t local) {
    if (local == 0) return push(r, (item){.what = ITEM_SELF});
    if (local > (uint32_t)r->count) return false;
    return push(r, (item){.what = ITEM_KEPT, .kept = r->arguments[local - 1]});
}

static bool push_global(reader *r, uint32_t name) {
    const dv_thread *thread = dv_function_thread(r->init);
    const dv_value v = dv_step_global(r->b, thread->module, thread->names[name]);
    return dv_is_class(v) && push(r, (item){.what = ITEM_VALUE, .kept = {-1, v}});
}

/* Where the class stands in the order of the other one; mro_count: nowhere. */
static uint32_t place_of(const dv_class *class_, dv_value wanted) {
    uint32_t i = 0;
    while (i < class_->mro_count && !dv_same(dv_object_value(class_->mro[i]), wanted)) i++;
    return i;
}

/* super() */
static bool call_super(reader *r) {
    const item *callee = &r->items[r->top - 1];
    if (callee->what != ITEM_VALUE ||
        !dv_same(callee->kept.value, dv_object_value(r->b->vm->classes[DV_T_SUPER])))
        return false;
    if (!dv_is_shape(r->init->closure, DV_T_TUPLE) || dv_as_tuple(r->init->closure)->count != 1)
        return false;
    const dv_value start = dv_as_variable(dv_as_tuple(r->init->closure)->items[0])->value;
    const uint32_t place = place_of(r->class_, start);
    r->top--;
    return place < r->class_->mro_count &&
           push(r, (item){.what = ITEM_SUPER, .class_ = r->class_, .from = place + 1});
}

/* super().__init__, or Class.__init__ */
static bool load_method(reader *r, uint32_t name) {
    item *object = &r->items[r->top - 1];
    if (!dv_same(dv_function_thread(r->init)->names[name], r->b->vm->known.init)) return false;
    if (object->what == ITEM_VALUE) {
        if (place_of(r->class_, object->kept.value) == r->class_->mro_count) return false;
        *object = (item){.what = ITEM_METHOD, .class_ = dv_as_class(object->kept.value)};
        return true;
    }
    if (object->what != ITEM_SUPER) return false;
    object->what = ITEM_METHOD;
    return push(r, (item){.what = ITEM_SELF});
}

/* The call of such a method with n entries, of which self is the first one. */
static bool call_method(reader *r, int32_t n) {
    dv_kept given[MOST_ITEMS];
    if (r->top < n + 1) return false;
    const item *first = &r->items[r->top - n], *method = first - 1;
    if (method->what != ITEM_METHOD || n == 0 || first->what != ITEM_SELF) return false;
    for (int32_t i = 1; i < n; i++) {
        if (first[i].what != ITEM_KEPT) return false;
        given[i - 1] = first[i].kept;
    }
    if (!initialise(r->b, r->class_, method->class_, method->from, given, n - 1, r->maker))
        return false;
    r->top -= n + 1;
    return push_constant(r, DV_NONE);
}

/* Names that objects, or exceptions, give a meaning to. */
static bool is_ordinary(dv_value name) {
    const dv_str *s = dv_as_str(name);
    return !dv_str_is(name, "args") &&
           !(s->length > 1 && dv_str_at(s, 0) == '_' && dv_str_at(s, 1) == '_');
}

/* self.name = value */
static bool store(reader *r, dv_value name) {
    dv_maker *maker = r->maker;
    if (r->top < 2 || r->items[r->top - 1].what != ITEM_SELF ||
        r->items[r->top - 2].what != ITEM_KEPT || !is_ordinary(name))
        return false;
    uint32_t i = 0;
    while (i < maker->attribute_count && !dv_same(maker->names[i], name)) i++;
    if (maker->count + i == DV_SOURCE_VALUES) return false;
    maker->names[i] = name;
    maker->kept[maker->count + i] = r->items[r->top - 2].kept;
    maker->attribute_count += i == maker->attribute_count;
    r->top -= 2;
    return true;
}

static bool ends(reader *r) {
    const item *result = &r->items[r->top - 1];
    r->done = true;
    return r->top == 1 && result->what == ITEM_KEPT && dv_is_none(result->kept.value);
}

/* One instruction; false: it is none of those that are known. */
static bool read(reader *r, const uint32_t *word) {
    const dv_thread *thread = dv_function_thread(r->init);
    const uint32_t operand = *word >> 8;
    switch (*word & 0xFF) {
    case DV_OP_COPY_FREE: return true;
    case DV_OP_LOAD_LOCAL:
    case DV_OP_LOAD_LOCAL_B: return push_local(r, operand);
    case DV_OP_LOAD_CONST:
    case DV_OP_LOAD_CONST_B: return push_constant(r, thread->constants[operand]);
    case DV_OP_LOAD_GLOBAL:
    case DV_OP_LOAD_GLOBAL_CALLEE: return push_global(r, operand);
    case DV_OP_CALL: return operand == 0 && r->top > 0 && call_super(r);
    case DV_OP_LOAD_METHOD: return r->top > 0 && load_method(r, operand);
    case DV_OP_CALL_METHOD:
        /* The method of a class is called without a self that stands apart. */
        return call_method(r,
                           (int32_t)operand + (r->top > (int32_t)operand &&
                                               r->items[r->top - operand - 1].what == ITEM_SELF));
    case DV_OP_STORE_ATTR: return store(r, thread->names[operand]);
    case DV_OP_POP_TOP: return r->top-- > 0;
    case DV_OP_RETURN: return r->top > 0 && ends(r);
    default: return false;
    }
}

/* The function, called with these arguments and self. */
static bool run(dv_build *b, dv_class *class_, dv_function *init, const dv_kept *arguments,
                int32_t count, dv_maker *maker) {
    reader r = {.b = b, .class_ = class_, .maker = maker, .init = init};
    const dv_thread *thread = dv_function_thread(init);
    const dv_code *code = thread->code;
    dv_kept all[MOST_ITEMS];
    const int32_t missing = dv_step_missing(b, init, thread->exact_arguments - 1 - count);
    if (missing < 0 || count + missing > MOST_ITEMS || !thread->cells) return false;
    const dv_value *defaults = dv_frame_defaults(init, missing);
    for (int32_t i = 0; i < count; i++) all[i] = arguments[i];
    for (int32_t i = 0; i < missing; i++) all[count + i] = (dv_kept){-1, defaults[i]};
    r.arguments = all, r.count = count + missing;
    for (uint32_t pc = 0; pc < code->word_count && !r.done;) {
        const uint32_t n = dv_op_infos[code->words[pc] & 0xFF].operand_count;
        if (!read(&r, &code->words[pc])) return false;
        pc += n > 1 ? n : 1;
    }
    return r.done;
}

/* The __init__ that `order` finds from there on in its order, of an exception of the class. */
static bool initialise(dv_build *b, dv_class *class_, dv_class *order, uint32_t from,
                       const dv_kept *arguments, int32_t count, dv_maker *maker) {
    dv_global_cell *cell = NULL;
    while (from < order->mro_count && !order->mro[from]->descriptor) {
        cell = dv_namespace_find(&order->mro[from++]->attributes, b->vm->known.init);
        if (cell && !dv_is_empty(cell->value)) break;
        cell = NULL;
    }
    if (!cell) { /* that of BaseException */
        if (count + maker->attribute_count > DV_SOURCE_VALUES || count > DV_SOURCE_ARGUMENTS)
            return false;
        memmove(maker->kept + count, maker->kept + maker->count,
                maker->attribute_count * sizeof *maker->kept);
        memcpy(maker->kept, arguments, (size_t)count * sizeof *arguments);
        maker->count = (uint32_t)count;
        return true;
    }
    if (maker->depth++ == MOST_DEPTH || !dv_is_function(cell->value)) return false;
    return !dv_is_empty(dv_constant_global(b, cell)) &&
           run(b, class_, dv_as_function(cell->value), arguments, count, maker);
}

/* Is there nothing else that makes such exceptions, or that their arguments and attributes have a
 * meaning for? */
static bool is_plain(const dv_build *b, const dv_class *class_) {
    static const dv_error_class others[] = {
        DV_E_OS_ERROR,   DV_E_UNICODE_ERROR,   DV_E_SYNTAX_ERROR,   DV_E_IMPORT_ERROR,
        DV_E_NAME_ERROR, DV_E_ATTRIBUTE_ERROR, DV_E_STOP_ITERATION, DV_E_SYSTEM_EXIT};
    const uint16_t special = DV_CLASS_READY | DV_CLASS_NEW | DV_CLASS_ABSTRACT | DV_CLASS_SETATTR |
                             DV_CLASS_GETATTRIBUTE | DV_CLASS_DATA | DV_CLASS_CLAIMS |
                             DV_CLASS_SLOTS;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (dv_class_is_subclass(class_, b->vm->error_classes[others[i]])) return false;
    return class_->type == DV_T_EXCEPTION && !class_->descriptor && !class_->metaclass &&
           (class_->flags & special) == DV_CLASS_READY;
}

bool dv_maker_find(dv_build *b, dv_class *class_, int32_t n, dv_maker *maker) {
    dv_kept arguments[DV_SOURCE_ARGUMENTS];
    *maker = (dv_maker){.count = (uint32_t)n};
    if (n > DV_SOURCE_ARGUMENTS || !is_plain(b, class_)) return false;
    for (int32_t i = 0; i < n; i++) maker->kept[i] = arguments[i] = (dv_kept){i, DV_EMPTY};
    class_->flags |= DV_CLASS_CACHED;
    return dv_build_depends(b, &b->vm->class_sites) &&
           initialise(b, class_, class_, 0, arguments, n, maker);
}
