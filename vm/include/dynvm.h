/* dynvm.h: embedding dynvm, a bytecode VM for dl (a strict subset of Python 3.11).
 *
 *     #include <dynvm.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *         dynvm_vm *vm = dynvm_create(NULL);
 *         const char program[] = "def area(w, h): return w * h\n";
 *         if (vm && dynvm_run_text(vm, program, sizeof program - 1, "<area>") == DYNVM_OK) {
 *             dynvm_scope scope = dynvm_open_scope(vm);
 *             dynvm_value sides[] = {dynvm_make_int(vm, 6), dynvm_make_int(vm, 7)};
 *             dynvm_value area = dynvm_call(vm, dynvm_get_global(vm, "area"), sides, 2);
 *             int64_t result;
 *             if (dynvm_read_int(vm, area, &result) == DYNVM_OK) printf("%d\n", (int)result);
 *             dynvm_close_scope(vm, scope);
 *         }
 *         dynvm_error *error = vm ? dynvm_take_error(vm) : NULL;
 *         if (error) fputs(dynvm_error_traceback(error), stderr);
 *         dynvm_error_free(error);
 *         dynvm_destroy(vm);
 *     }
 *
 * Rules
 *  1. A VM is a value: there is no global state, any number of VMs may exist, each used by one
 *     thread at a time; different threads may run different VMs at once.  dynvm_interrupt and
 *     dynvm_stop alone may be called from any thread while the VM runs.
 *  2. Arguments are borrowed: nothing that is passed in is kept after the call, unless the
 *     function's comment says so.  Results that the caller must give back say by what.
 *  3. Every call that can fail returns a status, or a handle that dynvm_failed tells.  After a
 *     failure dynvm_take_error tells what happened.
 *  4. Text is UTF-8.
 *  5. Values of dl are reached through handles (dynvm_value).  A handle belongs to the scope that
 *     was innermost when it was made, and ends with it: nothing is released one by one.
 *  6. The handle of a failed call may be passed on: that call fails as well, and what went wrong
 *     first is kept.  So a chain of calls needs one test, at its end, as above. */
#ifndef DYNVM_H
#define DYNVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default) /* this, and nothing else, libdynvm.so exports */
#endif

#define DYNVM_VERSION_MAJOR 0
#define DYNVM_VERSION_MINOR 1

typedef struct dynvm_vm dynvm_vm;
typedef struct dynvm_error dynvm_error;

typedef enum dynvm_status {
    DYNVM_OK,
    DYNVM_ERROR,     /* an exception was not caught: dynvm_take_error */
    DYNVM_EXIT,      /* the program called sys.exit: dynvm_exit_status */
    DYNVM_NO_MEMORY, /* not even an exception could be made */
    DYNVM_PAUSED     /* the program has not ended: dynvm_resume */
} dynvm_status;

/* ---- Configuration ---- */

/* The highest level at which code is executed.  Each is complete: they differ in speed only. */
typedef enum dynvm_level {
    DYNVM_LEVEL_DEFAULT, /* nama */
    DYNVM_LEVEL_GENERIC, /* plain instructions */
    DYNVM_LEVEL_INCA,    /* instructions specialised in place to the types they see */
    DYNVM_LEVEL_NAMA     /* hot loops as regions that compute on unboxed values */
} dynvm_level;

/* How far the analysis at level nama reaches, to measure what each step is worth. */
typedef enum dynvm_nama {
    DYNVM_NAMA_DEFAULT,  /* virtual */
    DYNVM_NAMA_SEQUENCE, /* values are unboxed in straight code: between two jumps */
    DYNVM_NAMA_LOOP,     /* whole loops stay unboxed */
    DYNVM_NAMA_INLINE,   /* and small functions become part of them */
    DYNVM_NAMA_VIRTUAL   /* and objects that would not outlive them are not made */
} dynvm_nama;

/* How one instruction's handler reaches the next. */
typedef enum dynvm_form {
    DYNVM_FORM_DEFAULT,    /* tail, where it was built; trampoline for stress of guards and exits */
    DYNVM_FORM_TAIL,       /* by a jump */
    DYNVM_FORM_TRAMPOLINE, /* by returning to a loop */
    DYNVM_FORM_MIXED       /* both, alternating, for tests */
} dynvm_form;

/* Stress modes make rare events common, for tests, or leave a part out, to measure what it is
 * worth; results must not change. */
enum {
    DYNVM_STRESS_QUICKEN = 1,  /* specialise at first execution */
    DYNVM_STRESS_ASSUME = 2,   /* break every assumption once */
    DYNVM_STRESS_PORTABLE = 4, /* ignore native handlers of extensions: their portable twins run */
    DYNVM_STRESS_NO_MAPS = 8,  /* no site remembers where objects have an attribute */
    DYNVM_STRESS_NO_VERSIONS = 16 /* nor what a class of dl has under a name */
};

/* Watching extensions: what they do with the table of dynvm_ext.h is checked, which says where they
 * hold what they should have released, or use what they have; or every call is printed.  PLAIN: no
 * instruction is specialised for them, to measure what that is worth; programs run alike. */
enum { DYNVM_EXTENSIONS_DEBUG = 1, DYNVM_EXTENSIONS_TRACE = 2, DYNVM_EXTENSIONS_PLAIN = 4 };

