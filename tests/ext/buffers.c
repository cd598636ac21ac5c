/* buffers.c: an extension that lends and uses typed buffers: Grid, numbers in rows and columns, and
 * View, which works on the buffer of something else. */
#include <dynvm_ext.h>

#include <stddef.h>
#include <string.h>

/* ---- Grid ---- */

typedef struct grid {
    int64_t rows, columns;
    size_t size; /* of the memory */
    struct {     /* a dvx_buffer with two axes */
        void *data;
        uint32_t element, dimensions, read_only, exports;
        dvx_axis axes[2];
    } buffer;
} grid;

static const dvx_type grid_type, view_type;

static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

static bool refuse_exported(dvx_vm *vm) {
    vm->api->raise(vm, DVX_BUFFER_ERROR, "grid is in use");
    return false;
}

/* Grid(rows, columns, element=9): all 0 */
static bool grid_initialise(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    grid *g = vm->api->payload(vm, self, &grid_type);
    int64_t rows, columns, element = DVX_FLOAT64;
    (void)count;
    if (g->buffer.exports) return refuse_exported(vm);
    if (!vm->api->read_int(vm, args[0], &rows) || !vm->api->read_int(vm, args[1], &columns) ||
        (!dvx_failed(args[2]) && !vm->api->read_int(vm, args[2], &element)))
        return false;
    if (rows < 1 || columns < 1 || rows > 1000 || columns > 1000 || element < 0 || element > 9) {
        vm->api->raise(vm, DVX_VALUE_ERROR, "no such grid");
        return false;
    }
    size_t item = sizes[element], size = (size_t)(rows * columns) * item;
    void *memory = vm->api->allocate(vm, size);
    if (!memory) return false;
    memset(memory, 0, size);
    vm->api->deallocate(vm, g->buffer.data, g->size);
    g->size = size;
    g->buffer.data = memory;
    g->buffer.element = (uint32_t)element;
    g->buffer.dimensions = 2;
    g->buffer.axes[0] = (dvx_axis){rows, columns * (int64_t)item};
    g->buffer.axes[1] = (dvx_axis){columns, (int64_t)item};
    return true;
}

static void grid_release(dvx_vm *vm, void *payload) {
    grid *g = payload;
    vm->api->deallocate(vm, g->buffer.data, g->size);
}

/* transpose(): swaps the axes. */
static dvx_value transpose(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    grid *g = vm->api->payload(vm, args[0], &grid_type);
    (void)count;
    if (g->buffer.exports) return refuse_exported(vm), DVX_FAILED;
    dvx_axis first = g->buffer.axes[0];
    g->buffer.axes[0] = g->buffer.axes[1];
    g->buffer.axes[1] = first;
    return vm->api->make_none(vm);
}

/* freeze(): no more writing. */
static dvx_value freeze(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    grid *g = vm->api->payload(vm, args[0], &grid_type);
    (void)count;
    g->buffer.read_only = 1;
    return vm->api->make_none(vm);
}

/* spoil(how=0): the buffer lies, or says what is odd: 0 too many axes, 1 no such element, 2 fewer
 * items than none, 3 more items than a number can count, 4 items without memory, 5 an axis without
 * items and no memory, 6 the first element for all items, of which there are more than memory could
 * have. */
static dvx_value spoil(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    grid *g = vm->api->payload(vm, args[0], &grid_type);
    int64_t how = 0;
    if (count > 1 && !vm->api->read_int(vm, args[1], &how)) return DVX_FAILED;
    if (how == 0) g->buffer.dimensions = 7;
    if (how == 1) g->buffer.element = 99;
    if (how == 2) g->buffer.axes[1].count = -1;
    if (how == 3) g->buffer.axes[0].count = g->buffer.axes[1].count = INT64_MAX;
    if (how == 4 || how == 5) {
        vm->api->deallocate(vm, g->buffer.data, g->size);
        g->buffer.data = NULL;
        g->size = 0;
        if (how == 5) g->buffer.axes[1].count = 0;
    }
    if (how == 6) g->buffer.axes[0] = g->buffer.axes[1] = (dvx_axis){(int64_t)1 << 31, 0};
    return vm->api->make_none(vm);
}

