/* pair.c: instructions of a region that stand one behind the other, in one handler (pair.h). */
#include "region/emit/pair.h"

/* The handler for `first`, one instruction or several, and the one that begins at *next behind
 * them; DV_OP_COUNT: there is none.  Of several the one that takes most operands from one before.
 */
static uint32_t find_pair(uint32_t first, const dv_cell *cells, const uint32_t *next) {
    const dv_op_info *info = &dv_op_infos[first];
    uint32_t found = DV_OP_COUNT;
    if (info->kind != DV_KIND_REGION && info->kind != DV_KIND_PAIR) return found;
    const dv_cell *cell = &cells[*next];
    for (uint32_t i = 0; i < info->fusion_count; i++) {
        uint32_t op = info->first_fusion + i;
        if (dv_op_infos[op].adaptive != (uint32_t)cell->i) continue;
        const int16_t slots[] = {cell[1].o.a, cell[1].o.b, cell[1].o.c, cell[1].o.d};
        int16_t put = cells[next[-dv_op_infos[op].back] + 1].o.c;
        bool fits = true;
        for (int n = 0; n < 4; n++)
            if (dv_op_infos[op].via >> n & 1) fits = fits && slots[n] == put;
        if (fits && (found == DV_OP_COUNT || dv_op_infos[op].via > dv_op_infos[found].via))
            found = op;
    }
    return found;
}

/* Does an instruction of those from `first` on, up to `behind`, jump to `end`?  (Before the cells
 * have addresses.) */
static bool jumps_to(const dv_region *region, const uint32_t *first, const uint32_t *behind,
                     uint32_t end) {
    for (; first < behind; first++)
        if (region->cells[*first + 3].i == (int64_t)end) return true;
    return false;
}

void dv_pair_join(dv_region *region, const uint32_t *starts, uint32_t count) {
    dv_point *point = region->points, *end = point + region->point_count;
    const dv_mark *mark = region->marks, *last_mark = mark + region->mark_count;
    for (uint32_t i = 0; i < count; i++) {
        while (point < end && point->cell <= starts[i]) point++;
        while (mark < last_mark && mark->cell <= starts[i]) mark++;
        uint32_t op = (uint32_t)region->cells[starts[i]].i, length = dv_op_infos[op].length;
        dv_point *here = point;
        for (uint32_t k = i + 1; k < count && starts[k - 1] + length == starts[k]; k++) {
            const dv_cell *next = &region->cells[starts[k]];
            if (mark < last_mark && mark->cell == starts[k]) break; /* who counts must come there */
            uint32_t joined = find_pair(op, region->cells, &starts[k]);
            if (joined == DV_OP_COUNT) break;
            length = dv_op_infos[next->i].length;
            if (jumps_to(region, &starts[i], &starts[k], starts[k] + length))
                break; /* who counts must see which way it came there */
            while (here < end && here->cell < starts[k]) here++;
            for (; here < end && here->cell == starts[k]; here++)
                if (here->pair == DV_NO_CELL) here->pair = starts[i];
            op = joined;
        }
        region->cells[starts[i]].i = op;
    }
}

void dv_pair_part(dv_vm *vm, dv_region *region, const dv_point *point) {
    for (uint32_t at = point->pair; at < point->cell;) { /* not at all, if it is DV_NO_CELL */
        dv_cell *cell = &region->cells[at];
        uint32_t op = dv_pair_first(dv_op_of(vm, cell->h));
        cell->h = dv_handler_of(vm, cell, op);
        at += dv_op_infos[op].length;
    }
}
