/* threads.c: two VMs in two threads at once, and one VM that moves from thread to thread; for
 * ThreadSanitizer. */
#include "check.h"

#include <pthread.h>

static const char program[] =
    "import math\n"
    "class Point:\n"
    "    def __init__(self, x, y):\n"
    "        self.x = x\n"
    "        self.y = y\n"
    "    def norm(self):\n"
    "        return math.sqrt(self.x * self.x + self.y * self.y)\n"
    "def fib(n):\n"
    "    return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
    "def work(n):\n"
    "    total = 0.0\n"
    "    for i in range(n):\n"
    "        total += Point(i, i + 1).norm()\n"
    "    return total\n"
    "words = {}\n"
    "for i in range(2000):\n"
    "    word = f'{i % 37:03d}'\n"
    "    words[word] = words.get(word, 0) + 1\n"
    "try:\n"
    "    words['missing']\n"
    "except KeyError as e:\n"
    "    print(repr(e))\n"
    "print(fib(15), round(work(2000), 6), len(words), 2 ** 200 % 1000007)\n"
    "print(sorted(words)[:3], 'aXb'.lower(), 3.5e300 * 10)\n";

static const char expected[] = "KeyError('missing')\n"
                               "610 2828428.750461 37 446616\n"
                               "['000', '001', '002'] axb 3.5e+301\n";

static void *create_and_run(void *context) {
    text *t = (text *)context;
    for (int i = 0; i < 3; i++) {
        dynvm_vm *vm = create_collecting(t);
        CHECK(vm);
        CHECK(run(vm, program) == DYNVM_OK);
        CHECK(strcmp(t->data, expected) == 0);
        CHECK(run(vm, "undefined\n") == DYNVM_ERROR);
        dynvm_error *error = dynvm_take_error(vm);
        CHECK(strcmp(dynvm_error_type(error), "NameError") == 0);
        dynvm_error_free(error);
        dynvm_destroy(vm);
    }
    return NULL;
}

static void *run_once(void *vm) {
    CHECK(run((dynvm_vm *)vm, "n += 1\n") == DYNVM_OK);
    return NULL;
}

int main(void) {
    enum { THREADS = 2 };
    static text texts[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, create_and_run, &texts[i]) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);

    text t;
    dynvm_vm *vm = create_collecting(&t);
    CHECK(run(vm, "n = 0\n") == DYNVM_OK);
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_create(&threads[0], NULL, run_once, vm) == 0);
        CHECK(pthread_join(threads[0], NULL) == 0);
    }
    CHECK(run(vm, "print(n)\n") == DYNVM_OK);
    CHECK(strcmp(t.data, "3\n") == 0);
    dynvm_destroy(vm);
    return 0;
}
