/* stats.c: the report of what was executed (stats.h). */
#include "inspect/stats.h"

#include "inspect/extensions.h"
#include "inspect/rows.h"
#include "inspect/words.h"

/* ---- Sums ---- */

typedef struct sums {
    dv_totals all;                        /* of the functions that the page wants */
    dv_totals quick;                      /* of these: instructions with derivatives */
    dv_totals by_op[DV_OP_GENERIC_COUNT]; /* likewise, each */
} sums;

static void add_function(dv_totals *totals, const dv_function_counts *function) {
    for (uint32_t pc = 0; pc < function->code->word_count; pc++)
        dv_totals_add(totals, &function->sites[pc]);
}

/* Of all regions that there are: the instructions that would make an object, and make none. */
static uint64_t removed_objects(const dv_profile *profile) {
    uint64_t removed = 0;
    for (const dv_function_counts *f = profile->functions; f; f = f->next)
        for (const dv_loop_counts *loop = f->loops; loop; loop = loop->next)
            removed += loop->removed;
    return removed;
}

static void add_all(sums *s, const dv_profile *profile, const dv_page *page) {
    for (const dv_function_counts *f = profile->functions; f; f = f->next) {
        for (uint32_t pc = 0; pc < f->code->word_count && dv_page_wants(page, f->code); pc++) {
            const dv_site_counts *site = &f->sites[pc];
            if (!site->executions && !site->deoptimisations) continue;
            uint32_t op = f->code->words[pc] & 0xFF;
            dv_totals_add(&s->all, site);
            dv_totals_add(&s->by_op[op], site);
            if (dv_profile_quickens(op)) dv_totals_add(&s->quick, site);
        }
    }
}

/* ---- Text ---- */

/* "1,234,567", right-aligned. */
static void put_number(dv_line *line, uint64_t number, uint32_t width) {
    char digits[32];
    size_t at = sizeof digits;
    unsigned count = 0;
    do {
        if (count && count % 3 == 0) digits[--at] = ',';
        digits[--at] = (char)('0' + number % 10);
        count++;
    } while (number /= 10);
    uint32_t size = (uint32_t)(sizeof digits - at);
    for (uint32_t i = size; i < width; i++) dv_line_put(line, " ");
    dv_line_text(line, digits + at, size);
}

/* A share in percent; "-" of nothing. */
static void put_share(dv_line *line, uint64_t part, uint64_t whole) {
    if (whole)
        dv_line_put(line, "%8.2f%%", 100.0 * (double)part / (double)whole);
    else
        dv_line_put(line, "%9s", "-");
}

/* Executions but the first one of each site have one before them. */
static void put_locality(dv_line *line, const dv_totals *totals) {
    put_share(line, totals->same, totals->typed - totals->firsts);
}

static void heading(const dv_page *page, const char *text) {
    dv_line line = {0};
    dv_page_text(page, "\n");
    dv_line_colour(&line, page, DV_COLOUR_HEADING);
    dv_line_put(&line, "%s", text);
    dv_page_line(page, &line);
}

static const char columns[] =
    "    executions           hits     misses      generic   deopts  locality  ";

static void put_columns(dv_line *line, const dv_page *page, const dv_totals *totals) {
    bool slow = totals->generic + totals->misses > totals->executions / 100;
    put_number(line, totals->executions, 14);
    put_number(line, totals->hits, 15);
    dv_line_colour(line, page, slow ? DV_COLOUR_SLOW : DV_COLOUR_FAST);
    put_number(line, totals->misses, 11);
    put_number(line, totals->generic, 13);
    dv_line_colour(line, page, DV_COLOUR_PLAIN);
    put_number(line, totals->deoptimisations, 9);
    dv_line_put(line, " ");
    put_locality(line, totals);
    dv_line_put(line, "  ");
}