/* Standard streams that the program finds missing, as in a process that was started without. */
enum { DYNVM_CLOSED_INPUT = 1, DYNVM_CLOSED_OUTPUT = 2, DYNVM_CLOSED_ERROR_OUTPUT = 4 };

/* Memory of the host.  block NULL and old_size 0: allocate; new_size 0: free, the result is NULL;
 * otherwise as realloc.  NULL for another new_size: there is no memory, the block is untouched. */
typedef void *(*dynvm_resize)(void *context, void *block, size_t old_size, size_t new_size);

/* Text that the program prints.  size 0: the program asks for buffers to be flushed.  0: it is
 * taken; otherwise an errno, which the program gets as an OSError.  EINTR stands for the
 * KeyboardInterrupt of dynvm_interrupt, if there was one. */
typedef int (*dynvm_output)(void *context, const char *text, size_t size);

/* Reads a line with its newline, or its next `size` bytes; the number of bytes, 0 at the end.  It
 * may return early when dynvm_interrupted. */
typedef size_t (*dynvm_input)(void *context, char *buffer, size_t size);

/* ---- Hooks: what a VM asks its host.  They may run programs in it. ---- */

/* How the code of a module is given. */
typedef enum dynvm_module_kind {
    DYNVM_MODULE_TEXT,    /* source text */
    DYNVM_MODULE_COMPILED /* bytes of dynvm_compile_text or dynvm_compile_file, to be trusted as
                           * with dynvm_run_compiled: not in sandboxed VMs (PermissionError) */
} dynvm_module_kind;

/* A module of the host. */
typedef struct dynvm_module {
    size_t size; /* of this struct, as the VM knows it */
    dynvm_module_kind kind;
    const char *code; /* borrowed until `release` */
    size_t code_size;
    const char *filename; /* what tracebacks call it (dynvm_run_text; compiled code knows that), and
                           * its __file__; NULL: the name in angle brackets, and no __file__ */
    int is_package;       /* not 0: it may have submodules, for which the host is asked in turn */
    void *data;           /* for `release` */
    /* NULL, or is called once when the code is compiled, or could not be. */
    void (*release)(void *context, struct dynvm_module *module);
} dynvm_module;

/* The module of an absolute name ("a.b"): fills in *module, which is zero, and returns 1; 0: the
 * host has none; -1: the program gets ImportError.  Asked in front of sys.path and of what of the
 * library is not built into Python itself, and in sandboxed VMs, too. */
typedef int (*dynvm_load_module)(void *context, const char *name, dynvm_module *module);

/* 0: the program gets ImportError.  Asked whenever a program, but not the library, imports a
 * module, each of its parents by itself, and also if it is there already. */
typedef int (*dynvm_allow_import)(void *context, const char *name);

/* open() of a path; flags are those of open(2).  0: allowed; *descriptor is -1, and becomes what
 * the program gets instead, which is closed with its file.  Otherwise an errno, which the program
 * gets.  In a sandboxed VM this is the only way in which files are opened. */
typedef int (*dynvm_open_file)(void *context, const char *path, int flags, int *descriptor);

/* The clocks of module time. */
enum {
    DYNVM_CLOCK_TIME,      /* seconds since 1970: time, localtime, ... */
    DYNVM_CLOCK_MONOTONIC, /* monotonic, perf_counter */
    DYNVM_CLOCK_PROCESS    /* process_time, thread_time */
};
/* Seconds on one of them.  They are passed on as they are: it is for the host to be monotonic. */
typedef double (*dynvm_clock)(void *context, int which);

/* time.sleep: 0 when the time is over, otherwise an errno (dynvm_output). */
typedef int (*dynvm_sleep)(void *context, double seconds);

/* What sys.flags of the program shows, in its order: what Python's options set.  OPTIMIZE leaves
 * out assertions (2: docstrings, too) and makes __debug__ False; IGNORE_ENVIRONMENT: variables
 * DYNVM_... do not count; VERBOSE: imports are told; SAFE_PATH: sys.path begins with no directory
 * of the program. */
enum {
    DYNVM_FLAG_DEBUG,
    DYNVM_FLAG_INSPECT,
    DYNVM_FLAG_INTERACTIVE,
    DYNVM_FLAG_OPTIMIZE,
    DYNVM_FLAG_DONT_WRITE_BYTECODE,
    DYNVM_FLAG_NO_USER_SITE,
    DYNVM_FLAG_NO_SITE,
    DYNVM_FLAG_IGNORE_ENVIRONMENT,
    DYNVM_FLAG_VERBOSE,
    DYNVM_FLAG_BYTES_WARNING,
    DYNVM_FLAG_QUIET,
    DYNVM_FLAG_HASH_RANDOMIZATION,
    DYNVM_FLAG_ISOLATED,
    DYNVM_FLAG_DEV_MODE,
    DYNVM_FLAG_UTF8_MODE,
    DYNVM_FLAG_WARN_DEFAULT_ENCODING,
    DYNVM_FLAG_SAFE_PATH,
    DYNVM_FLAGS = 24 /* with room for more */
};

/* How a VM is to be.  Start with DYNVM_CONFIG and set what is to differ; 0 and NULL are the
 * defaults of every field. */
