/* extensions.c: what became of the sites that extensions were asked about (extensions.h). */
#include "inspect/extensions.h"

#include "inspect/words.h"

/* ---- Finding ---- */

bool dv_extensions_find(dv_vm *vm, const dv_row *row, dv_foreign_report *report) {
    if (!vm->hooks.plugin.report) return false;
    for (const dv_thread *thread = vm->codes; thread; thread = thread->next) {
        if (thread->code != row->function->code || !thread->cells) continue;
        const dv_cell *cell = thread->cells + thread->cell_at[row->pc];
        if (vm->hooks.plugin.report(vm, cell, report)) return true;
    }
    return false;
}

static uint64_t executions(const dv_row *row) {
    return dv_profile_quickens(dv_row_op(row)) ? dv_row_site(row)->executions : 0;
}

/* A row and what is known of it, one after the other. */
typedef struct site {
    const dv_row *row;
    dv_foreign_report report;
} site;
static bool next_site(dv_vm *vm, const dv_rows *rows, size_t *at, site *found) {
    while (*at < rows->count) {
        found->row = &rows->rows[(*at)++];
        if (dv_extensions_find(vm, found->row, &found->report)) return true;
    }
    return false;
}

static uint32_t column_of(const dv_row *row) {
    const dv_position *position = dv_code_position(row->function->code, row->pc);
    return position ? position->column + 1u : 0;
}

/* ---- Sums ---- */

enum { ONE, TWO, MORE, GROUPS };
static const char *const groups[GROUPS] = {"one", "two", "more"};

typedef struct sums {
    uint64_t sites, hits, misses, generic;
    uint64_t types[GROUPS];       /* sites by combinations of operands' types */
    uint64_t derivatives[GROUPS]; /* ... and by how many derivatives they had */
    dv_notes notes, counts;
} sums;

static int group_of(uint64_t number) { return number > 2 ? MORE : number == 2 ? TWO : ONE; }

static uint64_t combinations(const dv_types_seen *types) {
    uint64_t n = 0;
    while (types && n < DV_PROFILE_TYPES && types->entries[n].executions) n++;
    return n + (types && types->others);
}

static void add_notes(dv_notes *sum, const dv_notes *notes) {
    for (int i = 0; i < DV_MOST_NOTES && notes->all[i].why; i++)
        dv_notes_add(sum, notes->all[i].why, notes->all[i].count);
}

static sums sum_up(dv_vm *vm, const dv_rows *rows) {
    sums s = {0};
    site found;
    for (size_t at = 0; next_site(vm, rows, &at, &found);) {
        const dv_site_counts *counts = dv_row_site(found.row);
        s.sites++;
        s.hits += counts->hits;
        s.misses += counts->misses;
        s.generic += counts->generic;
        if (counts->types) s.types[group_of(combinations(counts->types))]++;
        if (found.report.times) s.derivatives[group_of(found.report.times)]++;
        add_notes(&s.notes, &found.report.notes);
        add_notes(&s.counts, &found.report.counts);
    }
    return s;
}

/* ---- `stats`: text ---- */

static void list_groups(const dv_page *page, const char *title, const uint64_t *counts) {
    dv_line line = {0};
    dv_line_put(&line, "  %s: one %llu, two %llu, more %llu", title,
                (unsigned long long)counts[ONE], (unsigned long long)counts[TWO],
                (unsigned long long)counts[MORE]);
    dv_page_line(page, &line);
}

static void list_notes(const dv_page *page, const dv_notes *notes, const char *indent) {
    dv_line line = {0};
    for (int i = 0; i < DV_MOST_NOTES && notes->all[i].why; i++) {
        dv_line_put(&line, "%s%10llu  %s", indent, (unsigned long long)notes->all[i].count,
                    notes->all[i].why);
        dv_page_line(page, &line);
    }
}

static void list_sites(dv_vm *vm, const dv_page *page, const dv_rows *rows) {
    dv_line line = {0};
    site found;
    uint32_t shown = 0;
    for (size_t at = 0; shown < page->top && next_site(vm, rows, &at, &found);) {
        if (!found.report.notes.all[0].why && !found.report.counts.all[0].why) continue;
        shown++;
        dv_rows_put_source(&line, page, found.row->function->code, dv_row_line(found.row));
        dv_page_line(page, &line);
        list_notes(page, &found.report.notes, "  ");
        list_notes(page, &found.report.counts, "  ");
    }
}