static void put_function(dv_line *line, const dv_code *code, uint32_t number) {
    dv_text file = dv_code_file(code);
    dv_line_text(line, code->qualname.data, code->qualname.size);
    dv_line_put(line, "  ");
    dv_line_text(line, file.data, file.size);
    if (number) dv_line_put(line, ":%u", number);
}

/* What regions take of the memory (region/run/memory.h). */
static void list_regions(const dv_vm *vm, const dv_page *page) {
    const dv_region_use *use = &vm->regions;
    dv_line line = {0};
    dv_line_put(&line, "  regions: %u of %llu made, ", use->count, (unsigned long long)use->made);
    put_number(&line, use->bytes, 0);
    dv_line_put(&line, " bytes, ");
    put_number(&line, use->most, 0);
    dv_line_put(&line, " at most, of ");
    put_number(&line, use->limit, 0);
    if (use->evicted) dv_line_put(&line, "; %llu made room", (unsigned long long)use->evicted);
    dv_page_line(page, &line);
}

const char *const dv_exited_names[DV_EXITED_REASONS] = {
    [DV_EXITED_AT_END] = "end",
    [DV_EXITED_BY_GUARD] = "guard",
    [DV_EXITED_TO_NEW] = "new",
    [DV_EXITED_RETIRED] = "retired",
    [DV_EXITED_AT_SAFEPOINT] = "safepoint",
    [DV_EXITED_RAISING] = "raised",
};

static void list_exits(const dv_profile *profile, const dv_page *page) {
    dv_line line = {0};
    dv_line_put(&line, "  regions were entered ");
    put_number(&line, profile->entries, 0);
    dv_line_put(&line, " times, and left:");
    for (int i = 0; i < DV_EXITED_REASONS; i++) {
        if (!profile->exits[i]) continue;
        dv_line_put(&line, " %s ", dv_exited_names[i]);
        put_number(&line, profile->exits[i], 0);
    }
    dv_page_line(page, &line);
}

/* Of all instructions, those in regions included. */
static uint64_t guards_of(const dv_profile *profile, const sums *s) {
    return s->all.hits - s->all.unguarded + s->all.misses + profile->guards;
}

/* Objects that were made and removed, by kind. */
static void list_objects(const dv_profile *profile, const sums *s, const dv_page *page) {
    dv_line line = {0};
    heading(page, "Objects and guards");
    dv_page_text(page, "          made        removed   removed  kind\n");
    for (int kind = 0; kind < DV_MADE_KINDS; kind++) {
        const uint64_t made = profile->objects.made[kind], removed = profile->objects.removed[kind];
        if (!made && !removed) continue;
        put_number(&line, made, 14);
        put_number(&line, removed, 15);
        dv_line_put(&line, " ");
        put_share(&line, removed, made + removed);
        dv_line_put(&line, "  %s", dv_made_names[kind]);
        dv_page_line(page, &line);
    }
    put_number(&line, guards_of(profile, s), 14);
    dv_line_put(&line, " guards, of which ");
    put_number(&line, profile->guards, 0);
    dv_line_put(&line, " in regions; failed: ");
    put_number(&line, s->all.misses + profile->guards_failed, 0);
    dv_page_line(page, &line);
}

