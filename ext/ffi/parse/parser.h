/* parser.h: C declarations and types as text. */
#ifndef FFI_PARSER_H
#define FFI_PARSER_H

#include "parse/scope.h"

typedef struct parser_options {
    bool override; /* may a declaration replace another one? */
    uint32_t pack; /* largest alignment of members; 0: their own */
} parser_options;

/* Enters the declarations of a text.  Raises CDefError and FFIError, as cffi does. */
bool parser_declare(dvx_vm *vm, scope *s, const char *text, size_t size,
                    const parser_options *options);

/* The type that a text names, laid out; a function is only one where `functions` says so.  NULL:
 * raised. */
ctype *parser_type(dvx_vm *vm, scope *s, const char *text, size_t size, bool functions);

#endif
