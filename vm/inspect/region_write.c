/* region_write.c: the regions of a VM as text (region_text.h). */
#include <stdarg.h>
#include <stdio.h>

#include "inspect/assembly.h"
#include "inspect/region_text.h"
#include "region/emit/pair.h"
#include "types/number/float.h"

typedef struct writer {
    dv_output out;
    void *context;
    const dv_code *code;
} writer;

__attribute__((format(printf, 2, 3))) static void put(const writer *w, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n > 0) w->out(w->context, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

/* What is not in the list of instructions that begin in these cells is no instruction. */
static uint32_t op_at(dv_vm *vm, const dv_region *region, uint32_t at) {
    const uint32_t op = dv_op_of(vm, region->cells[at].h);
    return op < DV_OP_COUNT ? dv_pair_first(op) : DV_OP_COUNT;
}

/* ---- Is there a text? ---- */

static bool is_speakable(dv_value v) {
    return !dv_is_object(v) && !dv_is_empty(v) &&
           !(dv_is_float(v) && dv_as_float(v) != dv_as_float(v));
}

static const char *refuse_exit(const dv_region *region, const dv_exit *exit) {
    if (exit->frame_count) return "an exit makes frames of functions that are inlined";
    for (uint32_t i = 0; i < exit->item_count; i++) {
        const dv_exit_item *item = &region->items[exit->first_item + i];
        if (item->action >= DV_EXIT_INSTANCE || item->action == DV_EXIT_COMPLEX ||
            item->action == DV_EXIT_CHAR || item->action == DV_EXIT_CHAR_R ||
            item->action == DV_EXIT_WALK || item->action == DV_EXIT_COPY_FADED)
            return "an exit makes an object";
        if ((item->action == DV_EXIT_VALUE || item->action == DV_EXIT_VALUE_B) &&
            !is_speakable(item->value))
            return "an exit has an object for a constant";
    }
    return NULL;
}

static const char *refuse_constant(const dv_region_facts *facts, const dv_cell *cell) {
    if (facts->constant == DV_TAKES_VALUE && !is_speakable(cell[2].v))
        return "a constant is an object";
    const bool real =
        facts->constant == DV_TAKES_DOUBLE || (facts->constant == DV_TAKES_RAW && cell[1].o.b);
    return real && cell[2].d != cell[2].d ? "a constant is not a number" : NULL;
}

static const char *refuse_op(dv_vm *vm, const dv_region *region, uint32_t at, uint32_t op) {
    (void)vm;
    if (op >= DV_OP_COUNT || dv_op_infos[op].kind != DV_KIND_REGION)
        return "it has instructions of the operand stack";
    const dv_region_facts *facts = dv_region_facts_for(op);
    if (!facts->by_hand) return "it has instructions that refer to what only the machine knows";
    return refuse_constant(facts, &region->cells[at]);
}

const char *dv_region_text_refusal(dv_vm *vm, const dv_region *region) {
    const char *why = region->retired ? "it was given up" : NULL;
    for (uint32_t i = 0; i < region->exit_count && !why; i++)
        why = refuse_exit(region, &region->exits[i]);
    for (uint32_t i = 0; i < region->entry_item_count && !why; i++)
        if (region->entry_items[i].kind == DV_K_COMPLEX || region->entry_items[i].kind == DV_K_CHAR)
            why = "it has complex numbers or characters";
        else if (region->entry_items[i].twin >= 0)
            why = "a local shares its range";
    if (region->gate) why = "it is a function's";
    for (uint32_t at = 0; at < region->cell_count && !why;) {
        const uint32_t op = op_at(vm, region, at);
        why = refuse_op(vm, region, at, op);
        if (!why) at += dv_op_infos[op].length;
    }
    return why;
}

bool dv_region_text_names(const dv_region *region, uint32_t pc) {
    if (pc == region->begin || pc == region->end - 1) return true;
    for (uint32_t i = 0; i < region->exit_count; i++)
        if (region->exits[i].pc == pc) return true;
    for (uint32_t i = 0; i < region->entry_count; i++)
        if (dv_thread_pc(region->thread, region->entries[i].back) == pc) return true;
    return false;
}

/* ---- Pieces ---- */

/* A local by number where its name would be read as something else. */
static void put_slot(const writer *w, int16_t slot) {
    const uint32_t locals = w->code->local_count;
    if ((uint32_t)slot >= 2 * locals) {
        put(w, "s%d", slot);
        return;
    }
    const uint32_t local = (uint32_t)slot % locals;
    const dv_text name = w->code->local_names[local];
    uint32_t same = 0;
    for (uint32_t i = 0; i < locals; i++) same += dv_text_is_same(w->code->local_names[i], name);
    const bool digits = name.size > 1 && name.data[0] == 's' && name.data[1] <= '9';
    const char *mark = (uint32_t)slot >= locals ? "'" : "";
    if (same == 1 && !digits && name.size < 200 && dv_assembly_is_bare(name))
        put(w, "%.*s%s", (int)name.size, name.data, mark);
    else
        put(w, "$%u%s", local, mark);
}

static void put_double(const writer *w, double d) {
    char text[32];
    put(w, "%.*s", (int)dv_float_repr(d, text), text);
}

static void put_value(const writer *w, dv_value v) {
    if (dv_is_float(v))
        put_double(w, dv_as_float(v));
    else if (dv_is_int(v))
        put(w, "%lld", (long long)dv_as_int(v));
    else
        put(w, "%s", dv_is_none(v) ? "None" : v.bits == DV_TRUE.bits ? "True" : "False");
}

static void put_entry(const writer *w, const dv_region *region, const dv_entry *entry) {
    put(w, "    entry c%u from L%u", entry->cell, dv_thread_pc(region->thread, entry->back));
    for (uint32_t i = 0; i < entry->item_count; i++) {
        const dv_entry_item *item = &region->entry_items[entry->first_item + i];
        const bool local = (uint32_t)item->home < w->code->local_count;
        const bool raw = dv_kind_is_raw((dv_kind)item->kind) || item->kind == DV_K_RANGE;
        put(w, " ");
        put_slot(w, item->home);
        put(w, ":%s%s", dv_kind_names[item->kind], item->dead ? "?" : "");
        if (!raw || (local && item->raw == item->home + (int)w->code->local_count)) continue;
        put(w, "=");
        put_slot(w, item->raw);
    }
    put(w, "\n");
}

static void put_item(const writer *w, const dv_exit_item *item) {
    put(w, " ");
    put_slot(w, item->to);
    put(w, "=%s:", dv_region_action_names[item->action]);
    switch ((dv_exit_action)item->action) {
    case DV_EXIT_INT_R:
    case DV_EXIT_BOOL_R: put(w, "r"); break;
    case DV_EXIT_FLOAT_D: put(w, "d"); break;
    case DV_EXIT_VALUE:
    case DV_EXIT_VALUE_B: put_value(w, item->value); break;
    default: put_slot(w, item->from);
    }
}

static void put_exit(const writer *w, const dv_region *region, uint32_t number) {
    const dv_exit *exit = &region->exits[number];
    put(w, "    exit e%u to L%u%s", number, exit->pc, exit->counts ? " counts" : "");
    for (uint32_t i = 0; i < exit->item_count; i++)
        put_item(w, &region->items[exit->first_item + i]);
    put(w, "\n");
}

static void put_constant(const writer *w, const dv_region_facts *facts, const dv_cell *cell) {
    if (facts->constant == DV_TAKES_NOTHING) return;
    put(w, " #");
    if (facts->constant == DV_TAKES_VALUE)
        put_value(w, cell[2].v);
    else if (facts->constant == DV_TAKES_DOUBLE || (facts->constant == DV_TAKES_RAW && cell[1].o.b))
        put_double(w, cell[2].d);
    else
        put(w, "%lld", (long long)cell[2].i);
}

/* The exit of a point at the cell. */
static uint32_t exit_of(const dv_region *region, uint32_t at) {
    for (uint32_t i = 0; i < region->point_count; i++)
        if (region->points[i].cell == at) return region->points[i].exit;
    return DV_NO_EXIT;
}

static void put_op(const writer *w, const dv_region *region, uint32_t at, uint32_t op) {
    const dv_cell *cell = &region->cells[at];
    const dv_region_facts *facts = dv_region_facts_for(op);
    put(w, "        %s", dv_op_name(op));
    if (op == DV_OP_R_EXIT) {
        put(w, " e%u%s\n", (uint32_t)((dv_exit *)cell[2].p - region->exits),
            cell[1].o.a ? " new" : "");
        return;
    }
    const int16_t slots[] = {cell[1].o.a, cell[1].o.b, cell[1].o.c, cell[1].o.d};
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t n = dv_region_slot_order[k];
        if (!dv_region_uses_slot(facts, n)) continue;
        put(w, " ");
        put_slot(w, slots[n]);
    }
    put_constant(w, facts, cell);
    const uint32_t targets = facts->jumps | facts->exits;
    if (targets) put(w, " ->");
    for (uint32_t k = 0; k < 2; k++)
        if (targets >> k & 1) put(w, " c%u", (uint32_t)(cell[3 + k].target - region->cells));
    if (facts->polls || facts->raises)
        put(w, " %s e%u", facts->polls ? "leaves" : "raises", exit_of(region, at));
    put(w, "\n");
}

