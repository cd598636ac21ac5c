/* steps.c: recording steps (steps.h). */
#include "inspect/window/steps.h"

#include <math.h>

#include "code/liveness.h"
#include "inspect/profile.h"
#include "inspect/words.h"
#include "region/region.h"
#include "run/frame.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/mapping/set.h"
#include "types/number/complex.h"
#include "types/number/float.h"
#include "types/sequence/list.h"
#include "types/sequence/tuple.h"
#include "types/text/str.h"

typedef enum phase { COLD, WARM, IN_REGION, LEAVING, BEHIND, PHASES } phase;

/* In JSON: never change. */
static const char *const phase_names[PHASES] = {[COLD] = "cold",
                                                [WARM] = "warm",
                                                [IN_REGION] = "region",
                                                [LEAVING] = "exit",
                                                [BEHIND] = "behind"};

enum { ENTRIES = 96, LONGEST = 72, ITEMS = 4, MOST_BYTES = 32 << 20 };

/* An object at home that was looked at last, and what was told of it. */
typedef struct seen {
    dv_value value;
    char text[LONGEST], type[LONGEST];
} seen;

struct dv_steps {
    dv_page wanted; /* its function and unit */
    dv_page page;   /* writes into `text` */
    char *text;     /* objects of JSON with commas between */
    size_t size, room;
    uint32_t each, kept[PHASES];
    uint64_t passed; /* steps of it that were not kept */
    bool full;       /* no memory, or too much of it */
    const dv_region *region;
    uint64_t fp;     /* of the frame that `origin` was known of */
    uint32_t origin; /* of `region`: the last instruction that has begun; count: none */
    seen seen[ENTRIES];
};

/* ---- Text ---- */

static int append(void *context, const char *text, size_t size) {
    dv_vm *vm = context;
    dv_steps *steps = vm->profile->recorded;
    if (steps->full) return 0;
    if (size > steps->room - steps->size) {
        size_t room = steps->room ? steps->room * 2 : 1 << 16;
        while (room < steps->size + size) room *= 2;
        char *moved = room <= MOST_BYTES ? dv_heap_alloc(&vm->heap, room) : NULL;
        if (!moved) {
            steps->full = true;
            return 0;
        }
        if (steps->size) memcpy(moved, steps->text, steps->size);
        if (steps->room) dv_heap_free(&vm->heap, steps->text, steps->room);
        steps->text = moved;
        steps->room = room;
    }
    memcpy(steps->text + steps->size, text, size);
    steps->size += size;
    return 0;
}

/* ---- Values in words ---- */

static void put_value(dv_vm *vm, dv_line *line, dv_value v, int depth);

static void put_items(dv_vm *vm, dv_line *line, const char *brackets, const dv_value *items,
                      int64_t count, int depth) {
    dv_line_text(line, brackets, 1);
    for (int64_t i = 0; i < count && i < ITEMS; i++) {
        if (i) dv_line_put(line, ", ");
        put_value(vm, line, items[i], depth - 1);
    }
    if (count > ITEMS) dv_line_put(line, ", ... %lld in all", (long long)count);
    dv_line_text(line, brackets + 1, 1);
}

/* The name of an object's attribute in the slot. */
static dv_value name_of_slot(const dv_shape *shape, uint32_t slot) {
    while (shape->count > slot + 1) shape = shape->parent;
    return shape->name;
}

static void put_instance(dv_vm *vm, dv_line *line, dv_object *object, int depth) {
    const dv_shape *shape = dv_shape_at(vm, object->shape);
    if (!shape) return;
    dv_words_name(vm, line, shape->class_->name);
    dv_line_put(line, "(");
    for (uint32_t i = 0; depth > 0 && i < shape->count && i < ITEMS; i++) {
        if (i) dv_line_put(line, ", ");
        dv_words_name(vm, line, name_of_slot(shape, i));
        dv_line_put(line, "=");
        put_value(vm, line, *dv_attribute_slot(object, i), 0);
    }
    if (depth <= 0 || shape->count > ITEMS) dv_line_put(line, "...");
    dv_line_put(line, ")");
}

static void put_double(dv_line *line, double d) {
    char text[32];
    dv_line_text(line, text, dv_float_repr(d, text));
}

