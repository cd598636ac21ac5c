/* library.c: PCRE2, loaded when _re is imported first: there are two of its libraries, for two
 * widths of characters.
 *
 * Invariant 1: a search goes on for some milliseconds at most without counting its work.  One that
 * takes more steps is begun again with callouts, and one of a long text looks at a slice of places
 * to begin at a time. */
#include <dlfcn.h>
#include <string.h>
#include <time.h>

#include "core/upcall.h"
#include "core/work.h"
#include "modules/modules.h"
#include "modules/regex/regex.h"
#include "types/binary/bytes.h"
#include "types/text/str.h"

#ifdef DYNVM_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 0
#include <pcre2.h>

enum {
    QUICK_STEPS = 500000, /* of a search at one place, before work is counted: some 10 ms; ... */
    LEAST_STEPS = 2000,   /* ... fewer in a long text, through all of which a step may go */
    PREFIX = 16,          /* bytes in front of a block, in which its size is */
    FAST_USES = 12,       /* after so many uses machine code is made, or at once for ... */
    FAST_LENGTH = 2000,   /* ... so long a text */
    TOO_LARGE = 120,      /* PCRE2's error: with 8 bits code has 64 KB at most */
    SLICE = 16,           /* places to begin, at first, in a text of ... */
    LONG_TEXT = 2000,     /* ... so many characters */
    MOST_SLICE = 1 << 16
};

/* The functions of one library; PCRE2's types, which differ by width, are void here. */
typedef struct pcre {
    void *(*compile)(const void *text, size_t length, uint32_t options, int *error, size_t *at,
                     void *context);
    void (*code_free)(void *code);
    int (*jit_compile)(void *code, uint32_t options);
    int (*jit_match)(const void *code, const void *text, size_t length, size_t start,
                     uint32_t options, void *data, void *context);
    int (*match)(const void *code, const void *text, size_t length, size_t start, uint32_t options,
                 void *data, void *context);
    void *(*match_data_create)(uint32_t pairs, void *context);
    void (*match_data_free)(void *data);
    size_t *(*get_ovector_pointer)(void *data);
    void *(*general_context_create)(void *(*take)(size_t size, void *vm),
                                    void (*give)(void *block, void *vm), void *vm);
    void *(*compile_context_create)(void *general);
    void *(*match_context_create)(void *general);
    int (*set_newline)(void *context, uint32_t newline);
    int (*set_match_limit)(void *context, uint32_t limit);
    int (*set_offset_limit)(void *context, size_t limit);
    int (*set_callout)(void *context, int (*callout)(void *block, void *vm), void *vm);
    void *general, *compiling, *matching, *counting; /* contexts; the last one has the callout */
} pcre;

/* vm->regex */
struct dv_regex {
    pcre widths[DV_WIDTHS];
    dv_pattern *patterns; /* that have been compiled */
    int64_t step;         /* work of a step that is counted */
};

/* ---- Loading ---------------------------------------------------------------------------------*/

static void *take(size_t size, void *vm) {
    char *block = dv_heap_alloc(&((dv_vm *)vm)->heap, size + PREFIX);
    if (!block) return NULL;
    memcpy(block, &size, sizeof size);
    return block + PREFIX;
}

static void give(void *block, void *vm) {
    if (!block) return;
    char *begin = (char *)block - PREFIX;
    size_t size;
    memcpy(&size, begin, sizeof size);
    dv_heap_free(&((dv_vm *)vm)->heap, begin, size + PREFIX);
}

static int count_step(void *block, void *vm) {
    (void)block;
    return dv_work(vm, ((dv_vm *)vm)->regex->step) ? 0 : PCRE2_ERROR_CALLOUT;
}

