/* io_parts.h: the files of the module io. */
#ifndef DV_MODULES_IO_PARTS_H
#define DV_MODULES_IO_PARTS_H

#include "types/file/file.h"

extern const dv_type dv_string_io_type, dv_bytes_io_type, dv_bytes_io_loan_type; /* io_memory.c */

#endif
