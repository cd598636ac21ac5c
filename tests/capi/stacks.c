/* stacks.c: VMs in threads with small C stacks: whatever recurses in C on a program's data raises
 * RecursionError there, long before the recursion limit, and nothing crashes. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 2, STACK_SIZE = 256 << 10 };

static const char prelude[] = "import sys, copy, json, functools, itertools, operator, textwrap\n"
                              "sys.setrecursionlimit(1000000)\n"
                              "def nested(n, make=lambda x: [x]):\n"
                              "    x = make(0)\n"
                              "    for i in range(n): x = make(x)\n"
                              "    return x\n"
                              "class Attribute:\n"
                              "    def __getattr__(self, name): return getattr(self, name + 'x')\n"
                              "class Text:\n"
                              "    def __repr__(self): return repr(self)\n"
                              "    def __str__(self): return f'{self}'\n"
                              "    def __format__(self, spec): return format(self, spec)\n"
                              "    def __eq__(self, other): return self == other\n"
                              "    def __hash__(self): return hash(self)\n"
                              "    def __lt__(self, other): return self < other\n"
                              "    def __add__(self, other): return self + other\n"
                              "    def __call__(self): return self()\n"
                              "    def __getitem__(self, i): return self[i]\n"
                              "    def __contains__(self, i): return i in self\n"
                              "    def __bool__(self): return bool(self)\n"
                              "    def __len__(self): return len(self)\n"
                              "    def __iter__(self): return iter(self)\n"
                              "    def __enter__(self):\n"
                              "        with self: pass\n"
                              "    def __exit__(self, *a): pass\n"
                              "    def __setattr__(self, name, value): setattr(self, name, value)\n"
                              "    def __int__(self): return int(self)\n"
                              "    def __index__(self): return [1][self]\n"
                              "class Property:\n"
                              "    @property\n"
                              "    def p(self): return self.p\n"
                              "class Made:\n"
                              "    def __init__(self): self.other = Made()\n"
                              "class New:\n"
                              "    def __new__(cls): return cls()\n"
                              "class Sub:\n"
                              "    def __init_subclass__(cls): type('C', (Sub,), {})\n"
                              "class Release:\n"
                              "    def __init__(self, next): self.next = next\n"
                              "class Del:\n"
                              "    def __init__(self, next): self.next = next\n"
                              "    def __del__(self): self.next = None\n"
                              "def generate(n): yield from generate(n + 1)\n"
                              "def grow(it): return map(str, it)\n"
                              "t = Text()\n"
                              "deep, other = nested(50000), nested(50000)\n"
                              "def sorting(x): return sorted([x, x], key=sorting)\n"
                              "def reducing(a, b): return functools.reduce(reducing, [a, b, a])\n"
                              "def mapping(x): return list(map(mapping, [x]))\n"
                              "def plain(n): return plain(n + 1) + 1\n"
                              "@functools.cache\n"
                              "def cached(n): return cached(n + 1)\n";

/* Each of them recurses without end, or on data deeper than any C stack. */
static const char *const endless[] = {
    "repr(deep)",
    "deep == other",
    "deep < other",
    "hash(nested(50000, lambda x: (x,)))",
    "json.dumps(deep)",
    "json.loads('[' * 50000 + ']' * 50000)",
    "str(nested(50000, lambda x: {1: x}))",
    "repr(nested(50000, lambda x: (x, 1)))",
    "nested(50000, lambda x: {1: x}) == nested(50000, lambda x: {1: x})",
    "isinstance(1, nested(50000, lambda x: (x,)))",
    "list(nested(50000, lambda x: map(str, x if x else [])))",
    "list(nested(50000, lambda x: itertools.chain(x if x else [])))",
    "next(generate(0))",
    "Attribute().x",
    "repr(t)",
    "str(t)",
    "format(t, 'x')",
    "t == 1",
    "hash(t)",
    "t < 1",
    "t + 1",
    "t()",
    "t[1]",
    "1 in t",
    "bool(t)",
    "len(t)",
    "iter(t)",
    "t.__enter__()",
    "t.x = 1",
    "int(t)",
    "[1][t]",
    "Property().p",
    "New()",
    "type('C', (Sub,), {})",
    "sorting(1)",
    "reducing(1, 2)",
    "mapping(1)",
    "cached(1)",
    "max([1, 2], key=mapping)",
    "'%s' % t",
    "'{}'.format(t)",
    "', '.join(map(str, [t]))",
    "operator.eq(t, t)",
};

/* What must not recurse in C at all. */
static const char *const finite[] = {
    "x = None\nfor i in range(200000): x = Release(x)\nx = None",
    "x = None\nfor i in range(2000): x = Del(x)\nx = None",
    "x = nested(300000)\nx = None",
    "x = nested(300000, lambda x: {1: x})\nx = None",
    "x = []\nfor i in range(100000): x = [x]\nx = None\nimport gc\ngc.collect()",
    "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nassert f(100000) == 100000",
    ("class A:\n    def f(self, n): return 0 if n == 0 else 1 + self.f(n - 1)\n"
     "assert A().f(100000) == 100000"),
    "assert copy.deepcopy(deep) is not deep",
    "x = []\nfor i in range(300000): x = map(str, x)\nx = None",
};

static void check_raises(dynvm_vm *vm, const char *statement) {
    char source[256];
    snprintf(source, sizeof source,
             "try:\n    %s\nexcept RecursionError: pass\nelse: assert False, 'ended'\n", statement);
    dynvm_status status = run(vm, source);
    if (status == DYNVM_OK) return;
    dynvm_error *error = dynvm_take_error(vm);
    fprintf(stderr, "%s: %s\n", statement, dynvm_error_message(error));
    dynvm_error_free(error);
    CHECK(status == DYNVM_OK);
}

static void *recurse(void *context) {
    dynvm_level level = *(dynvm_level *)context;
    dynvm_config config = DYNVM_CONFIG;
    config.level = level;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(vm && run(vm, prelude) == DYNVM_OK);
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) check_raises(vm, endless[i]);
    for (size_t i = 0; i < sizeof finite / sizeof *finite; i++)
        CHECK(run(vm, finite[i]) == DYNVM_OK);
    CHECK(run(vm, "sys.setrecursionlimit(1000)\n") == DYNVM_OK);
    check_raises(vm, "plain(0)");
    check_raises(vm, "Made()");
    CHECK(run(vm, "assert nested(3) == [[[[0]]]]\n") == DYNVM_OK);
    dynvm_destroy(vm);
    return NULL;
}

int main(void) {
    static dynvm_level levels[THREADS] = {DYNVM_LEVEL_GENERIC, DYNVM_LEVEL_NAMA};
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, STACK_SIZE) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], &attributes, recurse, &levels[i]) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    pthread_attr_destroy(&attributes);
    return 0;
}
