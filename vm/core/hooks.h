/* hooks.h: through these, run/ and what is below it reach the layers above; NULL below their level.
 *
 * Each layer sets its own struct when a VM is made, and no other. */
#ifndef DV_CORE_HOOKS_H
#define DV_CORE_HOOKS_H

#include "core/object.h"

typedef union dv_cell dv_cell;
struct dv_event;
struct dv_exit;
struct dv_loop_event;
struct dv_thread;
struct dv_foreign_expression;
struct dv_foreign_form;
struct dv_foreign_report;
struct dv_frozen;
struct dv_host_module;
struct dv_unit;

/* vm/quicken: sites take other forms. */
typedef struct dv_quicken_hooks {
    /* A function's or loop's counter ran out. */
    void (*warm)(dv_vm *vm, dv_object *code);
    /* Sites forget what they remember of classes. */
    void (*forget_classes)(dv_vm *vm);
} dv_quicken_hooks;

/* vm/region: hot code gets regions, and leaves them. */
typedef struct dv_region_hooks {
    /* A function is warm now: shall its calls be counted on? */
    void (*warmed)(dv_vm *vm, dv_object *code);
    /* Stress mode: breaks what the running region assumes. */
    void (*break_assumptions)(dv_vm *vm, const dv_cell *ip, dv_value *fp);
    /* The cell, or NULL: a variable that functions share, is about to change, and regions hold its
     * value. */
    void (*disturbed)(dv_vm *vm, struct dv_global_cell *cell);
    /* Control leaves the region that ip lies in because of an exception or
     * invalidation: writes back and rebuilds frames; returns the ip in INCA code, and vm->sp,
     * vm->fp.  If ip lies in none, an exception was raised after a region was left
     * (vm->failed_exit): perhaps at that very instruction. */
    const dv_cell *(*leave)(dv_vm *vm, const dv_cell *ip);
    /* Which code is at the cell of a region of *thread, which calls out: the pc in *thread, that of
     * the function then; `out`: so many frames that are not made further out.  DV_NO_PC: there is
     * no such frame. */
    uint32_t (*inlined)(const struct dv_thread **thread, const dv_cell *ip, uint32_t out);
    /* A handler that leaves the region at a safepoint of it, for the same place in INCA
     * code. */
    const dv_cell *(*depart)(const dv_cell *ip, dv_value *sp, dv_value *fp, dv_vm *vm, int64_t r,
                             double d);
    /* So many back edges after the last safepoint that polled, the one at ip does. */
    void (*sampled)(dv_vm *vm, const dv_cell *ip, int64_t back_edges);
    void (*release_code)(dv_vm *vm, dv_object *code);
    void (*discard)(dv_vm *vm); /* frees what the layer keeps when the VM ends */
} dv_region_hooks;

/* vm/inspect: looks on. */
typedef struct dv_inspect_hooks {
    /* At every back edge of an observed VM. */
    void (*observe)(dv_vm *vm, const dv_cell *ip, dv_value *fp);
    /* The __del__ of an object, or a generator's finally clauses, are about to run
     * because it dies, or weak references to an object have been cleared; not in collections whose
     * time the program has not chosen. */
    void (*died)(dv_vm *vm, const dv_object *object);
    /* Makes one step instead of dv_run_cells, which asks for it when it begins. */
    const dv_cell *(*step)(dv_vm *vm, const dv_cell *ip);
    /* The guard of the running derivative failed. */
    void (*missed)(dv_vm *vm);
    /* A site takes another form (opcodes; DV_OP_COUNT: an extension's). */
    void (*changed)(dv_vm *vm, const dv_cell *cell, uint32_t from, uint32_t to);
    /* A function became warm. */
    void (*warmed)(dv_vm *vm, struct dv_thread *thread);
    /* A loop of the thread got a region, got none, or lost it (region/region.h). */
    void (*looped)(dv_vm *vm, struct dv_thread *thread, const struct dv_loop_event *event);
    /* The running region is about to be left (region/region.h). */
    void (*left)(dv_vm *vm, const struct dv_exit *exit, const dv_value *fp, int how);
} dv_inspect_hooks;

