/* vec3.c: a host that gives its program a type of its own: 3-vectors, whose sums, dot products and
 * components are quickened like instructions of the machine.
 *
 * The host registers a module "geometry" (dynvm_add_extension) with the same definitions as an
 * extension in a file of its own would (ext/README.md).  `capi_vec3 --time` compares a loop of dot
 * products with the same loop on floats of dl. */
#include "check.h"

#include <math.h>
#include <time.h>

#include <dynvm_ext.h>

typedef struct vec3 {
    double x, y, z;
} vec3;

static const dvx_type vec3_type;

static vec3 *of(dvx_vm *vm, dvx_value v) { return vm->api->payload(vm, v, &vec3_type); }

static dvx_value make(dvx_vm *vm, double x, double y, double z) {
    void *payload;
    dvx_value made = vm->api->make_object(vm, &vec3_type, &payload);
    if (!dvx_failed(made)) *(vec3 *)payload = (vec3){x, y, z};
    return made;
}

/* ---- What programs can do with them ---- */

static bool initialise(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    vec3 *v = of(vm, self);
    (void)count;
    return vm->api->read_float(vm, args[0], &v->x) && vm->api->read_float(vm, args[1], &v->y) &&
           vm->api->read_float(vm, args[2], &v->z);
}

static dvx_value repr(dvx_vm *vm, dvx_value self) {
    const vec3 *v = of(vm, self);
    char text[128];
    int size = snprintf(text, sizeof text, "Vec3(%g, %g, %g)", v->x, v->y, v->z);
    return vm->api->make_str(vm, text, (size_t)size);
}

static dvx_value binary(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b) {
    const vec3 *v = of(vm, a), *w = of(vm, b);
    (void)op; /* binary_operators has the sum alone */
    if (!v || !w) return vm->api->make_not_implemented(vm);
    return make(vm, v->x + w->x, v->y + w->y, v->z + w->z);
}

static double dot_of(const vec3 *v, const vec3 *w) {
    return v->x * w->x + v->y * w->y + v->z * w->z;
}

static dvx_value dot(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const vec3 *other = vm->api->check_payload(vm, args[1], &vec3_type);
    (void)count;
    return other ? vm->api->make_float(vm, dot_of(of(vm, args[0]), other)) : DVX_FAILED;
}

static dvx_value get_x(dvx_vm *vm, dvx_value self) {
    return vm->api->make_float(vm, of(vm, self)->x);
}

/* ---- What hot instructions become ---- */

/* Hot loops call dot_of itself, with the payloads of the two objects and without a box. */
static const dvx_raw raw_dot[] = {
    {.signature = "d(pp)", .entry = (void (*)(void))dot_of, .pure = true}, {.signature = NULL}};
static const dvx_function dot_method = {
    .size = sizeof dot_method, .name = "dot", .entry = dot, .min = 2, .max = 2, .raw = raw_dot};

/* v.x: the machine has looked whether v is of the type. */
static dvx_outcome run_x(dvx_vm *vm, const dvx_value *operands, void *cache, dvx_value *result) {
    (void)cache;
    *result = get_x(vm, operands[0]);
    return DVX_DONE;
}

static const dvx_specialisation x_site = {.size = sizeof x_site,
                                          .name = "VEC3_X",
                                          .family = DVX_SITE_ATTRIBUTE,
                                          .count = 1,
                                          .run = run_x,
                                          .result = DVX_FLOAT,
                                          .pure = true};

static void specialise(dvx_vm *vm, dvx_site *site) {
    if (site->family == DVX_SITE_ATTRIBUTE)
        vm->api->specialise(vm, site, &x_site);
    else
        vm->api->decline(vm, site, "vectors have no derivative for this");
}

/* ---- The module ---- */

static const char *const coordinates[] = {"x", "y", "z"};
static const dvx_parameters parameters = {
    .size = sizeof parameters, .names = coordinates, .count = 3, .positional = 3, .required = 3};
static const dvx_attribute attribute_x = {.size = sizeof attribute_x, .name = "x", .get = get_x};
static const dvx_attribute *const attributes[] = {&attribute_x};
static const dvx_function *const methods[] = {&dot_method};

static const dvx_type vec3_type = {.size = sizeof vec3_type,
                                   .name = "Vec3",
                                   .doc = "A vector of three floats.",
                                   .payload = sizeof(vec3),
                                   .initialise = initialise,
                                   .parameters = &parameters,
                                   .repr = repr,
                                   .binary = binary,
                                   .binary_operators = DVX_BIT(DVX_ADD),
                                   .method_count = 1,
                                   .methods = methods,
                                   .attribute_count = 1,
                                   .attributes = attributes,
                                   .specialise = specialise};

