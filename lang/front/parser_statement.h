/* parser_statement.h: statements and blocks. */
#ifndef DV_LANG_PARSER_STATEMENT_H
#define DV_LANG_PARSER_STATEMENT_H

#include "lang/front/parser.h"

/* Adds what the next logical line (or compound statement) holds to the block. */
bool dv_parser_statement(dv_parser *p, dv_block_builder *block);

/* The body of a compound statement, from the colon on. */
bool dv_parser_block(dv_parser *p, dv_block *body);

#endif
