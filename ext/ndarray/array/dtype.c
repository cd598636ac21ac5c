/* dtype.c: the dtypes, the objects that name them, and what functions of the module say of them
 * (dtype.h). */
#include "array/dtype.h"

#include "array/convert.h"
#include "array/methods.h"
#include "site/derive.h"

const nd_dtype nd_dtypes[ND_TYPES] = {
    {ND_BOOL, 'b', '?', 1, 1, DVX_TRUTH, "bool", "|b1", ND_HOT_BOOL, 0},
    {ND_INT8, 'i', 'b', 1, 1, DVX_INT8, "int8", "|i1", ND_RARE, 1},
    {ND_UINT8, 'u', 'B', 1, 1, DVX_UINT8, "uint8", "|u1", ND_HOT_UINT8, 2},
    {ND_INT16, 'i', 'h', 2, 2, DVX_INT16, "int16", "<i2", ND_RARE, 3},
    {ND_UINT16, 'u', 'H', 2, 2, DVX_UINT16, "uint16", "<u2", ND_RARE, 4},
    {ND_INT32, 'i', 'i', 4, 4, DVX_INT32, "int32", "<i4", ND_HOT_INT32, 5},
    {ND_UINT32, 'u', 'I', 4, 4, DVX_UINT32, "uint32", "<u4", ND_RARE, 6},
    {ND_INT64, 'i', 'l', 8, 8, DVX_INT64, "int64", "<i8", ND_HOT_INT64, 7},
    {ND_UINT64, 'u', 'L', 8, 8, DVX_UINT64, "uint64", "<u8", ND_RARE, 8},
    {ND_FLOAT16, 'f', 'e', 2, 2, DVX_NO_ELEMENT, "float16", "<f2", ND_RARE, 23},
    {ND_FLOAT32, 'f', 'f', 4, 4, DVX_FLOAT32, "float32", "<f4", ND_HOT_FLOAT32, 11},
    {ND_FLOAT64, 'f', 'd', 8, 8, DVX_FLOAT64, "float64", "<f8", ND_HOT_FLOAT64, 12},
    {ND_COMPLEX64, 'c', 'F', 8, 4, DVX_NO_ELEMENT, "complex64", "<c8", ND_RARE, 14},
    {ND_COMPLEX128, 'c', 'D', 16, 8, DVX_NO_ELEMENT, "complex128", "<c16", ND_HOT_COMPLEX128, 15},
};

/* The name of the scalar type. */
static const char *class_name(const nd_dtype *d) { return d->num == ND_BOOL ? "bool_" : d->name; }

typedef struct dtype_payload {
    const nd_dtype *dtype;
} dtype_payload;

static const dvx_type dtype_type, class_type;

/* ---- Promotion ---- */

const nd_dtype *dtype_promote(const nd_dtype *a, const nd_dtype *b) {
    if (a->num > b->num) {
        const nd_dtype *c = a;
        a = b;
        b = c;
    }
    /* An unsigned int beside a signed one that is not wider takes the next signed type. */
    if (b->kind == 'u' && a->kind == 'i')
        return ND_DTYPE(b->num == ND_UINT64 ? ND_FLOAT64 : b->num + 1);
    if (dtype_is_integer(b)) return b;
    const nd_type least = type_as_float(a->num);
    if (b->kind == 'f') return ND_DTYPE(least > b->num ? least : b->num);
    return least == ND_FLOAT64 ? ND_DTYPE(ND_COMPLEX128) : b;
}

bool dtype_is_safe(const nd_dtype *from, const nd_dtype *to) {
    return dtype_promote(from, to) == to;
}

static int rank(const nd_dtype *d) { return (int)(strchr("buifc", d->kind) - "buifc"); }

bool dtype_is_same_kind(const nd_dtype *from, const nd_dtype *to) {
    return rank(from) <= rank(to) || dtype_is_safe(from, to);
}

/* ---- Naming ---- */

