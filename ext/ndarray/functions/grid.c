/* grid.c: arrays of indices: indices, meshgrid, ix_, fromfunction, nonzero (grid.h). */
#include "functions/grid.h"

#include "functions/arrange.h"
#include "array/create.h"
#include "index/index.h"
#include "array/methods.h"
#include "array/shape.h"

/* The array as the only axis of `ndim` that has more than one element. */
static dvx_value along(dvx_vm *vm, dvx_value row, int axis, int ndim) {
    int64_t shape[ND_MOST];
    for (int i = 0; i < ndim; i++) shape[i] = i == axis ? array_of(vm, row)->size : 1;
    return shape_reshape(vm, row, ndim, shape);
}

/* Puts each value, which it takes, into a tuple or list; one may be DVX_FAILED: raised. */
static dvx_value gather(dvx_vm *vm, dvx_value *values, int count, bool tuple) {
    dvx_value made = DVX_FAILED;
    bool good = true;
    for (int i = 0; i < count; i++) good = good && !dvx_failed(values[i]);
    if (good)
        made = tuple ? vm->api->make_tuple(vm, values, (size_t)count)
                     : vm->api->make_list(vm, values, (size_t)count);
    for (int i = 0; i < count; i++) vm->api->release(vm, values[i]);
    return made;
}

/* ---- indices ---- */

/* An array whose part i holds the numbers of places along axis i. */
static dvx_value dense_indices(dvx_vm *vm, int count, const int64_t *sizes, const nd_dtype *dtype) {
    int64_t shape[ND_MOST + 1] = {count};
    nd_array *whole, *row;
    for (int i = 0; i < count; i++) shape[i + 1] = sizes[i];
    dvx_value made = array_new(vm, dtype, count + 1, shape, &whole);
    if (dvx_failed(made) || whole->size == 0) return made;
    for (int i = 0; i < count; i++) {
        dvx_value numbers = create_range(vm, sizes[i], &row);
        dvx_value line = dvx_failed(numbers) ? numbers : along(vm, numbers, i, count);
        vm->api->release(vm, numbers);
        if (dvx_failed(line)) return vm->api->release(vm, made), line;
        nd_array to = {.data = whole->data + i * whole->axes->stride, .dtype = dtype};
        to.axes = whole->axes + 1;
        to.ndim = count;
        array_update(&to);
        const bool good = array_pour(vm, &to, array_of(vm, line));
        vm->api->release(vm, line);
        if (!good) return vm->api->release(vm, made), DVX_FAILED;
    }
    return made;
}

/* indices(dimensions, dtype=int, sparse=False) */
static dvx_value indices(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *dtype;
    int64_t sizes[ND_MOST];
    int n;
    (void)count;
    int sparse = nd_flag(vm, args[2], false);
    if (sparse < 0) return DVX_FAILED;
    dvx_value maker = vm->api->builtin(vm, "tuple"); /* of any iterable */
    dvx_value shape = dvx_failed(maker) ? maker : vm->api->call(vm, maker, args, 1);
    vm->api->release(vm, maker);
    const bool read = !dvx_failed(shape) && array_read_shape(vm, shape, &n, sizes);
    vm->api->release(vm, shape);
    if (!read || !dtype_read_given(vm, args[1], ND_DTYPE(ND_INT64), &dtype)) return DVX_FAILED;
    if (!sparse) return dense_indices(vm, n, sizes, dtype);
    dvx_value lines[ND_MOST];
    for (int i = 0; i < n; i++) {
        nd_array *row;
        dvx_value numbers = create_range(vm, sizes[i], &row);
        dvx_value cast = dvx_failed(numbers) ? numbers : array_from(vm, numbers, dtype);
        lines[i] = dvx_failed(cast) ? cast : along(vm, cast, i, n);
        vm->api->release(vm, numbers);
        vm->api->release(vm, cast);
        if (dvx_failed(lines[i])) return gather(vm, lines, i + 1, true);
    }
    return gather(vm, lines, n, true);
}

