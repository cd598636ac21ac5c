/* dynvm.h: embedding dynvm, a bytecode VM for dl (a strict subset of Python 3.11).
 *
 *     #include <dynvm.h>
 *
 *     int main(void) {
 *         dynvm_vm *vm = dynvm_create(NULL);
 *         if (!vm) return 1;
 *         if (dynvm_run_text(vm, "print(6 * 7)\n", 13, "<example>") == DYNVM_ERROR) {
 *             dynvm_error *error = dynvm_take_error(vm);
 *             fputs(dynvm_error_traceback(error), stderr);
 *             dynvm_error_free(error);
 *         }
 *         dynvm_destroy(vm);
 *     }
 *
 * Rules
 *  1. A VM is a value: there is no global state, any number of VMs may exist, each used by one
 *     thread at a time; different threads may run different VMs at once.  dynvm_interrupt alone may
 *     be called from any thread while the VM runs.
 *  2. Arguments are borrowed: nothing that is passed in is kept after the call, unless the
 *     function's comment says so.  Results that the caller must give back say by what.
 *  3. Every call that can fail returns a status.  After DYNVM_ERROR dynvm_take_error tells what
 *     happened.
 *  4. Text is UTF-8. */
#ifndef DYNVM_H
#define DYNVM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DYNVM_VERSION_MAJOR 0
#define DYNVM_VERSION_MINOR 1

typedef struct dynvm_vm dynvm_vm;
typedef struct dynvm_error dynvm_error;

typedef enum dynvm_status {
    DYNVM_OK,
    DYNVM_ERROR,    /* an exception was not caught: dynvm_take_error */
    DYNVM_EXIT,     /* the program called sys.exit: dynvm_exit_status */
    DYNVM_NO_MEMORY /* not even an exception could be made */
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
    DYNVM_FORM_DEFAULT,    /* tail, where it was built */
    DYNVM_FORM_TAIL,       /* by a jump */
    DYNVM_FORM_TRAMPOLINE, /* by returning to a loop */
    DYNVM_FORM_MIXED       /* both, alternating, for tests */
} dynvm_form;

/* Stress modes make rare events common, for tests; results must not change. */
enum {
    DYNVM_STRESS_QUICKEN = 1, /* specialise at first execution */
    DYNVM_STRESS_ASSUME = 2,  /* break every assumption once */
    DYNVM_STRESS_PORTABLE = 4 /* ignore native handlers of extensions: their portable twins run */
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
    uint32_t stress_guards;     /* every n-th guard fails */
    uint32_t stress_exits;      /* every n-th exit of a region is taken */
    uint32_t recursion_limit;   /* default 1000 */
    size_t c_stack_size;        /* use at most so much of a thread's C stack; default 8 MB */
    uint64_t instruction_limit; /* about so many instructions, then RuntimeError */
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
} dynvm_config;

#define DYNVM_CONFIG                                                                              \
    {                                                                                             \
        sizeof(dynvm_config), 0, 0, 0, 0, 0, 0, 0, 0, DYNVM_LEVEL_DEFAULT, DYNVM_FORM_DEFAULT, 0, \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, DYNVM_NAMA_DEFAULT, 0                          \
    }

/* ---- VMs ---- */

/* A new VM; config NULL: all defaults.  Fails with NULL: no memory, or a form that was not built.
 * The VM must be given back with dynvm_destroy. */
dynvm_vm *dynvm_create(const dynvm_config *config);

/* Ends a VM and frees everything that belongs to it; NULL is allowed. */
void dynvm_destroy(dynvm_vm *vm);

/* sys.argv: the first is the program's name.  The strings are copied. */
dynvm_status dynvm_set_arguments(dynvm_vm *vm, int count, const char *const *arguments);

/* Runs a file as the main program.  Names defined by it stay for later runs in this VM.  Tracebacks
 * name it by its absolute path. */
dynvm_status dynvm_run_file(dynvm_vm *vm, const char *path);

/* Runs a text as the main program.  `filename` is what tracebacks call it; they quote its lines
 * unless the name is in angle brackets, as "<string>". */
dynvm_status dynvm_run_text(dynvm_vm *vm, const char *text, size_t size, const char *filename);

