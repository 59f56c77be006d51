#include "explore/curve.h"

#include "cli/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 13, COLUMNS_MAX = 160, AXIS_WIDTH = 9, STEP_MAX = 12 };

static const char marks[TSL_CURVE_LINES_MAX] = {'*', 'o', '+', 'x', '#', '@', '%', '&'};

/* The drawing. Row 0 is at the top; the last row is 0 of the vertical axis. */
typedef struct curve_picture {
  char cells[ROWS][COLUMNS_MAX + 1];
  int columns;
  int step; /* columns between places; the first place is at `left` */
  int left;
  double top; /* value of the top row */
} curve_picture;

static double curve_largest(const tsl_curve *curve) {
  double most = 0;
  for (int line = 0; line < curve->line_count; line++)
    for (int i = 0; i < curve->places; i++)
      if (isfinite(curve->lines[line].values[i]))
        most = fmax(most, curve->lines[line].values[i]);
  return most;
}

/* Rounds up to 1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten, for a round end of the axis. */
static double curve_round_up(double value) {
  static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};
  const double power = pow(10, floor(log10(value)));
  size_t i = 0;
  while (i + 1 < sizeof steps / sizeof *steps && steps[i] * power < value)
    i++;
  return steps[i] * power;
}

static int curve_row_of(const curve_picture *drawn, double value) {
  const int row = ROWS - 1 - (int)lround(value / drawn->top * (ROWS - 1));
  return row < 0 ? 0 : row;
}

static int curve_column_of(const curve_picture *drawn, int place) {
  return drawn->left + place * drawn->step;
}

/* Draws dots between two places, only on blank cells. */
static void connect(curve_picture *drawn, int place, double from, double end) {
  for (int c = 1; c < drawn->step; c++) {
    const int row = curve_row_of(drawn, from + (end - from) * c / drawn->step);
    char *cell = &drawn->cells[row][curve_column_of(drawn, place) + c];
    if (*cell == ' ')
      *cell = '.';
  }
}

static void curve_draw(const tsl_curve *curve, curve_picture *drawn) {
  for (int row = 0; row < ROWS; row++) {
    memset(drawn->cells[row], ' ', (size_t)drawn->columns);
    drawn->cells[row][drawn->columns] = '\0';
  }
  for (int line = 0; line < curve->line_count; line++)
    for (int i = 0; i + 1 < curve->places; i++) {
      const double *values = curve->lines[line].values;
      if (isfinite(values[i]) && isfinite(values[i + 1]))
        connect(drawn, i, values[i], values[i + 1]);
    }
  for (int line = 0; line < curve->line_count; line++)
    for (int i = 0; i < curve->places; i++)
      if (isfinite(curve->lines[line].values[i]))
        drawn->cells[curve_row_of(drawn, curve->lines[line].values[i])][curve_column_of(drawn, i)] =
            marks[line];
}

/* Appends labels centred at their places; leaves out labels that would touch their left neighbour. */
static void curve_add_labels(const tsl_curve *curve, const curve_picture *drawn, int indent, tsl_text *out) {
  char line[COLUMNS_MAX + 64];
  int used = 0;
  memset(line, ' ', sizeof line);
  for (int i = 0; i < curve->places; i++) {
    const int length = (int)strlen(curve->labels[i]);
    int start = curve_column_of(drawn, i) - (length - 1) / 2;
    start = start < 0 ? 0 : start;
    if (i > 0 && start <= used)
      continue;
    memcpy(line + start, curve->labels[i], (size_t)length);
    used = start + length;
  }
  tsl_text_add(out, "%*s%.*s  %s\n", indent + AXIS_WIDTH + 1, "", used, line, curve->place_title);
}

static void curve_add_rows(const curve_picture *drawn, int indent, tsl_text *out) {
  for (int row = 0; row < ROWS; row++) {
    char number[32] = "";
    int length = drawn->columns;
    while (length > 0 && drawn->cells[row][length - 1] == ' ')
      length--;
    if (row == 0 || row == ROWS - 1 || row == (ROWS - 1) / 2)
      tsl_format_number(drawn->top * (ROWS - 1 - row) / (ROWS - 1), number, sizeof number);
    tsl_text_add(out, "%*s%*s %c%.*s\n", indent, "", AXIS_WIDTH - 1, row == ROWS - 1 ? "0" : number,
                 *number ? '+' : '|', length, drawn->cells[row]);
  }
}

void tsl_curve_add(const tsl_curve *curve, int indent, int width, tsl_text *out) {
  const double most = curve_largest(curve);
  const int space = (width > 0 ? width : 80) - indent - AXIS_WIDTH - 3 - (int)strlen(curve->place_title);
  if (curve->places < 2 || most <= 0)
    return;
  curve_picture drawn = {.top = curve_round_up(most), .left = 2};
  drawn.step = (space - 6) / (curve->places - 1);
  drawn.step = drawn.step > STEP_MAX ? STEP_MAX : drawn.step < 1 ? 1 : drawn.step;
  drawn.columns = drawn.left + (curve->places - 1) * drawn.step + 1;
  if (drawn.columns > COLUMNS_MAX)
    return;
  curve_draw(curve, &drawn);
  tsl_text_add(out, "%*s%*s", indent, "", AXIS_WIDTH - 1, curve->value_title);
  for (int line = 0; line < curve->line_count; line++)
    if (curve->lines[line].name[0])
      tsl_text_add(out, "   %c %s", marks[line], curve->lines[line].name);
  tsl_text_add(out, "\n");
  curve_add_rows(&drawn, indent, out);
  curve_add_labels(curve, &drawn, indent, out);
}
