/* explain.c: runs the grammar over the tokens of a wrong program (explain.h).
 *
 * A parsing expression grammar with an explicit stack.  A frame is a rule being tried: where it
 * began, the alternative and the item it is at.  Results are nodes; those of the items of a frame
 * lie on a stack of values from the frame's base on.
 *
 * Invariants
 *  1. `furthest` is the number of tokens that were looked at in either pass: CPython reads tokens
 *     one by one and reports many errors at the last one it has read.
 *  2. Results are remembered only where CPython does: a remembered result is not tried again, and
 *     what is not tried cannot report an error. */
#include "lang/complain/explain.h"

#include "dv_grammar.h"
#include "lang/complain/explain_error.h"

#include <string.h>

enum { STEP_LIMIT = 10000000 };

typedef struct memo {
    struct memo *next;
    dv_node *result;
    uint32_t end;
    uint16_t rule;
} memo;

typedef struct frame {
    const dv_grammar_rule *rule;
    uint32_t begin, item_begin; /* tokens */
    uint32_t base;              /* of its values */
    uint32_t repeats;           /* of the current item */
    uint16_t alternative, item;
    bool cut, was_quiet;
    dv_node *labels[3];
} frame;

typedef struct search {
    dv_explanation x; /* tokens, furthest, the error */
    uint32_t position, token_count;
    bool second, quiet;
    frame *frames;
    uint32_t frame_count, frame_capacity;
    dv_node **values;
    uint32_t value_count, value_capacity;
    memo **memos;  /* for each token */
    dv_node plain; /* a token without a label: that it was there is all that is wanted */
} search;

static const dv_grammar_alternative *alternative_of(const frame *f) {
    return &dv_grammar_alternatives[f->rule->first + f->alternative];
}

/* ---- Nodes ---- */

static dv_node *new_node(search *s, uint8_t kind, uint32_t begin, uint32_t end) {
    dv_node *node = dv_front_scratch(s->x.front, sizeof *node);
    if (node == NULL) return NULL;
    const dv_token *tokens = s->x.tokens->items;
    node->kind = kind;
    node->first = begin;
    node->at = end > begin ? dv_range_join(tokens[begin].at, tokens[end - 1].at) : tokens[begin].at;
    return node;
}

static bool push_value(search *s, dv_node *node) {
    void *values = s->values;
    if (!dv_front_reserve(s->x.front, &values, s->value_count, &s->value_capacity,
                          sizeof(dv_node *)))
        return false;
    s->values = values;
    s->values[s->value_count++] = node;
    return true;
}

/* Parts without a kind become parts of what is around them. */
static bool collect(search *s, frame *f, const dv_grammar_item *item, dv_node *node) {
    f->labels[item->label] = node;
    if (!item->rule) return true;
    if (node->kind != DV_KIND_PARTS) return push_value(s, node);
    for (uint32_t i = 0; i < node->count; i++)
        if (!push_value(s, node->parts[i])) return false;
    return true;
}

/* The result of an alternative all of whose items were found; NULL: no memory. */
static dv_node *make_node(search *s, const frame *f, const dv_grammar_alternative *alternative) {
    uint32_t count = s->value_count - f->base;
    bool passes = alternative->kind == DV_KIND_PARTS || alternative->several;
    if (count == 1 && passes) return s->values[f->base];
    uint8_t kind = alternative->kind;
    if (kind == DV_KIND_LAST_PART) kind = s->values[s->value_count - 1]->kind;
    dv_node *node = new_node(s, kind, f->begin, s->position);
    if (node == NULL || count == 0) return node;
    node->parts = dv_front_scratch(s->x.front, count * sizeof *node->parts);
    if (node->parts == NULL) return NULL;
    memcpy(node->parts, s->values + f->base, count * sizeof *node->parts);
    node->count = count;
    return node;
}

/* ---- Tokens ---- */

/* CPython compares no more characters than the token has, so `c` and `mat` count too. */
static bool is_soft_keyword(const dv_token *token) {
    static const char *const words[] = {"_", "case", "match"};
    if (token->kind != DV_TOKEN_NAME) return false;
    dv_text text = token->name->text;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text.size <= strlen(words[i]) && memcmp(text.data, words[i], text.size) == 0)
            return true;
    return false;
}

