/* calendar.c: the module _calendar: the functions of time that use the C library's calendar, for
 * lang/lib/_time.dl, which has their class, time.struct_time.
 *
 * Invariants
 *  1. The functions are bound to the class struct_time (and the names of its attributes beside the
 *     items).  A time is one of these, or any tuple of nine ints.
 *  2. Names of days and months are those of the locale "C", whatever the host has set. */
#include "modules/modules.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/upcall.h"
#include "types/class/class.h"
#include "types/number/float.h"
#include "types/callable/function.h"
#include "types/file/host.h"
#include "types/number/int.h"
#include "types/class/lookup.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

enum { FIELDS = 9, YEAR = (365 * 24 + 6) * 3600, FIRST_ROOM = 1024, LARGEST_FACTOR = 256 };

/* Seconds to a time -------------------------------------------------------------------------------
 */

/* What the functions are bound to: a tuple of these. */
enum { CLASS, ZONE_NAME, OFFSET_NAME };
static dv_value kept(const dv_value *args, int which) { return dv_as_tuple(args[0])->items[which]; }

/* An attribute of a struct_time that is no item: past its __setattr__, which refuses. */
static bool set_beside(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    bool done = !dv_is_empty(value) && dv_object_set_attribute(vm, self, name, value);
    dv_release(vm, value);
    return done;
}

