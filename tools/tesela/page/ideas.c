/* The section with idea and picture of each strategy that has a result: the first comment of its
 * source. */
#include "inventory/strategy_page.h"
#include "page/html.h"
#include "page/sections.h"

#include <math.h>
#include <string.h>

static const char how_ideas[] =
    "The idea of each measured strategy, its difference to its partner, and its picture, from its source "
    "file. Each strategy removes a limit of its partner. The rungs of the courses have numbers and come "
    "first.";

/* Returns the end of a block of lines: an empty line or the end of the text. */
static const char *end_of_block(const char *block) {
  const char *end = strstr(block, "\n\n");
  return end ? end : block + strlen(block);
}

static void ideas_add_escaped(const char *from, const char *end, tsl_text *out) {
  tsl_text part = {0};
  tsl_text_add_bytes(&part, from, (size_t)(end - from));
  tsl_html_add(out, tsl_text_get(&part));
  out->failed |= part.failed;
  tsl_text_free(&part);
}

/* Appends a line of prose; text between backquotes becomes code. */
static void add_prose(const char *line, const char *end, tsl_text *out) {
  bool code = false;
  for (const char *from = line; from < end;) {
    const char *quote = memchr(from, '`', (size_t)(end - from));
    const bool closes = quote && (code || memchr(quote + 1, '`', (size_t)(end - quote - 1)));
    ideas_add_escaped(from, closes ? quote : end, out);
    if (!closes)
      break;
    tsl_text_add(out, code ? "</code>" : "<code>");
    code = !code;
    from = quote + 1;
  }
}

/* Returns true if the line begins a paragraph: the difference from the partner always does. */
static bool begins_paragraph(const char *line) {
  static const char words[] = "What it adds ";
  return strncmp(line, words, sizeof words - 1) == 0;
}

/* Appends a block. Pictures keep their lines; lines that start in the first column are prose. */
static void add_block(const char *block, const char *end, tsl_text *out) {
  const bool drawn = *block == ' ';
  tsl_text_add(out, drawn ? "<pre class=\"scroll\" tabindex=\"0\">" : "<p>");
  for (const char *line = block; line < end;) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    const char *line_end = stop ? stop : end;
    if (!drawn && line > block && begins_paragraph(line))
      tsl_text_add(out, "</p>\n<p>");
    if (drawn)
      ideas_add_escaped(line, line_end, out);
    else
      add_prose(line, line_end, out);
    line = stop ? stop + 1 : end;
    if (line < end)
      tsl_text_add(out, "\n");
  }
  tsl_text_add(out, drawn ? "</pre>\n" : "</p>\n");
}

void tsl_page_add_story(const char *story, tsl_text *out) {
  for (const char *block = story; *block;) {
    if (*block == '\n') {
      block++;
      continue;
    }
    const char *end = end_of_block(block);
    add_block(block, end, out);
    block = end;
  }
}

static bool has_time(const tsl_sheet *sheet, int strategy) {
  const tsl_exploration *all = sheet->page->all;
  for (int t = 0; t < all->types.count; t++)
    for (int n = 0; n < all->sizes.count; n++)
      for (int d = 0; d < all->devices.count; d++)
        if (!isnan(tsl_sheet_value(sheet, tsl_explore_at(all, t, n, strategy, d))))
          return true;
  return false;
}

static bool has_idea(const tsl_sheet *sheet, const tsl_strategy *strategy) {
  const tsl_exploration *all = sheet->page->all;
  for (int s = 0; !strategy->vendor.load && s < all->strategies.count; s++)
    if (all->strategies.items[s].strategy == strategy && has_time(sheet, s))
      return true;
  return false;
}

static void ideas_add_missing(tsl_text *out) {
  tsl_text_add(out, "<p class=\"missing\">Its source cannot be read: ");
  tsl_html_add(out, tesela_last_error());
  tsl_text_add(out, ".</p>\n");
}

static void add_idea(const tsl_strategy *strategy, tsl_text *out) {
  tsl_text story = {0};
  tsl_text_add(out, "<article class=\"idea\" id=\"idea-%s\">\n<h3>%s<span>", strategy->name, strategy->name);
  if (strategy->rung > 0)
    tsl_text_add(out, " \xc2\xb7 rung %d", strategy->rung);
  if (strategy->partner)
    tsl_text_add(out, " \xc2\xb7 after %s", strategy->partner);
  if (strategy->lifts) {
    tsl_text_add(out, " \xc2\xb7 removes the limit: ");
    tsl_html_add(out, strategy->lifts);
  }
  tsl_text_add(out, "</span></h3>\n");
  if (tsl_strategy_story(strategy, &story) == TESELA_OK)
    tsl_page_add_story(tsl_text_get(&story), out);
  else
    ideas_add_missing(out);
  tsl_text_add(out, "</article>\n");
  tsl_text_free(&story);
}

void tsl_sheet_add_ideas(tsl_sheet *sheet) {
  const tsl_strategy *strategy;
  if (!tsl_sheet_has_times(sheet))
    return;
  tsl_sheet_begin(sheet, "ideas", "The ideas", how_ideas);
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++)
    if (has_idea(sheet, strategy))
      add_idea(strategy, &sheet->out);
  tsl_sheet_end(sheet);
}
