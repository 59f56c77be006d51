/* C locale: numbers have a point, never a comma. */
#ifndef TSL_CORE_LOCALE_H
#define TSL_CORE_LOCALE_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

/* Returns the C locale, which is never freed; (locale_t)0 on failure. */
locale_t tsl_locale_c(void);

/* Formats like vsnprintf() in the C locale; keeps errno. */
int tsl_locale_format(char *out, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
/* Formats like snprintf() in the C locale; keeps errno. */
int tsl_locale_print(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
