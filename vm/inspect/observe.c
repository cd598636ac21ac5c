/* observe.c: the program's state at back edges (observe.h). */
#include "inspect/observe.h"

#include <stdio.h>

#include "code/liveness.h"
#include "core/work.h"
#include "region/region.h"
#include "types/class/class.h"
#include "types/number/complex.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/callable/generator.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/mapping/set.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

enum { DEPTH = 3, ITEMS = 16 };

/* An object's address has 44 to 48 bits.  What looks like one, from id() or in a repr, counts as
 * equal to all others: the two VMs have their objects in different places. */
enum { ADDRESS_DIGITS = 11 };
#define ADDRESS_LEAST ((int64_t)1 << 4 * (ADDRESS_DIGITS - 1))
#define ADDRESS_LIMIT ((int64_t)1 << 48)

/* What the state of a program consists of, as one number
 * -------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x) {
    h ^= x + 0x9E3779B97F4A7C15u + (h << 6) + (h >> 2);
    return h * 0xFF51AFD7ED558CCDu;
}

static uint64_t mix_bytes(uint64_t h, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) h = mix(h, bytes[i]);
    return mix(h, size);
}

static bool is_address(int64_t i) { return i % 16 == 0 && i >= ADDRESS_LEAST && i < ADDRESS_LIMIT; }

static uint32_t character(const dv_str *s, int64_t i) {
    return i < s->length && s->kind == 1 ? (unsigned char)s->data[i] : 0;
}

static bool is_hexadecimal(uint32_t c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/* How many characters there are an address, as in "<A object at 0x7f0123456789>". */
static int64_t address_at(const dv_str *s, int64_t i) {
    if (character(s, i) != '0' || character(s, i + 1) != 'x') return 0;
    int64_t digits = 0;
    while (is_hexadecimal(character(s, i + 2 + digits))) digits++;
    return digits >= ADDRESS_DIGITS ? digits + 2 : 0;
}

static uint64_t digest_text(uint64_t h, const dv_str *s) {
    if (s->kind != 1) return mix_bytes(h, s->data, (size_t)s->length * s->kind);
    for (int64_t i = 0, address; i < s->length; i += address ? address : 1) {
        address = address_at(s, i);
        h = mix(h, address ? 'x' : character(s, i));
    }
    return mix(h, 1);
}

static uint64_t digest(dv_vm *vm, uint64_t h, dv_value v, int depth);

static uint64_t digest_items(dv_vm *vm, uint64_t h, const dv_value *items, int64_t count,
                             int depth) {
    h = mix(h, (uint64_t)count);
    for (int64_t i = 0; depth > 0 && i < count && i < ITEMS; i++)
        h = digest(vm, h, items[i], depth - 1);
    return h;
}

/* The bits of a NaN depend on the order of operands, which C leaves to the compiler. */
static uint64_t double_bits(double d) { return d != d ? 0 : dv_float(d).bits; }

static uint64_t digest_complex(uint64_t h, double real, double imag) {
    return mix(mix(h, double_bits(real)), double_bits(imag));
}

static uint64_t digest_object(dv_vm *vm, uint64_t h, dv_value v, int depth) {
    const dv_object *object = dv_as_object(v);
    switch (object->shape) {
    case DV_T_INT: {
        const dv_bigint *big = (const dv_bigint *)object;
        size_t limbs = (size_t)(big->size < 0 ? -big->size : big->size);
        return mix_bytes(mix(h, big->size < 0), big->limbs, limbs * sizeof *big->limbs);
    }
    case DV_T_COMPLEX: return digest_complex(h, dv_as_complex(v)->real, dv_as_complex(v)->imag);
    case DV_T_BYTES:
    case DV_T_STR: return digest_text(h, (const dv_str *)object);
    case DV_T_LIST: return digest_items(vm, h, dv_as_list(v)->items, dv_as_list(v)->count, depth);
    case DV_T_TUPLE:
        return digest_items(vm, h, dv_as_tuple(v)->items, dv_as_tuple(v)->count, depth);
    case DV_T_DICT: return mix(h, (uint64_t)dv_as_dict(v)->count);
    case DV_T_SET:
    case DV_T_FROZENSET: return mix(h, (uint64_t)dv_as_set(v)->used);
    default: return h;
    }
}

static uint64_t digest(dv_vm *vm, uint64_t h, dv_value v, int depth) {
    h = mix(h, dv_is_empty(v) ? 99u : (uint64_t)dv_type_of(vm, v));
    if (dv_is_object(v)) return digest_object(vm, h, v, depth);
    if (dv_is_float(v)) return mix(h, double_bits(dv_as_float(v)));
    return mix(h, dv_is_int(v) && is_address(dv_as_int(v)) ? 0 : v.bits);
}