static void list_totals(const dv_vm *vm, const dv_profile *profile, const dv_page *page,
                        const sums *s) {
    dv_line line = {0};
    put_number(&line, s->all.executions, 0);
    dv_line_put(&line, " instructions were executed at level %s", dv_words_level(vm));
    if (!page->function) {
        dv_line_put(&line, ", in ");
        put_number(&line, profile->steps, 0);
        dv_line_put(&line, " steps");
    }
    dv_page_line(page, &line);
    dv_line_put(&line, "  of these, ");
    put_number(&line, s->quick.executions, 0);
    dv_line_put(&line, " have derivatives:");
    put_share(&line, s->quick.hits, s->quick.executions);
    dv_line_put(&line, " hits,");
    put_share(&line, s->quick.misses, s->quick.executions);
    dv_line_put(&line, " misses,");
    put_share(&line, s->quick.generic, s->quick.executions);
    dv_line_put(&line, " generic; type locality");
    put_locality(&line, &s->quick);
    dv_page_line(page, &line);
    if (profile->region && !page->function) {
        dv_line_put(&line, "  and ");
        put_number(&line, profile->region, 0);
        dv_line_put(&line, " steps in regions");
        dv_line_put(&line, " (%.1f%% of all)",
                    100.0 * (double)profile->region / (double)profile->steps);
        const uint64_t removed = removed_objects(profile);
        if (removed)
            dv_line_put(&line, ", where %llu places make no object", (unsigned long long)removed);
        dv_page_line(page, &line);
    }
    if (vm->regions.made && !page->function) list_regions(vm, page);
    if (profile->entries && !page->function) list_exits(profile, page);
    if (profile->incomplete)
        dv_page_text(page, "  (memory was short: some of it was not counted)\n");
}

static void list_instructions(const dv_page *page, const sums *s) {
    bool shown[DV_OP_GENERIC_COUNT] = {false};
    heading(page, "Instructions");
    dv_page_text(page, columns);
    dv_page_text(page, "instruction\n");
    for (uint32_t row = 0; row < page->top; row++) {
        uint32_t best = DV_OP_GENERIC_COUNT;
        for (uint32_t op = 0; op < DV_OP_GENERIC_COUNT; op++)
            if (!shown[op] && s->by_op[op].executions &&
                (best == DV_OP_GENERIC_COUNT ||
                 s->by_op[op].executions > s->by_op[best].executions))
                best = op;
        if (best == DV_OP_GENERIC_COUNT) break;
        shown[best] = true;
        dv_line line = {0};
        put_columns(&line, page, &s->by_op[best]);
        dv_line_put(&line, "%s%s", dv_op_name(best),
                    dv_profile_quickens(best) ? "" : "  (has no derivatives)");
        dv_page_line(page, &line);
    }
}

static uint64_t work_of_function(const dv_row *row) {
    dv_totals totals = {0};
    add_function(&totals, row->function);
    return totals.executions + row->function->region_steps;
}

static bool list_functions(dv_vm *vm, const dv_page *page) {
    dv_rows rows;
    if (!dv_rows_collect_functions(vm, &rows, page, work_of_function)) return false;
    heading(page, "Functions");
    dv_page_text(page, columns);
    dv_page_text(page, "function, steps in its regions\n");
    for (size_t i = 0; i < rows.count && i < page->top; i++) {
        const dv_function_counts *function = rows.rows[i].function;
        dv_totals totals = {0};
        add_function(&totals, function);
        dv_line line = {0};
        put_columns(&line, page, &totals);
        put_function(&line, function->code, function->code->first_line);
        if (function->region_steps) {
            dv_line_colour(&line, page, DV_COLOUR_REGION);
            dv_line_put(&line, ", ");
            put_number(&line, function->region_steps, 0);
            dv_line_put(&line, " (entered %llu times)",
                        (unsigned long long)function->region_entries);
        }
        dv_page_line(page, &line);
    }
    dv_rows_free(vm, &rows);
    return true;
}

static uint64_t executions_if_quick(const dv_row *row) {
    return dv_profile_quickens(dv_row_op(row)) ? dv_row_site(row)->executions : 0;
}

