/* bundled.c: where the extensions that come with dynvm are (bundled.h). */
#define _GNU_SOURCE /* dladdr1 */
#include "api/bundled.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dynvm.h"

#define TEXT(x)    #x
#define NUMBER(x)  TEXT(x)
#define EXTENSIONS "dynvm/" NUMBER(DYNVM_VERSION_MAJOR) "." NUMBER(DYNVM_VERSION_MINOR)

/* Where it is, seen from the directory of the file that contains this library: a program under
 * PREFIX/bin, libdynvm.so in its place, or a folder with everything (the build's, a game's). */
static const char *const layouts[] = {DYNVM_BIN_TO_LIB "/" EXTENSIONS, EXTENSIONS,
                                      "lib/" EXTENSIONS};

/* Takes the last part off a path; false: there is none. */
static bool cut(char *path) {
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    return slash != NULL;
}

/* The path of the file that contains this library, its links followed; false: nobody knows. */
static bool find_own_file(char path[PATH_MAX]) {
    Dl_info about;
    struct link_map *map;
    if (!dladdr1(layouts, &about, (void **)&map, RTLD_DL_LINKMAP)) return false;
    if (map->l_name[0]) return realpath(map->l_name, path) != NULL;
    /* The main program has no name there.  Without /proc, how it was started may tell. */
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length <= 0) return strchr(about.dli_fname, '/') && realpath(about.dli_fname, path);
    path[length] = '\0';
    return true;
}

/* Appends a layout to a directory, without "..": as a directory that is there; false: it is not. */
static bool find_below(char path[PATH_MAX], const char *layout) {
    for (; strncmp(layout, "../", 3) == 0; layout += 3)
        if (!cut(path)) return false;
    size_t length = strlen(path), more = strlen(layout);
    if (length + 1 + more >= PATH_MAX) return false;
    path[length] = '/';
    memcpy(path + length + 1, layout, more + 1);
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

bool dv_bundled_find(char path[PATH_MAX]) {
    char directory[PATH_MAX];
    if (!find_own_file(directory) || !cut(directory)) return false;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (find_below(strcpy(path, directory), layouts[i])) return true;
    return false;
}
