#include "page/html.h"

/* Returns true for C0 and C1 control characters, and for DEL. */
static bool is_control(const char *text) {
  const unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];
  return first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0);
}

static const char *entity(char c) {
  switch (c) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return "&quot;";
  case '\'':
    return "&#39;";
  case '\n':
  case '\t':
    return " ";
  default:
    return NULL;
  }
}

void tsl_html_add(tsl_text *out, const char *text) {
  while (*text) {
    const char *instead = entity(*text);
    const size_t bytes = instead ? 1 : is_control(text) ? 0 : tsl_utf8_bytes(text);
    if (instead)
      tsl_text_add(out, "%s", instead);
    else if (bytes > 0)
      tsl_text_add_bytes(out, text, bytes);
    else
      tsl_text_add(out, "\xef\xbf\xbd");
    text += bytes > 0 ? bytes : 1;
  }
}
