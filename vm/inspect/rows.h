/* rows.h: sites of a profile as the rows of a table, the weightiest first. */
#ifndef DV_INSPECT_ROWS_H
#define DV_INSPECT_ROWS_H

#include "inspect/json.h"
#include "inspect/profile.h"

typedef struct dv_row {
    const dv_function_counts *function;
    uint32_t pc;
    uint32_t
        order; /* of first execution of the function, then of the code: decides between equals */
    uint64_t weight;
} dv_row;

typedef struct dv_rows {
    dv_row *rows;
    size_t count, room;
} dv_rows;

/* 0: the site is not in the table. */
typedef uint64_t (*dv_weigh)(const dv_row *row);

/* The sites of the functions that the page wants.  False: out of memory (raised). */
bool dv_rows_collect(dv_vm *vm, dv_rows *rows, const dv_page *page, dv_weigh weigh) DV_MUST_CHECK;
/* A row for each function, whose pc is DV_NO_PC. */
bool dv_rows_collect_functions(dv_vm *vm, dv_rows *rows, const dv_page *page,
                               dv_weigh weigh) DV_MUST_CHECK;
void dv_rows_free(dv_vm *vm, dv_rows *rows);

static inline const dv_site_counts *dv_row_site(const dv_row *row) {
    return &row->function->sites[row->pc];
}
static inline uint32_t dv_row_op(const dv_row *row) {
    return row->function->code->words[row->pc] & 0xFF;
}
uint32_t dv_row_line(const dv_row *row); /* of the source; 0: none */
/* The file's name without its directory. */
dv_text dv_code_file(const dv_code *code);
/* The form that the site had last, as extensions name theirs only in a listing. */
const char *dv_row_form(const dv_row *row);

/* "file:7 in f   text of the line" */
void dv_rows_put_source(dv_line *line, const dv_page *page, const dv_code *code, uint32_t number);

/* Members of a JSON object: where the code is; which site it is; what operands it saw. */
void dv_rows_json_place(dv_json *json, const dv_code *code, uint32_t line);
void dv_rows_json_site(dv_json *json, const dv_row *row);
void dv_rows_json_types(dv_vm *vm, dv_json *json, const dv_row *row);

#endif
