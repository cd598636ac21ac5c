// cplusplus.cpp: a host in C++17: exceptions of dl as exceptions of C++, scopes as objects.
//
// Nothing of dynvm throws or is thrown through: the host turns a failure into an exception of its own
// at the place where it asks for a result.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <dynvm.h>
#include <dynvm_ext.h>

namespace {

struct Destroy {
    void operator()(dynvm_vm *vm) const { dynvm_destroy(vm); }
};
using Vm = std::unique_ptr<dynvm_vm, Destroy>;

// All handles that are made while it lives end with it.
class Scope {
  public:
    explicit Scope(dynvm_vm *vm) : vm_(vm), scope_(dynvm_open_scope(vm)) {}
    ~Scope() { dynvm_close_scope(vm_, scope_); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    dynvm_vm *vm_;
    dynvm_scope scope_;
};

// What the last call failed with.
std::runtime_error failure(dynvm_vm *vm) {
    std::unique_ptr<dynvm_error, void (*)(dynvm_error *)> error(dynvm_take_error(vm), dynvm_error_free);
    return std::runtime_error(std::string(dynvm_error_type(error.get())) + ": " +
                              dynvm_error_message(error.get()));
}

std::string text(dynvm_vm *vm, dynvm_value v) {
    std::size_t size;
    const char *data = dynvm_text(vm, dynvm_str(vm, v), &size);
    if (!data) throw failure(vm);
    return std::string(data, size);
}

// A function of the program, called with floats.
double call(dynvm_vm *vm, const char *name, const std::vector<double> &numbers) {
    Scope scope(vm);
    std::vector<dynvm_value> args;
    for (double number : numbers) args.push_back(dynvm_make_float(vm, number));
    double result;
    dynvm_value v = dynvm_call(vm, dynvm_get_global(vm, name), args.data(), args.size());
    if (dynvm_read_float(vm, v, &result) != DYNVM_OK) throw failure(vm);
    return result;
}

void check(bool good, const char *what) {
    if (good) return;
    std::fprintf(stderr, "failed: %s\n", what);
    std::exit(1);
}

double twice(double x) { return 2 * x; }

dvx_value twice_boxed(dvx_vm *vm, const dvx_value *args, uint32_t) {
    double x;
    return vm->api->read_float(vm, args[0], &x) ? vm->api->make_float(vm, twice(x)) : DVX_FAILED;
}

// Members in the order of their declaration, zeros for what is not said: C++17 has no other way.
const dvx_raw raw_twice[] = {{"d(d)", reinterpret_cast<void (*)()>(twice), true, nullptr, nullptr},
                             {nullptr, nullptr, false, nullptr, nullptr}};

dvx_function make_function() {
    dvx_function f = {};
    f.size = sizeof f;
    f.name = "twice";
    f.entry = twice_boxed;
    f.min = f.max = 1;
    f.raw = raw_twice;
    return f;
}
const dvx_function twice_function = make_function();

bool fill(dvx_vm *vm, dvx_value module) { return vm->api->add_function(vm, module, &twice_function); }

const char program[] = "import host\n"
                       "def length(x, y):\n"
                       "    return (x * x + y * y) ** 0.5\n"
                       "def total(n):\n"
                       "    s = 0.0\n"
                       "    for i in range(int(n)):\n"
                       "        s += host.twice(i)\n"
                       "    return s\n"
                       "def fail(x):\n"
                       "    raise ValueError('not ' + str(x))\n";

} // namespace

int main() {
    Vm vm(dynvm_create(nullptr));
    check(vm != nullptr, "a VM");
    check(dynvm_add_extension(vm.get(), "host", fill) == DYNVM_OK, "the host's module");
    check(dynvm_run_text(vm.get(), program, sizeof program - 1, "<host>") == DYNVM_OK, "the program");
    check(call(vm.get(), "length", {3, 4}) == 5, "a call");
    check(call(vm.get(), "total", {1000}) == 999000, "calls of the host");
    std::string told;
    try {
        call(vm.get(), "fail", {7});
    } catch (const std::runtime_error &error) {
        told = error.what();
    }
    check(told == "ValueError: not 7.0", "a failure as an exception");
    Scope scope(vm.get());
    dynvm_value two[] = {dynvm_make_int(vm.get(), 1), dynvm_make_str(vm.get(), "zwei", DYNVM_TO_ZERO)};
    check(text(vm.get(), dynvm_make_list(vm.get(), two, 2)) == "[1, 'zwei']", "a list");
    return 0;
}
