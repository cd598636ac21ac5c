/* bundled.c: where the extensions that come with dynvm are (bundled.h). */
#define _GNU_SOURCE /* dladdr1 */
#include "api/bundled.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dynvm.h"

#define TEXT(x)    #x
#define NUMBER(x)  TEXT(x)
#define EXTENSIONS "dynvm/" NUMBER(DYNVM_VERSION_MAJOR) "." NUMBER(DYNVM_VERSION_MINOR)

/* Where it is, seen from the directory of the file that contains this library: a program under
 * PREFIX/bin, libdynvm.so in its place, or a folder with everything (the build's, a game's). */
static const char *const layouts[] = {"/" DYNVM_BIN_TO_LIB "/" EXTENSIONS, "/" EXTENSIONS,
                                      "/lib/" EXTENSIONS};

/* The file that contains this library, its links followed: of malloc; NULL: nobody knows. */
static char *own_file(void) {
    Dl_info about;
    struct link_map *map;
    if (!dladdr1(layouts, &about, (void **)&map, RTLD_DL_LINKMAP)) return NULL;
    if (map->l_name[0]) return realpath(map->l_name, NULL);
    /* The main program has no name there.  Without /proc, how it was started may tell. */
    char *program = realpath("/proc/self/exe", NULL);
    return program || !strchr(about.dli_fname, '/') ? program : realpath(about.dli_fname, NULL);
}

char *dv_bundled_find(void) {
    char *file = own_file(), *found = NULL;
    size_t length = file ? (size_t)(strrchr(file, '/') - file) : 0;
    for (size_t i = 0; file && !found && i < sizeof layouts / sizeof *layouts; i++) {
        char path[PATH_MAX];
        struct stat about;
        size_t more = strlen(layouts[i]);
        if (length + more >= sizeof path) continue;
        memcpy(path, file, length);
        memcpy(path + length, layouts[i], more + 1);
        if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) found = realpath(path, NULL);
    }
    free(file);
    return found;
}