static const char *const grid_names[] = {"rows", "columns", "element"};
static const dvx_parameters grid_parameters = {sizeof grid_parameters, grid_names, 3, 3, 2};
#define METHOD(name, low, high) \
    { .size = sizeof(dvx_function), #name, name, low, high, 0, NULL }
static const dvx_function grid_functions[] = {METHOD(transpose, 1, 1), METHOD(freeze, 1, 1),
                                              METHOD(spoil, 1, 2)};
static const dvx_function *const grid_methods[] = {&grid_functions[0], &grid_functions[1],
                                                   &grid_functions[2]};
static const dvx_type grid_type = {.size = sizeof(dvx_type),
                                   .name = "Grid",
                                   .payload = sizeof(grid),
                                   .base = true,
                                   .initialise = grid_initialise,
                                   .parameters = &grid_parameters,
                                   .release = grid_release,
                                   .method_count = 3,
                                   .methods = grid_methods,
                                   .buffer = offsetof(grid, buffer),
                                   .buffer_axes = 2};

/* ---- View ---- */

typedef struct view {
    dvx_view view;
    bool open;
} view;

/* View(v, writable=False) */
static bool view_initialise(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    view *w = vm->api->payload(vm, self, &view_type);
    int writable = dvx_failed(args[1]) ? 0 : vm->api->truth(vm, args[1]);
    (void)count;
    if (writable < 0 || w->open) return false;
    w->open = vm->api->buffer_get(vm, args[0], writable > 0, &w->view);
    return w->open;
}

static void view_release(dvx_vm *vm, void *payload) {
    view *w = payload;
    if (w->open) vm->api->buffer_release(vm, &w->view);
    w->open = false;
}

static dvx_value done(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    view_release(vm, vm->api->payload(vm, args[0], &view_type));
    return vm->api->make_none(vm);
}

/* The payload of an open view; NULL: raised. */
static view *open_view(dvx_vm *vm, dvx_value self) {
    view *w = vm->api->payload(vm, self, &view_type);
    if (w->open) return w;
    vm->api->raise(vm, DVX_VALUE_ERROR, "the view is closed");
    return NULL;
}

/* about(): element, read_only, counts, strides */
static dvx_value about(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const view *w = open_view(vm, args[0]);
    (void)count;
    if (!w) return DVX_FAILED;
    const dvx_buffer *b = &w->view.buffer;
    dvx_value all[2 + 2 * DVX_MOST_AXES];
    uint32_t n = 0;
    all[n++] = vm->api->make_int(vm, b->element);
    all[n++] = vm->api->make_bool(vm, b->read_only);
    for (uint32_t i = 0; i < b->dimensions; i++) all[n++] = vm->api->make_int(vm, b->axes[i].count);
    for (uint32_t i = 0; i < b->dimensions; i++)
        all[n++] = vm->api->make_int(vm, b->axes[i].stride);
    return vm->api->make_tuple(vm, all, n);
}

/* The address of the element with these indices; NULL: raised. */
static char *place(dvx_vm *vm, const view *w, const dvx_value *indices, uint32_t count) {
    const dvx_buffer *b = &w->view.buffer;
    char *at = b->data;
    int64_t index;
    for (uint32_t i = 0; i < count; i++) {
        if (!vm->api->read_int(vm, indices[i], &index)) return NULL;
        if (count != b->dimensions || index < 0 || index >= b->axes[i].count) {
            vm->api->raise(vm, DVX_INDEX_ERROR, "no such element");
            return NULL;
        }
        at += index * b->axes[i].stride;
    }
    return at;
}

/* get(*indices), set(value, *indices): of float64 and uint8 */
static dvx_value get(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const view *w = open_view(vm, args[0]);
    const char *at = w ? place(vm, w, args + 1, count - 1) : NULL;
    if (!at) return DVX_FAILED;
    if (w->view.buffer.element != DVX_FLOAT64)
        return vm->api->make_int(vm, *(const unsigned char *)at);
    return vm->api->make_float(vm, *(const double *)(const void *)at);
}

static dvx_value set(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const view *w = open_view(vm, args[0]);
    char *at = w ? place(vm, w, args + 2, count - 2) : NULL;
    int64_t byte;
    if (!at) return DVX_FAILED;
    if (w->view.buffer.element == DVX_FLOAT64) {
        if (!vm->api->read_float(vm, args[1], (double *)(void *)at)) return DVX_FAILED;
    } else {
        if (!vm->api->read_int(vm, args[1], &byte)) return DVX_FAILED;
        *at = (char)byte;
    }
    return vm->api->make_none(vm);
}

static const char *const view_names[] = {"v", "writable"};
static const dvx_parameters view_parameters = {sizeof view_parameters, view_names, 2, 2, 1};
static const dvx_function view_functions[] = {METHOD(done, 1, 1), METHOD(about, 1, 1),
                                              METHOD(get, 1, UINT32_MAX),
                                              METHOD(set, 2, UINT32_MAX)};
static const dvx_function *const view_methods[] = {&view_functions[0], &view_functions[1],
                                                   &view_functions[2], &view_functions[3]};
static const dvx_type view_type = {.size = sizeof(dvx_type),
                                   .name = "View",
                                   .payload = sizeof(view),
                                   .initialise = view_initialise,
                                   .parameters = &view_parameters,
                                   .release = view_release,
                                   .method_count = 4,
                                   .methods = view_methods};

/* lose(v): a view that is never released */
static dvx_value lose(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    dvx_view lost;
    (void)count;
    return vm->api->buffer_get(vm, args[0], false, &lost) ? vm->api->make_none(vm) : DVX_FAILED;
}

/* twice(v): a view that is released twice */
static dvx_value twice(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    dvx_view one, copy;
    (void)count;
    if (!vm->api->buffer_get(vm, args[0], false, &one)) return DVX_FAILED;
    copy = one;
    vm->api->buffer_release(vm, &one);
    vm->api->buffer_release(vm, &copy);
    return vm->api->make_none(vm);
}

static const dvx_function functions[] = {METHOD(lose, 1, 1), METHOD(twice, 1, 1)};

static bool init(dvx_vm *vm, dvx_value module) {
    return vm->api->add_function(vm, module, &functions[0]) &&
           vm->api->add_function(vm, module, &functions[1]) &&
           vm->api->add_type(vm, module, &grid_type) && vm->api->add_type(vm, module, &view_type);
}

DVX_EXTENSION("buffers", init);
