/* compile_pattern.c: code for patterns (compile_pattern.h). */
#include "lang/compile/compile_pattern.h"

#include "lang/compile/compile_expression.h"
#include "lang/compile/unparse.h"

#include <string.h>

enum {
    MOST_BEFORE_STAR = 255,
    MOST_BELOW_SWAP = 60 /* the verifier's SWAP reaches no deeper */
};

static bool ok(const dv_matcher *m) { return m->c->front->status == DV_LANG_OK; }

static bool match_item(dv_matcher *m, const dv_pattern *pattern, dv_subject subject);

/* ---- The operand stack ---- */

static dv_subject entry(uint32_t number, bool dies) {
    return (dv_subject){.kind = DV_SUBJECT_ENTRY, .entry = number, .dies = dies};
}

/* An instruction that changes the height. */
static void emit(dv_matcher *m, uint8_t op, int change) {
    dv_emit(&m->c->emit, op, m->at);
    m->height += (uint32_t)change;
}

static void emit_a(dv_matcher *m, uint8_t op, uint32_t a, int change) {
    dv_emit_a(&m->c->emit, op, a, m->at);
    m->height += (uint32_t)change;
}

static void load_none(dv_matcher *m) { emit_a(m, DV_OP_LOAD_CONST, dv_emit_none(&m->c->emit), 1); }

void dv_matcher_load(dv_matcher *m, dv_subject subject) {
    if (subject.kind == DV_SUBJECT_LOCAL)
        emit_a(m, DV_OP_LOAD_LOCAL, subject.name->as.name.symbol->index, 1);
    else
        emit_a(m, DV_OP_COPY, m->height - subject.entry, 1);
}

void dv_matcher_pop(dv_matcher *m, uint32_t height) {
    while (m->height > height) emit(m, DV_OP_POP_TOP, -1);
}

/* Whether the value is on top and need not stay: it may be taken as it is. */
static bool is_taken(const dv_matcher *m, dv_subject subject) {
    return subject.kind == DV_SUBJECT_ENTRY && subject.dies && subject.entry + 1 == m->height;
}

/* The value on top, for an instruction that takes it. */
static void take(dv_matcher *m, dv_subject subject) {
    if (!is_taken(m, subject)) dv_matcher_load(m, subject);
}

/* The value on top, for an instruction with an `own` operand. */
static bool load_operand(dv_matcher *m, dv_subject subject) {
    bool owned = subject.kind != DV_SUBJECT_LOCAL;
    if (owned)
        dv_matcher_load(m, subject);
    else
        emit_a(m, DV_OP_LOAD_LOCAL_B, subject.name->as.name.symbol->index, 1);
    return owned;
}

/* ---- Mismatches ---- */

dv_label dv_matcher_label(dv_matcher *m) {
    dv_mismatch *mismatch = m->mismatch;
    uint32_t above = m->height - mismatch->base;
    while (mismatch->count <= above && ok(m)) {
        void *labels = mismatch->labels;
        if (!dv_front_reserve(m->c->front, &labels, mismatch->count, &mismatch->capacity,
                              sizeof(dv_label)))
            return 0;
        mismatch->labels = labels;
        mismatch->labels[mismatch->count++] = dv_emit_new_label(&m->c->emit);
    }
    return ok(m) ? mismatch->labels[above] : 0;
}

void dv_matcher_place(dv_matcher *m, dv_mismatch *mismatch) {
    for (uint32_t i = mismatch->count; i-- > 0;) {
        dv_emit_place(&m->c->emit, mismatch->labels[i]);
        if (i > 0) dv_emit(&m->c->emit, DV_OP_POP_TOP, m->at);
    }
    m->height = mismatch->base;
}

/* Goes on where the bool on top is true. */
static void require(dv_matcher *m) {
    m->height--;
    dv_emit_branch(&m->c->emit, DV_OP_JUMP_IF_FALSE, dv_matcher_label(m), 1, m->at);
}

static void mismatch(dv_matcher *m) {
    dv_emit_jump(&m->c->emit, DV_OP_JUMP, dv_matcher_label(m), m->at);
}

/* ---- Captures ---- */

static const dv_capture *find_capture(const dv_captures *captures, const dv_expr *name) {
    for (uint32_t i = 0; i < captures->count; i++)
        if (captures->items[i].name->as.name.name == name->as.name.name) return &captures->items[i];
    return NULL;
}

