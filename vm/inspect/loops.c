/* loops.c: hot loops and their regions (loops.h). */
#include "inspect/loops.h"

#include "inspect/rows.h"
#include "inspect/words.h"

/* ---- Reasons ---- */

typedef struct explanation {
    const char *name; /* in JSON: never changes */
    const char *sentence, *advice;
} explanation;

/* By dv_refusal; the last: it has a region, and leaves it often. */
enum { LEFT_OFTEN = DV_REFUSED_ROOM + 1 };
static const explanation explanations[] = {
    [DV_REFUSED_MEMORY] = {"memory", "memory was short when its region was to be made",
                           "allow the program more memory"},
    [DV_REFUSED_YIELD] =
        {"yields",
         "it yields for little work: a generator's frame moves when it is resumed, "
         "and its values go into boxes for that",
         "do more between two yields, or compute in a function that does not yield"},
    [DV_REFUSED_SIZE] = {"size", "it has too many instructions, or too many ways through them",
                         "move parts of it into functions of their own"},
    [DV_REFUSED_FRAME] = {"frame",
                          "its function names locals, vars, eval or exec, which read all of its "
                          "locals wherever they are called",
                          "move the loop into a function of its own"},
    [DV_REFUSED_SLOTS] = {"slots",
                          "it works on more values at once, or on more ranges within ranges, than "
                          "a frame has places for",
                          "move the inner loops into functions of their own"},
    [DV_REFUSED_MEETING] = {"meeting",
                            "where two ways through it meet, one brings an iterator or a value "
                            "without a box, and the other something else",
                            "give each variable one type on all ways"},
    [DV_REFUSED_ITERATOR] = {"iterator", "it uses the iterator of a range as a value",
                             "walk over the range with for"},
    [DV_REFUSED_BOXED] =
        {"objects",
         "most of its work is on objects: there is too little arithmetic, "
         "comparison and indexing of lists and arrays that could be done without boxes",
         "nothing, if it has to work on objects; otherwise keep what it computes "
         "with in locals that are ints, floats and lists"},
    [DV_REFUSED_ENTRY] = {"entry", "it cannot be entered from outside of the loop around it",
                          "nothing: where the loop around it is hot, that gets a region"},
    [DV_REFUSED_TYPES] = {"types",
                          "its region was given up: locals had other types when it was to be "
                          "entered than when it was made",
                          "begin sums with 0.0 if they become floats, and call the function with "
                          "arguments of the same types"},
    [DV_REFUSED_GUARDS] = {"guards",
                           "its region was given up: values had other types in it than before, or "
                           "it went ways that were new",
                           "keep to one type in a list and in a variable; treat rare cases before "
                           "the loop"},
    [DV_REFUSED_CHANGED] = {"changed",
                            "its region was given up: a global, a builtin, a class or a module's "
                            "attribute that it relied on was changed",
                            "change such things before hot loops, or keep what changes in a local"},
    [DV_REFUSED_SHORT] = {"short",
                          "its region was given up: it goes round too few times to pay for being "
                          "entered",
                          "nothing; or put the short loop into the loop around it, if that is in "
                          "another function"},
    [DV_REFUSED_ROOM] = {"room",
                         "regions have used up the memory that they may take: colder ones were "
                         "given up, or there was no room for this one",
                         "allow them more memory (--region-limit)"},
    [LEFT_OFTEN] = {"left-often", "it has a region, and leaves it often before the loop ends",
                    "keep to one type in a list and in a variable; treat rare cases before the "
                    "loop"},
};

void dv_loops_words(dv_refusal why, const char **name, const char **sentence) {
    *name = explanations[why].name;
    *sentence = explanations[why].sentence;
}

/* ---- Loops as rows ---- */

enum { MOST_FAILED = 4 }; /* places where guards failed that a report names */

static const dv_loop_counts *loop_of(const dv_row *row) {
    return dv_profile_loop(row->function, row->pc);
}

static bool is_left_often(const dv_loop_counts *loop) {
    enum { MANY = 20, SHARE = 4 }; /* guards that failed, and one in so many entries */
    return loop->guards >= MANY && loop->guards * SHARE >= loop->entries;
}

static const explanation *explanation_of(const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    if (loop->region == DV_NO_PC) return &explanations[loop->why];
    return is_left_often(loop) ? &explanations[LEFT_OFTEN] : NULL;
}

/* How often it went round outside of a region. */
static uint64_t rounds(const dv_row *row) { return dv_row_site(row)->executions; }

static uint64_t weigh_without(const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    return loop && explanation_of(row) ? rounds(row) : 0;
}

