/* ast.h: the syntax tree.
 *
 * Invariants
 *  1. Nodes live in the scratch arena; a pass may rewrite a node in place (fold.c does).
 *  2. A *left spine* (a + b + c, a.b.c().d) may be as long as the source; everything else is nested
 *     no deeper than the parser allows.  So every pass walks left spines in a loop, with
 *     dv_expr_leftmost and `up`, and may recurse into all other children.
 *  3. `up` of a node is the node whose left child it is; it means nothing outside a walk that began
 *     at or above that node. */
#ifndef DV_LANG_AST_H
#define DV_LANG_AST_H

#include "lang/front/name.h"

typedef struct dv_expr dv_expr;
typedef struct dv_stmt dv_stmt;
typedef struct dv_symbol dv_symbol; /* scope.h */
typedef struct dv_scope dv_scope;

typedef enum dv_expr_kind {
    DV_EXPR_NAME,
    DV_EXPR_CONSTANT,
    DV_EXPR_FSTRING, /* list: string constants and DV_EXPR_FORMAT */
    DV_EXPR_FORMAT,
    DV_EXPR_TUPLE, /* list */
    DV_EXPR_LIST,  /* list */
    DV_EXPR_SET,   /* list */
    DV_EXPR_DICT,
    DV_EXPR_BINARY, /* op: dv_operator */
    DV_EXPR_UNARY,  /* op: dv_unary */
    DV_EXPR_AND,    /* list */
    DV_EXPR_OR,     /* list */
    DV_EXPR_COMPARE,
    DV_EXPR_CONDITIONAL,
    DV_EXPR_LAMBDA,
    DV_EXPR_CALL,
    DV_EXPR_ATTRIBUTE,
    DV_EXPR_SUBSCRIPT,
    DV_EXPR_SLICE,
    DV_EXPR_STARRED, /* child */
    DV_EXPR_NAMED,
    DV_EXPR_COMPREHENSION, /* op: dv_comprehension */
    DV_EXPR_YIELD,         /* child, may be NULL */
    DV_EXPR_YIELD_FROM     /* child */
} dv_expr_kind;

/* In the order of the tokens in token.h and of the instructions. */
typedef enum dv_operator {
    DV_OPERATOR_ADD,
    DV_OPERATOR_SUB,
    DV_OPERATOR_MUL,
    DV_OPERATOR_TRUEDIV,
    DV_OPERATOR_FLOORDIV,
    DV_OPERATOR_MOD,
    DV_OPERATOR_POW,
    DV_OPERATOR_MATMUL,
    DV_OPERATOR_LSHIFT,
    DV_OPERATOR_RSHIFT,
    DV_OPERATOR_AND,
    DV_OPERATOR_OR,
    DV_OPERATOR_XOR
} dv_operator;

typedef enum dv_unary { DV_UNARY_NEG, DV_UNARY_POS, DV_UNARY_INVERT, DV_UNARY_NOT } dv_unary;

typedef enum dv_comparison {
    DV_COMPARISON_LT,
    DV_COMPARISON_LE,
    DV_COMPARISON_GT,
    DV_COMPARISON_GE,
    DV_COMPARISON_EQ,
    DV_COMPARISON_NE,
    DV_COMPARISON_IS,
    DV_COMPARISON_IS_NOT,
    DV_COMPARISON_IN,
    DV_COMPARISON_NOT_IN
} dv_comparison;

typedef struct dv_exprs {
    dv_expr **items;
    uint32_t count;
} dv_exprs;

typedef struct dv_block {
    dv_stmt **items;
    uint32_t count;
} dv_block;

/* Lists under construction: begin with zeros, take `list` when complete. */
typedef struct dv_expr_builder {
    dv_exprs list;
    uint32_t capacity;
} dv_expr_builder;

typedef struct dv_block_builder {
    dv_block list;
    uint32_t capacity;
} dv_block_builder;

bool dv_expr_push(dv_front *front, dv_expr_builder *builder, dv_expr *expr);
bool dv_block_push(dv_front *front, dv_block_builder *builder, dv_stmt *stmt);

/* A constant.  Like dv_const of code.h, but a tuple holds its items itself. */
typedef struct dv_literal {
    dv_const_kind kind;
    union {
        int64_t integer;
        double real;
        dv_text text;
        struct {
            const struct dv_literal *items;
            uint32_t count;
        } tuple;
    } as;
} dv_literal;

