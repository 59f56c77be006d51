/* Escapes text for HTML. */
#ifndef TSL_TOOL_PAGE_HTML_H
#define TSL_TOOL_PAGE_HTML_H

#include "core/text.h"

/* Appends text with HTML's special characters escaped. Bytes that are no UTF-8, and control
 * characters, become U+FFFD. */
void tsl_html_add(tsl_text *out, const char *text);

#endif
