/* Makes figures: gnuplot scripts that contain their data. */
#include "page/html.h"
#include "page/sections.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sizes in gnuplot's units, which are pixels at the drawing's own scale: plot, labels around the plot, and
 * key below them. The widths of a character and of a line's sample suit the widest usual font. */
enum { WIDTH = 540, PLOT_HEIGHT = 300, BELOW = 60, ABOVE = 10, LEFT = 66, RIGHT = 24 };
enum { KEY_ROW = 23, KEY_SAMPLE = 48, KEY_COLUMNS = 3 };
static const double key_character = 7.9;

/* Marks that also differ in grey: circle, square, triangle, diamond, inverted triangle; then hollow
 * ones; then three for strategies that share a colour. */
static const int marks[] = {7, 5, 9, 13, 11, 6, 4, 8, 12, 15, 10, 14};
/* Dash patterns: solid, long, short, dash-dot; in multiples of the line's width. */
static const char *const dashes[] = {"solid", "(9,4)", "(3,3)", "(10,3,2,3)", "(15,5)", "(2,6)"};
enum { MARKS = sizeof marks / sizeof *marks, DASHES = sizeof dashes / sizeof *dashes };

/* --- series --- */

void tsl_series_begin(const tsl_sheet *sheet, int strategy, tsl_chart_series *out) {
  tsl_text name = {0};
  *out = (tsl_chart_series){.look = tsl_sheet_look(sheet, strategy)};
  tsl_sheet_add_strategy(sheet, strategy, &name);
  snprintf(out->name, sizeof out->name, "%.90s", tsl_text_get(&name));
  tsl_text_free(&name);
}

void tsl_series_add(tsl_chart_series *series, double x, double y) {
  if (!isnan(x) && !isnan(y) && series->count < TSL_SELECT_MAX)
    series->spots[series->count++] = (tsl_spot){x, y};
}

int tsl_sheet_rank(const tsl_sheet *sheet, int type, int device, int *ranked) {
  const tsl_exploration *all = sheet->page->all;
  double rates[TSL_SELECT_MAX];
  int count = 0;
  for (int s = 0; s < all->strategies.count; s++) {
    double best = NAN;
    for (int size = 0; size < all->sizes.count; size++)
      best = fmax(best, tsl_sheet_value(sheet, tsl_explore_at(all, type, size, s, device)));
    if (isnan(best))
      continue;
    int at = count++;
    for (; at > 0 && rates[at - 1] < best; at--) {
      rates[at] = rates[at - 1];
      ranked[at] = ranked[at - 1];
    }
    rates[at] = best;
    ranked[at] = s;
  }
  return count;
}

/* --- axes --- */

typedef struct range {
  double low, high;
} range;

static range range_of(const tsl_plot *plot, bool of_x) {
  range found = {INFINITY, -INFINITY};
  for (int s = 0; s < plot->count; s++)
    for (int i = 0; i < plot->series[s].count; i++) {
      /* Roofs are drawn as far as the axis and do not extend it along x. */
      if (of_x && plot->series[s].roof)
        continue;
      const double value = of_x ? plot->series[s].spots[i].x : plot->series[s].spots[i].y;
      found.low = fmin(found.low, value);
      found.high = fmax(found.high, value);
    }
  return found;
}

/* Rounds a positive value to 1, 2, 5, 10, ... below (direction -1) or above (direction 1). */
static double round_nicely(double value, int direction) {
  static const double steps[] = {1, 2, 5, 10};
  const double power = pow(10, floor(log10(value)));
  if (direction > 0) {
    for (int i = 0; i < 4; i++)
      if (steps[i] * power >= value * (1 - 1e-9))
        return steps[i] * power;
  } else
    for (int i = 3; i >= 0; i--)
      if (steps[i] * power <= value * (1 + 1e-9))
        return steps[i] * power;
  return value;
}

static void add_tick(tsl_text *out, double index, double shown, bool is_first) {
  tsl_text_add(out, "%s'%.12g' %.12g", is_first ? "" : ", ", shown, index);
}

/* Adds ticks of a logarithmic axis: the fewer decades, the more ticks in a decade. */
static void add_log_ticks(const range *range_in, tsl_text *out) {
  static const double steps[][8] = {{1, 1.5, 2, 3, 4, 5, 6, 8}, {1, 2, 5}, {1}};
  const double decades = log10(range_in->high / range_in->low);
  const double *chosen = steps[decades <= 1.2 ? 0 : decades <= 2.5 ? 1 : 2];
  const int stride = decades > 8 ? 2 : 1;
  bool is_first = true;
  for (int power = (int)floor(log10(range_in->low) + 1e-9); power <= (int)ceil(log10(range_in->high));
       power += stride)
    for (int i = 0; i < 8 && chosen[i] > 0; i++) {
      const double at = chosen[i] * pow(10, power);
      if (at < range_in->low * (1 - 1e-9) || at > range_in->high * (1 + 1e-9))
        continue;
      add_tick(out, at, at, is_first);
      is_first = false;
    }
}

