/* dis.c: listings of code (dis.h). */
#include "inspect/dis.h"

#include "inspect/assembly.h"
#include "inspect/rows.h"
#include "inspect/state.h"
#include "inspect/where.h"
#include "inspect/words.h"
#include "region/region.h"
#include "run/call.h"

enum { OPERAND_COLUMN = 33, BRACKET_COLUMN = 56, DERIVATIVE_COLUMN = 58 };

typedef struct listing {
    dv_vm *vm;
    const dv_unit *unit;
    const dv_page *page;
    bool after_run;
    uint32_t listed; /* code objects so far */
    /* The source line that was shown last, and where it begins: lines are mostly asked for in
     * order. */
    uint32_t line;
    const char *line_begin;
    dv_named *named; /* with --where: what has been named; else NULL */
    uint32_t left;   /* ... instructions that a form further up does, too */
} listing;

/* Most recently made first: of a function that was defined twice, the newer. */
const dv_thread *dv_inspect_thread(const dv_vm *vm, const dv_code *code) {
    const dv_thread *thread = vm->codes;
    while (thread && (thread->code != code || !thread->cells)) thread = thread->next;
    return thread;
}

static void put_parameter(dv_line *line, const dv_code *code, uint32_t index, const char *stars,
                          uint32_t *put) {
    dv_line_put(line, "%s%s", (*put)++ ? ", " : "", stars);
    dv_line_text(line, code->local_names[index].data, code->local_names[index].size);
}

static void put_parameters(dv_line *line, const dv_code *code) {
    uint32_t put = 0, next = 0;
    for (; next < code->positional_count; next++) {
        put_parameter(line, code, next, "", &put);
        if (next + 1 == code->positional_only_count) dv_line_put(line, ", /");
    }
    uint32_t varargs = code->positional_count + code->keyword_only_count;
    bool has_varargs = code->flags & DV_CODE_VARARGS;
    if (has_varargs)
        put_parameter(line, code, varargs, "*", &put);
    else if (code->keyword_only_count)
        dv_line_put(line, "%s*", put++ ? ", " : "");
    for (; next < varargs; next++) put_parameter(line, code, next, "", &put);
    if (code->flags & DV_CODE_VARKEYWORDS)
        put_parameter(line, code, varargs + has_varargs, "**", &put);
}

static const char *state_name(const dv_thread *thread) {
    return !thread ? "not run" : thread->warm ? "warm" : "cold";
}

static void list_header(const listing *l, const dv_code *code, const dv_thread *thread) {
    dv_line line = {0};
    dv_line_colour(&line, l->page, DV_COLOUR_HEADING);
    dv_line_text(&line, code->qualname.data, code->qualname.size);
    if (!(code->flags & (DV_CODE_MODULE | DV_CODE_CLASS))) {
        dv_line_put(&line, "(");
        put_parameters(&line, code);
        dv_line_put(&line, ")");
    }
    dv_line_put(&line, "  ");
    dv_line_text(&line, l->unit->filename.data, l->unit->filename.size);
    dv_line_put(&line, ":%u", code->first_line);
    if (l->after_run) dv_line_put(&line, "  %s", state_name(thread));
    dv_page_line(l->page, &line);
}

/* The text of a source line, without its end; empty where the unit has none. */
static dv_text source_line(listing *l, uint32_t number) {
    const char *end = l->unit->source.data + l->unit->source.size;
    if (!l->line || number < l->line) l->line = 1, l->line_begin = l->unit->source.data;
    for (; l->line < number && l->line_begin < end; l->line++) {
        const char *newline = memchr(l->line_begin, '\n', (size_t)(end - l->line_begin));
        l->line_begin = newline ? newline + 1 : end;
    }
    if (l->line != number || l->line_begin >= end) return (dv_text){"", 0};
    const char *stop = memchr(l->line_begin, '\n', (size_t)(end - l->line_begin));
    if (!stop) stop = end;
    if (stop > l->line_begin && stop[-1] == '\r') stop--;
    return (dv_text){l->line_begin, (uint32_t)(stop - l->line_begin)};
}

static void list_source_line(listing *l, uint32_t number) {
    dv_line line = {0};
    dv_text text = source_line(l, number);
    dv_line_colour(&line, l->page, DV_COLOUR_SOURCE);
    dv_line_put(&line, "%4u | ", number);
    dv_line_text(&line, text.data, text.size);
    dv_page_line(l->page, &line);
}