bool dv_extensions_list(dv_vm *vm, const dv_page *page) {
    dv_rows rows;
    dv_line line = {0};
    if (!dv_rows_collect(vm, &rows, page, executions)) return false;
    const sums s = sum_up(vm, &rows);
    if (s.sites) {
        dv_page_text(page, "\n");
        dv_line_colour(&line, page, DV_COLOUR_HEADING);
        dv_line_put(&line, "Sites that extensions were asked about");
        dv_page_line(page, &line);
        dv_line_put(&line, "  %llu sites: %llu hits, %llu misses, %llu generic",
                    (unsigned long long)s.sites, (unsigned long long)s.hits,
                    (unsigned long long)s.misses, (unsigned long long)s.generic);
        dv_page_line(page, &line);
        list_groups(page, "sites by combinations of types", s.types);
        list_groups(page, "sites by derivatives they had", s.derivatives);
        list_notes(page, &s.notes, "");
        list_notes(page, &s.counts, "");
        list_sites(vm, page, &rows);
    }
    dv_rows_free(vm, &rows);
    return true;
}

/* ---- `stats`: JSON ---- */

static void json_groups(dv_json *json, const char *name, const uint64_t *counts) {
    dv_json_begin(json, name, '{');
    for (int i = 0; i < GROUPS; i++) dv_json_number(json, groups[i], counts[i]);
    dv_json_end(json, '}');
}

static void json_notes(dv_json *json, const char *name, const dv_notes *notes) {
    dv_json_begin(json, name, '{');
    for (int i = 0; i < DV_MOST_NOTES && notes->all[i].why; i++)
        dv_json_number(json, notes->all[i].why, notes->all[i].count);
    dv_json_end(json, '}');
}

static void json_place(dv_json *json, const site *found) {
    dv_rows_json_site(json, found->row);
    dv_json_number(json, "column", column_of(found->row));
}

bool dv_extensions_json(dv_vm *vm, dv_json *json) {
    dv_rows rows;
    site found;
    if (!dv_rows_collect(vm, &rows, json->page, executions)) return false;
    const sums s = sum_up(vm, &rows);
    dv_json_begin(json, "extensions", '{');
    dv_json_number(json, "count", s.sites);
    dv_json_number(json, "hits", s.hits);
    dv_json_number(json, "misses", s.misses);
    dv_json_number(json, "generic", s.generic);
    json_groups(json, "types", s.types);
    json_groups(json, "derivatives", s.derivatives);
    json_notes(json, "reasons", &s.notes);
    json_notes(json, "counts", &s.counts);
    dv_json_begin(json, "sites", '[');
    for (size_t at = 0; next_site(vm, &rows, &at, &found);) {
        dv_json_begin(json, NULL, '{');
        json_place(json, &found);
        dv_json_number(json, "derivatives", found.report.times);
        json_notes(json, "reasons", &found.report.notes);
        json_notes(json, "counts", &found.report.counts);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
    dv_json_end(json, '}');
    dv_rows_free(vm, &rows);
    return true;
}

/* ---- `explain` ---- */

bool dv_expressions_list(dv_vm *vm, const dv_page *page) {
    enum { HOT = 100 }; /* executions */
    dv_rows rows;
    dv_line line = {0};
    site found;
    uint32_t shown = 0;
    if (!dv_rows_collect(vm, &rows, page, executions)) return false;
    for (size_t at = 0; shown < page->top && next_site(vm, &rows, &at, &found);) {
        if (!found.report.unfused || dv_row_site(found.row)->executions < HOT) continue;
        if (!shown++)
            dv_page_text(page, "\nexpressions that are executed one operation at a time\n");
        dv_page_text(page, "\n");
        dv_rows_put_source(&line, page, found.row->function->code, dv_row_line(found.row));
        dv_page_line(page, &line);
        dv_line_put(&line, "    ");
        dv_words_instruction(vm, &line, found.row->function->code, found.row->pc);
        dv_line_put(&line, ", column %u, %llu times", column_of(found.row),
                    (unsigned long long)dv_row_site(found.row)->executions);
        dv_page_line(page, &line);
        dv_line_put(&line, "    why:  %s", found.report.unfused);
        dv_page_line(page, &line);
    }
    dv_rows_free(vm, &rows);
    return true;
}

/* Behind the last character of the expression. */
static void json_end(dv_json *json, const dv_row *row) {
    const dv_position *position = dv_code_position(row->function->code, row->pc);
    dv_json_number(json, "end_line", position ? position->end_line : 0);
    dv_json_number(json, "end_column", position ? position->end_column + 1u : 0);
}

bool dv_expressions_json(dv_vm *vm, dv_json *json) {
    dv_rows rows;
    site found;
    if (!dv_rows_collect(vm, &rows, json->page, executions)) return false;
    dv_json_begin(json, "expressions", '[');
    for (size_t at = 0; next_site(vm, &rows, &at, &found);) {
        if (!found.report.unfused && !found.report.fused) continue;
        dv_json_begin(json, NULL, '{');
        json_place(json, &found);
        json_end(json, found.row);
        dv_json_number(json, "executions", dv_row_site(found.row)->executions);
        if (found.report.fused)
            dv_json_string(json, "fused", found.report.fused);
        else
            dv_json_string(json, "reason", found.report.unfused);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
    dv_rows_free(vm, &rows);
    return true;
}
