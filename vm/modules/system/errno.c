/* errno.c: the module errno: the numbers that the C library has names for,
 * of Linux.
 *
 * Invariant 1: they stand in the order of CPython's table; where several names have one number,
 * errorcode has the last of them. */
#include "modules/modules.h"

#include <errno.h>

#include "core/upcall.h"
#include "types/mapping/dict.h"
#include "types/text/str.h"

/* clang-format off */
#define NUMBER(name) {#name, name}

static const struct {
    const char *name;
    int number;
} numbers[] = {
    NUMBER(ENODEV),
    NUMBER(ENOCSI),
    NUMBER(EHOSTUNREACH),
    NUMBER(ENOMSG),
    NUMBER(EUCLEAN),
    NUMBER(EL2NSYNC),
    NUMBER(EL2HLT),
    NUMBER(ENODATA),
    NUMBER(ENOTBLK),
    NUMBER(ENOSYS),
    NUMBER(EPIPE),
    NUMBER(EINVAL),
    NUMBER(EOVERFLOW),
    NUMBER(EADV),
    NUMBER(EINTR),
    NUMBER(EUSERS),
    NUMBER(ENOTEMPTY),
    NUMBER(ENOBUFS),
    NUMBER(EPROTO),
    NUMBER(EREMOTE),
    NUMBER(ENAVAIL),
    NUMBER(ECHILD),
    NUMBER(ELOOP),
    NUMBER(EXDEV),
    NUMBER(E2BIG),
    NUMBER(ESRCH),
    NUMBER(EMSGSIZE),
    NUMBER(EAFNOSUPPORT),
    NUMBER(EBADR),
    NUMBER(EHOSTDOWN),
    NUMBER(EPFNOSUPPORT),
    NUMBER(ENOPROTOOPT),
    NUMBER(EBUSY),
    NUMBER(EWOULDBLOCK),
    NUMBER(EAGAIN),
    NUMBER(EBADFD),
    NUMBER(EDOTDOT),
    NUMBER(EISCONN),
    NUMBER(ENOANO),
    NUMBER(ESHUTDOWN),
    NUMBER(ECHRNG),
    NUMBER(ELIBBAD),
    NUMBER(ENONET),
    NUMBER(EBADE),
    NUMBER(EBADF),
    NUMBER(EMULTIHOP),
    NUMBER(EIO),
    NUMBER(EUNATCH),
    NUMBER(EPROTOTYPE),
    NUMBER(ENOSPC),
    NUMBER(ENOEXEC),
    NUMBER(EALREADY),
    NUMBER(ENETDOWN),
    NUMBER(ENOTNAM),
    NUMBER(EACCES),
    NUMBER(ELNRNG),
    NUMBER(EILSEQ),
    NUMBER(ENOTDIR),
    NUMBER(ENOTUNIQ),
    NUMBER(EPERM),
    NUMBER(EDOM),
    NUMBER(EXFULL),
    NUMBER(ECONNREFUSED),
    NUMBER(EISDIR),
    NUMBER(EPROTONOSUPPORT),
    NUMBER(EROFS),
    NUMBER(EADDRNOTAVAIL),
    NUMBER(EIDRM),
    NUMBER(ECOMM),
    NUMBER(ESRMNT),
    NUMBER(EREMOTEIO),
    NUMBER(EL3RST),
    NUMBER(EBADMSG),
    NUMBER(ENFILE),
    NUMBER(ELIBMAX),
    NUMBER(ESPIPE),
    NUMBER(ENOLINK),
    NUMBER(ENETRESET),
    NUMBER(ETIMEDOUT),
    NUMBER(ENOENT),
    NUMBER(EEXIST),
    NUMBER(EDQUOT),
    NUMBER(ENOSTR),
    NUMBER(EBADSLT),
    NUMBER(EBADRQC),
    NUMBER(ELIBACC),
    NUMBER(EFAULT),
    NUMBER(EFBIG),
    NUMBER(EDEADLK),
    NUMBER(EDEADLOCK),
    NUMBER(ENOTCONN),
    NUMBER(EDESTADDRREQ),
    NUMBER(ELIBSCN),
    NUMBER(ENOLCK),
    NUMBER(EISNAM),
    NUMBER(ECONNABORTED),
    NUMBER(ENETUNREACH),
    NUMBER(ESTALE),
    NUMBER(ENOSR),
    NUMBER(ENOMEM),
    NUMBER(ENOTSOCK),
    NUMBER(ESTRPIPE),
    NUMBER(EMLINK),
    NUMBER(ERANGE),
    NUMBER(ELIBEXEC),
    NUMBER(EL3HLT),
    NUMBER(ECONNRESET),
    NUMBER(EADDRINUSE),
    NUMBER(EOPNOTSUPP),
    NUMBER(ENOTSUP),
    NUMBER(EREMCHG),
    NUMBER(ENAMETOOLONG),
    NUMBER(ENOTTY),
    NUMBER(ERESTART),
    NUMBER(ESOCKTNOSUPPORT),
    NUMBER(ETIME),
    NUMBER(EBFONT),
    NUMBER(ETOOMANYREFS),
    NUMBER(EMFILE),
    NUMBER(ETXTBSY),
    NUMBER(EINPROGRESS),
    NUMBER(ENXIO),
    NUMBER(ENOPKG),
    NUMBER(ENOMEDIUM),
    NUMBER(EMEDIUMTYPE),
    NUMBER(ECANCELED),
    NUMBER(ENOKEY),
    NUMBER(EKEYEXPIRED),
    NUMBER(EKEYREVOKED),
    NUMBER(EKEYREJECTED),
    NUMBER(EOWNERDEAD),
    NUMBER(ENOTRECOVERABLE),
    NUMBER(ERFKILL),
};
/* clang-format on */

static bool add_number(dv_vm *vm, dv_module *module, dv_value codes, const char *text, int number) {
    dv_value name = dv_str_intern(vm, text, strlen(text));
    bool done = !dv_is_empty(name) && dv_dict_set(vm, codes, dv_int(number), name) &&
                dv_module_add(vm, module, text, dv_int(number));
    dv_release(vm, name);
    return done;
}

bool dv_errno_fill(dv_vm *vm, dv_module *module) {
    dv_value codes = dv_dict_new(vm);
    bool done = !dv_is_empty(codes);
    for (size_t i = 0; done && i < sizeof numbers / sizeof *numbers; i++)
        done = add_number(vm, module, codes, numbers[i].name, numbers[i].number);
    if (done) return dv_module_add(vm, module, "errorcode", codes);
    dv_release(vm, codes);
    return false;
}