typedef struct alias {
    const char *name;
    nd_type type;
} alias;
static const alias aliases[] = {
    {"float", ND_FLOAT64},
    {"d", ND_FLOAT64},
    {"f8", ND_FLOAT64},
    {"double", ND_FLOAT64},
    {"float_", ND_FLOAT64},
    {"float64", ND_FLOAT64},
    {"int", ND_INT64},
    {"l", ND_INT64},
    {"i8", ND_INT64},
    {"q", ND_INT64},
    {"p", ND_INT64},
    {"int_", ND_INT64},
    {"intp", ND_INT64},
    {"long", ND_INT64},
    {"int64", ND_INT64},
    {"longlong", ND_INT64},
    {"bool", ND_BOOL},
    {"?", ND_BOOL},
    {"b1", ND_BOOL},
    {"bool_", ND_BOOL},
    {"bool8", ND_BOOL},
    {"float32", ND_FLOAT32},
    {"f", ND_FLOAT32},
    {"f4", ND_FLOAT32},
    {"single", ND_FLOAT32},
    {"int32", ND_INT32},
    {"i", ND_INT32},
    {"i4", ND_INT32},
    {"intc", ND_INT32},
    {"uint8", ND_UINT8},
    {"B", ND_UINT8},
    {"u1", ND_UINT8},
    {"ubyte", ND_UINT8},
    {"int8", ND_INT8},
    {"b", ND_INT8},
    {"i1", ND_INT8},
    {"byte", ND_INT8},
    {"int16", ND_INT16},
    {"h", ND_INT16},
    {"i2", ND_INT16},
    {"short", ND_INT16},
    {"uint16", ND_UINT16},
    {"H", ND_UINT16},
    {"u2", ND_UINT16},
    {"ushort", ND_UINT16},
    {"uint32", ND_UINT32},
    {"I", ND_UINT32},
    {"u4", ND_UINT32},
    {"uintc", ND_UINT32},
    {"uint64", ND_UINT64},
    {"L", ND_UINT64},
    {"Q", ND_UINT64},
    {"P", ND_UINT64},
    {"u8", ND_UINT64},
    {"uint", ND_UINT64},
    {"uintp", ND_UINT64},
    {"ulonglong", ND_UINT64},
    {"float16", ND_FLOAT16},
    {"e", ND_FLOAT16},
    {"f2", ND_FLOAT16},
    {"half", ND_FLOAT16},
    {"complex64", ND_COMPLEX64},
    {"F", ND_COMPLEX64},
    {"c8", ND_COMPLEX64},
    {"csingle", ND_COMPLEX64},
    {"singlecomplex", ND_COMPLEX64},
    {"complex128", ND_COMPLEX128},
    {"complex", ND_COMPLEX128},
    {"D", ND_COMPLEX128},
    {"c16", ND_COMPLEX128},
    {"complex_", ND_COMPLEX128},
    {"cdouble", ND_COMPLEX128},
};
/* What NumPy has beside these. */
static const char *const others[] = {
    "float128", "longdouble", "complex256", "object",      "str", "bytes", "f16", "O",    "S", "U",
    "g",        "G",          "datetime64", "timedelta64", "M8",  "m8",    "V",   "void",
};

static const nd_dtype *read_name(dvx_vm *vm, dvx_value v) {
    char word[32];
    const char *name = nd_word(vm, v, word);
    if (*name == '<' || *name == '=' || *name == '|') name++;
    for (size_t i = 0; i < LENGTH_OF(aliases); i++)
        if (!strcmp(aliases[i].name, name)) return ND_DTYPE(aliases[i].type);
    for (size_t i = 0; i < LENGTH_OF(others); i++)
        if (!strcmp(others[i], name)) {
            nd_fail(vm, DVX_TYPE_ERROR, "dtype '%s' is not part of dl", word);
            return NULL;
        }
    dvx_value error = vm->api->error_class(vm, DVX_TYPE_ERROR);
    vm->api->raise_format(vm, error, "data type %V not understood", v);
    vm->api->release(vm, error);
    return NULL;
}

const nd_dtype *dtype_of_object(dvx_vm *vm, dvx_value v) {
    const dtype_payload *p = vm->api->payload(vm, v, &dtype_type);
    if (!p) p = vm->api->payload(vm, v, &class_type);
    return p ? p->dtype : NULL;
}

static const nd_dtype *of_class(dvx_vm *vm, dvx_value v) {
    const nd_state *state = nd_state_of(vm);
    if (vm->api->same(vm, v, state->float_)) return ND_DTYPE(ND_FLOAT64);
    if (vm->api->same(vm, v, state->int_)) return ND_DTYPE(ND_INT64);
    if (vm->api->same(vm, v, state->bool_)) return ND_DTYPE(ND_BOOL);
    if (vm->api->same(vm, v, state->complex_)) return ND_DTYPE(ND_COMPLEX128);
    return NULL;
}

