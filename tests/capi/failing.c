/* failing.c: a host whose memory and whose callbacks fail, each once, at every place in turn.
 *
 * The same scenario runs again and again: with its n-th allocation refused, then with its n-th
 * callback raising.  Each time it must end with the error that was made, or with all of its result,
 * and give back every byte. */
#include "check.h"

#include <dynvm_ext.h>

/* ---- What fails, and when ---- */

typedef struct fault {
    size_t allocations, fail_allocation; /* 0: none fails */
    size_t callbacks, fail_callback;
    size_t bytes; /* that the host has given and not got back */
} fault;

static void *resize(void *context, void *block, size_t old_size, size_t new_size) {
    fault *f = context;
    if (new_size > old_size && ++f->allocations == f->fail_allocation) return NULL;
    f->bytes += new_size - old_size;
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}

/* Raises where the callback is to fail. */
static bool goes_on(dvx_vm *vm) {
    fault *f = dynvm_user(dynvm_of_extension(vm));
    if (++f->callbacks != f->fail_callback) return true;
    vm->api->raise(vm, DVX_RUNTIME_ERROR, "the host fails");
    return false;
}

/* ---- The host's module ---- */

typedef struct box {
    dvx_value held;
} box;

static const dvx_type box_type;

static box *of(dvx_vm *vm, dvx_value v) { return vm->api->payload(vm, v, &box_type); }

static bool initialise(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    box *b = of(vm, self);
    (void)count;
    vm->api->release(vm, b->held);
    b->held = vm->api->retain(vm, args[0]);
    return true;
}

static void release_box(dvx_vm *vm, void *payload) { vm->api->release(vm, ((box *)payload)->held); }

static void traverse(dvx_vm *vm, void *payload, dvx_visit visit, void *context) {
    visit(vm, ((box *)payload)->held, context);
}

static void clear(dvx_vm *vm, void *payload) {
    box *b = payload;
    dvx_value held = b->held;
    b->held = vm->api->make_none(vm);
    vm->api->release(vm, held);
}

/* get(): what it holds, by way of a handle. */
static dvx_value get(dvx_vm *extension, const dvx_value *args, uint32_t count) {
    dynvm_vm *vm = dynvm_of_extension(extension);
    dynvm_scope scope = dynvm_open_scope(vm);
    (void)count;
    dvx_value result = DVX_FAILED;
    if (goes_on(extension)) result = dynvm_unwrap(vm, dynvm_wrap(vm, of(extension, args[0])->held));
    dynvm_close_scope(vm, scope);
    return result;
}

/* apply(f, x): f(x), called through handles. */
static dvx_value apply(dvx_vm *extension, const dvx_value *args, uint32_t count) {
    dynvm_vm *vm = dynvm_of_extension(extension);
    dynvm_scope scope = dynvm_open_scope(vm);
    (void)count;
    dvx_value result = DVX_FAILED;
    if (goes_on(extension)) {
        dynvm_value argument = dynvm_wrap(vm, args[1]);
        result = dynvm_unwrap(vm, dynvm_call(vm, dynvm_wrap(vm, args[0]), &argument, 1));
    }
    dynvm_close_scope(vm, scope);
    return result;
}

static const char *const names[] = {"held"};
static const dvx_parameters parameters = {
    .size = sizeof parameters, .names = names, .count = 1, .positional = 1, .required = 1};
static const dvx_function get_method = {
    .size = sizeof get_method, .name = "get", .entry = get, .min = 1, .max = 1};
static const dvx_function *const methods[] = {&get_method};
static const dvx_type box_type = {.size = sizeof box_type,
                                  .name = "Box",
                                  .payload = sizeof(box),
                                  .base = true,
                                  .initialise = initialise,
                                  .parameters = &parameters,
                                  .release = release_box,
                                  .traverse = traverse,
                                  .clear = clear,
                                  .method_count = 1,
                                  .methods = methods};
static const dvx_function apply_function = {
    .size = sizeof apply_function, .name = "apply", .entry = apply, .min = 2, .max = 2};

static bool fill(dvx_vm *vm, dvx_value module) {
    return vm->api->add_type(vm, module, &box_type) &&
           vm->api->add_function(vm, module, &apply_function);
}

/* ---- The scenario ---- */

static const char program[] =
    "from host import Box, apply\n"
    "class Named(Box):\n"
    "    def __init__(self, name, held):\n"
    "        super().__init__(held)\n"
    "        self.name = name\n"
    "    def __del__(self):\n"
    "        ended.append(self.name)\n"
    "ended = []\n"
    "def work(n):\n"
    "    boxes = [Named(str(i), i) for i in range(n)]\n"
    "    ring = Named('ring', None)\n"
    "    ring.__init__('ring', [ring])\n"
    "    del ring\n"
    "    total = sum(b.get() for b in boxes) + apply(lambda x: x + 1, n)\n"
    "    boxes.sort(key=lambda b: apply(lambda x: -x, b.get()))\n"
    "    return total, [b.name for b in boxes]\n";

static const char expected[] =
    "(79, ['11', '10', '9', '8', '7', '6', '5', '4', '3', '2', '1', '0'])";

/* Did it end as it should?  *told gets the class of its error, or "". */
static void run_scenario(fault *f, char told[64]) {
    dynvm_config config = DYNVM_CONFIG;
    config.resize = resize;
    config.resize_context = f;
    told[0] = 0;
    dynvm_vm *vm = dynvm_create(&config);
    if (!vm) {
        strcpy(told, "MemoryError");
        return;
    }
    dynvm_scope scope = dynvm_open_scope(vm);
    dynvm_set_user(vm, f);
    dynvm_value result = {0};
    dynvm_status status = dynvm_add_extension(vm, "host", fill);
    if (status == DYNVM_OK) status = dynvm_run_text(vm, program, sizeof program - 1, "<scenario>");
    if (status == DYNVM_OK) {
        dynvm_value twelve = dynvm_make_int(vm, 12);
        dynvm_value kept = dynvm_keep(vm, dynvm_get_global(vm, "work"));
        result = dynvm_call(vm, kept, &twelve, 1);
        dynvm_drop(vm, kept);
    }
    const char *text = dynvm_text(vm, dynvm_str(vm, result), NULL);
    dynvm_error *error = text ? NULL : dynvm_take_error(vm);
    if (text)
        CHECK(strcmp(text, expected) == 0);
    else if (status == DYNVM_NO_MEMORY || !error)
        strcpy(told, "MemoryError");
    else
        snprintf(told, 64, "%s", dynvm_error_type(error));
    dynvm_error_free(error);
    dynvm_close_scope(vm, scope);
    dynvm_destroy(vm);
    CHECK(f->bytes == 0);
}

int main(void) {
    char told[64];
    fault whole = {0};
    run_scenario(&whole, told);
    CHECK(!told[0] && whole.callbacks == 37);
    size_t refused = 0;
    for (size_t n = 1; n <= whole.allocations; n += 1 + n / 200) {
        fault f = {.fail_allocation = n};
        run_scenario(&f, told);
        CHECK(!told[0] || strcmp(told, "MemoryError") == 0);
        refused += told[0] != 0;
    }
    CHECK(refused > 0);
    for (size_t n = 1; n <= whole.callbacks; n++) {
        fault f = {.fail_callback = n};
        run_scenario(&f, told);
        CHECK(strcmp(told, "RuntimeError") == 0);
    }
    return 0;
}
