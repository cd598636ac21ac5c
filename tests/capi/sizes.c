/* sizes.c: the host's allocator is told the true size of every block that it gets back or resizes:
 * by programs that use all kinds of memory, with and without a limit, when the host has no more
 * memory, and by everything that a VM has besides.  With arguments: the scripts to run instead. */
#include "check.h"

/* In front of every block: what it was made with. */
typedef struct block {
    size_t size;
    size_t guard;
} block;

#define GUARD ((size_t)0x5AFEB10C)

typedef struct host {
    size_t blocks, bytes;
    uint64_t allocations, fail_at; /* 0: none; afterwards memory is there again */
} host;

static void *checked_resize(void *context, void *memory, size_t old_size, size_t new_size) {
    host *h = (host *)context;
    block *b = memory ? (block *)memory - 1 : NULL;
    CHECK(b ? b->guard == GUARD && b->size == old_size : old_size == 0);
    if (new_size == 0) {
        if (!b) return NULL;
        h->blocks--;
        h->bytes -= old_size;
        b->guard = 0;
        free(b);
        return NULL;
    }
    if (++h->allocations == h->fail_at) return NULL;
    block *made = (block *)malloc(sizeof *made + new_size);
    if (!made) return NULL;
    *made = (block){new_size, GUARD};
    h->bytes += new_size - old_size;
    if (!b) h->blocks++;
    /* Every block moves, so that nobody can go on with the old one. */
    if (b) {
        memcpy(made + 1, b + 1, old_size < new_size ? old_size : new_size);
        b->guard = 0;
        free(b);
    }
    return made + 1;
}

