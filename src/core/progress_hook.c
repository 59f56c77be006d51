#include "core/progress_hook.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include "core/locale.h"

static _Atomic(tsl_long_operation_callback *) current_callback;

void tsl_long_operation_set_callback(tsl_long_operation_callback *callback) {
  atomic_store(&current_callback, callback);
}

void tsl_long_operation_begin(const char *format, ...) {
  tsl_long_operation_callback *const callback = atomic_load(&current_callback);
  char text[160];
  va_list arguments;
  if (callback == NULL)
    return;
  va_start(arguments, format);
  tsl_locale_format(text, sizeof text, format, arguments);
  va_end(arguments);
  callback(text);
}

void tsl_long_operation_end(void) {
  tsl_long_operation_callback *const callback = atomic_load(&current_callback);
  if (callback != NULL)
    callback(NULL);
}