static uint32_t words_of(const dv_code *code, uint32_t pc) {
    uint32_t operands = dv_op_infos[code->words[pc] & 0xFF].operand_count;
    return operands > 1 ? operands : 1;
}

/* One byte for each pc: does a jump or the exception table lead there?  NULL, and no marks are
 * shown, if memory runs out. */
static bool *find_targets(const listing *l, const dv_code *code) {
    bool *targets = dv_heap_alloc(&l->vm->heap, code->word_count + 1);
    if (!targets) return NULL;
    memset(targets, 0, code->word_count + 1);
    for (uint32_t pc = 0; pc < code->word_count; pc += words_of(code, pc)) {
        const dv_op_info *info = &dv_op_infos[code->words[pc] & 0xFF];
        for (uint32_t i = 0; i < info->operand_count; i++)
            if (info->operands[i] == DV_OPERAND_JUMP)
                targets[i ? code->words[pc + i] : code->words[pc] >> 8] = true;
    }
    for (uint32_t i = 0; i < code->exception_count; i++)
        targets[code->exceptions[i].handler] = true;
    return targets;
}

/* A bracket around the instructions that a form does. */
static void put_bracket(listing *l, dv_line *line, uint32_t reach) {
    const char *mark = NULL;
    if (l->left)
        mark = --l->left ? "|" : "\\";
    else if (reach > 1)
        mark = "/", l->left = reach - 1;
    if (!mark) return;
    dv_line_column(line, BRACKET_COLUMN);
    dv_line_put(line, "%s", mark);
}

static void list_instruction(listing *l, const dv_code *code, const dv_thread *thread, uint32_t pc,
                             bool target) {
    dv_line line = {0};
    dv_line_put(&line, "  %2s %5u  %s", target ? ">>" : "", pc, dv_op_name(code->words[pc] & 0xFF));
    if (dv_op_infos[code->words[pc] & 0xFF].operand_count) {
        dv_line_column(&line, OPERAND_COLUMN);
        dv_words_operands(l->vm, &line, code, pc);
    }
    const char *longer = NULL;
    if (l->named) l->named->ops[code->words[pc] & 0xFF] = 1;
    if (thread && l->named)
        put_bracket(l, &line, dv_where_look(l->vm, thread, pc, l->named, &longer));
    if (thread) {
        dv_site_state state;
        dv_state_look(l->vm, thread, pc, &state);
        if (state.form || state.reason || longer) dv_line_column(&line, DERIVATIVE_COLUMN);
        dv_state_text(&state, l->page, &line);
    }
    if (longer) dv_line_put(&line, "  as %s", longer);
    dv_page_line(l->page, &line);
}

static void list_instructions(listing *l, const dv_code *code, const dv_thread *thread) {
    uint32_t shown = 0;
    bool *targets = find_targets(l, code);
    for (uint32_t pc = 0; pc < code->word_count; pc += words_of(code, pc)) {
        const dv_position *position = dv_code_position(code, pc);
        if (position && position->line && position->line != shown) {
            shown = position->line;
            list_source_line(l, shown);
        }
        list_instruction(l, code, thread, pc, targets && targets[pc]);
    }
    if (targets) dv_heap_free(&l->vm->heap, targets, code->word_count + 1);
}

static void list_exceptions(const listing *l, const dv_code *code) {
    for (uint32_t i = 0; i < code->exception_count; i++) {
        const dv_exception_entry *entry = &code->exceptions[i];
        dv_line line = {0};
        dv_line_put(&line, "  exception at %u..%u: to %u with stack depth %u", entry->begin,
                    entry->end, entry->handler, entry->depth);
        dv_page_line(l->page, &line);
    }
}

static void list_inlined(const listing *l, const dv_code *code) {
    for (uint32_t i = 0; i < code->inlined_count; i++) {
        const dv_inlined_code *entry = &code->inlined[i];
        const dv_text name = dv_comprehension_name((dv_comprehension)entry->kind);
        dv_line line = {0};
        dv_line_put(&line, "  %.*s at %u..%u, inlined", (int)name.size, name.data, entry->begin,
                    entry->end);
        if (entry->taking != DV_NO_TAKING)
            dv_line_put(&line, ", items taken at %u..%u", entry->taking, entry->taken);
        dv_page_line(l->page, &line);
    }
}

