/* trace.c: the log of what happened (trace.h). */
#include "inspect/trace.h"

#include "inspect/loops.h"
#include "inspect/rows.h"
#include "inspect/state.h"
#include "inspect/stats.h"
#include "inspect/words.h"
#include "quicken/site.h"

/* ---- Keeping ---- */

static bool keeps(const dv_trace *trace, uint64_t number) {
    return trace->count < DV_TRACE_MOST &&
           (number <= DV_TRACE_FIRST || (number & (number - 1)) == 0);
}

static bool has_room(dv_vm *vm, dv_trace *trace) {
    if (trace->count < trace->room) return true;
    const uint32_t room = trace->room ? trace->room * 2 : 256;
    dv_moment *moments = dv_heap_alloc(&vm->heap, room * sizeof *moments);
    if (!moments) return false;
    if (trace->count) memcpy(moments, trace->moments, trace->count * sizeof *moments);
    if (trace->room) dv_heap_free(&vm->heap, trace->moments, trace->room * sizeof *moments);
    trace->moments = moments;
    trace->room = room;
    return true;
}

dv_moment *dv_trace_add(dv_vm *vm, dv_happened kind, const dv_function_counts *function,
                        uint32_t pc, uint64_t number) {
    dv_trace *trace = vm->profile->trace;
    trace->happened[kind]++;
    if (!keeps(trace, number) || !has_room(vm, trace)) {
        trace->dropped[kind]++;
        return NULL;
    }
    dv_moment *moment = &trace->moments[trace->count++];
    *moment = (dv_moment){.step = vm->profile->steps,
                          .number = number,
                          .function = function,
                          .pc = pc,
                          .kind = (uint8_t)kind};
    return moment;
}

static void settle(dv_vm *vm, dv_moment *moment) {
    const dv_cell *cell = moment->cell;
    const uint32_t op = dv_op_of(vm, cell->h);
    if (moment->kind == DV_HAPPENED_QUICKENED) {
        dv_foreign_form form = {0};
        if (op == DV_OP_COUNT && vm->hooks.plugin.form(vm, cell, &form))
            moment->foreign = form.name;
        return;
    }
    const dv_site *site = &cell[1].site;
    moment->wait = site->wait;
    moment->why = site->reason;
    if (site->reason != DV_REASON_COVERED) return;
    moment->kind = DV_HAPPENED_COVERED;
    vm->profile->trace->happened[DV_HAPPENED_BACKED]--;
    vm->profile->trace->happened[DV_HAPPENED_COVERED]++;
}

void dv_trace_settle(dv_vm *vm, const dv_cell *site, const dv_operands *operands) {
    dv_trace *trace = vm->profile->trace;
    for (; trace->settled < trace->count; trace->settled++) {
        dv_moment *moment = &trace->moments[trace->settled];
        if (!moment->cell) continue;
        if (moment->cell == site) moment->operands = *operands;
        if (dv_profile_owner(vm, moment->cell)) settle(vm, moment);
        moment->cell = NULL;
    }
}

void dv_trace_free(dv_vm *vm, dv_trace *trace) {
    if (trace->room) dv_heap_free(&vm->heap, trace->moments, trace->room * sizeof *trace->moments);
    dv_heap_free(&vm->heap, trace, sizeof *trace);
}

/* ---- What a moment is about ---- */

/* In JSON: never change. */
static const char *const names[DV_HAPPENED_KINDS] = {
    [DV_HAPPENED_WARM] = "warm",       [DV_HAPPENED_QUICKENED] = "quickened",
    [DV_HAPPENED_MISSED] = "missed",   [DV_HAPPENED_BACKED] = "backed-off",
    [DV_HAPPENED_COVERED] = "covered", [DV_HAPPENED_GENERIC] = "generic",
    [DV_HAPPENED_MADE] = "made",       [DV_HAPPENED_REFUSED] = "refused",
    [DV_HAPPENED_ENTERED] = "entered", [DV_HAPPENED_LEFT] = "left",
    [DV_HAPPENED_RETIRED] = "retired"};

static bool is_of_region(const dv_moment *moment) { return moment->kind >= DV_HAPPENED_MADE; }

static uint32_t line_at(const dv_code *code, uint32_t pc) {
    const dv_position *position = dv_code_position(code, pc);
    return position ? position->line : 0;
}

/* Is the pc that of a loop's JUMP_BACK?  Else it stands for the whole function. */
static bool is_loop(const dv_code *code, uint32_t pc) {
    return (code->words[pc] & 0xFF) == DV_OP_JUMP_BACK;
}

static uint32_t line_of(const dv_moment *moment) {
    const dv_code *code = moment->function->code;
    if (moment->kind == DV_HAPPENED_WARM) return code->first_line;
    if (!is_of_region(moment)) return line_at(code, moment->pc);
    return is_loop(code, moment->pc) ? line_at(code, code->words[moment->pc] >> 8)
                                     : code->first_line;
}

