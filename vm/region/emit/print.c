/* print.c: the listing of regions for `dynvm dis`: cells, exits, entries with the types of locals.
 */
#include <stdarg.h>
#include <stdio.h>

#include "quicken/site.h"
#include "region/emit/pair.h"
#include "types/text/str.h"

typedef struct printer {
    dv_output out;
    void *context;
    const dv_region_naming *naming; /* or NULL */
    uint32_t left;                  /* instructions that a pair further up does, too */
} printer;

__attribute__((format(printf, 2, 3))) static void print(const printer *p, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (n > (int)sizeof line - 1) n = (int)sizeof line - 1;
    p->out(p->context, line, (size_t)n);
}

const char *const dv_kind_names[] = {
    "nothing",        "int",          "float",         "bool",          "char",
    "complex",        "list",         "tuple",         "str",           "bytes",
    "bytearray",      "array(uint8)", "array(int8)",   "array(uint16)", "array(int16)",
    "array(uint32)",  "array(int32)", "array(uint64)", "array(int64)",  "array(float32)",
    "array(float64)", "constant",     "instance",      "any",           "unset",
    "walk",           "range",        "reserved",      "raised",        "handled"};

static void print_slot(const printer *p, const dv_code *code, int16_t slot) {
    uint32_t locals = code->local_count;
    if (slot >= 0 && (uint32_t)slot < locals)
        print(p, "%.*s", (int)code->local_names[slot].size, code->local_names[slot].data);
    else if (slot >= 0 && (uint32_t)slot < 2 * locals)
        print(p, "%.*s'", (int)code->local_names[slot - locals].size,
              code->local_names[slot - locals].data);
    else
        print(p, "s%d", slot);
}

static void print_entries(const printer *p, const dv_region *region) {
    const dv_code *code = region->thread->code;
    for (uint32_t i = 0; i < region->entry_count; i++) {
        const dv_entry *entry = &region->entries[i];
        print(p, "    entry at %u:", entry->cell);
        for (uint32_t k = 0; k < entry->item_count; k++) {
            const dv_entry_item *item = &region->entry_items[entry->first_item + k];
            print(p, " ");
            print_slot(p, code, item->home);
            print(p, ":%s%s", dv_kind_names[item->kind], item->dead ? "?" : "");
            if (item->first) print(p, " of %ss", item->first == DV_SEEN_INT ? "int" : "float");
        }
        print(p, "\n");
    }
}

/* The name of the attribute at this offset in instances of the shape. */
static void print_attribute(dv_vm *vm, const printer *p, dv_cell where) {
    const dv_shape *shape = dv_shape_at(vm, (uint32_t)where.s.a);
    size_t slot = ((uint32_t)where.s.b - offsetof(dv_instance, slots)) / sizeof(dv_value);
    while (shape && shape->count > slot + 1) shape = shape->parent; /* each adds one name */
    if (!shape || shape->count != slot + 1) return;
    size_t size;
    char *name = dv_str_utf8(vm, shape->name, &size);
    if (!name) { /* without memory it is left out */
        dv_error_clear(vm);
        return;
    }
    print(p, ".%.*s", (int)size, name);
    dv_heap_free(&vm->heap, name, size + 1);
}

enum { USES_INT = 1 << 4, USES_DOUBLE = 1 << 5, USES_TARGET = 1 << 6, USES_ATTRIBUTE = 1 << 7 };

static void print_region_op(dv_vm *vm, const printer *p, const dv_region *region, uint32_t at,
                            const dv_op_info *info) {
    const dv_cell *cell = &region->cells[at];
    const dv_code *code = region->thread->code;
    if (cell->h && info->length > 1 && info == &dv_op_infos[DV_OP_R_EXIT]) {
        const dv_exit *exit = cell[2].p;
        print(p, " to pc %u of %.*s, %u slots", exit->pc, (int)exit->thread->code->name.size,
              exit->thread->code->name.data, exit->item_count);
        return;
    }
    const int16_t slots[] = {cell[1].o.a, cell[1].o.b, cell[1].o.d, cell[1].o.c};
    for (int i = 0; i < 4; i++) { /* the result last */
        if (!(info->slots >> (i < 2 ? i : 5 - i) & 1)) continue;
        print(p, " ");
        print_slot(p, code, slots[i]);
        if (i == 0 && info->slots & USES_ATTRIBUTE) print_attribute(vm, p, cell[2]);
    }
    if (info->slots & USES_INT) print(p, " #%lld", (long long)cell[2].i);
    if (info->slots & USES_DOUBLE) print(p, " #%.17g", cell[2].d);
    if (info->slots & USES_TARGET) print(p, " -> %d", (int)(cell[3].target - region->cells));
}

/* The instruction of an extension; its length. */
static uint32_t print_foreign(dv_vm *vm, const printer *p, const dv_cell *cell, uint32_t at) {
    dv_foreign_form form = {.name = "?", .length = 1};
    (void)vm->hooks.plugin.form(vm, cell, &form);
    if (p->naming) p->naming->foreign(p->naming->context, &form);
    print(p, "    %4u  %s (of an extension)\n", at, form.name);
    return form.length;
}

/* What stands before an instruction: a bracket around those in the handler of a pair, `more` of
 * which are behind this one. */
static const char *margin(printer *p, uint32_t more) {
    if (!p->naming) return "    ";
    if (p->left) return --p->left ? "  | " : "  \\ ";
    p->left = more;
    return more ? "  / " : "    ";
}

/* How many instructions the handler of a pair does. */
static uint32_t parts_of(uint32_t op) {
    uint32_t parts = 1;
    for (; dv_op_infos[op].kind == DV_KIND_PAIR; op = dv_op_infos[op].family) parts++;
    return parts;
}

