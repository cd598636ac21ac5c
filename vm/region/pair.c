/* pair.c: two instructions of a region in one handler (pair.h). */
#include "region/pair.h"

/* The handler for `first` and `second` behind it; DV_OP_COUNT: there is none. */
static uint32_t find_pair(uint32_t first, uint32_t second) {
    const dv_op_info *info = &dv_op_infos[first];
    if (info->kind != DV_KIND_REGION) return DV_OP_COUNT;
    for (uint32_t i = 0; i < info->fusion_count; i++)
        if (dv_op_infos[info->first_fusion + i].adaptive == second) return info->first_fusion + i;
    return DV_OP_COUNT;
}

void dv_pair_join(dv_region *region, const uint32_t *starts, uint32_t count) {
    dv_point *point = region->points, *end = point + region->point_count;
    const dv_mark *mark = region->marks, *last_mark = mark + region->mark_count;
    uint32_t first, second = count > 0 ? (uint32_t)region->cells[starts[0]].i : 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint32_t behind = starts[i + 1];
        first = second, second = (uint32_t)region->cells[behind].i;
        if (starts[i] + dv_op_infos[first].length != behind) continue;
        while (mark < last_mark && mark->cell < behind) mark++;
        if (mark < last_mark && mark->cell == behind) continue; /* who counts must come there */
        uint32_t pair = find_pair(first, second);
        if (pair == DV_OP_COUNT) continue;
        region->cells[starts[i]].i = pair;
        while (point < end && point->cell < behind) point++;
        for (dv_point *p = point; p < end && p->cell == behind; p++) p->pair = starts[i];
    }
}

void dv_pair_part(dv_vm *vm, dv_region *region, const dv_point *point) {
    if (point->pair == DV_NO_CELL) return;
    dv_cell *cell = &region->cells[point->pair];
    uint32_t op = dv_op_of(vm, cell->h);
    if (op < DV_OP_COUNT && dv_op_infos[op].kind == DV_KIND_PAIR)
        cell->h = dv_handler_of(vm, cell, dv_op_infos[op].family);
}