/* The derivative that a site took, or lost; NULL: it is not known, or there was none. */
static const char *form_of(const dv_moment *moment) {
    if (moment->kind == DV_HAPPENED_QUICKENED)
        return moment->to < DV_OP_COUNT ? dv_op_name(moment->to) : moment->foreign;
    const bool lost =
        moment->from < DV_OP_COUNT && dv_op_infos[moment->from].kind == DV_KIND_DERIVATIVE;
    return lost ? dv_op_name(moment->from) : NULL;
}

static bool is_dropped(const dv_trace *trace) {
    for (int kind = 0; kind < DV_HAPPENED_KINDS; kind++)
        if (trace->dropped[kind]) return true;
    return false;
}

/* ---- Text ---- */

static void put_loop(dv_line *line, const dv_code *code, uint32_t pc) {
    if (is_loop(code, pc))
        dv_line_put(line, "the loop in line %u", line_at(code, code->words[pc] >> 8));
    else
        dv_line_put(line, "the whole function");
}

static void put_operands(dv_vm *vm, dv_line *line, const dv_moment *moment) {
    if (!moment->operands.keys[0]) return;
    dv_line_put(line, " (");
    dv_words_operand_types(vm, line, &moment->operands);
    dv_line_put(line, ")");
}

static void put_back_off(dv_line *line, const dv_moment *moment) {
    const char *lost = form_of(moment), *reason = dv_state_reason(moment->why);
    if (lost)
        dv_line_put(line, ": %s is given up", lost);
    else if (reason)
        dv_line_put(line, ": %s", reason);
    if (moment->wait) dv_line_put(line, "; waits %u executions", moment->wait);
}

static void put_exit(dv_line *line, const dv_moment *moment) {
    static const char *const words[DV_EXITED_REASONS] = {
        [DV_EXITED_AT_END] = "its end",           [DV_EXITED_BY_GUARD] = "a guard failed",
        [DV_EXITED_TO_NEW] = "a way that is new", [DV_EXITED_RETIRED] = "it is retired",
        [DV_EXITED_AT_SAFEPOINT] = "a safepoint", [DV_EXITED_RAISING] = "an exception"};
    dv_line_put(line, ": %s", words[moment->why]);
    if (moment->in)
        dv_line_put(line, "; on at %u, line %u", moment->other, line_at(moment->in, moment->other));
}

static void put_of_region(dv_line *line, const dv_moment *moment) {
    const dv_code *code = moment->function->code;
    const char *name, *sentence;
    put_loop(line, code, moment->pc);
    switch ((dv_happened)moment->kind) {
    case DV_HAPPENED_MADE:
        if (moment->other == moment->pc) break;
        dv_line_put(line, ", in the region of ");
        put_loop(line, code, moment->other);
        break;
    case DV_HAPPENED_REFUSED:
    case DV_HAPPENED_RETIRED:
        dv_loops_words((dv_refusal)moment->why, &name, &sentence);
        dv_line_put(line, ": %s", name);
        break;
    case DV_HAPPENED_LEFT: put_exit(line, moment); break;
    default: break;
    }
}

static void put_of_site(dv_vm *vm, dv_line *line, const dv_moment *moment) {
    const dv_code *code = moment->function->code;
    dv_line_put(line, "%s at %u", dv_op_name(code->words[moment->pc] & 0xFF), moment->pc);
    if (moment->kind == DV_HAPPENED_QUICKENED)
        dv_line_put(line, ": %s", form_of(moment) ? form_of(moment) : "of an extension");
    if (moment->kind == DV_HAPPENED_BACKED) put_back_off(line, moment);
    put_operands(vm, line, moment);
}

static dv_colour colour_of(const dv_moment *moment) {
    switch ((dv_happened)moment->kind) {
    case DV_HAPPENED_QUICKENED:
    case DV_HAPPENED_COVERED: return DV_COLOUR_FAST;
    case DV_HAPPENED_MADE:
    case DV_HAPPENED_ENTERED: return DV_COLOUR_REGION;
    case DV_HAPPENED_WARM: return DV_COLOUR_HEADING;
    default: return DV_COLOUR_SLOW;
    }
}

static void list_moment(dv_vm *vm, const dv_page *page, const dv_moment *moment) {
    enum { DETAIL = 23, PLACE = 78 };
    const dv_code *code = moment->function->code;
    const dv_text file = dv_code_file(code);
    dv_line line = {0};
    dv_line_put(&line, "%9llu  ", (unsigned long long)moment->step);
    dv_line_colour(&line, page, colour_of(moment));
    dv_line_put(&line, "%s", names[moment->kind]);
    dv_line_colour(&line, page, DV_COLOUR_PLAIN);
    dv_line_column(&line, DETAIL);
    if (moment->kind == DV_HAPPENED_WARM)
        dv_line_text(&line, code->qualname.data, code->qualname.size);
    else if (is_of_region(moment))
        put_of_region(&line, moment);
    else
        put_of_site(vm, &line, moment);
    if (moment->number > 1) dv_line_put(&line, ", number %llu", (unsigned long long)moment->number);
    dv_line_column(&line, PLACE);
    dv_line_text(&line, file.data, file.size);
    dv_line_put(&line, ":%u in ", line_of(moment));
    dv_line_text(&line, code->qualname.data, code->qualname.size);
    dv_page_line(page, &line);
}