const nd_dtype *dtype_read(dvx_vm *vm, dvx_value v) {
    const nd_dtype *d = dtype_of_object(vm, v);
    if (d) return d;
    dvx_kind kind = vm->api->kind(vm, v);
    if (kind == DVX_NONE) return ND_DTYPE(ND_FLOAT64);
    if (kind == DVX_STR) return read_name(vm, v);
    if (kind == DVX_CLASS && (d = of_class(vm, v))) return d;
    dvx_value error = vm->api->error_class(vm, DVX_TYPE_ERROR);
    vm->api->raise_format(vm, error,
                          kind == DVX_CLASS ? "dtype %V is not part of dl"
                                            : "Cannot interpret '%V' as a data type",
                          v);
    vm->api->release(vm, error);
    return NULL;
}

bool dtype_read_given(dvx_vm *vm, dvx_value v, const nd_dtype *otherwise, const nd_dtype **out) {
    *out = otherwise;
    if (!nd_is_given(vm, v)) return true;
    return (*out = dtype_read(vm, v)) != NULL;
}

dvx_value dtype_object(dvx_vm *vm, const nd_dtype *d) {
    return vm->api->retain(vm, nd_state_of(vm)->dtypes[d->num]);
}

/* ---- The objects ---- */

static const nd_dtype *self_of(dvx_vm *vm, dvx_value self) {
    const nd_dtype *d = dtype_of_object(vm, self);
    return d ? d : ND_DTYPE(ND_FLOAT64); /* a payload of zeros */
}

static bool initialise(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)count;
    dtype_payload *p = vm->api->payload(vm, self, &dtype_type);
    p->dtype = dtype_read(vm, args[0]);
    return p->dtype != NULL;
}

static dvx_value show_dtype(dvx_vm *vm, dvx_value self) {
    char text[32] = "dtype('";
    return nd_str(vm, strcat(strcat(text, self_of(vm, self)->name), "')"));
}
static dvx_value name_dtype(dvx_vm *vm, dvx_value self) {
    return nd_str(vm, self_of(vm, self)->name);
}

static dvx_value show_class(dvx_vm *vm, dvx_value self) {
    char text[40] = "<class 'numpy.";
    return nd_str(vm, strcat(strcat(text, class_name(self_of(vm, self))), "'>"));
}

/* A dtype equals what names it. */
static dvx_value compare_dtypes(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    if (op != DVX_EQ && op != DVX_NE) return vm->api->make_not_implemented(vm);
    const nd_dtype *d = of_class(vm, other);
    if (!d && !nd_is_none(vm, other) && !(d = dtype_read(vm, other))) vm->api->clear_error(vm);
    return vm->api->make_bool(vm, (d == self_of(vm, self)) == (op == DVX_EQ));
}

/* np.float64 equals itself, and the dtype. */
static dvx_value compare_classes(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    if (op != DVX_EQ && op != DVX_NE) return vm->api->make_not_implemented(vm);
    return vm->api->make_bool(vm,
                              (dtype_of_object(vm, other) == self_of(vm, self)) == (op == DVX_EQ));
}

static bool hash(dvx_vm *vm, dvx_value self, int64_t *out) {
    *out = 7919 + (int64_t)self_of(vm, self)->num;
    return true;
}

dvx_value dtype_convert(dvx_vm *vm, const nd_dtype *d, dvx_value v) {
    _Alignas(16) char bytes[16];
    const dvx_kind kind = vm->api->kind(vm, v);
    if (kind == DVX_STR || kind == DVX_FLOAT || kind == DVX_INT || kind == DVX_BOOL ||
        kind == DVX_COMPLEX)
        return array_store(vm, d, bytes, v) ? array_element(vm, d, bytes) : DVX_FAILED;
    return array_result(vm, array_from(vm, v, d));
}

/* np.float64(x=0) */
static dvx_value convert(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)count;
    const nd_dtype *d = self_of(vm, self);
    _Alignas(16) const char zeros[16] = {0};
    return dvx_failed(args[0]) ? array_element(vm, d, zeros) : dtype_convert(vm, d, args[0]);
}

/* isinstance(x, np.float64): numbers of dl are elements of float64, int64 and complex128. */
static dvx_value is_element(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    static const uint8_t types[] = {
        [DVX_INT] = ND_INT64, [DVX_FLOAT] = ND_FLOAT64, [DVX_COMPLEX] = ND_COMPLEX128};
    const nd_type num = self_of(vm, args[0])->num;
    const dvx_kind kind = vm->api->kind(vm, args[1]);
    const nd_array *a = vm->api->payload(vm, args[1], &scalar_type);
    (void)count;
    const bool number = kind == DVX_INT || kind == DVX_FLOAT || kind == DVX_COMPLEX;
    return vm->api->make_bool(vm, a ? a->dtype->num == num : number && types[kind] == num);
}
static const dvx_function instance_check = {.size = sizeof(dvx_function),
                                            .name = "__instancecheck__",
                                            .entry = is_element,
                                            .min = 2,
                                            .max = 2};
