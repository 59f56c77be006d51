#include "core/json_writer.h"

#include "core/locale.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Begins a line, unless the last text is a key, or a bracket that the next text closes. */
static void begin_json_line(const tsl_json *json, bool closes) {
  const char last = json->out->length > 0 ? json->out->data[json->out->length - 1] : ' ';
  const bool is_first = last == '{' || last == '[';
  if (last != ' ' && !(closes && is_first))
    tsl_text_add(json->out, "%s\n%*s", closes || is_first ? "" : ",", 2 * json->depth, "");
}

static void add_json_string(tsl_text *out, const char *string) {
  static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
  tsl_text_add(out, "\"");
  for (size_t bytes; *string; string += bytes > 0 ? bytes : 1) {
    const char *const found = strchr(special, *string);
    bytes = tsl_utf8_bytes(string);
    if (found)
      tsl_text_add(out, "\\%c", letters[found - special]);
    else if (bytes == 1 && *string < ' ')
      tsl_text_add(out, "\\u%04X", (unsigned)*string);
    else
      tsl_text_add_bytes(out, bytes > 0 ? string : "\xef\xbf\xbd", bytes > 0 ? bytes : 3);
  }
  tsl_text_add(out, "\"");
}

/* Appends 15 digits, with a point or an exponent; an exponent has neither a plus sign nor leading zeros. */
static void add_json_real(tsl_text *out, double value) {
  char digits[32];
  tsl_locale_print(digits, sizeof digits, "%.15g", value);
  const char *const power = strchr(digits, 'e');
  if (power)
    tsl_text_add(out, "%.*se%s%s", (int)(power - digits), digits, power[1] == '-' ? "-" : "",
                 power + 1 + strspn(power + 1, "+-0"));
  else
    tsl_text_add(out, "%s%s", digits, strchr(digits, '.') ? "" : ".0");
}

static void add_json_value(tsl_text *out, char letter, va_list *arguments) {
  const double real = letter == 'r' ? va_arg(*arguments, double) : NAN;
  tsl_text *const text = letter == 't' ? va_arg(*arguments, tsl_text *) : NULL;
  const bool is_string = letter == 's' || letter == 'o';
  const char *const string = text ? tsl_text_get(text) : is_string ? va_arg(*arguments, const char *) : NULL;
  if (string && (*string || letter == 's'))
    add_json_string(out, string);
  else if (isfinite(real))
    add_json_real(out, real);
  else if (letter == 'd')
    tsl_text_add(out, "%d", va_arg(*arguments, int));
  else if (letter == 'l')
    tsl_text_add(out, "%lld", (long long)va_arg(*arguments, int64_t));
  else
    tsl_text_add(out, letter != 'b' ? "null" : va_arg(*arguments, int) ? "true" : "false");
  if (!text)
    return;
  out->failed |= text->failed;
  tsl_text_free(text);
}

void tsl_json_add(tsl_json *json, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (; *format; format++) {
    const bool opens = *format == '{' || *format == '[', closes = *format == '}' || *format == ']';
    const size_t length = strcspn(format, ":,[]{} ");
    if (*format == ' ' || *format == ',')
      continue;
    json->depth -= closes;
    begin_json_line(json, closes);
    json->depth += opens;
    if (opens || closes)
      tsl_text_add_bytes(json->out, format, 1);
    else if (format[length] == ':') {
      const bool is_argument = *format == '*';
      const char *const key = is_argument ? va_arg(arguments, const char *) : format;
      tsl_text_add(json->out, "\"%.*s\": ", is_argument ? INT_MAX : (int)length, key);
      format += length;
    } else
      add_json_value(json->out, *format, &arguments);
  }
  va_end(arguments);
}
