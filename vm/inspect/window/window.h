/* window.h: `dynvm view`: a page of HTML that shows what became of a program.
 *
 * The page is one file that loads nothing: window.html with window.css, window.js, and the JSON
 * that the other tools write (REPORTS.md) in a block of data.
 *
 * Invariant 1: no text of the program can end that block, or be read as HTML: in the data there is
 * no `<`, which JSON writes as an escape within strings, and has nowhere else. */
#ifndef DV_INSPECT_WINDOW_H
#define DV_INSPECT_WINDOW_H

#include "inspect/page.h"

/* Generated (window_page.c): in front of the data, and behind them. */
extern const char dv_window_head[], dv_window_tail[];

/* Of a unit that has run, in a VM that counts (profile.h).  False: out of memory (raised). */
bool dv_inspect_window(dv_vm *vm, const dv_unit *unit, const dv_page *page) DV_MUST_CHECK;

#endif
