/* expression.h: expressions of several sites that belong to one extension, taken as one instruction
 * (the guide for their authors: ext/SITES.md, "Whole expressions").
 *
 * `a * s + b` is MUL, a load, ADD.  Where the instructions from one site of an extension to another
 * are all its sites or plain loads, the first one's cell may get a derivative for the whole: it
 * takes what lies on the stack and the values of the loads, and goes on behind the last one.
 *
 * Invariants
 *  1. Between the first site and the last one there is no other instruction, but for those of
 * invariant 6, no way in from elsewhere, and in the end one value on the stack in place of those
 * that were taken (none behind a store): nothing is left out but these sites.
 *  2. The occurrence stands on top of that of the first site (`under`), which stays what it was.  A
 * miss executes `under`'s instruction and goes on behind it, with the other sites as they are;
 * whoever gives the expression up puts `under` back.  So there is nothing to restore.
 *  3. What a load would have pushed is read where it is (its `drop` says where) and borrowed.
 *  4. The callee of a call is known: it is looked at where it lies on the stack; what is loaded
 * within the expression is a global that keeps its value, or such a module's; a method, of the last
 * site alone, is one of the extension's own type, whose class nobody changes; its argument is
 * a load.
 *  5. A *group*, the instructions that make a tuple or slice of constants (drop.c), counts as a
 * load where its site has dropped it: the value that it would make again is among the site's drops.
 *  6. *Numbers*: what is computed of nothing but ints and floats that are loaded (`2.0 * dx`,
 * `dt / dx ** 2`), and slices and tuples of such (and of None and Ellipsis), `[1:n - 1, i]`, is an
 * operand, computed before the sites run: no order can be seen, since neither has an effect, and
 * where one raises, is too large, or a local is no number any more, the expression is left to its
 * instructions this time.  Slices and tuples are the occurrence's: nobody else keeps them, so that
 * their parts are set again each time.
 *  7. Regions execute the occurrence of the first site's cell, from where the frame's locals and
 * the stack are there; then the place of a node is the cell of the region that stands for it.
 */
#ifndef DV_PLUGIN_EXPRESSION_H
#define DV_PLUGIN_EXPRESSION_H

#include "plugin/occurrence.h"

enum { DV_MOST_CONSTANTS = 16 };

/* The largest expression that ends in a site, and how it lies in the code. */
typedef struct dv_expression {
    dvx_expression told;
    dvx_node nodes[DV_MOST_NODES];
    dvx_operand operands[DV_MOST_OPERANDS];
    dv_drop sources[DV_MOST_OPERANDS]; /* load NULL: it lies on the stack */
    uint32_t keys[DV_MOST_OPERANDS], masks[DV_MOST_OPERANDS];
    uint32_t below;    /* so many entries of the stack it takes */
    uint32_t reserved; /* ... and of these the calls' callees, reserved entries and selves */
    uint32_t stacked;  /* so many operands are the others, from left to right */
    uint8_t slots[DV_MOST_OPERANDS]; /* which entries */
    uint32_t owned;                  /* of all entries: which the sites release */
    uint8_t callee_count, constant_count;
    dv_expression_callee callees[DV_MOST_CALLEES];
    dv_global_cell *constants[DV_MOST_CONSTANTS]; /* with the callees that are not loaded */
    uint32_t number_count;
    dv_expression_number numbers[DV_MOST_NUMBERS];
    uint8_t computed[DV_MOST_OPERANDS]; /* 0, or 1 + the number that an operand is */
    bool stores;                        /* it ends in a SET_ITEM, and leaves nothing on the stack */
    uint16_t places[DV_MOST_NODES];     /* of the sites, in cells behind the first one */
    dv_cell *first, *behind;
    uint32_t start; /* where it begins among the instructions that were looked at */
    const dv_extension_site *under;
} dv_expression;

/* Looks for one that ends at pc with operands of these values and begins at `start` or behind it
 * (0: anywhere), the largest first; `made` is what that last site is by itself.  False: *reason
 * says why there is none; NULL: no operand is the result of a site of the extension. */
bool dv_expression_find(dv_vm *vm, dv_thread *thread, uint32_t pc, const dv_extension_site *made,
                        const dv_extension *extension, const dv_value *values, uint32_t start,
                        dv_expression *x, const char **reason) DV_MUST_CHECK;
/* Releases what it holds. */
void dv_expression_forget(dv_vm *vm, dv_expression *x);
/* An occurrence that takes over the sources; NULL: out of memory, or the first site has had too
 * many. */
dv_extension_site *dv_expression_new(dv_vm *vm, dv_expression *x, const dv_thread *thread,
                                     const dvx_specialisation *own);
/* False: the first site is not any more what it was. */
bool dv_expression_install(dv_vm *vm, dv_extension_site *o);
/* The first site is itself again. */
void dv_expression_end(dv_extension_site *o);

/* The hooks `expression` and `run`: it is executed in a region, too. */
bool dv_expression_describe(dv_vm *vm, const dv_cell *cell, dv_foreign_expression *found);
int dv_expression_run(dv_vm *vm, void *site, const dv_value *frame);

#endif
