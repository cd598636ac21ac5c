/* debug_handle.h: what is known of handles and blocks of memory that extensions have (debug.h).
 *
 * Invariants
 *  1. A handle is the number of a record and how often that has been used before.  A record that
 *     was closed waits behind all that were closed earlier before it is used again, so that its
 *     history can still be told for a while.
 *  2. A record is open while `references` is not 0 or it is lent. */
#ifndef DV_PLUGIN_DEBUG_HANDLE_H
#define DV_PLUGIN_DEBUG_HANDLE_H

#include "plugin/debug.h"

enum { DV_DEBUG_NONE = 0, DV_DEBUG_BLOCK_LISTS = 1024 };

/* Which call, of which function, at which line. */
typedef struct dv_debug_site {
    const char *call, *owner, *name;
    const char *file; /* copied into debug->files */
    uint32_t file_size, line;
} dv_debug_site;

typedef struct dv_debug_record {
    dv_value value;      /* while it is open */
    uint32_t references; /* that the extension has */
    uint32_t generation; /* of the handle that is open, or was last */
    uint32_t next;       /* of the records that wait */
    bool lent;
    char type[32]; /* name, cut */
    dv_debug_site made, ended;
} dv_debug_record;

typedef struct dv_debug_block {
    struct dv_debug_block *next;
    void *memory;
    size_t size;
    dv_debug_site made;
} dv_debug_block;

typedef struct dv_debug_file {
    struct dv_debug_file *next;
    uint32_t size;
    char text[];
} dv_debug_file;

struct dv_debug {
    dv_debug_frame *frame;
    dv_debug_record *records; /* number 0 is not used */
    uint32_t count, capacity;
    uint32_t first_waiting, last_waiting, waiting; /* closed records, as a queue */
    uint32_t *lent;                                /* numbers of those that are lent, by frames */
    uint32_t lent_count, lent_capacity;
    dv_debug_site raised; /* who raised the pending error */
    dv_debug_block *blocks[DV_DEBUG_BLOCK_LISTS];
    dv_debug_file *files;
    dv_watch_line last; /* report, and how often it came again */
    unsigned repeated;
};

static inline bool dv_debug_is_handle(dv_value v) { return v.bits >> 48 == DV_TAG_HANDLE >> 48; }
/* The record of a handle while it is open; NULL: it is closed. */
dv_debug_record *dv_debug_open(dv_vm *vm, dv_value handle);
/* The record that a handle had, if it has not been used again; or NULL. */
dv_debug_record *dv_debug_history(dv_vm *vm, dv_value handle);
/* Nobody has the handle any more. */
void dv_debug_close(dv_vm *vm, dv_debug_record *record, const char *call);

dv_debug_site dv_debug_site_here(dv_vm *vm, const char *call);
/* Begins a report with the function and the place that runs. */
void dv_debug_report(dv_vm *vm, dv_watch_line *line);
/* Writes a report.  One that is as the last is only counted. */
void dv_debug_write(dv_vm *vm, dv_watch_line *line);
/* "call in module.function (file:line)" */
void dv_debug_put_site(dv_watch_line *line, const dv_debug_site *site);
/* "list made by make_list in module.function (file:line)" */
void dv_debug_put_record(dv_watch_line *line, const dv_debug_record *record);
/* Reports a closed handle, with what was tried. */
void dv_debug_report_closed(dv_vm *vm, dv_value handle, const char *what);

#endif