static uint64_t weigh_with(const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    return loop && !explanation_of(row) ? 1 : 0; /* in the order of the program */
}

static uint32_t line_at(const dv_code *code, uint32_t pc) {
    const dv_position *position = dv_code_position(code, pc);
    return position ? position->line : 0;
}

/* Is the region that goes by this pc one of the whole function? */
static bool is_of_function(const dv_code *code, uint32_t back) {
    return (code->words[back] & 0xFF) != DV_OP_JUMP_BACK;
}

/* Of the loop's head. */
static uint32_t line_of_loop(const dv_code *code, uint32_t back) {
    if (is_of_function(code, back)) return code->first_line;
    return line_at(code, code->words[back] >> 8);
}

/* ---- Text ---- */

static void put_count(dv_line *line, uint64_t count, const char *noun) {
    dv_line_put(line, "%llu %s%s", (unsigned long long)count, noun, count == 1 ? "" : "s");
}

static void put_instruction(dv_vm *vm, dv_line *line, const dv_code *in, uint32_t pc,
                            const dv_code *loop) {
    dv_words_instruction(vm, line, in, pc);
    dv_line_put(line, ", line %u", line_at(in, pc));
    if (in == loop) return;
    dv_line_put(line, " of ");
    dv_line_text(line, in->qualname.data, in->qualname.size);
}

static void list_region(const dv_page *page, const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    dv_line line = {0};
    dv_line_put(&line, "    ");
    dv_line_colour(&line, page, DV_COLOUR_REGION);
    if (loop->region == loop->back) {
        dv_line_put(&line, "region: entered ");
        put_count(&line, loop->entries, "time");
        dv_line_put(&line, ", left %llu by guards", (unsigned long long)loop->guards);
        if (loop->removed) dv_line_put(&line, ", %u objects removed", loop->removed);
    } else {
        const bool all = is_of_function(row->function->code, loop->region);
        dv_line_put(&line, "in the region of the %s in line %u", all ? "function" : "loop",
                    line_of_loop(row->function->code, loop->region));
    }
    if (loop->lost) {
        dv_line_put(&line, "; ");
        put_count(&line, loop->lost, "region");
        dv_line_put(&line, " given up before");
    }
    dv_page_line(page, &line);
}

static void list_lack(const dv_page *page, const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    dv_line line = {0};
    dv_line_put(&line, "    ");
    dv_line_colour(&line, page, DV_COLOUR_SLOW);
    dv_line_put(&line, "no region: ");
    put_count(&line, rounds(row), is_of_function(row->function->code, row->pc) ? "call" : "round");
    dv_line_put(&line, " without, tried ");
    put_count(&line, loop->refused + loop->lost, "time");
    dv_page_line(page, &line);
}

static void list_blamed(dv_vm *vm, const dv_page *page, const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    const dv_code *code = row->function->code;
    dv_line line = {0};
    if (loop->in) {
        dv_line_put(&line, "    such: ");
        put_instruction(vm, &line, loop->in, loop->pc, code);
        dv_page_line(page, &line);
    }
    uint32_t shown = 0;
    for (int i = 0; i < DV_PROFILE_EXITS && loop->left[i].exits; i++) {
        if (!loop->left[i].failed || shown++ >= MOST_FAILED) continue;
        dv_line_put(&line, "    left: ");
        put_count(&line, loop->left[i].exits, "time");
        dv_line_put(&line, " at ");
        put_instruction(vm, &line, loop->left[i].in, loop->left[i].pc, code);
        dv_page_line(page, &line);
    }
}

static void list_loop(dv_vm *vm, const dv_page *page, const dv_row *row) {
    const explanation *why = explanation_of(row);
    const dv_code *code = row->function->code;
    dv_line line = {0};
    dv_page_text(page, "\n");
    dv_rows_put_source(&line, page, code, line_of_loop(code, row->pc));
    dv_page_line(page, &line);
    if (loop_of(row)->region == DV_NO_PC)
        list_lack(page, row);
    else
        list_region(page, row);
    if (!why) return;
    list_blamed(vm, page, row);
    dv_line_put(&line, "    why:  %s", why->sentence);
    dv_page_line(page, &line);
    dv_line_put(&line, "    do:   ");
    dv_line_colour(&line, page, DV_COLOUR_FAST);
    dv_line_put(&line, "%s", why->advice);
    dv_page_line(page, &line);
}

/* As many rows as the page has room for; says how many more there are. */
static void list_rows(dv_vm *vm, const dv_page *page, const dv_rows *rows) {
    for (size_t i = 0; i < rows->count && i < page->top; i++) list_loop(vm, page, &rows->rows[i]);
    if (rows->count <= page->top) return;
    dv_line line = {0};
    dv_line_put(&line, "\nand %zu more (--top=N shows N)", rows->count - page->top);
    dv_page_line(page, &line);
}