typedef struct dynvm_config {
    size_t size; /* of this struct, as the caller knows it */

    dynvm_resize resize; /* default: the C library's */
    void *resize_context;
    size_t memory_limit; /* bytes; programs that want more get MemoryError */

    dynvm_output output;       /* what print writes; default: dropped */
    dynvm_output error_output; /* what is written to sys.stderr; default: dropped */
    void *output_context;      /* of both */
    dynvm_input input;         /* default: there is none */
    void *input_context;

    dynvm_level level;
    dynvm_form form;
    unsigned stress;            /* DYNVM_STRESS_... */
    uint32_t stress_guards;     /* every n-th guard fails; not so in handlers of the tail form */
    uint32_t stress_exits;      /* likewise: every n-th exit of a region is taken */
    uint32_t recursion_limit;   /* default 1000 */
    size_t c_stack_size;        /* use at most so much of a thread's C stack; default 8 MB */
    uint64_t instruction_limit; /* of each run ("Limits"), in units of dynvm_resume */
    int sandboxed;   /* not 0: the program opens, lists, makes and removes no files, and imports
                      * modules of the library alone; it gets PermissionError */
    unsigned closed; /* DYNVM_CLOSED_...: these standard streams are None in sys */
    int counting; /* not 0: counts what it executes, for dynvm_stats; `form` does not matter then,
                   * and all is some ten times slower */
    dynvm_output output_bytes; /* what is written to sys.stdout.buffer: bytes that may overtake text
                                * that `output` has kept back; default: `output` */
    dynvm_output error_bytes;  /* the same of sys.stderr.buffer; default: `error_output` */
    unsigned extensions;       /* DYNVM_EXTENSIONS_... */
    dynvm_output extension_output; /* the lines of that; default: `error_output` */
    int foreign; /* not 0: extensions may let the program call any C function of the process and
                  * reach all of its memory, as ffi does; never so in a sandboxed VM */
    dynvm_nama nama;
    size_t region_limit; /* bytes for the regions of level nama; default: 4 MB, or an eighth of
                          * memory_limit if that is less.  The coldest make room for new ones */
    int check_handles;   /* not 0: `extension_output` gets a line, when the VM ends, for each handle
                          * that neither a scope nor dynvm_drop has ended, and where it was made */
    const char *extension_path; /* of ndarray, ffi and others that come with dynvm: the last
                                 * directory of sys.path, behind those of the environment variable
                                 * DYNVM_PATH; "": none.  Default: found from the directory D of
                                 * the program, or of libdynvm.so where it is used, as
                                 * D/../lib/dynvm/0.1, D/dynvm/0.1 or D/lib/dynvm/0.1 */
    int resumable; /* not 0: dynvm_begin_file and dynvm_begin_text may be used; calls are
                    * counted, which makes them a little slower */
    dynvm_load_module load_module;   /* default: there are none */
    dynvm_allow_import allow_import; /* default: all */
    void *import_context;            /* of both */
    dynvm_open_file open_file;       /* default: allowed, unless sandboxed */
    void *file_context;
    dynvm_clock clock;                /* default: the system's */
    dynvm_sleep sleep;                /* default: really sleeps, whatever `clock` says */
    void *clock_context;              /* of both */
    const char *const *warn_options;  /* sys.warnoptions, the filters of warnings as Python's -W
                                       * takes them; ends with NULL */
    unsigned char flags[DYNVM_FLAGS]; /* by DYNVM_FLAG_... */
    const char *const *x_options;     /* sys._xoptions: "name" or "name=text"; ends with NULL */
    double time_limit;                /* of each run ("Limits"), in seconds */
    int evaluates_nothing; /* not 0: eval, exec and compile are a PermissionError, as they always
                            * are in a sandboxed VM */
    uint64_t hash_seed; /* 0: hashes are those of CPython with PYTHONHASHSEED=0, which anybody can
                         * compute.  Else those of strs, bytes and numbers depend on it: whoever
                         * does not know it can't write keys that all collide.  Strs have the
                         * hashes of PYTHONHASHSEED=hash_seed where CPython takes that number */
} dynvm_config;

#define DYNVM_CONFIG                                                                              \
    {                                                                                             \
        sizeof(dynvm_config), 0, 0, 0, 0, 0, 0, 0, 0, DYNVM_LEVEL_DEFAULT, DYNVM_FORM_DEFAULT, 0, \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, DYNVM_NAMA_DEFAULT, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, {0}, 0, 0, 0, 0                                                           \
    }

/* ---- VMs ---- */

/* A new VM; config NULL: all defaults.  Fails with NULL: no memory, or a form that was not built.
 * The VM must be given back with dynvm_destroy. */
dynvm_vm *dynvm_create(const dynvm_config *config);

/* Ends a VM and frees everything that belongs to it; NULL is allowed. */
void dynvm_destroy(dynvm_vm *vm);

/* A pointer of the host that belongs to the VM: NULL at first.  The VM does nothing with it. */
void dynvm_set_user(dynvm_vm *vm, void *user);
void *dynvm_user(const dynvm_vm *vm);

