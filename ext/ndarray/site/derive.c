/* derive.c: the hooks (derive.h). */
#include "site/derive.h"

#include "ufunc/error.h"

bool derive_is_int(dvx_vm *vm, dvx_value v) {
    if (vm->api->kind(vm, v) != DVX_INT) return false;
    dvx_value class_ = vm->api->class_of(vm, v);
    bool same = vm->api->same(vm, class_, nd_state_of(vm)->int_);
    vm->api->release(vm, class_);
    return same;
}

bool derive_names(dvx_vm *vm, dvx_value keywords, const char *name) {
    char word[32];
    if (dvx_failed(keywords)) return true;
    if (vm->api->length(vm, keywords) != 1) return false;
    dvx_value index = vm->api->make_int(vm, 0), first = vm->api->get_item(vm, keywords, index);
    const bool good = !dvx_failed(first) && !strcmp(nd_word(vm, first, word), name);
    vm->api->release(vm, first);
    vm->api->release(vm, index);
    return good;
}

void derive_quiet(dvx_vm *vm, dvx_site *site, void (*hook)(dvx_vm *vm, dvx_site *site)) {
    if (error_heeds_underflow(vm)) {
        vm->api->decline(vm, site,
                         "np.seterr asks for underflow, of which derivatives do not know");
        return;
    }
    hook(vm, site);
    vm->api->assume(vm, site, nd_state_of(vm)->no_underflow);
}

void derive_array(dvx_vm *vm, dvx_site *site) {
    switch (site->family) {
    case DVX_SITE_BINARY:
    case DVX_SITE_INPLACE:
    case DVX_SITE_UNARY:
    case DVX_SITE_COMPARE: derive_quiet(vm, site, derive_elements); return;
    case DVX_SITE_GET_ITEM: derive_items(vm, site); return;
    case DVX_SITE_SET_ITEM: derive_stores(vm, site); return;
    case DVX_SITE_ATTRIBUTE: derive_attribute(vm, site); return;
    case DVX_SITE_CALL:
    case DVX_SITE_METHOD: derive_method(vm, site); return;
    default: vm->api->decline(vm, site, "arrays have no derivatives for this"); return;
    }
}

static void specialise_call(dvx_vm *vm, dvx_site *site) {
    if (site->family != DVX_SITE_CALL)
        vm->api->decline(vm, site, "of ufuncs only calls have derivatives");
    else if (derive_out(vm, site))
        return;
    else if (!dvx_failed(site->keywords))
        vm->api->decline(vm, site,
                         "of a ufunc's keyword arguments only an array out= has derivatives");
    else
        derive_elements(vm, site);
}

void derive_ufunc(dvx_vm *vm, dvx_site *site) { derive_quiet(vm, site, specialise_call); }
