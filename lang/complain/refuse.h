/* refuse.h: what dl leaves out of Python, refused by name. */
#ifndef DV_LANG_REFUSE_H
#define DV_LANG_REFUSE_H

#include "lang/diag.h"

typedef enum dv_refusal {
    DV_REFUSE_ASYNC_DEF,
    DV_REFUSE_ASYNC_FOR,
    DV_REFUSE_ASYNC_WITH,
    DV_REFUSE_AWAIT,
    DV_REFUSE_EXCEPT_STAR
} dv_refusal;

/* Records a SyntaxError that names the construct. */
void dv_refuse(dv_front *front, dv_range at, dv_refusal what);

#endif