/* An instance of the class struct_time. */
static dv_value as_struct(dv_vm *vm, const dv_value *args, const struct tm *tm) {
    const dv_value items[] = {
        dv_int(tm->tm_year + 1900LL),  dv_int(tm->tm_mon + 1), dv_int(tm->tm_mday),
        dv_int(tm->tm_hour),           dv_int(tm->tm_min),     dv_int(tm->tm_sec),
        dv_int((tm->tm_wday + 6) % 7), /* Monday is 0 */
        dv_int(tm->tm_yday + 1),       dv_int(tm->tm_isdst)};
    dv_value exact = dv_tuple_new(vm, items, FIELDS);
    if (dv_is_empty(exact)) return DV_EMPTY;
    dv_value self = dv_tuple_type.adopt(vm, dv_as_class(kept(args, CLASS)), exact);
    dv_release(vm, exact);
    if (dv_is_empty(self)) return DV_EMPTY;
    bool done = set_beside(vm, self, kept(args, ZONE_NAME),
                           dv_host_string(vm, tm->tm_zone, strlen(tm->tm_zone))) &&
                set_beside(vm, self, kept(args, OFFSET_NAME), dv_int(tm->tm_gmtoff));
    if (done) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

typedef struct tm *(*converter)(const time_t *, struct tm *);

/* A sandboxed program does not learn where it runs: its zone is UTC. */
static converter to_local(const dv_vm *vm) { return vm->sandboxed ? gmtime_r : localtime_r; }

static bool convert_now(dv_vm *vm, converter convert, struct tm *tm) {
    time_t now = (time_t)(dv_time_now(vm) / 1000000000);
    if (convert(&now, tm)) return true;
    dv_host_raise(vm, errno, DV_EMPTY);
    return false;
}

/* The whole seconds of a number; false: raised. */
static bool read_seconds(dv_vm *vm, dv_value v, int64_t *seconds) {
    if (dv_is_float(v)) {
        double x = floor(dv_as_float(v));
        if (x != x) {
            dv_raise(vm, DV_E_VALUE_ERROR, "Invalid value NaN (not a number)");
            return false;
        }
        if (x >= -0x1p63 && x < 0x1p63) {
            *seconds = (int64_t)x;
            return true;
        }
    } else {
        dv_value whole = dv_int_index(vm, v);
        if (dv_is_empty(whole)) return false;
        bool fits = dv_int_to_int64(whole, seconds);
        dv_release(vm, whole);
        if (fits) return true;
    }
    dv_raise(vm, DV_E_OVERFLOW_ERROR, "timestamp out of range for platform time_t");
    return false;
}

/* args: what is kept, and perhaps the seconds. */
static bool convert_given(dv_vm *vm, const dv_value *args, uint32_t count, converter convert,
                          struct tm *tm) {
    int64_t seconds;
    if (count < 2 || dv_is_none(args[1])) return convert_now(vm, convert, tm);
    if (!read_seconds(vm, args[1], &seconds)) return false;
    time_t when = (time_t)seconds;
    if (convert(&when, tm)) return true;
    dv_host_raise(vm, errno, DV_EMPTY);
    return false;
}

static dv_value calendar_localtime(dv_vm *vm, const dv_value *args, uint32_t count) {
    struct tm tm;
    if (!convert_given(vm, args, count, to_local(vm), &tm)) return DV_EMPTY;
    return as_struct(vm, args, &tm);
}

static dv_value calendar_gmtime(dv_vm *vm, const dv_value *args, uint32_t count) {
    struct tm tm;
    if (!convert_given(vm, args, count, gmtime_r, &tm)) return DV_EMPTY;
    return as_struct(vm, args, &tm);
}

/* A time to something else ------------------------------------------------------------------------
 */

/* An item as a C long or int, with the messages of an argument that is one. */
static bool as_c_long(dv_vm *vm, dv_value item, int64_t *out) {
    if (dv_is_int(item)) {
        *out = dv_as_int(item);
        return true;
    }
    dv_value whole = dv_int_index(vm, item);
    if (dv_is_empty(whole)) return false;
    bool fits = dv_int_to_int64(whole, out);
    dv_release(vm, whole);
    if (!fits) dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C long");
    return fits;
}

static bool as_c_int(dv_vm *vm, dv_value item, int64_t *out) {
    if (!as_c_long(vm, item, out)) return false;
    if (*out >= INT_MIN && *out <= INT_MAX) return true;
    dv_raise(vm, DV_E_OVERFLOW_ERROR,
             *out > INT_MAX ? "signed integer is greater than maximum"
                            : "signed integer is less than minimum");
    return false;
}

/* A tuple of nine items; `name` is the function's. */
static bool read_time(dv_vm *vm, dv_value time, const char *name, struct tm *tm) {
    if (!dv_is_tuple(time)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "Tuple or struct_time argument required");
        return false;
    }
    if (dv_as_tuple(time)->count != FIELDS) {
        dv_raise(vm, DV_E_TYPE_ERROR, "%s(): illegal time tuple argument", name);
        return false;
    }
    int64_t n[FIELDS];
    for (int i = 0; i < FIELDS; i++)
        if (!as_c_int(vm, dv_as_tuple(time)->items[i], &n[i])) return false;
    if (n[0] < (int64_t)INT_MIN + 1900) {
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "year out of range");
        return false;
    }
    memset(tm, 0, sizeof *tm);
    tm->tm_year = (int)(n[0] - 1900);
    tm->tm_mon = (int)(n[1] == INT_MIN ? INT_MAX : n[1] - 1);
    tm->tm_mday = (int)n[2];
    tm->tm_hour = (int)n[3];
    tm->tm_min = (int)n[4];
    tm->tm_sec = (int)n[5];
    tm->tm_wday = (int)((n[6] + 1) % 7);
    tm->tm_yday = (int)(n[7] == INT_MIN ? INT_MAX : n[7] - 1);
    tm->tm_isdst = (int)n[8];
    return true;
}

/* Brings 0 for the first month and day in range, as CPython does; ValueError for the others. */
static bool check_time(dv_vm *vm, struct tm *tm) {
    const char *wrong = NULL;
    if (tm->tm_mon == -1) tm->tm_mon = 0;
    if (tm->tm_mday == 0) tm->tm_mday = 1;
    if (tm->tm_yday == -1) tm->tm_yday = 0;
    if (tm->tm_mon < 0 || tm->tm_mon > 11)
        wrong = "month";
    else if (tm->tm_mday < 0 || tm->tm_mday > 31)
        wrong = "day of month";
    else if (tm->tm_hour < 0 || tm->tm_hour > 23)
        wrong = "hour";
    else if (tm->tm_min < 0 || tm->tm_min > 59)
        wrong = "minute";
    else if (tm->tm_sec < 0 || tm->tm_sec > 61)
        wrong = "seconds";
    else if (tm->tm_wday < 0)
        wrong = "day of week";
    else if (tm->tm_yday < 0 || tm->tm_yday > 365)
        wrong = "day of year";
    if (wrong) dv_raise(vm, DV_E_VALUE_ERROR, "%s out of range", wrong);
    return !wrong;
}