static bool list_sites(dv_vm *vm, const dv_page *page) {
    dv_rows rows;
    if (!dv_rows_collect(vm, &rows, page, executions_if_quick)) return false;
    heading(page, "Sites of instructions that have derivatives");
    dv_page_text(page, columns);
    dv_page_text(page, "last form, function, line\n");
    for (size_t i = 0; i < rows.count && i < page->top; i++) {
        const dv_row *row = &rows.rows[i];
        dv_totals totals = {0};
        dv_totals_add(&totals, dv_row_site(row));
        dv_line line = {0};
        put_columns(&line, page, &totals);
        dv_line_put(&line, "%s  ", dv_row_form(row));
        dv_line_colour(&line, page, DV_COLOUR_SOURCE);
        put_function(&line, row->function->code, dv_row_line(row));
        dv_line_colour(&line, page, DV_COLOUR_PLAIN);
        if (dv_row_site(row)->types) {
            dv_line_put(&line, "  saw ");
            dv_words_types_seen(vm, &line, dv_row_site(row)->types);
        }
        dv_page_line(page, &line);
    }
    if (rows.count > page->top) {
        dv_line line = {0};
        dv_line_put(&line, "  and %zu more sites (--top=N shows N)", rows.count - page->top);
        dv_page_line(page, &line);
    }
    dv_rows_free(vm, &rows);
    return true;
}

/* ---- JSON ---- */

static void json_counts(dv_json *json, const dv_totals *totals) {
    dv_json_number(json, "executions", totals->executions);
    dv_json_number(json, "hits", totals->hits);
    dv_json_number(json, "misses", totals->misses);
    dv_json_number(json, "generic", totals->generic);
    dv_json_number(json, "inside", totals->inside);
    dv_json_number(json, "unguarded", totals->unguarded);
    dv_json_number(json, "deoptimisations", totals->deoptimisations);
    dv_json_number(json, "typed", totals->typed - totals->firsts);
    dv_json_number(json, "same", totals->same);
}

static void json_totals(dv_json *json, const dv_profile *profile, const sums *s) {
    dv_json_begin(json, "totals", '{');
    json_counts(json, &s->all);
    dv_json_number(json, "steps", profile->steps);
    dv_json_number(json, "repeated", profile->repeated);
    dv_json_number(json, "entered", profile->entered);
    dv_json_number(json, "region", profile->region);
    dv_json_number(json, "removed", removed_objects(profile));
    dv_json_number(json, "machine", profile->machine);
    dv_json_bool(json, "complete", !profile->incomplete);
    dv_json_end(json, '}');
}

static void json_regions(dv_json *json, const dv_vm *vm, const dv_profile *profile) {
    const dv_region_use *use = &vm->regions;
    dv_json_begin(json, "regions", '{');
    dv_json_number(json, "entries", profile->entries);
    dv_json_begin(json, "exits", '{');
    for (int i = 0; i < DV_EXITED_REASONS; i++)
        dv_json_number(json, dv_exited_names[i], profile->exits[i]);
    dv_json_end(json, '}');
    dv_json_number(json, "count", use->count);
    dv_json_number(json, "made", use->made);
    dv_json_number(json, "evicted", use->evicted);
    dv_json_number(json, "bytes", use->bytes);
    dv_json_number(json, "most", use->most);
    dv_json_number(json, "limit", use->limit);
    dv_json_end(json, '}');
}

static void json_guards(dv_json *json, const dv_profile *profile, const sums *s) {
    dv_json_begin(json, "guards", '{');
    dv_json_number(json, "executed", guards_of(profile, s));
    dv_json_number(json, "failed", s->all.misses + profile->guards_failed);
    dv_json_number(json, "in_regions", profile->guards);
    dv_json_number(json, "failed_in_regions", profile->guards_failed);
    dv_json_end(json, '}');
}

