/* typed.c: prompts and completion for a host whose user types statements (typed.h). */
#include "api/typed.h"

#include "core/upcall.h"
#include "types/binary/bytes.h"
#include "types/sequence/list.h"
#include "types/file/module.h"
#include "types/text/str.h"

static dv_value import_z(dv_vm *vm, const char *name, dv_value (*import)(dv_vm *, dv_value)) {
    dv_value text = dv_str_intern(vm, name, strlen(name));
    dv_value module = dv_is_empty(text) ? DV_EMPTY : import(vm, text);
    dv_release(vm, text);
    return module;
}

static bool make_prompt(dv_vm *vm, const char *name, const char *text) {
    if (!dv_is_empty(dv_sys_get(vm, name))) return true;
    dv_value prompt = dv_str_z(vm, text);
    return !dv_is_empty(prompt) &&
           dv_namespace_set(vm, &dv_as_module(vm->sys.module)->names, name, prompt);
}

bool dv_typed_begin(dv_vm *vm) {
    dv_value sys = import_z(vm, "sys", dv_import);
    bool good =
        !dv_is_empty(sys) && make_prompt(vm, "ps1", ">>> ") && make_prompt(vm, "ps2", "... ");
    dv_release(vm, sys);
    return good;
}

/* As many whole code points as there is room for; a text with lone surrogates is none. */
static void copy_cut(dv_vm *vm, dv_value text, char *out, size_t size) {
    dv_value bytes = dv_encode(vm, text, DV_EMPTY, DV_EMPTY);
    if (dv_is_empty(bytes)) return;
    const dv_str *utf8 = dv_as_bytes(bytes);
    size_t length = (size_t)utf8->length, cut = length < size ? length : size - 1;
    while (cut < length && cut > 0 && ((uint8_t)utf8->data[cut] & 0xC0) == 0x80) cut--;
    memcpy(out, utf8->data, cut);
    out[cut] = 0;
    dv_release(vm, bytes);
}

static void copy_prompt(dv_vm *vm, const char *name, char *out, size_t size) {
    out[0] = 0;
    dv_value value = dv_retain(dv_sys_get(vm, name));
    dv_value text = dv_is_empty(value) ? DV_EMPTY : dv_to_str(vm, value);
    if (!dv_is_empty(text)) copy_cut(vm, text, out, size);
    dv_error_clear(vm);
    dv_release(vm, text);
    dv_release(vm, value);
}

void dv_typed_prompts(dv_vm *vm, char *first, char *next, size_t size) {
    copy_prompt(vm, "ps1", first, size);
    copy_prompt(vm, "ps2", next, size);
}

/* `words` is the list that the module _completer has made. */
static bool hand_over(dv_vm *vm, dv_value words, dynvm_found found, void *context) {
    for (int64_t i = 0; i < dv_as_list(words)->count; i++) {
        size_t size;
        char *word = dv_str_utf8(vm, dv_as_list(words)->items[i], &size);
        if (!word) return false;
        bool enough = found(context, word) != 0;
        dv_heap_free(&vm->heap, word, size + 1);
        if (enough) break;
    }
    return true;
}

bool dv_typed_complete(dv_vm *vm, const char *text, dynvm_found found, void *context) {
    dv_value completer = import_z(vm, "_completer", dv_import_helper);
    dv_value name = dv_str_intern(vm, "matches", 7), beginning = dv_str_new(vm, text, strlen(text));
    dv_value matches = DV_EMPTY, words = DV_EMPTY;
    bool ready = !dv_is_empty(completer) && !dv_is_empty(name) && !dv_is_empty(beginning);
    if (ready) matches = dv_get_attribute(vm, completer, name);
    if (!dv_is_empty(matches)) words = dv_call(vm, matches, &beginning, 1, DV_EMPTY);
    bool good = !dv_is_empty(words) && hand_over(vm, words, found, context);
    dv_release(vm, words);
    dv_release(vm, matches);
    dv_release(vm, beginning);
    dv_release(vm, name);
    dv_release(vm, completer);
    return good;
}