static bool is_wanted(const dv_token *token, uint16_t kind) {
    bool name = token->kind == DV_TOKEN_NAME;
    switch (kind) {
    case DV_GRAMMAR_SOFT_KEYWORD: return is_soft_keyword(token);
    case DV_GRAMMAR_MATCH: return name && dv_name_is(token->name, "match");
    case DV_GRAMMAR_UNDERSCORE: return name && dv_name_is(token->name, "_");
    case DV_GRAMMAR_CASE: return name && dv_name_is(token->name, "case");
    default: return token->kind == kind;
    }
}

/* The token at the current position, which was read with that; NULL: the lexer's error is it. */
static const dv_token *read_token(search *s) {
    const dv_token *token = &s->x.tokens->items[s->position];
    if (s->position >= s->x.furthest) s->x.furthest = s->position + 1;
    if (token->kind != DV_TOKEN_ERROR) return token;
    dv_explain_lexer(&s->x);
    return NULL;
}

static dv_node *match_token(search *s, uint16_t kind, uint8_t label) {
    const dv_token *token = read_token(s);
    if (token == NULL) return NULL;
    if (!is_wanted(token, kind)) return NULL;
    /* the last token is there for good */
    if (s->position + 1 < s->token_count) s->position++;
    if (label == 0) return &s->plain;
    return new_node(s, DV_KIND_PARTS, s->position - 1, s->position);
}

/* ---- Rules ---- */

static memo *find_memo(const search *s, uint16_t rule) {
    memo *it = s->memos[s->position];
    while (it != NULL && it->rule != rule) it = it->next;
    return it;
}

static void remember(search *s, const frame *f, dv_node *result) {
    memo *it = dv_front_scratch(s->x.front, sizeof *it);
    if (it == NULL) return;
    *it = (memo){s->memos[f->begin], result, s->position, (uint16_t)(f->rule - dv_grammar_rules)};
    s->memos[f->begin] = it;
}

static bool push_frame(search *s, uint16_t rule) {
    void *frames = s->frames;
    if (!dv_front_reserve(s->x.front, &frames, s->frame_count, &s->frame_capacity, sizeof(frame)))
        return false;
    s->frames = frames;
    frame *f = &s->frames[s->frame_count++];
    *f = (frame){.rule = &dv_grammar_rules[rule], .begin = s->position, .item_begin = s->position};
    f->base = s->value_count;
    f->was_quiet = s->quiet;
    s->quiet = s->quiet || f->rule->quiet;
    return true;
}

static dv_node *pop_frame(search *s, dv_node *result) {
    frame *f = &s->frames[--s->frame_count];
    if (result == NULL) s->position = f->begin;
    s->value_count = f->base;
    s->quiet = f->was_quiet;
    if (f->rule->memo) remember(s, f, result);
    return result;
}

static void next_item(search *s, frame *f) {
    f->item++;
    f->repeats = 0;
    f->item_begin = s->position;
}

static void fail_alternative(search *s, frame *f) {
    s->position = f->item_begin = f->begin;
    s->value_count = f->base;
    f->repeats = 0;
    f->item = 0;
    memset(f->labels, 0, sizeof f->labels);
    f->alternative = f->cut ? f->rule->count : (uint16_t)(f->alternative + 1);
}

/* An item that may repeat was found once more, or not. */
static void take_repeated(search *s, frame *f, const dv_grammar_item *item, bool found) {
    if (!found) {
        s->position = f->item_begin;
        if (f->repeats == 0 && item->op != DV_ITEM_ANY)
            fail_alternative(s, f);
        else
            next_item(s, f);
        return;
    }
    f->repeats++;
    f->item_begin = s->position;
    if (item->op == DV_ITEM_LIST && match_token(s, item->separator, 0) == NULL) next_item(s, f);
}