static bool capture(dv_matcher *m, const dv_expr *name, dv_subject from) {
    dv_captures *captures = &m->captures;
    void *items = captures->items;
    if (find_capture(captures, name) != NULL) {
        dv_front_error(m->c->front, m->at, "multiple assignments to name '%.*s' in pattern",
                       DV_NAME_ARGS(name->as.name.name));
        return false;
    }
    if (!dv_front_reserve(m->c->front, &items, captures->count, &captures->capacity,
                          sizeof(dv_capture)))
        return false;
    captures->items = items;
    captures->items[captures->count++] = (dv_capture){name, from};
    return true;
}

static bool match_capture(dv_matcher *m, const dv_pattern *pattern, dv_subject subject) {
    if (m->irrefutable) return pattern->name == NULL || capture(m, pattern->name, subject);
    if (pattern->name == NULL)
        dv_front_error(m->c->front, m->at, "wildcard makes remaining patterns unreachable");
    else
        dv_front_error(m->c->front, m->at,
                       "name capture '%.*s' makes remaining patterns unreachable",
                       DV_NAME_ARGS(pattern->name->as.name.name));
    return false;
}

static bool match_as(dv_matcher *m, const dv_pattern *pattern, dv_subject subject) {
    subject.dies = false;
    return dv_compile_pattern(m, pattern->items[0], subject) && capture(m, pattern->name, subject);
}

/* ---- Values ---- */

/* Leaves whether it is the value. */
static bool test_value(dv_matcher *m, const dv_pattern *pattern, dv_subject subject) {
    bool owned;
    if (pattern->value->kind == DV_EXPR_FSTRING) {
        dv_front_error(m->c->front, m->at,
                       "patterns may only match literals and attribute lookups");
        return false;
    }
    uint32_t left_owned = load_operand(m, subject);
    if (!dv_compile_operand(m->c, pattern->value, false, &owned)) return false;
    emit_a(m, pattern->kind == DV_PATTERN_VALUE ? DV_OP_EQ : DV_OP_IS,
           left_owned | (uint32_t)owned << 1, 0);
    return ok(m);
}

static bool match_value(dv_matcher *m, const dv_pattern *pattern, dv_subject subject) {
    if (!test_value(m, pattern, subject)) return false;
    require(m);
    return ok(m);
}

/* ---- Sequences ---- */

static bool is_wildcard(const dv_pattern *pattern) {
    return (pattern->kind == DV_PATTERN_CAPTURE || pattern->kind == DV_PATTERN_STAR) &&
           pattern->name == NULL;
}

static bool find_star(dv_matcher *m, const dv_pattern *pattern, uint32_t *star) {
    *star = pattern->count;
    for (uint32_t i = 0; i < pattern->count; i++) {
        if (pattern->items[i]->kind != DV_PATTERN_STAR) continue;
        if (*star < pattern->count) {
            dv_front_error(m->c->front, m->at, "multiple starred names in sequence pattern");
            return false;
        }
        *star = i;
    }
    return true;
}

/* The items are on the stack, the first on top. */
static bool match_items(dv_matcher *m, dv_pattern *const *items, uint32_t count) {
    uint32_t top = m->height;
    for (uint32_t i = 0; i < count; i++)
        if (!match_item(m, items[i], entry(top - 1 - i, true))) return false;
    return true;
}

static bool unpack(dv_matcher *m, const dv_pattern *pattern, uint32_t star, dv_subject subject) {
    uint32_t count = pattern->count;
    if (star < count && star > MOST_BEFORE_STAR) {
        dv_front_error(m->c->front, m->at,
                       "too many expressions in star-unpacking sequence pattern");
        return false;
    }
    take(m, subject);
    if (star < count)
        dv_emit_ab(&m->c->emit, DV_OP_UNPACK_EX, star, count - star - 1, m->at);
    else
        dv_emit_a(&m->c->emit, DV_OP_UNPACK_SEQUENCE, count, m->at);
    m->height += count - 1;
    return match_items(m, pattern->items, count);
}

