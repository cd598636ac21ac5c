/* lines.c: an extension whose objects have the elements of their buffer as items: Line, numbers of
 * any C type that can be resized, turned round, folded to rows, and told to lie. */
#include <dynvm_ext.h>

#include <stddef.h>
#include <string.h>

typedef struct line {
    char *memory;
    size_t size;
    struct { /* a dvx_buffer with up to two axes */
        void *data;
        uint32_t element, dimensions, read_only, exports;
        dvx_axis axes[2];
    } buffer;
} line;

static const dvx_type line_type;

static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

static line *line_of(dvx_vm *vm, dvx_value self) { return vm->api->payload(vm, self, &line_type); }

/* The same, if nobody works on the elements; NULL: raised. */
static line *changeable(dvx_vm *vm, dvx_value self) {
    line *l = line_of(vm, self);
    if (!l->buffer.exports) return l;
    vm->api->raise(vm, DVX_BUFFER_ERROR, "line is in use");
    return NULL;
}

/* Another number of elements, along one axis; new ones are 0. */
static bool resize_to(dvx_vm *vm, line *l, int64_t count, uint32_t element) {
    size_t size = (size_t)count * sizes[element];
    char *memory = size ? vm->api->allocate(vm, size) : NULL;
    if (size && !memory) return false;
    if (size) memset(memory, 0, size);
    if (size && l->size) memcpy(memory, l->memory, size < l->size ? size : l->size);
    if (l->memory) memset(l->memory, 0x5A, l->size);
    vm->api->deallocate(vm, l->memory, l->size);
    l->memory = memory;
    l->size = size;
    l->buffer.data = memory;
    l->buffer.element = element;
    l->buffer.dimensions = 1;
    l->buffer.axes[0] = (dvx_axis){count, (int64_t)sizes[element]};
    return true;
}

/* Line(count=0, element=9): all 0 */
static bool initialise(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    line *l = changeable(vm, self);
    int64_t n = 0, element = DVX_FLOAT64;
    (void)count;
    if (!l || (!dvx_failed(args[0]) && !vm->api->read_int(vm, args[0], &n)) ||
        (!dvx_failed(args[1]) && !vm->api->read_int(vm, args[1], &element)))
        return false;
    if (n >= 0 && n <= 100000 && element >= 0 && element <= DVX_FLOAT64)
        return resize_to(vm, l, n, (uint32_t)element);
    vm->api->raise(vm, DVX_VALUE_ERROR, "no such line");
    return false;
}

static void release(dvx_vm *vm, void *payload) {
    line *l = payload;
    vm->api->deallocate(vm, l->memory, l->size);
}

/* line["name"]: what it is asked for where the key is no index. */
static dvx_value get_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    char text[8];
    size_t size;
    if (!vm->api->read_str(vm, key, text, sizeof text, &size)) return DVX_FAILED;
    if (!strcmp(text, "element")) return vm->api->make_int(vm, line_of(vm, self)->buffer.element);
    return vm->api->raise(vm, DVX_KEY_ERROR, "element");
}

/* resize(count) */
static dvx_value resize(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    line *l = changeable(vm, args[0]);
    int64_t n;
    (void)count;
    if (!l || !vm->api->read_int(vm, args[1], &n) || !resize_to(vm, l, n, l->buffer.element))
        return DVX_FAILED;
    return vm->api->make_none(vm);
}

/* retype(element): the same bytes as other numbers */
static dvx_value retype(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    line *l = changeable(vm, args[0]);
    int64_t element;
    (void)count;
    if (!l || !vm->api->read_int(vm, args[1], &element)) return DVX_FAILED;
    l->buffer.element = (uint32_t)element;
    l->buffer.axes[0] = (dvx_axis){(int64_t)(l->size / sizes[element]), (int64_t)sizes[element]};
    return vm->api->make_none(vm);
}

/* turn(): the last element is the first */
static dvx_value turn(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    line *l = changeable(vm, args[0]);
    (void)count;
    if (!l) return DVX_FAILED;
    dvx_axis *axis = &l->buffer.axes[0];
    if (axis->count) l->buffer.data = (char *)l->buffer.data + (axis->count - 1) * axis->stride;
    axis->stride = -axis->stride;
    return vm->api->make_none(vm);
}

/* fold(columns): rows of so many elements */
static dvx_value fold(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    line *l = changeable(vm, args[0]);
    int64_t columns;
    (void)count;
    if (!l || !vm->api->read_int(vm, args[1], &columns)) return DVX_FAILED;
    dvx_axis *axes = l->buffer.axes;
    axes[1] = (dvx_axis){columns, axes[0].stride};
    axes[0] = (dvx_axis){axes[0].count / columns, axes[0].stride * columns};
    l->buffer.dimensions = 2;
    return vm->api->make_none(vm);
}

/* freeze(yes) */
static dvx_value freeze(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    line_of(vm, args[0])->buffer.read_only = vm->api->truth(vm, args[1]) > 0;
    return vm->api->make_none(vm);
}

/* spoil(how): 0 more axes than there is room for, 1 no such element, 2 fewer items than none, 3
 * items without memory, 4 no axis at all */
static dvx_value spoil(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    line *l = line_of(vm, args[0]);
    int64_t how;
    (void)count;
    if (!vm->api->read_int(vm, args[1], &how)) return DVX_FAILED;
    if (how == 0) l->buffer.dimensions = 7;
    if (how == 1) l->buffer.element = 99;
    if (how == 2) l->buffer.axes[0].count = -1;
    if (how == 3) l->buffer.data = NULL;
    if (how == 4) l->buffer.dimensions = 0;
    return vm->api->make_none(vm);
}

static const char *const names[] = {"count", "element"};
static const dvx_parameters parameters = {sizeof parameters, names, 2, 2, 0};
#define METHOD(name, count) \
    { .size = sizeof(dvx_function), #name, name, count, count, 0, NULL }
static const dvx_function functions[] = {METHOD(resize, 2), METHOD(retype, 2), METHOD(turn, 1),
                                         METHOD(fold, 2),   METHOD(freeze, 2), METHOD(spoil, 2)};
static const dvx_function *const methods[] = {&functions[0], &functions[1], &functions[2],
                                              &functions[3], &functions[4], &functions[5]};
static const dvx_type line_type = {.size = sizeof(dvx_type),
                                   .name = "Line",
                                   .payload = sizeof(line),
                                   .base = true,
                                   .initialise = initialise,
                                   .parameters = &parameters,
                                   .release = release,
                                   .get_item = get_item,
                                   .method_count = 6,
                                   .methods = methods,
                                   .buffer = offsetof(line, buffer),
                                   .buffer_axes = 2,
                                   .traits = DVX_BUFFER_ITEMS};

static bool init(dvx_vm *vm, dvx_value module) { return vm->api->add_type(vm, module, &line_type); }

DVX_EXTENSION("lines", init);
