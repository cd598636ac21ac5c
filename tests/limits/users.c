/* users.c: VMs in threads that use OpenBLAS with two threads of its own, while some of them fork
 * for long decompositions (ext/ndarray/linear/blas.h, invariant 4).  A fork while another VM uses
 * it would never come back: the test's time ends. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynvm.h"

enum { SKIPPED = 77, THREADS = 3, TURNS = 2 };

static const char values[] = "import ndarray as np\n"
                             "m = np.random.default_rng(1).random((700, 700))\n"
                             "for i in range(3):\n"
                             "    last = np.linalg.eigvalsh(m + m.T)[-1]\n"
                             "    assert 690 < last < 710, last\n";
static const char products[] = "import ndarray as np\n"
                               "m = np.ones((500, 500))\n"
                               "for i in range(60):\n"
                               "    assert (m @ m)[-1, -1] == 500\n";

static void *run_all(void *context) {
    const char *source = (const char *)context;
    for (int i = 0; i < TURNS; i++) {
        dynvm_config config = DYNVM_CONFIG;
        config.extension_path = EXTENSIONS;
        dynvm_vm *vm = dynvm_create(&config);
        if (!vm) exit(2);
        if (dynvm_run_text(vm, source, strlen(source), "<users>") != DYNVM_OK) {
            dynvm_error *error = dynvm_take_error(vm);
            fprintf(stderr, "%s: %s\n", dynvm_error_type(error), dynvm_error_message(error));
            exit(1);
        }
        dynvm_destroy(vm);
    }
    return NULL;
}

int main(void) {
    if (!dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL)) return SKIPPED;
    static const char *const sources[THREADS] = {values, products, values};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run_all, (void *)(uintptr_t)sources[i])) return 2;
    for (int i = 0; i < THREADS; i++)
        if (pthread_join(threads[i], NULL)) return 2;
    return 0;
}
