/* letters.h: the options of one letter, which are Python's. */
#ifndef DV_CLI_LETTERS_H
#define DV_CLI_LETTERS_H

#include "options.h"

/* Understands argv[*at], which begins with one '-': a bundle of letters, the last of which may take
 * what stands behind it, or the next argument (to which *at moves).  -c and -m set the action, the
 * program and its arguments.  False: not understood, which is said on stderr. */
bool cli_parse_letters(int argc, char **argv, int *at, cli_options *options);

#endif