/* A raw int counts as the int that it would be boxed to. */
static uint64_t digest_int(uint64_t h, int64_t i) {
    h = mix(h, DV_T_INT);
    if (dv_fits_int(i)) return mix(h, is_address(i) ? 0 : dv_int(i).bits);
    uint64_t limb = i < 0 ? -(uint64_t)i : (uint64_t)i;
    return mix_bytes(mix(h, i < 0), &limb, sizeof limb);
}

/* What type has what the item makes? */
static uint32_t type_made(const dv_exit_item *made) {
    return dv_is_built(made) ? dv_built_type(made)
                             : (uint32_t)dv_as_int(made->value) >> DV_LAYOUT_SHIFT;
}

/* The same of an instance or a tuple of numbers that is not made: what its items are is in the
 * frame's slots. */
static uint64_t digest_made(dv_vm *vm, uint64_t h, const dv_value *fp, const dv_exit_item *made) {
    h = mix(h, type_made(made) ? type_made(made) : (uint32_t)DV_T_OBJECT);
    if (!dv_is_built(made)) return h;
    h = mix(h, dv_built_count(made));
    for (uint32_t i = 0; i < dv_built_count(made); i++) {
        const dv_exit_item *item = &made[1 + i];
        const dv_value v = item->action == DV_EXIT_VALUE ? item->value : fp[item->from];
        h = item->action == DV_EXIT_INT    ? digest_int(h, (int64_t)v.bits)
            : item->action == DV_EXIT_BOOL ? digest(vm, h, dv_bool(v.bits), 0)
                                           : digest(vm, h, v, 0);
    }
    return h;
}

/* Events
 * ---------------------------------------------------------------------------------------------- */

/* The name of an object's attribute in the slot. */
static dv_value name_of_slot(const dv_shape *shape, uint32_t slot) {
    while (shape->count > slot + 1) shape = shape->parent;
    return shape->name;
}

static uint64_t digest_name(dv_vm *vm, uint64_t h, dv_value name) { return digest(vm, h, name, 0); }

/* A generator goes by its own name, another object by that of its class. */
static dv_value name_of_dead(dv_vm *vm, const dv_object *dead) {
    if (dead->shape == DV_T_GENERATOR) return ((const dv_generator *)dead)->qualname;
    return dv_class_name(dv_class_of(vm, dv_object_value((dv_object *)dead)));
}

/* NULL: it is of a built-in type. */
static const dv_shape *shape_of_dead(dv_vm *vm, const dv_object *dead) {
    return dead->shape < DV_T_COUNT ? NULL : dv_shape_at(vm, dead->shape);
}

static uint64_t digest_death(dv_vm *vm, const dv_object *dead) {
    const dv_shape *shape = shape_of_dead(vm, dead);
    uint64_t h = digest_name(vm, shape ? 3 : 2, name_of_dead(vm, dead));
    for (uint32_t i = 0; shape && i < shape->count; i++) {
        h = digest_name(vm, h, name_of_slot(shape, i));
        h = digest(vm, h, *dv_attribute_slot((dv_object *)dead, i), DEPTH);
    }
    return h;
}

static dv_peek local_at(const dv_event *event, uint32_t i) {
    if (dv_thread_owns(event->thread, event->ip)) return (dv_peek){.value = event->fp[i]};
    return dv_region_peek(dv_frame_thread(event->fp), event->ip, event->fp, event->base + i);
}

uint64_t dv_event_digest(const dv_event *event) {
    if (event->dead) return digest_death(event->vm, event->dead);
    const dv_code *code = event->thread->code;
    uint64_t h = mix_bytes(1, code->qualname.data, code->qualname.size);
    h = mix(h, event->pc);
    const uint64_t *live = dv_thread_live(event->vm, event->thread);
    for (uint32_t i = 0; i < code->local_count; i++) {
        if (live && !dv_is_live(live[event->pc], i))
            continue; /* regions may hold any value there */
        dv_peek local = local_at(event, i);
        h = local.is_raw_int       ? digest_int(h, local.integer)
            : local.is_raw_char    ? mix(mix(mix(h, DV_T_STR), (uint64_t)local.integer), 1)
            : local.made           ? digest_made(event->vm, h, event->fp, local.made)
            : local.is_raw_complex ? digest_complex(mix(h, DV_T_COMPLEX), local.real, local.imag)
                                   : digest(event->vm, h, local.value, DEPTH);
    }
    return h;
}

uint32_t dv_event_line(const dv_event *event) {
    if (event->dead) return 0;
    const dv_position *position = dv_code_position(event->thread->code, event->pc);
    return position ? position->line : 0;
}