static void list_dropped(const dv_page *page, const dv_trace *trace) {
    dv_line line = {0};
    const char *between = "not listed: ";
    for (int kind = 0; kind < DV_HAPPENED_KINDS; kind++) {
        if (!trace->dropped[kind]) continue;
        dv_line_put(&line, "%s%llu of %llu %s", between, (unsigned long long)trace->dropped[kind],
                    (unsigned long long)trace->happened[kind], names[kind]);
        between = ", ";
    }
    dv_page_line(page, &line);
}

/* ---- JSON ---- */

static void json_reason(dv_json *json, const dv_moment *moment) {
    const char *name, *sentence;
    switch ((dv_happened)moment->kind) {
    case DV_HAPPENED_BACKED:
        if (dv_state_reason(moment->why))
            dv_json_string(json, "reason", dv_state_reason(moment->why));
        dv_json_number(json, "waits", moment->wait);
        break;
    case DV_HAPPENED_REFUSED:
    case DV_HAPPENED_RETIRED:
        dv_loops_words((dv_refusal)moment->why, &name, &sentence);
        dv_json_string(json, "reason", name);
        dv_json_string(json, "sentence", sentence);
        break;
    case DV_HAPPENED_MADE: dv_json_number(json, "region", moment->other); break;
    case DV_HAPPENED_LEFT:
        dv_json_string(json, "reason", dv_exited_names[moment->why]);
        if (!moment->in) break;
        dv_json_begin(json, "to", '{');
        dv_rows_json_place(json, moment->in, line_at(moment->in, moment->other));
        dv_json_number(json, "pc", moment->other);
        dv_json_end(json, '}');
        break;
    default: break;
    }
}

static void json_moment(dv_vm *vm, dv_json *json, const dv_moment *moment) {
    dv_json_begin(json, NULL, '{');
    dv_json_number(json, "step", moment->step);
    dv_json_string(json, "event", names[moment->kind]);
    dv_rows_json_place(json, moment->function->code, line_of(moment));
    dv_json_number(json, "pc", moment->pc);
    if (!is_of_region(moment) && moment->kind != DV_HAPPENED_WARM)
        dv_json_string(json, "instruction",
                       dv_op_name(moment->function->code->words[moment->pc] & 0xFF));
    dv_json_number(json, "number", moment->number);
    if (form_of(moment)) dv_json_string(json, "form", form_of(moment));
    json_reason(json, moment);
    if (moment->operands.keys[0]) {
        dv_line line = {0};
        dv_words_operand_types(vm, &line, &moment->operands);
        dv_json_text(json, "operands", line.text, line.size);
    }
    dv_json_end(json, '}');
}

static void json_kinds(dv_json *json, const char *key, const uint64_t *counts) {
    dv_json_begin(json, key, '{');
    for (int kind = 0; kind < DV_HAPPENED_KINDS; kind++)
        dv_json_number(json, names[kind], counts[kind]);
    dv_json_end(json, '}');
}

static void json_about(dv_vm *vm, dv_json *json, const dv_trace *trace) {
    dv_json_string(json, "tool", "trace");
    dv_json_number(json, "schema", 1);
    dv_json_string(json, "level", dv_words_level(vm));
    dv_json_number(json, "steps", vm->profile->steps);
    json_kinds(json, "happened", trace->happened);
    json_kinds(json, "dropped", trace->dropped);
}

void dv_trace_json(dv_vm *vm, dv_json *json) {
    const dv_trace *trace = vm->profile->trace;
    json_about(vm, json, trace);
    dv_json_begin(json, "events", '[');
    for (uint32_t i = 0; i < trace->count; i++)
        if (dv_page_wants(json->page, trace->moments[i].function->code))
            json_moment(vm, json, &trace->moments[i]);
    dv_json_end(json, ']');
}

/* A line for each. */
static void write_lines(dv_vm *vm, const dv_page *page, const dv_trace *trace) {
    dv_json json = {.page = page};
    dv_json_begin(&json, NULL, '{');
    json_about(vm, &json, trace);
    dv_json_end(&json, '}');
    dv_json_finish(&json);
    for (uint32_t i = 0; i < trace->count; i++) {
        if (!dv_page_wants(page, trace->moments[i].function->code)) continue;
        json = (dv_json){.page = page};
        json_moment(vm, &json, &trace->moments[i]);
        dv_json_finish(&json);
    }
}

bool dv_inspect_trace(dv_vm *vm, const dv_page *page) {
    const dv_trace *trace = vm->profile->trace;
    if (page->json) {
        write_lines(vm, page, trace);
        return true;
    }
    for (uint32_t i = 0; i < trace->count; i++)
        if (dv_page_wants(page, trace->moments[i].function->code))
            list_moment(vm, page, &trace->moments[i]);
    if (is_dropped(trace)) list_dropped(page, trace);
    return true;
}
