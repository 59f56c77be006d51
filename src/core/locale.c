#include "core/locale.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void create_c_locale(void) {
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t tsl_locale_c(void) {
  pthread_once(&once, create_c_locale);
  return c_locale;
}

int tsl_locale_format(char *out, size_t size, const char *format, va_list arguments) {
  const int saved_errno = errno;
  const locale_t locale = tsl_locale_c();
  const locale_t before = locale ? uselocale(locale) : (locale_t)0;
  /* %m reads errno. */
  errno = saved_errno;
  const int length = vsnprintf(out, size, format, arguments);
  if (before)
    uselocale(before);
  errno = saved_errno;
  return length;
}

int tsl_locale_print(char *out, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = tsl_locale_format(out, size, format, arguments);
  va_end(arguments);
  return length;
}