/* Adds the axis's own ticks. Omits ticks too close to their predecessor. */
static void add_given_ticks(const tsl_axis *axis, const range *range_in, tsl_text *out) {
  double last = NAN;
  for (int i = 0; i < axis->tick_count; i++) {
    const double at = axis->ticks[i].x;
    const double place = axis->log ? log(at / range_in->low) / log(range_in->high / range_in->low)
                                   : (at - range_in->low) / (range_in->high - range_in->low);
    if (at < range_in->low || at > range_in->high || place - last < 0.07)
      continue;
    add_tick(out, at, axis->ticks[i].y, isnan(last));
    last = place;
  }
}

static range choose_range(const tsl_plot *plot, const tsl_axis *axis, bool of_x) {
  range found = range_of(plot, of_x);
  if (axis->high > axis->low)
    return (range){axis->low, axis->high};
  if (axis->log && axis->tick_count > 0) { /* leaves some space around the first and the last tick */
    found.low /= 1.15;
    found.high *= 1.15;
  } else if (axis->log) {
    found.low = round_nicely(found.low / 1.1, -1);
    found.high = round_nicely(found.high * 1.1, 1);
  } else {
    const double air = found.high > found.low ? 0.06 * (found.high - found.low) : 1;
    found.low = axis->from_zero ? 0 : found.low - air;
    found.high = axis->from_zero && found.high > 0 ? found.high * 1.1 : found.high + air;
  }
  return found;
}

static void add_axis(const char *name, const tsl_axis *axis, const range *range_in, tsl_text *out) {
  tsl_text_add(out, "set %srange [%.12g:%.12g]\n", name, range_in->low, range_in->high);
  if (axis->log)
    tsl_text_add(out, "set logscale %s\n", name);
  if (axis->tick_count > 0 || axis->log) {
    tsl_text_add(out, "set %stics (", name);
    if (axis->tick_count > 0)
      add_given_ticks(axis, range_in, out);
    else
      add_log_ticks(range_in, out);
    tsl_text_add(out, ")\n");
  }
  /* The left axis's label is at the edge, clear of numbers as wide as the margin. */
  tsl_text_add(out, *name == 'y' ? "set label " : "set xlabel ");
  tsl_picture_add_string(out, axis->label);
  tsl_text_add(out, "%s textcolor rgb '#%06x'\n",
               *name == 'y' ? " at screen 0.02, graph 0.5 center rotate by 90" : " offset 0,0.3",
               TSL_INK_MUTED);
}

/* --- the script --- */

/* Returns the number of columns of the key that the longest name permits. */
static int key_columns(const tsl_plot *plot) {
  size_t longest = 1;
  for (int s = 0; s < plot->count; s++) {
    const size_t length = strlen(plot->series[s].name);
    longest = length > longest ? length : longest;
  }
  const int fit = (int)(WIDTH / (KEY_SAMPLE + key_character * (double)longest));
  return fit < 1 ? 1 : fit > KEY_COLUMNS ? KEY_COLUMNS : fit;
}

static int key_rows(const tsl_plot *plot) {
  const int columns = key_columns(plot);
  return (plot->count + columns - 1) / columns;
}

/* Returns the mark of a line. The first TSL_INK_LINES looks have one mark for each colour; later looks use
 * the remaining marks in turn. */
static int mark_of(int look) {
  const int round = look / TSL_INK_LINES;
  return marks[round == 0 ? look : TSL_INK_LINES + (look + round) % (MARKS - TSL_INK_LINES)];
}

static void add_look(const tsl_chart_series *series, bool lines, tsl_text *out) {
  if (series->roof) {
    tsl_text_add(out, " with lines linecolor rgb '#%06x' linewidth 1.2 dashtype %s", TSL_INK_ROOF,
                 dashes[series->look % DASHES]);
    return;
  }
  const int colour = TSL_INK_LINE + series->look % TSL_INK_LINES, round = series->look / TSL_INK_LINES;
  tsl_text_add(out, " with %s linecolor rgb '#%06x' dashtype %s pointtype %d pointsize %s",
               lines ? "linespoints" : "points", colour, dashes[(series->look + round) % DASHES],
               mark_of(series->look), lines ? "0.7" : "0.9");
}

static int height_of(const tsl_plot *plot) {
  return PLOT_HEIGHT + BELOW + ABOVE + KEY_ROW * key_rows(plot);
}