/* With *_ only the items that are looked at are taken, by their numbers. */
static bool pick(dv_matcher *m, const dv_pattern *pattern, uint32_t star, dv_subject subject) {
    for (uint32_t i = 0; i < pattern->count; i++) {
        if (is_wildcard(pattern->items[i])) continue;
        uint32_t own = load_operand(m, subject);
        if (i < star) {
            dv_literal number = {.kind = DV_CONST_INT, .as.integer = i};
            emit_a(m, DV_OP_LOAD_CONST_B, dv_emit_constant(&m->c->emit, &number), 1);
            emit_a(m, DV_OP_LOAD_SUBSCR, own, -1);
        } else {
            dv_emit_ab(&m->c->emit, DV_OP_MATCH_ITEM, pattern->count - i, own, m->at);
        }
        if (!match_item(m, pattern->items[i], entry(m->height - 1, true))) return false;
    }
    return ok(m);
}

/* What a star captures of the items of a tuple that is not made. */
static bool collect(dv_matcher *m, const dv_pattern *star, const dv_subject *items,
                    uint32_t count) {
    if (is_wildcard(star)) return true;
    for (uint32_t i = 0; i < count; i++) dv_matcher_load(m, items[i]);
    emit_a(m, DV_OP_BUILD_LIST, count, 1 - (int)count);
    return match_item(m, star, entry(m->height - 1, true));
}

/* Without the tuple, its length is known. */
static bool match_display(dv_matcher *m, const dv_pattern *pattern, uint32_t star,
                          dv_subject tuple) {
    const dv_subject nothing = entry(0, false);
    uint32_t count = pattern->count, least = star < count ? count - 1 : count;
    bool fits = star < count ? tuple.count >= least : tuple.count == least;
    if (!fits) mismatch(m);
    uint32_t middle = fits ? tuple.count - least : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i > star ? i + middle - 1 : i;
        if (i == star) {
            if (!collect(m, pattern->items[i], tuple.items + (fits ? i : 0), middle)) return false;
        } else if (!match_item(m, pattern->items[i], fits ? tuple.items[at] : nothing)) {
            return false;
        }
    }
    return ok(m);
}

static bool match_sequence(dv_matcher *m, const dv_pattern *pattern, dv_subject subject) {
    uint32_t count = pattern->count, star;
    bool wildcards = true;
    if (!find_star(m, pattern, &star)) return false;
    if (subject.kind == DV_SUBJECT_ITEMS) return match_display(m, pattern, star, subject);
    uint32_t own = load_operand(m, subject);
    dv_emit_ab(&m->c->emit, DV_OP_MATCH_SEQUENCE, star < count ? 2 * count - 1 : 2 * count, own,
               m->at);
    require(m);
    for (uint32_t i = 0; i < count; i++) wildcards = wildcards && is_wildcard(pattern->items[i]);
    if (wildcards) return ok(m);
    if (star < count && is_wildcard(pattern->items[star])) return pick(m, pattern, star, subject);
    return unpack(m, pattern, star, subject);
}

/* ---- Mappings ---- */

/* Equal in a dict: 1, 1.0 and True are. */
static bool are_equal(const dv_literal *a, const dv_literal *b) {
    double numbers[2];
    const dv_literal *both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        const dv_literal *literal = both[i];
        switch (literal->kind) {
        case DV_CONST_INT: numbers[i] = (double)literal->as.integer; break;
        case DV_CONST_TRUE: numbers[i] = 1; break;
        case DV_CONST_FALSE: numbers[i] = 0; break;
        case DV_CONST_FLOAT: numbers[i] = literal->as.real; break;
        case DV_CONST_NONE: return a->kind == b->kind;
        case DV_CONST_STR:
        case DV_CONST_BYTES:
        case DV_CONST_BIGINT:
            return a->kind == b->kind && a->as.text.size == b->as.text.size &&
                   memcmp(a->as.text.data, b->as.text.data, a->as.text.size) == 0;
        default: return a->kind == b->kind && a->as.real == b->as.real;
        }
    }
    if (a->kind == DV_CONST_INT && b->kind == DV_CONST_INT) return a->as.integer == b->as.integer;
    return numbers[0] == numbers[1];
}

static bool check_key(dv_matcher *m, const dv_pattern *pattern, uint32_t i) {
    const dv_expr *key = pattern->keys.items[i];
    if (key->kind == DV_EXPR_FSTRING) {
        dv_front_error(m->c->front, m->at,
                       "mapping pattern keys may only match literals and attribute lookups");
        return false;
    }
    for (uint32_t k = 0; k < i && dv_expr_is_constant(key); k++) {
        const dv_expr *other = pattern->keys.items[k];
        if (!dv_expr_is_constant(other) || !are_equal(&key->as.constant, &other->as.constant))
            continue;
        dv_expr shown = *key;
        if (!dv_unparse(m->c->front, &shown)) return false;
        dv_front_error(m->c->front, m->at, "mapping pattern checks duplicate key (%.*s)",
                       (int)shown.as.constant.as.text.size, shown.as.constant.as.text.data);
        return false;
    }
    return true;
}