static void put_complex(dv_line *line, double real, double imag) {
    dv_line_put(line, "(");
    put_double(line, real);
    if (!signbit(imag)) dv_line_put(line, "+");
    put_double(line, imag);
    dv_line_put(line, "j)");
}

static void put_function(dv_line *line, dv_value v) {
    const dv_text name = dv_thread_code(dv_as_function(v)->code)->qualname;
    dv_line_text(line, name.data, name.size);
    dv_line_put(line, "()");
}

static void put_object(dv_vm *vm, dv_line *line, dv_value v, int depth) {
    dv_object *object = dv_as_object(v);
    const char *name = object->shape < DV_T_COUNT && vm->types[object->shape]
                           ? vm->types[object->shape]->name
                           : "object";
    switch (object->shape) {
    case DV_T_STR:
        dv_line_put(line, "'");
        dv_words_name(vm, line, v);
        dv_line_put(line, "'");
        break;
    case DV_T_LIST:
        put_items(vm, line, "[]", dv_as_list(v)->items, depth > 0 ? dv_as_list(v)->count : 0,
                  depth);
        break;
    case DV_T_TUPLE:
        put_items(vm, line, "()", dv_as_tuple(v)->items, depth > 0 ? dv_as_tuple(v)->count : 0,
                  depth);
        break;
    case DV_T_DICT: dv_line_put(line, "dict of %lld", (long long)dv_as_dict(v)->count); break;
    case DV_T_SET: dv_line_put(line, "set of %lld", (long long)dv_as_set(v)->used); break;
    case DV_T_COMPLEX: put_complex(line, dv_as_complex(v)->real, dv_as_complex(v)->imag); break;
    default:
        if (dv_is_function(v))
            put_function(line, v);
        else if (dv_is_class(v))
            dv_words_name(vm, line, dv_as_class(v)->name);
        else if (object->shape >= DV_T_COUNT)
            put_instance(vm, line, object, depth);
        else
            dv_line_put(line, "%s", name);
        break;
    }
}

static void put_value(dv_vm *vm, dv_line *line, dv_value v, int depth) {
    if (dv_is_empty(v))
        dv_line_put(line, "unassigned");
    else if (dv_is_int(v))
        dv_line_put(line, "%lld", (long long)dv_as_int(v));
    else if (dv_is_float(v))
        put_double(line, dv_as_float(v));
    else if (dv_is_none(v))
        dv_line_put(line, "None");
    else if (dv_is_bool(v))
        dv_line_put(line, v.bits == DV_TRUE.bits ? "True" : "False");
    else if (dv_is_object(v))
        put_object(vm, line, v, depth);
    else
        dv_line_put(line, "?");
}

static void put_type(dv_vm *vm, dv_line *line, dv_value v) {
    if (dv_is_empty(v)) return;
    if (!dv_is_object(v) || dv_as_object(v)->shape < DV_T_COUNT)
        dv_words_shape(vm, line, (uint32_t)dv_type_of(vm, v));
    else if (dv_shape_at(vm, dv_as_object(v)->shape))
        dv_words_name(vm, line, dv_shape_at(vm, dv_as_object(v)->shape)->class_->name);
}

/* ---- One variable ---- */

/* As ["name", "value", "kind", "where"]. */
static void write_entry(dv_json *json, dv_text name, const dv_line *value, const char *kind,
                        size_t kind_size, const dv_line *where) {
    dv_json_begin(json, NULL, '[');
    dv_json_text(json, NULL, name.data, name.size);
    dv_json_text(json, NULL, value->text, value->size);
    dv_json_text(json, NULL, kind, kind_size);
    dv_json_text(json, NULL, where->text, where->size);
    dv_json_end(json, ']');
}

static void keep_text(char *to, const dv_line *line) {
    size_t size = line->size < LONGEST - 1 ? line->size : LONGEST - 1;
    while (size > 0 && size < line->size && ((unsigned char)line->text[size] & 0xC0) == 0x80)
        size--;
    memcpy(to, line->text, size);
    to[size] = 0;
}