/* Appends everything but the data: frame, margins, key. */
static void add_frame(const tsl_plot *plot, tsl_text *out) {
  const double height = height_of(plot), key = KEY_ROW * key_rows(plot);
  tsl_text_add(out,
               "set border %d linecolor rgb '#%06x' linewidth 0.7\n"
               "set tics nomirror scale 0.4,0 textcolor rgb '#%06x'\n"
               "set grid linecolor rgb '#%06x' linetype 1 linewidth 0.5\n",
               3, TSL_INK_AXIS, TSL_INK_MUTED, TSL_INK_GRID);
  tsl_text_add(out,
               "set lmargin at screen %.4f\nset rmargin at screen %.4f\nset bmargin at screen %.4f\n"
               "set tmargin at screen %.4f\n",
               (double)LEFT / WIDTH, 1 - (double)RIGHT / WIDTH, (key + BELOW) / height, 1 - ABOVE / height);
  tsl_text_add(out,
               "set key at screen 0,%.4f left top vertical maxcolumns %d maxrows %d Left reverse samplen 2.6 "
               "spacing 1.15 textcolor rgb '#%06x'\n",
               (key + 4) / height, key_columns(plot), key_rows(plot), TSL_INK_TEXT);
}

static void add_script(const tsl_plot *plot, tsl_text *out) {
  const range x = choose_range(plot, &plot->x, true), y = choose_range(plot, &plot->y, false);
  add_frame(plot, out);
  add_axis("x", &plot->x, &x, out);
  add_axis("y", &plot->y, &y, out);
  for (int s = 0; s < plot->count; s++) {
    tsl_text_add(out, "$s%d << EOD\n", s);
    for (int i = 0; i < plot->series[s].count; i++)
      tsl_text_add(out, "%.12g %.12g\n", plot->series[s].spots[i].x, plot->series[s].spots[i].y);
    tsl_text_add(out, "EOD\n");
  }
  for (int s = 0; s < plot->count; s++) {
    tsl_text_add(out, "%s $s%d using 1:2", s == 0 ? "plot" : ",", s);
    add_look(&plot->series[s], plot->lines, out);
    tsl_text_add(out, " title ");
    tsl_picture_add_string(out, plot->series[s].name);
  }
  tsl_text_add(out, "\n");
}

/* --- the figure --- */

static void fail_once(tsl_sheet *sheet, tesela_status status) {
  if (sheet->status != TESELA_OK)
    return;
  sheet->status = status;
  snprintf(sheet->failure, sizeof sheet->failure, "%.500s", tesela_last_error());
}

static void add_drawing(tsl_sheet *sheet, const tsl_plot *plot) {
  tsl_text script = {0}, svg = {0};
  bool found = false;
  const char *names[TSL_SERIES_MAX];
  for (int s = 0; s < plot->count; s++)
    names[s] = plot->series[s].name;
  add_script(plot, &script);
  const tsl_picture picture = {.script = tsl_text_get(&script),
                               .width = WIDTH,
                               .height = height_of(plot),
                               .number = ++sheet->pictures,
                               .title = plot->title,
                               .description = plot->about,
                               .names = names,
                               .name_count = plot->count};
  const tesela_status status =
      script.failed ? tsl_text_status(&script) : tsl_picture_draw(&picture, &svg, &found);
  if (status != TESELA_OK)
    fail_once(sheet, status);
  else if (!found)
    sheet->without_gnuplot = true;
  else {
    tsl_text_add(&sheet->out, "<figure>\n<figcaption>");
    tsl_html_add(&sheet->out, plot->title);
    tsl_text_add(&sheet->out, "</figcaption>\n");
    tsl_text_add_bytes(&sheet->out, svg.data, svg.length);
    tsl_text_add(&sheet->out, "</figure>\n");
  }
  tsl_text_free(&script);
  tsl_text_free(&svg);
}

void tsl_sheet_add_plot(tsl_sheet *sheet, const tsl_plot *plot) {
  int spots = 0;
  for (int s = 0; s < plot->count; s++)
    spots += plot->series[s].roof ? 0 : plot->series[s].count;
  if (spots > 0 && !sheet->without_gnuplot && sheet->status == TESELA_OK)
    add_drawing(sheet, plot);
}

void tsl_sheet_figures(tsl_sheet *sheet, bool begin) {
  tsl_text_add(&sheet->out, begin ? "<div class=\"figures\">\n" : "</div>\n");
  if (begin)
    return;
  if (sheet->without_gnuplot)
    tsl_text_add(&sheet->out,
                 "<p class=\"missing\">The pictures are left out: there is no gnuplot in PATH. Install it "
                 "(Debian and Ubuntu: <code>apt-get install gnuplot-nox</code>) and run the command "
                 "again.</p>\n");
  else if (sheet->status != TESELA_OK) {
    tsl_text_add(&sheet->out, "<p class=\"missing\">The pictures are left out: ");
    tsl_html_add(&sheet->out, sheet->failure);
    tsl_text_add(&sheet->out, ".</p>\n");
  }
}

int tsl_sheet_look(const tsl_sheet *sheet, int strategy) {
  const tsl_strategy_list *list = &sheet->page->all->strategies;
  const unsigned kind = list->items[strategy].strategy->needs & TSL_CAN_HOST;
  int look = 0;
  for (int s = 0; s < strategy; s++)
    look += (list->items[s].strategy->needs & TSL_CAN_HOST) == kind;
  return look;
}
