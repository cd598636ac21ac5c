/* warning.c: filters of warnings (warning.h). */
#include "report/warning.h"

#include <stdlib.h>
#include <strings.h>

#include "core/upcall.h"
#include "types/sequence/list.h"
#include "types/text/str.h"

enum { ACTION, MESSAGE, CATEGORY, MODULE, LINE, FIELDS };

/* Takes a filter apart; what is missing is empty.  False: there is too much. */
static bool split(const char *text, size_t size, dv_text fields[FIELDS]) {
    const char *end = text + size;
    for (int i = 0; i < FIELDS; i++) {
        const char *colon = text < end ? memchr(text, ':', (size_t)(end - text)) : NULL;
        const char *stop = colon ? colon : end;
        while (text < stop && *text == ' ') text++;
        while (text < stop && stop[-1] == ' ') stop--;
        fields[i] = (dv_text){text, (uint32_t)(stop - text)};
        if (!colon)
            text = end;
        else if (i + 1 == FIELDS)
            return false;
        else
            text = colon + 1;
    }
    return true;
}

/* A beginning of the action's name is enough; -1: there is none. */
static int action_of(dv_text text) {
    static const struct {
        const char *name;
        dv_warning_action action;
    } names[] = {{"default", DV_WARNING_DEFAULT}, {"ignore", DV_WARNING_IGNORE},
                 {"error", DV_WARNING_ERROR},     {"always", DV_WARNING_ALWAYS},
                 {"module", DV_WARNING_MODULE},   {"once", DV_WARNING_ONCE}};
    if (text.size == 3 && memcmp(text.data, "all", 3) == 0) return DV_WARNING_ALWAYS;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text.size <= strlen(names[i].name) && memcmp(text.data, names[i].name, text.size) == 0)
            return (int)names[i].action;
    return -1;
}

/* Is it a class of this name, which may begin with that of a module, or of a subclass? */
static bool fits_category(const dv_class *category, dv_text name) {
    for (uint32_t i = 0; i < name.size; i++)
        if (name.data[i] == '.') {
            name.data += i + 1, name.size -= i + 1;
            i = (uint32_t)-1;
        }
    for (uint32_t i = 0; i < category->mro_count; i++) {
        const dv_str *own = dv_as_str(category->mro[i]->name);
        if (own->length != (int64_t)name.size) continue;
        uint32_t at = 0;
        while (at < name.size && dv_str_at(own, at) == (uint8_t)name.data[at]) at++;
        if (at == name.size) return true;
    }
    return false;
}

static bool fits(const dv_warning *w, const dv_text fields[FIELDS]) {
    const dv_text message = fields[MESSAGE], category = fields[CATEGORY], module = fields[MODULE],
                  line = fields[LINE];
    if (strlen(w->message) < message.size ||
        strncasecmp(w->message, message.data, message.size) != 0)
        return false;
    if (category.size && !fits_category(w->category, category)) return false;
    if (module.size &&
        (module.size != w->module.size || memcmp(module.data, w->module.data, module.size) != 0))
        return false;
    uint32_t number = 0;
    for (uint32_t i = 0; i < line.size; i++) {
        if (line.data[i] < '0' || line.data[i] > '9') return false;
        number = number * 10 + (uint32_t)(line.data[i] - '0');
    }
    return number == 0 || number == w->line;
}

dv_warning_action dv_warning_find(dv_vm *vm, const dv_warning *warning) {
    if (!dv_is_object(vm->sys.warn_options)) return DV_WARNING_DEFAULT;
    const dv_list *options = dv_as_list(vm->sys.warn_options);
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    int action = -1;
    for (int64_t i = options->count; i-- > 0 && action < 0;) {
        if (!dv_is_str(options->items[i])) continue; /* the program may change sys.warnoptions */
        size_t size;
        char *text = dv_str_utf8(vm, options->items[i], &size);
        dv_error_clear(vm);
        if (!text) continue;
        dv_text fields[FIELDS];
        if (split(text, size, fields) && fits(warning, fields)) action = action_of(fields[ACTION]);
        dv_heap_free(&vm->heap, text, size + 1);
    }
    vm->error = error;
    return action < 0 ? DV_WARNING_DEFAULT : (dv_warning_action)action;
}