static void list_regions(const listing *l, const dv_thread *thread) {
    dv_page_colour(l->page, DV_COLOUR_REGION);
    const dv_region_naming naming = {dv_where_name, dv_where_name_foreign, l->named};
    dv_region_print(l->vm, thread, l->named ? &naming : NULL, l->page->out, l->page->context);
    dv_page_colour(l->page, DV_COLOUR_PLAIN);
}

static void list_code(listing *l, const dv_code *code) {
    if (dv_page_wants(l->page, code)) {
        const dv_thread *thread = l->after_run ? dv_inspect_thread(l->vm, code) : NULL;
        if (l->listed++) dv_page_text(l->page, "\n");
        if (l->named) *l->named = (dv_named){0}, l->left = 0;
        list_header(l, code, thread);
        list_instructions(l, code, thread);
        list_exceptions(l, code);
        list_inlined(l, code);
        if (thread) list_regions(l, thread);
        if (l->named) dv_where_text(l->named, l->page);
    }
    for (uint32_t i = 0; i < code->constant_count; i++)
        if (code->constants[i].kind == DV_CONST_CODE) list_code(l, code->constants[i].as.code);
}

/* ---- JSON ---- */

static void json_instruction(listing *l, dv_json *json, const dv_code *code,
                             const dv_thread *thread, uint32_t pc, bool target) {
    const dv_position *position = dv_code_position(code, pc);
    dv_line operands = {0};
    dv_words_operands(l->vm, &operands, code, pc);
    dv_json_begin(json, NULL, '{');
    dv_json_number(json, "pc", pc);
    dv_json_number(json, "line", position ? position->line : 0);
    dv_json_string(json, "instruction", dv_op_name(code->words[pc] & 0xFF));
    dv_json_text(json, "operands", operands.text, operands.size);
    dv_json_bool(json, "target", target);
    if (thread) {
        dv_site_state state;
        dv_state_look(l->vm, thread, pc, &state);
        dv_state_json(&state, json);
    }
    if (l->named) l->named->ops[code->words[pc] & 0xFF] = 1;
    if (thread && l->named) {
        const char *longer;
        dv_json_number(json, "covers", dv_where_look(l->vm, thread, pc, l->named, &longer));
        if (longer) dv_json_string(json, "as", longer);
    }
    dv_json_end(json, '}');
}

static void json_exceptions(dv_json *json, const dv_code *code) {
    dv_json_begin(json, "exceptions", '[');
    for (uint32_t i = 0; i < code->exception_count; i++) {
        dv_json_begin(json, NULL, '{');
        dv_json_number(json, "begin", code->exceptions[i].begin);
        dv_json_number(json, "end", code->exceptions[i].end);
        dv_json_number(json, "handler", code->exceptions[i].handler);
        dv_json_number(json, "depth", code->exceptions[i].depth);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

/* Lines that are written in parts, as strings. */
typedef struct lines {
    dv_json *json;
    dv_line line;
} lines;

static int put_part(void *context, const char *text, size_t size) {
    lines *l = context;
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '\n') {
            dv_line_text(&l->line, text + i, 1);
            continue;
        }
        dv_json_text(l->json, NULL, l->line.text, l->line.size);
        l->line = (dv_line){0};
    }
    return 0;
}