/* A dict of what the keys do not name: entry `first` - 1 is the mapping, the keys are behind it. */
static bool capture_rest(dv_matcher *m, const dv_pattern *pattern, uint32_t first) {
    emit_a(m, DV_OP_BUILD_DICT, 0, 1);
    dv_matcher_load(m, entry(first - 1, false));
    emit(m, DV_OP_DICT_UPDATE, -1);
    dv_subject rest = entry(m->height - 1, true);
    for (uint32_t i = 0; i < pattern->keys.count; i++) {
        dv_matcher_load(m, rest);
        dv_matcher_load(m, entry(first + i, false));
        emit_a(m, DV_OP_DELETE_SUBSCR, 3, -2);
    }
    return capture(m, pattern->name, rest);
}

static bool match_mapping(dv_matcher *m, const dv_pattern *pattern, dv_subject subject) {
    uint32_t count = pattern->count, own = load_operand(m, subject);
    bool literals = true;
    dv_emit_ab(&m->c->emit, DV_OP_MATCH_MAPPING, count, own, m->at);
    require(m);
    if (count == 0 && pattern->name == NULL) return ok(m);
    take(m, subject);
    uint32_t first = m->height;
    for (uint32_t i = 0; i < count; i++) {
        dv_expr *key = pattern->keys.items[i];
        if (!check_key(m, pattern, i) || !dv_compile_owned(m->c, key)) return false;
        literals = literals && dv_expr_is_constant(key);
        m->height++;
    }
    if (count > 0) {
        dv_emit_ab(&m->c->emit, DV_OP_MATCH_KEYS, count, literals, m->at);
        m->height += count + 1;
        require(m);
        if (!match_items(m, pattern->items, count)) return false;
    }
    return pattern->name == NULL || capture_rest(m, pattern, first);
}

/* ---- Classes ---- */

/* CPython's errors are at the patterns. */
static bool check_keywords(dv_matcher *m, const dv_pattern *pattern) {
    if (pattern->keyword_count == 0) return true; /* there may be no items at all */
    dv_pattern *const *items = pattern->items + pattern->count - pattern->keyword_count;
    for (uint32_t i = 0; i < pattern->keyword_count; i++) {
        const dv_name *name = pattern->keywords[i];
        if (dv_name_is(name, "__debug__")) {
            dv_front_error(m->c->front, items[i]->at, "cannot assign to __debug__");
            return false;
        }
        for (uint32_t k = i + 1; k < pattern->keyword_count; k++) {
            if (pattern->keywords[k] != name) continue;
            dv_front_error(m->c->front, items[k]->at,
                           "attribute name repeated in class pattern: %.*s", DV_NAME_ARGS(name));
            return false;
        }
    }
    return true;
}

/* The names of the keywords, a constant tuple. */
static uint32_t keyword_names(dv_matcher *m, const dv_pattern *pattern) {
    uint32_t count = pattern->keyword_count;
    dv_literal *names = dv_front_scratch(m->c->front, count * sizeof *names);
    if (names == NULL) return 0;
    for (uint32_t i = 0; i < count; i++) {
        names[i].kind = DV_CONST_STR;
        names[i].as.text = pattern->keywords[i]->text;
    }
    dv_literal tuple = {.kind = DV_CONST_TUPLE};
    tuple.as.tuple.items = names;
    tuple.as.tuple.count = count;
    return dv_emit_constant(&m->c->emit, &tuple);
}

static bool match_class(dv_matcher *m, const dv_pattern *pattern, dv_subject subject) {
    if (!check_keywords(m, pattern)) return false;
    take(m, subject);
    if (!dv_compile_owned(m->c, pattern->value)) return false;
    dv_emit_ab(&m->c->emit, DV_OP_MATCH_CLASS, pattern->count, keyword_names(m, pattern), m->at);
    m->height += pattern->count;
    require(m);
    return match_items(m, pattern->items, pattern->count);
}

/* ---- Alternatives ---- */

static bool is_value(const dv_pattern *pattern) {
    return pattern->kind == DV_PATTERN_VALUE || pattern->kind == DV_PATTERN_SINGLETON;
}