/* sys.argv: the first is the program's name.  The strings are copied. */
dynvm_status dynvm_set_arguments(dynvm_vm *vm, int count, const char *const *arguments);

/* Runs a file as the main program, a compiled one too (dynvm_compile_file).  Names defined by it
 * stay for later runs in this VM.  Tracebacks name it by its absolute path. */
dynvm_status dynvm_run_file(dynvm_vm *vm, const char *path);

/* Runs a text as the main program.  `filename` is what tracebacks call it; they quote its lines
 * unless the name is in angle brackets, as "<string>". */
dynvm_status dynvm_run_text(dynvm_vm *vm, const char *text, size_t size, const char *filename);

/* Runs a module, found in files as `import` would find it (load_module is not asked: its text is
 * the host's, and dynvm_run_text runs it), as the main program (of a package its __main__), as
 * Python's -m does; sys.argv[0] becomes its path.  Its directory for imports is the working
 * directory.  Where there is none the error has no traceback. */
dynvm_status dynvm_run_module(dynvm_vm *vm, const char *name);

/* Begin a file or a text as the main program, without running anything: DYNVM_PAUSED, or an error.
 * A VM has one such program at a time, and must have been made `resumable`. */
dynvm_status dynvm_begin_file(dynvm_vm *vm, const char *path);
dynvm_status dynvm_begin_text(dynvm_vm *vm, const char *text, size_t size, const char *filename);

/* Runs the program that was begun until it ends or has done so much work (UINT64_MAX: to its end),
 * then it is DYNVM_PAUSED and goes on with the next call.  Work is counted in rounds of loops (a
 * long one as several), calls of functions in dl, and units of 10 ns of what functions in C do.  It
 * pauses between two of these, but not in what C calls (a sort's key, an import's module): there it
 * goes on until C has returned. While it is paused everything else may be done with the VM; an
 * interrupt is for what runs next. DYNVM_ERROR also where nothing was begun, or while the VM runs.
 */
dynvm_status dynvm_resume(dynvm_vm *vm, uint64_t budget);

/* Forgets the program that was begun.  What it holds is released, but none of its `finally` and
 * `except` clauses runs (those of generators that it was not just in do).  dynvm_destroy does the
 * same.  DYNVM_ERROR while the VM runs. */
dynvm_status dynvm_abandon(dynvm_vm *vm);

/* Work that the VM has done so far, as dynvm_resume counts it.  Without `resumable` and
 * limits calls are not counted. */
uint64_t dynvm_instructions(const dynvm_vm *vm);

/* Runs a statement that was typed: a text that tracebacks call "<stdin>", and whose expression
 * statements print their values (sys.displayhook). */
dynvm_status dynvm_run_interactive(dynvm_vm *vm, const char *text, size_t size);

/* Compiles a script and writes the bytes of a compiled file, NAME.dlc by custom, to `output`; it
 * fails with an OSError if that returns an errno.  Such files run where there is no source, and
 * begin sooner.  They contain no source: tracebacks quote it where it is found unchanged.  Only the
 * build that wrote a file reads it; another one refuses it with an ImportError that says so. */
dynvm_status dynvm_compile_file(dynvm_vm *vm, const char *path, dynvm_output output, void *context);
/* The same for a text; tracebacks call it `filename`. */
dynvm_status dynvm_compile_text(dynvm_vm *vm, const char *text, size_t size, const char *filename,
                                dynvm_output output, void *context);

/* Runs the bytes of a compiled file as the main program; they are copied.  Bytes that are cut off,
 * damaged or no such file are an ImportError.  The checksum finds accidents, not malice, and what
 * the verifier accepts keeps the stack, but instructions trust what they find there: run only what
 * you would run as a program of your own.  So a sandboxed VM runs none (PermissionError), here, by
 * dynvm_run_file and by import. */
dynvm_status dynvm_run_compiled(dynvm_vm *vm, const void *bytes, size_t size);

/* What to show where a statement is to be typed: str() of the program's sys.ps1, and of sys.ps2 for
 * its further lines, zero-terminated and cut to `size` bytes; empty what has no text.  The first
 * call makes both in sys, as a Python does that is interactive. */
void dynvm_prompts(dynvm_vm *vm, char *first, char *next, size_t size);

/* Gets a word, valid during the call; 0: go on, otherwise enough. */
typedef int (*dynvm_found)(void *context, const char *word);

/* Finds what a name that was typed so far may become: keywords and names for "na", attributes for
 * "module.na", a tab for nothing.  As with Python's rlcompleter, attributes of objects are looked
 * at, which may run code of the program; DYNVM_ERROR if that raises. */
dynvm_status dynvm_complete(dynvm_vm *vm, const char *text, dynvm_found found, void *context);

/* After DYNVM_EXIT: what the program passed to sys.exit; after DYNVM_ERROR: 1; else 0. */
int dynvm_exit_status(const dynvm_vm *vm);

/* ---- Stops ---- */

/* Makes the running program raise KeyboardInterrupt within some milliseconds.  Any thread may call
 * it, and signal handlers may.  A run that ends before that fails with it; while nothing runs it is
 * for what runs next. */
void dynvm_interrupt(dynvm_vm *vm);

