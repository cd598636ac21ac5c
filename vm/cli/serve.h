/* serve.h: `dynvm view --serve`: a playground in the browser, for this machine alone.
 *
 * The page (playground.html) sends a program; it is run in a sandboxed VM with limits, and its
 * output, its error and the page of `dynvm view` come back.
 *
 * Invariants
 *  1. Each request is a process of its own that ends with it, and that the system ends where it
 *     takes too long: no program can take the server down, or learn anything of another one.
 *  2. It listens at 127.0.0.1, and answers only who calls it by that name or `localhost`: no other
 *     site that the browser shows can use it.
 *  3. What comes in and what goes out is bounded. */
#ifndef DV_CLI_SERVE_H
#define DV_CLI_SERVE_H

#include "options.h"

enum { CLI_USUAL_PORT = 8000 };

/* Serves until Ctrl-C; the exit status. */
int cli_serve(const cli_options *options);

/* Generated (cli_playground.c) from playground.html. */
extern const char cli_playground[];

#endif