static void json_objects(dv_json *json, const dv_profile *profile) {
    dv_json_begin(json, "objects", '[');
    for (int kind = 0; kind < DV_MADE_KINDS; kind++) {
        dv_json_begin(json, NULL, '{');
        dv_json_string(json, "kind", dv_made_names[kind]);
        dv_json_number(json, "made", profile->objects.made[kind]);
        dv_json_number(json, "removed", profile->objects.removed[kind]);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

static void json_instructions(dv_json *json, const sums *s) {
    dv_json_begin(json, "instructions", '[');
    for (uint32_t op = 0; op < DV_OP_GENERIC_COUNT; op++) {
        if (!s->by_op[op].executions) continue;
        dv_json_begin(json, NULL, '{');
        dv_json_string(json, "name", dv_op_name(op));
        dv_json_bool(json, "quickens", dv_profile_quickens(op));
        json_counts(json, &s->by_op[op]);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

static void json_forms(dv_json *json, const dv_profile *profile) {
    static const char *const kinds[] = {"generic", "adaptive", "derivative",
                                        "region",  "fusion",   "pair"};
    dv_json_begin(json, "forms", '[');
    for (uint32_t op = 0; op <= DV_OP_COUNT; op++) {
        if (!profile->forms[op]) continue;
        dv_json_begin(json, NULL, '{');
        dv_json_string(json, "name", op < DV_OP_COUNT ? dv_op_name(op) : "(others)");
        dv_json_string(json, "kind", op < DV_OP_COUNT ? kinds[dv_op_infos[op].kind] : "other");
        dv_json_number(json, "steps", profile->forms[op]);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

static void json_functions(dv_json *json, const dv_profile *profile) {
    dv_json_begin(json, "functions", '[');
    for (const dv_function_counts *f = profile->functions; f; f = f->next) {
        if (!dv_page_wants(json->page, f->code)) continue;
        dv_totals totals = {0};
        add_function(&totals, f);
        dv_json_begin(json, NULL, '{');
        dv_rows_json_place(json, f->code, f->code->first_line);
        json_counts(json, &totals);
        dv_json_number(json, "region_steps", f->region_steps);
        dv_json_number(json, "region_entries", f->region_entries);
        dv_json_number(json, "region_exits", f->region_exits);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

static uint64_t executions(const dv_row *row) { return dv_row_site(row)->executions; }

static bool json_sites(dv_vm *vm, dv_json *json) {
    dv_rows rows;
    if (!dv_rows_collect(vm, &rows, json->page, executions)) return false;
    dv_json_begin(json, "sites", '[');
    for (size_t i = 0; i < rows.count; i++) {
        dv_totals totals = {0};
        dv_totals_add(&totals, dv_row_site(&rows.rows[i]));
        dv_json_begin(json, NULL, '{');
        dv_rows_json_site(json, &rows.rows[i]);
        json_counts(json, &totals);
        dv_json_number(json, "in_regions", dv_row_site(&rows.rows[i])->in_regions);
        dv_rows_json_types(vm, json, &rows.rows[i]);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
    dv_rows_free(vm, &rows);
    return true;
}

static bool write_json(dv_vm *vm, const dv_page *page, const dv_profile *profile, const sums *s) {
    dv_json json = {.page = page};
    dv_json_begin(&json, NULL, '{');
    dv_json_string(&json, "tool", "stats");
    dv_json_number(&json, "schema", 1);
    dv_json_string(&json, "level", dv_words_level(vm));
    json_totals(&json, profile, s);
    json_regions(&json, vm, profile);
    json_guards(&json, profile, s);
    json_objects(&json, profile);
    json_instructions(&json, s);
    json_forms(&json, profile);
    json_functions(&json, profile);
    bool written = json_sites(vm, &json) && dv_extensions_json(vm, &json);
    dv_json_end(&json, '}');
    dv_json_finish(&json);
    return written;
}

bool dv_inspect_stats(dv_vm *vm, const dv_page *page) {
    const dv_profile *profile = dv_profile_of(vm);
    sums *s = dv_heap_alloc(&vm->heap, sizeof *s);
    if (!s) return dv_raise_memory(vm), false;
    memset(s, 0, sizeof *s);
    add_all(s, profile, page);
    bool written = true;
    if (page->json) {
        written = write_json(vm, page, profile, s);
    } else {
        list_totals(vm, profile, page, s);
        if (!page->function) list_objects(profile, s, page);
        list_instructions(page, s);
        written = list_functions(vm, page) && list_sites(vm, page) && dv_extensions_list(vm, page);
    }
    dv_heap_free(&vm->heap, s, sizeof *s);
    return written;
}