static uint32_t count_names(const dv_pattern *pattern) {
    uint32_t count = pattern->name != NULL;
    if (pattern->kind == DV_PATTERN_OR) return count_names(pattern->items[0]);
    for (uint32_t i = 0; i < pattern->count; i++) count += count_names(pattern->items[i]);
    return count;
}

/* Puts what the alternative binds into the entries from `first` on, in the order of `names`. */
static bool settle(dv_matcher *m, const dv_captures *names, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const dv_capture *bound =
            i < names->count ? find_capture(&m->captures, names->items[i].name) : NULL;
        if (bound == NULL || m->captures.count != count) {
            dv_front_error(m->c->front, m->at, "alternative patterns bind different names");
            return false;
        }
        dv_matcher_load(m, bound->from);
        if (m->height - first - i > MOST_BELOW_SWAP) {
            dv_front_error(m->c->front, m->at, "too many names in alternative patterns");
            return false;
        }
        emit_a(m, DV_OP_SWAP, m->height - first - i, 0);
        emit(m, DV_OP_POP_TOP, -1);
    }
    if (m->captures.count == count) return true;
    dv_front_error(m->c->front, m->at, "alternative patterns bind different names");
    return false;
}

/* All alternatives leave the same entries: what they bind, for which there is room before the first
 * one. */
static bool match_alternatives(dv_matcher *m, const dv_pattern *pattern, dv_subject subject) {
    dv_emitter *e = &m->c->emit;
    const dv_captures outer = m->captures;
    dv_captures names = {0};
    dv_mismatch *const on_mismatch = m->mismatch;
    const bool irrefutable = m->irrefutable;
    uint32_t first = m->height, count = count_names(pattern);
    dv_label matched = dv_emit_new_label(e);
    subject.dies = false;
    for (uint32_t i = 0; i < count; i++) load_none(m);
    for (uint32_t i = 0; i < pattern->count; i++) {
        bool last = i + 1 == pattern->count;
        dv_mismatch next = {.base = first + count};
        m->at = pattern->items[i]->at;
        if (!last && count == 0 && is_value(pattern->items[i])) { /* as in `a or b` */
            if (!test_value(m, pattern->items[i], subject)) return false;
            m->height--;
            dv_emit_branch(e, DV_OP_JUMP_IF_TRUE, matched, 1, m->at);
            continue;
        }
        m->captures = (dv_captures){0};
        m->mismatch = last ? on_mismatch : &next;
        m->irrefutable = last && irrefutable;
        if (!dv_compile_pattern(m, pattern->items[i], subject)) return false;
        if (i == 0) names = m->captures;
        if (!settle(m, &names, first, count)) return false;
        dv_matcher_pop(m, first + count);
        if (last) break;
        dv_emit_jump(e, DV_OP_JUMP, matched, m->at);
        dv_matcher_place(m, &next);
    }
    dv_emit_place(e, matched);
    m->captures = outer;
    m->mismatch = on_mismatch;
    m->irrefutable = irrefutable;
    for (uint32_t i = 0; i < count; i++)
        if (!capture(m, names.items[i].name, entry(first + i, true))) return false;
    return ok(m);
}

/* ---- Everything ---- */

bool dv_compile_pattern(dv_matcher *m, const dv_pattern *pattern, dv_subject subject) {
    m->at = pattern->at;
    switch (pattern->kind) {
    case DV_PATTERN_VALUE:
    case DV_PATTERN_SINGLETON: return match_value(m, pattern, subject);
    case DV_PATTERN_STAR:
    case DV_PATTERN_CAPTURE: return match_capture(m, pattern, subject);
    case DV_PATTERN_AS: return match_as(m, pattern, subject);
    case DV_PATTERN_SEQUENCE: return match_sequence(m, pattern, subject);
    case DV_PATTERN_MAPPING: return match_mapping(m, pattern, subject);
    case DV_PATTERN_CLASS: return match_class(m, pattern, subject);
    case DV_PATTERN_OR: return match_alternatives(m, pattern, subject);
    }
    return false;
}

/* A pattern in another one, which may match everything. */
static bool match_item(dv_matcher *m, const dv_pattern *pattern, dv_subject subject) {
    bool irrefutable = m->irrefutable;
    m->irrefutable = true;
    bool done = dv_compile_pattern(m, pattern, subject);
    m->irrefutable = irrefutable;
    return done;
}
