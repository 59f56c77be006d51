/* Draws curves with characters, for terminals and plain text. */
#ifndef TSL_TOOL_EXPLORE_CURVE_H
#define TSL_TOOL_EXPLORE_CURVE_H

#include "core/text.h"

#define TSL_CURVE_POINTS_MAX 64
#define TSL_CURVE_LINES_MAX 8

/* Lines over common places of the horizontal axis. Places have equal distances, whatever their
 * labels. The vertical axis starts at 0. Values that are not finite leave a gap. */
typedef struct tsl_curve {
  const char *value_title; /* title above the vertical axis: "GFLOP/s" */
  const char *place_title; /* title right of the horizontal axis: "tile" */
  char labels[TSL_CURVE_POINTS_MAX][24];
  int places;
  struct {
    char name[64]; /* "" if there is only one line */
    double values[TSL_CURVE_POINTS_MAX];
  } lines[TSL_CURVE_LINES_MAX];
  int line_count;
} tsl_curve;

/* Appends the curve, at most `width` columns wide as far as the labels permit. Draws nothing for
 * fewer than two places or without a value. */
void tsl_curve_add(const tsl_curve *curve, int indent, int width, tsl_text *out);

#endif