static const dvx_function *const class_methods[] = {&instance_check};

#define GET(name, value)                                      \
    static dvx_value get_##name(dvx_vm *vm, dvx_value self) { \
        const nd_dtype *d = self_of(vm, self);                \
        return value;                                         \
    }                                                         \
    static const dvx_attribute own_##name = {sizeof(dvx_attribute), #name, get_##name, NULL}
GET(name, nd_str(vm, d->name));
GET(str, nd_str(vm, d->text));
GET(itemsize, vm->api->make_int(vm, d->size));
GET(alignment, vm->api->make_int(vm, d->alignment));
GET(kind, vm->api->make_str(vm, &d->kind, 1));
GET(char, vm->api->make_str(vm, &d->code, 1));
GET(num, vm->api->make_int(vm, d->number));
GET(byteorder, nd_str(vm, d->size == 1 ? "|" : "="));
GET(type, vm->api->retain(vm, nd_state_of(vm)->classes[d->num]));
GET(__name__, nd_str(vm, class_name(d)));
GET(__qualname__, nd_str(vm, class_name(d)));
GET(__module__, ((void)d, nd_str(vm, "numpy")));
/* What differs in records, and in dtypes of other machines. */
GET(names, ((void)d, nd_none(vm)));
GET(fields, ((void)d, nd_none(vm)));
GET(subdtype, ((void)d, nd_none(vm)));
GET(shape, ((void)d, vm->api->make_tuple(vm, NULL, 0)));
GET(isnative, ((void)d, vm->api->make_bool(vm, true)));
GET(hasobject, ((void)d, vm->api->make_bool(vm, false)));

static const dvx_attribute *const dtype_attributes[] = {
    &own_name,   &own_str,      &own_itemsize,  &own_alignment, &own_kind,
    &own_char,   &own_num,      &own_byteorder, &own_type,      &own_names,
    &own_fields, &own_subdtype, &own_shape,     &own_isnative,  &own_hasobject};
static const dvx_attribute *const class_attributes[] = {&own___name__, &own___qualname__,
                                                        &own___module__};

static const char *const dtype_names[] = {"dtype"};
static const dvx_parameters dtype_parameters = {sizeof dtype_parameters, dtype_names, 1, 1, 1};
static const char *const convert_names[] = {"x"};
static const dvx_parameters convert_parameters = {sizeof convert_parameters, convert_names, 1, 1,
                                                  0};

static const dvx_type dtype_type = {.size = sizeof(dvx_type),
                                    .name = "dtype",
                                    .payload = sizeof(dtype_payload),
                                    .initialise = initialise,
                                    .parameters = &dtype_parameters,
                                    .repr = show_dtype,
                                    .str = name_dtype,
                                    .hash = hash,
                                    .compare = compare_dtypes,
                                    .attribute_count = LENGTH_OF(dtype_attributes),
                                    .attributes = dtype_attributes};
static const dvx_type class_type = {.size = sizeof(dvx_type),
                                    .name = "scalar_type",
                                    .payload = sizeof(dtype_payload),
                                    .repr = show_class,
                                    .hash = hash,
                                    .compare = compare_classes,
                                    .specialise = derive_class,
                                    .call = convert,
                                    .call_parameters = &convert_parameters,
                                    .method_count = LENGTH_OF(class_methods),
                                    .methods = class_methods,
                                    .attribute_count = LENGTH_OF(class_attributes),
                                    .attributes = class_attributes};

/* ---- The module ---- */

static dvx_value make(dvx_vm *vm, const dvx_type *type, const nd_dtype *d) {
    void *payload;
    dvx_value made = vm->api->make_object(vm, type, &payload);
    if (!dvx_failed(made)) ((dtype_payload *)payload)->dtype = d;
    return made;
}

bool dtype_is_class(dvx_vm *vm, dvx_value v) {
    return vm->api->payload(vm, v, &class_type) != NULL;
}

/* ---- Types of results ---- */

static dvx_value promote_types(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    const nd_dtype *a = dtype_read(vm, args[0]), *b = a ? dtype_read(vm, args[1]) : NULL;
    return b ? dtype_object(vm, dtype_promote(a, b)) : DVX_FAILED;
}