/* A value in a slot of the frame.  `looks`: what it refers to is there. */
static void write_value(dv_vm *vm, dv_json *json, dv_text name, dv_value v, int32_t slot,
                        bool looks, const char *where_text) {
    dv_steps *steps = vm->profile->recorded;
    dv_line value = {0}, type = {0}, where = {0};
    seen *known = slot >= 0 && slot < ENTRIES ? &steps->seen[slot] : NULL;
    if (looks || !dv_is_object(v)) {
        put_value(vm, &value, v, 1);
        put_type(vm, &type, v);
        if (known) {
            known->value = v;
            keep_text(known->text, &value);
            keep_text(known->type, &type);
        }
    } else if (known && dv_same(known->value, v)) {
        dv_line_put(&value, "%s", known->text);
        dv_line_put(&type, "%s", known->type);
    } else {
        dv_line_put(&value, "an object");
    }
    dv_line_put(&where, "%s", where_text);
    if (value.size > LONGEST * 2) value.size = LONGEST * 2;
    write_entry(json, name, &value, type.text, type.size, &where);
}

/* ---- In cells of code objects ---- */

static dv_text name_of_local(const dv_code *code, uint32_t i) { return code->local_names[i]; }

static const char *is_owned(const dv_code *code, uint32_t pc, uint32_t index, bool *reserved) {
    uint32_t state = code->state_at[pc];
    *reserved = true;
    while (state != 0 && state != DV_NO_STATE) {
        const dv_stack_state *entry = &code->states[state];
        if (entry->depth == index + 1) {
            *reserved = entry->kind == DV_SLOT_RESERVED;
            return entry->kind == DV_SLOT_OWNED ? "owned" : "borrowed";
        }
        state = entry->below;
    }
    return "";
}

static void write_frame(dv_vm *vm, dv_json *json, dv_thread *thread, uint32_t pc, phase now) {
    const dv_code *code = thread->code;
    const dv_value *fp = vm->fp, *base = fp + thread->stack_base;
    /* Regions leave such locals as they are, or were. */
    const uint64_t *live = now == BEHIND ? dv_thread_live(vm, thread) : NULL;
    dv_json_begin(json, "locals", '[');
    for (uint32_t i = 0; i < code->local_count; i++)
        write_value(vm, json, name_of_local(code, i), fp[i], (int32_t)i, true,
                    live && !dv_is_live(live[pc], i) ? "not needed now" : "");
    dv_json_end(json, ']');
    dv_json_begin(json, "stack", '[');
    for (uint32_t i = 0; base + i < vm->sp; i++) {
        bool reserved;
        const char *owned = is_owned(code, pc, i, &reserved);
        if (reserved) {
            const dv_line text = {.size = 1, .text = "-"}, where = {0};
            write_entry(json, (dv_text){"", 0}, &text, "reserved", 8, &where);
        } else {
            write_value(vm, json, (dv_text){"", 0}, base[i], -1, true, owned);
        }
    }
    dv_json_end(json, ']');
}

/* ---- In regions ---- */

static const dv_region *region_at(const dv_thread *thread, const dv_cell *ip) {
    const dv_region *region = thread->regions;
    while (region && !(ip >= region->cells && ip < region->cells + region->cell_count))
        region = region->next;
    return region;
}