/* fromfunction(function, shape, dtype=float) */
static dvx_value fromfunction(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *dtype;
    int64_t sizes[ND_MOST];
    int n;
    (void)count;
    if (!array_read_shape(vm, args[1], &n, sizes) ||
        !dtype_read_given(vm, args[2], ND_DTYPE(ND_FLOAT64), &dtype))
        return DVX_FAILED;
    dvx_value grid = dense_indices(vm, n, sizes, dtype), parts[ND_MOST], made = DVX_FAILED;
    if (dvx_failed(grid)) return grid;
    bool good = true;
    for (int i = 0; i < n; i++) {
        parts[i] = good ? vm->api->get_item(vm, grid, vm->api->make_int(vm, i)) : DVX_FAILED;
        good = good && !dvx_failed(parts[i]);
    }
    if (good) made = vm->api->call(vm, args[0], parts, (uint32_t)n);
    for (int i = 0; i < n; i++) vm->api->release(vm, parts[i]);
    vm->api->release(vm, grid);
    return made;
}

/* ---- meshgrid ---- */

/* args: the lines, then indexing, sparse, copy */
enum { MESH_LINES = 16 };

static dvx_value mesh_line(dvx_vm *vm, dvx_value v, int axis, int ndim) {
    nd_array *a;
    dvx_value array = array_operand(vm, v, NULL, &a);
    if (dvx_failed(array)) return array;
    dvx_value line = along(vm, array, axis, ndim);
    vm->api->release(vm, array);
    return line;
}

static dvx_value make_mesh(dvx_vm *vm, const dvx_value *given, int n, bool turned, bool sparse,
                           bool copied) {
    dvx_value lines[MESH_LINES];
    int64_t shape[ND_MOST] = {0};
    for (int i = 0; i < n; i++) {
        int axis = turned && n > 1 && i < 2 ? 1 - i : i;
        lines[i] = mesh_line(vm, given[i], axis, n);
        if (dvx_failed(lines[i])) return gather(vm, lines, i + 1, false);
        shape[axis] = array_of(vm, lines[i])->size;
    }
    int64_t all;
    if (!sparse && !array_count(n, shape, &all)) {
        vm->api->release(vm, gather(vm, lines, n, false));
        return nd_raise(vm, DVX_VALUE_ERROR, "broadcast dimensions too large.");
    }
    for (int i = 0; i < n; i++) {
        dvx_value line = lines[i];
        if (!sparse) {
            lines[i] = arrange_broadcast(vm, line, n, shape);
            vm->api->release(vm, line);
            if (dvx_failed(lines[i])) break;
        }
        if (!copied) continue;
        line = lines[i];
        lines[i] = array_copy(vm, array_of(vm, line), array_of(vm, line)->dtype, 'C');
        vm->api->release(vm, line);
        if (dvx_failed(lines[i])) break;
    }
    return gather(vm, lines, n, false);
}

/* meshgrid(*xi, indexing='xy', sparse=False, copy=True) */
static dvx_value meshgrid(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char indexing[32];
    int n = 0;
    (void)count;
    while (n < MESH_LINES && !dvx_failed(args[n])) n++;
    nd_word(vm, args[MESH_LINES], indexing);
    bool given = !dvx_failed(args[MESH_LINES]);
    if (given && strcmp(indexing, "xy") && strcmp(indexing, "ij"))
        return nd_raise(vm, DVX_VALUE_ERROR, "Valid values for `indexing` are 'xy' and 'ij'.");
    int sparse = nd_flag(vm, args[MESH_LINES + 1], false);
    int copied = nd_flag(vm, args[MESH_LINES + 2], true);
    if (sparse < 0 || copied < 0) return DVX_FAILED;
    return make_mesh(vm, args, n, !given || !strcmp(indexing, "xy"), sparse, copied);
}