/* vm/modules, vm/api and vm/plugin: where modules come from. */
typedef struct dv_import_hooks {
    /* modules: a module of the library (new, not yet in vm->modules); `early`: only one that
     * CPython has built in, which files cannot replace.  EMPTY without vm->error: there is
     * none. */
    dv_value (*load_builtin)(dv_vm *vm, dv_value name, bool early);
    /* modules: the same for a library module in dl; NULL: there is none. */
    const struct dv_frozen *(*find_frozen)(dv_value name, bool early);
    /* plugin: the same in the package of an extension that has been loaded. */
    const struct dv_frozen *(*find_packed)(const dv_vm *vm, dv_value name);
    struct dv_unit *(*unpack_frozen)(dv_vm *vm, const struct dv_frozen *frozen); /* NULL: raised */
    /* modules: why there is no such module: a message for dv_raise that takes the name as %V;
     * NULL: no reason is known. */
    const char *(*why_absent)(dv_value name);
    /* api: compiles a file; NULL: raised. */
    struct dv_unit *(*compile_file)(dv_vm *vm, const char *path);
    /* api: compiles a text; `how` has bits of dv_compile_how. */
    struct dv_unit *(*compile_text)(dv_vm *vm, const char *text, size_t size, const char *filename,
                                    unsigned how);
    /* The same of text for eval, exec and compile, whose top level is a function of its namespace;
     * optimize below 0: as the VM does. */
    struct dv_unit *(*evaluate_text)(dv_vm *vm, const char *text, size_t size, const char *filename,
                                     const char *mode, int optimize, bool decoded);
    /* api: what the host has under this name.  1: this, 0: nothing, -1: raised. */
    int (*ask_module)(dv_vm *vm, dv_value name, struct dv_host_module *out);
    /* api: does the host allow the program to import it?  False: raised. */
    bool (*may_import)(dv_vm *vm, dv_value name);
    /* plugin: the module of the extension in a file (new, not yet in vm->modules). */
    dv_value (*load_extension)(dv_vm *vm, dv_value name, const char *path);
    /* plugin: the module of an extension of the host's own (likewise); EMPTY without
     * vm->error: there is none of this name. */
    dv_value (*load_hosted)(dv_vm *vm, dv_value name);
} dv_import_hooks;

/* vm/plugin: extensions at the sites of the program. */
typedef struct dv_plugin_hooks {
    /* Specialises the CALL (CALL_METHOD if `method`: a self or EMPTY stands in front of
     * the arguments) at ip for *callee, a function, an object or the class of an extension,
     * with `count` arguments behind its reserved entries; false: it is not to be called so. */
    bool (*call)(dv_vm *vm, dv_cell *ip, const dv_value *callee, uint32_t count, bool method);
    /* The same for the instruction at ip of another family, one of whose operands,
     * below vm->sp, is an object of an extension. */
    bool (*site)(dv_vm *vm, dv_cell *ip);
    /* What a cell with a foreign handler is; false: no extension knows it. */
    bool (*form)(dv_vm *vm, const dv_cell *ip, struct dv_foreign_form *form);
    /* The expression whose instruction stands in the cell; false: none does. */
    bool (*expression)(dv_vm *vm, const dv_cell *cell, struct dv_foreign_expression *found);
    /* Executes it for an instruction of a region, at vm->ip, behind which there is one for each
     * site but the first: vm->ip is that of the site that raised.  *frame is the first local. */
    int (*run)(dv_vm *vm, void *site, const dv_value *frame);
    /* Why extensions have left the site at ip alone; NULL: none was asked. */
    const char *(*reason)(dv_vm *vm, const dv_cell *ip);
    /* What derivatives of extensions have been through there; false: none was. */
    bool (*report)(dv_vm *vm, const dv_cell *ip, struct dv_foreign_report *report);
} dv_plugin_hooks;

typedef struct dv_hooks {
    dv_quicken_hooks quicken;
    dv_region_hooks region;
    dv_inspect_hooks inspect;
    dv_import_hooks import;
    dv_plugin_hooks plugin;
} dv_hooks;

#endif