static bool find(void *library, const char *name, const char *width, void *function) {
    char symbol[64] = "pcre2_";
    strcat(strcat(symbol, name), width);
    void *found = dlsym(library, symbol);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool find_all(void *library, const char *width, pcre *p) {
#define FIND(name) find(library, #name, width, &p->name)
    return FIND(compile) && FIND(code_free) && FIND(jit_compile) && FIND(jit_match) &&
           FIND(match) && FIND(match_data_create) && FIND(match_data_free) &&
           FIND(get_ovector_pointer) && FIND(general_context_create) &&
           FIND(compile_context_create) && FIND(match_context_create) && FIND(set_newline) &&
           FIND(set_match_limit) && FIND(set_offset_limit) && FIND(set_callout);
#undef FIND
}

static bool make_contexts(dv_vm *vm, pcre *p) {
    if (!(p->general = p->general_context_create(take, give, vm)) ||
        !(p->compiling = p->compile_context_create(p->general)) ||
        !(p->matching = p->match_context_create(p->general)) ||
        !(p->counting = p->match_context_create(p->general)))
        return false;
    p->set_newline(p->compiling, PCRE2_NEWLINE_LF);
    p->set_match_limit(p->counting, UINT32_MAX);
    p->set_callout(p->counting, count_step, vm);
    return true;
}

/* The libraries stay loaded, as other VMs may use them, too. */
static bool load(dv_vm *vm, struct dv_regex *regex) {
    static const char *const names[] = {"libpcre2-8.so.0", "libpcre2-32.so.0"};
    static const char *const widths[] = {"_8", "_32"};
    for (int i = 0; i < DV_WIDTHS; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library || !find_all(library, widths[i], &regex->widths[i])) {
            dv_raise(vm, DV_E_IMPORT_ERROR, "re needs PCRE2: %s is missing (Debian: libpcre2-dev)",
                     names[i]);
            return false;
        }
        if (make_contexts(vm, &regex->widths[i])) continue;
        dv_raise_memory(vm);
        return false;
    }
    return true;
}

bool dv_regex_load(dv_vm *vm) {
    if (vm->regex) return true;
    struct dv_regex *regex = dv_heap_alloc(&vm->heap, sizeof *regex);
    if (!regex) {
        dv_raise_memory(vm);
        return false;
    }
    memset(regex, 0, sizeof *regex);
    if (load(vm, regex)) {
        vm->regex = regex;
        return true;
    }
    dv_heap_free(&vm->heap, regex, sizeof *regex); /* its contexts go with the VM */
    return false;
}

/* ---- Compiling -------------------------------------------------------------------------------*/

static uint32_t options_of(const dv_pattern *pattern, dv_regex_mode mode) {
    enum { IGNORECASE = 2, MULTILINE = 8, DOTALL = 16 }; /* as re has them */
    uint32_t options = PCRE2_ALT_CIRCUMFLEX | PCRE2_NEVER_UTF;
    if (pattern->flags & IGNORECASE) options |= PCRE2_CASELESS;
    if (pattern->flags & MULTILINE) options |= PCRE2_MULTILINE;
    if (pattern->flags & DOTALL) options |= PCRE2_DOTALL;
    if (pattern->by_properties) options |= PCRE2_UCP;
    if (mode == DV_SEARCH) options |= PCRE2_USE_OFFSET_LIMIT;
    if (mode != DV_SEARCH) options |= PCRE2_ANCHORED;
    if (mode == DV_FULLMATCH) options |= PCRE2_ENDANCHORED;
    return options;
}

/* NULL: raised, or it is too large for 8 bits. */
static void *compile(dv_vm *vm, const dv_pattern *pattern, int width, uint32_t options) {
    const pcre *p = &vm->regex->widths[width];
    const dv_str *text = dv_as_str(pattern->texts[width]); /* ASCII */
    const size_t length = (size_t)text->length, size = length * (width == DV_WIDE ? 4 : 1);
    char *copy = dv_heap_alloc(&vm->heap, size + 1);
    int error = 0;
    size_t at = 0;
    void *code = NULL;
    if (copy) {
        dv_str_copy(copy, width == DV_WIDE ? 4 : 1, text->data, text->kind, text->length);
        code = p->compile(copy, length, options, &error, &at, p->compiling);
        dv_heap_free(&vm->heap, copy, size + 1);
    }
    if (code || (width == DV_NARROW && error == TOO_LARGE)) return code;
    if (!copy || error == PCRE2_ERROR_HEAP_FAILED)
        dv_raise_memory(vm);
    else
        dv_raise(vm, DV_E_RUNTIME_ERROR, "PCRE2 cannot compile the pattern (its error %d): %V",
                 error, pattern->source);
    return NULL;
}