static const char *const programs[] = {
    /* What grows, shrinks and is copied. */
    "x = []\n"
    "for i in range(3000): x.append(str(i))\n"
    "y = x[::2] + x * 2\n"
    "del y[5:], x[::3]\n"
    "x.sort(key=len)\n"
    "x.insert(0, 1); x.clear()\n"
    "t = tuple(range(1000)) + (1,) * 500\n"
    "d = {i: str(i) for i in range(2000)}\n"
    "for i in range(1990): del d[i]\n"
    "d.update({str(i): i for i in range(500)})\n"
    "s = set(range(3000)) | {str(i) for i in range(100)}\n"
    "for i in range(2990): s.discard(i)\n"
    "s &= set(range(5000)); s ^= frozenset(range(700))\n"
    "b = bytearray(b'ab' * 1000)\n"
    "b = b + b; del b[10:]; b.extend(range(200)); b *= 40\n"
    "u = ''.join(chr(i) for i in range(5000)) * 3\n"
    "v = u.encode('utf-8').decode('utf-8').upper().replace('A', 'bcd' * 100)\n"
    "w = '%s %r' % (u, v) + f'{u}{v!a:>9999}'\n"
    "k = ''\n"
    "for i in range(2000): k += 'part'\n"
    "n = 3 ** 20000; m = (n * n // (n + 1)) << 5000; q = str(m % 10 ** 4000)[:10], int('7' * "
    "3000), hex(m)\n"
    "z = n.to_bytes(8000, 'little'), m % 1000, pow(3, n % 99999, m), -n >> 4000, n | m, "
    "n.bit_count()\n",
    /* Classes, instances with many attributes, generators and calls of all sizes. */
    "class C:\n"
    "    def __init__(self, n):\n"
    "        for i in range(n): setattr(self, 'a%d' % i, i)\n"
    "c = [C(n) for n in range(0, 90, 7)]\n"
    "for o in c: o.__dict__['more'] = 1\n"
    "class L(list): pass\n"
    "l = [L([1] * 200) for i in range(20)]\n"
    "for i, o in enumerate(l):\n"
    "    for k in range(i * 3): setattr(o, 'b%d' % k, k)\n"
    "    o *= 3\n"
    "for i in range(5000):\n"
    "    setattr(C, 'name' + str(i), i)\n"
    "    if i % 3: delattr(C, 'name' + str(i))\n"
    "def f(*args, **more): return len(args) + len(more)\n"
    "f(*range(300), **{'k%d' % i: i for i in range(200)})\n"
    "def g(n):\n"
    "    if n: yield from g(n - 1)\n"
    "    yield [n] * 100\n"
    "sum(len(x) for x in g(60))\n"
    "exec_ = type('Made', (C,), {'v%d' % i: i for i in range(200)})\n"
    "def deep(n): return n and 1 + deep(n - 1)\n"
    "deep(700)\n"
    "e = None\n"
    "for i in range(300): e = (e, [i] * 80)\n"
    "import gc; ring = [[0] * 90 for i in range(50)]\n"
    "for r in ring: r.append(r)\n"
    "ring = None; gc.collect()\n",
    /* The library. */
    "import array, bisect, collections, copy, fractions, functools, heapq, io, itertools, json, "
    "math\n"
    "import operator, random, statistics, string, struct, textwrap, time, traceback, typing, enum\n"
    "a = array.array('d', range(999)); a.extend(a); a.pop(); del a[5:700]; "
    "a.frombytes(bytes(8000))\n"
    "d = collections.deque(range(2000), 1500); d.rotate(77); d.extend(range(900)); d.clear()\n"
    "o = collections.OrderedDict((i, i) for i in range(900)); o.move_to_end(5); o.popitem()\n"
    "c = collections.Counter('abracadabra' * 300); t = collections.namedtuple('T', 'a b c')\n"
    "f = functools.lru_cache(200)(lambda n: [n] * 90); [f(i % 450) for i in range(2000)]\n"
    "s = io.StringIO(); [s.write('line %d\\n' % i) for i in range(999)]; s.seek(0); s.readlines()\n"
    "b = io.BytesIO(bytes(9000)); b.read(77); b.write(bytes(9000)); b.getvalue(); b.truncate(600)\n"
    "j = json.loads(json.dumps({'k%d' % i: [i, str(i), None, 1.5] for i in range(500)}, "
    "indent=2))\n"
    "copy.deepcopy(j); list(itertools.permutations(range(6))); "
    "list(itertools.combinations(range(9), 4))\n"
    "list(itertools.product(range(9), repeat=3)); list(map(list, itertools.tee(range(3000), 4)))\n"
    "h = heapq.nsmallest(90, range(9000)); struct.pack('1000d', *range(1000))\n"
    "math.factorial(900); math.comb(900, 300); math.isqrt(10 ** 3000); fractions.Fraction(10 ** "
    "900, 7)\n"
    "r = random.Random(5); r.shuffle(list(range(900))); r.sample(range(9000), 700); "
    "r.getrandbits(9999)\n"
    "statistics.median(range(999)); textwrap.wrap('word ' * 900); sorted(range(9000), key=lambda "
    "i: -i)\n"
    "try: [].x\n"
    "except AttributeError: traceback.format_exc()\n"
    "def bad(n): return bad(n - 1) if n else 1 / 0\n"
    "try: bad(90)\n"
    "except ZeroDivisionError: text = traceback.format_exc()\n",
    /* Loops that become regions, are left and begin again. */
    "class P:\n"
    "    def __init__(self, x): self.x = x\n"
    "def hot(n, p):\n"
    "    total, l, d = 0, [0] * 600, {}\n"
    "    for i in range(n):\n"
    "        q = P(i); total += q.x * 3 % 7 + p.x; l[i % 600] = total; d[i % 900] = (i, total)\n"
    "        if i % 5000 == 4999: total = float(total)\n"
    "        if i % 7000 == 6999: total = 10 ** 30\n"
    "    return total\n"
    "hot(20000, P(1)); hot(20000, P(2.5)); P.x = 3\n"
    "try: hot(20000, P('s'))\n"
    "except (TypeError, AttributeError): pass\n"
    "g = {}\n"
    "for k in range(40): g[k] = [k] * 700\n"
    "def loops():\n"
    "    for a in range(60):\n"
    "        for b in range(60):\n"
    "            for c in g: yield_ = a * b + c\n"
    "loops()\n",
};

enum { PROGRAMS = sizeof programs / sizeof *programs };

static dynvm_config checked(host *h, text *t) {
    dynvm_config config = DYNVM_CONFIG;
    config.resize = checked_resize;
    config.resize_context = h;
    config.output = config.error_output = collect;
    config.output_context = t;
    t->size = 0;
    return config;
}

