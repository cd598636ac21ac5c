/* handler.h: everything that the bodies of instructions (gen/ops) use. */
#ifndef DV_REGION_HANDLER_H
#define DV_REGION_HANDLER_H

#include <errno.h>
#include <math.h>

#include "core/raw.h"
#include "core/work.h"
#include "quicken/choose.h"
#include "quicken/choose_call.h"
#include "quicken/polymorphic.h"
#include "quicken/site.h"
#include "run/bind.h"
#include "run/call.h"
#include "run/consume.h"
#include "run/execute.h"
#include "import/import.h"
#include "run/frame.h"
#include "run/generator.h"
#include "run/operate.h"
#include "run/plan.h"
#include "types/binary/array.h"
#include "types/binary/bytes.h"
#include "types/class/class.h"
#include "types/class/class_build.h"
#include "types/number/complex.h"
#include "types/class/metaclass.h"
#include "types/class/pattern.h"
#include "types/class/descriptor.h"
#include "types/class/lookup.h"
#include "types/mapping/dict_view.h"
#include "types/exception/exception.h"
#include "types/number/float.h"
#include "types/callable/function.h"
#include "types/number/int.h"
#include "types/number/int_wide.h"
#include "types/sequence/iterator.h"
#include "types/mapping/key.h"
#include "types/sequence/list.h"
#include "types/file/module.h"
#include "types/number/range.h"
#include "types/mapping/set.h"
#include "types/text/str.h"
#include "types/text/str_search.h"
#include "types/text/str_unicode.h"
#include "types/class/super.h"
#include "types/sequence/tuple_getter.h"
#include "types/callable/variable.h"
#include "region/region.h"

/* A str, where the body has made sure of it: bytes, whose struct is the same, are taken by
 * dv_as_str (gen/isa/region_facts.py). */
static inline const dv_str *dv_as_text(dv_value v) { return dv_as_str(v); }

#endif
