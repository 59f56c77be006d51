/* Writer of JSON text: one member or element a line, indented by two blanks a level. */
#ifndef TSL_CORE_JSON_WRITER_H
#define TSL_CORE_JSON_WRITER_H

#include "core/text.h"

typedef struct tsl_json {
  tsl_text *out;
  int depth; /* number of open brackets */
} tsl_json;

/* Appends a template of brackets, keys ("rows:") and values. A value is a letter with an argument, but n:
 *
 *   s  const char *; null for NULL          d  int
 *   o  const char *; null for NULL and ""   l  int64_t or uint64_t
 *   t  tsl_text *, freed; null if empty     b  bool
 *   r  double; null for infinity and NaN    n  null
 *
 * Key "*:" takes its name from the arguments. Blanks and commas are ignored. The next call continues the
 * template. Bytes that are not UTF-8 become U+FFFD. A failed text sets out->failed. */
void tsl_json_add(tsl_json *json, const char *format, ...);

#endif