/* ix_(*args) */
static dvx_value ix_(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    dvx_value lines[ND_MOST], places[ND_MOST];
    if (count > ND_MOST)
        return nd_raise(vm, DVX_VALUE_ERROR,
                        "maximum supported dimension for an ndarray is 32, found %u", count);
    for (uint32_t i = 0; i < count; i++) {
        nd_array *a;
        dvx_value array = array_operand(vm, args[i], NULL, &a);
        lines[i] = DVX_FAILED;
        if (!dvx_failed(array) && a->ndim != 1) {
            nd_fail(vm, DVX_VALUE_ERROR, "Cross index must be 1 dimensional");
        } else if (!dvx_failed(array)) {
            dvx_value row = DVX_FAILED;
            if (a->dtype->num == ND_BOOL) {
                if (fancy_nonzero(vm, a, places)) row = places[0];
            } else {
                row = array_from(vm, array, a->size ? NULL : ND_DTYPE(ND_INT64));
            }
            if (!dvx_failed(row)) lines[i] = along(vm, row, (int)i, (int)count);
            vm->api->release(vm, row);
        }
        vm->api->release(vm, array);
        if (dvx_failed(lines[i])) return gather(vm, lines, (int)i + 1, true);
    }
    return gather(vm, lines, (int)count, true);
}

/* ---- nonzero ---- */

/* The places of what is not 0, as arrays of numbers, one for each axis; *n: so many. */
static bool find_places(dvx_vm *vm, dvx_value v, dvx_value places[ND_MOST], int *n) {
    nd_array *mask;
    dvx_value bools = array_operand(vm, v, NULL, &mask);
    if (dvx_failed(bools)) return false;
    if (mask->dtype->num != ND_BOOL) {
        dvx_value cast = array_from(vm, bools, ND_DTYPE(ND_BOOL));
        vm->api->release(vm, bools);
        if (dvx_failed(cast)) return false;
        bools = cast;
    }
    dvx_value array = shape_at_least(vm, bools, 1);
    vm->api->release(vm, bools);
    if (dvx_failed(array)) return false;
    mask = array_of(vm, array);
    *n = mask->ndim;
    bool good = fancy_nonzero(vm, mask, places);
    vm->api->release(vm, array);
    return good;
}

static dvx_value nonzero(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    dvx_value places[ND_MOST];
    int n;
    (void)count;
    return find_places(vm, args[0], places, &n) ? gather(vm, places, n, true) : DVX_FAILED;
}
ND_METHOD(nonzero, ND_PLAIN("nonzero", nonzero, 1, 1));

static dvx_value flatnonzero(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    dvx_value places[ND_MOST];
    nd_array *a;
    int n;
    (void)count;
    dvx_value array = array_operand(vm, args[0], NULL, &a);
    dvx_value row = dvx_failed(array) ? array : shape_ravel(vm, array);
    bool good = !dvx_failed(row) && find_places(vm, row, places, &n);
    vm->api->release(vm, row);
    vm->api->release(vm, array);
    return good ? places[0] : DVX_FAILED;
}

static const char *const mesh_names[] = {".0",  ".1",  ".2",       ".3",     ".4",  ".5",  ".6",
                                         ".7",  ".8",  ".9",       ".10",    ".11", ".12", ".13",
                                         ".14", ".15", "indexing", "sparse", "copy"};
static const dvx_parameters of_mesh = {sizeof(dvx_parameters), mesh_names, LENGTH_OF(mesh_names),
                                       MESH_LINES, 0};
ND_PARAMETERS(of_indices, 1, "dimensions", "dtype", "sparse");
ND_PARAMETERS(of_fromfunction, 2, "function", "shape", "dtype");
ND_PARAMETERS(of_a, 1, "a");

static const dvx_function functions[] = {
    ND_NAMED("indices", indices, of_indices),
    ND_NAMED("fromfunction", fromfunction, of_fromfunction),
    ND_NAMED("meshgrid", meshgrid, of_mesh),
    ND_PLAIN("ix_", ix_, 0, ND_ANY),
    ND_NAMED("nonzero", nonzero, of_a),
    ND_NAMED("flatnonzero", flatnonzero, of_a),
};

bool grid_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
