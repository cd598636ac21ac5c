/* handler.h: everything that the bodies of instructions (gen/ops) use. */
#ifndef DV_REGION_HANDLER_H
#define DV_REGION_HANDLER_H

#include <errno.h>

#include "core/raw.h"
#include "quicken/choose.h"
#include "quicken/choose_call.h"
#include "quicken/polymorphic.h"
#include "quicken/site.h"
#include "run/consume.h"
#include "run/execute.h"
#include "run/import.h"
#include "run/frame.h"
#include "run/generator.h"
#include "run/operate.h"
#include "run/plan.h"
#include "types/array.h"
#include "types/bytes.h"
#include "types/class.h"
#include "types/class_build.h"
#include "types/complex.h"
#include "types/metaclass.h"
#include "types/descriptor.h"
#include "types/dict_view.h"
#include "types/exception.h"
#include "types/float.h"
#include "types/function.h"
#include "types/int.h"
#include "types/iterator.h"
#include "types/key.h"
#include "types/list.h"
#include "types/module.h"
#include "types/range.h"
#include "types/set.h"
#include "types/str.h"
#include "types/str_search.h"
#include "types/super.h"
#include "types/tuple_getter.h"
#include "types/variable.h"
#include "region/region.h"

#endif
