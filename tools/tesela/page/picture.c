#include "page/picture.h"

#include "core/status.h"
#include "page/html.h"
#include "page/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double seconds_max = 10;
enum { SVG_MAX = 8 << 20 };

static const struct {
  int blue;
  const char *variable;
} inks[] = {
#define INK_ROW(name, blue, variable) {blue, variable},
    TSL_INK_LIST(INK_ROW)
#undef INK_ROW
};

void tsl_picture_add_string(tsl_text *script, const char *text) {
  tsl_text_add(script, "'");
  for (; *text; text++)
    if (*text == '\'')
      tsl_text_add(script, "''");
    else
      tsl_text_add(script, "%c", (unsigned char)*text < ' ' ? ' ' : *text);
  tsl_text_add(script, "'");
}

/* --- gnuplot's SVG becomes the page's --- */

static bool starts(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* Replaces "rgb( 0, 0, 162)" by "var(--axis)"; returns the length of the replaced text, 0 for none. */
static size_t add_ink(const char *src, tsl_text *out) {
  int red, green, blue, length = 0;
  if (!starts(src, "rgb(") || sscanf(src, "rgb( %d , %d , %d )%n", &red, &green, &blue, &length) != 3 ||
      length == 0)
    return 0;
  for (size_t i = 0; i < sizeof inks / sizeof *inks; i++)
    if (red == 0 && green == 0 && blue == inks[i].blue) {
      tsl_text_add(out, "var(%s)", inks[i].variable);
      return (size_t)length;
    }
  return 0;
}

/* Makes names unique on the page: inserts the picture's number before x in id='x' and href='#x'.
 * Returns the length of the replaced text. */
static size_t picture_add_name(const char *src, int number, tsl_text *out) {
  static const char *const before[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
  for (size_t i = 0; i < sizeof before / sizeof *before; i++)
    if (starts(src, before[i])) {
      tsl_text_add(out, "%sp%d-", before[i], number);
      return strlen(before[i]);
    }
  return 0;
}

/* Returns the length of an empty group, of which gnuplot writes many; 0 if there is none. */
static size_t empty_group(const char *src) {
  if (!starts(src, "<g "))
    return 0;
  const char *end = strchr(src, '>');
  if (!end)
    return 0;
  end++;
  end += strspn(end, " \t\n");
  return starts(end, "</g>") ? (size_t)(end - src) + strlen("</g>") : 0;
}

/* Appends the title of a plotted line by its name, where gnuplot writes only a number; returns the length of
 * gnuplot's title, or 0. */
static size_t add_line_title(const char *src, const tsl_picture *picture, tsl_text *out) {
  static const char prefix[] = "<title>gnuplot_plot_";
  const char *end = starts(src, prefix) ? strstr(src, "</title>") : NULL;
  const int line = end ? atoi(src + strlen(prefix)) : 0;
  if (line < 1 || line > picture->name_count)
    return 0;
  tsl_text_add(out, "<title>");
  tsl_html_add(out, picture->names[line - 1]);
  return (size_t)(end - src);
}

static void add_inside(const char *src, const char *end, const tsl_picture *picture, tsl_text *out) {
  while (src < end) {
    size_t taken = add_ink(src, out);
    if (taken == 0)
      taken = picture_add_name(src, picture->number, out);
    if (taken == 0)
      taken = add_line_title(src, picture, out);
    if (taken == 0)
      taken = empty_group(src);
    if (taken == 0) {
      tsl_text_add_bytes(out, src, 1);
      taken = 1;
    }
    src += taken;
  }
}

/* Finds the content of the SVG root, without the title and description that gnuplot writes. */
static bool find_inside(const char *svg, const char **inside, const char **end) {
  const char *root = strstr(svg, "<svg");
  *inside = root ? strstr(root, "</desc>") : NULL;
  if (!*inside)
    return false;
  *inside += strlen("</desc>");
  *end = NULL;
  for (const char *at = *inside; (at = strstr(at, "</svg>")) != NULL; at++)
    *end = at;
  return *end != NULL;
}

static tesela_status add_svg(const tsl_picture *picture, const char *svg, tsl_text *out) {
  const char *inside, *end;
  const int number = picture->number;
  if (!find_inside(svg, &inside, &end))
    return tsl_fail(TESELA_IO_FAILED, "gnuplot wrote something that is no SVG");
  tsl_text_add(out,
               "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"p%d-title p%d-desc\">\n"
               "<title id=\"p%d-title\">",
               picture->width, picture->height, number, number, number);
  tsl_html_add(out, picture->title);
  tsl_text_add(out, "</title>\n<desc id=\"p%d-desc\">", number);
  tsl_html_add(out, picture->description);
  tsl_text_add(out, "</desc>\n");
  add_inside(inside, end, picture, out);
  tsl_text_add(out, "</svg>\n");
  return tsl_text_status(out);
}

tesela_status tsl_picture_draw(const tsl_picture *picture, tsl_text *out, bool *found) {
  /* -d: ignores the user's own settings. */
  static const char *const arguments[] = {"gnuplot", "-d", "-", NULL};
  tsl_text script = {0}, svg = {0};
  tesela_status status;
  tsl_text_add(&script,
               "set terminal svg size %d,%d dynamic noenhanced font 'sans-serif,13' linewidth 1.5 rounded\n"
               "set encoding utf8\n%s",
               picture->width, picture->height, picture->script);
  *found = true;
  TSL_GO(tsl_text_status(&script));
  const tsl_process process = {arguments, tsl_text_get(&script), seconds_max, SVG_MAX};
  TSL_GO(tsl_process_run(&process, &svg, found));
  if (*found)
    status = add_svg(picture, tsl_text_get(&svg), out);
out:
  tsl_text_free(&script);
  tsl_text_free(&svg);
  return status;
}