/* DYNVM_STOP ends whatever runs in the VM, by a RuntimeError that nothing can catch: no `except`,
 * `finally` or `with` of the program sees it.  DYNVM_END raises it as any other; but a program that
 * is not at its end 10 ms or 100,000 units of work later is stopped, whatever it has caught. Either
 * way the VM stays stopped, and all that is run in it fails, until DYNVM_GO_ON, which is for the
 * VM's own thread, and also gives it its limits anew.  Any thread may stop a VM, and signal
 * handlers may. */
enum { DYNVM_GO_ON, DYNVM_STOP, DYNVM_END };
void dynvm_stop(dynvm_vm *vm, int how);

/* Not 0: there was a dynvm_interrupt that the program has not yet got, or it is stopped.  Callbacks
 * may ask. */
int dynvm_interrupted(const dynvm_vm *vm);

/* ---- Limits ----
 *
 * Each run has the same ones.  A run is what a call of the host makes the VM do, with all that
 * functions of the host make it do meanwhile; or a program from dynvm_begin_file or
 * dynvm_begin_text to its end, pauses included.  A run that exceeds a limit gets a RuntimeError and
 * may do as much more as after DYNVM_END (if it was the instruction limit: 100,000 units, whatever
 * time they take); then it is stopped.  The next run is free of that.  Work is the same number for
 * the same program and build, at the same level; time is that of the system's clock. */

/* Sets the limits of all runs from now on, and of the one that calls, which gets all of them anew.
 * 0: none.  DYNVM_ERROR: `seconds` is negative, or the VM was made without `resumable` and limits
 * (instruction_limit may be UINT64_MAX), so that it counts no calls. */
dynvm_status dynvm_set_limits(dynvm_vm *vm, uint64_t instructions, double seconds);
/* What is left of them to the run, or was when the last one ended; UINT64_MAX and HUGE_VAL: all. */
uint64_t dynvm_instructions_left(const dynvm_vm *vm);
double dynvm_seconds_left(const dynvm_vm *vm);

/* ---- Handles ---- */

/* A handle: it names a value of one VM.  All zeros: no value, which is what failed calls return. */
typedef struct dynvm_value {
    uint64_t handle;
} dynvm_value;

static inline int dynvm_failed(dynvm_value v) { return v.handle == 0; }

/* Scopes are opened and closed like blocks; with each end all handles that were made in it. */
typedef struct dynvm_scope {
    uint32_t first, outer;
} dynvm_scope;

dynvm_scope dynvm_open_scope(dynvm_vm *vm);
/* Closes a scope, and those in it that are still open. */
void dynvm_close_scope(dynvm_vm *vm, dynvm_scope scope);
/* The same, but the value stays: with a new handle, which belongs to the scope around. */
dynvm_value dynvm_close_scope_with(dynvm_vm *vm, dynvm_scope scope, dynvm_value result);

/* A handle on the same value that belongs to no scope: it ends with dynvm_drop. */
dynvm_value dynvm_keep(dynvm_vm *vm, dynvm_value v);
/* Ends a handle, kept or not.  No value is allowed. */
void dynvm_drop(dynvm_vm *vm, dynvm_value v);

/* ---- Making values ---- */

/* As a size: the text is zero-terminated. */
#define DYNVM_TO_ZERO ((size_t)-1)

dynvm_value dynvm_make_none(dynvm_vm *vm);
dynvm_value dynvm_make_bool(dynvm_vm *vm, int b);
dynvm_value dynvm_make_int(dynvm_vm *vm, int64_t i);
/* int(text, base), an int of any size; base 10 for decimal text.  ValueError. */
dynvm_value dynvm_make_int_text(dynvm_vm *vm, const char *text, size_t size, int base);
dynvm_value dynvm_make_float(dynvm_vm *vm, double d);
dynvm_value dynvm_make_str(dynvm_vm *vm, const char *text, size_t size); /* ValueError: no UTF-8 */
dynvm_value dynvm_make_bytes(dynvm_vm *vm, const void *data, size_t size);
dynvm_value dynvm_make_list(dynvm_vm *vm, const dynvm_value *items, size_t count);
dynvm_value dynvm_make_tuple(dynvm_vm *vm, const dynvm_value *items, size_t count);
dynvm_value dynvm_make_dict(dynvm_vm *vm); /* empty: dynvm_set_item fills it */

/* ---- Reading values ---- */

/* What a value is, or the class of which it is an instance derives from. */
typedef enum dynvm_kind {
    DYNVM_KIND_FAILED, /* of no value */
    DYNVM_KIND_NONE,
    DYNVM_KIND_BOOL,
    DYNVM_KIND_INT,
    DYNVM_KIND_FLOAT, /* exactly */
    DYNVM_KIND_STR,
    DYNVM_KIND_BYTES,
    DYNVM_KIND_LIST,
    DYNVM_KIND_TUPLE,
    DYNVM_KIND_DICT,
    DYNVM_KIND_OTHER /* dynvm_is_instance and dynvm_class_of tell more */
} dynvm_kind;

dynvm_kind dynvm_kind_of(dynvm_vm *vm, dynvm_value v);
/* An int or bool within 64 bits: TypeError, OverflowError.  (Of others: dynvm_text of
 * dynvm_str.) */