/* mktime(time) */
static dv_value calendar_mktime(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    struct tm tm;
    if (!read_time(vm, args[1], "mktime", &tm)) return DV_EMPTY;
    tm.tm_wday = -1; /* stays so where mktime fails */
    time_t when = vm->sandboxed ? timegm(&tm) : mktime(&tm);
    if (when == (time_t)-1 && tm.tm_wday == -1)
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "mktime argument out of range");
    return dv_float((double)when);
}

static dv_value text_of(dv_vm *vm, const struct tm *tm) {
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    char text[80];
    int size = snprintf(text, sizeof text, "%s %s%3d %.2d:%.2d:%.2d %lld", days[tm->tm_wday],
                        months[tm->tm_mon], tm->tm_mday, tm->tm_hour, tm->tm_min, tm->tm_sec,
                        tm->tm_year + 1900LL);
    return dv_str_new(vm, text, (size_t)size);
}

/* The time that was given as argument number `at`, checked; now, if there is none. */
static bool given_time(dv_vm *vm, const dv_value *args, uint32_t count, uint32_t at,
                       const char *name, struct tm *tm) {
    if (count <= at) return convert_now(vm, to_local(vm), tm);
    return read_time(vm, args[at], name, tm) && check_time(vm, tm);
}

static dv_value calendar_asctime(dv_vm *vm, const dv_value *args, uint32_t count) {
    struct tm tm;
    return given_time(vm, args, count, 1, "asctime", &tm) ? text_of(vm, &tm) : DV_EMPTY;
}

static dv_value calendar_ctime(dv_vm *vm, const dv_value *args, uint32_t count) {
    struct tm tm;
    if (!convert_given(vm, args, count, to_local(vm), &tm)) return DV_EMPTY;
    return text_of(vm, &tm);
}

/* strftime's text in a buffer that grows until it fits; an empty one may be right, so growing
 * ends. */
static dv_value print_long(dv_vm *vm, const char *format, size_t length, const struct tm *tm,
                           locale_t plain) {
    for (size_t room = FIRST_ROOM;; room *= 2) {
        char *buffer = dv_heap_alloc(&vm->heap, room);
        if (!buffer) return dv_raise_memory(vm);
        size_t size = strftime_l(buffer, room, format, tm, plain);
        bool done = size > 0 || room >= LARGEST_FACTOR * length;
        dv_value text = done ? dv_host_string(vm, buffer, size) : DV_EMPTY;
        dv_heap_free(&vm->heap, buffer, room);
        if (done) return text;
    }
}

static dv_value print_time(dv_vm *vm, const char *format, size_t length, const struct tm *tm) {
    char buffer[256];
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return dv_raise_memory(vm);
    size_t size = strftime_l(buffer, sizeof buffer, format, tm, plain);
    dv_value text =
        size > 0 ? dv_host_string(vm, buffer, size) : print_long(vm, format, length, tm, plain);
    freelocale(plain);
    return text;
}

/* The zone's name, which `zone` keeps; the C library knows the name of a zone that has none. */
static bool read_name(dv_vm *vm, dv_value name, struct tm *tm, dv_host_path *zone) {
    if (dv_is_none(name)) return true;
    if (!dv_is_str(name)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "bad argument type for built-in operation");
        return false;
    }
    if (!dv_host_path_of(vm, name, zone)) return false;
    tm->tm_zone = zone->text;
    return true;
}

/* The zone's name and offset of the struct_time that strftime was given. */
static bool read_zone(dv_vm *vm, const dv_value *args, struct tm *tm, dv_host_path *zone) {
    int64_t seconds = 0;
    dv_value name = dv_get_attribute(vm, args[2], kept(args, ZONE_NAME));
    if (dv_is_empty(name)) return false;
    bool good = read_name(vm, name, tm, zone);
    dv_release(vm, name);
    if (!good) return false;
    dv_value offset = dv_get_attribute(vm, args[2], kept(args, OFFSET_NAME));
    good = !dv_is_empty(offset) && (dv_is_none(offset) || as_c_long(vm, offset, &seconds));
    dv_release(vm, offset);
    tm->tm_gmtoff = seconds;
    return good;
}