/* hypot3(x, y, z): hot loops call the C function itself, with raw numbers. */
static double hypot3(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }

static dvx_value call_hypot3(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    double x, y, z;
    (void)count;
    if (!vm->api->read_float(vm, args[0], &x) || !vm->api->read_float(vm, args[1], &y) ||
        !vm->api->read_float(vm, args[2], &z))
        return DVX_FAILED;
    return vm->api->make_float(vm, hypot3(x, y, z));
}

static const dvx_raw raw_hypot3[] = {
    {.signature = "d(ddd)", .entry = (void (*)(void))hypot3, .pure = true}, {.signature = NULL}};
static const dvx_function hypot3_function = {.size = sizeof hypot3_function,
                                             .name = "hypot3",
                                             .entry = call_hypot3,
                                             .min = 3,
                                             .max = 3,
                                             .raw = raw_hypot3};

/* A function of the host that works with handles: it calls back into dl. */
static dvx_value apply(dvx_vm *extension, const dvx_value *args, uint32_t count) {
    dynvm_vm *vm = dynvm_of_extension(extension);
    dynvm_scope scope = dynvm_open_scope(vm);
    dynvm_value all[4] = {{0}};
    for (uint32_t i = 0; i < count; i++) all[i] = dynvm_wrap(vm, args[i]);
    dvx_value result = dynvm_unwrap(vm, dynvm_call(vm, all[0], all + 1, count - 1));
    dynvm_close_scope(vm, scope);
    return result;
}

static const dvx_function apply_function = {
    .size = sizeof apply_function, .name = "apply", .entry = apply, .min = 1, .max = 4};

static bool fill(dvx_vm *vm, dvx_value module) {
    return vm->api->add_type(vm, module, &vec3_type) &&
           vm->api->add_function(vm, module, &hypot3_function) &&
           vm->api->add_function(vm, module, &apply_function);
}

/* ---- Using it ---- */

static dynvm_vm *create(text *t, dynvm_level level, int sandboxed, unsigned extensions) {
    dynvm_config config = DYNVM_CONFIG;
    config.output = config.error_output = collect;
    config.output_context = t;
    config.level = level;
    config.sandboxed = sandboxed;
    config.extensions = extensions;
    t->size = 0;
    t->data[0] = 0;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(vm && dynvm_add_extension(vm, "geometry", fill) == DYNVM_OK);
    return vm;
}

static const char use[] = "from geometry import Vec3, hypot3, apply\n"
                          "import geometry\n"
                          "a, b = Vec3(1, 2, 3), Vec3(4, 5, 6)\n"
                          "def total(n):\n"
                          "    s = 0.0\n"
                          "    for i in range(n):\n"
                          "        s += a.dot(b) + hypot3(i, 0.0, 0.0) + a.x\n"
                          "    return s\n"
                          "print(geometry.__name__, a + b, a.dot(b), a.x, total(1000))\n"
                          "def third(x, y, z):\n"
                          "    return z\n"
                          "print([apply(third, 1, 2, [i]) for i in range(3)])\n"
                          "for bad in (lambda: a.dot(1), lambda: apply(third), lambda: a + 1):\n"
                          "    try:\n"
                          "        bad()\n"
                          "    except TypeError as e:\n"
                          "        print(e)\n";

static const char expected[] =
    "geometry Vec3(5, 7, 9) 32.0 1.0 532500.0\n"
    "[[0], [1], [2]]\n"
    "a Vec3 is required, not int\n"
    "third() missing 3 required positional arguments: 'x', 'y', and 'z'\n"
    "unsupported operand type(s) for +: 'geometry.Vec3' and 'int'\n";

static void test_program(void) {
    text t;
    for (int i = 0; i < 6; i++) {
        const dynvm_level levels[] = {DYNVM_LEVEL_GENERIC, DYNVM_LEVEL_INCA, DYNVM_LEVEL_NAMA};
        dynvm_vm *vm = create(&t, levels[i % 3], i < 3, i < 3 ? 0 : DYNVM_EXTENSIONS_DEBUG);
        if (run(vm, use) != DYNVM_OK || strcmp(t.data, expected) != 0) {
            dynvm_error *error = dynvm_take_error(vm);
            printf("%s%s", t.data, dynvm_error_traceback(error));
            CHECK(!"the program does what it should");
        }
        dynvm_destroy(vm);
        CHECK(strcmp(t.data, expected) == 0);
    }
}