static void destroy(dynvm_vm *vm, const host *h) {
    dynvm_destroy(vm);
    CHECK(h->blocks == 0 && h->bytes == 0);
}

static void run_at(int level, int stress, size_t limit) {
    host h = {0};
    text t;
    dynvm_config config = checked(&h, &t);
    config.level = level;
    config.stress = stress;
    if (limit) config.memory_limit = limit;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(vm);
    for (int i = 0; i < PROGRAMS; i++) {
        dynvm_status status = run(vm, programs[i]);
        dynvm_error *error = dynvm_take_error(vm);
        if (error && !limit) fprintf(stderr, "%s\n", dynvm_error_traceback(error));
        CHECK(limit || status == DYNVM_OK);
        dynvm_error_free(error);
    }
    destroy(vm, &h);
}

/* One allocation fails, at many places. */
static void run_failing(void) {
    for (uint64_t n = 1; n < 4000; n += 1 + n / 8) {
        host h = {.fail_at = n};
        text t;
        dynvm_config config = checked(&h, &t);
        dynvm_vm *vm = dynvm_create(&config);
        for (int i = 0; vm && i < PROGRAMS; i++) {
            (void)run(vm, programs[i]);
            dynvm_error_free(dynvm_take_error(vm));
        }
        destroy(vm, &h);
    }
}

static int drop(void *context, const char *data, size_t size) {
    (void)context, (void)data, (void)size;
    return 0;
}

static int drop_word(void *context, const char *word) {
    (void)context, (void)word;
    return 0;
}

/* What a host does besides: reports, compiled text, statements that are typed, handles. */
static void run_tools(void) {
    host h = {0};
    text t;
    dynvm_config config = checked(&h, &t);
    config.counting = config.check_handles = 1;
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(vm);
    for (int i = 0; i < PROGRAMS; i++) {
        CHECK(run(vm, programs[i]) == DYNVM_OK);
        CHECK(dynvm_stats(vm, NULL, drop, NULL) == DYNVM_OK);
        CHECK(dynvm_explain(vm, NULL, drop, NULL) == DYNVM_OK);
        CHECK(dynvm_trace(vm, NULL, drop, NULL) == DYNVM_OK);
        const size_t size = strlen(programs[i]);
        dynvm_report report = DYNVM_REPORT;
        report.text = programs[i];
        report.text_size = size;
        CHECK(dynvm_disassemble(vm, "<text>", 1, &report, drop, NULL) == DYNVM_OK);
        CHECK(dynvm_compile_text(vm, programs[i], size, "<text>", drop, NULL) == DYNVM_OK);
    }
    CHECK(run(vm, "x = (1,\n") == DYNVM_ERROR);
    dynvm_error_free(dynvm_take_error(vm));
    CHECK(dynvm_run_interactive(vm, "[5] * 300\n", 10) == DYNVM_OK);
    CHECK(dynvm_complete(vm, "C.", drop_word, NULL) == DYNVM_OK);
    dynvm_scope scope = dynvm_open_scope(vm);
    for (int i = 0; i < 3000; i++) CHECK(!dynvm_failed(dynvm_make_int(vm, i)));
    dynvm_close_scope(vm, scope);
    destroy(vm, &h);
}

static void run_script(const char *path) {
    host h = {0};
    text t;
    dynvm_config config = checked(&h, &t);
    dynvm_vm *vm = dynvm_create(&config);
    CHECK(vm);
    (void)dynvm_run_file(vm, path);
    dynvm_error_free(dynvm_take_error(vm));
    destroy(vm, &h);
}

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) run_script(arguments[i]);
    if (count > 1) return 0;
    for (int level = DYNVM_LEVEL_GENERIC; level <= DYNVM_LEVEL_NAMA; level++) run_at(level, 0, 0);
    run_at(DYNVM_LEVEL_NAMA, DYNVM_STRESS_QUICKEN | DYNVM_STRESS_ASSUME, 0);
    for (size_t limit = 1 << 20; limit < (size_t)8 << 20; limit += 700001)
        run_at(DYNVM_LEVEL_NAMA, 0, limit);
    run_tools();
    run_failing();
    return 0;
}
