/* unicode.c: the module _unicode: what `unicodedata` (lang/lib/data/unicodedata.dl) takes from the
 * tables that the compiler and str have: names, what characters consist of, normal forms. */
#include <stdio.h>

#include "base/character.h"
#include "base/forms.h"
#include "core/upcall.h"
#include "core/work.h"
#include "modules/modules.h"
#include "types/text/str.h"

/* What follows is given by unicodedata, which has checked it: strs of one character, and such. */

static uint32_t point_of(dv_value v) { return dv_str_at(dv_as_str(v), 0); }

/* find(name): the character, or None. */
static dv_value unicode_find(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    size_t size;
    char *name = dv_str_utf8(vm, args[0], &size);
    if (!name) return DV_EMPTY;
    uint32_t point;
    const bool found = dv_character_find(name, size, &point);
    dv_heap_free(&vm->heap, name, size + 1);
    return found ? dv_str_char(vm, point) : DV_NONE;
}

/* name(c): its name, or "". */
static dv_value unicode_name(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    char name[DV_CHARACTER_LONGEST];
    return dv_str_new(vm, name, dv_character_name(point_of(args[0]), name));
}

static dv_value unicode_combining(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)count;
    return dv_int(dv_forms_class(point_of(args[0])));
}

/* parts(c): None, or its tag and what it consists of in one step, as a str. */
static dv_value unicode_parts(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    uint32_t parts;
    const char *tag;
    const uint32_t *points = dv_forms_step(point_of(args[0]), &parts, &tag);
    if (!points) return DV_NONE;
    dv_builder b;
    dv_builder_init(&b, vm);
    if (*tag == '<') dv_builder_z(&b, tag);
    for (uint32_t i = 0; i < parts; i++) {
        char text[16];
        const int size = snprintf(text, sizeof text, " %04X", (unsigned)points[i]);
        const int skipped = i == 0 && *tag != '<';
        dv_builder_text(&b, text + skipped, (size_t)(size - skipped));
    }
    return dv_builder_finish(&b);
}

static dv_value str_of(dv_vm *vm, const uint32_t *points, int64_t count) {
    uint32_t all = 0;
    for (int64_t i = 0; i < count; i++) all |= points[i];
    dv_str *s = dv_str_alloc(vm, count, dv_str_kind_of(all));
    for (int64_t i = 0; s && i < count; i++) dv_str_put(s, i, points[i]);
    return s ? dv_object_value(s) : DV_EMPTY;
}

/* normal(text, compatible, composed): its normal form.  Each character comes to as many points as
 * it consists of: they are counted first. */
static dv_value unicode_normal(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_str *s = dv_as_str(args[0]);
    const bool compatible = dv_same(args[1], DV_TRUE), composed = dv_same(args[2], DV_TRUE);
    uint32_t few[DV_FORMS_LONGEST], used = 0;
    uint64_t total = 0;
    for (int64_t i = 0; i < s->length; i++)
        total += dv_forms_decompose(dv_str_at(s, i), compatible, few);
    if (!dv_work(vm, 16 * total)) return DV_EMPTY;
    if (total > UINT32_MAX / 8) return dv_raise_memory(vm);
    const size_t size = (size_t)(2 * total + 1) * sizeof(uint32_t); /* and room to sort them */
    uint32_t *points = dv_heap_alloc(&vm->heap, size);
    if (!points) return dv_raise_memory(vm);
    for (int64_t i = 0; i < s->length; i++)
        used += dv_forms_decompose(dv_str_at(s, i), compatible, points + used);
    dv_forms_sort(points, used, points + total);
    if (composed) used = dv_forms_compose(points, used);
    dv_value result = str_of(vm, points, used);
    dv_heap_free(&vm->heap, points, size);
    return result;
}

static const dv_cfunction_def functions[] = {
    {.name = "combining", .entry = unicode_combining, .min = 1, .max = 1},
    {.name = "find", .entry = unicode_find, .min = 1, .max = 1},
    {.name = "name", .entry = unicode_name, .min = 1, .max = 1},
    {.name = "normal", .entry = unicode_normal, .min = 3, .max = 3},
    {.name = "parts", .entry = unicode_parts, .min = 1, .max = 1},
    {.name = NULL}};

bool dv_unicode_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions);
}