static void print_pair(printer *p, uint32_t op) {
    const uint32_t more = parts_of(op) - 1;
    if (more) print(p, " ");
    for (uint32_t i = 0; i < more; i++) print(p, "+");
    if (!p->naming) return;
    p->naming->op(p->naming->context, dv_pair_first(op));
    if (more) p->naming->op(p->naming->context, op);
    if (more) print(p, " %s", dv_op_name(op));
}

/* ---- Facts ---- */

/* Where the region has it, if it is not in its home slot. */
static void print_place(const printer *p, const dv_region *region, const dv_placed *known) {
    switch ((dv_where)known->where) {
    case DV_AT_SLOT:
    case DV_AT_ALIAS:
        print(p, " ");
        print_slot(p, region->thread->code, known->slot);
        break;
    case DV_AT_REGISTER: print(p, " %c", known->kind == DV_K_FLOAT ? 'd' : 'r'); break;
    case DV_AT_VALUE:
        if (dv_is_int(known->value)) print(p, " %lld", (long long)dv_as_int(known->value));
        if (dv_is_float(known->value)) print(p, " %.17g", dv_as_float(known->value));
        break;
    case DV_AT_HOME:
    case DV_AT_NOWHERE: break;
    }
}

static void print_fact(const printer *p, const dv_region *region, const dv_placed *known) {
    print(p, "%s", known->kind == DV_K_VIRTUAL ? "not made" : dv_kind_names[known->kind]);
    if (known->kind != DV_K_RANGE) print_place(p, region, known);
}

/* Of the innermost frame: locals of which something is known and that somebody still reads, then
 * its stack. */
static void print_facts(const printer *p, const dv_region *region, const dv_origin *origin) {
    const dv_code *code = origin->thread->code;
    const uint32_t base = (uint32_t)origin->base, locals = base + code->local_count;
    print(p, "       . %u %s", origin->pc, dv_op_name(code->words[origin->pc] & 0xFF));
    if (origin->thread != region->thread)
        print(p, " of %.*s", (int)code->name.size, code->name.data);
    const char *between = "  ";
    for (uint32_t q = base; q < origin->known_count; q++) {
        const dv_placed *known = &region->known[origin->first_known + q];
        const bool dull = known->dead || known->kind == DV_K_ANY || known->kind == DV_K_UNSET;
        if (q == locals) between = "  | ";
        if (q < locals && dull) continue;
        print(p, "%s", between);
        between = q < locals ? ", " : " ";
        if (q < locals)
            print(p, "%.*s: ", (int)code->local_names[q - base].size,
                  code->local_names[q - base].data);
        print_fact(p, region, known);
        if (q >= locals) between = ", ";
    }
    print(p, "\n");
}

/* What was known in front of the instruction that the cell begins; *next: of the next origins. */
static void print_facts_at(const printer *p, const dv_region *region, uint32_t at, uint32_t *next) {
    for (; *next < region->origin_count && region->origins[*next].cell <= at; ++*next)
        if (region->origins[*next].known_count) print_facts(p, region, &region->origins[*next]);
}

static void print_region(dv_vm *vm, printer *p, const dv_region *region) {
    print(p, "  region of pcs %u to %u: %u cells, %u exits%s", region->begin, region->end - 1,
          region->cell_count, region->exit_count, region->retired ? ", retired" : "");
    if (region->removed) print(p, ", %u objects removed", region->removed);
    print(p, "\n");
    print_entries(p, region);
    uint32_t next = 0;
    for (uint32_t at = 0; at < region->cell_count;) {
        print_facts_at(p, region, at, &next);
        uint32_t op = dv_op_of(vm, region->cells[at].h);
        if (op >= DV_OP_COUNT) {
            at += print_foreign(vm, p, &region->cells[at], at);
            continue;
        }
        const uint32_t joined = op;
        op = dv_pair_first(op);
        const dv_op_info *info = &dv_op_infos[op];
        print(p, "%s%4u  %s", margin(p, parts_of(joined) - 1), at, dv_op_name(op));
        if (info->kind == DV_KIND_REGION && info->length > 1)
            print_region_op(vm, p, region, at, info);
        print_pair(p, joined);
        print(p, "\n");
        at += info->length;
    }
}

void dv_region_print_step(dv_vm *vm, const dv_region *region, uint32_t cell, dv_output out,
                          void *context) {
    const printer p = {out, context, NULL, 0};
    const uint32_t joined = dv_op_of(vm, region->cells[cell].h);
    for (uint32_t parts = joined < DV_OP_COUNT ? parts_of(joined) : 0; parts > 0; parts--) {
        const uint32_t op = dv_pair_first(dv_op_of(vm, region->cells[cell].h));
        const dv_op_info *info = &dv_op_infos[op];
        print(&p, "%s", dv_op_name(op));
        if (info->kind == DV_KIND_REGION && info->length > 1)
            print_region_op(vm, &p, region, cell, info);
        if (parts > 1) print(&p, "; ");
        cell += info->length;
    }
}

void dv_region_print(dv_vm *vm, const dv_thread *thread, const dv_region_naming *naming,
                     dv_output out, void *context) {
    for (const dv_region *region = thread->regions; region; region = region->next)
        dv_region_print_one(vm, region, naming, out, context);
}

void dv_region_print_one(dv_vm *vm, const dv_region *region, const dv_region_naming *naming,
                         dv_output out, void *context) {
    printer p = {out, context, naming, 0};
    print_region(vm, &p, region);
}
