#include "base/progress_hook.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/locale.h"

static _Atomic(tsl_waiting_listener *) told;

void tsl_waiting_listen(tsl_waiting_listener *listener) {
  atomic_store(&told, listener);
}

void tsl_waiting_begin(const char *format, ...) {
  tsl_waiting_listener *const listener = atomic_load(&told);
  char what[160];
  va_list arguments;
  if (listener == NULL)
    return;
  va_start(arguments, format);
  tsl_locale_format(what, sizeof what, format, arguments);
  va_end(arguments);
  listener(what);
}

void tsl_waiting_end(void) {
  tsl_waiting_listener *const listener = atomic_load(&told);
  if (listener != NULL)
    listener(NULL);
}
