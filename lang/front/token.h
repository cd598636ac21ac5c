/* token.h: the kinds of tokens. */
#ifndef DV_LANG_TOKEN_H
#define DV_LANG_TOKEN_H

#include "lang/front/name.h"

typedef enum dv_token_kind {
    DV_TOKEN_END,
    DV_TOKEN_ERROR,
    DV_TOKEN_NEWLINE,
    DV_TOKEN_INDENT,
    DV_TOKEN_DEDENT,
    DV_TOKEN_NAME,
    DV_TOKEN_NUMBER,
    DV_TOKEN_STRING,
    DV_TOKEN_UNKNOWN, /* a character that no token begins with */

    DV_TOKEN_LEFT_PAREN,
    DV_TOKEN_RIGHT_PAREN,
    DV_TOKEN_LEFT_BRACKET,
    DV_TOKEN_RIGHT_BRACKET,
    DV_TOKEN_LEFT_BRACE,
    DV_TOKEN_RIGHT_BRACE,
    DV_TOKEN_COLON,
    DV_TOKEN_COMMA,
    DV_TOKEN_SEMICOLON,
    DV_TOKEN_DOT,
    DV_TOKEN_ELLIPSIS,
    DV_TOKEN_ARROW,
    DV_TOKEN_WALRUS,
    DV_TOKEN_ASSIGN,
    DV_TOKEN_TILDE,

    DV_TOKEN_EQ,
    DV_TOKEN_NE,
    DV_TOKEN_LT,
    DV_TOKEN_LE,
    DV_TOKEN_GT,
    DV_TOKEN_GE,

    /* Binary operators and their augmented forms, each list in the order of dv_operator. */
    DV_TOKEN_PLUS,
    DV_TOKEN_MINUS,
    DV_TOKEN_STAR,
    DV_TOKEN_SLASH,
    DV_TOKEN_DOUBLE_SLASH,
    DV_TOKEN_PERCENT,
    DV_TOKEN_DOUBLE_STAR,
    DV_TOKEN_AT,
    DV_TOKEN_LEFT_SHIFT,
    DV_TOKEN_RIGHT_SHIFT,
    DV_TOKEN_AMPERSAND,
    DV_TOKEN_BAR,
    DV_TOKEN_CARET,
    DV_TOKEN_PLUS_ASSIGN,
    DV_TOKEN_MINUS_ASSIGN,
    DV_TOKEN_STAR_ASSIGN,
    DV_TOKEN_SLASH_ASSIGN,
    DV_TOKEN_DOUBLE_SLASH_ASSIGN,
    DV_TOKEN_PERCENT_ASSIGN,
    DV_TOKEN_DOUBLE_STAR_ASSIGN,
    DV_TOKEN_AT_ASSIGN,
    DV_TOKEN_LEFT_SHIFT_ASSIGN,
    DV_TOKEN_RIGHT_SHIFT_ASSIGN,
    DV_TOKEN_AMPERSAND_ASSIGN,
    DV_TOKEN_BAR_ASSIGN,
    DV_TOKEN_CARET_ASSIGN,

    /* Keywords, sorted as in lexer.c. */
    DV_TOKEN_FALSE,
    DV_TOKEN_NONE,
    DV_TOKEN_TRUE,
    DV_TOKEN_AND,
    DV_TOKEN_AS,
    DV_TOKEN_ASSERT,
    DV_TOKEN_ASYNC,
    DV_TOKEN_AWAIT,
    DV_TOKEN_BREAK,
    DV_TOKEN_CLASS,
    DV_TOKEN_CONTINUE,
    DV_TOKEN_DEF,
    DV_TOKEN_DEL,
    DV_TOKEN_ELIF,
    DV_TOKEN_ELSE,
    DV_TOKEN_EXCEPT,
    DV_TOKEN_FINALLY,
    DV_TOKEN_FOR,
    DV_TOKEN_FROM,
    DV_TOKEN_GLOBAL,
    DV_TOKEN_IF,
    DV_TOKEN_IMPORT,
    DV_TOKEN_IN,
    DV_TOKEN_IS,
    DV_TOKEN_LAMBDA,
    DV_TOKEN_NONLOCAL,
    DV_TOKEN_NOT,
    DV_TOKEN_OR,
    DV_TOKEN_PASS,
    DV_TOKEN_RAISE,
    DV_TOKEN_RETURN,
    DV_TOKEN_TRY,
    DV_TOKEN_WHILE,
    DV_TOKEN_WITH,
    DV_TOKEN_YIELD
} dv_token_kind;

typedef struct dv_token {
    uint8_t kind;
    uint8_t brackets; /* how many are open around it */
    uint32_t begin, end;
    dv_range at;
    dv_name *name; /* of DV_TOKEN_NAME */
} dv_token;

#endif
