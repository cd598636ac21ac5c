/* calendar.c: the module _calendar: the C library's calendar for lang/lib/_time.dl, which makes
 * time.struct_time and the functions of time that use it.
 *
 * Invariants
 *  1. A time is a tuple of nine ints as struct_time has them, with the zone's name and offset
 * behind where they are known.
 *  2. Names of days and months are those of the locale "C", whatever the host has set. */
#include "modules/modules.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <string.h>
#include <time.h>

#include "core/upcall.h"
#include "types/float.h"
#include "types/host.h"
#include "types/int.h"
#include "types/str.h"
#include "types/tuple.h"

enum { FIELDS = 9, YEAR = (365 * 24 + 6) * 3600, FIRST_ROOM = 1024, LARGEST_FACTOR = 256 };

/* Seconds to a time -------------------------------------------------------------------------------
 */

static dv_value as_tuple(dv_vm *vm, const struct tm *tm) {
    dv_value zone = dv_host_string(vm, tm->tm_zone, strlen(tm->tm_zone));
    if (dv_is_empty(zone)) return DV_EMPTY;
    const dv_value items[] = {
        dv_int(tm->tm_year + 1900LL),  dv_int(tm->tm_mon + 1), dv_int(tm->tm_mday),
        dv_int(tm->tm_hour),           dv_int(tm->tm_min),     dv_int(tm->tm_sec),
        dv_int((tm->tm_wday + 6) % 7), /* Monday is 0 */
        dv_int(tm->tm_yday + 1),       dv_int(tm->tm_isdst),   zone,
        dv_int(tm->tm_gmtoff)};
    return dv_tuple_take(vm, items, sizeof items / sizeof *items);
}

static dv_value time_at(dv_vm *vm, dv_value seconds,
                        struct tm *(*convert)(const time_t *, struct tm *)) {
    int64_t number;
    if (!dv_is_integral(seconds) || !dv_int_to_int64(seconds, &number))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "timestamp out of range for platform time_t");
    time_t when = (time_t)number;
    struct tm tm;
    if (!convert(&when, &tm)) return dv_host_raise(vm, errno, DV_EMPTY);
    return as_tuple(vm, &tm);
}

static dv_value calendar_localtime(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return time_at(vm, args[0], localtime_r);
}

static dv_value calendar_gmtime(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return time_at(vm, args[0], gmtime_r);
}

/* A time to something else ------------------------------------------------------------------------
 */

/* An item as a C long or int, with the messages of an argument that is one. */
static bool as_c_long(dv_vm *vm, dv_value item, int64_t *out) {
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

/* The first nine items of a tuple that has so many; `name` is the function's. */
static bool read_time(dv_vm *vm, dv_value time, const char *name, struct tm *tm) {
    if (!dv_is_tuple(time) || dv_as_tuple(time)->count < FIELDS) {
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
    if (!read_time(vm, args[0], "mktime", &tm)) return DV_EMPTY;
    tm.tm_wday = -1; /* stays so where mktime fails */
    time_t when = mktime(&tm);
    if (when == (time_t)-1 && tm.tm_wday == -1)
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "mktime argument out of range");
    return dv_float((double)when);
}

/* check(name, time): the nine items as the function `name` takes them. */
static dv_value calendar_check(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    struct tm tm;
    size_t size;
    char *name = dv_str_utf8(vm, args[0], &size);
    if (!name) return DV_EMPTY;
    bool good = read_time(vm, args[1], name, &tm) && check_time(vm, &tm);
    dv_heap_free(&vm->heap, name, size + 1);
    tm.tm_zone = "";
    return good ? as_tuple(vm, &tm) : DV_EMPTY;
}

/* The text in a buffer that grows until it fits; an empty one may be right, so growing ends. */
static dv_value print_time(dv_vm *vm, const char *format, size_t length, const struct tm *tm) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return dv_raise_memory(vm);
    for (size_t room = FIRST_ROOM;; room *= 2) {
        char *buffer = dv_heap_alloc(&vm->heap, room);
        dv_value text = buffer ? DV_EMPTY : dv_raise_memory(vm);
        size_t size = buffer ? strftime_l(buffer, room, format, tm, plain) : 0;
        bool done = !buffer || size > 0 || room >= LARGEST_FACTOR * length;
        if (buffer && done) text = dv_host_string(vm, buffer, size);
        if (buffer) dv_heap_free(&vm->heap, buffer, room);
        if (!done) continue;
        freelocale(plain);
        return text;
    }
}

/* The zone's name, which `zone` keeps, and its offset, as far as a struct_time has them; the C
 * library knows the name of a zone that has none. */
static bool read_zone(dv_vm *vm, const dv_tuple *time, struct tm *tm, dv_host_path *zone) {
    if (time->count <= FIELDS + 1) return true;
    dv_value name = time->items[FIELDS], offset = time->items[FIELDS + 1];
    int64_t seconds = 0;
    if (!dv_is_none(name) && !dv_is_str(name)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "bad argument type for built-in operation");
        return false;
    }
    if (dv_is_str(name)) {
        if (!dv_host_path_of(vm, name, zone)) return false;
        tm->tm_zone = zone->text;
    }
    if (!dv_is_none(offset) && !as_c_long(vm, offset, &seconds)) return false;
    tm->tm_gmtoff = seconds;
    return true;
}

/* strftime(format, time) */
static dv_value calendar_strftime(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    struct tm tm;
    if (!read_time(vm, args[1], "strftime", &tm) || !check_time(vm, &tm)) return DV_EMPTY;
    tm.tm_isdst = tm.tm_isdst < -1 ? -1 : tm.tm_isdst > 1 ? 1 : tm.tm_isdst;
    const dv_str *text_of = dv_as_str(args[0]);
    for (int64_t i = 0; i < text_of->length; i++)
        if (dv_str_at(text_of, i) == 0)
            return dv_raise(vm, DV_E_VALUE_ERROR, "embedded null character");
    dv_host_path format, zone = {NULL, 0, DV_EMPTY};
    if (!dv_host_path_of(vm, args[0], &format)) return DV_EMPTY;
    dv_value text = DV_EMPTY;
    if (read_zone(vm, dv_as_tuple(args[1]), &tm, &zone))
        text = print_time(vm, format.text, format.size + 1, &tm);
    if (zone.text) dv_host_path_free(vm, &zone);
    dv_host_path_free(vm, &format);
    return text;
}

/* zones(): timezone, altzone, daylight, tzname */
static dv_value calendar_zones(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    struct tm winter = {0}, summer = {0};
    tzset();
    time_t january = time(NULL) / YEAR * YEAR, july = january + YEAR / 2;
    localtime_r(&january, &winter);
    localtime_r(&july, &summer);
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

static const dv_cfunction_def functions[] = {
    {.name = "check", .entry = calendar_check, .min = 2, .max = 2},
    {.name = "gmtime", .entry = calendar_gmtime, .min = 1, .max = 1},
    {.name = "localtime", .entry = calendar_localtime, .min = 1, .max = 1},
    {.name = "mktime", .entry = calendar_mktime, .min = 1, .max = 1},
    {.name = "strftime", .entry = calendar_strftime, .min = 2, .max = 2},
    {.name = "zones", .entry = calendar_zones, .min = 0, .max = 0},
    {.name = NULL}};

bool dv_calendar_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions);
}
