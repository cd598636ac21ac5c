/* import_find.h: where the file of a module is. */
#ifndef DV_IMPORT_IMPORT_FIND_H
#define DV_IMPORT_IMPORT_FIND_H

#include "core/vm.h"

enum { DV_LONGEST_MODULE_PATH = 4096 };

typedef enum dv_module_kind {
    DV_MODULE_NONE,
    DV_MODULE_SOURCE,
    DV_MODULE_PACKAGE,   /* path is its __init__ file */
    DV_MODULE_EXTENSION, /* a shared object */
    DV_MODULE_NAMESPACE  /* a directory without an __init__ file; path is the directory */
} dv_module_kind;

typedef struct dv_module_file {
    dv_module_kind kind;
    char path[DV_LONGEST_MODULE_PATH]; /* absolute */
} dv_module_file;

/* Looks for the last part of a module's name in the directories of a list (other entries count as
 * nothing), as CPython does: in each directory first NAME/__init__.dl, NAME/__init__.py,
 * NAME/__init__.dlc, then NAME.dl, NAME.py, NAME.so, NAME.dlc: what is compiled counts only where
 * its source is not, as .pyc files do beside no source.  False: raised. */
bool dv_module_find(dv_vm *vm, dv_value name, dv_value directories,
                    dv_module_file *found) DV_MUST_CHECK;

#endif