static void test_objects(void) {
    text t;
    dynvm_vm *vm = create(&t, DYNVM_LEVEL_NAMA, 0, 0);
    void *payload;
    CHECK(dynvm_failed(dynvm_make_object(vm, &vec3_type, &payload)) && !payload);
    dynvm_error_free(dynvm_take_error(vm));
    dynvm_scope scope = dynvm_open_scope(vm);
    CHECK(!dynvm_failed(dynvm_import(vm, "geometry")));
    dynvm_value v = dynvm_make_object(vm, &vec3_type, &payload);
    *(vec3 *)payload = (vec3){1, 0, 2};
    CHECK(dynvm_payload(vm, v, &vec3_type) == payload);
    CHECK(!dynvm_payload(vm, dynvm_make_int(vm, 1), &vec3_type));
    CHECK(dynvm_set_global(vm, "v", v) == DYNVM_OK && run(vm, "print(v, v.dot(v))\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "Vec3(1, 0, 2) 5.0\n") == 0);
    dynvm_close_scope(vm, scope);
    CHECK(dynvm_add_extension(vm, "empty", NULL) == DYNVM_ERROR);
    dynvm_error_free(dynvm_take_error(vm));
    CHECK(dynvm_add_extension(vm, "geometry", fill) == DYNVM_ERROR);
    dynvm_error *error = dynvm_take_error(vm);
    CHECK(strcmp(dynvm_error_message(error), "there is an extension 'geometry' already") == 0);
    dynvm_error_free(error);
    dynvm_destroy(vm);
}

/* ---- Time ---- */

static double used_seconds(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

enum { ROUNDS = 4000000 };

/* Nanoseconds a round of a function of the program: the least of some. */
static double time_of(dynvm_vm *vm, const char *name) {
    double least = 1e9;
    for (int i = 0; i < 9; i++) {
        dynvm_scope scope = dynvm_open_scope(vm);
        dynvm_value rounds = dynvm_make_int(vm, ROUNDS);
        double start = used_seconds();
        CHECK(!dynvm_failed(dynvm_call(vm, dynvm_get_global(vm, name), &rounds, 1)));
        double took = (used_seconds() - start) * 1e9 / ROUNDS;
        if (took < least) least = took;
        dynvm_close_scope(vm, scope);
    }
    return least;
}

static void show_pair(dynvm_vm *vm, const char *floats, const char *vectors) {
    const double x = time_of(vm, floats), y = time_of(vm, vectors);
    printf("%s %.1f ns, %s %.1f ns, ratio %.2f\n", floats, x, vectors, y, y / x);
}

static void show_times(void) {
    static text t;
    dynvm_vm *vm = create(&t, DYNVM_LEVEL_NAMA, 0, 0);
    CHECK(run(vm, "from geometry import Vec3\n"
                  "xs, ys, zs = ([k + i * 0.5 for i in range(1000)] for k in (1.0, 2.0, 3.0))\n"
                  "vectors = [Vec3(x, y, z) for x, y, z in zip(xs, ys, zs)]\n"
                  "def of_floats(n):\n"
                  "    x, y, z = 4.0, 5.0, 6.0\n"
                  "    s = 0.0\n"
                  "    for k in range(n // 1000):\n"
                  "        for i in range(1000):\n"
                  "            s += xs[i] * x + ys[i] * y + zs[i] * z\n"
                  "    return s\n"
                  "def of_vectors(n):\n"
                  "    w = Vec3(4, 5, 6)\n"
                  "    s = 0.0\n"
                  "    for k in range(n // 1000):\n"
                  "        for v in vectors:\n"
                  "            s += v.dot(w)\n"
                  "    return s\n"
                  "def of_constant_floats(n):\n"
                  "    ax, ay, az, bx, by, bz = 1.0, 2.0, 3.0, 4.0, 5.0, 6.0\n"
                  "    s = 0.0\n"
                  "    for i in range(n):\n"
                  "        s += ax * bx + ay * by + az * bz\n"
                  "    return s\n"
                  "def of_constant_vectors(n):\n"
                  "    a, b = Vec3(1, 2, 3), Vec3(4, 5, 6)\n"
                  "    s = 0.0\n"
                  "    for i in range(n):\n"
                  "        s += a.dot(b)\n"
                  "    return s\n") == DYNVM_OK);
    show_pair(vm, "of_floats", "of_vectors");
    show_pair(vm, "of_constant_floats", "of_constant_vectors");
    dynvm_destroy(vm);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--time") == 0) {
        show_times();
        return 0;
    }
    test_program();
    test_objects();
    return 0;
}