dynvm_status dynvm_read_int(dynvm_vm *vm, dynvm_value v, int64_t *out);
/* What float() takes of numbers: TypeError, OverflowError. */
dynvm_status dynvm_read_float(dynvm_vm *vm, dynvm_value v, double *out);
/* The text of a str as UTF-8, or the bytes of a bytes object, with a zero byte behind it.  It stays
 * as long as the innermost scope that is open now; not freed by the caller.  size may be NULL.
 * NULL: TypeError; UnicodeEncodeError: it has surrogates. */
const char *dynvm_text(dynvm_vm *vm, dynvm_value v, size_t *size);
int dynvm_truth(dynvm_vm *vm, dynvm_value v); /* as `if v` sees it: 1, 0, -1: failed */

/* ---- What programs do with values ---- */

/* Names at module level of the main program: NameError. */
dynvm_value dynvm_get_global(dynvm_vm *vm, const char *name);
dynvm_status dynvm_set_global(dynvm_vm *vm, const char *name, dynvm_value value);
/* A builtin such as "sorted" or "ValueError": NameError. */
dynvm_value dynvm_builtin(dynvm_vm *vm, const char *name);
/* A module by its absolute name ("os.path"): what `import` does, and gives. */
dynvm_value dynvm_import(dynvm_vm *vm, const char *name);

/* A text as a function without parameters, to be called as often as you like: each call runs it as
 * dynvm_run_text would, with the main program's names.  SyntaxError. */
dynvm_value dynvm_load_text(dynvm_vm *vm, const char *text, size_t size, const char *filename);

dynvm_value dynvm_call(dynvm_vm *vm, dynvm_value callee, const dynvm_value *args, size_t count);
/* The last `named` arguments are keyword arguments with these names. */
dynvm_value dynvm_call_keywords(dynvm_vm *vm, dynvm_value callee, const dynvm_value *args,
                                size_t count, const char *const *names, size_t named);
dynvm_value dynvm_call_method(dynvm_vm *vm, dynvm_value v, const char *name,
                              const dynvm_value *args, size_t count);

dynvm_value dynvm_get_attribute(dynvm_vm *vm, dynvm_value v, const char *name);
/* 1: *out is it; 0: there is none (*out is no value); -1: failed. */
int dynvm_find_attribute(dynvm_vm *vm, dynvm_value v, const char *name, dynvm_value *out);
dynvm_status dynvm_set_attribute(dynvm_vm *vm, dynvm_value v, const char *name, dynvm_value value);
dynvm_status dynvm_delete_attribute(dynvm_vm *vm, dynvm_value v, const char *name);

int64_t dynvm_length(dynvm_vm *vm, dynvm_value v); /* -1: failed */
dynvm_value dynvm_get_item(dynvm_vm *vm, dynvm_value v, dynvm_value key);
dynvm_value dynvm_get_index(dynvm_vm *vm, dynvm_value v, int64_t index); /* v[index] */
dynvm_status dynvm_set_item(dynvm_vm *vm, dynvm_value v, dynvm_value key, dynvm_value value);
dynvm_status dynvm_delete_item(dynvm_vm *vm, dynvm_value v, dynvm_value key);
int dynvm_contains(dynvm_vm *vm, dynvm_value v, dynvm_value item); /* 1, 0, -1: failed */
dynvm_status dynvm_append(dynvm_vm *vm, dynvm_value list, dynvm_value item);

dynvm_value dynvm_iterate(dynvm_vm *vm, dynvm_value v);
/* 1: *out is the next item; 0: that was all (*out is no value); -1: failed. */
int dynvm_next(dynvm_vm *vm, dynvm_value iterator, dynvm_value *out);
/* Goes on with a generator, a coroutine of dl: its `yield` gets the value (None to begin with).
 * 1: *out is what it yields; 0: it has returned *out; -1: failed. */
int dynvm_send(dynvm_vm *vm, dynvm_value generator, dynvm_value value, dynvm_value *out);

dynvm_value dynvm_repr(dynvm_vm *vm, dynvm_value v);
dynvm_value dynvm_str(dynvm_vm *vm, dynvm_value v);
int dynvm_same(dynvm_vm *vm, dynvm_value a, dynvm_value b);  /* a is b: 1, 0, -1: failed */
int dynvm_equal(dynvm_vm *vm, dynvm_value a, dynvm_value b); /* a == b: likewise */
int dynvm_less(dynvm_vm *vm, dynvm_value a, dynvm_value b);  /* a < b: likewise */
dynvm_value dynvm_class_of(dynvm_vm *vm, dynvm_value v);
/* isinstance(v, classes), where classes is a class or a tuple of them: 1, 0, -1: failed */
int dynvm_is_instance(dynvm_vm *vm, dynvm_value v, dynvm_value classes);

/* ---- The host is an extension ---- */

/* Functions, types and modules of the host are those of an extension (dynvm_ext.h): with signatures
 * that hot loops call raw, and derivatives that their instructions become. */
struct dvx_type;
struct dvx_value;
struct dvx_vm;

/* From now on `import name` makes a module and calls `init`, which fills it, in place of any file
 * of this name; in a sandboxed VM, too.  The name is copied.  ValueError: there is one already. */
dynvm_status dynvm_add_extension(dynvm_vm *vm, const char *name,
                                 bool (*init)(struct dvx_vm *vm, struct dvx_value module));