/* Both kinds; false: nothing is to be freed. */
static bool collect(dv_vm *vm, const dv_page *page, dv_rows *without, dv_rows *with) {
    if (!dv_rows_collect(vm, without, page, weigh_without)) return false;
    if (dv_rows_collect(vm, with, page, weigh_with)) return true;
    dv_rows_free(vm, without);
    return false;
}

static size_t functions_in(const dv_rows *rows) {
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        count += is_of_function(rows->rows[i].function->code, rows->rows[i].pc);
    return count;
}

bool dv_loops_list(dv_vm *vm, const dv_page *page) {
    dv_rows without, with;
    if (!collect(vm, page, &without, &with)) return false;
    size_t left_often = 0;
    for (size_t i = 0; i < without.count; i++)
        left_often += loop_of(&without.rows[i])->region != DV_NO_PC;
    if (without.count + with.count) {
        dv_line line = {0};
        const size_t functions = functions_in(&without) + functions_in(&with);
        dv_line_put(&line, "\n");
        put_count(&line, without.count + with.count - functions, "hot loop");
        if (functions) {
            dv_line_put(&line, " and ");
            put_count(&line, functions, "function");
        }
        dv_line_put(&line, ": %zu with a region", with.count + left_often);
        if (left_often) dv_line_put(&line, " (%zu left often)", left_often);
        dv_line_put(&line, ", %zu without", without.count - left_often);
        dv_page_line(page, &line);
    }
    list_rows(vm, page, &without);
    list_rows(vm, page, &with);
    dv_rows_free(vm, &without);
    dv_rows_free(vm, &with);
    return true;
}

/* ---- JSON ---- */

static void json_instruction(dv_json *json, const dv_code *in, uint32_t pc) {
    dv_rows_json_place(json, in, line_at(in, pc));
    dv_json_number(json, "pc", pc);
    dv_json_string(json, "instruction", dv_op_name(in->words[pc] & 0xFF));
}

/* Of those of guards the first ones; or all. */
static void json_exits(dv_json *json, const dv_loop_counts *loop, const char *key, bool all) {
    uint32_t shown = 0;
    dv_json_begin(json, key, '[');
    for (int i = 0; i < DV_PROFILE_EXITS && loop->left[i].exits; i++) {
        if (!all && (!loop->left[i].failed || shown++ >= MOST_FAILED)) continue;
        dv_json_begin(json, NULL, '{');
        json_instruction(json, loop->left[i].in, loop->left[i].pc);
        dv_json_number(json, "exits", loop->left[i].exits);
        if (all) dv_json_bool(json, "failed", loop->left[i].failed);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

static void json_loop(dv_json *json, const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    const explanation *why = explanation_of(row);
    const dv_code *code = row->function->code;
    dv_json_begin(json, NULL, '{');
    dv_rows_json_place(json, code, line_of_loop(code, row->pc));
    dv_json_number(json, "pc", row->pc);
    if (loop->region == DV_NO_PC)
        dv_json_null(json, "region");
    else
        dv_json_number(json, "region", loop->region);
    dv_json_number(json, "rounds", rounds(row));
    dv_json_number(json, "refused", loop->refused);
    dv_json_number(json, "lost", loop->lost);
    dv_json_number(json, "entries", loop->entries);
    dv_json_number(json, "exits", loop->exits);
    dv_json_number(json, "guards", loop->guards);
    dv_json_number(json, "removed", loop->removed);
    json_exits(json, loop, "failed", false);
    json_exits(json, loop, "left", true);
    if (why) {
        dv_json_string(json, "reason", why->name);
        dv_json_string(json, "sentence", why->sentence);
        dv_json_string(json, "advice", why->advice);
    } else {
        dv_json_null(json, "reason");
    }
    if (loop->in) {
        dv_json_begin(json, "at", '{');
        json_instruction(json, loop->in, loop->pc);
        dv_json_end(json, '}');
    }
    dv_json_end(json, '}');
}

bool dv_loops_json(dv_vm *vm, dv_json *json) {
    dv_rows without, with;
    if (!collect(vm, json->page, &without, &with)) return false;
    dv_json_begin(json, "loops", '[');
    for (size_t i = 0; i < without.count; i++) json_loop(json, &without.rows[i]);
    for (size_t i = 0; i < with.count; i++) json_loop(json, &with.rows[i]);
    dv_json_end(json, ']');
    dv_rows_free(vm, &without);
    dv_rows_free(vm, &with);
    return true;
}
