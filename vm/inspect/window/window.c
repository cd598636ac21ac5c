/* window.c: the page of `dynvm view` (window.h). */
#include "inspect/window/window.h"

#include "inspect/dis.h"
#include "inspect/explain.h"
#include "inspect/rows.h"
#include "inspect/stats.h"
#include "inspect/trace.h"
#include "inspect/window/steps.h"

/* Writes JSON into the page's block of data. */
static int write_data(void *context, const char *text, size_t size) {
    const dv_page *page = context;
    for (size_t begin = 0; begin < size;) {
        const char *found = memchr(text + begin, '<', size - begin);
        const size_t end = found ? (size_t)(found - text) : size;
        if (end > begin) page->out(page->context, text + begin, end - begin);
        if (found) dv_page_text(page, "\\u003c");
        begin = end + (found != NULL);
    }
    return 0;
}

static void write_about(dv_json *json, const dv_unit *unit) {
    const dv_text source = unit->source.size ? unit->source : json->page->text;
    const dv_text file = dv_code_file(unit->code);
    dv_json_string(json, "tool", "view");
    dv_json_number(json, "schema", 1);
    dv_json_text(json, "name", file.data, file.size);
    dv_json_text(json, "source", source.data, source.size);
}

static void write_log(dv_vm *vm, dv_json *json) {
    dv_json_begin(json, "log", '{');
    dv_trace_json(vm, json);
    dv_json_end(json, '}');
}

bool dv_inspect_window(dv_vm *vm, const dv_unit *unit, const dv_page *page) {
    dv_page data = *page;
    data.out = write_data;
    data.context = (void *)page;
    data.json = true;
    data.unit = unit;
    data.where = true;
    dv_json json = {.page = &data};
    dv_page_text(page, dv_window_head);
    dv_json_begin(&json, NULL, '{');
    write_about(&json, unit);
    write_log(vm, &json);
    dv_page_text(&data, ",\"listing\":");
    (void)dv_inspect_dis(vm, unit, true, &data);
    dv_page_text(&data, ",\"counts\":");
    bool written = dv_inspect_stats(vm, &data);
    dv_page_text(&data, ",\"reasons\":");
    written = written && dv_inspect_explain(vm, &data);
    dv_steps_json(vm, &json);
    dv_json_end(&json, '}');
    dv_page_text(page, dv_window_tail);
    return written;
}
