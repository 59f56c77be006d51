#include "page/html.h"

#include <string.h>

/* Returns the bytes of the UTF-8 character that starts here; 0 if it is invalid or forbidden
 * (control characters, surrogates, overlong forms). */
static size_t character(const unsigned char *src) {
  static const struct {
    size_t bytes;
    uint32_t least;
    unsigned char mask, head;
  } forms[] = {
      {1, 0x20, 0x80, 0x00}, {2, 0xa0, 0xe0, 0xc0}, {3, 0x800, 0xf0, 0xe0}, {4, 0x10000, 0xf8, 0xf0}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if ((src[0] & forms[i].mask) != forms[i].head)
      continue;
    uint32_t code = src[0] & (unsigned char)~forms[i].mask;
    for (size_t k = 1; k < forms[i].bytes; k++) {
      if ((src[k] & 0xc0) != 0x80)
        return 0;
      code = code << 6 | (src[k] & 0x3f);
    }
    const bool is_good =
        code >= forms[i].least && code != 0x7f && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return is_good ? forms[i].bytes : 0;
  }
  return 0;
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
    const size_t bytes = instead ? 1 : character((const unsigned char *)text);
    if (instead)
      tsl_text_add(out, "%s", instead);
    else if (bytes > 0)
      tsl_text_add_bytes(out, text, bytes);
    else
      tsl_text_add(out, "\xef\xbf\xbd");
    text += bytes > 0 ? bytes : 1;
  }
}