/* Numbers take the type of arrays and dtypes beside them, as far as their kind allows. */
static dvx_value result_type(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *strong = NULL, *weak = NULL, *result;
    if (!count)
        return vm->api->raise(vm, DVX_VALUE_ERROR, "at least one array or dtype is required");
    for (uint32_t i = 0; i < count; i++) {
        const nd_array *a = array_of(vm, args[i]);
        const nd_dtype *d = a ? a->dtype : convert_kind(vm, args[i]);
        const bool is_number = !a && d;
        if (!d && !(d = dtype_read(vm, args[i]))) return DVX_FAILED;
        const nd_dtype **kind = is_number && d->num != ND_BOOL ? &weak : &strong;
        *kind = *kind ? dtype_promote(*kind, d) : d;
    }
    result = strong ? strong : weak;
    if (strong && weak) {
        if (weak->kind == 'c') {
            result = dtype_is_integer(strong) ? weak : ND_DTYPE(type_as_complex(strong->num));
        } else if (weak->kind == 'f') {
            result = dtype_is_integer(strong) ? weak : strong;
        } else {
            result = strong->num == ND_BOOL ? weak : strong;
        }
    }
    return dtype_object(vm, result);
}

int dtype_casts(dvx_vm *vm, const nd_dtype *from, const nd_dtype *to, dvx_value casting,
                char word[32]) {
    if (!dvx_failed(casting)) nd_word(vm, casting, word);
    if (!strcmp(word, "safe")) return dtype_is_safe(from, to);
    if (!strcmp(word, "same_kind")) return dtype_is_same_kind(from, to);
    if (!strcmp(word, "no") || !strcmp(word, "equiv")) return from == to;
    if (!strcmp(word, "unsafe")) return true;
    nd_fail(vm, DVX_VALUE_ERROR,
            "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '%s')",
            word);
    return -1;
}

/* from_, to, casting */
static dvx_value can_cast(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char word[32] = "safe";
    (void)count;
    const nd_array *a = array_of(vm, args[0]);
    const nd_dtype *from = a ? a->dtype : convert_kind(vm, args[0]), *to;
    if (!from && !(from = dtype_read(vm, args[0]))) return DVX_FAILED;
    if (!(to = dtype_read(vm, args[1]))) return DVX_FAILED;
    const int good = dtype_casts(vm, from, to, args[2], word);
    return good < 0 ? DVX_FAILED : vm->api->make_bool(vm, good);
}

ND_PARAMETERS(of_can_cast, 2, "from_", "to", "casting");
static const dvx_function functions[] = {
    ND_PLAIN("promote_types", promote_types, 2, 2),
    ND_PLAIN("result_type", result_type, 0, ND_ANY),
    ND_NAMED("can_cast", can_cast, of_can_cast),
};

bool dtype_register(dvx_vm *vm, dvx_value module) {
    static const alias names[] = {
        {"double", ND_FLOAT64}, {"float_", ND_FLOAT64},     {"int_", ND_INT64},
        {"intp", ND_INT64},     {"longlong", ND_INT64},     {"ulonglong", ND_UINT64},
        {"single", ND_FLOAT32}, {"intc", ND_INT32},         {"ubyte", ND_UINT8},
        {"bool8", ND_BOOL},     {"byte", ND_INT8},          {"short", ND_INT16},
        {"ushort", ND_UINT16},  {"uintc", ND_UINT32},       {"uint", ND_UINT64},
        {"uintp", ND_UINT64},   {"cdouble", ND_COMPLEX128}, {"complex_", ND_COMPLEX128},
        {"half", ND_FLOAT16},   {"csingle", ND_COMPLEX64},  {"singlecomplex", ND_COMPLEX64}};
    nd_state *state = nd_state_of(vm);
    if (!vm->api->add_type(vm, module, &dtype_type) || !vm->api->add_type(vm, module, &class_type))
        return false;
    for (int i = 0; i < ND_TYPES; i++) {
        state->dtypes[i] = make(vm, &dtype_type, ND_DTYPE(i));
        state->classes[i] = make(vm, &class_type, ND_DTYPE(i));
        if (dvx_failed(state->dtypes[i]) || dvx_failed(state->classes[i]) ||
            !vm->api->add_constant(vm, module, class_name(ND_DTYPE(i)), state->classes[i]))
            return false;
    }
    for (size_t i = 0; i < LENGTH_OF(names); i++)
        if (!vm->api->add_constant(vm, module, names[i].name, state->classes[names[i].type]))
            return false;
    return ND_ADD_ALL(functions);
}
