/* rows.c: sites as rows (rows.h). */
#include "inspect/rows.h"

#include <stdlib.h>

#include "inspect/words.h"

static size_t count_words(const dv_profile *profile, const dv_page *page) {
    size_t count = 0;
    for (const dv_function_counts *f = profile->functions; f; f = f->next)
        if (dv_page_wants(page, f->code)) count += f->code->word_count;
    return count;
}

static int compare(const void *left, const void *right) {
    const dv_row *a = left, *b = right;
    if (a->weight != b->weight) return a->weight < b->weight ? 1 : -1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool make_room(dv_vm *vm, dv_rows *rows, size_t room) {
    *rows = (dv_rows){.room = room + 1};
    rows->rows = dv_heap_alloc(&vm->heap, rows->room * sizeof *rows->rows);
    if (!rows->rows) dv_raise_memory(vm);
    return rows->rows != NULL;
}

static void add(dv_rows *rows, dv_row row, dv_weigh weigh) {
    row.order = (uint32_t)rows->count;
    row.weight = weigh(&row);
    if (row.weight > 0) rows->rows[rows->count++] = row;
}

bool dv_rows_collect(dv_vm *vm, dv_rows *rows, const dv_page *page, dv_weigh weigh) {
    const dv_profile *profile = dv_profile_of(vm);
    if (!make_room(vm, rows, count_words(profile, page))) return false;
    for (const dv_function_counts *f = profile->functions; f; f = f->next)
        for (uint32_t pc = 0; pc < f->code->word_count && dv_page_wants(page, f->code); pc++)
            if (f->sites[pc].executions) add(rows, (dv_row){.function = f, .pc = pc}, weigh);
    qsort(rows->rows, rows->count, sizeof *rows->rows, compare);
    return true;
}

bool dv_rows_collect_functions(dv_vm *vm, dv_rows *rows, const dv_page *page, dv_weigh weigh) {
    const dv_profile *profile = dv_profile_of(vm);
    if (!make_room(vm, rows, count_words(profile, page))) return false;
    for (const dv_function_counts *f = profile->functions; f; f = f->next)
        if (dv_page_wants(page, f->code)) add(rows, (dv_row){.function = f, .pc = DV_NO_PC}, weigh);
    qsort(rows->rows, rows->count, sizeof *rows->rows, compare);
    return true;
}

void dv_rows_free(dv_vm *vm, dv_rows *rows) {
    dv_heap_free(&vm->heap, rows->rows, rows->room * sizeof *rows->rows);
}

uint32_t dv_row_line(const dv_row *row) {
    const dv_position *position = dv_code_position(row->function->code, row->pc);
    return position ? position->line : 0;
}

dv_text dv_code_file(const dv_code *code) {
    dv_text file = code->unit->filename;
    for (uint32_t i = file.size; i > 0; i--)
        if (file.data[i - 1] == '/') return (dv_text){file.data + i, file.size - i};
    return file;
}

void dv_rows_put_source(dv_line *line, const dv_page *page, const dv_code *code, uint32_t number) {
    dv_text text = dv_words_source_line(code->unit, number), file = dv_code_file(code);
    while (text.size && (*text.data == ' ' || *text.data == '\t')) text.data++, text.size--;
    dv_line_text(line, file.data, file.size);
    dv_line_put(line, ":%u in ", number);
    dv_line_text(line, code->qualname.data, code->qualname.size);
    dv_line_put(line, "   ");
    dv_line_colour(line, page, DV_COLOUR_SOURCE);
    dv_line_text(line, text.data, text.size);
}

const char *dv_row_form(const dv_row *row) {
    const dv_site_counts *site = dv_row_site(row);
    return site->form < DV_OP_COUNT ? dv_op_name(site->form) : site->foreign;
}

void dv_rows_json_place(dv_json *json, const dv_code *code, uint32_t line) {
    dv_json_text(json, "function", code->qualname.data, code->qualname.size);
    dv_json_text(json, "file", code->unit->filename.data, code->unit->filename.size);
    dv_json_number(json, "line", line);
}

void dv_rows_json_site(dv_json *json, const dv_row *row) {
    dv_rows_json_place(json, row->function->code, dv_row_line(row));
    dv_json_number(json, "pc", row->pc);
    dv_json_string(json, "instruction", dv_op_name(dv_row_op(row)));
    dv_json_string(json, "form", dv_row_form(row));
    dv_json_bool(json, "quickens", dv_profile_quickens(dv_row_op(row)));
}

void dv_rows_json_types(dv_vm *vm, dv_json *json, const dv_row *row) {
    const dv_types_seen *types = dv_row_site(row)->types;
    dv_json_begin(json, "types", '[');
    for (int i = 0; types && i < DV_PROFILE_TYPES && types->entries[i].executions; i++) {
        dv_json_begin(json, NULL, '{');
        dv_json_begin(json, "operands", '[');
        for (int k = 0; k < DV_PROFILE_OPERANDS && types->entries[i].operands.keys[k]; k++) {
            dv_line line = {0};
            dv_words_key(vm, &line, types->entries[i].operands.keys[k]);
            dv_json_text(json, NULL, line.text, line.size);
        }
        dv_json_end(json, ']');
        dv_json_number(json, "executions", types->entries[i].executions);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
    dv_json_number(json, "other_types", types ? types->others : 0);
}
