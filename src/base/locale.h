/* The C locale, whatever locale the process has chosen: numbers have a point, never a comma. */
#ifndef TSL_BASE_LOCALE_H
#define TSL_BASE_LOCALE_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

/* The C locale as an object; made once and kept for the life of the process. (locale_t)0 if the C library
 * cannot make it. */
locale_t tsl_locale_c(void);

/* vsnprintf and snprintf in the C locale. They take no memory and leave errno and the thread's locale as they
 * were. */
int tsl_locale_format(char *out, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
int tsl_locale_print(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