bool dv_regex_prepare(dv_vm *vm, dv_pattern *pattern) {
    int width = dv_is_none(pattern->texts[DV_NARROW]) ? DV_WIDE : DV_NARROW;
    const uint32_t options = options_of(pattern, DV_SEARCH);
    void *code = compile(vm, pattern, width, options);
    if (!code && width == DV_NARROW && dv_is_empty(vm->error)) {
        dv_release(vm, pattern->texts[DV_NARROW]);
        pattern->texts[DV_NARROW] = DV_NONE;
        width = DV_WIDE;
        code = compile(vm, pattern, width, options);
    }
    if (!code) return false;
    pattern->codes[width][DV_SEARCH].code = code;
    pattern->next = vm->regex->patterns, pattern->link = &vm->regex->patterns;
    if (pattern->next) pattern->next->link = &pattern->next;
    vm->regex->patterns = pattern;
    return true;
}

static bool prepare(dv_vm *vm, dv_pattern *pattern, int width, dv_regex_mode mode, int64_t length) {
    const pcre *p = &vm->regex->widths[width];
    dv_regex_code *c = &pattern->codes[width][mode];
    if (!c->code && !(c->code = compile(vm, pattern, width, options_of(pattern, mode))))
        return false;
    if (!pattern->found[width])
        pattern->found[width] = p->match_data_create(pattern->groups + 1, p->general);
    if (!pattern->found[width]) {
        dv_raise_memory(vm);
        return false;
    }
    if (c->uses < FAST_USES && !vm->sandboxed) {
        c->uses = length >= FAST_LENGTH ? FAST_USES : c->uses + 1;
        if (c->uses == FAST_USES) c->fast = p->jit_compile(c->code, PCRE2_JIT_COMPLETE) == 0;
    }
    return true;
}

void dv_regex_forget(dv_vm *vm, dv_pattern *pattern) {
    if (!pattern->link) return; /* PCRE2 has nothing of it */
    if (pattern->next) pattern->next->link = pattern->link;
    *pattern->link = pattern->next;
    pattern->link = NULL;
    for (int width = 0; width < DV_WIDTHS; width++) {
        const pcre *p = &vm->regex->widths[width];
        for (int mode = 0; mode < DV_MODES; mode++) {
            p->code_free(pattern->codes[width][mode].code);
            p->code_free(pattern->codes[width][mode].counting);
        }
        p->match_data_free(pattern->found[width]);
    }
    memset(pattern->codes, 0, sizeof pattern->codes);
    memset(pattern->found, 0, sizeof pattern->found);
}

void dv_regex_end(dv_vm *vm) {
    while (vm->regex && vm->regex->patterns) dv_regex_forget(vm, vm->regex->patterns);
}

/* ---- Searching -------------------------------------------------------------------------------*/

typedef struct search {
    dv_vm *vm;
    const pcre *p;
    dv_pattern *pattern;
    dv_regex_mode mode;
    int width;
    const void *text;
    size_t end;
} search;

static int run(const search *s, const void *code, size_t start, uint32_t options, void *found,
               void *context) {
    int result = PCRE2_ERROR_JIT_STACKLIMIT;
    if (s->pattern->codes[s->width][s->mode].fast)
        result = s->p->jit_match(code, s->text, s->end, start, options, found, context);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT)
        result = s->p->match(code, s->text, s->end, start, options | PCRE2_NO_JIT, found, context);
    return result;
}

static int once(const search *s, size_t start, size_t limit, uint32_t options) {
    const size_t steps = QUICK_STEPS / (1 + (s->end - start) / 256);
    s->p->set_match_limit(s->p->matching, (uint32_t)(steps > LEAST_STEPS ? steps : LEAST_STEPS));
    s->p->set_offset_limit(s->p->matching, limit);
    return run(s, s->pattern->codes[s->width][s->mode].code, start, options,
               s->pattern->found[s->width], s->p->matching);
}

/* The host may run what searches for the pattern, too, while work is counted: the record of the
 * match is another one, which becomes the pattern's. */