typedef struct dv_keyword {
    dv_name *name; /* NULL: **value */
    dv_range at;
    dv_expr *value;
} dv_keyword;

typedef enum dv_parameter_kind {
    DV_PARAMETER_POSITIONAL_ONLY,
    DV_PARAMETER_POSITIONAL,
    DV_PARAMETER_VARARGS,
    DV_PARAMETER_KEYWORD_ONLY,
    DV_PARAMETER_VARKEYWORDS
} dv_parameter_kind;

typedef struct dv_parameter {
    dv_parameter_kind kind;
    dv_name *name;
    dv_range at;
    dv_expr *standard;   /* the default value, or NULL */
    dv_expr *annotation; /* or NULL */
} dv_parameter;

/* A function or a lambda: a lambda has no name and its body is one return statement. */
typedef struct dv_function {
    dv_name *name;
    dv_parameter *parameters; /* in the order of the source */
    uint32_t parameter_count;
    dv_block body;
    dv_exprs decorators;
    dv_expr *returns; /* the annotation behind ->, or NULL */
    dv_scope *scope;
    dv_range at;
    bool is_async;
} dv_function;

typedef struct dv_class {
    dv_name *name;
    dv_exprs bases;
    dv_keyword *keywords;
    uint32_t keyword_count;
    dv_block body;
    dv_exprs decorators;
    dv_scope *scope;
} dv_class;

/* `for target in iterable if c1 if c2` of a comprehension */
typedef struct dv_clause {
    dv_expr *target, *iterable;
    dv_exprs conditions;
} dv_clause;

struct dv_expr {
    uint8_t kind;
    uint8_t op;
    bool parenthesized;
    bool stores;   /* evaluating it may bind a local variable (a walrus), or suspend the generator:
                      no operand may borrow from a local across it; set by fold.c */
    bool assigned; /* a name that is definitely assigned when read; set by assign.c */
    dv_range at;
    dv_expr *up;
    union {
        struct {
            dv_name *name;
            dv_symbol *symbol; /* set by scope.c */
        } name;
        dv_literal constant;
        dv_exprs list;
        dv_expr *child;
        struct {
            dv_expr *left, *right;
        } binary;
        struct {
            dv_expr *left;
            dv_exprs rights;
            uint8_t *ops; /* dv_comparison, one for each of the rights */
        } compare;
        struct {
            dv_expr *test, *body, *otherwise;
        } conditional;
        dv_function *function;
        struct {
            dv_expr *callee;
            dv_exprs arguments;
            dv_keyword *keywords;
            uint32_t keyword_count;
        } call;
        struct {
            dv_expr *object;
            dv_name *name;
        } attribute;
        struct {
            dv_expr *container, *index;
        } subscript;
        struct {
            dv_expr *start, *stop, *step; /* each may be NULL */
        } slice;
        struct {
            dv_exprs keys, values; /* a NULL key: **value */
        } dict;
        struct {
            dv_expr *target, *value;
        } named;
        struct {
            dv_expr *value, *spec; /* spec: DV_EXPR_FSTRING or NULL */
            char conversion;       /* 's', 'r', 'a' or 0 */
        } format;
        struct {
            dv_expr *element, *value; /* key and value of a dict comprehension */
            dv_clause *clauses;
            uint32_t clause_count;
            dv_scope *scope;
        } comprehension;
    } as;
};

typedef enum dv_pattern_kind {
    DV_PATTERN_VALUE,     /* value: a literal or a dotted name, compared by == */
    DV_PATTERN_SINGLETON, /* value: None, True or False, compared by `is` */
    DV_PATTERN_CAPTURE,   /* name; NULL: the wildcard */
    DV_PATTERN_AS,        /* name, items[0] */
    DV_PATTERN_STAR,      /* in a sequence only: name; NULL: *_ */
    DV_PATTERN_SEQUENCE,  /* items */
    DV_PATTERN_MAPPING,   /* keys, an item for each, name: behind the two stars, or NULL */
    DV_PATTERN_CLASS,     /* value: the class; items, the last of which have keywords */
    DV_PATTERN_OR         /* items */
} dv_pattern_kind;

typedef struct dv_pattern {
    dv_pattern_kind kind;
    dv_range at;
    dv_expr *value;
    dv_expr *name; /* DV_EXPR_NAME */
    struct dv_pattern **items;
    uint32_t count;
    dv_exprs keys;
    dv_name **keywords;
    uint32_t keyword_count;
} dv_pattern;

