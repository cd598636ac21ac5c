/* where.c: where the repository has what a listing names (where.h). */
#include "inspect/where.h"

#include "quicken/fuse.h"

enum { BLOCK_COLUMN = 37, CHOOSER_COLUMN = 71 };

/* ---- What a cell is, and how far it reaches ---- */

/* The opcode of exactly this handler; DV_OP_COUNT: it is an extension's. */
static uint32_t exact_op(dv_handler handler) {
    for (uint32_t op = 0; op < DV_OP_COUNT; op++) {
        if (DV_HAVE_TAIL && dv_handlers_tail[op] == handler) return op;
        if (DV_HAVE_TRAMPOLINE && dv_handlers_trampoline[op] == handler) return op;
    }
    return DV_OP_COUNT;
}

/* Instructions that a derivative or a fusion does the work of. */
static uint32_t reach_of(uint32_t op) {
    const dv_op_info *info = &dv_op_infos[op];
    const uint32_t derivative = info->kind == DV_KIND_FUSION ? info->family : op;
    return info->load_count + 1 + info->stores + (dv_op_infos[derivative].covers != DV_OP_NOP) +
           info->behind;
}

void dv_where_name(void *named, uint32_t op) { ((dv_named *)named)->ops[op] = 1; }

void dv_where_name_foreign(void *all, const dv_foreign_form *form) {
    dv_named *named = all;
    uint32_t i = 0;
    while (i < named->foreign_count && strcmp(named->foreign[i].name, form->name) != 0) i++;
    if (i == DV_FOREIGN_NAMES) return;
    named->foreign[i] = *form;
    if (i == named->foreign_count) named->foreign_count++;
}

static uint32_t look_at_foreign(dv_vm *vm, const dv_thread *thread, uint32_t pc, dv_named *named) {
    const dv_cell *cell = thread->cells + thread->cell_at[pc];
    dv_foreign_form form = {.name = "?"};
    (void)vm->hooks.plugin.form(vm, cell, &form);
    dv_where_name_foreign(named, &form);
    uint32_t reach = 0;
    const uint32_t end = thread->cell_at[pc] + form.covers;
    for (uint32_t at = pc; at < thread->code->word_count && thread->cell_at[at] < end; at++)
        reach += at == 0 || thread->cell_at[at] != thread->cell_at[at - 1];
    return reach ? reach : 1;
}

uint32_t dv_where_look(dv_vm *vm, const dv_thread *thread, uint32_t pc, dv_named *named,
                       const char **name) {
    const dv_handler handler = thread->cells[thread->cell_at[pc]].h;
    const uint32_t op = exact_op(handler);
    *name = NULL;
    if (op == DV_OP_COUNT) return look_at_foreign(vm, thread, pc, named);
    named->ops[op] = 1;
    const uint32_t known = dv_op_of(vm, handler);
    if (known != op && known < DV_OP_COUNT) {
        named->ops[known] = 1;
        *name = dv_op_name(op);
    }
    return reach_of(op);
}

/* ---- Rows ---- */

static void put_chooser(dv_line *line, const dv_where_row *where) {
    dv_line_column(line, CHOOSER_COLUMN);
    dv_line_put(line, "%s, %s:%u", dv_where_texts[where->chooser], dv_where_texts[where->file],
                where->chooser_line);
    if (where->others) dv_line_put(line, ", and %u more", where->others);
}

static void put_row(const char *name, uint32_t op, const dv_page *page) {
    const dv_where_row *where = &dv_where_rows[dv_where_of[op]];
    dv_line line = {0};
    dv_line_put(&line, "    %s", name);
    dv_line_column(&line, BLOCK_COLUMN);
    dv_line_put(&line, "%s:%u", dv_where_texts[where->block], where->block_line);
    put_chooser(&line, where);
    dv_page_line(page, &line);
}

/* Without the way from where it was compiled. */
static const char *place_of(const dv_foreign_form *form) {
    const char *where = form->where ? form->where : "(the extension does not say where)";
    while (strncmp(where, "../", 3) == 0) where += 3;
    return where;
}

void dv_where_text(const dv_named *named, const dv_page *page) {
    dv_line line = {0};
    dv_line_put(&line, "  where");
    dv_line_column(&line, BLOCK_COLUMN);
    dv_line_put(&line, "defined");
    dv_line_column(&line, CHOOSER_COLUMN);
    dv_line_put(&line, "chosen by");
    dv_page_line(page, &line);
    for (uint32_t op = 0; op < DV_OP_COUNT; op++)
        if (named->ops[op]) put_row(dv_op_name(op), op, page);
    for (uint32_t i = 0; i < named->foreign_count; i++) {
        dv_line_put(&line, "    %s", named->foreign[i].name);
        dv_line_column(&line, BLOCK_COLUMN);
        dv_line_put(&line, "%s", place_of(&named->foreign[i]));
        put_chooser(&line, &dv_where_extension);
        dv_page_line(page, &line);
    }
}

void dv_where_all(const dv_page *page) {
    for (uint32_t op = 0; op < DV_OP_COUNT; op++) put_row(dv_op_name(op), op, page);
}

static void json_place(dv_json *json, const char *key, const char *file, uint32_t number) {
    dv_line line = {0};
    dv_line_put(&line, "%s:%u", file, number);
    dv_json_text(json, key, line.text, line.size);
}

void dv_where_json(const dv_named *named, dv_json *json) {
    dv_json_begin(json, "where", '{');
    for (uint32_t op = 0; op < DV_OP_COUNT; op++) {
        if (!named->ops[op]) continue;
        const dv_where_row *where = &dv_where_rows[dv_where_of[op]];
        dv_json_begin(json, dv_op_name(op), '{');
        json_place(json, "block", dv_where_texts[where->block], where->block_line);
        dv_json_string(json, "chooser", dv_where_texts[where->chooser]);
        json_place(json, "chooser_at", dv_where_texts[where->file], where->chooser_line);
        dv_json_end(json, '}');
    }
    for (uint32_t i = 0; i < named->foreign_count; i++) {
        const dv_foreign_form *form = &named->foreign[i];
        dv_json_begin(json, form->name, '{');
        if (form->where) dv_json_string(json, "block", place_of(form));
        dv_json_end(json, '}');
    }
    dv_json_end(json, '}');
}