static int counting(const search *s, size_t start, uint32_t options) {
    dv_regex_code *c = &s->pattern->codes[s->width][s->mode];
    if (!c->counting) {
        c->counting = compile(s->vm, s->pattern, s->width,
                              options_of(s->pattern, s->mode) | PCRE2_AUTO_CALLOUT);
        if (!dv_is_empty(s->vm->error)) return PCRE2_ERROR_CALLOUT;
        if (c->counting && c->fast)
            c->fast = s->p->jit_compile(c->counting, PCRE2_JIT_COMPLETE) == 0;
    }
    void *found = s->p->match_data_create(s->pattern->groups + 1, s->p->general);
    if (!found) return PCRE2_ERROR_NOMEMORY;
    s->vm->regex->step = 2 + (int64_t)(s->end - start) / 32;
    const int result =
        run(s, c->counting ? c->counting : c->code, start, options, found, s->p->counting);
    s->p->match_data_free(s->pattern->found[s->width]);
    s->pattern->found[s->width] = found;
    return result;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Looks at so many places to begin at a time that a slice takes about a millisecond; *at: where the
 * last slice begins. */
static int in_slices(const search *s, size_t start, uint32_t options, size_t *at) {
    size_t slice = SLICE;
    int64_t before = now();
    for (*at = start;; options = 0) {
        const size_t limit = s->end - *at > slice ? *at + slice : s->end;
        const int result = once(s, *at, limit, options);
        if (result != PCRE2_ERROR_NOMATCH || limit == s->end) return result;
        *at = limit + 1;
        const int64_t after = now(), took = after - before;
        if (!dv_work(s->vm, took / 10)) return PCRE2_ERROR_CALLOUT;
        if (took < 500000 && slice < MOST_SLICE) slice *= 2;
        if (took > 2000000 && slice > 16) slice /= 4;
        before = after;
    }
}

int dv_regex_find(dv_vm *vm, dv_pattern *pattern, dv_regex_mode mode, const dv_subject *subject,
                  int64_t start, int64_t end, bool not_empty, const size_t **spans) {
    enum { FIND = 15, PASSED = 8 }; /* units of a search; code points that are passed in one */
    search s = {.vm = vm,
                .p = &vm->regex->widths[subject->width],
                .pattern = pattern,
                .mode = mode,
                .width = subject->width,
                .text = subject->copy,
                .end = (size_t)end};
    if (start > end) return 0;
    if (!s.text)
        s.text = dv_is_bytes_like(subject->string) ? dv_as_bytes(subject->string)->data
                                                   : dv_as_str(subject->string)->data;
    if (!dv_work(vm, FIND) || !prepare(vm, pattern, s.width, mode, end - start)) return -1;
    const uint32_t options = not_empty ? PCRE2_NOTEMPTY_ATSTART : 0;
    size_t at = (size_t)start;
    int result = mode == DV_SEARCH && end - start > LONG_TEXT ? in_slices(&s, at, options, &at)
                                                              : once(&s, at, PCRE2_UNSET, options);
    if (result == PCRE2_ERROR_MATCHLIMIT)
        result = counting(&s, at, at == (size_t)start ? options : 0);
    if (result > 0) {
        *spans = s.p->get_ovector_pointer(pattern->found[s.width]);
        dv_work_owe(vm, (int64_t)((*spans)[1] - at) / PASSED);
        return 1;
    }
    if (result == PCRE2_ERROR_NOMATCH) {
        dv_work_owe(vm, (end - (int64_t)at) / PASSED);
        return 0;
    }
    if (result == PCRE2_ERROR_NOMEMORY || result == PCRE2_ERROR_HEAPLIMIT)
        dv_raise_memory(vm);
    else if (dv_is_empty(vm->error))
        dv_raise(vm, DV_E_RUNTIME_ERROR, "PCRE2 gave the search up (its error %d)", result);
    return -1;
}

#else

bool dv_regex_load(dv_vm *vm) {
    dv_raise(vm, DV_E_IMPORT_ERROR,
             "re needs PCRE2, without which this dynvm was built (Debian: libpcre2-dev)");
    return false;
}

bool dv_regex_prepare(dv_vm *vm, dv_pattern *pattern) {
    (void)pattern;
    return dv_regex_load(vm);
}

int dv_regex_find(dv_vm *vm, dv_pattern *pattern, dv_regex_mode mode, const dv_subject *subject,
                  int64_t start, int64_t end, bool not_empty, const size_t **spans) {
    (void)pattern, (void)mode, (void)subject, (void)start, (void)end, (void)not_empty, (void)spans;
    return dv_regex_load(vm) ? 0 : -1;
}

void dv_regex_forget(dv_vm *vm, dv_pattern *pattern) { (void)vm, (void)pattern; }

void dv_regex_end(dv_vm *vm) { (void)vm; }

#endif
