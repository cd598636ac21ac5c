/* layout.c: what ffi says of structs against what the compiler does with the same text; and that a
 * host must allow ffi. */
#include <dynvm.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The declarations, for the compiler and as text. */
#define DECLARE(...) \
    __VA_ARGS__      \
    static const char declarations[] = #__VA_ARGS__;

DECLARE(
    struct s1 {
        char c;
        int i;
        char d;
    };
    struct s2 {
        char c;
        double d;
        short s[3];
        long double l;
    };
    union u1 {
        char c[7];
        int i;
        struct s1 s;
    };
    struct s3 {
        struct s1 a[2];
        char b;
        union u1 u;
        struct {
            short x;
            union {
                long y;
                char z[9];
            };
        } n;
        void (*f)(int);
    };
    enum e1{SMALL, MORE}; enum e2{NEGATIVE = -1}; enum e3{LARGE = 0x100000000}; struct s4 {
        char c;
        enum e1 a;
        char d;
        enum e2 b;
        char e;
        enum e3 l;
        _Bool t;
        float _Complex z;
        short tail[];
    };
    struct b1 {
        int a : 3;
        unsigned b : 5;
        int c : 30;
        char d;
        short e : 9;
    };
    struct b2 {
        char a : 4;
        int : 0;
        char b : 2;
        int c : 20;
        long d : 40;
    };
    struct b3 {
        unsigned char a : 1;
        unsigned char b : 7;
        unsigned short c : 12;
        int : 3;
        int d : 2;
        long long e : 64;
    };
    struct b4 {
        char x;
        long a : 33;
        char b : 7;
        unsigned c : 32;
        int : 7;
        char d;
    };)

static char script[16384];
static size_t script_size;

static void add(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    script_size +=
        (size_t)vsnprintf(script + script_size, sizeof script - script_size, format, arguments);
    va_end(arguments);
}

#define SIZE(type)                                                                    \
    add("check('%s', ffi.sizeof('%s'), %zu, ffi.alignof('%s'), %zu)\n", #type, #type, \
        sizeof(type), #type, _Alignof(type))
#define FIELD(type, field)                                                               \
    add("check('%s.%s', ffi.offsetof('%s', '%s'), %zu)\n", #type, #field, #type, #field, \
        offsetof(type, field))

/* Sets bit fields with the compiler, and compares all bytes with what ffi sets. */
static void add_bytes(const char *type, const char *values, const void *bytes, size_t size) {
    add("check('%s', ffi.buffer(ffi.new('%s *', %s))[:], b'", type, type, values);
    for (size_t i = 0; i < size; i++) add("\\x%02x", ((const unsigned char *)bytes)[i]);
    add("')\n");
}

#define BITS(type, values, ...)                       \
    do {                                              \
        type made;                                    \
        memset(&made, 0, sizeof made);                \
        __VA_ARGS__;                                  \
        add_bytes(#type, values, &made, sizeof made); \
    } while (0)

static void write_script(void) {
    add("from ffi import FFI\nffi = FFI()\nffi.cdef('''%s''')\n", declarations);
    add("def check(what, *pairs):\n"
        "    for i in range(0, len(pairs), 2):\n"
        "        assert pairs[i] == pairs[i + 1], (what, pairs)\n");
    SIZE(struct s1);
    SIZE(struct s2);
    SIZE(struct s3);
    SIZE(struct s4);
    SIZE(union u1);
    SIZE(enum e1);
    SIZE(enum e2);
    SIZE(enum e3);
    SIZE(struct b1);
    SIZE(struct b2);
    SIZE(struct b3);
    SIZE(struct b4);
    FIELD(struct s1, i);
    FIELD(struct s1, d);
    FIELD(struct s2, d);
    FIELD(struct s2, s);
    FIELD(struct s2, l);
    FIELD(struct s3, b);
    FIELD(struct s3, u);
    FIELD(struct s3, n);
    FIELD(struct s3, f);
    FIELD(struct s4, a);
    FIELD(struct s4, b);
    FIELD(struct s4, l);
    FIELD(struct s4, t);
    FIELD(struct s4, z);
    FIELD(struct s4, tail);
    FIELD(struct b1, d);
    FIELD(struct b4, d);
    BITS(struct b1, "[-3, 21, -123456, b'x', -200]", made.a = -3, made.b = 21, made.c = -123456,
         made.d = 'x', made.e = -200);
    BITS(struct b2, "{'c': 12345, 'd': -99999}", made.d = -99999, made.c = 12345);
    BITS(struct b3, "[1, 100, 4000, -2, -5]", made.a = 1, made.b = 100, made.c = 4000, made.d = -2,
         made.e = -5);
    BITS(struct b4, "{'a': -4000000000, 'c': 4000000000, 'x': b'q', 'd': b'r'}",
         made.a = -4000000000, made.c = 4000000000, made.x = 'q', made.d = 'r');
}

static int run(const char *text, int foreign) {
    dynvm_config config = DYNVM_CONFIG;
    config.foreign = foreign;
    dynvm_vm *vm = dynvm_create(&config);
    if (!vm) return 1;
    int failed = dynvm_run_text(vm, text, strlen(text), "<layout>") != DYNVM_OK;
    if (failed) {
        dynvm_error *error = dynvm_take_error(vm);
        fputs(dynvm_error_traceback(error), stderr);
        dynvm_error_free(error);
    }
    dynvm_destroy(vm);
    return failed;
}

int main(void) {
    static const char refused[] =
        "try:\n    import ffi\nexcept PermissionError as e:\n"
        "    assert str(e) == 'the host does not allow programs to call C functions'\n"
        "else:\n    raise AssertionError('ffi was imported')\n";
    write_script();
    return run(script, 1) || run(refused, 0);
}