/* The format as the C library takes it, which has no end within; false: raised. */
static bool read_format(dv_vm *vm, dv_value v, dv_host_path *format) {
    if (!dv_is_str(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "strftime() argument 1 must be str, not %T", v);
        return false;
    }
    const dv_str *s = dv_as_str(v);
    for (int64_t i = 0; i < s->length; i++) {
        if (dv_str_at(s, i) != 0) continue;
        dv_raise(vm, DV_E_VALUE_ERROR, "embedded null character");
        return false;
    }
    return dv_host_path_of(vm, v, format);
}

/* strftime(format[, time]) */
static dv_value calendar_strftime(dv_vm *vm, const dv_value *args, uint32_t count) {
    struct tm tm;
    dv_host_path format, zone = {NULL, 0, DV_EMPTY};
    if (!read_format(vm, args[1], &format)) return DV_EMPTY;
    bool good = given_time(vm, args, count, 2, "strftime", &tm);
    if (good && count > 2) {
        tm.tm_isdst = tm.tm_isdst < -1 ? -1 : tm.tm_isdst > 1 ? 1 : tm.tm_isdst;
        bool zoned = dv_class_of(vm, args[2]) == dv_as_class(kept(args, CLASS));
        good = !zoned || read_zone(vm, args, &tm, &zone);
    }
    dv_value text = good ? print_time(vm, format.text, format.size + 1, &tm) : DV_EMPTY;
    if (zone.text) dv_host_path_free(vm, &zone);
    dv_host_path_free(vm, &format);
    return text;
}

/* zones(): timezone, altzone, daylight, tzname */
static dv_value calendar_zones(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    struct tm winter = {0}, summer = {0};
    tzset();
    time_t january = (time_t)(dv_time_now(vm) / 1000000000) / YEAR * YEAR,
           july = january + YEAR / 2;
    to_local(vm)(&january, &winter);
    to_local(vm)(&july, &summer);
    if (winter.tm_gmtoff > summer.tm_gmtoff) { /* the south */
        struct tm swap = winter;
        winter = summer;
        summer = swap;
    }
    dv_value names[2] = {dv_str_z(vm, winter.tm_zone), dv_str_z(vm, summer.tm_zone)};
    bool good = !dv_is_empty(names[0]) && !dv_is_empty(names[1]);
    dv_value pair = good ? dv_tuple_new(vm, names, 2) : DV_EMPTY;
    dv_release(vm, names[0]);
    dv_release(vm, names[1]);
    if (dv_is_empty(pair)) return DV_EMPTY;
    const dv_value items[] = {dv_int(-winter.tm_gmtoff), dv_int(-summer.tm_gmtoff),
                              dv_int(winter.tm_gmtoff != summer.tm_gmtoff), pair};
    return dv_tuple_take(vm, items, 4);
}

/* What bind() makes; their first argument is what they are bound to. */
static const dv_cfunction_def bound[] = {
    {.name = "localtime", .entry = calendar_localtime, .min = 1, .max = 2},
    {.name = "gmtime", .entry = calendar_gmtime, .min = 1, .max = 2},
    {.name = "mktime", .entry = calendar_mktime, .min = 2, .max = 2},
    {.name = "strftime", .entry = calendar_strftime, .min = 2, .max = 3},
    {.name = "asctime", .entry = calendar_asctime, .min = 1, .max = 2},
    {.name = "ctime", .entry = calendar_ctime, .min = 1, .max = 2}};

/* bind((struct_time, "tm_zone", "tm_gmtoff")): the functions of time, in the order above. */
static dv_value calendar_bind(dv_vm *vm, const dv_value *args, uint32_t count) {
    enum { COUNT = sizeof bound / sizeof *bound };
    (void)count;
    dv_tuple *functions = dv_tuple_alloc(vm, COUNT);
    if (!functions) return DV_EMPTY;
    for (int i = 0; i < COUNT; i++) functions->items[i] = DV_NONE;
    for (int i = 0; i < COUNT; i++) {
        functions->items[i] = dv_cfunction_new(vm, &bound[i], args[0], DV_EMPTY);
        if (!dv_is_empty(functions->items[i])) continue;
        functions->items[i] = DV_NONE;
        dv_release(vm, dv_object_value(functions));
        return DV_EMPTY;
    }
    return dv_object_value(functions);
}

static const dv_cfunction_def functions[] = {
    {.name = "bind", .entry = calendar_bind, .min = 1, .max = 1},
    {.name = "zones", .entry = calendar_zones, .min = 0, .max = 0},
    {.name = NULL}};

bool dv_calendar_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions);
}
