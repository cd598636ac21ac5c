/* bundled.h: the directory of the extensions that come with dynvm. */
#ifndef DV_API_BUNDLED_H
#define DV_API_BUNDLED_H

/* It is found from the file that this library is part of: a program or a shared object.  Absolute,
 * of malloc; NULL: there is none, or nobody knows. */
char *dv_bundled_find(void);

#endif
