/* kind.c: branches by kind (kind.h). */
#include "region/step/kind.h"

/* Those that may be raw, in the order in which they are tried. */
static const struct {
    uint16_t seen;
    dv_kind kind;
} tried[] = {{DV_SEEN_INT, DV_K_INT}, {DV_SEEN_FLOAT, DV_K_FLOAT}};

dv_kind dv_kind_loaded(dv_build *b, uint16_t seen) {
    uint32_t turn = dv_build_choice(b) / DV_CHOICE_KIND;
    for (uint32_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        if (!(seen & tried[i].seen)) continue;
        seen &= (uint16_t)~tried[i].seen;
        if (turn-- > 0) continue;
        if (!seen) return tried[i].kind;
        b->otherwise = dv_build_branch(b, dv_build_choice(b) + DV_CHOICE_KIND);
        return b->otherwise ? tried[i].kind : DV_K_ANY;
    }
    return DV_K_ANY;
}

static bool is_object(const dv_known_value *e) {
    return e->kind == DV_K_ANY && (e->where == DV_AT_HOME || e->where == DV_AT_ALIAS);
}

void dv_kind_take(dv_build *b, uint16_t seen, uint32_t next_pc) {
    const dv_known_value *e = dv_top(b, 1);
    if (b->ended || dv_kind_others(seen) != DV_SEEN_BOOL) return;
    if (e->kind != DV_K_ANY || e->where != DV_AT_HOME) return;
    b->learns = b->pc;
    dv_step_take(b, DV_K_BOOL, next_pc);
    b->learns = DV_NO_PC;
}

/* Beside a float an int is one. */
static void unbox_as_float(dv_build *b, int32_t q) {
    dv_load_double(b, q);
    b->block->converted += b->weight;
    b->e[q] = (dv_known_value){DV_K_FLOAT, DV_AT_REGISTER, 0, DV_EMPTY};
    b->version++;
}

void dv_kind_unbox(dv_build *b, int32_t q, uint32_t input) {
    const int32_t other = input ? q - 1 : q + 1;
    const dv_known_value *beside = &b->e[other];
    if (!is_object(&b->e[q])) return;
    if (beside->kind == DV_K_FLOAT) {
        unbox_as_float(b, q);
        return;
    }
    if (beside->kind != DV_K_INT && !is_object(beside)) return;
    const bool counts = dv_site_cell(b, b->pc)[1].site.seen & DV_SEEN_BOOL;
    const uint32_t choice = dv_build_choice(b), turned = DV_CHOICE_KIND << input;
    if (choice & turned) {
        dv_unbox(b, q, DV_K_FLOAT);
        return;
    }
    /* A bool counts as an int from here on.  So what may be no number is looked at before: where
     * the instruction is executed again, the bool must be one. */
    if (counts && is_object(beside)) dv_load_double(b, other);
    b->otherwise = dv_build_branch(b, choice | turned);
    if (b->otherwise) dv_unbox_by(b, q, DV_K_INT, counts ? DV_OP_R_UNBOX_C : DV_OP_R_UNBOX_I);
}