/* The two names of a VM. */
struct dvx_vm *dynvm_extension_vm(dynvm_vm *vm);
dynvm_vm *dynvm_of_extension(struct dvx_vm *vm);
/* A handle on a value that a function of the host was given, or has.  DVX_FAILED: the handle of a
 * failed call; the error is then the handle's. */
dynvm_value dynvm_wrap(dynvm_vm *vm, struct dvx_value v);
/* A new reference to a handle's value, which such a function may return: of a failed call
 * DVX_FAILED, and its error is raised. */
#ifdef __clang__ /* in C++ it warns of results that are not complete here */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif
struct dvx_value dynvm_unwrap(dynvm_vm *vm, dynvm_value v);
#ifdef __clang__
#pragma clang diagnostic pop
#endif
/* A new object of a type that such a module has added; *payload is its struct, zeroed. */
dynvm_value dynvm_make_object(dynvm_vm *vm, const struct dvx_type *type, void **payload);
/* The struct of an object of the type, as long as the object lives; NULL: TypeError. */
void *dynvm_payload(dynvm_vm *vm, dynvm_value v, const struct dvx_type *type);

/* ---- Observing ---- */

/* A loop of the program goes round, or an object dies whose __del__ (or, of a generator, finally
 * clauses) the program has.  An event lives only during the call that reports it. */
typedef struct dynvm_event dynvm_event;

/* 0: go on; otherwise the program gets KeyboardInterrupt. */
typedef int (*dynvm_observer)(void *context, const dynvm_event *event);

/* Reports every loop iteration and death from now on, at every level (NULL: no more).  Slow: for
 * tests and tools, such as `dynvm --lockstep`. */
void dynvm_observe(dynvm_vm *vm, dynvm_observer observer, void *context);

/* A number that is equal where the same function is at the same place with equal locals, or where
 * what dies has an equal class and attributes.  Addresses count as equal. */
uint64_t dynvm_event_digest(const dynvm_event *event);
/* Source line of the loop; 0: it is a death. */
uint32_t dynvm_event_line(const dynvm_event *event);
/* "name = value, ..." of the locals, or "CLASS dies: name = value, ..." of its attributes,
 * zero-terminated, cut to fit the buffer. */
void dynvm_event_locals(const dynvm_event *event, char *buffer, size_t size);

/* ---- Inspecting ---- */

/* How a report is to be.  Start with DYNVM_REPORT; 0 and NULL are the defaults. */
typedef struct dynvm_report {
    size_t size;          /* of this struct, as the caller knows it */
    const char *function; /* only what concerns the function of this name; NULL: all */
    unsigned top;         /* rows of a table of text; default 20 */
    int json;             /* one line of JSON instead of text: see vm/inspect/REPORTS.md */
    int coloured;         /* text in colours, by the escape sequences of terminals */
    int assembly;         /* dynvm_disassemble: all functions as text for dynvm_run_assembly */
    const char
        *text; /* dynvm_disassemble, dynvm_view: this is listed; `path` is what it is called */
    size_t text_size;
    int where; /* dynvm_disassemble: where each instruction is defined in dynvm's sources, who
                * chooses it, and what a fusion covers; without a `path`, of all instructions there
                * are */
    const char *step; /* dynvm_view: the page also goes through this function step by step ... */
    unsigned steps;   /* ... so many of each phase of its life; default 100 */
    int facts; /* dynvm_disassemble, after the run: what the abstract interpreter knew in front
                * of each instruction of a region */
} dynvm_report;

#define DYNVM_REPORT \
    { sizeof(dynvm_report), NULL, 0, 0, 0, 0, NULL, 0, 0, NULL, 0, 0 }

/* Each writes to `output`, whose results do not matter; report NULL: all defaults. */

/* A listing of a file's code (assembly, if its name ends in .dla): as it was compiled, or with
 * `after_run` what its instructions had become after running it (then its output appears, too).
 * DYNVM_ERROR also if there is no such function. */
dynvm_status dynvm_disassemble(dynvm_vm *vm, const char *path, int after_run,
                               const dynvm_report *report, dynvm_output output, void *context);

/* The code of a file as assembly, text that dynvm_run_assembly takes (vm/inspect/ASSEMBLY.md). */
dynvm_status dynvm_assembly(dynvm_vm *vm, const char *path, dynvm_output output, void *context);

/* Runs a file of assembly as the main program.  DYNVM_ERROR, with a SyntaxError that names its
 * line, also where the verifier refuses it.  What the verifier accepts keeps the stack, but
 * instructions trust what they find there: wrong code may end the process.  So a sandboxed VM runs
 * none. */
dynvm_status dynvm_run_assembly(dynvm_vm *vm, const char *path);

/* What the VM has executed so far: how often each instruction and site, and how well their
 * derivatives fitted.  DYNVM_ERROR also if the VM was not made to count. */
dynvm_status dynvm_stats(dynvm_vm *vm, const dynvm_report *report, dynvm_output output,
                         void *context);

/* Which hot sites stayed without a fitting derivative, and which hot loops without a region (where
 * there are regions), why, and what to do about it.  DYNVM_ERROR likewise. */