/* How often cells were executed; of a pair the first one stands for all. */
static void json_steps(dv_json *json, const dv_region *region) {
    dv_json_begin(json, "steps", '[');
    for (uint32_t i = 0; region->steps && i < region->cell_count; i++) {
        if (!region->steps[i]) continue;
        dv_json_begin(json, NULL, '{');
        dv_json_number(json, "cell", i);
        dv_json_number(json, "steps", region->steps[i]);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

/* Which instructions the cells stand for: the first cell of each run of them. */
static void json_origins(dv_json *json, const dv_region *region) {
    dv_json_begin(json, "origins", '[');
    for (uint32_t i = 0; i < region->origin_count; i++) {
        const dv_origin *origin = &region->origins[i];
        const dv_position *position = dv_code_position(origin->thread->code, origin->pc);
        dv_json_begin(json, NULL, '{');
        dv_json_number(json, "cell", origin->cell);
        dv_rows_json_place(json, origin->thread->code, position ? position->line : 0);
        dv_json_number(json, "pc", origin->pc);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

static void json_regions(dv_vm *vm, dv_json *json, const dv_thread *thread) {
    dv_json_begin(json, "regions", '[');
    for (const dv_region *region = thread->regions; region; region = region->next) {
        dv_json_begin(json, NULL, '{');
        dv_json_number(json, "begin", region->begin);
        dv_json_number(json, "end", region->end);
        dv_json_number(json, "cells", region->cell_count);
        dv_json_number(json, "exits", region->exit_count);
        dv_json_number(json, "removed", region->removed);
        dv_json_bool(json, "retired", region->retired);
        dv_json_bool(json, "whole", region->gate != NULL);
        dv_json_begin(json, "listing", '[');
        dv_region_print_one(vm, region, NULL, put_part, &(lines){.json = json});
        dv_json_end(json, ']');
        json_origins(json, region);
        json_steps(json, region);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

static void json_inlined(dv_json *json, const dv_code *code) {
    dv_json_begin(json, "inlined", '[');
    for (uint32_t i = 0; i < code->inlined_count; i++) {
        const dv_text name = dv_comprehension_name((dv_comprehension)code->inlined[i].kind);
        dv_json_begin(json, NULL, '{');
        dv_json_text(json, "name", name.data, name.size);
        dv_json_number(json, "begin", code->inlined[i].begin);
        dv_json_number(json, "end", code->inlined[i].end);
        dv_json_number(json, "call", code->inlined[i].call);
        if (code->inlined[i].taking != DV_NO_TAKING)
            dv_json_number(json, "taking", code->inlined[i].taking),
                dv_json_number(json, "taken", code->inlined[i].taken);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

static void json_function(listing *l, dv_json *json, const dv_code *code) {
    const dv_thread *thread = l->after_run ? dv_inspect_thread(l->vm, code) : NULL;
    bool *targets = find_targets(l, code);
    l->listed++;
    dv_json_begin(json, NULL, '{');
    dv_rows_json_place(json, code, code->first_line);
    if (l->after_run) dv_json_string(json, "state", state_name(thread));
    dv_json_begin(json, "instructions", '[');
    for (uint32_t pc = 0; pc < code->word_count; pc += words_of(code, pc))
        json_instruction(l, json, code, thread, pc, targets && targets[pc]);
    dv_json_end(json, ']');
    json_exceptions(json, code);
    json_inlined(json, code);
    if (thread) json_regions(l->vm, json, thread);
    dv_json_end(json, '}');
    if (targets) dv_heap_free(&l->vm->heap, targets, code->word_count + 1);
}

static void json_code(listing *l, dv_json *json, const dv_code *code) {
    if (dv_page_wants(l->page, code)) json_function(l, json, code);
    for (uint32_t i = 0; i < code->constant_count; i++)
        if (code->constants[i].kind == DV_CONST_CODE)
            json_code(l, json, code->constants[i].as.code);
}

static void json_all(listing *l, const dv_unit *unit) {
    dv_json json = {.page = l->page};
    dv_json_begin(&json, NULL, '{');
    dv_json_string(&json, "tool", "dis");
    dv_json_number(&json, "schema", 1);
    dv_json_string(&json, "level", dv_words_level(l->vm));
    dv_json_bool(&json, "after_run", l->after_run);
    dv_json_begin(&json, "functions", '[');
    json_code(l, &json, unit->code);
    dv_json_end(&json, ']');
    if (l->named) dv_where_json(l->named, &json);
    dv_json_end(&json, '}');
    dv_json_finish(&json);
}

bool dv_inspect_dis(dv_vm *vm, const dv_unit *unit, bool after_run, const dv_page *page) {
    listing l = {.vm = vm, .unit = unit, .page = page, .after_run = after_run};
    dv_named named = {0};
    if (page->where) l.named = &named;
    if (page->assembly)
        dv_assembly_write(after_run ? vm : NULL, unit, page->out, page->context);
    else if (page->json)
        json_all(&l, unit);
    else
        list_code(&l, unit->code);
    return l.listed > 0 || page->assembly;
}

dv_value dv_inspect_run(dv_vm *vm, dv_unit *unit, dv_value module, dv_object **top) {
    dv_thread *thread = dv_thread_new(vm, unit->code, dv_as_module(module));
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
    *top = thread ? &thread->header : NULL;
    if (!thread) return DV_EMPTY;
    dv_value function = dv_function_make(vm, thread, DV_EMPTY);
    if (dv_is_empty(function)) return DV_EMPTY;
    dv_value result = dv_call(vm, function, NULL, 0, DV_EMPTY);
    dv_release(vm, function);
    return result;
}
