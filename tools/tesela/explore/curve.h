/* Curves drawn with characters, for terminals and plain text. */
#ifndef TSL_TOOL_EXPLORE_CURVE_H
#define TSL_TOOL_EXPLORE_CURVE_H

#include "base/text.h"

#define TSL_CURVE_POINTS_MAX 64
#define TSL_CURVE_LINES_MAX 8

/* Lines over the same places on the horizontal axis, which are apart by the same step whatever their labels
 * say. The vertical axis starts at 0. Values that are not finite leave a gap. */
typedef struct tsl_curve {
  const char *value_title; /* over the vertical axis: "GFLOP/s" */
  const char *place_title; /* right of the horizontal one: "tile" */
  char labels[TSL_CURVE_POINTS_MAX][24];
  int places;
  struct {
    char name[64]; /* "" where there is one line only */
    double values[TSL_CURVE_POINTS_MAX];
  } lines[TSL_CURVE_LINES_MAX];
  int line_count;
} tsl_curve;

/* At most `width` columns wide, as far as the labels allow. Nothing is drawn for fewer than two places, or no
 * value. */
void tsl_curve_add(const tsl_curve *curve, int indent, int width, tsl_text *out);

#endif
