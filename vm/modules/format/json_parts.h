/* json_parts.h: the parts of the module _json, the loops of json (lang/lib/json.dl). */
#ifndef DV_MODULES_JSON_PARTS_H
#define DV_MODULES_JSON_PARTS_H

#include "types/file/module.h"

/* json_encode.c: encode(settings, object), and quote(text, ensure_ascii). */
dv_value dv_json_encode(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_json_quote(dv_vm *vm, const dv_value *args, uint32_t count);

#endif