typedef enum dv_stmt_kind {
    DV_STMT_EXPR,
    DV_STMT_ASSIGN,
    DV_STMT_AUGMENT,
    DV_STMT_ANNOTATE,
    DV_STMT_DELETE,
    DV_STMT_IF,
    DV_STMT_WHILE,
    DV_STMT_FOR,
    DV_STMT_BREAK,
    DV_STMT_CONTINUE,
    DV_STMT_PASS,
    DV_STMT_FUNCTION,
    DV_STMT_RETURN,
    DV_STMT_GLOBAL,
    DV_STMT_NONLOCAL,
    DV_STMT_CLASS,
    DV_STMT_TRY,
    DV_STMT_RAISE,
    DV_STMT_WITH,
    DV_STMT_MATCH,
    DV_STMT_ASSERT,
    DV_STMT_IMPORT,
    DV_STMT_FROM
} dv_stmt_kind;

/* `if` or `elif` */
typedef struct dv_branch {
    dv_expr *test;
    dv_block body;
    dv_range at;
} dv_branch;

typedef struct dv_handler {
    dv_expr *type; /* NULL: bare except */
    dv_expr *name; /* NULL, or the DV_EXPR_NAME behind `as` */
    dv_block body;
    dv_range at;
} dv_handler;

typedef struct dv_case {
    dv_pattern *pattern;
    dv_expr *guard; /* or NULL */
    dv_block body;
} dv_case;

typedef struct dv_alias {
    dv_text path;    /* a.b.c; "*" in from-imports */
    dv_name *first;  /* the first part */
    dv_expr *target; /* what it binds, DV_EXPR_NAME; NULL for "*" */
    bool renamed;    /* with `as` */
    dv_range at;
} dv_alias;

typedef struct dv_with_item {
    dv_expr *context, *target; /* target may be NULL */
} dv_with_item;

struct dv_stmt {
    dv_stmt_kind kind;
    dv_range at;
    uint32_t first, end; /* the names that occur in it: dv_scope's `occurrences` (scope.c) */
    uint32_t middle;     /* those before come after the others, in the order of evaluation */
    union {
        dv_expr *expr; /* EXPR; RETURN, may be NULL */
        struct {
            dv_exprs targets;
            dv_expr *value;
        } assign;
        struct {
            dv_expr *target, *value;
            dv_operator op;
        } augment;
        struct {
            dv_expr *target, *value; /* value may be NULL */
            dv_expr *annotation;     /* NULL: not evaluated; set to that by scope.c */
        } annotate;
        dv_exprs targets; /* DELETE */
        struct {
            dv_branch *branches;
            uint32_t count;
            dv_block otherwise;
        } branch;
        struct {
            dv_expr *test;
            dv_block body, otherwise;
        } loop; /* WHILE */
        struct {
            dv_expr *target, *iterable;
            dv_block body, otherwise;
        } each; /* FOR */
        dv_function *function;
        struct {
            dv_name **items;
            dv_range *ranges;
            uint32_t count;
        } names; /* GLOBAL, NONLOCAL */
        dv_class *klass;
        struct {
            dv_block body, otherwise, finally;
            dv_handler *handlers;
            uint32_t handler_count;
            bool has_finally;
        } attempt; /* TRY */
        struct {
            dv_expr *exception, *cause; /* both may be NULL */
        } raise;
        struct {
            dv_with_item *items;
            uint32_t count;
            dv_block body;
        } with;
        struct {
            dv_expr *subject;
            dv_case *cases;
            uint32_t count;
        } match;
        struct {
            dv_expr *test, *message; /* message may be NULL */
        } assertion;
        struct {
            dv_alias *aliases;
            uint32_t count;
            dv_text module; /* FROM: empty in `from . import x` */
            uint32_t level; /* FROM: number of leading dots */
        } import;
    } as;
};

/* The left child of a binary operation, attribute, subscript or call; NULL of anything else. */
dv_expr *dv_expr_left(const dv_expr *expr);

/* The end of the left spine. */
dv_expr *dv_expr_leftmost(dv_expr *expr);

/* 1 or 0 if the truth of the (folded) expression is known without evaluating it, else -1. */
int dv_expr_truth(const dv_expr *expr);

bool dv_expr_is_constant(const dv_expr *expr);

/* Matches everything, whatever its name. */
bool dv_pattern_is_irrefutable(const dv_pattern *pattern);

#endif
