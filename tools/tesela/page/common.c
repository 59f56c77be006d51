/* Units, names and numbers that the sections share. */
#include "explore/report.h"
#include "page/html.h"
#include "page/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool compares_bytes(const tsl_sheet *sheet) {
  return tsl_explore_by_bytes(sheet->page->all->op);
}

bool tsl_sheet_has_errors(const tsl_sheet *sheet) {
  return sheet->page->all->op != TSL_OP_TRANSPOSE;
}

const char *tsl_sheet_error_unit(const tsl_sheet *sheet) {
  return sheet->page->all->op == TSL_OP_DOT ? "u |x||y|" : "u (|&alpha;||A||B| + |&beta;||C|)";
}

bool tsl_sheet_has_times(const tsl_sheet *sheet) {
  for (int i = 0; i < sheet->page->all->point_count; i++)
    if (!isnan(sheet->page->all->points[i].entry.timing.median))
      return true;
  return false;
}

/* Returns the largest rate of all points, in the basic unit. */
static double common_largest(const tsl_exploration *all, double (*rate)(const tsl_point *point)) {
  double most = 0;
  for (int i = 0; i < all->point_count; i++)
    most = fmax(most, rate(&all->points[i])); /* fmax() ignores NaN */
  return most;
}

tsl_rate tsl_sheet_rate(const tsl_sheet *sheet) {
  if (compares_bytes(sheet))
    return (tsl_rate){"GB/s", 1e9};
  return common_largest(sheet->page->all, tsl_point_flops) < 1e9 ? (tsl_rate){"MFLOP/s", 1e6}
                                                                 : (tsl_rate){"GFLOP/s", 1e9};
}

double tsl_sheet_value(const tsl_sheet *sheet, const tsl_point *point) {
  return (compares_bytes(sheet) ? tsl_point_bandwidth : tsl_point_flops)(point) / tsl_sheet_rate(sheet).scale;
}

const tsl_measured_times *tsl_sheet_measured(const tsl_sheet *sheet, int device) {
  const tsl_measured_times *one =
      tsl_measured_find(sheet->page->roofs, sheet->page->all->devices.items[device]);
  return one && one->status == TESELA_OK ? one : NULL;
}

/* Returns the roof for a point; operations that only read are compared with the read bandwidth. */
double tsl_sheet_roof(const tsl_sheet *sheet, const tsl_point *point) {
  const tsl_exploration *all = sheet->page->all;
  const tsl_measured_times *one = tsl_sheet_measured(sheet, point->device);
  if (!one)
    return NAN;
  if (all->op == TSL_OP_GEMM)
    return tsl_roofs_lowest(&one->roofs, all->types.items[point->type].types.c, point->flops, point->bytes) /
           tsl_sheet_rate(sheet).scale;
  return one->roofs.roof[all->op == TSL_OP_DOT ? TSL_ROOF_READ : TSL_ROOF_COPY].rate /
         tsl_sheet_rate(sheet).scale;
}

void tsl_sheet_add_strategy(const tsl_sheet *sheet, int strategy, tsl_text *out) {
  tsl_explore_add_strategy(sheet->page->all, strategy, out);
}

void tsl_sheet_add_size(const tsl_sheet *sheet, int size, tsl_text *out) {
  tsl_text plain = {0};
  tsl_explore_add_size(sheet->page->all, size, &plain);
  for (const char *at = tsl_text_get(&plain); *at; at++)
    if (*at == 'x')
      tsl_text_add(out, "\xc3\x97");
    else
      tsl_text_add(out, "%c", *at);
  tsl_text_free(&plain);
}

int tsl_sheet_largest_size(const tsl_sheet *sheet, int type, int device) {
  const tsl_exploration *all = sheet->page->all;
  int largest = -1;
  double most = 0;
  for (int size = 0; size < all->sizes.count; size++)
    for (int s = 0; s < all->strategies.count; s++) {
      const tsl_point *point = tsl_explore_at(all, type, size, s, device);
      if (!isnan(tsl_sheet_value(sheet, point)) && point->bytes > most) {
        most = point->bytes;
        largest = size;
      }
    }
  return largest;
}

/* --- numbers --- */

static int decimals_of(double value) {
  const double magnitude = fabs(value);
  return magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : magnitude >= 0.9995 ? 2 : 3;
}

const char *tsl_sheet_number(double value, char *out, size_t size) {
  char plain[64];
  if (!isfinite(value)) {
    snprintf(out, size, "\xe2\x80\x93");
    return out;
  }
  if (value != 0 && fabs(value) < 1e-3) {
    snprintf(out, size, "%.1e", value);
    return out;
  }
  snprintf(plain, sizeof plain, "%.*f", decimals_of(value), value);
  /* Separates thousands by thin non-breaking blanks, from five digits on. */
  const size_t digits = strspn(plain, "0123456789"), from = digits >= 5 ? 0 : digits;
  size_t used = 0;
  for (size_t i = 0; plain[i] && used + 4 < size; i++) {
    if (i > from && i < digits && (digits - i) % 3 == 0)
      used += (size_t)snprintf(out + used, size - used, "\xe2\x80\xaf");
    out[used++] = plain[i];
  }
  out[used] = '\0';
  return out;
}

void tsl_digits_see(tsl_digits *column, double value) {
  if (isfinite(value) && decimals_of(value) > column->decimals)
    column->decimals = decimals_of(value);
}

void tsl_digits_add(const tsl_digits *column, double value, tsl_text *out) {
  char text[64];
  const int own = decimals_of(value);
  tsl_text_add(out, "%s", tsl_sheet_number(value, text, sizeof text));
  /* Pads with a blank as wide as a point, and one as wide as a digit for each missing digit. */
  if (own == 0 && column->decimals > 0)
    tsl_text_add(out, "<i class=\"pad\">.</i>");
  for (int i = own; i < column->decimals; i++)
    tsl_text_add(out, "<i class=\"pad\">0</i>");
}

/* --- sections --- */

void tsl_sheet_begin(tsl_sheet *sheet, const char *id, const char *title, const char *how) {
  tsl_text_add(&sheet->out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
  if (how)
    tsl_text_add(&sheet->out, "<p class=\"how\">%s</p>\n", how);
}

void tsl_sheet_end(tsl_sheet *sheet) {
  tsl_text_add(&sheet->out, "</section>\n");
}
