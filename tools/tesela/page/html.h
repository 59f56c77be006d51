/* Text in HTML. */
#ifndef TSL_TOOL_PAGE_HTML_H
#define TSL_TOOL_PAGE_HTML_H

#include "base/text.h"

/* Appends text with everything escaped that HTML would take for itself; bytes that are no UTF-8, and control
 * characters, become U+FFFD. */
void tsl_html_add(tsl_text *out, const char *text);

#endif
