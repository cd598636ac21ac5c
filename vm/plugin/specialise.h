/* specialise.h: asking types of extensions about hot sites. */
#ifndef DV_PLUGIN_SPECIALISE_H
#define DV_PLUGIN_SPECIALISE_H

#include "plugin/extension.h"

/* Asks the types of the operands below vm->sp.  False: the site is as it was. */
bool dv_specialise(dv_vm *vm, dv_cell *ip);
/* Likewise, of a site that refills what its former derivative has dropped. */
bool dv_specialise_again(dv_vm *vm, dv_cell *ip, const struct dv_extension_site *former);
/* Likewise for a call (hooks.extension_call). */
bool dv_specialise_call(dv_vm *vm, dv_cell *ip, const dv_value *callee, uint32_t count,
                        bool method);
/* Their part of the hooks extension_form and extension_reason. */
/* A promise of what is pushed, as dv_foreign_form.result. */
uint32_t dv_extension_result(dvx_kind kind);
bool dv_specialise_form(dv_vm *vm, const dv_cell *ip, dv_foreign_form *form);
const char *dv_specialise_reason(dv_vm *vm, const dv_cell *ip);
/* ... and extension_report. */
bool dv_specialise_report(dv_vm *vm, const dv_cell *ip, dv_foreign_report *report);

/* The derivative of an extension that stands at pc by itself (an expression may begin there); NULL.
 */
const struct dv_extension_site *dv_specialise_at(dv_vm *vm, const struct dv_thread *thread,
                                                 uint32_t pc);
/* What a generic opcode is for extensions. */
void dv_specialise_family(uint32_t op, uint32_t own, dvx_family *family, uint32_t *operation);

/* The table's functions. */
void *dv_api_specialise(dvx_vm *vm, dvx_site *site, const dvx_specialisation *derivative);
bool dv_api_drop_operand(dvx_vm *vm, dvx_site *site, uint32_t i);
const dvx_expression *dv_api_expression(dvx_vm *vm, dvx_site *site);
const dvx_expression *dv_api_smaller_expression(dvx_vm *vm, dvx_site *site);
void *dv_api_fuse(dvx_vm *vm, dvx_site *site, const dvx_specialisation *derivative);
void dv_api_at_node(dvx_vm *vm, const void *cache, uint32_t node);
void dv_api_note(dvx_vm *vm, const void *cache, const char *why);
void dv_api_count(dvx_vm *vm, const void *cache, const char *what);
void dv_api_decline(dvx_vm *vm, dvx_site *site, const char *reason);
dvx_assumption *dv_api_make_assumption(dvx_vm *vm);
bool dv_api_assume(dvx_vm *vm, dvx_site *site, dvx_assumption *assumption);
void dv_api_break_assumption(dvx_vm *vm, dvx_assumption *assumption);
bool dv_api_is_unique(dvx_vm *vm, dvx_value v);

#endif
