/* bundled.h: the directory of the extensions that come with dynvm. */
#ifndef DV_API_BUNDLED_H
#define DV_API_BUNDLED_H

#include <limits.h>
#include <stdbool.h>

/* It is found from the file that this library is part of: a program or a shared object.  Absolute;
 * false: there is none, or nobody knows. */
bool dv_bundled_find(char path[PATH_MAX]);

#endif