static bool is_target(dv_vm *vm, const dv_region *region, uint32_t target) {
    for (uint32_t i = 0; i < region->entry_count; i++)
        if (region->entries[i].cell == target) return true;
    for (uint32_t at = 0; at < region->cell_count;) {
        const uint32_t op = op_at(vm, region, at);
        const dv_region_facts *facts = dv_region_facts_for(op);
        for (uint32_t k = 0; k < 2; k++)
            if ((facts->jumps | facts->exits) >> k & 1 &&
                region->cells[at + 3 + k].target == region->cells + target)
                return true;
        at += dv_op_infos[op].length;
    }
    return false;
}

void dv_region_text_write(dv_vm *vm, const dv_region *region, dv_output out, void *context) {
    const writer w = {out, context, region->thread->code};
    put(&w, "  region L%u to L%u", region->begin, region->end - 1);
    if (region->removed) put(&w, " removed %u", region->removed);
    put(&w, "\n");
    for (uint32_t i = 0; i < region->entry_count; i++) put_entry(&w, region, &region->entries[i]);
    for (uint32_t i = 0; i < region->exit_count; i++) put_exit(&w, region, i);
    for (uint32_t at = 0; at < region->cell_count;) {
        const uint32_t op = op_at(vm, region, at);
        if (is_target(vm, region, at)) put(&w, "      c%u:\n", at);
        put_op(&w, region, at, op);
        at += dv_op_infos[op].length;
    }
    put(&w, "  end\n");
}