/* The instruction that begins at the cell; count: none does. */
static uint32_t origin_at(const dv_region *region, uint32_t cell) {
    uint32_t low = 0, high = region->origin_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (region->origins[middle].cell < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low < region->origin_count && region->origins[low].cell == cell ? low
                                                                           : region->origin_count;
}

static void put_raw(const dv_vm *vm, dv_line *line, uint8_t kind, const dv_value *slot, bool in_r) {
    const int64_t i = in_r ? vm->r : (int64_t)slot->bits;
    switch ((dv_kind)kind) {
    case DV_K_INT: dv_line_put(line, "%lld", (long long)i); break;
    case DV_K_BOOL: dv_line_put(line, i ? "True" : "False"); break;
    case DV_K_CHAR: dv_line_put(line, "character %lld", (long long)i); break;
    case DV_K_FLOAT: put_double(line, in_r ? vm->d : dv_as_float(*slot)); break;
    case DV_K_COMPLEX: put_complex(line, dv_as_float(slot[0]), dv_as_float(slot[1])); break;
    case DV_K_RANGE:
        dv_line_put(line, "next %lld, step %lld, %lld left", (long long)slot[1].bits,
                    (long long)slot[2].bits, (long long)slot[0].bits);
        break;
    default: break;
    }
}

static bool is_raw(const dv_placed *known) {
    const dv_kind kind = (dv_kind)known->kind;
    return kind == DV_K_RANGE ||
           (known->where == DV_AT_SLOT && (dv_kind_is_raw(kind) || kind == DV_K_COMPLEX));
}

/* An entry that is a value, or none at all; `looks` as above. */
static void write_boxed(dv_vm *vm, dv_json *json, dv_text name, const dv_region *region,
                        const dv_placed *known, bool looks) {
    const dv_line nothing = {.size = 1, .text = "-"}, where = {.size = 10, .text = "never made"};
    const bool alias = known->where == DV_AT_ALIAS;
    const int16_t slot = alias ? known->slot : known->home;
    const char *text = known->dead ? "not needed now" : alias ? "borrowed" : "";
    if (known->kind == DV_K_RESERVED)
        write_entry(json, name, &nothing, "reserved", 8, &(dv_line){0});
    else if (known->kind == DV_K_VIRTUAL || dv_same(vm->fp[slot], DV_FADED))
        write_entry(json, name, &nothing, "instance", 8, &where);
    else if (known->where == DV_AT_VALUE)
        write_value(vm, json, name, known->value, -1, looks && !region->retired, "a constant");
    else if (known->where == DV_AT_NOWHERE)
        write_entry(json, name, &nothing, "", 0, &(dv_line){0});
    else
        write_value(vm, json, name, vm->fp[slot], slot, looks && !known->dead, text);
}

/* An entry that the builder knows. */
static void write_known(dv_vm *vm, dv_json *json, dv_text name, const dv_region *region,
                        const dv_placed *known, bool looks) {
    const char *kind = dv_kind_names[known->kind];
    dv_line value = {0}, where = {0};
    if (is_raw(known)) {
        put_raw(vm, &value, known->kind, &vm->fp[known->slot], false);
        dv_line_put(&where, "raw, slot %d%s", known->slot, known->dead ? ", not needed now" : "");
    } else if (known->where == DV_AT_REGISTER) {
        put_raw(vm, &value, known->kind, NULL, true);
        dv_line_put(&where, "raw, register %c", known->kind == DV_K_FLOAT ? 'd' : 'r');
    } else {
        write_boxed(vm, json, name, region, known, looks);
        return;
    }
    write_entry(json, name, &value, kind, strlen(kind), &where);
}

/* Locals of the region's function, then of the one that is inlined; else it is on a stack. */
static bool is_local(const dv_region *region, const dv_origin *origin, uint32_t q, dv_text *name) {
    const dv_code *outer = region->thread->code, *inner = origin->thread->code;
    const uint32_t base = (uint32_t)origin->base;
    if (q < outer->local_count) {
        *name = name_of_local(outer, q);
        return true;
    }
    if (!base || q < base || q >= base + inner->local_count) return false;
    *name = name_of_local(inner, q - base);
    return true;
}

static void write_entries(dv_vm *vm, dv_json *json, const char *key, const dv_region *region,
                          const dv_origin *origin, bool locals, bool looks) {
    dv_json_begin(json, key, '[');
    for (uint32_t q = 0; q < origin->known_count; q++) {
        dv_text name = {"", 0};
        if (is_local(region, origin, q, &name) == locals)
            write_known(vm, json, name, region, &region->known[origin->first_known + q], looks);
    }
    dv_json_end(json, ']');
}

static int add_text(void *context, const char *text, size_t size) {
    dv_line_text(context, text, size);
    return 0;
}

/* Which instruction has begun; false: control is between two cells of one. */
static bool follow(dv_vm *vm, const dv_region *region, uint32_t cell) {
    dv_steps *steps = vm->profile->recorded;
    const uint32_t begins = origin_at(region, cell);
    const uint64_t fp = (uint64_t)(vm->fp - vm->stack);
    if (begins < region->origin_count)
        steps->region = region, steps->origin = begins, steps->fp = fp;
    else if (steps->region != region || steps->fp != fp)
        steps->region = NULL;
    return begins < region->origin_count;
}

static void write_region_step(dv_vm *vm, dv_json *json, const dv_region *region, uint32_t cell,
                              bool begins) {
    const dv_steps *steps = vm->profile->recorded;
    dv_line text = {0};
    dv_region_print_step(vm, region, cell, add_text, &text);
    dv_json_number(json, "cell", cell);
    dv_json_text(json, "text", text.text, text.size);
    if (!steps->region || steps->origin >= region->origin_count) return;
    const dv_origin *origin = &region->origins[steps->origin];
    const dv_position *position = dv_code_position(origin->thread->code, origin->pc);
    const dv_text name = origin->thread->code->qualname;
    dv_json_text(json, "function", name.data, name.size);
    dv_json_number(json, "line", position ? position->line : 0);
    dv_json_number(json, "pc", origin->pc);
    write_entries(vm, json, "locals", region, origin, true, begins);
    write_entries(vm, json, "stack", region, origin, false, begins);
}

/* ---- Steps ---- */

static phase phase_of(const dv_thread *thread, bool in_region, uint32_t op) {
    if (in_region) return op == DV_OP_R_EXIT ? LEAVING : IN_REGION;
    if (!thread->warm) return COLD;
    return thread->counts && thread->counts->region_entries > 0 ? BEHIND : WARM;
}

void dv_steps_note(dv_vm *vm, dv_thread *thread, const dv_cell *ip, uint32_t op, uint32_t pc) {
    dv_steps *steps = vm->profile->recorded;
    if (!dv_page_wants(&steps->wanted, thread->code)) return;
    const bool in_region = !dv_thread_owns(thread, ip);
    const dv_region *region = in_region ? region_at(thread, ip) : NULL;
    const phase now = phase_of(thread, in_region, op);
    const bool begins = region && follow(vm, region, (uint32_t)(ip - region->cells));
    if (!region) steps->region = NULL;
    if (steps->full || steps->kept[now] >= steps->each || (in_region && !region)) {
        steps->passed++;
        return;
    }
    steps->kept[now]++;
    const size_t before = steps->size;
    dv_json json = {.page = &steps->page, .begun = before > 0};
    dv_foreign_form form = {.name = "?"};
    if (op >= DV_OP_COUNT) (void)vm->hooks.plugin.form(vm, ip, &form);
    dv_json_begin(&json, NULL, '{');
    dv_json_number(&json, "step", vm->profile->steps);
    dv_json_string(&json, "phase", phase_names[now]);
    dv_json_number(&json, "frame", (uint64_t)(vm->fp - vm->stack));
    dv_json_string(&json, "form", op < DV_OP_COUNT ? dv_op_name(op) : form.name);
    if (region) {
        write_region_step(vm, &json, region, (uint32_t)(ip - region->cells), begins);
    } else {
        const dv_position *position = dv_code_position(thread->code, pc);
        dv_json_text(&json, "function", thread->code->qualname.data, thread->code->qualname.size);
        dv_json_number(&json, "line", position ? position->line : 0);
        dv_json_number(&json, "pc", pc);
        write_frame(vm, &json, thread, pc, now);
    }
    dv_json_end(&json, '}');
    if (steps->full) steps->size = before; /* half of one is none */
}

bool dv_steps_begin(dv_vm *vm, const dv_unit *unit, const char *function, uint32_t each) {
    dv_steps *steps = dv_heap_alloc(&vm->heap, sizeof *steps);
    if (!steps) return false;
    memset(steps, 0, sizeof *steps);
    steps->wanted = (dv_page){.function = function, .unit = unit};
    steps->page = (dv_page){.out = append, .context = vm};
    steps->each = each < DV_STEPS_MOST ? each : DV_STEPS_MOST;
    vm->profile->recorded = steps;
    vm->keeps_facts = true;
    return true;
}

void dv_steps_json(const dv_vm *vm, dv_json *json) {
    const dv_steps *steps = vm->profile->recorded;
    if (!steps) return;
    dv_json_begin(json, "steps", '{');
    dv_json_string(json, "function", steps->wanted.function);
    dv_json_number(json, "passed", steps->passed);
    dv_json_begin(json, "kept", '[');
    if (steps->size) json->page->out(json->page->context, steps->text, steps->size);
    dv_json_end(json, ']');
    dv_json_end(json, '}');
}

void dv_steps_free(dv_vm *vm, dv_steps *steps) {
    if (!steps) return;
    if (steps->room) dv_heap_free(&vm->heap, steps->text, steps->room);
    dv_heap_free(&vm->heap, steps, sizeof *steps);
}
