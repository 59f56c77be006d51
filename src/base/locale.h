/* C locale, independent of the process's locale: numbers have a point, never a comma. */
#ifndef TSL_BASE_LOCALE_H
#define TSL_BASE_LOCALE_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

/* Returns the C locale as an object, created once for the life of the process; (locale_t)0 if that fails. */
locale_t tsl_locale_c(void);

/* Formats like vsnprintf() in the C locale. Allocates nothing; errno and the thread's locale do not
 * change. */
int tsl_locale_format(char *out, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
/* Formats like snprintf() in the C locale, as tsl_locale_format() does. */
int tsl_locale_print(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