static int describe(dv_vm *vm, const dv_peek *local, char *buffer, size_t size) {
    dv_value v = local->value;
    if (local->is_raw_int) return snprintf(buffer, size, "%lld", (long long)local->integer);
    if (local->is_raw_complex)
        return snprintf(buffer, size, "(%.17g%+.17gj)", local->real, local->imag);
    if (local->is_raw_char) return snprintf(buffer, size, "str");
    if (local->made)
        return snprintf(buffer, size, "%s", type_made(local->made) ? "tuple" : "object");
    if (dv_is_empty(v)) return snprintf(buffer, size, "(unassigned)");
    if (dv_is_int(v)) return snprintf(buffer, size, "%lld", (long long)dv_as_int(v));
    if (dv_is_float(v)) return snprintf(buffer, size, "%.17g", dv_as_float(v));
    if (dv_is_none(v)) return snprintf(buffer, size, "None");
    if (dv_is_bool(v)) return snprintf(buffer, size, v.bits == DV_TRUE.bits ? "True" : "False");
    if (dv_is_list(v))
        return snprintf(buffer, size, "list of %lld", (long long)dv_as_list(v)->count);
    const dv_type *type = vm->types[dv_type_of(vm, v)];
    return snprintf(buffer, size, "%s", type ? type->name : "object");
}

/* A text that is cut where its buffer ends. */
typedef struct words {
    char *buffer;
    size_t size, used;
} words;

static void add(words *w, const char *text, size_t size) {
    for (size_t i = 0; i < size && w->used + 1 < w->size; i++) w->buffer[w->used++] = text[i];
    if (w->size > 0) w->buffer[w->used] = 0;
}

static void add_named(words *w, dv_vm *vm, const char *between, const char *name, size_t size,
                      const dv_peek *value) {
    char text[64];
    describe(vm, value, text, sizeof text);
    add(w, between, strlen(between));
    add(w, name, size);
    add(w, " = ", 3);
    add(w, text, strlen(text));
}

/* Names are strs of one byte per character as a rule; of others the beginning is told. */
static size_t name_size(dv_value name) {
    return dv_as_str(name)->kind == 1 ? (size_t)dv_as_str(name)->length : 1;
}

static void describe_death(words *w, dv_vm *vm, const dv_object *dead) {
    static const char generator[] = "generator ", ends[] = " dies";
    const bool is_generator = dead->shape == DV_T_GENERATOR;
    const dv_shape *shape = shape_of_dead(vm, dead);
    dv_value name = name_of_dead(vm, dead);
    add(w, generator, is_generator ? sizeof generator - 1 : 0);
    add(w, dv_as_str(name)->data, name_size(name));
    add(w, ends, sizeof ends - 1);
    for (uint32_t i = 0; shape && i < shape->count; i++) {
        dv_peek value = {.value = *dv_attribute_slot((dv_object *)dead, i)};
        name = name_of_slot(shape, i);
        add_named(w, vm, i ? ", " : ": ", dv_as_str(name)->data, name_size(name), &value);
    }
}

void dv_event_locals(const dv_event *event, char *buffer, size_t size) {
    words w = {buffer, size, 0};
    add(&w, "", 0);
    if (event->dead) {
        describe_death(&w, event->vm, event->dead);
        return;
    }
    const dv_code *code = event->thread->code;
    for (uint32_t i = 0; i < code->local_count; i++) {
        dv_peek local = local_at(event, i);
        add_named(&w, event->vm, i ? ", " : "", code->local_names[i].data,
                  code->local_names[i].size, &local);
    }
}

static void report(dv_vm *vm, const dv_event *event) {
    if (vm->observer_failed || vm->observer(vm->observer_context, event)) return;
    vm->observer_failed = true;
    dv_interrupt(vm);
}

/* Hook of the safepoints. */
static void at_safepoint(dv_vm *vm, const dv_cell *ip, dv_value *fp) {
    dv_event event = {.vm = vm, .thread = dv_frame_thread(fp), .ip = ip, .fp = fp};
    event.pc = dv_thread_owns(event.thread, ip) ? dv_thread_pc(event.thread, ip)
                                                : dv_region_pc(&event.thread, ip, &event.base);
    if (event.pc != DV_NO_PC) report(vm, &event);
}

static void at_death(dv_vm *vm, const dv_object *dead) {
    report(vm, &(dv_event){.vm = vm, .dead = dead});
}

void dv_observe(dv_vm *vm, dv_observer observer, void *context) {
    vm->observer = observer;
    vm->observer_context = context;
    vm->observer_failed = false;
    vm->hooks.inspect.observe = observer ? at_safepoint : NULL;
    vm->hooks.inspect.died = observer ? at_death : NULL;
    vm->countdown = 0;
}
