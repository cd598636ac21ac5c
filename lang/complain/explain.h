/* explain.h: what CPython says about a program that is none.
 *
 * The parser knows what is right and stops at the first token that cannot be.  Which message that
 * earns depends on the order in which CPython tries its grammar, so that grammar
 * (gen/tables/syntax.gram) is run over the tokens, by CPython's rules: once without and once with
 * the alternatives that describe errors.
 *
 * Invariants
 *  1. Only programs that the parser has refused come here: speed does not matter, the bound on the
 *     C stack does (there is no recursion).
 *  2. What was explained is CPython's error, or nothing was (the search has a limit). */
#ifndef DV_LANG_EXPLAIN_H
#define DV_LANG_EXPLAIN_H

#include "lang/front/lexer.h"

/* Replaces the problem of `front` by CPython's for the statement that begins with token `first`;
 * inside an f-string for its one expression. */
void dv_explain_run(dv_front *front, const dv_tokens *tokens, uint32_t first, bool fstring);

#endif