/* Runs a module, found as `import` would find it, as the main program (of a package its
 * __main__), as Python's -m does; sys.argv[0] becomes its path.  Its directory for imports is the
 * working directory.  Where there is none the error has no traceback. */
dynvm_status dynvm_run_module(dynvm_vm *vm, const char *name);

/* Runs a statement that was typed: a text that tracebacks call "<stdin>", and whose expression
 * statements print their values (sys.displayhook). */
dynvm_status dynvm_run_interactive(dynvm_vm *vm, const char *text, size_t size);

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

/* Makes the running program raise KeyboardInterrupt soon.  Any thread may call it, and signal
 * handlers may. */
void dynvm_interrupt(dynvm_vm *vm);
/* Not 0: there was a dynvm_interrupt that the program has not yet got.  Callbacks may ask. */
int dynvm_interrupted(const dynvm_vm *vm);

/* ---- Observing ---- */

/* A loop of the program goes round.  An event lives only during the call that reports it. */
typedef struct dynvm_event dynvm_event;

/* 0: go on; otherwise the program gets KeyboardInterrupt. */
typedef int (*dynvm_observer)(void *context, const dynvm_event *event);

/* Reports every loop iteration from now on, at every level (NULL: no more).  Slow: for tests and
 * tools, such as `dynvm --lockstep`. */
void dynvm_observe(dynvm_vm *vm, dynvm_observer observer, void *context);

/* A number that is equal where the same function is at the same place with equal locals. */
uint64_t dynvm_event_digest(const dynvm_event *event);
/* Source line of the loop. */
uint32_t dynvm_event_line(const dynvm_event *event);
/* "name = value, ..." of the locals, zero-terminated, cut to fit the buffer. */
void dynvm_event_locals(const dynvm_event *event, char *buffer, size_t size);

/* ---- Inspecting ---- */

/* How a report is to be.  Start with DYNVM_REPORT; 0 and NULL are the defaults. */
typedef struct dynvm_report {
    size_t size;          /* of this struct, as the caller knows it */
    const char *function; /* only what concerns the function of this name; NULL: all */
    unsigned top;         /* rows of a table of text; default 20 */
    int json;             /* one line of JSON instead of text: see vm/inspect/README.md */
    int coloured;         /* text in colours, by the escape sequences of terminals */
    int assembly;         /* dynvm_disassemble: all functions as text for dynvm_run_assembly */
} dynvm_report;

#define DYNVM_REPORT \
    { sizeof(dynvm_report), NULL, 0, 0, 0, 0 }

/* Each writes to `output`, whose results do not matter; report NULL: all defaults. */

/* A listing of a file's code (assembly, if its name ends in .dla): as it was compiled, or with
 * `after_run` what its instructions had become after running it (then its output appears, too).
 * DYNVM_ERROR also if there is no such function. */
dynvm_status dynvm_disassemble(dynvm_vm *vm, const char *path, int after_run,
                               const dynvm_report *report, dynvm_output output, void *context);

/* The code of a file as assembly, text that dynvm_run_assembly takes (vm/inspect/README.md). */
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

/* Bytes taken from the host now, and at most so far. */
size_t dynvm_memory_used(const dynvm_vm *vm);
size_t dynvm_memory_peak(const dynvm_vm *vm);

/* ---- Errors ---- */

/* What the last failed run ended with, or NULL.  The caller owns it and gives it back with
 * dynvm_error_free, before or after the VM's end. */
dynvm_error *dynvm_take_error(dynvm_vm *vm);
void dynvm_error_free(dynvm_error *error); /* NULL is allowed */

/* Text of an error, valid as long as the error: the name of the exception's class, str() of the
 * exception, and what Python writes to stderr: nothing where the program's sys.excepthook has been
 * called or another sys.stderr has taken it.  For error NULL: empty. */
const char *dynvm_error_type(const dynvm_error *error);
const char *dynvm_error_message(const dynvm_error *error);
const char *dynvm_error_traceback(const dynvm_error *error);
/* Bytes of the traceback, which may itself contain zero bytes. */
size_t dynvm_error_traceback_size(const dynvm_error *error);

/* ---- The library ---- */

/* "0.1.0" */
const char *dynvm_version(void);

#ifdef __cplusplus
}
#endif

#endif