dynvm_status dynvm_explain(dynvm_vm *vm, const dynvm_report *report, dynvm_output output,
                           void *context);

/* What happened to functions, sites and loops, in its order: they became warm, took derivatives,
 * missed, backed off; regions were made, entered, left and given up.  The log is bounded, and says
 * how much it has not kept.  With `json` one line of JSON for each event, and one in front for all
 * of them.  DYNVM_ERROR likewise. */
dynvm_status dynvm_trace(dynvm_vm *vm, const dynvm_report *report, dynvm_output output,
                         void *context);

/* Runs a file (or report's `text`, which `path` names) as the main program, and writes a page of
 * HTML that shows all of these beside its source.  It loads nothing, and is written also if the
 * program has ended with an error, which is then the call's.  DYNVM_ERROR likewise. */
dynvm_status dynvm_view(dynvm_vm *vm, const char *path, const dynvm_report *report,
                        dynvm_output output, void *context);

/* Frees objects that only refer to each other, as gc.collect() does, also while the program has
 * disabled that; runs their finalisers.  How many there were. */
uint64_t dynvm_collect(dynvm_vm *vm);

/* Bytes taken from the host now, and at most so far. */
size_t dynvm_memory_used(const dynvm_vm *vm);
size_t dynvm_memory_peak(const dynvm_vm *vm);

/* ---- Errors ---- */

/* What the last call that failed has failed with, or NULL.  The caller owns it and gives it back
 * with dynvm_error_free, before or after the VM's end.  It stays until it is taken, or a call is
 * made with arguments that are all values. */
dynvm_error *dynvm_take_error(dynvm_vm *vm);
/* The same as an object of dl, with __cause__, __traceback__ and all else that it has; no value:
 * there is none, or it ended a dynvm_run_..., which keeps texts alone. */
dynvm_value dynvm_take_exception(dynvm_vm *vm);
/* The error that an exception object is; NULL: it is none, or there is no memory. */
dynvm_error *dynvm_describe_exception(dynvm_vm *vm, dynvm_value exception);
void dynvm_error_free(dynvm_error *error); /* NULL is allowed */

/* Text of an error, valid as long as the error: the name of the exception's class, str() of the
 * exception, and what Python writes to stderr: nothing where the program's sys.excepthook has been
 * called or another sys.stderr has taken it.  For error NULL: empty. */
const char *dynvm_error_type(const dynvm_error *error);
const char *dynvm_error_message(const dynvm_error *error);
const char *dynvm_error_traceback(const dynvm_error *error);
/* Bytes of the traceback, which may itself contain zero bytes. */
size_t dynvm_error_traceback_size(const dynvm_error *error);

/* ---- Where handles are made ---- */

/* With DYNVM_PLACES defined before this header is included, what `check_handles` reports has the
 * file and the line of the call that made the handle; the calls are slower by an instruction or
 * two. */
dynvm_vm *dynvm_at(dynvm_vm *vm, const char *file, int line); /* vm */

#ifdef DYNVM_PLACES
#define DYNVM_HERE(vm)                  dynvm_at((vm), __FILE__, __LINE__)
#define dynvm_close_scope_with(vm, ...) dynvm_close_scope_with(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_keep(vm, ...)             dynvm_keep(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_make_none(vm)             dynvm_make_none(DYNVM_HERE(vm))
#define dynvm_make_bool(vm, ...)        dynvm_make_bool(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_make_int(vm, ...)         dynvm_make_int(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_make_int_text(vm, ...)    dynvm_make_int_text(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_make_float(vm, ...)       dynvm_make_float(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_make_str(vm, ...)         dynvm_make_str(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_make_bytes(vm, ...)       dynvm_make_bytes(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_make_list(vm, ...)        dynvm_make_list(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_make_tuple(vm, ...)       dynvm_make_tuple(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_make_dict(vm)             dynvm_make_dict(DYNVM_HERE(vm))
#define dynvm_text(vm, ...)             dynvm_text(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_get_global(vm, ...)       dynvm_get_global(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_builtin(vm, ...)          dynvm_builtin(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_import(vm, ...)           dynvm_import(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_load_text(vm, ...)        dynvm_load_text(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_call(vm, ...)             dynvm_call(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_call_keywords(vm, ...)    dynvm_call_keywords(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_call_method(vm, ...)      dynvm_call_method(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_get_attribute(vm, ...)    dynvm_get_attribute(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_find_attribute(vm, ...)   dynvm_find_attribute(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_get_item(vm, ...)         dynvm_get_item(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_get_index(vm, ...)        dynvm_get_index(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_iterate(vm, ...)          dynvm_iterate(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_next(vm, ...)             dynvm_next(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_send(vm, ...)             dynvm_send(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_repr(vm, ...)             dynvm_repr(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_str(vm, ...)              dynvm_str(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_class_of(vm, ...)         dynvm_class_of(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_wrap(vm, ...)             dynvm_wrap(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_make_object(vm, ...)      dynvm_make_object(DYNVM_HERE(vm), __VA_ARGS__)
#define dynvm_take_exception(vm)        dynvm_take_exception(DYNVM_HERE(vm))
#endif

/* ---- The library ---- */

/* "0.1.0" */
const char *dynvm_version(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
