#include "core/progress_hook.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include "core/locale.h"

static _Atomic(tsl_waiting_listener *) current_listener;

void tsl_waiting_listen(tsl_waiting_listener *listener) {
  atomic_store(&current_listener, listener);
}

void tsl_waiting_begin(const char *format, ...) {
  tsl_waiting_listener *const listener = atomic_load(&current_listener);
  char text[160];
  va_list arguments;
  if (listener == NULL)
    return;
  va_start(arguments, format);
  tsl_locale_format(text, sizeof text, format, arguments);
  va_end(arguments);
  listener(text);
}

void tsl_waiting_end(void) {
  tsl_waiting_listener *const listener = atomic_load(&current_listener);
  if (listener != NULL)
    listener(NULL);
}