/* What the current item of the frame has come to. */
static void take_result(search *s, frame *f, dv_node *result) {
    const dv_grammar_item *item = &dv_grammar_items[alternative_of(f)->first + f->item];
    bool ahead = item->op == DV_ITEM_AHEAD || item->op == DV_ITEM_NOT_AHEAD;
    if (result != NULL && !ahead && !collect(s, f, item, result)) return;
    switch (item->op) {
    case DV_ITEM_ANY:
    case DV_ITEM_SOME:
    case DV_ITEM_LIST: take_repeated(s, f, item, result != NULL); return;
    case DV_ITEM_MAYBE: break;
    case DV_ITEM_AHEAD:
    case DV_ITEM_NOT_AHEAD:
        s->position = f->item_begin;
        if ((result != NULL) != (item->op == DV_ITEM_AHEAD)) {
            fail_alternative(s, f);
            return;
        }
        break;
    default:
        if (result == NULL) {
            if (item->op == DV_ITEM_FORCE) dv_explain_expected(&s->x, s->position, item->what);
            fail_alternative(s, f);
            return;
        }
    }
    next_item(s, f);
}

/* All items of the alternative were found.  One that describes an error fails if there is none. */
static dv_node *finish(search *s, frame *f) {
    const dv_grammar_alternative *alternative = alternative_of(f);
    if (alternative->place == DV_PLACE_NO_ERROR) return pop_frame(s, make_node(s, f, alternative));
    dv_explain_error(&s->x, alternative, f->labels[1], f->labels[2], s->position);
    return pop_frame(s, NULL);
}

/* Goes on with the topmost frame; true if a rule is done, with its result. */
static bool step(search *s, dv_node **result) {
    frame *f = &s->frames[s->frame_count - 1];
    while (f->alternative < f->rule->count && alternative_of(f)->second && (!s->second || s->quiet))
        f->alternative++;
    if (f->alternative >= f->rule->count) {
        *result = pop_frame(s, NULL);
        return true;
    }
    const dv_grammar_alternative *alternative = alternative_of(f);
    if (f->item >= alternative->count) {
        *result = finish(s, f);
        return true;
    }
    const dv_grammar_item *item = &dv_grammar_items[alternative->first + f->item];
    if (item->op == DV_ITEM_CUT) {
        f->cut = true;
        next_item(s, f);
    } else if (!item->rule) {
        dv_node *token = match_token(s, item->what, item->label);
        if (!s->x.done) take_result(s, f, token);
    } else if (dv_grammar_rules[item->what].memo && find_memo(s, item->what) != NULL) {
        const memo *known = find_memo(s, item->what);
        if (known->result != NULL) s->position = known->end;
        take_result(s, f, known->result);
    } else {
        push_frame(s, item->what);
    }
    return false;
}

/* One pass; true if the tokens are right. */
static bool run_pass(search *s, uint32_t first, uint16_t start) {
    dv_node *result = NULL;
    memset(s->memos, 0, s->token_count * sizeof *s->memos);
    s->position = first;
    s->frame_count = s->value_count = 0;
    s->quiet = false;
    if (!push_frame(s, start)) return false;
    for (uint32_t steps = 0; !s->x.done && s->x.front->status == DV_LANG_OK; steps++) {
        if (steps > STEP_LIMIT) return true;
        if (!step(s, &result)) continue;
        if (s->frame_count == 0) return result != NULL;
        if (!s->x.done) take_result(s, &s->frames[s->frame_count - 1], result);
    }
    return false;
}

void dv_explain_run(dv_front *front, const dv_tokens *tokens, uint32_t first, bool fstring) {
    search s = {.x = {.front = front, .tokens = tokens, .fstring = fstring}};
    uint16_t start = fstring             ? DV_GRAMMAR_START_FSTRING
                     : front->expression ? DV_GRAMMAR_START_EVAL
                                         : DV_GRAMMAR_START_FILE;
    const dv_lang_status before = front->status;
    front->status = DV_LANG_OK;
    s.token_count = tokens->count;
    s.memos = dv_front_scratch(front, tokens->count * sizeof *s.memos);
    if (s.memos == NULL) return;
    bool right = run_pass(&s, first, start);
    uint32_t last = s.x.furthest - 1;
    if (!right && !s.x.done) {
        s.second = true;
        right = run_pass(&s, first, start);
    }
    if (front->status != DV_LANG_OK) return;
    front->status = before;
    if (!right) dv_explain_report(&s.x, last);
}
