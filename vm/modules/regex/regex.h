/* regex.h: what the files of the module _re share: patterns, matches, and finding.
 *
 * Invariants
 *  1. Texts whose characters are all below U+0100 (bytes among them) are searched where they are;
 *     of others there is a copy of 32 bits for each character while the search lasts.
 *  2. PCRE2's memory is the VM's, but for the machine code that it makes of a pattern; that it
 *     makes for no sandboxed VM.
 *  3. A search that takes long counts its work, and so can be interrupted, stopped and limited. */
#ifndef DV_MODULES_REGEX_REGEX_H
#define DV_MODULES_REGEX_REGEX_H

#include "core/vm.h"
#include "types/text/str.h"

enum { DV_NARROW, DV_WIDE, DV_WIDTHS }; /* 8 and 32 bits */

typedef enum dv_regex_mode { DV_SEARCH, DV_MATCH, DV_FULLMATCH, DV_MODES } dv_regex_mode;

/* A pattern as PCRE2 has compiled it, in one width and mode, when it was needed first. */
typedef struct dv_regex_code {
    void *code;
    void *counting; /* the same with callouts, in which work is counted */
    uint32_t uses;  /* so far, up to what lets machine code be made */
    bool fast;      /* there is machine code */
} dv_regex_code;

typedef struct dv_pattern {
    dv_object header;
    struct dv_pattern *next, **link; /* in the VM's list of those that PCRE2 knows */
    dv_value source;                 /* str or bytes */
    dv_value names;                  /* groupindex: a mapping proxy */
    dv_value names_by_number;        /* tuple: names of groups, the first for the whole; or None */
    dv_value closed;                 /* tuple: numbers of groups in the order of their ends */
    dv_value texts[DV_WIDTHS];       /* for PCRE2, str; None: there is none of this width */
    dv_value template_of, template;  /* the last text of a replacement, and what it means */
    int64_t flags;
    uint32_t groups;
    bool by_properties; /* letters, digits and case are Unicode's */
    dv_regex_code codes[DV_WIDTHS][DV_MODES];
    void *found[DV_WIDTHS]; /* PCRE2's record of a match */
} dv_pattern;

/* What is searched. */
typedef struct dv_subject {
    dv_value given;  /* by the program: borrowed */
    dv_value string; /* str or bytes-like: the same, or of another buffer a copy as bytes, owned */
    int64_t length;
    int width;
    uint32_t *copy; /* or NULL: it is where the string has it */
} dv_subject;

typedef struct dv_match {
    dv_object header;
    dv_value pattern, string;
    dv_value text;    /* that was searched: the string, or the copy of a buffer */
    int64_t from, to; /* pos and endpos */
    int64_t spans[];  /* start and end of each group, the whole first; -1: it took no part */
} dv_match;

extern const dv_type dv_pattern_type, dv_match_type, dv_regex_scanner_type;

static inline dv_pattern *dv_as_pattern(dv_value v) { return (dv_pattern *)dv_as_object(v); }
static inline dv_match *dv_as_match(dv_value v) { return (dv_match *)dv_as_object(v); }

/* ---- PCRE2 (library.c) ---- */

/* Loads it, if that has not been done; false: raised, as ImportError where it is missing. */
bool dv_regex_load(dv_vm *vm) DV_MUST_CHECK;
/* Compiles it for searches; false: raised.  What is too large for 8 bits goes on without them. */
bool dv_regex_prepare(dv_vm *vm, dv_pattern *pattern) DV_MUST_CHECK;
/* Looks for the pattern from `start` on, before `end`; `not_empty`: a match at `start` is not
 * empty. 1: *spans are the groups' (SIZE_MAX: took no part), until the next search; 0: none; -1:
 * raised. */
int dv_regex_find(dv_vm *vm, dv_pattern *pattern, dv_regex_mode mode, const dv_subject *subject,
                  int64_t start, int64_t end, bool not_empty, const size_t **spans);
/* Frees what PCRE2 has of the pattern (its machine code is not the VM's memory). */
void dv_regex_forget(dv_vm *vm, dv_pattern *pattern);

/* ---- Subjects (pattern.c) ---- */

/* False: raised.  Until dv_subject_close a bytearray keeps its length. */
bool dv_subject_open(dv_vm *vm, const dv_pattern *pattern, dv_value given,
                     dv_subject *subject) DV_MUST_CHECK;
void dv_subject_close(dv_vm *vm, dv_subject *subject);
/* string[start:end], as str or bytes: new. */
dv_value dv_subject_part(dv_vm *vm, dv_value string, int64_t start, int64_t end);

/* ---- Matches (match.c) ---- */

dv_value dv_match_new(dv_vm *vm, dv_pattern *pattern, const dv_subject *subject, int64_t from,
                      int64_t to, const size_t *spans);
static inline bool dv_is_match(dv_value v) { return dv_is_shape(v, DV_T_MATCH); }
/* Appends what a replacement makes of the match; `template` has its texts and the numbers of its
 * groups by turns.  False: raised. */
bool dv_match_expand(dv_vm *vm, dv_value template, dv_value string, const int64_t *spans,
                     dv_builder *out) DV_MUST_CHECK;
/* Appends a part of a text: a str, or bytes where the pattern is of bytes; else TypeError. */
bool dv_regex_append(dv_vm *vm, const dv_pattern *pattern, dv_builder *out, int64_t number,
                     dv_value part) DV_MUST_CHECK;
/* What was appended, as str or bytes. */
dv_value dv_regex_finish(const dv_pattern *pattern, dv_builder *out);
/* The parts of a replacement's text: a tuple, borrowed from the pattern; EMPTY: raised. */
dv_value dv_pattern_template(dv_vm *vm, dv_pattern *pattern, dv_value text);

#endif
