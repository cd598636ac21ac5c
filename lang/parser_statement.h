/* parser_statement.h: statements and blocks. */
#ifndef DV_LANG_PARSER_STATEMENT_H
#define DV_LANG_PARSER_STATEMENT_H

#include "lang/parser.h"

/* Adds what the next logical line (or compound statement) holds to the block. */
bool dv_parser_statement(dv_parser *p, dv_block_builder *block);

/* The body of a compound statement, from behind the colon on; `owner` and the line of its header
 * are for the message if the block is missing: "expected an indented block after 'if' statement on
 * line 3". */
bool dv_parser_block(dv_parser *p, const char *owner, uint32_t line, dv_block *body);

/* The colon at the end of a header: a missing one is reported as such only at the end of the line.
 */
bool dv_parser_header_end(dv_parser *p);

#endif
